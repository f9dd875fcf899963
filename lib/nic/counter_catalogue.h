// SPDX-License-Identifier: Apache-2.0
// Raw counter name -> its row (vendor/counter_row.h); how much counters grew, also those that are narrower than 64 bits
// in hardware (CounterRow::bits).
#pragma once

#include <unordered_map>

#include "nic/counter_row.h"
#include "node/node.h"
#include "node/signals.h"

namespace fabric {

// What the row counts, in one line.
std::string_view meaning(const CounterRow& row);

struct CounterNameHash {
  size_t operator()(const CounterName& name) const { return name.hash(); }
};

// Whether a rise is an error.
inline bool is_error(const CounterRow& row) { return row.rise.kind != CounterClass::none; }

// Whether another counter of the reading supersedes it (CounterRow::unless).
bool is_superseded(const CounterRow& row, const std::vector<Counter>& reading);

struct CounterMatch {
  const CounterRow* row = nullptr;
  char priority = 0;   // '0'..'7', or 0 if the row has none
  unsigned bits = 64;  // on ports of this driver
};

// The row of a raw name on a port of the kernel driver, with or without a metric.
std::optional<CounterMatch> describe_counter(CounterSource source, const CounterName& name,
                                             std::string_view driver = {});
// The same for rows with a metric only. Several counters of a port may be parts of one series; their sum is its value.
std::optional<CounterMatch> find_counter(CounterSource source, const CounterName& name, std::string_view driver = {});

// The width, known for some counters without a row, too.
unsigned counter_bits(CounterSource source, const CounterName& name, std::string_view driver);

// How much a counter grew; nullopt: it was reset (driver reload), or is full. A 32-bit counter wraps if it falls from
// the last quarter of its range into the first; any other fall is a reset. The counters of ports/N/counters stop at
// their highest value (IBTA 1.4, 16.1.3.5); one above that is wider than its row and counts on.
std::optional<uint64_t> counter_rise(CounterSource source, unsigned bits, uint64_t before, uint64_t now);

// Unit of the metric.
inline Rise scaled(std::optional<uint64_t> rise, Scale scale) {
  return rise ? Rise(static_cast<double>(*rise) * scale.multiply / scale.divide) : Rise();
}

// What several counters have grown by together.
struct RiseSum {
  double value = 0;
  bool any = false, broken = false;  // broken: one of them was reset, or is in one reading only

  void add(Rise part) {
    any = true;
    value += part.value_or(0);
    broken = broken || !part;
  }
  [[nodiscard]] Rise total() const { return any && !broken ? Rise(value) : Rise(); }
};

// Rises of one source of a port since an earlier reading, which must outlive it.
class CounterRises {
 public:
  CounterRises(CounterSource source, std::string_view kernel_driver, const std::vector<Counter>& before);
  // nullopt as above, or if the earlier reading does not have it.
  [[nodiscard]] std::optional<uint64_t> of(const Counter& now) const;

 private:
  CounterSource source_;
  std::string driver_;
  std::unordered_map<std::string_view, uint64_t> before_;
};

// Extends the wrapping 32-bit counters of one port to 64 bits.
class Widener {
 public:
  explicit Widener(std::string kernel_driver) : driver_(std::move(kernel_driver)) {}

  // Readings in the order in which they were made. A reset starts over.
  void widen(PortCounters& counters);

 private:
  struct Seen {
    bool wraps;
    uint64_t last;
    uint64_t added = 0;  // by the wraps since the last reset
  };
  using Known = std::unordered_map<CounterName, Seen, CounterNameHash>;
  void widen(CounterSource source, std::vector<Counter>& counters, Known& known) const;

  std::string driver_;
  Known hw_{}, ethtool_{};
};

struct BadLane {
  size_t lane = 0;
  double share = 0;  // of the errors of all lanes
};
// The lane with at least 90 % of the errors between two readings: by FEC's own counters, else by the driver's of raw
// errors (kPhyLaneErrors). A bad reference clock or switch port would damage all lanes. None on a link of one lane.
std::optional<BadLane> bad_lane(const Port& before, const Port& now);

}  // namespace fabric
