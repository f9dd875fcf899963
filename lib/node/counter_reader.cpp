// SPDX-License-Identifier: Apache-2.0
#include "node/counter_reader.h"

#include <algorithm>

#include "base/parse.h"
#include "kernel/rdma/infiniband.h"
#include "kernel/rdma/nldev.h"
#include "nic/metrics.h"

namespace fabric {
namespace {

using Clock = Backoff::Clock;

std::string port_folder(const Port& port) { return infiniband::port_folder(port.rdma, port.number); }

// The files of a folder, to be read by their paths.
Result<std::vector<CounterFile>> list_counters(const Root& root, const std::string& folder, CounterSource source,
                                               const std::string& driver) {
  auto names = root.list(folder);
  if (!names) return names.error();
  std::vector<CounterFile> files;
  for (const std::string& name : *names) {
    if (name == "lifespan") continue;  // a setting of the kernel's counter cache
    files.push_back({{name}, folder + '/' + name});
    resolve(files.back().counter, source, driver);
  }
  return files;
}

bool is_any(const Counter&) { return true; }

// The wanted files of a folder, held open. Leaves out files that cannot be opened.
std::vector<CounterFile> open_counters(const Root& root, const std::string& folder, CounterSource source,
                                       const std::string& driver, HwCounters::Wanted wanted = is_any) {
  std::vector<CounterFile> files;
  auto all = list_counters(root, folder, source, driver);
  if (!all) return files;
  for (CounterFile& file : *all) {
    if (!wanted(file.counter)) continue;
    auto fd = root.hold(file.path);
    if (!fd && fd.error().code != EMFILE) continue;
    if (fd) file.fd = std::move(*fd);  // out of descriptors: it is read by its path
    files.push_back(std::move(file));
  }
  return files;
}

// The file's text, at most 4096 bytes, or the usual text of an idle file; nullopt: it cannot be read, or not now.
std::optional<std::string> read_file(const Root& root, CounterFile& file, Clock::time_point now, Attempt& attempt) {
  if (file.idle) return std::string(file.usual);
  if (!file.backoff.due(now)) {
    attempt.fail(file.path + ": failed before, retried later");
    return std::nullopt;
  }
  Result<std::string> text = std::string();
  if (file.fd.get() < 0) {
    text = root.read_line(file.path);
  } else {
    std::array<char, 4096> buffer;
    const ssize_t size = read_from_start(file.fd.get(), buffer.data(), buffer.size());
    if (size < 0) text = error(errno, file.path);
    else text = std::string(buffer.data(), static_cast<size_t>(size));
  }
  if (text) {
    file.backoff.succeeded();
    return std::move(*text);
  }
  // The driver does not count this: mlx5 on some ports (core/sysfs.c get_perf_mad, hw/mlx5/mad.c of Linux 6.12).
  if (text.error().code == ENOENT || is_unsupported(text.error().code)) return std::nullopt;
  file.backoff.failed(now);
  attempt.fail(text.error().text());
  if (text.error().code == ENODEV)  // the device was created again: its files are new
    if (auto again = root.hold(file.path)) file.fd = std::move(*again);
  return std::nullopt;
}

// Adds the files' values to `counters`.
void read_files(const Root& root, std::vector<CounterFile>& files, Clock::time_point now, Attempt& attempt,
                std::vector<Counter>& counters) {
  counters.reserve(counters.size() + files.size());
  for (CounterFile& file : files) {
    const auto text = read_file(root, file, now, attempt);
    if (!text) continue;
    const auto value = parse_number<uint64_t>(*text);  // none for "N/A (no PMA)"
    file.idle = file.rarely_changes && value == 0u;
    if (!value) continue;
    counters.push_back(file.counter);
    counters.back().value = *value;
  }
}

// Adds the device's own counters to those of its first port, unless the port has a counter of the same name.
void add_missing(std::vector<Counter>& counters, const std::vector<Counter>& of_device) {
  for (const Counter& counter : of_device)
    if (!contains(counters, counter.name, &Counter::name)) counters.push_back(counter);
}

// One group's Attempt, which the destructor adds to the reading.
struct Timed {
  std::vector<Attempt>& attempts;
  Attempt attempt;
  Clock::time_point start = Clock::now();
  bool absent = false;  // the port has no such group
  ~Timed() {
    attempt.seconds = seconds_since(start);
    if (!absent) attempts.push_back(std::move(attempt));
  }
};

// Counters that another one supersedes do not show bursts.
bool counts_rdma_bytes(const std::vector<Counter>& counters) {
  return std::ranges::any_of(counters, [](const Counter& counter) {
    return counter.row != nullptr && counter.row->metric == &metrics::kRdmaBytes && counter.row->unless.empty();
  });
}

}  // namespace

std::optional<uint32_t> find_device(Netlink* rdma, const std::string& name) {
  if (rdma == nullptr) return std::nullopt;
  if (auto devices = nldev::devices(*rdma))
    for (const auto& device : *devices)
      if (device.name == name) return device.index;
  return std::nullopt;
}

void read_counters(const CounterAccess& access, Port& port) {
  const auto note = [&port](const char* subject, const std::string& why) {
    port.unread.push_back({PortPart::other, std::string(subject) + ": " + why});
  };
  const auto read_folder = [&](const std::string& folder, CounterSource source, const char* subject) {
    std::vector<Counter> counters;
    auto files = list_counters(access.root, folder, source, port.kernel_driver);
    if (!files) {
      if (files.error().code != ENOENT) note(subject, files.error().text());
      return counters;
    }
    Attempt attempt;
    read_files(access.root, *files, Clock::now(), attempt, counters);
    if (!attempt.success) note(subject, attempt.error);
    return counters;
  };
  PortCounters& counters = port.counters;
  if (!port.is_member()) {  // the bond has the RDMA counters of its members
    auto hw = Result<std::vector<Counter>>(error(ENODEV, port.rdma));
    if (access.rdma != nullptr && access.device) hw = nldev::statistics(*access.rdma, *access.device, port.number);
    if (hw) {
      counters.hw = std::move(*hw);
      CounterResolver(CounterSource::hw, port.kernel_driver).resolve(counters.hw);
    } else {
      counters.hw = read_folder(port_folder(port) + "/hw_counters", CounterSource::hw, "hw counters");
    }
    if (port.number == 1)
      add_missing(counters.hw,
                  read_folder(infiniband::device_counters_folder(port.rdma), CounterSource::hw, "hw counters"));
    counters.pma = read_folder(port_folder(port) + "/counters", CounterSource::pma, "port counters");
  }
  if (access.statistics == nullptr || port.netdev.empty()) return;
  auto statistics = access.statistics->read(port.netdev);
  if (statistics) {
    counters.ethtool = std::move(*statistics);
    CounterResolver(CounterSource::ethtool, port.kernel_driver).resolve(counters.ethtool);
  } else if (statistics.error().code != EOPNOTSUPP) {
    note("ethtool statistics", statistics.error().text());
  }
}

HwCounters::HwCounters(const CounterAccess& access, const Port& port, Wanted wanted, bool whole_device)
    : access_(access),
      rdma_(port.rdma),
      driver_(port.kernel_driver),
      folder_(port_folder(port) + "/hw_counters"),
      number_(port.number),
      wanted_(wanted),
      resolver_(CounterSource::hw, driver_),
      device_(access.device) {
  if (!device_) device_ = find_device(access.rdma, rdma_);
  netlink.there = device_.has_value();
  if (!device_) files_ = open_counters(access.root, folder_, CounterSource::hw, driver_, wanted);
  if (number_ == 1 && whole_device)
    device_files_ = open_counters(access.root, infiniband::device_counters_folder(rdma_), CounterSource::hw, driver_);
}

void HwCounters::read(Clock::time_point now, Attempt& attempt, std::vector<Counter>& counters) {
  if (device_) {
    netlink.ask(
        attempt, now, [&] { return move_answer(read_netlink(), counters); },
        // The driver does not implement the request, or the answer does not fit into one reply: files have the
        // counters.
        [](int code) { return code == EINVAL || code == EOPNOTSUPP || code == EMSGSIZE; });
    resolver_.resolve(counters);
    if (!netlink.there) {
      device_.reset();
      files_ = open_counters(access_.root, folder_, CounterSource::hw, driver_, wanted_);
    }
  }
  if (!device_) read_files(access_.root, files_, now, attempt, counters);
  std::vector<Counter> of_device;
  read_files(access_.root, device_files_, now, attempt, of_device);
  add_missing(counters, of_device);
}

// The kernel answers EINVAL for an unknown index as well as for a driver without counters (nldev_stat_get_doit of Linux
// 6.12). A re-created device has another index; the missing reading separates its counters from the old ones.
Result<std::vector<Counter>> HwCounters::read_netlink() {
  auto counters = nldev::statistics(*access_.rdma, *device_, number_);
  if (counters || counters.error().code != EINVAL) return counters;
  const auto there = find_device(access_.rdma, rdma_);
  if (there == device_) return counters;
  if (there) device_ = there;
  return error(ENODEV, rdma_);
}

void apply(PortReading reading, Port& port) {
  if (reading.state) port.state = reading.state;
  if (reading.phys_state) port.phys_state = reading.phys_state;
  if (reading.carrier) port.carrier = reading.carrier;
  port.counters = std::move(reading.counters);
}

// Drops mlx5's thousand statistics of single queues, which would be most of every reading.
PortReader::PortReader(const CounterAccess& access, const Port& port, const CounterOptions& options)
    : access_(access),
      netdev_(port.netdev),
      idle_age_(options.idle_age),
      statistics_([asked = options.asked, driver = port.kernel_driver](Counter& counter) {
        resolve(counter, CounterSource::ethtool, driver);
        return counter.row != nullptr || matches_any(asked, counter.name);
      }) {
  const bool ethernet = port.link_layer == LinkLayer::ethernet;
  if (!port.is_member()) {
    hw_.emplace(access, port, is_any, true);
    pma_ = open_counters(access.root, port_folder(port) + "/counters", CounterSource::pma, port.kernel_driver);
  }
  for (CounterFile& file : pma_)
    file.rarely_changes =
        ethernet && file.counter.row != nullptr && file.counter.row->scope == CounterScope::infiniband_link;
  ethtool_.there = access.statistics != nullptr && !netdev_.empty();

  const auto hold = [&](LinkFact fact, const std::string& path) {
    auto fd = access.root.hold(path);
    if (!fd) return;
    link_.push_back({{.path = path, .fd = std::move(*fd)}, fact});
    link_.back().rarely_changes = ethernet && fact == LinkFact::phys_state;
    if (fact == LinkFact::phys_state) link_.back().usual = "5: LinkUp";
  };
  hold(LinkFact::state, port_folder(port) + "/state");
  hold(LinkFact::phys_state, port_folder(port) + "/phys_state");
  if (netdev_.empty()) return;
  hold(LinkFact::carrier, "sys/class/net/" + netdev_ + "/carrier");
  hold(LinkFact::carrier_downs, "sys/class/net/" + netdev_ + "/carrier_down_count");
}

PortReader::CounterBackoffs PortReader::waiting() const { return {hw_ ? hw_->netlink : Source{}, ethtool_}; }

void PortReader::resume(CounterBackoffs waiting) {
  if (hw_) {
    waiting.hw.there = hw_->netlink.there;
    hw_->netlink = std::move(waiting.hw);
  }
  waiting.ethtool.there = ethtool_.there;
  ethtool_ = std::move(waiting.ethtool);
}

PortReading PortReader::read(Clock::time_point now) {
  PortReading reading;
  if (now >= idle_due_) {
    for (CounterFile& file : pma_) file.idle = false;
    for (LinkFile& file : link_) file.idle = false;
    idle_due_ = now + idle_age_;
  }
  {
    Timed timed{reading.attempts, {"link"}};
    read_link(now, timed.attempt, reading);
  }
  if (hw_ && hw_->any()) {
    Timed timed{reading.attempts, {"rdma"}};
    hw_->read(now, timed.attempt, reading.counters.hw);
  }
  // Each of these files costs mlx5 a firmware command (core/sysfs.c get_perf_mad, hw/mlx5/mad.c process_pma_cmd of
  // Linux 6.12), so on Ethernet, InfiniBand link counters that are zero are read only every idle_age.
  if (!pma_.empty()) {
    Timed timed{reading.attempts, {"pma"}};
    read_files(access_.root, pma_, now, timed.attempt, reading.counters.pma);
  }
  if (ethtool_.there) {
    Timed timed{reading.attempts, {"ethtool"}};
    ethtool_.ask(
        timed.attempt, now,
        [&] { return move_answer(access_.statistics->read(netdev_, statistics_), reading.counters.ethtool); },
        [](int code) { return code == EOPNOTSUPP; });
    timed.absent = !ethtool_.there;
  }
  return reading;
}

// Each read of state and phys_state costs mlx5 two firmware commands. On Ethernet, drivers derive both from the
// netdev's carrier (mlx5_query_port_roce, bnxt_re_query_port, irdma_query_port of Linux 6.12): ACTIVE implies LinkUp.
void PortReader::read_link(Clock::time_point now, Attempt& attempt, PortReading& reading) {
  for (LinkFile& file : link_) {
    // The carrier of a netdev that is administratively down answers EINVAL (net/core/net-sysfs.c, carrier_show).
    if (file.fact == LinkFact::carrier) reading.carrier = false;
    const auto text = read_file(access_.root, file, now, attempt);
    if (!text) continue;
    switch (file.fact) {
      case LinkFact::state:
        reading.state = infiniband::parse_state(*text);
        if (reading.state != kPortActive)
          for (LinkFile& other : link_) other.idle = false;  // phys_state is read next
        break;
      case LinkFact::phys_state:
        reading.phys_state = infiniband::parse_state(*text);
        file.idle = file.rarely_changes && reading.state == kPortActive && reading.phys_state == kPhysLinkUp;
        break;
      case LinkFact::carrier:
        if (const auto carrier = parse_number<uint64_t>(*text)) reading.carrier = *carrier != 0;
        break;
      case LinkFact::carrier_downs: reading.counters.carrier_down = parse_number<uint64_t>(*text); break;
    }
  }
}

BurstReader::BurstReader(const CounterAccess& access, const Port& port)
    : access_(access),
      netdev_(port.netdev),
      driver_(port.kernel_driver),
      pma_folder_(port_folder(port) + "/counters"),
      statistics_([driver = port.kernel_driver](Counter& counter) {
        resolve(counter, CounterSource::ethtool, driver);
        return is_burst_counter(counter);
      }) {
  if (!port.is_member()) hw_.emplace(access, port, is_burst_counter, false);
  ethtool_.there = access.statistics != nullptr && !netdev_.empty();
}

BurstReading BurstReader::read(Clock::time_point now) {
  BurstReading reading;
  if (hw_ && hw_->any()) {
    Timed timed{reading.attempts, {"rdma"}};
    hw_->read(now, timed.attempt, reading.counters.hw);
  }
  reading.times.hw = Clock::now();
  if (ethtool_.there) {
    Timed timed{reading.attempts, {"ethtool"}};
    ethtool_.ask(
        timed.attempt, now, [&] { return move_answer(read_statistics(now), reading.counters.ethtool); },
        [](int code) { return code == EOPNOTSUPP; });
    timed.absent = !ethtool_.there;
  }
  reading.times.ethtool = Clock::now();
  if (hw_) choose_pma(reading);
  if (!pma_.empty()) {
    Timed timed{reading.attempts, {"pma"}};
    read_files(access_.root, pma_, now, timed.attempt, reading.counters.pma);
  }
  reading.times.pma = Clock::now();
  return reading;
}

// The names are read once a second: mlx5's set of statistics depends on its settings, and another set may have the same
// length.
Result<std::vector<Counter>> BurstReader::read_statistics(Clock::time_point now) {
  constexpr std::chrono::seconds kNamesAge{1};
  if (named_ && now - *named_ < kNamesAge) {
    const auto values = access_.statistics->values(netdev_, statistics_.total());
    if (!values && values.error().code != EAGAIN) return values.error();
    if (values) return statistics_.with(*values);
  }
  auto counters = access_.statistics->read(netdev_, statistics_);
  named_.reset();
  if (counters) named_ = now;
  return counters;
}

// A complete reading decides; until then an incomplete one does.
void BurstReader::choose_pma(const BurstReading& reading) {
  const std::pair others{reading.counters.hw.size(), reading.counters.ethtool.size()};
  const bool whole = std::ranges::all_of(reading.attempts, &Attempt::success);
  if (pma_chosen_ == others || (pma_chosen_ && !whole)) return;
  pma_chosen_ = others;
  if (counts_rdma_bytes(reading.counters.hw) || counts_rdma_bytes(reading.counters.ethtool)) pma_.clear();
  else if (pma_.empty()) pma_ = open_counters(access_.root, pma_folder_, CounterSource::pma, driver_, is_burst_counter);
}

}  // namespace fabric
