// SPDX-License-Identifier: Apache-2.0
// The vocabulary: which driver's counter is which metric. One row per raw name, one file per vendor.
// Names are looked up whatever the driver: they do not contradict one another (a test holds them to that), and drivers
// take over each other's names (bnxt_re of Linux 7.x speaks mlx5's). The one exception is EFA, whose "rx_bytes" are not
// bnxt_re's: its rows are for its ports alone.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/counter_name.h"
#include "vendor/counter_row.h"

namespace fabric {

struct Counter;

// What the row counts, in one line.
std::string_view meaning(const CounterRow& row);
// Whether a rise means trouble (model/counter_class.h has the kinds of it).
bool means_trouble(const CounterRow& row);

// Does a file of ports/N/counters/ count what InfiniBand's link does, rather than the port's traffic? Such a counter is
// zero on an Ethernet port: whatever goes wrong there, the physical port's counters say it.
bool is_of_infiniband_link(const CounterRow& row);
bool is_of_infiniband_link(std::string_view pma);

struct CounterMatch {
  const CounterRow* row = nullptr;
  char priority = 0;  // '0'..'7', or 0 when the row has none
};
// Is the row's thing counted better by another counter of the reading (CounterRow::unless)?
bool is_told_better(const CounterRow& row, const std::vector<Counter>& reading);

// The row for the raw name on a port of the kernel driver, with a metric or without. Of a reading's counter in a few
// steps.
std::optional<CounterMatch> describe_counter(CounterSource source, std::string_view name, std::string_view driver = {});
std::optional<CounterMatch> describe_kept_counter(CounterSource source, CounterName name, std::string_view driver);
template <std::same_as<CounterName> Name>
std::optional<CounterMatch> describe_counter(CounterSource source, const Name& name, std::string_view driver = {}) {
  return describe_kept_counter(source, name, driver);
}

// As describe_counter(), rows with a metric only. Two names of one port may lead to the same series: they are parts of
// it and add up.
template <class Name>
std::optional<CounterMatch> find_counter(CounterSource source, const Name& name, std::string_view driver = {}) {
  auto match = describe_counter(source, name, driver);
  if (match && match->row->metric == nullptr) match.reset();
  return match;
}

}  // namespace fabric
