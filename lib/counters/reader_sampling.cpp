// SPDX-License-Identifier: Apache-2.0
// What a PortReader does otherwise for the burst sampler.
#include <algorithm>

#include "counters/catalogue.h"
#include "counters/reader.h"
#include "model/metrics.h"

namespace fabric {
namespace {

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
      for (const auto& place : kept_.places()) out.push_back({place.name, (*values)[place.at]});
      return out;
    }
  }
  auto counters = access_.statistics->read(netdev_, kept_);
  named_ = counters ? std::optional(now_) : std::nullopt;
  return counters;
}

}  // namespace fabric
