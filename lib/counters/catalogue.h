// SPDX-License-Identifier: Apache-2.0
// Raw counter name -> its row (vendor/counter_row.h).
#pragma once

#include <initializer_list>

#include "model/node.h"
#include "vendor/counter_row.h"

namespace fabric {

struct Counter;
struct Port;

// What the row counts, in one line.
std::string_view meaning(const CounterRow& row);

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
std::optional<CounterMatch> describe_counter(CounterSource source, std::string_view name, std::string_view driver = {});
// The same for rows with a metric only. Several counters of a port may be parts of one series; their sum is its value.
std::optional<CounterMatch> find_counter(CounterSource source, std::string_view name, std::string_view driver = {});

// The width, known for some counters without a row, too.
unsigned counter_bits(CounterSource source, std::string_view name, std::string_view driver);

// Sum of the port's hw counters of these metrics, in base units; nullopt: it has none of them.
std::optional<double> hw_total(const Port& port, std::initializer_list<const Metric*> metrics);

// Which lane of a link damages bits.

struct BadLane {
  size_t lane = 0;
  double share = 0;  // of the errors of all lanes
};

// The lane with at least 90 % of the errors between two readings: by FEC's own counters (uncorrectable words, else
// corrected bits), else by the driver's counters of raw errors (kPhyLaneErrors). A bad reference clock or a bad switch
// port would damage all lanes.
std::optional<BadLane> bad_lane(const Port& before, const Port& now);

}  // namespace fabric
