// SPDX-License-Identifier: Apache-2.0
// Counters of a port: the catalogue row of each, and how much they grew, also if they have fewer than 64 bits in
// hardware.
#pragma once

#include "nic/counter_catalogue.h"
#include "node/signals.h"

namespace fabric {

// Fills the row, the priority and the width of a counter, for a port of this kernel driver. A counter is resolved once,
// when its source is opened.
void resolve(Counter& counter, CounterSource source, std::string_view driver);

// Resolves readings that name their counters each time, in mostly the same order: looks up only a name whose place in
// the previous reading had another name.
class CounterResolver {
 public:
  CounterResolver(CounterSource source, std::string driver) : source_(source), driver_(std::move(driver)) {}
  void resolve(std::vector<Counter>& reading);

 private:
  CounterSource source_;
  std::string driver_;
  std::vector<Counter> known_;
};

// The counter of now[place] in an earlier reading of the same source; nullptr: it lacks the counter. Readings have
// mostly the same order.
const Counter* find_earlier(const std::vector<Counter>& before, const std::vector<Counter>& now, size_t place);

// Whether another counter of the reading supersedes it (CounterRow::unless).
bool is_superseded(const Counter& counter, const std::vector<Counter>& reading);

// How much a counter grew; nullopt: it was reset (driver reload), or is full. A 32-bit counter wraps if it falls from
// the last quarter of its range into the first; any other fall is a reset. The counters of ports/N/counters stop at
// their highest value (IBTA 1.4, 16.1.3.5); a higher value shows that the counter is wider than its row.
std::optional<uint64_t> counter_rise(CounterSource source, unsigned bits, uint64_t before, uint64_t now);

// The growth of now[place] since an earlier reading of the same source; nullopt: as for counter_rise(), or the earlier
// reading lacks the counter.
std::optional<uint64_t> rise_since(const std::vector<Counter>& before, const std::vector<Counter>& now, size_t place);

// Converts the rise to the unit of the metric.
inline Rise scaled(std::optional<uint64_t> rise, Scale scale) {
  if (!rise) return std::nullopt;
  return scale.of(*rise);
}

// The growth of several counters together.
struct RiseSum {
  double value = 0;
  bool any = false, broken = false;  // broken: a counter was reset, or is in one reading only

  void add(Rise part) {
    any = true;
    value += part.value_or(0);
    broken = broken || !part;
  }
  [[nodiscard]] Rise total() const {
    if (!any || broken) return std::nullopt;
    return value;
  }
};

// Extends the wrapping 32-bit counters of one port to 64 bits.
class Widener {
 public:
  // Readings must be passed in the order in which they were made. After a reset the counter starts again.
  void widen(PortCounters& counters);

 private:
  struct WidenedCounter {
    CounterName name;
    uint64_t last;
    uint64_t added = 0;  // for the wraps since the last reset
  };
  static void widen(std::vector<Counter>& counters, std::vector<WidenedCounter>& known);

  std::vector<WidenedCounter> hw_{}, ethtool_{};
};

}  // namespace fabric
