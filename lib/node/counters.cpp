// SPDX-License-Identifier: Apache-2.0
#include "node/counters.h"

#include <algorithm>

#include "base/find.h"

namespace fabric {
namespace {

constexpr uint64_t kRange = uint64_t{1} << 32;
constexpr uint64_t kQuarter = kRange / 4;

bool has_wrapped(uint64_t before, uint64_t now) {
  return before < kRange && before >= kRange - kQuarter && now < kQuarter;
}

}  // namespace

void resolve(Counter& counter, CounterSource source, std::string_view driver) {
  const CounterMatch match = describe_counter(source, counter.name, driver);
  counter.row = match.row;
  counter.priority = match.priority;
  counter.bits = match.bits;
}

void CounterResolver::resolve(std::vector<Counter>& reading) {
  known_.resize(reading.size());
  for (size_t i = 0; i < reading.size(); ++i) {
    Counter& known = known_[i];
    if (known.name != reading[i].name) {
      known = reading[i];
      fabric::resolve(known, source_, driver_);
    }
    known.value = reading[i].value;
    reading[i] = known;
  }
}

const Counter* find_earlier(const std::vector<Counter>& before, const std::vector<Counter>& now, size_t place) {
  const CounterName& name = now[place].name;
  if (place < before.size() && before[place].name == name) return &before[place];
  return find_where(before, [&](const Counter& each) { return each.name == name; });
}

bool is_superseded(const Counter& counter, const std::vector<Counter>& reading) {
  if (counter.row == nullptr || counter.row->unless.empty()) return false;
  const CounterName better = superseding_counter(*counter.row);
  return std::ranges::any_of(reading, [&](const Counter& each) { return each.value > 0 && each.name == better; });
}

std::optional<uint64_t> counter_rise(CounterSource source, unsigned bits, uint64_t before, uint64_t now) {
  if (source == CounterSource::pma && bits < 64) {
    const uint64_t full = (uint64_t{1} << bits) - 1;
    if (before == full && now <= full) return std::nullopt;
  }
  // Data and packets of a port without extended counters.
  if (source == CounterSource::pma && bits == 64 && before == kRange - 1 && now == before) return std::nullopt;
  if (now >= before) return now - before;
  if (source == CounterSource::pma || bits != 32 || !has_wrapped(before, now)) return std::nullopt;
  return now + kRange - before;
}

std::optional<uint64_t> rise_since(const std::vector<Counter>& before, const std::vector<Counter>& now, size_t place) {
  const Counter& counter = now[place];
  const Counter* earlier = find_earlier(before, now, place);
  if (earlier == nullptr) return std::nullopt;
  // A counter without a row has 64 bits, or is a twin of a row of hw or ethtool (CounterTable::twin_prefix).
  const CounterSource source = counter.row == nullptr ? CounterSource::hw : counter.row->source;
  return counter_rise(source, counter.bits, earlier->value, counter.value);
}

void Widener::widen(PortCounters& counters) {
  widen(counters.hw, hw_);
  widen(counters.ethtool, ethtool_);
}

void Widener::widen(std::vector<Counter>& counters, std::vector<WidenedCounter>& known) {
  size_t next = 0;  // readings have mostly the same order
  for (Counter& counter : counters) {
    if (counter.bits != 32 || counter.value >= kRange) continue;  // Linux or the driver has widened it already
    if (next >= known.size() || known[next].name != counter.name)
      next = static_cast<size_t>(std::ranges::find(known, counter.name, &WidenedCounter::name) - known.begin());
    if (next == known.size()) known.push_back({counter.name, counter.value});
    WidenedCounter& state = known[next++];
    if (counter.value < state.last) state.added = has_wrapped(state.last, counter.value) ? state.added + kRange : 0;
    state.last = counter.value;
    counter.value += state.added;
  }
}

}  // namespace fabric
