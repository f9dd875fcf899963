// SPDX-License-Identifier: Apache-2.0
#include "counters/sample_reader.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "kernel/rdma/nldev.h"
#include "model/metrics.h"

namespace fabric {
namespace {

constexpr std::chrono::seconds kNames{1};

}  // namespace

SampleReader::SampleReader(const CounterAccess& access, const Port& port)
    : access_(access),
      rdma_(port.rdma),
      netdev_(port.netdev),
      driver_(port.kernel_driver),
      number_(port.number),
      wanted_([driver = port.kernel_driver](std::string_view name) {
        return is_burst_counter(CounterSource::ethtool, name, driver);
      }),
      member_(port.is_member()) {
  ethtool_.exists = access_.statistics != nullptr && !netdev_.empty();
  if (member_) return;  // the bond has the RDMA counters
  device_ = index();
  if (!device_) open(hw_files_);
}

std::optional<uint32_t> SampleReader::index() const {
  if (!access_.rdma) return std::nullopt;
  if (auto devices = nldev::devices(*access_.rdma))
    for (const auto& device : *devices)
      if (device.name == rdma_) return device.index;
  return std::nullopt;
}

// Keeps the old files if there are none now: the device may come back.
void SampleReader::open(Folder& folder) const {
  const std::string path = "sys/class/infiniband/" + rdma_ + "/ports/" + std::to_string(number_) + "/" + folder.name;
  std::vector<File> files;
  if (const auto names = access_.root.list(path))
    for (const std::string& name : *names)
      if (is_burst_counter(folder.source, name, driver_))
        if (auto fd = access_.root.hold(path + "/" + name)) files.push_back({name, path + "/" + name, std::move(*fd)});
  if (!files.empty()) folder.files = std::move(files);
}

const PortCounters& SampleReader::read(Clock::time_point now) {
  failure_.clear();
  read_hw(now);
  times_.hw = Clock::now();
  read_ethtool(now);
  times_.ethtool = Clock::now();
  read_pma(now);
  times_.pma = Clock::now();
  return counters_;
}

bool SampleReader::due(const Source& source, Clock::time_point now) {
  if (source.backoff.due(now)) return true;
  if (failure_.empty()) failure_ = source.error;
  return false;
}

void SampleReader::fail(Source& source, Clock::time_point now, const Error& why) {
  source.backoff.failed(now);
  source.error = why.text();
  if (failure_.empty()) failure_ = source.error;
}

void SampleReader::read_files(Source& source, Folder& folder, Clock::time_point now, std::vector<Counter>& out) {
  if (folder.files.empty() || !due(source, now)) return;
  if (std::exchange(folder.gone, false)) open(folder);
  std::array<char, 4096> buffer;
  for (const File& file : folder.files) {
    const ssize_t size = read_from_start(file.fd.get(), buffer.data(), buffer.size());
    if (size < 0 && errno != EOPNOTSUPP && errno != EINVAL) {
      folder.gone = errno == ENODEV;  // a re-created device has new files
      fail(source, now, error(errno, file.path));
      return out.clear();
    }
    if (size < 0) continue;
    if (auto value = parse_counter_file({buffer.data(), static_cast<size_t>(size)})) out.push_back({file.name, *value});
  }
  source.backoff.succeeded();
}

// The kernel answers EINVAL for an unknown index as well as for a driver without counters (nldev_stat_get_doit of Linux
// 6.12). A re-created device has another index; the missing reading separates its counters from the old ones.
Result<std::vector<Counter>> SampleReader::read_netlink() {
  auto counters = nldev::statistics(*access_.rdma, *device_, number_);
  if (counters || counters.error().code != EINVAL) return counters;
  const auto there = index();
  if (there == device_) return counters;
  if (there) device_ = there;
  return error(ENODEV, rdma_);
}

void SampleReader::read_hw(Clock::time_point now) {
  counters_.hw.clear();
  if (!device_) return read_files(hw_, hw_files_, now, counters_.hw);
  if (!due(hw_, now)) return;
  auto counters = read_netlink();
  if (counters) {
    hw_.backoff.succeeded();
    counters_.hw = std::move(*counters);
    return;
  }
  // The driver does not implement it, or the answer does not fit into one reply: files have the counters then.
  const int code = counters.error().code;
  if (code != EINVAL && code != EOPNOTSUPP && code != EMSGSIZE) return fail(hw_, now, counters.error());
  device_.reset();
  open(hw_files_);
  read_files(hw_, hw_files_, now, counters_.hw);
}

// Decided by a complete reading, or by an incomplete one until there is a decision.
void SampleReader::read_pma(Clock::time_point now) {
  counters_.pma.clear();
  const std::pair others{counters_.hw.size(), counters_.ethtool.size()};
  const bool whole = hw_.backoff.due(now) && ethtool_.backoff.due(now);
  if (!member_ && judged_ != others && (whole || !judged_)) {
    judged_ = others;
    needs_pma_ = !counts_rdma_bytes();
    if (needs_pma_ && pma_files_.files.empty()) open(pma_files_);
  }
  if (needs_pma_) read_files(pma_, pma_files_, now, counters_.pma);
}

Result<void> SampleReader::read_names(Clock::time_point now) {
  auto counters = access_.statistics->read(netdev_, wanted_);
  if (!counters) return counters.error();
  counters_.ethtool = std::move(*counters);
  total_ = wanted_.total();
  named_ = now;
  return {};
}

void SampleReader::read_ethtool(Clock::time_point now) {
  if (!ethtool_.exists) return;
  if (!due(ethtool_, now)) return;
  // mlx5's set depends on its settings; another set may have the same length.
  const bool names = total_ == 0 || now - named_ >= kNames;
  auto values =
      names ? Result<std::vector<uint64_t>>(std::vector<uint64_t>{}) : access_.statistics->values(netdev_, total_);
  if (values && !names)
    for (size_t i = 0; i < counters_.ethtool.size(); ++i)
      counters_.ethtool[i].value = (*values)[wanted_.places()[i].at];
  Result<void> done;
  if (names || (!values && values.error().code == EAGAIN)) done = read_names(now);
  else if (!values) done = values.error();
  if (done) return ethtool_.backoff.succeeded();
  counters_.ethtool.clear();
  total_ = 0;
  ethtool_.exists = done.error().code != EOPNOTSUPP;
  if (ethtool_.exists) fail(ethtool_, now, done.error());
}

bool SampleReader::counts_rdma_bytes() const {
  auto any = [&](CounterSource source, const std::vector<Counter>& counters) {
    return std::any_of(counters.begin(), counters.end(), [&](const Counter& counter) {
      const auto match = find_counter(source, counter.name, driver_);
      return match && match->row->metric == &metrics::kRdmaBytes &&
             match->row->unless.empty();  // no burst is seen in those
    });
  };
  return any(CounterSource::hw, counters_.hw) || any(CounterSource::ethtool, counters_.ethtool);
}

}  // namespace fabric
