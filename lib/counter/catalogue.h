// SPDX-License-Identifier: Apache-2.0
// The vocabulary: which driver's counter is which metric. One row per raw name, one file per vendor.
// Names are looked up whatever the driver: they do not contradict one another (a test holds them to that), and drivers
// take over each other's names (bnxt_re of Linux 7.x speaks mlx5's).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "counter/family.h"

namespace fabric {

// Where a raw name stands: Port::counters' member of the same name.
enum class CounterSource : uint8_t { hw, pma, ethtool };

// A label that a row gives its series; an empty name gives none.
struct FixedLabel {
  std::string_view name, value;
};
inline constexpr FixedLabel kRx{"direction", "rx"}, kTx{"direction", "tx"};
inline constexpr FixedLabel kRequester{"side", "requester"}, kResponder{"side", "responder"};

// Raw unit -> base unit. Divided rather than multiplied by 1e-6, so that 1234567 microseconds are 1.234567 seconds exactly.
struct Scale {
  double multiply = 1, divide = 1;
};
inline constexpr Scale kMicroseconds{1, 1e6}, kWords{4, 1};

struct CounterRow {
  CounterSource source = CounterSource::hw;
  std::string_view name;            // "rx_prio#_pause": '#' is one priority, 0..7, which becomes the label "priority"
  const Metric* metric = nullptr;
  FixedLabel label{};
  Scale scale{};
};

// Per vendor; what a row means, and whether a rise means trouble, stands with the metric and in model/counter_class.h.
std::span<const CounterRow> mlx5_rows();
std::span<const CounterRow> bnxt_rows();
std::span<const CounterRow> ice_irdma_rows();
std::span<const CounterRow> ionic_rows();
std::span<const CounterRow> rxe_rows();
std::span<const CounterRow> pma_rows();

struct CounterMatch {
  const CounterRow* row = nullptr;
  char priority = 0;  // '0'..'7', or 0 when the row has none
};
// The row for the raw name. Two names of one port may lead to the same series: they are parts of it and add up.
std::optional<CounterMatch> find_counter(CounterSource source, std::string_view name);

}  // namespace fabric
