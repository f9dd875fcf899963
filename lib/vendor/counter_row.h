// SPDX-License-Identifier: Apache-2.0
// Which driver's counter is which metric: one row per raw name, one file per vendor.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/metric.h"

namespace fabric {

// Where a raw name stands: Port::counters' member of the same name.
enum class CounterSource : uint8_t { hw, pma, ethtool };

// A label that a row gives its series; literals.
using FixedLabel = Label;
inline constexpr FixedLabel kRx{"direction", "rx"}, kTx{"direction", "tx"};
inline constexpr FixedLabel kRequester{"side", "requester"}, kResponder{"side", "responder"};

// Raw unit -> base unit. Divided rather than multiplied by 1e-6, so that 1234567 microseconds are 1.234567 seconds
// exactly.
struct Scale {
  double multiply = 1, divide = 1;
};
inline constexpr Scale kMicroseconds{1, 1e6}, kWords{4, 1}, kBits{1, 8};

struct CounterRow {
  CounterSource source = CounterSource::hw;
  std::string_view name;           // "rx_prio#_pause": '#' is one priority, 0..7, which becomes the label "priority"
  const Metric* metric = nullptr;  // null: published under its raw name only, where raw names are published
  FixedLabel label{};
  Scale scale{};
  std::string_view help{};    // its own meaning; empty: the metric's says it
  bool gauge = false;         // a number at this moment, which falls as well
  std::string_view unless{};  // a counter of the same reading that, unless it is 0, counts the same and better
};

// A row without a metric.
constexpr CounterRow raw(CounterSource source, std::string_view name, std::string_view help) {
  return {source, name, nullptr, {}, {}, help, false};
}
constexpr CounterRow raw_gauge(CounterSource source, std::string_view name, std::string_view help) {
  return {source, name, nullptr, {}, {}, help, true};
}

// Per vendor.
std::span<const CounterRow> mlx5_rows();
std::span<const CounterRow> bnxt_rows();
std::span<const CounterRow> ice_irdma_rows();
std::span<const CounterRow> ionic_rows();
std::span<const CounterRow> hns_rows();
std::span<const CounterRow> rxe_rows();
std::span<const CounterRow> pma_rows();
std::span<const CounterRow> efa_rows();  // of the kernel driver "efa" alone

}  // namespace fabric
