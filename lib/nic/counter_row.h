// SPDX-License-Identifier: Apache-2.0
// The catalogue's rows: one counter is one row, in the counters.cpp of its vendor. No other code names a counter.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <span>

#include "base/words.h"
#include "nic/metrics.h"

namespace fabric {

// The member of PortCounters that has the counter.
enum class CounterSource : uint8_t { hw, pma, ethtool };

// The meaning of a rise. Each class has one culprit and one fix.
enum class CounterClass : uint8_t {
  none,      // traffic, congestion control at work (CNP, ECN marks, pause frames), numbers in use
  loss,      // RDMA packets were lost, reordered or answered too late
  link,      // bits were damaged on the wire or the link went down: cable, optics, connector
  discard,   // a port buffer overran: PFC should have prevented it
  storm,     // this port sends pause frames continuously
  receiver,  // the receiving host had no buffer posted: the application or its CPU is late
  pcie,      // the slot or the PCIe path is slower than the port
  request,   // one side rejected the other's RDMA request: application or fabric configuration
  ecn,       // this sender ignores congestion notifications
};
template <>
inline constexpr std::string_view kEnumWords<CounterClass>[] {
  "none", "loss", "link", "discard", "storm", "receiver", "pcie", "request", "ecn"
};

// No default: a row without a class does not compile.
struct CounterMeaning {
  CounterClass kind;
  bool severe;  // a connection broke or the link went down, rather than slowed down
  constexpr CounterMeaning(CounterClass its_kind, bool is_severe = false) : kind(its_kind), severe(is_severe) {}
};
constexpr CounterMeaning severe(CounterClass kind) { return {kind, true}; }

// The part whose events the counter counts.
enum class CounterScope : uint8_t {
  port,
  function,         // the PCI function's own traffic only
  device,           // all ports of the device
  infiniband_link,  // InfiniBand's link layer: zero on an Ethernet port, unless the driver has a row of its own
};
template <>
inline constexpr std::string_view kEnumWords<CounterScope>[] { "port", "function", "device", "InfiniBand link" };

// Labels of a row's series; literals.
inline constexpr Label kRx{"direction", "rx"}, kTx{"direction", "tx"};
inline constexpr Label kRequester{"side", "requester"}, kResponder{"side", "responder"};

// Raw unit -> base unit. A divisor, since multiplying by 1e-6 is not exact: 1234567 us are 1.234567 s.
struct Scale {
  double multiply = 1, divide = 1;
  [[nodiscard]] constexpr double of(uint64_t raw) const { return static_cast<double>(raw) * multiply / divide; }
};
inline constexpr Scale kMicroseconds{1, 1e6}, kWords{4, 1}, kBits{1, 8};

// The source of a counter in the driver; counters of the same function and table of the kernel share it.
struct CounterOrigin {
  std::string_view kernel;  // "FILE FUNCTION()", below drivers/ of Linux 6.12 unless it says otherwise
  std::string_view reset;   // what sets the counters to zero
};

// A row without an origin, a class or a width does not compile.
struct CounterRow {
  CounterSource source;
  std::string_view name;        // '#': a priority, 0..7, which becomes the label "priority"
  const CounterOrigin& origin;  // listed in fabric-counters(7)
  CounterMeaning rise;          // the class, severe() or not
  unsigned bits;              // width in hardware; below 64, hw and ethtool counters wrap, pma counters stop when full
  const Metric* metric{};     // null: published by its raw name only
  Label label{};              // of the metric's series
  Scale scale{};              // to the metric's unit
  std::string_view help{};    // empty: the metric's help describes it
  bool gauge = false;         // may fall
  std::string_view unless{};  // another counter of the same reading, which supersedes this one unless it is zero
  std::optional<CounterScope> scope{};  // absent: CounterTable::scope_of()
};

// A row without a metric.
constexpr CounterRow raw(CounterSource source, std::string_view name, const CounterOrigin& origin, CounterMeaning rise,
                         unsigned bits, std::string_view help, std::optional<CounterScope> scope = {}) {
  return {source, name, origin, rise, bits, nullptr, {}, {}, help, false, {}, scope};
}
constexpr CounterRow raw_gauge(CounterSource source, std::string_view name, const CounterOrigin& origin,
                               std::string_view help) {
  return {source, name, origin, CounterClass::none, 64, nullptr, {}, {}, help, true};
}

// A row with another scope than that of its table.
constexpr CounterRow of(CounterScope scope, CounterRow row) {
  row.scope = scope;
  return row;
}

struct CounterTable {
  std::string_view vendor;                    // heading in fabric-counters(7)
  std::array<std::string_view, 3> drivers{};  // Port::kernel_driver; empty: the rows are valid for every driver
  std::span<const CounterRow> rows{};
  // Drivers adopt each other's names (bnxt_re of Linux 7.x has mlx5's), so rows are valid for all drivers unless their
  // names have another meaning elsewhere (exclusive). Widths are always valid for the table's own drivers only, and so
  // are rows of ports/N/counters, whose names one table has for all drivers.
  bool exclusive = false;
  std::string_view twin_prefix{};               // counters with this prefix have the width of the row without it
  std::chrono::milliseconds ethtool_period{0};  // the device refreshes its ethtool statistics at this interval
  CounterScope hw_scope = CounterScope::port;

  [[nodiscard]] CounterScope scope_of(const CounterRow& row) const {
    return row.scope.value_or(row.source == CounterSource::hw ? hw_scope : CounterScope::port);
  }
};
// One per vendor, in its counters.cpp.
extern const CounterTable kMlx5Counters, kBnxtCounters, kIntelCounters, kIonicCounters, kHnsCounters, kEfaCounters,
    kManaCounters, kErdmaCounters, kHfi1Counters, kRxeCounters, kPmaCounters;

std::span<const CounterTable> counter_tables();
const CounterTable* find_counter_table(std::string_view driver);

}  // namespace fabric
