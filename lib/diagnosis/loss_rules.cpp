// SPDX-License-Identifier: Apache-2.0
// Packets lost beyond this port: in the network, or at a peer that does not answer.

#include "checks/network/network.h"
#include "diagnosis/context.h"

namespace fabric {
namespace {

using enum Symptom;

bool has_link_counters(const Signals& seen) {
  return seen.crc_errors || seen.symbol_errors || seen.fec_uncorrectable || seen.link_downs;
}
std::string link_line(const PortContext& ctx) {
  return is_clean(ctx) ? "this port's link has no receive errors"
                       : "the few errors of this port's link do not explain so many losses";
}

// InfiniBand: a device on the path, or the sender, has marked the packets.
MaybeResult marked_on_path(const PortContext& ctx) {
  RuleResult out{
      .evidence = {plus("packets received that were already marked as damaged", *ctx.signals.remote_physical_errors)},
      .unexplained = {link}};
  if (!is_clean(ctx) || wire_explains_loss(ctx)) out.add("this port's link has errors too, which do not mark packets");
  else if (has_link_counters(ctx.signals)) out.add("this port's link has no errors");
  out.add(all_loss_lines(ctx));
  return out;
}

// A cut-through switch forwards a damaged frame.
MaybeResult forwarded_damaged(const PortContext& ctx) {
  RuleResult out{.certain = *ctx.signals.crc_errors >= ctx.limit(kFewEvents) && wire_explains_loss(ctx),
                 .evidence = {plus("frames received with a wrong CRC", *ctx.signals.crc_errors),
                              "the FEC of this port's link corrected every code word: they were damaged before it"}};
  out.add(all_loss_lines(ctx));
  return out;
}

MaybeResult damaged_on_path(const PortContext& ctx) {
  if (ctx.symptoms.has(marked)) return marked_on_path(ctx);
  const Signals& seen = ctx.signals;
  const Loss& lost = ctx.lost;
  if (!rose(seen.icrc_errors) || !ctx.symptoms.has(loss) || wire_explains_loss(ctx) || !has_link_counters(seen) ||
      *seen.icrc_errors * ctx.limit(kInFlight) < lost.requester + lost.responder ||
      *seen.icrc_errors < ctx.limit(kTries) * lost.retries_exceeded)
    return came_damaged(ctx.port, seen) ? MaybeResult(forwarded_damaged(ctx)) : std::nullopt;
  RuleResult out{.evidence = {plus("RoCE packets with a wrong ICRC", *seen.icrc_errors), link_line(ctx)},
                 .unexplained = {link}};
  out.add(all_loss_lines(ctx));
  return out;
}

// Discarded on sending: requests and responses, which are then sent again. Without retransmissions they are not RoCE's.
bool send_discards_explain_loss(const PortContext& ctx) {
  const Loss& lost = ctx.lost;
  return lost.requester + lost.retries_exceeded + rise(ctx.signals.duplicate_requests) > 0 &&
         discards_explain_loss(ctx, rise(ctx.signals.tx_discards));
}

MaybeResult send_drops(const PortContext& ctx) {
  if (!ctx.symptoms.has(loss) || !send_discards_explain_loss(ctx)) return std::nullopt;
  // Packets that wait for the link, the end of a pause or credits are discarded in the end too.
  const bool could_send =
      !wire_explains_loss(ctx) && !ctx.symptoms.has(rx_pause) && ctx.port.link_layer != LinkLayer::infiniband;
  RuleResult out{could_send, {plus("packets discarded by this port on sending", *ctx.signals.tx_discards)}};
  out.add(all_loss_lines(ctx));
  return out;
}

bool agrees_on_pfc(const PortContext& ctx) {
  const auto& own = ctx.port.qos.pfc;
  return ctx.peer != nullptr && ctx.peer->pfc && own && ctx.peer->pfc->enabled == *own && own->bits != 0;
}

// Discards of this port speak against the network.
void weigh_own_discards(const PortContext& ctx, RuleResult& out) {
  const Signals& seen = ctx.signals;
  const double lossless = ctx.lossless_discards;
  const bool counts_by_priority =
      std::ranges::any_of(seen.priority, [](const PrioritySignals& each) { return each.discards.has_value(); });
  if (const double all = discards_of_roce(ctx); !has_lossless(ctx) && discards_explain_loss(ctx, all))
    out.doubt("but this port discarded packets, and no priority is known as lossless: " + plus("discards", all));
  else if (lossless > 0)
    out.add("only " + number_text(lossless) + " frames of a lossless priority were discarded here");
  else if (has_lossless(ctx) && counts_by_priority) out.add("no frame of a lossless priority was discarded here");
  else if (discards_explain_loss(ctx, rise(seen.rx_discards)))
    out.doubt("but this port discarded packets, and does not count them by priority: " +
              plus("discards", *seen.rx_discards));
  else if (rise(seen.rx_discards) >= ctx.limit(kFewEvents))
    out.add("this port's discards do not explain so many losses: " + plus("discards", *seen.rx_discards));
  else if (seen.rx_discards) out.add("this port discarded hardly anything");
  else if (!ctx.port.pci.empty() && !agrees_on_pfc(ctx) && frames_too_long(ctx).empty()) out.certain = false;
}

// If RoCE arrives outside the priorities with PFC, discards on the other priorities count too.
void weigh_unprotected(const PortContext& ctx, RuleResult& out) {
  std::string received = unprotected(ctx, Direction::rx);
  if (received.empty()) return;
  out.add(received);
  const double count = all_discards(ctx.signals);
  if (discards_explain_loss(ctx, count)) out.doubt("but this port discarded packets: " + plus("discards", count));
  out.next.emplace_back(
      "The peers use another traffic class, or a switch rewrites the DSCP: check it at the sender (NCCL_IB_TC of "
      "fabric-agentctl topo --format nccl there)");
}

// Losses without retransmissions, or without NAKs.
void weigh_transport(const PortContext& ctx, RuleResult& out) {
  const Signals& seen = ctx.signals;
  if (rose(seen.sequence_naks) || rose(seen.duplicate_requests)) return;
  if (!rose(seen.ack_timeouts) && !rose(seen.retries_exceeded) && !rose(seen.retransmissions)) {
    out.add("ambiguous: this port retransmitted nothing: with adaptive routing this is reordering, not loss");
  } else if (!rose(seen.out_of_sequence)) {
    if (std::string shared = rails_fault(ctx.view, ctx.port); !shared.empty()) {
      out.doubt("also possible: rails in one subnet (host), of which one answers for another: " + shared);
      out.next.emplace_back("Correct the subnet's ARP and routes first: fabric-agentctl check --only rails");
    }
    std::string gateway = silent_gateway(ctx);
    // Else a far end may be gone.
    if (rose(seen.retries_exceeded) && gateway.empty() && frames_too_long(ctx).empty()) out.certain = false;
    if (!gateway.empty()) {
      out.add(std::move(gateway));
      out.next.emplace_back("Check VLAN, address and the gateway on the switch: fabric-agentctl check --only gateway");
    } else {
      out.add("ambiguous: no NAK arrived: a slow far end, or frames too long for the path, look the same");
      out.next.push_back("Send full-size frames over the path: ping -M do -s " +
                         std::to_string(ctx.port.active_mtu.value_or(4096) + 68) + " -I " + ctx.port.netdev + " PEER");
    }
  }
}

MaybeResult loss_in_network(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!ctx.symptoms.has(loss) || discards_explain_loss(ctx, ctx.lossless_discards) || send_discards_explain_loss(ctx) ||
      wire_explains_loss(ctx) || is_tx_blocked(ctx))
    return std::nullopt;
  if (gids_gone(ctx) > 0 && !rose(seen.sequence_naks) && !rose(seen.out_of_sequence))
    return std::nullopt;  // answers may not find this port
  RuleResult out{.evidence = loss_lines(ctx)};
  weigh_own_discards(ctx, out);
  if (has_link_counters(seen)) out.add(link_line(ctx));
  weigh_unprotected(ctx, out);
  weigh_transport(ctx, out);
  if (ctx.symptoms.has(tx_pause) && is_disordered(ctx))
    out.add("ambiguous: this port sends pause meanwhile: packets that wait for it may be discarded before it");
  if (std::string text = frames_too_long(ctx); !text.empty()) out.add(std::move(text));
  if (agrees_on_pfc(ctx)) out.add("PFC is " + to_text(*ctx.port.qos.pfc) + " at both ends of the cable");
  return out;
}

}  // namespace

extern const Rule kDamagedOnPath{
    .id = "damaged-on-path",
    .culprit = Culprit::network,
    .status = Status::critical,
    .confidence = 0.96,
    .explains = {marked, loss, link},
    .conclusion = "Packets arrive that another link or a device in the network has damaged.",
    .next =
        "Compare with the other hosts that see it, and find the link, switch or line card that their paths "
        "share.\nLook for symbol errors along the path, above {peer}: ibqueryerrors (InfiniBand); FCS and FEC counters "
        "of the switches (Ethernet)",
    .signature =
        "InfiniBand: ten or more packets ended with the bad packet delimiter (port_rcv_remote_physical_errors). RoCE: "
        "ICRC errors, enough for the losses, while every link's CRC is right; or ten or more frames with a wrong CRC, "
        "while the FEC of this port's link (RS) corrected every code word: cut-through switches forward damaged "
        "frames.",
    .excludes =
        "This port's own cable does not mark packets, damages the CRC with the ICRC, and leaves code words that FEC "
        "cannot correct.",
    .thresholds = {&kFewEvents, &kInFlight, &kTries},
    .evaluate = damaged_on_path,
};

extern const Rule kSendDrops{
    .id = "send-drops",
    .culprit = Culprit::host,
    .confidence = 0.89,
    .explains = {loss},
    .conclusion = "This port discards packets on sending.",
    .next =
        "Read the discards: ethtool -S {netdev} | grep -iE 'discard|drop'\nCheck whether the link was down, or a "
        "steering rule or rate limit drops packets: tc -s qdisc show dev {netdev}",
    .signature = "Discards on sending rose together with the transport's losses, at least one for ten retransmissions.",
    .excludes = "A port without a link, paused by its peer or waiting for InfiniBand credits discards too.",
    .thresholds = {&kFewEvents, &kSendDiscards},
    .evaluate = send_drops,
};

extern const Rule kLossInNetwork{
    .id = "loss-in-network",
    .culprit = Culprit::network,
    .status = Status::critical,
    .confidence = 0.99,
    .explains = {loss},
    .conclusion = "RoCE packets are lost or reordered between this port and its peers.",
    .next =
        "Look for discards of the RoCE priority on {peer} and along the path, and for damaged frames (FCS, FEC) from "
        "this port on {peer}.\nRun on the far ends: fabric-agentctl diagnose (their discards are losses here)\nCompare "
        "PFC, trust, DSCP map and ECN of the switches with this host: fabric-agentctl neighbors; fabric-agentctl "
        "show\nWith adaptive routing, packets out of sequence alone are no loss.",
    .signature =
        "The transport counted losses: ten or more, and more than 1 in a million packets (packets out of order: 10 in "
        "a million).",
    .excludes =
        "Discards of this port that are enough for the losses, errors of its link, and pause received for 80 % of the "
        "window. Not enough evidence: a port that counts no discards; without NAKs and packets out of order, broken "
        "connections, or rails of this host that answer for each other.",
    .thresholds = {&kFewEvents, &kLossRatio, &kReorderRatio, &kInFlight, &kTries, &kBlocked},
    .evaluate = loss_in_network,
};

}  // namespace fabric
