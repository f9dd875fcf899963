// SPDX-License-Identifier: Apache-2.0
#include "node/counter_reader.h"

#include <algorithm>

#include "base/parse.h"
#include "kernel/rdma/infiniband.h"
#include "kernel/rdma/nldev.h"
#include "nic/counter_catalogue.h"
#include "nic/metrics.h"

namespace fabric {
namespace {

using Clock = Backoff::Clock;

constexpr unsigned kLinkUp = 5;

// The driver does not implement the request, or the answer does not fit into one reply: files have the counters then.
bool netlink_cannot(int code) { return code == EINVAL || code == EOPNOTSUPP || code == EMSGSIZE; }

// One group's Attempt, in the reading when it is over.
struct Timed {
  PortReading& reading;
  Attempt attempt;
  Clock::time_point start = Clock::now();
  bool absent = false;  // the port has no such group
  ~Timed() {
    attempt.seconds = seconds_since(start);
    if (!absent) reading.attempts.push_back(std::move(attempt));
  }
};

// Drops mlx5's thousand statistics of single queues, which would be most of every copy of the node.
ethtool::Selection kept(const CounterAccess& access, const Port& port) {
  return ethtool::Selection([asked = access.asked, driver = port.kernel_driver, all = access.once,
                             sampling = access.sampling](std::string_view name) {
    if (sampling) return is_burst_counter(CounterSource::ethtool, name, driver);
    return all || describe_counter(CounterSource::ethtool, name, driver) || matches_any(asked, name);
  });
}

// "4: ACTIVE" -> 4
std::optional<unsigned> leading_number(std::string_view text) {
  return parse_number<unsigned>(text.substr(0, text.find(':')));
}

constexpr std::chrono::seconds kNamesAge{1};

// Of traffic whose bursts can be seen: not in counters that another supersedes.
bool counts_rdma_bytes(const PortCounters& counters, const std::string& driver) {
  const auto any = [&](CounterSource source, const std::vector<Counter>& list) {
    return std::ranges::any_of(list, [&](const Counter& counter) {
      const auto match = find_counter(source, counter.name, driver);
      return match && match->row->metric == &metrics::kRdmaBytes && match->row->unless.empty();
    });
  };
  return any(CounterSource::hw, counters.hw) || any(CounterSource::ethtool, counters.ethtool);
}

}  // namespace

void apply(PortReading reading, Port& port) {
  if (reading.state) port.state = reading.state;
  if (reading.phys_state) port.phys_state = reading.phys_state;
  if (reading.carrier) port.carrier = reading.carrier;
  port.counters = std::move(reading.counters);
}

PortReader::PortReader(const CounterAccess& access, const Port& port)
    : access_(access),
      rdma_(port.rdma),
      netdev_(port.netdev),
      driver_(port.kernel_driver),
      folder_("sys/class/infiniband/" + rdma_ + "/ports/" + std::to_string(port.number)),
      number_(port.number),
      member_(port.is_member()),
      kept_(kept(access, port)) {
  if (!member_) open_rdma();  // of a member the bond has the RDMA counters
  if (port.link_layer == LinkLayer::ethernet)
    for (CounterFile& file : pma_) {
      const auto match = describe_counter(CounterSource::pma, file.name, driver_);
      file.rarely_changes = match && match->row->scope == CounterScope::infiniband_link;
    }
  if (!access_.once && !access_.sampling) open_link(port);
  waiting_.ethtool.there = access_.statistics != nullptr && !netdev_.empty();
}

void PortReader::open_link(const Port& port) {
  auto hold = [&](const char* name, const std::string& path) {
    if (auto fd = access_.root.hold(path)) link_.push_back({name, path, std::move(*fd)});
  };
  hold("state", folder_ + "/state");
  hold("phys_state", folder_ + "/phys_state");
  if (port.link_layer == LinkLayer::ethernet)
    for (CounterFile& file : link_)
      if (file.name == "phys_state") file.rarely_changes = true, file.usual = "5: LinkUp";
  if (!netdev_.empty()) {
    hold("carrier", "sys/class/net/" + netdev_ + "/carrier");
    hold("carrier_down_count", "sys/class/net/" + netdev_ + "/carrier_down_count");
  }
}

void PortReader::open_rdma() {
  if (!access_.sampling) pma_ = open_files(folder_ + "/counters", CounterSource::pma);
  device_ = access_.device;
  if (!device_) device_ = find_device(access_.rdma, rdma_);
  waiting_.hw.there = device_.has_value();
  if (!device_) hw_ = open_files(folder_ + "/hw_counters", CounterSource::hw);
  if (number_ == 1 && !access_.sampling)
    device_hw_ = open_files(infiniband::device_counters_folder(rdma_), CounterSource::hw);
}

std::optional<uint32_t> find_device(Netlink* rdma, const std::string& name) {
  if (rdma == nullptr) return std::nullopt;
  if (auto devices = nldev::devices(*rdma))
    for (const auto& device : *devices)
      if (device.name == name) return device.index;
  return std::nullopt;
}

std::vector<CounterFile> PortReader::open_files(const std::string& folder, CounterSource source) const {
  std::vector<CounterFile> files;
  auto names = access_.root.list(folder);
  if (!names && access_.once && names.error().code != ENOENT) files.push_back({{}, folder, Fd()});  // reads say why
  if (!names) return files;
  for (const std::string& name : *names) {
    if (name == "lifespan") continue;  // a setting of the kernel's counter cache
    if (access_.sampling && !is_burst_counter(source, name, driver_)) continue;
    std::string path = folder + '/' + name;
    if (access_.once) {
      files.push_back({name, std::move(path), Fd()});
      continue;
    }
    auto fd = access_.root.hold(path);
    if (fd || fd.error().code == EMFILE) files.push_back({name, std::move(path), fd ? std::move(*fd) : Fd()});
  }
  return files;
}

void PortReader::end_idleness() {
  if (now_ < idle_due_) return;
  for (auto* files : {&pma_, &link_})
    for (CounterFile& file : *files) file.idle = false;
  idle_due_ = now_ + access_.idle_age;
}

PortReading PortReader::read(Clock::time_point now) {
  now_ = now;
  PortReading reading;
  end_idleness();
  if (!access_.once && !access_.sampling) read_link(reading);
  read_hw(reading);
  reading.times.hw = Clock::now();
  if (!access_.sampling) read_pma(reading);
  read_ethtool(reading);
  reading.times.ethtool = Clock::now();
  if (access_.sampling) choose_pma(reading), read_pma(reading);
  reading.times.pma = Clock::now();
  return reading;
}

// Each read of state and phys_state costs mlx5 two firmware commands. On Ethernet drivers derive both from the netdev's
// carrier (mlx5_query_port_roce, bnxt_re_query_port, irdma_query_port of Linux 6.12): ACTIVE implies LinkUp.
void PortReader::read_link(PortReading& reading) {
  Timed timed{reading, {"link", true, 0, {}}};
  // The carrier of a netdev that is administratively down answers EINVAL (net/core/net-sysfs.c, carrier_show).
  if (std::ranges::any_of(link_, [](const CounterFile& file) { return file.name == "carrier"; }))
    reading.carrier = false;
  read_files(access_.root, link_, now_, timed.attempt, [&](CounterFile& file, std::string_view text) {
    if (file.name == "state") {
      reading.state = leading_number(text);
      if (reading.state != kPortActive)
        for (CounterFile& other : link_) other.idle = false;  // phys_state is read next
    } else if (file.name == "phys_state") {
      reading.phys_state = leading_number(text);
      file.idle = file.rarely_changes && reading.state == kPortActive && reading.phys_state == kLinkUp;
    } else if (file.name == "carrier_down_count") {
      reading.counters.carrier_down = parse_counter_file(text);
    } else if (auto carrier = parse_counter_file(text)) {
      reading.carrier = *carrier != 0;
    }
  });
}

void PortReader::read_hw(PortReading& reading) {
  if (!device_ && hw_.empty() && device_hw_.empty()) return;
  Timed timed{reading, {"rdma", true, 0, {}}};
  const auto netlink = [&] { return take(read_netlink(), reading.counters.hw); };
  if (device_) waiting_.hw.ask(timed.attempt, now_, netlink, access_.once ? [](int) { return true; } : netlink_cannot);
  if (device_ && !waiting_.hw.there) {
    device_.reset();
    hw_ = open_files(folder_ + "/hw_counters", CounterSource::hw);
  }
  if (!device_) read_counters(access_.root, hw_, now_, timed.attempt, reading.counters.hw);
  read_device(timed.attempt, reading.counters.hw);
}

// The kernel answers EINVAL for an unknown index as well as for a driver without counters (nldev_stat_get_doit of Linux
// 6.12). A re-created device has another index; the missing reading separates its counters from the old ones.
Result<std::vector<Counter>> PortReader::read_netlink() {
  auto counters = nldev::statistics(*access_.rdma, *device_, number_);
  if (counters || counters.error().code != EINVAL || access_.once) return counters;
  const auto there = find_device(access_.rdma, rdma_);
  if (there == device_) return counters;
  if (there) device_ = there;
  return error(ENODEV, rdma_);
}

// The device's own counters are reported with its first port, unless that has a counter of the same name.
void PortReader::read_device(Attempt& attempt, std::vector<Counter>& hw) {
  std::vector<Counter> more;
  read_counters(access_.root, device_hw_, now_, attempt, more);
  for (const Counter& counter : more)
    if (!contains(hw, counter.name, &Counter::name)) hw.push_back(counter);
}

// Each of these files costs mlx5 a firmware command (core/sysfs.c get_perf_mad, hw/mlx5/mad.c process_pma_cmd of Linux
// 6.12), so on Ethernet InfiniBand link counters that are zero are read every idle_age only.
void PortReader::read_pma(PortReading& reading) {
  if (pma_.empty()) return;
  Timed timed{reading, {"pma", true, 0, {}}};
  read_counters(access_.root, pma_, now_, timed.attempt, reading.counters.pma);
}

void PortReader::read_ethtool(PortReading& reading) {
  if (!waiting_.ethtool.there) return;
  Timed timed{reading, {"ethtool", true, 0, {}}};
  const auto ask = [&] { return take(read_statistics(), reading.counters.ethtool); };
  waiting_.ethtool.ask(timed.attempt, now_, ask, [](int code) { return code == EOPNOTSUPP; });
  timed.absent = !waiting_.ethtool.there;
}

// Decided by a complete reading, or by an incomplete one until there is a decision.
void PortReader::choose_pma(const PortReading& reading) {
  const std::pair others{reading.counters.hw.size(), reading.counters.ethtool.size()};
  const bool whole = std::ranges::all_of(reading.attempts, &Attempt::success);
  if (member_ || pma_chosen_ == others || (pma_chosen_ && !whole)) return;
  pma_chosen_ = others;
  if (counts_rdma_bytes(reading.counters, driver_)) pma_.clear();
  else if (pma_.empty()) pma_ = open_files(folder_ + "/counters", CounterSource::pma);
}

// mlx5's set depends on its settings; another set may have the same length.
Result<std::vector<Counter>> PortReader::read_statistics() {
  if (access_.sampling && named_ && now_ - *named_ < kNamesAge) {
    const auto values = access_.statistics->values(netdev_, kept_.total());
    if (!values && values.error().code != EAGAIN) return values.error();
    if (values) {
      std::vector<Counter> out;
      for (const auto& position : kept_.positions()) out.push_back({position.name, (*values)[position.at]});
      return out;
    }
  }
  auto counters = access_.statistics->read(netdev_, kept_);
  named_ = counters ? std::optional(now_) : std::nullopt;
  return counters;
}

}  // namespace fabric
