// SPDX-License-Identifier: Apache-2.0
#include "judge/port_context.h"

#include <cmath>

#include "judge/cabling.h"
#include "judge/engine.h"
#include "judge/pcie.h"
#include "judge/port_state.h"
#include "kernel/netlink/rtnl.h"
#include "nic/capabilities.h"
#include "nic/counter_row.h"
#include "node/counters.h"

namespace fabric {

namespace {

// One pause frame lasts at most 65535 quanta of 512 bit times (IEEE 802.3 annex 31B, 802.1Qbb).
constexpr double kLongestPauseBits = 65535.0 * 512;

const Neighbor* neighbor_of(const View& view, const Port& port) {
  if (const Neighbor* with_pfc = first_with(view.now, port, &Neighbor::pfc)) return with_pfc;
  if (const Neighbor* named = switch_of(view.now, view.policy, port)) return named;
  const Neighbor* any = nullptr;  // of a bond's neighbors; preferred: one with PFC that differs from the bond's
  for (const Port* member : members_of(view.now, port)) {
    const Neighbor* each = neighbor_of(view, *member);
    if (any == nullptr || (each != nullptr && each->pfc && each->pfc->enabled != port.qos.pfc)) any = each;
  }
  return any;
}

PauseShare pause_of(const PortContext& ctx, Direction direction) {
  const Signals& seen = ctx.signals;
  const bool rx = direction == Direction::rx;
  PauseShare out{.direction = direction};
  if (seen.seconds <= 0) return out;
  double longest = 0;  // seconds of one frame; 0: the speed is unknown
  if (ctx.port.speed && *ctx.port.speed > 0) longest = kLongestPauseBits / (*ctx.port.speed * 1e6);
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = seen.priority[static_cast<size_t>(priority)];
    const Rise& time = rx ? each.rx_pause_seconds : each.tx_pause_seconds;
    const Rise& frames = rx ? each.rx_pause_frames : each.tx_pause_frames;
    // Pause received without PFC has no effect.
    if (!time && rx && ctx.port.qos.pfc && !ctx.port.qos.pfc->has(priority)) continue;
    const double seconds = time.value_or(rise(frames) * longest);
    const PauseShare share{direction, std::min(seconds / seen.seconds, 1.0), priority, time.has_value()};
    if (share.ratio > out.ratio && (share.measured || !out.measured)) out = share;
  }
  // A few PFC frames do not hide much global pause.
  const Rise& time = rx ? seen.rx_global_pause_seconds : seen.tx_global_pause_seconds;
  const Rise& frames = rx ? seen.rx_global_pause_frames : seen.tx_global_pause_frames;
  const double seconds = time.value_or(rise(frames) * longest);
  const PauseShare global{direction, std::min(seconds / seen.seconds, 1.0), -1, time.has_value()};
  if (global.ratio > out.ratio && (!out.measured || global.measured || (global.is_much(ctx) && !out.is_much(ctx))))
    out = global;
  return out;
}

Loss loss_of(const Port& port, const Signals& seen) {
  Loss out;
  const bool multipath = capabilities_of(port.kernel_driver).resends_on_other_paths;
  out.requester = rise(seen.sequence_naks);
  if (!multipath) out.requester = std::max(out.requester + rise(seen.ack_timeouts), rise(seen.retransmissions));
  out.responder = rise(seen.out_of_sequence) + rise(seen.duplicate_requests);
  out.retries_exceeded = rise(seen.retries_exceeded);
  if (seen.rx_packets || seen.tx_packets) out.packets = rise(seen.rx_packets) + rise(seen.tx_packets);
  return out;
}

}  // namespace

std::string PortContext::pfc_text() const {
  if (port.qos.pfc) return "PFC of this port: " + to_text(*port.qos.pfc);
  return "PFC of the policy: " + to_text(*policy_pfc);
}

std::string PortContext::peer_label() const {
  if (peer != nullptr) return peer_name(*peer);
  const auto planned = peer_of(view.now, view.policy, port);  // a link that is down hears no LLDP
  return planned ? peer_text(*planned) : "the switch";
}

PrioSet without_congestion_control(const PortContext& ctx, const std::optional<PrioSet>& point) {
  if (!point) return {};
  PrioSet roce = roce_priorities(ctx.view, ctx.port);
  if (roce.bits == 0) roce = ctx.lossless.value_or(PrioSet{});  // the switch's
  return roce.without(*point);
}

double rise(const Rise& value) { return value.value_or(0); }
bool rose(const Rise& value) { return rise(value) > 0; }

std::string plus(std::string_view name, double value) {
  return std::string(name) + " +" + std::to_string(std::llround(value));
}

Lines lines_of(std::initializer_list<std::pair<std::string_view, Rise>> counters) {
  Lines out;
  for (const auto& [name, value] : counters)
    if (rose(value)) out.push_back(plus(name, *value));
  return out;
}

std::string percent(double ratio) { return number_text(std::round(ratio * 1000) / 10) + " %"; }

void append(Lines& to, Lines lines) {
  for (std::string& line : lines) to.push_back(std::move(line));
}

double metric_rise(const PortContext& ctx, const Metric& metric, std::string_view severity) {
  double out = 0;
  if (ctx.before == nullptr) return out;
  for (const auto member : {&PortCounters::hw, &PortCounters::ethtool}) {
    const std::vector<Counter>& now = ctx.port.counters.*member;
    for (size_t i = 0; i < now.size(); ++i) {
      const CounterRow* row = now[i].row;
      if (row == nullptr || row->metric != &metric || (!severity.empty() && row->label.value != severity)) continue;
      out += rise(scaled(rise_since(ctx.before->counters.*member, now, i), row->scale));
    }
  }
  return out;
}

bool PauseShare::is_much(const PortContext& ctx) const {
  return ratio >= ctx.limit(measured ? kPauseShare : kPauseFramesShare);
}

static std::string direction_text(Direction direction) { return direction == Direction::rx ? "received" : "sent"; }

std::string PauseShare::text() const {
  const std::string side = direction_text(direction);
  std::string out = "global pause " + side;
  if (priority >= 0) out = "PFC pause " + side + ", priority " + std::to_string(priority);
  out += measured ? ": " : ": at most ";
  return out + percent(ratio) + " of the time";
}

bool is_warned(const PortContext& ctx, std::string_view key) {
  const RuleWindow& window = *find_window(key);
  const auto reading = window.read_port(ctx.view, window, ctx.port);
  return reading && status_by_window(ctx.view, key, *reading) != Status::ok;
}

bool is_pfc_storm(const PortContext& ctx) {
  return rise(ctx.signals.pause_storm_events) >= ctx.limit("pause_storms") ||
         (ctx.sent.measured && ctx.sent.ratio >= ctx.limit("tx_pause"));
}

bool is_lasting_storm(const PortContext& ctx) {
  if (!is_pfc_storm(ctx)) return false;
  if (metric_rise(ctx, metrics::kPauseStorms, "error") > 0) return true;
  // After a warning, some NICs stop sending pause and discard frames (net/mlx5e: "Expose PFC stall prevention
  // counters", 4.17).
  const bool warning_stops = capabilities_of(ctx.port.kernel_driver).storm_warning_stops_pause;
  if (warning_stops && metric_rise(ctx, metrics::kPauseStorms, "warning") > 0) return true;
  // A short storm in a long window is over.
  return !ctx.sent.measured || ctx.sent.is_much(ctx);
}

// A NIC counts a storm when its receive buffers have not moved for a while. A slow host still receives a little.
bool receives_nothing(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (rose(seen.pause_storm_events)) return is_lasting_storm(ctx);
  const PauseShare& sent = ctx.sent;
  return sent.measured && sent.ratio >= ctx.limit(kStoppedPause) && seen.rx_bytes &&
         *seen.rx_bytes < ctx.limit(kStoppedRate) * ctx.port.rate.value_or(0) * seen.seconds;
}

std::optional<double> starved_share(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  const double tick = capabilities_of(ctx.port.kernel_driver).transmit_wait_bytes;
  const double bytes = ctx.port.rate.value_or(0) * seen.seconds;
  if (ctx.port.link_layer != LinkLayer::infiniband || tick == 0 || !seen.transmit_wait || bytes <= 0)
    return std::nullopt;
  return std::min(1.0, *seen.transmit_wait * tick / bytes);
}

bool sends_pause_alone(const PortContext& ctx) {
  using enum Symptom;
  constexpr double kNearlyNone = 0.01;  // of the window; ours
  const Signals& seen = ctx.signals;
  const bool counts_received = seen.rx_global_pause_seconds || seen.rx_global_pause_frames ||
                               std::ranges::any_of(seen.priority, [](const PrioritySignals& each) {
                                 return each.rx_pause_seconds || each.rx_pause_frames;
                               });
  return ctx.symptoms.has(tx_pause) && counts_received && ctx.received.ratio < kNearlyNone && !ctx.fabric.is_lossy() &&
         !ctx.symptoms.any_of({rx_pause, pcie, discards});
}

bool is_tx_blocked(const PortContext& ctx) {
  const PauseShare& received = ctx.received;
  Rise sent;
  if (received.priority >= 0) sent = ctx.signals.priority[static_cast<size_t>(received.priority)].tx_bytes;
  // RDMA uses another priority.
  const bool is_other_traffic = sent && *sent < ctx.limit(kPausedBytes) * rise(ctx.signals.tx_bytes);
  const bool is_paused = (received.measured && received.ratio >= ctx.limit(kBlocked) && !is_other_traffic) ||
                         starved_share(ctx).value_or(0) >= ctx.limit(kBlocked);
  return is_paused && rise(ctx.signals.sequence_naks) < ctx.limit(kFewEvents) && !is_disordered(ctx);
}

bool is_pcie_stalled(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  return seen.seconds > 0 && rise(seen.pcie_stalled_seconds) >= ctx.limit("pcie_stalls") * seen.seconds;
}

Lines pause_lines(const PortContext& ctx) {
  Lines out;
  if (ctx.symptoms.has(Symptom::tx_pause) && ctx.sent.ratio > 0) out.push_back(ctx.sent.text());
  append(out, lines_of({{"PFC storms counted by the NIC", ctx.signals.pause_storm_events}}));
  if (ctx.lossless_discards > 0 && receives_nothing(ctx))
    out.push_back(plus("frames of a lossless priority discarded meanwhile", ctx.lossless_discards));
  if (ctx.symptoms.has(Symptom::loss) && is_lasting_storm(ctx))
    for (const std::string& line : loss_lines(ctx)) out.push_back("packets do not reach this host meanwhile: " + line);
  return out;
}

// Loss, and the part of it that the link, this port or a setting explains.

namespace {

// No packet passed the link for a while.
bool was_interrupted(const PortContext& ctx, const Signals& seen) {
  return rose(seen.link_downs) || rose(seen.link_integrity_errors) ||
         rise(seen.link_recoveries) >= ctx.limit("link_recoveries");
}

bool wire_loses(const PortContext& ctx, const Signals& seen, const Loss& loss) {
  if (was_interrupted(ctx, seen)) return true;
  double packets = damaged_frames(seen);
  // One retraining loses the packets in flight of some connections, and breaks none of them.
  constexpr double kConnections = 10;  // ours
  if (loss.retries_exceeded <= 0) packets += kConnections * rise(seen.link_recoveries);
  return packets > 0 && packets * ctx.limit(kInFlight) >= loss.requester + loss.responder &&
         packets >= ctx.limit(kTries) * loss.retries_exceeded;
}

// Drivers that count the RNR NAKs they send: the same events as out_of_buffer.
double rnr_sent(const PortContext& ctx) { return metric_rise(ctx, metrics::kRnrNaksSent); }

// nullopt: not counted, or little traffic.
std::optional<ByteShares> shares_of(const PortContext& ctx, Direction direction) {
  auto out = byte_shares(ctx.view, ctx.port, ctx.signals, direction);
  if (!out || out->all < ctx.limit(kMuchTraffic)) return std::nullopt;
  return out;
}

std::string megabytes(double bytes) { return std::to_string(std::llround(bytes / 1e6)) + " MB"; }

}  // namespace

std::optional<ByteShares> byte_shares(const View& view, const Port& port, const Signals& signals, Direction direction) {
  if (!capabilities_of(port.kernel_driver).priority_bytes || !port.qos.pfc || fabric_of(view, port).is_lossy())
    return std::nullopt;
  const bool rx = direction == Direction::rx;
  ByteShares out{.all = rise(rx ? signals.rx_bytes : signals.tx_bytes), .with_pfc = roce_priorities(view, port)};
  if (out.with_pfc.bits == 0) return std::nullopt;
  for (size_t priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = signals.priority[priority];
    const double bytes = rise(rx ? each.rx_bytes : each.tx_bytes);
    if (out.with_pfc.has(priority)) out.lossless += bytes;
    else out.others += bytes;
  }
  return out;
}

bool is_disordered(const PortContext& ctx) {
  const Loss& loss = ctx.lost;
  const Limit& ratio = ctx.fabric.is_lossy() ? kLossyRatio : kReorderRatio;
  return loss.responder >= ctx.limit(kFewEvents) && loss.responder >= ctx.limit(ratio) * loss.packets.value_or(0);
}

Lines loss_lines(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  std::optional<double> out_of_sequence = seen.out_of_sequence;
  if (ctx.fabric.reorders()) out_of_sequence.reset();  // says nothing there
  const bool multipath = capabilities_of(ctx.port.kernel_driver).resends_on_other_paths;
  return lines_of({{"packets received out of sequence", out_of_sequence},
                   {"duplicate requests received", seen.duplicate_requests},
                   {"sequence NAKs received", seen.sequence_naks},
                   {"ACK timeouts", seen.ack_timeouts},
                   {"packets sent again", seen.retransmissions},
                   {multipath ? "peers that stopped answering" : "transport retries exceeded", seen.retries_exceeded}});
}

std::string list_text(PrioSet set) {
  return joined(to_list(set), ", ", [](int priority) { return std::to_string(priority); });
}

Lines all_loss_lines(const PortContext& ctx) {
  Lines out;
  if (ctx.lossless_discards > 0)
    out.push_back(
        plus("frames of lossless priority " + list_text(ctx.discarding) + " discarded here", ctx.lossless_discards));
  append(out, loss_lines(ctx));
  return out;
}

Lines error_lines(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  Lines out = lines_of({{"uncorrectable FEC code words", seen.fec_uncorrectable},
                        {"symbol errors", seen.symbol_errors},
                        {"frames with a wrong CRC", seen.crc_errors},
                        {"link integrity errors (the port's own threshold exceeded)", seen.link_integrity_errors},
                        {"link recoveries", seen.link_recoveries},
                        {"link downs", seen.link_downs}});
  if (is_down(ctx.port)) out.emplace_back("the link is down now");
  return out;
}

double damaged_frames(const Signals& seen) {
  return rise(seen.crc_errors) + rise(seen.symbol_errors) + rise(seen.fec_uncorrectable);
}

bool came_damaged(const Port& port, const Signals& seen) {
  const bool corrects = port.fec && (port.fec->active == FecCode::rs || port.fec->active == FecCode::llrs) &&
                        (rose(seen.fec_corrected) || rose(seen.fec_corrected_bits));  // the FEC counters work
  return corrects && port.link_layer == LinkLayer::ethernet && rose(seen.crc_errors) && seen.fec_uncorrectable == 0.0 &&
         !rose(seen.symbol_errors);
}

bool is_clean(const PortContext& ctx) {
  return damaged_frames(ctx.signals) <= 0 && !was_interrupted(ctx, ctx.signals) && !rose(ctx.signals.link_recoveries);
}

bool wire_explains_loss(const PortContext& ctx) {
  // A port that is not ACTIVE loses packets too.
  if (is_down(ctx.port) || !may_be_active(ctx.port)) return true;
  if (wire_loses(ctx, ctx.signals, ctx.lost)) return true;
  // The links of a bond are its members'.
  for (const Port* member : members_of(ctx.view.now, ctx.port)) {
    const Signals* seen = signals_of_port(ctx.view, *member);
    if (seen != nullptr && wire_loses(ctx, *seen, ctx.lost)) return true;
  }
  return false;
}

bool has_lossless(const PortContext& ctx) { return ctx.lossless && ctx.lossless->bits != 0; }

double all_discards(const Signals& seen) {
  double by_priority = 0;
  for (const PrioritySignals& each : seen.priority) by_priority += rise(each.discards);
  return std::max(by_priority, rise(seen.rx_discards));
}

// Packets discarded on receiving are responses that this port waits for, and requests of others.
bool discards_explain_loss(const PortContext& ctx, double discards) {
  const Loss& loss = ctx.lost;
  return discards >= std::max({ctx.limit(kFewEvents), ctx.limit(kSendDiscards) * loss.requester,
                               loss.responder / ctx.limit(kInFlight), ctx.limit(kTries) * loss.retries_exceeded});
}

std::string unprotected(const PortContext& ctx, Direction direction) {
  const auto seen = shares_of(ctx, direction);
  if (!seen || seen->lossless >= ctx.limit(kUnprotectedShare) * seen->all) return {};
  // Traffic that loops back inside the NIC has no priority.
  const std::string_view window = direction == Direction::rx ? "unprotected_received" : "unprotected_sent";
  double least = ctx.limit(window);
  constexpr double kLeastWhileOff = 0.5;  // ours; a check that is off or suppressed does not hide the cause of a loss
  if (std::isinf(least)) least = kLeastWhileOff;
  if (seen->others < least * seen->all) return {};
  std::string out = "of " + megabytes(seen->all) + " RDMA " + direction_text(direction) + ", at most " +
                    megabytes(seen->lossless) + " used priority " + to_text(seen->with_pfc) + ", which has PFC";
  if (ctx.port.qos.pfc->bits == 0) out += " by the policy";
  return out;
}

// Whether RoCE leaves the port without a VLAN tag, as far as its GIDs show: those of virtual functions are their own,
// and their tags the host's.
static bool is_untagged(const Port& port) {
  return !is_virtual(port) && !port.gids.empty() && !is_unread(port, PortPart::gids) &&
         std::ranges::none_of(port.gids, [&](const Gid& gid) { return gid.above || gid.netdev != port.netdev; });
}

std::string traffic_class_text(const View& view, const Port& port) {
  const PortPolicy* entry = policy_of(view, port);
  const Qos& have = port.qos;
  if (have.trust == Trust::pcp && (entry == nullptr || entry->want.trust.value_or(Trust::pcp) == Trust::pcp)) {
    const std::string trusts = "This port trusts the VLAN priority, not the DSCP";
    const std::string or_dscp = ", or trust = \"dscp\" and dscp_map in the policy.";
    if (!is_untagged(port)) return trusts + ": set the service level (NCCL_IB_SL, UCX_IB_SL)" + or_dscp;
    return trusts +
           ", and has no GID of a VLAN: packets without a tag carry no priority, whatever the service level. "
           "Put RoCE on a VLAN (ip link add link " +
           port.netdev + " name " + port.netdev +
           ".ID type vlan id ID), and use its GID index and a service level (NCCL_IB_GID_INDEX, NCCL_IB_SL)" + or_dscp;
  }
  std::optional<unsigned> value;
  if (entry != nullptr) value = roce_traffic_class(*entry);
  if (!value && have.dscp_map && have.pfc) value = roce_traffic_class(*have.dscp_map, *have.pfc);
  if (!value)
    return "Set the traffic class of RoCE, which is its DSCP x 4, plus 2 for ECT(0), in the environment of each rank "
           "(NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS, NVSHMEM_IB_TRAFFIC_CLASS).";
  // The driver gives its class to the queue pairs that pass through the kernel (mlx5_ib, modify_qp), whatever they ask.
  const auto forced = have.traffic_class ? have.traffic_class->value : std::nullopt;
  if (forced && *forced >> 2U == *value >> 2U) {
    const std::string text = std::to_string(*forced);
    std::string where = " (DSCP " + std::to_string(*forced >> 2U);
    if (const uint8_t* priority =
            have.dscp_map ? find_in(*have.dscp_map, static_cast<uint8_t>(*forced >> 2U)) : nullptr)
      where += ", priority " + std::to_string(*priority);
    return "The driver's global traffic class is " + text + where +
           ") already. Only queue pairs that do not pass through the kernel are left: those of DEVX (made for GPUs: "
           "NCCL GIN, NVSHMEM IBGDA, DeepEP). In the environment of each rank: NCCL_IB_TC=" +
           text + " NCCL_GIN_IB_TC=" + text + " NVSHMEM_IB_TRAFFIC_CLASS=" + text + ".";
  }
  const std::string text = std::to_string(*value), dscp = std::to_string(*value >> 2U);
  std::string out = "Set it in the environment of each rank: NCCL_IB_TC=" + text + " UCX_IB_TRAFFIC_CLASS=" + text +
                    " NVSHMEM_IB_TRAFFIC_CLASS=" + text + " (a traffic class is DSCP x 4: DSCP " + dscp + " is " +
                    std::to_string((*value >> 2U) * 4);
  if ((*value & 3U) != 0) out += "; " + text + " also sets ECT, so that switches can mark";
  return out + "). For programs that set none: traffic_class = " + text + " (mlx5 with OFED) or roce_tos = " + text +
         " (rdma_cm) in the policy. A library that makes its queue pairs itself may ignore the variable: update it.";
}

std::string well_protected(const PortContext& ctx) {
  const auto sent = shares_of(ctx, Direction::tx), received = shares_of(ctx, Direction::rx);
  const double most = ctx.limit(kProtected);
  if (!sent || !received || sent->lossless < most * sent->all || received->lossless < most * received->all) return {};
  const double lossless = std::min(sent->all, sent->lossless) + std::min(received->all, received->lossless);
  return "but of " + megabytes(sent->all + received->all) + " RDMA, " + megabytes(lossless) + " used priority " +
         to_text(sent->with_pfc);
}

double rnr_here(const PortContext& ctx) { return rise(ctx.signals.out_of_buffer) + rnr_sent(ctx); }

double rnr_there(const PortContext& ctx) { return std::max(0.0, rise(ctx.signals.rnr_naks) - rnr_sent(ctx)); }

static bool is_frequent(double count, double rate, const Signals& seen) {
  constexpr double kShortest = 10;  // seconds: as the text of kRnrRate
  return count >= rate * std::max(kShortest, seen.seconds);
}

bool is_much_rnr(const PortContext& ctx, double count) {
  return is_frequent(count, ctx.limit(kRnrRate), ctx.signals) &&
         count >= ctx.limit(kRnrRatio) * ctx.lost.packets.value_or(0);
}

Lines rnr_lines(const Signals& seen, double rate) {
  Lines out;
  for (const auto& [name, count] : {std::pair("RNR NAKs received", rise(seen.rnr_naks)),
                                    std::pair("packets without a posted receive here", rise(seen.out_of_buffer))})
    if (seen.seconds > 0 && is_frequent(count, rate, seen))
      out.push_back(plus(name, count) + " (" + number_text(std::round(count / seen.seconds)) + " a second)");
  return out;
}

bool is_far_end_late(const PortContext& ctx) {
  const double here = rnr_here(ctx);
  return rnr_there(ctx) + ctx.limit(kTries) * rise(ctx.signals.rnr_retries_exceeded) > here && !is_much_rnr(ctx, here);
}

// A bond and its members: RDMA counters are the bond's, port and cable counters are the members'. The bond and each
// member are diagnosed with the counters of both, and report their own symptoms.

namespace {

using S = Signals;
using P = PrioritySignals;
constexpr Rise S::*kOfRdma[] = {
    &S::rx_packets,    &S::tx_packets,       &S::out_of_sequence, &S::duplicate_requests,   &S::ack_timeouts,
    &S::sequence_naks, &S::retries_exceeded, &S::rnr_naks,        &S::rnr_retries_exceeded, &S::out_of_buffer,
    &S::icrc_errors,   &S::cnp_sent,         &S::cnp_handled,     &S::cnp_ignored,          &S::ecn_marked};
constexpr Rise S::*kOfPort[] = {&S::rx_discards, &S::tx_discards, &S::pause_storm_events, &S::rx_global_pause_frames,
                                &S::tx_global_pause_frames};
constexpr Rise P::*kOfPriority[] = {&P::discards, &P::rx_bytes, &P::tx_bytes, &P::rx_pause_frames, &P::tx_pause_frames};
constexpr Rise S::*kTimes[] = {&S::rx_global_pause_seconds, &S::tx_global_pause_seconds};
constexpr Rise P::*kTimesOfPriority[] = {&P::rx_pause_seconds, &P::tx_pause_seconds};

void add(Rise& sum, const Rise& part) {
  if (part) sum = sum.value_or(0) + *part;
}
void keep_larger(Rise& most, const Rise& other) {
  if (other) most = std::max(most.value_or(0), *other);
}

// Counts are combined by `join`; times run in parallel, so the longest counts.
void combine(Signals& into, const Signals& other, void (*join)(Rise&, const Rise&)) {
  for (const auto each : kOfPort) join(into.*each, other.*each);
  for (const auto each : kTimes) keep_larger(into.*each, other.*each);
  for (size_t i = 0; i < into.priority.size(); ++i) {
    for (const auto each : kOfPriority) join(into.priority[i].*each, other.priority[i].*each);
    for (const auto each : kTimesOfPriority) keep_larger(into.priority[i].*each, other.priority[i].*each);
  }
}

bool is_of_one_bond(const Port& a, const Port& b) {
  return a.rdma == b.rdma && a.number == b.number && a.is_member() != b.is_member();
}

}  // namespace

std::vector<const Port*> members_of(const Node& node, const Port& bond) {
  std::vector<const Port*> out;
  for (const Port& port : node.ports)
    if (port.is_member() && is_of_one_bond(port, bond)) out.push_back(&port);
  return out;
}

// A priority has PFC if every member has PFC on it. Other settings are equal, or the plan reports the drift.
Port with_settings_of(const std::vector<const Port*>& members, Port bond) {
  for (const Port* member : members) {
    const Qos& theirs = member->qos;
    Qos& own = bond.qos;
    if (own.pfc && theirs.pfc) own.pfc->bits &= theirs.pfc->bits;
    if (!own.pfc) own.pfc = theirs.pfc;
    if (!own.trust) own.trust = theirs.trust;
    if (!own.cable_length) own.cable_length = theirs.cable_length;
    if (!own.ecn_rp) own.ecn_rp = theirs.ecn_rp;
    if (!own.ecn_np) own.ecn_np = theirs.ecn_np;
  }
  return bond;
}

Signals with_bond(const View& view, const Port& port, Signals own) {
  Signals members;
  for (const Port& other : view.now.ports) {
    if (!is_of_one_bond(port, other)) continue;
    const Signals* seen = signals_of_port(view, other);
    if (seen == nullptr) continue;
    if (other.is_member()) {
      combine(members, *seen, add);
      continue;
    }
    for (const auto each : kOfRdma)
      if (!(own.*each)) own.*each = seen->*each;
  }
  combine(own, members, keep_larger);
  return own;
}

// Symptoms of a port.

namespace {

// The port is down and should be up: it was up, it has a planned cable, or there is no reason why it is unused.
bool is_down_by_fault(const PortContext& ctx) {
  if (!is_down(ctx.port)) return false;
  if (ctx.before != nullptr && !is_down(*ctx.before)) return true;
  if (!planned_cables(ctx.view.policy, ctx.port).empty()) return true;
  return !is_virtual(ctx.port) && !why_unused(ctx.view, ctx.port);
}

// The checks of ports without RoCE's settings send here.
bool has_discards_elsewhere(const PortContext& ctx) { return !is_roce(ctx.port) && is_warned(ctx, "port_discards"); }

Symptoms symptoms_of(const PortContext& ctx) {
  using enum Symptom;
  const Signals& seen = ctx.signals;
  const Loss& lost = ctx.lost;
  const double few = ctx.limit(kFewEvents);
  // The events from which on a window per second is a finding.
  const auto at_least = [&](std::string_view window) {
    return seen.seconds > 0 ? std::max(few, ctx.limit(window) * seen.seconds) : few;
  };
  Symptoms out;

  if (is_down_by_fault(ctx) || port_state_fault(ctx.view, ctx.port)) out.add(link);
  if (rose(seen.link_downs) || rose(seen.link_recoveries) || rose(seen.link_integrity_errors) ||
      damaged_frames(seen) > 0)
    out.add(link);
  if (ctx.sent.is_much(ctx) || is_pfc_storm(ctx)) out.add(tx_pause);
  if (ctx.received.is_much(ctx)) out.add(rx_pause);
  if (ctx.lossless_discards >= few || has_discards_elsewhere(ctx)) out.add(discards);
  if (is_pcie_stalled(ctx) || is_warned(ctx, "pcie_errors") || !aer_lines(ctx).empty()) out.add(pcie);
  if (starved_share(ctx).value_or(0) >= ctx.limit(kStarved)) out.add(starved);
  if (rise(seen.remote_physical_errors) >= few) out.add(marked);
  if (rose(seen.buffer_overruns)) out.add(overrun);

  if (lost.retries_exceeded > 0 || is_disordered(ctx)) out.add(loss);
  const Limit& loss_ratio = ctx.fabric.is_lossy() ? kLossyRatio : kLossRatio;
  if (lost.requester >= few && lost.requester >= ctx.limit(loss_ratio) * lost.packets.value_or(0)) out.add(loss);
  // On a lossy fabric the share alone is judged. Elsewhere: each timeout stops a connection, however many packets
  // others sent.
  if (!ctx.fabric.is_lossy() && std::min(rise(seen.ack_timeouts), lost.requester) >= at_least("ack_timeouts"))
    out.add(loss);
  if (is_warned(ctx, "out_of_sequence") || is_warned(ctx, "retransmissions")) out.add(loss);
  // On these fabrics, packets out of sequence say little alone; damaged packets beside them show a loss.
  if ((ctx.fabric.reorders() || ctx.fabric.is_lossy()) &&
      std::min(rise(seen.icrc_errors), rise(seen.out_of_sequence)) >= few)
    out.add(loss);
  if (rose(seen.rnr_retries_exceeded) || is_much_rnr(ctx, rise(seen.out_of_buffer) + rise(seen.rnr_naks)))
    out.add(receiver);

  if (ctx.fabric.kind == FabricKind::scheduled) return out;  // credits take the place of marks and CNPs
  const double cnps_ignored = rise(seen.cnp_ignored);
  if (cnps_ignored >= at_least("cnp_ignored") &&
      cnps_ignored >= ctx.limit(kIgnoredCnps) * (cnps_ignored + rise(seen.cnp_handled)))
    out.add(ignored);
  // CNPs are rate-limited per flow (some microseconds), but never to none for so many marks. Delay-based congestion
  // control needs no CNPs. If RoCE's priorities are unknown, any priority in ecn_np counts.
  const auto& np = ctx.port.qos.ecn_np;
  const bool is_notification_point = np && np->bits != 0 && without_congestion_control(ctx, np).bits == 0;
  if (!is_notification_point && is_roce(ctx.port) && rise(seen.ecn_marked) >= ctx.limit(kMarked) && seen.cnp_sent &&
      *seen.cnp_sent == 0)
    out.add(unanswered);
  if (!is_virtual(ctx.port)) return out;
  Symptoms of_transport;  // the others are of the wire, which another port has
  for (const Symptom each : {loss, receiver})
    if (out.has(each)) of_transport.add(each);
  if (is_own_device(ctx.port) && has_discards_elsewhere(ctx)) of_transport.add(discards);
  return of_transport;
}

}  // namespace

PortContext make_context(const View& view, const Port& port, const Signals& signals) {
  PortContext ctx{
      .view = view, .port = port, .signals = signals, .peer = neighbor_of(view, port), .policy = policy_of(view, port)};
  ctx.fabric = fabric_of(view, port);
  ctx.before = port_before(view, port);
  ctx.nic = nic_at(view.now.topology, port.pci);
  if (ctx.policy != nullptr) ctx.policy_pfc = ctx.policy->want.pfc;
  if (ctx.peer != nullptr && ctx.peer->pfc) ctx.switch_pfc = ctx.peer->pfc->enabled;
  for (const auto& set : {port.qos.pfc, ctx.policy_pfc, ctx.switch_pfc})
    if (set && !ctx.fabric.is_lossy())
      ctx.lossless = PrioSet{static_cast<uint8_t>(ctx.lossless.value_or(PrioSet{}).bits | set->bits)};
  ctx.sent = pause_of(ctx, Direction::tx);
  ctx.received = pause_of(ctx, Direction::rx);
  ctx.lost = loss_of(port, signals);
  // A fabric that reorders delivers packets out of sequence without losing one.
  if (ctx.fabric.reorders()) ctx.lost.responder -= rise(signals.out_of_sequence);
  for (size_t priority = 0; priority < kPriorities; ++priority) {
    const double count = rise(signals.priority[priority].discards);
    if (count <= 0 || !ctx.lossless || !ctx.lossless->has(priority)) continue;
    ctx.discarding.add(priority);
    ctx.lossless_discards += count;
  }
  ctx.symptoms = symptoms_of(ctx);
  return ctx;
}

}  // namespace fabric
