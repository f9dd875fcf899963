// SPDX-License-Identifier: Apache-2.0
// Counters that are narrower than 64 bits in hardware (CounterRow::bits).
#pragma once

#include <unordered_map>

#include "model/node.h"
#include "vendor/counter_row.h"

namespace fabric {

// How much a counter grew; nullopt: it was reset (driver reload), or is full. A 32-bit counter wraps if it falls from
// the last quarter of its range into the first; any other fall is a reset. The counters of ports/N/counters stop at
// their highest value (IBTA 1.4, 16.1.3.5); one above that is wider than its row and counts on.
std::optional<uint64_t> counter_rise(CounterSource source, unsigned bits, uint64_t before, uint64_t now);

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
  using Known = std::map<std::string, Seen, std::less<>>;
  void widen(CounterSource source, std::vector<Counter>& counters, Known& known) const;

  std::string driver_;
  Known hw_{}, ethtool_{};
};

}  // namespace fabric
