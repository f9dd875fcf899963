// SPDX-License-Identifier: Apache-2.0
#include "counters/signals.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "counters/catalogue.h"
#include "counters/counter_class.h"
#include "counters/widen.h"
#include "model/metrics.h"

namespace fabric {
namespace {

using namespace metrics;

// How a row joins what the rows above it gave the same member.
enum class Join : uint8_t {
  otherwise,  // counts the same once more: only where nothing above was read
  add,        // other events: the sum
  most,       // the same events, seen at another place or in part: the larger
};

// One metric of the catalogue -> one member. All series of the metric that have the label are parts and add up.
template <class Holder>
struct Row {
  Rise Holder::*member;
  const Metric* metric;
  FixedLabel label{};  // an empty name: all series
  Join join = Join::otherwise;
  const Metric* less = nullptr;  // counted with them by the device, and none of them
};

constexpr FixedLabel kError{"severity", "error"}, kWarning{"severity", "warning"};
constexpr FixedLabel kRead{"operation", "read"}, kWrite{"operation", "write"};

using P = PrioritySignals;
constexpr Row<P> kPriorityRows[] = {
    {&P::rx_pause_seconds, &kPfcSeconds, kRx},
    {&P::tx_pause_seconds, &kPfcSeconds, kTx},
    {&P::rx_pause_frames, &kPfcFrames, kRx},
    {&P::tx_pause_frames, &kPfcFrames, kTx},
    {&P::discards, &kPriorityDiscards},
    {&P::discards, &kPriorityHostDiscards, {}, Join::most},
    {&P::discards, &kPriorityCongestionDiscards, {}, Join::most},
    {&P::rx_bytes, &kPriorityBytes, kRx},
    {&P::tx_bytes, &kPriorityBytes, kTx},
};

using S = Signals;
constexpr Row<S> kPortRows[] = {
    {&S::rx_global_pause_frames, &kGlobalPauseFrames, kRx},
    {&S::tx_global_pause_frames, &kGlobalPauseFrames, kTx},
    {&S::rx_global_pause_seconds, &kGlobalPauseSeconds, kRx},
    {&S::tx_global_pause_seconds, &kGlobalPauseSeconds, kTx},
    // A storm passes the threshold of the warning on its way to that of the error.
    {&S::pause_storm_events, &kPauseStorms, kWarning},
    {&S::pause_storm_events, &kPauseStorms, kError, Join::most},

    {&S::rx_bytes, &kRdmaBytes, kRx},
    {&S::rx_bytes, &kPortBytes, kRx},
    {&S::tx_bytes, &kRdmaBytes, kTx},
    {&S::tx_bytes, &kPortBytes, kTx},
    {&S::rx_packets, &kRdmaPackets, kRx},
    {&S::rx_packets, &kPortPackets, kRx},
    {&S::tx_packets, &kRdmaPackets, kTx},
    {&S::tx_packets, &kPortPackets, kTx},

    {&S::out_of_sequence, &kOutOfSequence},
    {&S::duplicate_requests, &kDuplicateRequests},
    {&S::ack_timeouts, &kAckTimeouts},
    {&S::sequence_naks, &kSequenceNaks},
    {&S::sequence_naks, &kImpliedNaks, {}, Join::add},
    {&S::retries_exceeded, &kRetriesExceeded},
    {&S::rnr_naks, &kRnrNaksReceived},
    {&S::rnr_naks, &kRnrNaksSent, {}, Join::add},
    {&S::rnr_retries_exceeded, &kRnrRetriesExceeded},
    {&S::out_of_buffer, &kOutOfBuffer},
    // A request that fails is counted by its cause, and where the driver has that as an erroneous completion too.
    {&S::request_errors, &kAccessErrors},
    {&S::request_errors, &kInvalidRequests, {}, Join::add},
    {&S::request_errors, &kLengthErrors, {}, Join::add},
    {&S::request_errors, &kOperationErrors, {}, Join::add},
    {&S::request_errors, &kLocalErrors, {}, Join::add},
    // What a queue pair that closes had not used yet is flushed: an erroneous completion by its counters, and no error
    // (NVIDIA's WinOF manual, "Responder CQE errors").
    {&S::request_errors, &kCqeErrors, {}, Join::most, &kCqeFlushes},
    {&S::icrc_errors, &kIcrcErrors},

    {&S::cnp_sent, &kCnpSent},
    {&S::cnp_handled, &kCnpHandled},
    {&S::cnp_ignored, &kCnpIgnored},
    {&S::ecn_marked, &kEcnMarked},

    {&S::rx_discards, &kPhyDiscards, kRx},
    {&S::rx_discards, &kPortDiscards, kRx, Join::most},
    {&S::rx_discards, &kDiscards, kRx, Join::most},
    {&S::tx_discards, &kPhyDiscards, kTx},
    {&S::tx_discards, &kPortDiscards, kTx, Join::most},
    {&S::tx_discards, &kDiscards, kTx, Join::most},
    {&S::buffer_overruns, &kPortOverruns},
    {&S::link_downs, &kPhyLinkDowns},
    {&S::link_downs, &kPortLinkDowned, {}, Join::most},
    {&S::link_recoveries, &kPortLinkRecoveries},
    {&S::link_recoveries, &kPhyRecoveries, {}, Join::most},
    {&S::link_integrity_errors, &kPortLinkIntegrity},
    {&S::symbol_errors, &kPhySymbolErrors},
    {&S::symbol_errors, &kPortSymbolErrors, {}, Join::most},
    {&S::symbol_errors, &kPhyCodingErrors, {}, Join::most},
    {&S::crc_errors, &kPhyCrcErrors},
    {&S::crc_errors, &kPortReceiveErrors},  // InfiniBand: what its CRCs refused, and little else
    {&S::remote_physical_errors, &kPortRemotePhysical},
    {&S::fec_corrected, &kPhyCorrectedWords},
    {&S::fec_uncorrectable, &kPhyUncorrectableWords},
    {&S::fec_corrected_bits, &kPhyCorrectedBits},
    {&S::transmit_wait, &kPortWait},

    // The same second can be counted by both operations.
    {&S::pcie_stalled_seconds, &kPcieStalled, kRead},
    {&S::pcie_stalled_seconds, &kPcieStalled, kWrite, Join::most},
    {&S::pcie_errors, &kPcieSignal},
    {&S::pcie_overflows, &kPcieOverflows},
    {&S::host_buffer_drops, &kNetdevOutOfBuffer},
};

Rise rise_of(uint64_t before, uint64_t now) {
  if (now < before) return std::nullopt;  // reset
  return static_cast<double>(now - before);
}

Rise rise_of(const std::optional<uint64_t>& before, const std::optional<uint64_t>& now) {
  if (!before || !now) return std::nullopt;
  return rise_of(*before, *now);
}

// InfiniBand's counters stop at their last value, and only a reset brings them back (IBTA 1.4, 16.1.3.5; widths:
// drivers/infiniband/core/sysfs.c of Linux 6.12). 0: not one of them.
uint64_t last_value(CounterSource source, std::string_view name) {
  struct Width {
    std::string_view name;
    unsigned bits;
  };
  static constexpr Width kWidths[] = {
      {"symbol_error", 16},
      {"link_error_recovery", 8},
      {"link_downed", 8},
      {"port_rcv_errors", 16},
      {"port_xmit_discards", 16},
      {"port_rcv_remote_physical_errors", 16},
      {"port_rcv_constraint_errors", 8},
      {"port_xmit_constraint_errors", 8},
      {"local_link_integrity_errors", 4},
      {"excessive_buffer_overrun_errors", 4},
      {"VL15_dropped", 16},
      {"port_xmit_wait", 32},
  };
  if (source != CounterSource::pma) return 0;
  for (const Width& each : kWidths)
    if (each.name == name) return (uint64_t{1} << each.bits) - 1;
  return 0;
}

Rise rise_of(CounterSource source, const std::string& driver, std::string_view name, uint64_t before, uint64_t now) {
  if (now < before && wraps_at_32_bits(driver, name)) {
    const auto by = counter_rise(before, now);
    return by ? Rise(static_cast<double>(*by)) : Rise();
  }
  const uint64_t last = last_value(source, name);
  if (last == 0 || before > last || now > last) return rise_of(before, now);  // no such counter, or a wider one
  if (now < before || before == last) return std::nullopt;                    // reset, or full
  return static_cast<double>(now - before);
}

// What one row of a table has gathered.
struct Sum {
  double value = 0;
  bool any = false, broken = false;  // broken: a part was reset, or stands in one reading only

  void put(Rise part) {
    any = true;
    if (part) value += *part;
    else broken = true;
  }
  void take_off(Rise part) { value -= part.value_or(0); }
};

using ByPriority = std::array<Sum, 8>;
struct Sums {
  std::array<Sum, std::size(kPortRows)> port{};
  std::array<ByPriority, std::size(kPriorityRows)> priority{};
};

struct Use {
  bool per_priority = false;
  size_t row = 0;
  FixedLabel label;
  bool less = false;
};

// Metric -> the rows that take it.
const std::vector<Use>* uses_of(const Metric* metric) {
  static const auto index = [] {
    std::unordered_map<const Metric*, std::vector<Use>> out;
    for (size_t i = 0; i < std::size(kPortRows); ++i) {
      out[kPortRows[i].metric].push_back({false, i, kPortRows[i].label});
      if (kPortRows[i].less != nullptr) out[kPortRows[i].less].push_back({false, i, {}, true});
    }
    for (size_t i = 0; i < std::size(kPriorityRows); ++i)
      out[kPriorityRows[i].metric].push_back({true, i, kPriorityRows[i].label});
    return out;
  }();
  auto found = index.find(metric);
  return found == index.end() ? nullptr : &found->second;
}

void put(Sums& sums, const CounterMatch& match, Rise rise) {
  const std::vector<Use>* uses = uses_of(match.row->metric);
  if (uses == nullptr) return;
  const Scale& scale = match.row->scale;
  if (rise) rise = *rise * scale.multiply / scale.divide;
  for (const Use& use : *uses) {
    if (!use.label.name.empty() && use.label.value != match.row->label.value) continue;
    if (use.less) sums.port[use.row].take_off(rise);
    else if (!use.per_priority) sums.port[use.row].put(rise);
    else if (match.priority != 0) sums.priority[use.row][static_cast<size_t>(match.priority - '0')].put(rise);
  }
}

// The counter of that name, most often at the same place as in the other reading.
const Counter* counterpart(const std::vector<Counter>& counters, const CounterName& name, size_t place) {
  if (place < counters.size() && counters[place].name == name) return &counters[place];
  auto found = std::find_if(counters.begin(), counters.end(), [&](const Counter& one) { return one.name == name; });
  return found == counters.end() ? nullptr : &*found;
}

void gather(Sums& sums, CounterSource source, const std::string& driver, const std::vector<Counter>& before,
            const std::vector<Counter>& now) {
  for (size_t i = 0; i < now.size(); ++i) {
    const auto match = find_counter(source, now[i].name, driver);
    if (!match || is_told_better(*match->row, now)) continue;
    const Counter* old = counterpart(before, now[i].name, i);
    put(sums, *match, old == nullptr ? Rise() : rise_of(source, driver, now[i].name, old->value, now[i].value));
  }
}

void join(Rise& member, const Sum& sum, Join how) {
  if (!sum.any) return;
  const Rise value = sum.broken ? Rise() : Rise(std::max(0.0, sum.value));
  if (!member || how == Join::otherwise) {
    if (!member) member = value;
  } else if (how == Join::add) {
    member = value ? Rise(*member + *value) : Rise();
  } else if (value) {
    member = std::max(*member, *value);
  }
}

void join_most(Rise& member, Rise value) {
  if (value) member = std::max(member.value_or(0), *value);
}

// What no catalogue row stands for.
void add_link(Signals& signals, const Port& before, const Port& now) {
  join_most(signals.link_downs, rise_of(before.counters.carrier_down, now.counters.carrier_down));
  if (before.link_status && now.link_status)
    join_most(signals.link_downs, rise_of(before.link_status->downs, now.link_status->downs));
  if (!before.fec || !now.fec) return;
  join_most(signals.fec_corrected, rise_of(before.fec->corrected_blocks.total, now.fec->corrected_blocks.total));
  join_most(signals.fec_uncorrectable,
            rise_of(before.fec->uncorrectable_blocks.total, now.fec->uncorrectable_blocks.total));
  join_most(signals.fec_corrected_bits, rise_of(before.fec->corrected_bits.total, now.fec->corrected_bits.total));
}

}  // namespace

Signals signals_of(const Port& before, const Port& now, double seconds) {
  Signals out;
  out.seconds = seconds;
  if (before.pci != now.pci) return out;  // another device came by the name
  Sums sums;
  const auto& old = before.counters;
  gather(sums, CounterSource::hw, now.kernel_driver, old.hw, now.counters.hw);
  gather(sums, CounterSource::pma, now.kernel_driver, old.pma, now.counters.pma);
  gather(sums, CounterSource::ethtool, now.kernel_driver, old.ethtool, now.counters.ethtool);

  for (size_t i = 0; i < std::size(kPortRows); ++i) join(out.*kPortRows[i].member, sums.port[i], kPortRows[i].join);
  for (size_t i = 0; i < std::size(kPriorityRows); ++i)
    for (size_t priority = 0; priority < out.priority.size(); ++priority)
      join(out.priority[priority].*kPriorityRows[i].member, sums.priority[i][priority], kPriorityRows[i].join);
  add_link(out, before, now);
  if (now.kernel_driver == "hfi1")
    out.link_integrity_errors
        .reset();  // there it counts what the link sent again (C_DC_RX_REPLAY; hfi1/mad.c, Linux 6.12)
  return out;
}

std::map<std::string, Signals> signals_of(const Node& before, const Node& now) {
  std::map<std::string, Signals> out;
  const double seconds = std::chrono::duration<double>(now.taken - before.taken).count();
  for (const Port& port : now.ports) {
    const auto old = std::find_if(before.ports.begin(), before.ports.end(),
                                  [&](const Port& other) { return other.id() == port.id(); });
    if (old != before.ports.end()) out.emplace(port.id(), signals_of(*old, port, seconds));
  }
  return out;
}

}  // namespace fabric
