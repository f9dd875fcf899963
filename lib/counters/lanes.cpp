// SPDX-License-Identifier: Apache-2.0
#include "counters/lanes.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/parse.h"
#include "counters/catalogue.h"
#include "counters/widen.h"
#include "model/metrics.h"

namespace fabric {
namespace {

constexpr double kFewErrors = 10;

using Lanes = std::vector<double>;

Lanes fec_lanes(const FecCount& before, const FecCount& now) {
  Lanes out;
  for (size_t lane = 0; before.lanes.size() == now.lanes.size() && lane < now.lanes.size(); ++lane)
    out.push_back(now.lanes[lane] > before.lanes[lane] ? static_cast<double>(now.lanes[lane] - before.lanes[lane]) : 0);
  return out;
}

Lanes counter_lanes(const Port& before, const Port& now) {
  Lanes out;
  const CounterRises rises(CounterSource::ethtool, now.kernel_driver, before.counters.ethtool);
  for (const Counter& counter : now.counters.ethtool) {
    const auto match = find_counter(CounterSource::ethtool, counter.name, now.kernel_driver);
    if (!match || match->row->metric != &metrics::kPhyLaneErrors) continue;
    const auto lane = parse_number<size_t>(match->row->label.value);
    if (!lane) continue;
    out.resize(std::max(out.size(), *lane + 1));
    out[*lane] = static_cast<double>(rises.of(counter).value_or(0));
  }
  return out;
}

std::optional<BadLane> worst_of(const Lanes& lanes) {
  if (lanes.size() < 2) return std::nullopt;
  const auto worst = std::ranges::max_element(lanes);
  const double sum = std::accumulate(lanes.begin(), lanes.end(), 0.0);
  if (*worst < kFewErrors || *worst < 0.9 * sum) return std::nullopt;
  return BadLane{static_cast<size_t>(worst - lanes.begin()), *worst / sum};
}

}  // namespace

std::optional<BadLane> bad_lane(const Port& before, const Port& now) {
  if (before.pci != now.pci) return std::nullopt;
  if (before.fec && now.fec)
    for (const auto member :
         {&FecStatus::uncorrectable_blocks, &FecStatus::corrected_bits, &FecStatus::corrected_blocks})
      if (const auto worst = worst_of(fec_lanes((*before.fec).*member, (*now.fec).*member))) return worst;
  return worst_of(counter_lanes(before, now));
}

}  // namespace fabric
