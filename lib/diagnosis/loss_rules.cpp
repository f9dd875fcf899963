// SPDX-License-Identifier: Apache-2.0
// Packets lost beyond this port: in the network, or at a peer that does not answer.
#include <algorithm>

#include "diagnosis/context.h"
#include "diagnosis/rules.h"
#include "model/finding.h"

namespace fabric {
namespace {

using enum Symptom;

bool has_link_counters(const Signals& seen) {
  return seen.crc_errors || seen.symbol_errors || seen.fec_uncorrectable || seen.link_downs;
}
std::string link_line(const PortContext& ctx) {
  return is_clean(ctx.signals) ? "this port's link has no receive errors"
                               : "the few errors of this port's link do not explain so many losses";
}
bool is_software(const Port& port) { return port.pci.empty(); }

Result damaged_elsewhere(const PortContext& ctx) {
  if (!ctx.symptoms.has(marked)) return std::nullopt;
  RuleResult out{0.6,
                 {plus("packets received that were already marked as damaged", *ctx.signals.remote_physical_errors)}};
  if (!is_clean(ctx.signals) || wire_explains_loss(ctx)) {
    out.evidence.emplace_back("this port's link has errors too, which do not mark packets");
  } else if (has_link_counters(ctx.signals)) {
    out.evidence.emplace_back("this port's link has no errors");
    out.confidence = 0.8;
  }
  append(out.evidence, all_loss_lines(ctx));
  return out;
}
constexpr Rule kDamagedElsewhere{
    .id = "damaged-elsewhere",
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {marked, loss},
    .conclusion = "Packets arrive that were damaged on another link of the InfiniBand fabric.",
    .next =
        "Look for symbol errors along the path, above {peer}: ibqueryerrors\nCompare with the other hosts that see "
        "it: their paths share the faulty link.",
    .runbook =
        "Ten or more packets ended with the bad packet delimiter (port_rcv_remote_physical_errors): a device on "
        "the path, or the sender's NIC, found them damaged while it forwarded them. This port's own cable does "
        "not cause that mark.",
    .thresholds = {{{10, "marked packets", "ours"}}},
    .evaluate = damaged_elsewhere};

Result damaged_in_network(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!rose(seen.icrc_errors) || !ctx.symptoms.has(loss) || wire_explains_loss(ctx) || !has_link_counters(seen))
    return std::nullopt;
  const Loss lost = loss_of(ctx);
  if (*seen.icrc_errors * kInFlight < lost.requester + lost.responder ||
      *seen.icrc_errors < kTries * lost.retries_exceeded)
    return std::nullopt;  // too few for the losses
  RuleResult out{0.7, {plus("RoCE packets with a wrong ICRC", *seen.icrc_errors), link_line(ctx)}};
  append(out.evidence, all_loss_lines(ctx));
  return out;
}
constexpr Rule kDamagedInNetwork{
    .id = "damaged-in-network",
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {loss},
    .conclusion = "A device in the network damages RoCE packets.",
    .next =
        "Compare with the other hosts that see it, find the switch or line card that their paths share, and replace "
        "it.",
    .runbook =
        "ICRC errors, enough for the losses, while every link's CRC is right: bits changed inside a device, which "
        "then sent a frame with a valid CRC.",
    .evaluate = damaged_in_network};

Result send_drops(const PortContext& ctx) {
  if (!ctx.symptoms.has(loss) || !send_discards_explain_loss(ctx)) return std::nullopt;
  // Packets that wait for the link, the end of a pause or credits are discarded in the end too.
  const bool could_send =
      !wire_explains_loss(ctx) && !ctx.symptoms.has(rx_pause) && ctx.port.link_layer != LinkLayer::infiniband;
  RuleResult out{could_send ? 0.75 : 0.4,
                 {plus("packets discarded by this port on sending", *ctx.signals.tx_discards)}};
  append(out.evidence, all_loss_lines(ctx));
  return out;
}
constexpr Rule kSendDrops{
    .id = "send-drops",
    .culprit = Culprit::host,
    .explains = {loss},
    .conclusion = "This port discards packets on sending.",
    .next =
        "Read the discards: ethtool -S {netdev} | grep -i discard\nCheck whether the link was down, or a steering "
        "rule or rate limit drops packets: tc -s qdisc show dev {netdev}",
    .runbook =
        "Discards on sending rose together with the transport's losses, at least one for ten retransmissions. A "
        "port without a link, paused by its peer or waiting for InfiniBand credits discards too: not concluded "
        "then.",
    .thresholds = {{{0.1, "discards per retransmission", "ours"}}},
    .evaluate = send_drops};

Result peer_silent(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!rose(seen.retries_exceeded)) return std::nullopt;
  const double naks = rise(seen.sequence_naks), disorder = rise(seen.out_of_sequence);
  const bool single_losses = seen.sequence_naks ? naks >= std::clamp(kTries * *seen.retries_exceeded, kFewEvents, 100.0)
                                                : disorder >= kFewEvents;
  if (single_losses || wire_explains_loss(ctx) || discards_explain_loss(ctx, discards_of_roce(ctx)))
    return std::nullopt;
  RuleResult out{0.6, loss_lines(ctx)};
  out.evidence.emplace_back(
      disorder >= kFewEvents
          ? "hardly any NAK arrived: these are no single losses; the packets out of order came from other peers"
      : naks + disorder > 0 ? "hardly any NAK or packet out of order arrived: these are no single losses"
                            : "no NAK and no packet out of order arrived: these are no single losses");
  Lines doubts;
  const size_t gone = gids_gone(ctx);
  if (std::string text = frames_too_long(ctx); !text.empty()) doubts.push_back(std::move(text));
  if (const std::string gateway = silent_gateway(ctx); !gateway.empty()) doubts.push_back("but " + gateway);
  if (is_tx_blocked(ctx))
    doubts.emplace_back("but the network lets this port send almost nothing: requests may wait here");
  if (gone > 0) doubts.push_back("but " + std::to_string(gone) + " GIDs of this port were removed meanwhile");
  if (!doubts.empty()) out.confidence = 0.4;
  append(out.evidence, std::move(doubts));
  if (is_disordered(ctx)) out.shared.add(loss);  // packets out of order came from a peer that is not silent
  return out;
}
constexpr Rule kPeerSilent{
    .id = "peer-silent",
    .culprit = Culprit::peer,
    .status = Status::critical,
    .explains = {loss},
    .conclusion = "Transport retry exceeded: the far end of a connection does not answer at all.",
    .next =
        "Find the far ends: rdma resource show qp link {rdma}\nCheck that those hosts and processes are alive, and "
        "that GIDs and routes are valid: fabric-agentctl check --only network",
    .runbook =
        "Connections broke (transport retry exceeded) with hardly any NAK (if NAKs are not counted: hardly any "
        "packet out of order): no single packets were lost, nobody answers. Not concluded if a GID of this port "
        "was removed meanwhile (answers may not find it), if none of its gateways answers, if the switch "
        "accepts only shorter frames than RoCE's (large ones never arrive), or if the peer paused this port for "
        "80 % of the window (requests waited here).",
    .evaluate = peer_silent};

// Discards of this port speak against the network.
void weigh_own_discards(const PortContext& ctx, RuleResult& out) {
  const Signals& seen = ctx.signals;
  const double lossless = lossless_discards(ctx).second;
  const bool counts_by_priority = std::any_of(seen.priority.begin(), seen.priority.end(),
                                              [](const PrioritySignals& each) { return each.discards.has_value(); });
  if (const double all = discards_of_roce(ctx); !has_lossless(ctx) && discards_explain_loss(ctx, all)) {
    out.evidence.push_back("but this port discarded packets, and no priority is known as lossless: " +
                           plus("discards", all));
    out.confidence = 0.2;
  } else if (lossless > 0)
    out.evidence.push_back("only " + number_text(lossless) + " frames of a lossless priority were discarded here");
  else if (has_lossless(ctx) && counts_by_priority)
    out.evidence.emplace_back("no frame of a lossless priority was discarded here");
  else if (discards_explain_loss(ctx, rise(seen.rx_discards))) {
    out.evidence.push_back("but this port discarded packets, and does not count them by priority: " +
                           plus("discards", *seen.rx_discards));
    out.confidence = 0.2;
  } else if (rise(seen.rx_discards) >= kFewEvents)
    out.evidence.push_back("this port's discards do not explain so many losses: " +
                           plus("discards", *seen.rx_discards));
  else if (seen.rx_discards) out.evidence.emplace_back("this port discarded hardly anything");
  else if (!is_software(ctx.port)) out.confidence -= 0.2;
}

// A doubt that does not take the confidence below kEnough.
void doubt(RuleResult& out, std::string why) {
  out.evidence.push_back(std::move(why));
  out.confidence -= std::clamp(out.confidence - kEnough, 0.0, 0.1);
}

// If RoCE arrives outside the priorities with PFC, discards on the other priorities count too.
void weigh_unprotected(const PortContext& ctx, RuleResult& out) {
  std::string received = unprotected(ctx, Direction::rx);
  if (received.empty()) return;
  doubt(out, std::move(received));
  double count = 0;
  for (const PrioritySignals& each : ctx.signals.priority) count += rise(each.discards);
  if (count = std::max(count, rise(ctx.signals.rx_discards)); discards_explain_loss(ctx, count)) {
    out.evidence.push_back("but this port discarded packets: " + plus("discards", count));
    out.confidence = 0.2;
  }
  out.next.emplace_back(
      "The peers use another traffic class, or a switch rewrites the DSCP: check it at the sender (NCCL_IB_TC of "
      "fabric-agentctl topo --format nccl there)");
}

// Losses without retransmissions, or without NAKs.
void weigh_transport(const PortContext& ctx, RuleResult& out) {
  const Signals& seen = ctx.signals;
  if (rose(seen.sequence_naks) || rose(seen.duplicate_requests)) return;
  if (!rose(seen.ack_timeouts) && !rose(seen.retries_exceeded)) {
    doubt(out, "this port retransmitted nothing: with adaptive routing this is reordering, not loss");
  } else if (!rose(seen.out_of_sequence)) {
    if (std::string gateway = silent_gateway(ctx); !gateway.empty()) {
      out.evidence.push_back(std::move(gateway));
      out.next.emplace_back("Check VLAN, address and the gateway on the switch: fabric-agentctl check --only gateway");
    } else doubt(out, "no NAK arrived: a slow far end, or frames too long for the path, look the same");
  }
}

Result loss_in_network(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!ctx.symptoms.has(loss) || discards_explain_loss(ctx, lossless_discards(ctx).second) ||
      send_discards_explain_loss(ctx) || wire_explains_loss(ctx) || is_tx_blocked(ctx))
    return std::nullopt;
  if (gids_gone(ctx) > 0 && !rose(seen.sequence_naks) && !rose(seen.out_of_sequence))
    return std::nullopt;  // answers may not find this port
  RuleResult out{is_software(ctx.port) ? 0.5 : 0.6, loss_lines(ctx)};
  weigh_own_discards(ctx, out);
  if (has_link_counters(seen)) out.evidence.push_back(link_line(ctx));
  else if (!is_software(ctx.port)) out.confidence -= 0.1;
  weigh_unprotected(ctx, out);
  weigh_transport(ctx, out);
  if (ctx.symptoms.has(tx_pause) && is_disordered(ctx))
    doubt(out, "this port sends pause meanwhile: packets that wait for it may be discarded before it");
  if (std::string text = frames_too_long(ctx); !text.empty()) {
    out.evidence.push_back(std::move(text));
    out.confidence += 0.2;
  }
  const auto& own = ctx.port.qos.pfc;
  if (ctx.peer != nullptr && ctx.peer->pfc && own && ctx.peer->pfc->enabled == *own && own->bits != 0) {
    out.evidence.push_back("PFC is " + to_text(*own) + " at both ends of the cable");
    out.confidence += 0.15;
  }
  return out;
}
constexpr Rule kLossInNetwork{
    .id = "loss-in-network",
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {loss},
    .conclusion = "RoCE packets are lost or reordered between this port and its peers.",
    .next =
        "Look for discards of the RoCE priority on {peer} and along the path, and for damaged frames (FCS, FEC) from "
        "this port on {peer}.\nRun on the far ends: fabric-agentctl diagnose (their discards are losses here)\n"
        "Compare PFC, trust, DSCP map and ECN of the switches with this host: fabric-agentctl neighbors; "
        "fabric-agentctl show\nWith adaptive routing, packets out of sequence alone are no loss.",
    .runbook =
        "The transport counted losses (ten or more, and more than 1 in a million packets; packets out of order: "
        "10 in a million), while this port discarded hardly anything and its link has no errors, or too few for "
        "the losses. Not concluded if this port does not count discards; if it has enough discards and does not "
        "count them by priority, has no lossless priority, or RoCE arrives outside the priorities with PFC; or "
        "if the peer paused it for 80 % of the window and no packet was missed.",
    .thresholds = {{{10, "losses", "ours"},
                    {1e-6, "of the packets", "ours"},
                    {1e-5, "of the packets, reordered", "ours"}}},
    .evaluate = loss_in_network};

constexpr Rule kRules[]{kDamagedElsewhere, kDamagedInNetwork, kSendDrops, kPeerSilent, kLossInNetwork};

}  // namespace

std::span<const Rule> loss_rules() { return kRules; }

}  // namespace fabric
