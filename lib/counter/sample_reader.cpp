// SPDX-License-Identifier: Apache-2.0
#include "counter/sample_reader.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "counter/burst.h"
#include "counter/metrics.h"
#include "sys/nldev.h"

namespace fabric {
namespace {

constexpr std::chrono::seconds kNames{1};

}  // namespace

SampleReader::SampleReader(const CounterAccess& access, const Port& port)
    : access_(access), rdma_(port.rdma), netdev_(port.netdev), driver_(port.kernel_driver), number_(port.number),
      wanted_([driver = port.kernel_driver](std::string_view name) { return is_burst_counter(CounterSource::ethtool, name, driver); }) {
  ethtool_.exists = access_.statistics != nullptr && !netdev_.empty();
  pma_known_ = port.is_member();  // what RDMA counts is the bond's
  if (pma_known_) return;
  if (access_.rdma)
    if (auto devices = nldev::devices(*access_.rdma))
      for (const auto& device : *devices)
        if (device.name == rdma_) device_ = device.index;
  if (!device_) hw_files_ = open_files("hw_counters", CounterSource::hw);
}

std::vector<SampleReader::File> SampleReader::open_files(const char* folder, CounterSource source) const {
  std::vector<File> files;
  const std::string path = "sys/class/infiniband/" + rdma_ + "/ports/" + std::to_string(number_) + "/" + folder;
  const auto names = access_.root.list(path);
  if (!names) return files;
  for (const std::string& name : *names)
    if (is_burst_counter(source, name, driver_))
      if (auto fd = access_.root.hold(path + "/" + name)) files.push_back({name, path + "/" + name, std::move(*fd)});
  return files;
}

const PortCounters& SampleReader::read(Clock::time_point now) {
  failure_.clear();
  read_hw(now);
  read_ethtool(now);
  if (!std::exchange(pma_known_, true) && !counts_rdma_bytes()) pma_files_ = open_files("counters", CounterSource::pma);
  counters_.pma.clear();
  read_files(pma_, pma_files_, now, counters_.pma);
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

void SampleReader::read_files(Source& source, const std::vector<File>& files, Clock::time_point now, std::vector<Counter>& out) {
  if (files.empty() || !due(source, now)) return;
  std::array<char, 4096> buffer;
  for (const File& file : files) {
    const ssize_t size = read_from_start(file.fd.get(), buffer.data(), buffer.size());
    if (size < 0 && errno != EOPNOTSUPP && errno != EINVAL) return out.clear(), fail(source, now, error(errno, file.path));
    if (size < 0) continue;
    if (auto value = parse_counter_file({buffer.data(), static_cast<size_t>(size)})) out.push_back({file.name, *value});
  }
  source.backoff.succeeded();
}

void SampleReader::read_hw(Clock::time_point now) {
  counters_.hw.clear();
  if (!device_) return read_files(hw_, hw_files_, now, counters_.hw);
  if (!due(hw_, now)) return;
  auto counters = nldev::statistics(*access_.rdma, *device_, number_);
  if (counters) {
    hw_.backoff.succeeded();
    counters_.hw = std::move(*counters);
    return;
  }
  // Not implemented by the driver, or too many for one reply: files then.
  const int code = counters.error().code;
  if (code != EINVAL && code != EOPNOTSUPP && code != EMSGSIZE) return fail(hw_, now, counters.error());
  device_.reset();
  hw_files_ = open_files("hw_counters", CounterSource::hw);
  read_files(hw_, hw_files_, now, counters_.hw);
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
  // mlx5's set follows its settings, and may change at the same length.
  const bool names = total_ == 0 || now - named_ >= kNames;
  auto values = names ? Result<std::vector<uint64_t>>(std::vector<uint64_t>{}) : access_.statistics->values(netdev_, total_);
  if (values && !names)
    for (size_t i = 0; i < counters_.ethtool.size(); ++i) counters_.ethtool[i].value = (*values)[wanted_.places()[i].at];
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
      return match && match->row->metric == &metrics::kRdmaBytes && match->row->unless.empty();  // no burst is seen in those
    });
  };
  return any(CounterSource::hw, counters_.hw) || any(CounterSource::ethtool, counters_.ethtool);
}

}  // namespace fabric
