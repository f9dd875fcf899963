// SPDX-License-Identifier: Apache-2.0
// How much was lost, and how much of it the link, this port or a setting explains.
#include <cmath>

#include "checks/network/network.h"
#include "diagnosis/context.h"
#include "health/health.h"
#include "nic/capabilities.h"

namespace fabric {

extern const Threshold kInFlight("packets_in_flight", 1000, "packets out of order after one that is lost",
                                 "ours: 1000 packets of 4 kB at 400 Gb/s are 80 us", 1, 1e6);
extern const Threshold kTries("transport_retries", 7, "losses of a packet break a connection",
                              "IBTA: the retry count has three bits; NCCL_IB_RETRY_CNT: 7", 1, 7);
extern const Threshold kRetrains("link_recoveries", 6, "link recoveries", "NVSentinel: more than 5 a minute", 1, 1e6);
extern const Threshold kReorderRatio("reorder_ratio", 1e-5, "of the packets, out of order",
                                     "ours: adaptive routing reorders a few", 0, 1);
extern const Threshold kRnrRate("rnr_rate", 10, "RNR NAKs a second, and 10 s of it", "ours", 0.1, 1e6);
extern const Threshold kRnrRatio("rnr_ratio", 1e-3, "RNR NAKs per packet", "ours", 0, 1);
extern const Threshold kSendDiscards("discards_per_loss", 0.1, "discards per retransmission", "ours", 0.001, 1);
extern const Threshold kUnprotectedShare("unprotected_share", 0.1, "of the RDMA bytes on priorities with PFC", "ours",
                                         0, 1);
extern const Threshold kProtected("protected_share", 0.9, "of the RDMA bytes on priorities with PFC, both directions",
                                  "ours", 0, 1);
extern const Threshold kMuchTraffic("much_traffic", 100e6, "bytes of RDMA in the window, to judge their priorities",
                                    "ours", 1e3, 1e15);

namespace {

// Nothing passed for a while.
bool was_gone(const PortContext& ctx, const Signals& seen) {
  return rose(seen.link_downs) || rose(seen.link_integrity_errors) ||
         rise(seen.link_recoveries) >= ctx.limit(kRetrains);
}

// One retraining loses the packets in flight of ten connections (ours), and breaks none of them.
bool wire_loses(const PortContext& ctx, const Signals& seen, const Loss& loss) {
  const double packets = damaged_frames(seen) + (loss.retries_exceeded > 0 ? 0 : 10 * rise(seen.link_recoveries));
  return was_gone(ctx, seen) || (packets > 0 && packets * ctx.limit(kInFlight) >= loss.requester + loss.responder &&
                                 packets >= ctx.limit(kTries) * loss.retries_exceeded);
}

// Drivers that count the RNR NAKs they send: the same events as out_of_buffer.
double rnr_sent(const PortContext& ctx) { return metric_rise(ctx, metrics::kRnrNaksSent); }

// The priorities with PFC; if PFC is off and the policy wants it, the policy's.
PrioSet protected_priorities(const PortContext& ctx) {
  const PrioSet own = ctx.port.qos.pfc.value_or(PrioSet{});
  return ctx.port.qos.pfc && own.bits == 0 ? ctx.policy_pfc.value_or(own) : own;
}

// RDMA's bytes, and the bytes of the priorities with and without PFC. nullopt: not counted, or little traffic.
struct Shares {
  double all = 0, lossless = 0, others = 0;
};
std::optional<Shares> shares_of(const PortContext& ctx, Direction direction) {
  const bool rx = direction == Direction::rx;
  Shares out{.all = rise(rx ? ctx.signals.rx_bytes : ctx.signals.tx_bytes)};
  const PrioSet with_pfc = protected_priorities(ctx);
  if (!capabilities_of(ctx.port.kernel_driver).priority_bytes || with_pfc.bits == 0 ||
      out.all < ctx.limit(kMuchTraffic))
    return std::nullopt;
  for (size_t priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = ctx.signals.priority[priority];
    (with_pfc.has(priority) ? out.lossless : out.others) += rise(rx ? each.rx_bytes : each.tx_bytes);
  }
  return out;
}

std::string megabytes(double bytes) { return std::to_string(std::llround(bytes / 1e6)) + " MB"; }

}  // namespace

Loss loss_of(const Port& port, const Signals& seen) {
  Loss out;
  const bool multipath = capabilities_of(port.kernel_driver).resends_on_other_paths;
  out.requester = rise(seen.sequence_naks) + (multipath ? 0 : rise(seen.ack_timeouts));
  if (!multipath) out.requester = std::max(out.requester, rise(seen.retransmissions));
  out.responder = rise(seen.out_of_sequence) + rise(seen.duplicate_requests);
  out.retries_exceeded = rise(seen.retries_exceeded);
  if (seen.rx_packets || seen.tx_packets) out.packets = rise(seen.rx_packets) + rise(seen.tx_packets);
  return out;
}

bool is_disordered(const PortContext& ctx) {
  const Loss& loss = ctx.lost;
  return loss.responder >= ctx.limit(kFewEvents) &&
         loss.responder >= ctx.limit(kReorderRatio) * loss.packets.value_or(0);
}

Lines loss_lines(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  return lines_of({{"packets received out of sequence", seen.out_of_sequence},
                   {"duplicate requests received", seen.duplicate_requests},
                   {"sequence NAKs received", seen.sequence_naks},
                   {"ACK timeouts", seen.ack_timeouts},
                   {"packets sent again", seen.retransmissions},
                   {"transport retries exceeded", seen.retries_exceeded}});
}

std::string list_text(PrioSet set) {
  std::string out;
  for (int priority = 0; priority < kPriorities; ++priority)
    if (set.has(priority)) append_item(out, std::to_string(priority));
  return out;
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
  const bool corrects = port.fec && (port.fec->active == "rs" || port.fec->active == "llrs") &&
                        (rose(seen.fec_corrected) || rose(seen.fec_corrected_bits));  // so its counters are alive
  return corrects && port.link_layer == LinkLayer::ethernet && rose(seen.crc_errors) && seen.fec_uncorrectable == 0.0 &&
         !rose(seen.symbol_errors);
}

bool is_clean(const PortContext& ctx) {
  return damaged_frames(ctx.signals) <= 0 && !was_gone(ctx, ctx.signals) && !rose(ctx.signals.link_recoveries);
}

// A port that is not ACTIVE loses packets too. The links of a bond are its members'.
bool wire_explains_loss(const PortContext& ctx) {
  const Loss& loss = ctx.lost;
  if (is_down(ctx.port) || ctx.port.state.value_or(kPortActive) < kPortActive || wire_loses(ctx, ctx.signals, loss))
    return true;
  const auto members = members_of(ctx.view.now, ctx.port);
  return std::ranges::any_of(members, [&](const Port* member) {
    const Signals* seen = signals_of_port(ctx.view, *member);
    return seen != nullptr && wire_loses(ctx, *seen, loss);
  });
}

bool has_lossless(const PortContext& ctx) { return ctx.lossless && ctx.lossless->bits != 0; }

double all_discards(const Signals& seen) {
  double by_priority = 0;
  for (const PrioritySignals& each : seen.priority) by_priority += rise(each.discards);
  return std::max(by_priority, rise(seen.rx_discards));
}

double discards_of_roce(const PortContext& ctx) {
  return has_lossless(ctx) ? ctx.lossless_discards : all_discards(ctx.signals);
}

// Discarded on receiving: responses that this port waits for, and requests of others.
bool discards_explain_loss(const PortContext& ctx, double discards) {
  const Loss& loss = ctx.lost;
  return discards >= std::max({ctx.limit(kFewEvents), ctx.limit(kSendDiscards) * loss.requester,
                               loss.responder / ctx.limit(kInFlight), ctx.limit(kTries) * loss.retries_exceeded});
}

std::string unprotected(const PortContext& ctx, Direction direction) {
  const auto seen = shares_of(ctx, direction);
  if (!seen || seen->lossless >= ctx.limit(kUnprotectedShare) * seen->all || seen->others < 0.5 * seen->all)
    return {};  // traffic that loops back inside the NIC has no priority
  return "of " + megabytes(seen->all) + " RDMA " + (direction == Direction::rx ? "received" : "sent") + ", at most " +
         megabytes(seen->lossless) + " used priority " + to_text(protected_priorities(ctx)) +
         (ctx.port.qos.pfc->bits != 0 ? ", which has PFC" : ", which has PFC by the policy");
}

std::string well_protected(const PortContext& ctx) {
  const auto sent = shares_of(ctx, Direction::tx), received = shares_of(ctx, Direction::rx);
  const double most = ctx.limit(kProtected);
  if (!sent || !received || sent->lossless < most * sent->all || received->lossless < most * received->all) return {};
  const double lossless = std::min(sent->all, sent->lossless) + std::min(received->all, received->lossless);
  return "but of " + megabytes(sent->all + received->all) + " RDMA, " + megabytes(lossless) + " used priority " +
         to_text(protected_priorities(ctx));
}

// Small messages pass then; the first packet of a large one is lost each time.
std::string frames_too_long(const PortContext& ctx) {
  constexpr uint32_t kHeaders = 96 + kFrameHeader;  // RoCE's by iboe_get_mtu()
  const auto most = switch_frame(ctx.view.now, ctx.port);
  if (!most || !ctx.port.active_mtu || *most >= *ctx.port.active_mtu + kHeaders) return {};
  return ctx.peer_label() + " accepts frames up to " + std::to_string(*most) + " bytes; RoCE frames have up to " +
         std::to_string(*ctx.port.active_mtu + kHeaders);
}

std::string silent_gateway(const PortContext& ctx) {
  std::string out;
  for (const NamedInterface& each : interfaces_of(ctx.view.now, ctx.port))
    for (const IpNeighbor& gateway : each.interface->gateways) {
      if (gateway.state != "FAILED" && gateway.state != "INCOMPLETE") return {};
      out = "the gateway " + to_text(gateway.ip) + " of " + each.netdev + " does not answer (" + gateway.state + ")";
    }
  return out;
}

// A container's GID is removed when its processes have ended. A type may be unreadable.
size_t gids_gone(const PortContext& ctx) {
  if (ctx.before == nullptr || ctx.port.gids.empty()) return 0;
  const auto& now = ctx.port.gids;
  return static_cast<size_t>(std::ranges::count_if(ctx.before->gids, [&](const Gid& old) {
    return is_own_gid(ctx.view, *ctx.before, old) && std::ranges::none_of(now, [&](const Gid& gid) {
             return gid.gid == old.gid && (gid.type == old.type || gid.type.empty() || old.type.empty());
           });
  }));
}

double rnr_here(const PortContext& ctx) { return rise(ctx.signals.out_of_buffer) + rnr_sent(ctx); }

double rnr_there(const PortContext& ctx) { return std::max(0.0, rise(ctx.signals.rnr_naks) - rnr_sent(ctx)); }

bool is_much_rnr(const PortContext& ctx, double count) {
  return count >= ctx.limit(kRnrRate) * std::max(10.0, ctx.signals.seconds) &&
         count >= ctx.limit(kRnrRatio) * ctx.lost.packets.value_or(0);
}

bool is_far_end_late(const PortContext& ctx) {
  const double here = rnr_here(ctx);
  return rnr_there(ctx) + ctx.limit(kTries) * rise(ctx.signals.rnr_retries_exceeded) > here && !is_much_rnr(ctx, here);
}

}  // namespace fabric
