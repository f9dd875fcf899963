// SPDX-License-Identifier: Apache-2.0
#include "node/signals.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "base/parse.h"
#include "nic/metrics.h"
#include "node/counters.h"

namespace fabric {
namespace {

using namespace metrics;

// How a row is combined with the value of earlier rows of the same member.
enum class Join : uint8_t {
  otherwise,  // the same events: used if no earlier row has a value
  add,        // other events: the sum
  most,       // the same events, counted elsewhere or in part: the larger
};

// One metric of the catalogue -> one member. All series of the metric that have the label are added up.
template <class Holder>
struct SignalRow {
  Rise Holder::*member;
  const Metric* metric;
  Label label{};  // an empty name: all series
  Join join = Join::otherwise;
  const Metric* subtract = nullptr;  // the device counts these events as well, though they do not belong here
};

constexpr Label kError{"severity", "error"}, kWarning{"severity", "warning"};
constexpr Label kRead{"operation", "read"}, kWrite{"operation", "write"};

using P = PrioritySignals;
constexpr SignalRow<P> kPriorityRows[] = {
    {&P::rx_pause_seconds, &kPfcSeconds, kRx},
    {&P::tx_pause_seconds, &kPfcSeconds, kTx},
    {&P::rx_pause_frames, &kPfcFrames, kRx},
    {&P::tx_pause_frames, &kPfcFrames, kTx},
    {&P::discards, &kPriorityDiscards},
    {&P::discards, &kPriorityHostDiscards, {}, Join::most},
    {&P::discards, &kPriorityCongestionDiscards, {}, Join::most},
    {&P::rx_bytes, &kPriorityBytes, kRx},
    {&P::tx_bytes, &kPriorityBytes, kTx},
    {&P::rx_bytes, &kPriorityQueueBytes, kRx},
    {&P::tx_bytes, &kPriorityQueueBytes, kTx},
};

using S = Signals;
constexpr SignalRow<S> kPortRows[] = {
    {&S::rx_global_pause_frames, &kGlobalPauseFrames, kRx},
    {&S::tx_global_pause_frames, &kGlobalPauseFrames, kTx},
    {&S::rx_global_pause_seconds, &kGlobalPauseSeconds, kRx},
    {&S::tx_global_pause_seconds, &kGlobalPauseSeconds, kTx},
    // A storm exceeds the warning's threshold before the error's.
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
    {&S::requests, &kRequests},

    {&S::out_of_sequence, &kOutOfSequence},
    {&S::duplicate_requests, &kDuplicateRequests},
    {&S::ack_timeouts, &kAckTimeouts},
    {&S::sequence_naks, &kSequenceNaks},
    {&S::sequence_naks, &kImpliedNaks, {}, Join::add},
    {&S::retransmissions, &kRetransmittedPackets},
    {&S::retransmissions, &kRetries},
    {&S::retransmissions, &kAdaptiveRetransmissions},
    {&S::retries_exceeded, &kRetriesExceeded},
    {&S::rnr_naks, &kRnrNaksReceived},
    {&S::rnr_naks, &kRnrNaksSent, {}, Join::add},
    {&S::rnr_retries_exceeded, &kRnrRetriesExceeded},
    {&S::out_of_buffer, &kOutOfBuffer},
    // A failed request is counted by its cause and, by some drivers, as a completion error, too.
    {&S::request_errors, &kAccessErrors},
    {&S::request_errors, &kInvalidRequests, {}, Join::add},
    {&S::request_errors, &kLengthErrors, {}, Join::add},
    {&S::request_errors, &kOperationErrors, {}, Join::add},
    {&S::request_errors, &kLocalErrors, {}, Join::add},
    // Closing a queue pair flushes its unused requests, which these counters include though they are not errors
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
    {&S::crc_errors, &kPortReceiveErrors},  // InfiniBand: mostly packets with a wrong CRC
    {&S::remote_physical_errors, &kPortRemotePhysical},
    {&S::fec_corrected, &kPhyCorrectedWords},
    {&S::fec_uncorrectable, &kPhyUncorrectableWords},
    {&S::fec_corrected_bits, &kPhyCorrectedBits},
    {&S::transmit_wait, &kPortWait},

    // Both operations may count the same second.
    {&S::pcie_stalled_seconds, &kPcieStalled, kRead},
    {&S::pcie_stalled_seconds, &kPcieStalled, kWrite, Join::most},
    {&S::pcie_errors, &kPcieSignal},
    {&S::pcie_overflows, &kPcieOverflows},
};

bool has_label(const Label& wanted, const CounterRow& row) {
  return wanted.name.empty() || wanted.value == row.label.value;
}

Rise rise_of(const std::optional<uint64_t>& before, const std::optional<uint64_t>& now) {
  if (!before || !now || *now < *before) return std::nullopt;
  return static_cast<double>(*now - *before);
}

// The sum for each row of the tables.
struct Sums {
  std::array<RiseSum, std::size(kPortRows)> port{};
  std::array<std::array<RiseSum, 8>, std::size(kPriorityRows)> priority{};
  RiseSum broken_connections{};  // by a counter without a common metric
  bool by_queue = false;         // the bytes of a priority are those of its hardware queue
};

void add(Sums& sums, const Counter& each, std::optional<uint64_t> raw) {
  const CounterRow& counter = *each.row;
  const Rise rise = scaled(raw, counter.scale);
  for (size_t i = 0; i < std::size(kPortRows); ++i) {
    const SignalRow<S>& row = kPortRows[i];
    if (row.subtract == counter.metric) sums.port[i].value -= rise.value_or(0);
    if (row.metric == counter.metric && has_label(row.label, counter)) sums.port[i].add(rise);
  }
  if (each.priority == 0) return;
  for (size_t i = 0; i < std::size(kPriorityRows); ++i)
    if (kPriorityRows[i].metric == counter.metric && has_label(kPriorityRows[i].label, counter))
      sums.priority[i][static_cast<size_t>(each.priority - '0')].add(rise);
}

void gather(Sums& sums, const std::vector<Counter>& before, const std::vector<Counter>& now) {
  for (size_t i = 0; i < now.size(); ++i) {
    const Counter& counter = now[i];
    if (counter.row == nullptr || is_superseded(counter, now)) continue;
    if (counter.row->metric == nullptr) {
      const CounterMeaning& meaning = counter.row->rise;
      if (meaning.kind == CounterClass::loss && meaning.severe)
        sums.broken_connections.add(scaled(rise_since(before, now, i), counter.row->scale));
      continue;
    }
    sums.by_queue = sums.by_queue || counter.row->metric == &kPriorityQueueBytes;
    add(sums, counter, rise_since(before, now, i));
  }
}

void join(Rise& member, const RiseSum& sum, Join how) {
  if (!sum.any) return;
  const Rise value = sum.broken ? Rise() : Rise(std::max(0.0, sum.value));
  if (!member) member = value;
  else if (how == Join::add) member = value ? Rise(*member + *value) : Rise();
  else if (how == Join::most && value) member = std::max(*member, *value);
}

void join_most(Rise& member, Rise value) {
  if (value) member = std::max(member.value_or(0), *value);
}

using ErrorsPerLane = std::vector<double>;

std::optional<BadLane> worst_of(const ErrorsPerLane& lanes, double few, double share) {
  if (lanes.size() < 2) return std::nullopt;
  const auto worst = std::ranges::max_element(lanes);
  const double sum = std::accumulate(lanes.begin(), lanes.end(), 0.0);
  if (*worst < few || *worst < share * sum) return std::nullopt;
  return BadLane{static_cast<size_t>(worst - lanes.begin()), *worst / sum};
}

}  // namespace

Signals signals_of(const Port& before, const Port& now, double seconds) {
  Signals out;
  out.seconds = seconds;
  if (before.pci != now.pci) return out;  // another device of the same name
  Sums sums;
  const auto& old = before.counters;
  gather(sums, old.hw, now.counters.hw);
  gather(sums, old.pma, now.counters.pma);
  gather(sums, old.ethtool, now.counters.ethtool);
  for (size_t i = 0; i < std::size(kPortRows); ++i) join(out.*kPortRows[i].member, sums.port[i], kPortRows[i].join);
  for (size_t i = 0; i < std::size(kPriorityRows); ++i)
    for (size_t priority = 0; priority < out.priority.size(); ++priority)
      join(out.priority[priority].*kPriorityRows[i].member, sums.priority[i][priority], kPriorityRows[i].join);

  join(out.retries_exceeded, sums.broken_connections, Join::add);

  // The priorities of one hardware queue have the same bytes, which are the bytes of the queue: the first priority
  // keeps them; if some of the priorities have PFC and others do not, none keeps them. Two queues never carry the same
  // bytes in both directions.
  if (sums.by_queue) {
    const PrioSet pfc = now.qos.pfc.value_or(PrioSet{});
    auto& all = out.priority;
    for (size_t i = 0; i < all.size(); ++i) {
      const Rise rx = all[i].rx_bytes, tx = all[i].tx_bytes;
      if (rx.value_or(0) + tx.value_or(0) == 0) continue;
      bool mixed = false;
      for (size_t j = i + 1; j < all.size(); ++j) {
        if (all[j].rx_bytes != rx || all[j].tx_bytes != tx) continue;
        mixed = mixed || pfc.has(static_cast<int>(i)) != pfc.has(static_cast<int>(j));
        all[j].rx_bytes = all[j].tx_bytes = std::nullopt;
      }
      if (mixed) all[i].rx_bytes = all[i].tx_bytes = std::nullopt;
    }
  }

  // Sources without a catalogue row.
  join_most(out.link_downs, rise_of(old.carrier_down, now.counters.carrier_down));
  if (before.link_status && now.link_status)
    join_most(out.link_downs, rise_of(before.link_status->downs, now.link_status->downs));
  if (before.fec && now.fec) {
    join_most(out.fec_corrected, rise_of(before.fec->corrected_blocks.total, now.fec->corrected_blocks.total));
    join_most(out.fec_uncorrectable,
              rise_of(before.fec->uncorrectable_blocks.total, now.fec->uncorrectable_blocks.total));
    join_most(out.fec_corrected_bits, rise_of(before.fec->corrected_bits.total, now.fec->corrected_bits.total));
    const auto was = fec_words(before), is = fec_words(now);
    // With other bins it is another code.
    if (was && is && was->limit == is->limit && before.fec->histogram.size() == now.fec->histogram.size()) {
      out.fec_words = rise_of(std::optional(was->all), std::optional(is->all));
      out.fec_words_near_limit = rise_of(std::optional(was->near_limit), std::optional(is->near_limit));
    }
  }
  return out;
}

std::map<std::string, Signals> signals_of(const Node& before, const Node& now) {
  std::map<std::string, Signals> out;
  const double seconds = in_seconds(now.taken - before.taken);
  for (const Port& port : now.ports) {
    if (const Port* old = find_port(before.ports, port.id())) out.emplace(port.id(), signals_of(*old, port, seconds));
  }
  return out;
}

namespace {

constexpr double kSlowLane = 28'000;  // Mb/s, the most that a lane of 25 Gb/s carries
constexpr uint64_t kShortCode = 7;    // symbols that RS(528,514) and RS(272,258) correct

// How many lanes the link may have; nullopt: unknown. mlx5 counts them. Other drivers do not, and then the cage limits
// them: SFP has one, QSFP28 has four of 25 Gb/s (SFF-8024 table 4-1). A QSFP28 does not fit lanes of 50 Gb/s.
std::optional<size_t> lanes_of(const Port& port) {
  constexpr uint8_t kSfp = 0x03, kQsfp28 = 0x11;
  if (port.fec && !port.fec->corrected_bits.lanes.empty()) return port.fec->corrected_bits.lanes.size();
  if (!port.module) return std::nullopt;
  if (port.module->identifier == kSfp) return 1;
  if (port.module->identifier == kQsfp28) return 4;
  return std::nullopt;
}

uint64_t last_bin(const FecStatus& fec) {
  uint64_t out = 0;
  for (const FecBin& bin : fec.histogram) out = std::max<uint64_t>(out, bin.low);
  return out;
}

// The symbols that the code of the port corrects; 0: unknown.
uint64_t correctable_symbols(const Port& port) {
  const uint64_t last = last_bin(*port.fec);
  if (last <= kShortCode) return last;
  if (port.fec->active == FecCode::llrs) return kShortCode;
  if (!port.fec->corrected_bits.lanes.empty()) return last;  // mlx5's histogram ends where its code does
  if (!port.speed || *port.speed == 0) return 0;
  if (has_lanes_of_25g(port)) return kShortCode;
  // At 50 and 100 Gb/s the lanes decide between RS(528,514) and RS(544,514).
  return lanes_of(port) || *port.speed > 4 * kSlowLane ? last : 0;
}

}  // namespace

bool has_lanes_of_25g(const Port& port) {
  if (!port.speed || *port.speed == 0) return false;
  if (port.fec && !port.fec->corrected_bits.lanes.empty() && last_bin(*port.fec) > kShortCode) return false;
  return *port.speed <= kSlowLane * static_cast<double>(lanes_of(port).value_or(1));
}

std::optional<FecWords> fec_words(const Port& port) {
  if (!port.fec) return std::nullopt;
  FecWords out{.limit = correctable_symbols(port)};
  if (out.limit == 0) return std::nullopt;
  for (const FecBin& bin : port.fec->histogram) {
    out.all += bin.words;
    if (3 * uint64_t{bin.low} >= 2 * out.limit) out.near_limit += bin.words;
  }
  return out;
}

std::optional<BadLane> bad_lane(const Port& before, const Port& now, double few, double share) {
  if (before.pci != now.pci) return std::nullopt;
  if (before.fec && now.fec)
    for (const auto member :
         {&FecStatus::uncorrectable_blocks, &FecStatus::corrected_bits, &FecStatus::corrected_blocks}) {
      const auto &old = ((*before.fec).*member).lanes, &present = ((*now.fec).*member).lanes;
      if (old.size() != present.size()) continue;
      ErrorsPerLane lanes(present.size());
      for (size_t lane = 0; lane < lanes.size(); ++lane)
        if (present[lane] > old[lane]) lanes[lane] = static_cast<double>(present[lane] - old[lane]);
      if (const auto worst = worst_of(lanes, few, share)) return worst;
    }

  // The driver has counters for four lanes, even on a link of one lane (mlx5 at 25 Gb/s): lanes after the last one that
  // has ever counted are not lanes without errors.
  ErrorsPerLane lanes;
  const std::vector<Counter>& counters = now.counters.ethtool;
  for (size_t i = 0; i < counters.size(); ++i) {
    const CounterRow* row = counters[i].row;
    if (row == nullptr || row->metric != &metrics::kPhyLaneErrors || counters[i].value == 0) continue;
    const auto lane = parse_number<size_t>(row->label.value);
    if (!lane) continue;
    lanes.resize(std::max(lanes.size(), *lane + 1));
    lanes[*lane] = static_cast<double>(rise_since(before.counters.ethtool, counters, i).value_or(0));
  }
  return worst_of(lanes, few, share);
}

}  // namespace fabric
