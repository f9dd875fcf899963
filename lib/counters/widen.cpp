// SPDX-License-Identifier: Apache-2.0
#include "counters/widen.h"

#include "counters/catalogue.h"

namespace fabric {
namespace {

constexpr uint64_t kRange = uint64_t{1} << 32;
constexpr uint64_t kQuarter = kRange / 4;

bool has_wrapped(uint64_t before, uint64_t now) {
  return before < kRange && before >= kRange - kQuarter && now < kQuarter;
}

}  // namespace

std::optional<uint64_t> counter_rise(CounterSource source, unsigned bits, uint64_t before, uint64_t now) {
  if (source == CounterSource::pma && bits < 64) {
    const uint64_t full = (uint64_t{1} << bits) - 1;
    if (before == full && now <= full) return std::nullopt;
  }
  if (now >= before) return now - before;
  if (source == CounterSource::pma || bits != 32 || !has_wrapped(before, now)) return std::nullopt;
  return now + kRange - before;
}

CounterRises::CounterRises(CounterSource source, std::string_view kernel_driver, const std::vector<Counter>& before)
    : source_(source), driver_(kernel_driver) {
  for (const Counter& counter : before) before_.try_emplace(counter.name, counter.value);
}

std::optional<uint64_t> CounterRises::of(const Counter& now) const {
  const auto before = before_.find(now.name);
  if (before == before_.end()) return std::nullopt;
  return counter_rise(source_, counter_bits(source_, now.name, driver_), before->second, now.value);
}

void Widener::widen(PortCounters& counters) {
  widen(CounterSource::hw, counters.hw, hw_);
  widen(CounterSource::ethtool, counters.ethtool, ethtool_);
}

void Widener::widen(CounterSource source, std::vector<Counter>& counters, Known& known) const {
  for (Counter& counter : counters) {
    auto seen = known.find(counter.name);
    if (seen == known.end()) {
      const bool wraps = counter_bits(source, counter.name, driver_) == 32;
      seen = known.emplace(std::string(counter.name), Seen{wraps, counter.value < kRange ? counter.value : 0}).first;
    }
    Seen& state = seen->second;
    if (!state.wraps || counter.value >= kRange) continue;  // Linux or the driver has widened it already
    if (counter.value < state.last) state.added = has_wrapped(state.last, counter.value) ? state.added + kRange : 0;
    state.last = counter.value;
    counter.value += state.added;
  }
}

}  // namespace fabric
