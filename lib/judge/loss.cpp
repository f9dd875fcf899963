// SPDX-License-Identifier: Apache-2.0
// Lost packets: transport, discards, the network, receivers and far ends that do not answer.
#include "judge/engine.h"
#include "judge/gid.h"
#include "judge/mtu.h"
#include "judge/network.h"
#include "judge/pcie.h"
#include "judge/port_context.h"
#include "judge/rails.h"
#include "judge/rule.h"
#include "nic/capabilities.h"

namespace fabric {

namespace {

using enum Measure;
using S = Signals;

// On a lossy fabric the share of packets sent again is the loss, however they were missed.
std::optional<Measured> read_ack_timeouts(const View& view, const RuleWindow& rule, const Port& port) {
  if (capabilities_of(port.kernel_driver).resends_on_other_paths || fabric_of(view, port).is_lossy())
    return std::nullopt;
  return read_counters(view, rule, port);
}

// On a fabric that reorders, packets out of sequence say nothing; NAKs and repeated requests do.
std::optional<Measured> read_out_of_sequence(const View& view, const RuleWindow& rule, const Port& port) {
  const Fabric fabric = fabric_of(view, port);
  const Signals* signals = signals_of_port(view, port);
  if (fabric.is_lossy() || signals == nullptr) return std::nullopt;
  CounterSum sum = rule.sum;
  for (CounterSum::Part& part : sum.parts)
    if (fabric.reorders() && part.member == &S::out_of_sequence) part = {};
  return sum_counters(sum, port, *signals);
}

// A lossy fabric discards by design.
std::optional<Measured> read_port_discards(const View& view, const RuleWindow& rule, const Port& port) {
  if (fabric_of(view, port).is_lossy()) return std::nullopt;
  return read_counters(view, rule, port);
}

constexpr Measurement kLossWindows[]{
    {.window = {"out_of_sequence", ratio, WindowLimits{1e-5, 1e-3, 20, 10, kMinute}, "retransmissions per packet",
                "ours: at 1 in 1000, go-back-N spends more than it gains", "below 1e-5 of the packets", 10},
     .transport = true,
     .meaning = "Packets are lost or reordered in the network, and are sent again.",
     .remedy = "Find the cause: fabric-agentctl diagnose {netdev}. Compare PFC, trust, DSCP map and ECN of this port "
               "with its switch: fabric-agentctl neighbors",
     .elsewhere = "Find the cause: fabric-agentctl diagnose {netdev}. Compare with the other hosts of the job.",
     .sum = {.parts = {{{"packets out of sequence", &S::out_of_sequence},
                        {"sequence NAKs", &S::sequence_naks},
                        {"duplicate requests", &S::duplicate_requests}}},
             .per = CounterSum::Per::packet},
     .read_port = read_out_of_sequence},
    // Also for transports that retransmit over other paths (EFA), and for transports that count nothing else (irdma up
    // to 6.12). If a driver does not count packets sent again (mlx5, bnxt), each NAK and each timeout caused at least
    // one. Duplicate requests are those that the peer sent again.
    {.window = {"retransmissions", ratio, WindowLimits{1e-3, 1e-1, 20, 10, kMinute}, "retransmissions per packet",
                "ours: as out_of_sequence, without the share that paths reorder", "below 1e-3 of the packets", 100},
     .transport = true,
     .meaning = "Packets are sent again: they, or their ACKs, are lost or late.",
     .remedy = "Find the cause: fabric-agentctl diagnose {netdev}. Compare with the other hosts of the job.",
     .sum = {.parts = {{{"packets sent again", &S::retransmissions},
                        {"sequence NAKs", &S::sequence_naks},
                        {"ACK timeouts", &S::ack_timeouts},
                        {"duplicate requests", &S::duplicate_requests}}},
             .per = CounterSum::Per::packet,
             .largest = true}},
    {.window = {"ack_timeouts", ratio, WindowLimits{1, kNever, 20, 10, kMinute}, "ACK timeouts per second",
                "NVSentinel: local_ack_timeout_err more than 1 a second", "below 1 a second", 3},
     .transport = true,
     .meaning = "ACKs do not arrive in time: packets are lost, wait at a port that is paused, or the peer is gone.",
     .remedy = "Find the cause: fabric-agentctl diagnose {netdev}. If this host has none, check that the peers are "
               "alive (rdma resource show qp link {rdma}), then look for discards and failed links on the path.",
     .sum = {{{{"ACK timeouts", &S::ack_timeouts}}}},
     .read_port = read_ack_timeouts},
    {.window = {"remote_physical_errors", ratio, WindowLimits{1, kNever, kMinute, 0, kMinute},
                "packets per second (InfiniBand)",
                "a tenth (ours) of NVSentinel's limit of port_rcv_errors, 10 a second", "below 1 a second", 10},
     .meaning = "Packets arrive that a switch has marked as damaged: another link of the InfiniBand fabric is faulty.",
     .remedy = "Look for symbol errors along the path: ibqueryerrors. Compare with the other hosts that report this.",
     .sum = {{{{"packets marked as damaged on the path", &S::remote_physical_errors}}}}},
    {.window = {"retries_exceeded", count, WindowLimits{1, kNever, kMinute, 0, kMinute}, "broken connections",
                "ours: each ends a job, and the other end or the path may be at fault", "none"},
     .transport = true,
     .meaning = "Transport retry exceeded (IBV_WC_RETRY_EXC_ERR, NCCL error 12), or a peer of EFA stopped answering: a "
                "connection broke, and its job ends.",
     .remedy = "Find the peer in the job's log, and the lossy or broken link between the two: fabric-agentctl diagnose "
               "{netdev}",
     .sum = {{{{"transport retries exceeded", &S::retries_exceeded}}}}},
};

constexpr Measurement kReceiverWindows[]{
    {.window = {"rnr_retries_exceeded", count, WindowLimits{1, kNever, kMinute, 0, kMinute},
                "broken connections; RNR NAKs alone are flow control and not counted",
                "ours: each ends a job, and the other end is at fault", "no RNR retry exceeded"},
     .transport = true,
     .meaning = "RNR retry exceeded: the receiving application posts its buffers too late, and a connection broke. The "
                "network is not the cause.",
     .remedy = "Find the peers: rdma resource show qp link {rdma}. Check CPU load, pinning and queue depths of the "
               "application there.",
     .sum = {.parts = {{{"RNR retries exceeded", &S::rnr_retries_exceeded}}},
             .context = {{{"RNR NAKs", &S::rnr_naks}, {"packets without a posted receive", &S::out_of_buffer}}}}},
};

constexpr Measurement kRequestsWindows[]{
    {.window = {"request_errors", count, WindowLimits{8, kNever, kMinute, 0, kMinute}, "rejected requests",
                "ours: the end of a job may cause a few", "fewer than 8 a minute"},
     .transport = true,
     .meaning = "One side rejects RDMA requests of the other: a fault of the application or its peer, or a peer died.",
     .remedy = "Find the processes: rdma resource show qp link {rdma}. Look for failed work requests in the job's log "
               "on both sides.",
     .sum = {{{{"rejected requests", &S::request_errors}}}}},
};

constexpr Rule kLoss{
    .id = "loss",
    .group = group::counters,
    .title = "RDMA packets are lost, reordered or late",
    .meaning =
        "Packets are lost or reordered in the network: packets out of sequence, sequence NAKs and repeated requests "
        "per packet, ACK timeouts per second, transport retry exceeded; on InfiniBand packets that a switch marked as "
        "damaged. Networks with adaptive routing or spraying reorder packets by design, and lossy ones lose some: "
        "[fabric] of the configuration says so, and the share of packets sent again is judged.",
    .inspect = "fabric-agentctl diagnose; fabric-agentctl counters; rdma statistic show link RDMADEV/1",
    .fix =
        "Configure the same PFC, trust, DSCP map and ECN on this port and on the switches; remove the cause of "
        "discards on the path and at the peer. If the network reorders or loses packets by design, set [fabric].",
    .windows = kLossWindows,
};
constexpr Rule kReceiver{
    .id = "receiver",
    .group = group::counters,
    .title = "The receiving application posts its buffers too late",
    .meaning =
        "RNR retry exceeded: the receiving application posts its buffers too late. The network is not at fault. RNR "
        "NAKs alone are flow control at work and not a fault.",
    .inspect = "rdma statistic show link RDMADEV/1; top on the receiving host",
    .fix = "Fix CPU load, pinning and queue depths of the receiving application.",
    .windows = kReceiverWindows,
};
constexpr Rule kRequests{
    .id = "requests",
    .group = group::counters,
    .title = "RDMA requests are rejected",
    .meaning =
        "One side rejects requests of the other (keys, lengths, access rights): the application or its peer is at "
        "fault, or a peer died.",
    .inspect = "rdma statistic show link RDMADEV/1; the log of the job",
    .fix = "Fix or restart the job. The network is not at fault.",
    .windows = kRequestsWindows,
};

using enum Measure;
using S = Signals;

std::optional<Measured> read_lossless_discards(const View& view, const RuleWindow&, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  if (signals == nullptr || !port.qos.pfc || fabric_of(view, port).is_lossy()) return std::nullopt;
  Measured reading{port.id(), 0, signals->seconds};
  bool any = false;
  for (size_t i = 0; i < signals->priority.size(); ++i) {
    const Rise rise = signals->priority[i].discards;
    if (!rise || !port.qos.pfc->has(i)) continue;
    any = true;
    reading.amount += *rise;
    if (*rise > 0)
      append_item(reading.evidence,
                  amount_text(number_text(*rise), "discards on lossless priority ") + std::to_string(i));
  }
  if (!any) return std::nullopt;
  if (reading.evidence.empty()) reading.evidence = "no discards on lossless priorities";
  return reading;
}

constexpr Measurement kDiscardsWindows[]{
    {.window = {"lossless_discards", count, WindowLimits{10, kNever, kMinute, 0, kMinute}, "frames",
                "IEEE 802.1Qbb: priorities with PFC lose nothing; a few at link up are ignored (ours)",
                "none on lossless priorities"},
     .meaning = "A receive buffer overran although PFC protects the priority.",
     .remedy = "Compare PFC of both ends: fabric-agentctl neighbors. Check cable_length and buffer_size: "
               "fabric-agentctl show --port {netdev}",
     .read_port = read_lossless_discards},
    {.window = {"port_discards", ratio, WindowLimits{10, kNever, kMinute, 0, kMinute}, "packets per second",
                "a tenth (ours) of NVSentinel's limit of port_xmit_discards and AWS's of rx_drops, 100 a second",
                "below 10 a second", 10},
     .meaning = "The port discards packets because its buffers are full, and they are sent again.",
     .remedy = "Check that RoCE uses a lossless priority at both ends (trust, DSCP map, PFC): fabric-agentctl plan "
               "--port {netdev}; fabric-agentctl neighbors",
     .elsewhere = "Find the cause: fabric-agentctl diagnose {netdev}. Compare with the other hosts of the job.",
     .sum = {{{{"discards received", &S::rx_discards}, {"discards sent", &S::tx_discards}}}},
     .read_port = read_port_discards},
    {.window = {"buffer_overruns", count, WindowLimits{1, kNever, kMinute, 0, kMinute}, "overruns (InfiniBand)",
                "NVSentinel: any excessive_buffer_overrun_errors is fatal; a link with credits cannot overrun", "none"},
     .meaning = "The receive buffer of an InfiniBand link overran, which its credits should prevent.",
     .remedy = {Work::at_link,
                "Replace the cable, then compare the firmware of both ends: fabric-agentctl check --only firmware"},
     .sum = {{{{"buffer overruns", &S::buffer_overruns}}}}},
};

constexpr Rule kDiscards{
    .id = "discards",
    .group = group::counters,
    .title = "A port buffer overran",
    .meaning = "A buffer overran that PFC should have protected.",
    .inspect =
        "ethtool -S NETDEV | grep -iE 'discard|drop'; dcb pfc show dev NETDEV; dcb buffer show dev NETDEV; "
        "fabric-agentctl check --only peer-pfc",
    .fix = "Enable PFC for the priority at both ends. Raise cable_length or the headroom in the policy.",
    .windows = kDiscardsWindows,
};

// Causes beyond this port: packets are damaged or lost in the network.

using enum Symptom;

bool has_link_counters(const Signals& seen) {
  return seen.crc_errors || seen.symbol_errors || seen.fec_uncorrectable || seen.link_downs;
}
std::string link_line(const PortContext& ctx) {
  if (is_virtual(ctx.port)) return "the errors of the link are counted by its physical function alone";
  if (is_clean(ctx)) return "this port's link has no receive errors";
  return "the few errors of this port's link do not explain so many losses";
}

MaybeCause damaged_on_path(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  const Loss& lost = ctx.lost;
  Cause out;
  if (ctx.symptoms.has(marked)) {  // InfiniBand: a device on the path, or the sender, has marked the packets
    out.unexplained.add(link);
    out.add(plus("packets received that were already marked as damaged", *seen.remote_physical_errors));
    if (!is_clean(ctx) || wire_explains_loss(ctx))
      out.add("this port's link has errors too, which do not mark packets");
    else if (has_link_counters(seen)) out.add("this port's link has no errors");
  } else if (rose(seen.icrc_errors) && ctx.symptoms.has(loss) && !wire_explains_loss(ctx) && has_link_counters(seen) &&
             *seen.icrc_errors * ctx.limit(kInFlight) >= lost.requester + lost.responder &&
             *seen.icrc_errors >= ctx.limit(kTries) * lost.retries_exceeded) {
    out.unexplained.add(link);
    out.add(plus("RoCE packets with a wrong ICRC", *seen.icrc_errors));
    out.add(link_line(ctx));
  } else if (came_damaged(ctx.port, seen)) {  // a cut-through switch forwards a damaged frame
    out.is_proven = *seen.crc_errors >= ctx.limit(kFewEvents) && wire_explains_loss(ctx);
    out.add(plus("frames received with a wrong CRC", *seen.crc_errors));
    out.add("the FEC of this port's link corrected every code word: they were damaged before it");
  } else {
    return std::nullopt;
  }
  out.add(all_loss_lines(ctx));
  return out;
}

// Requests and responses that are discarded on sending are sent again. Without retransmissions, the discarded packets
// are not RoCE's.
bool send_discards_explain_loss(const PortContext& ctx) {
  const Loss& lost = ctx.lost;
  return lost.requester + lost.retries_exceeded + rise(ctx.signals.duplicate_requests) > 0 &&
         discards_explain_loss(ctx, rise(ctx.signals.tx_discards));
}

MaybeCause send_drops(const PortContext& ctx) {
  if (!ctx.symptoms.has(loss) || !send_discards_explain_loss(ctx)) return std::nullopt;
  // Packets that wait for the link, the end of a pause or credits are discarded in the end too.
  const bool could_send =
      !wire_explains_loss(ctx) && !ctx.symptoms.has(rx_pause) && ctx.port.link_layer != LinkLayer::infiniband;
  Cause out{could_send, {plus("packets discarded by this port on sending", *ctx.signals.tx_discards)}};
  out.add(all_loss_lines(ctx));
  return out;
}

// Late receivers that are too few for a symptom: each packet is sent again after a wait, and none is lost.
Lines minor_rnr_lines(const PortContext& ctx) {
  if (ctx.symptoms.has(receiver)) return {};
  Lines out = rnr_lines(ctx.signals, ctx.limit(kRnrRate));
  for (std::string& line : out) line.insert(0, "no loss, but senders wait: ");
  return out;
}

bool agrees_on_pfc(const PortContext& ctx) {
  const auto& own = ctx.port.qos.pfc;
  return ctx.peer != nullptr && ctx.peer->pfc && own && ctx.peer->pfc->enabled == *own && own->bits != 0;
}

// The discards on lossless priorities; all discards if no priority is known as lossless.
double discards_of_roce(const PortContext& ctx) {
  if (has_lossless(ctx)) return ctx.lossless_discards;
  return all_discards(ctx.signals);
}

// Discards of this port are evidence against a loss in the network.
void weigh_own_discards(const PortContext& ctx, Cause& out) {
  const Signals& seen = ctx.signals;
  const bool counts_by_priority =
      std::ranges::any_of(seen.priority, [](const PrioritySignals& each) { return each.discards.has_value(); });
  if (const double all = discards_of_roce(ctx); !has_lossless(ctx) && discards_explain_loss(ctx, all))
    out.doubt("but this port discarded packets, and no priority is known as lossless: " + plus("discards", all));
  else if (ctx.lossless_discards > 0)
    out.add("only " + number_text(ctx.lossless_discards) + " frames of a lossless priority were discarded here");
  else if (has_lossless(ctx) && counts_by_priority) out.add("no frame of a lossless priority was discarded here");
  else if (discards_explain_loss(ctx, rise(seen.rx_discards)))
    out.doubt("but this port discarded packets, and does not count them by priority: " +
              plus("discards", *seen.rx_discards));
  else if (rise(seen.rx_discards) >= ctx.limit(kFewEvents))
    out.add("this port's discards do not explain so many losses: " + plus("discards", *seen.rx_discards));
  else if (seen.rx_discards) out.add("this port discarded hardly anything");
  else if (!ctx.port.pci.empty() && !agrees_on_pfc(ctx) && frames_too_long(ctx).empty()) out.is_proven = false;
}

// "ping -M do -s 4164 -I eth0 PEER": full-size RoCE frames.
std::string full_size_ping(const Port& port) {
  constexpr uint32_t kPingHeaders = 20 + 8;  // of IPv4 and ICMP, which ping(8) adds to its -s
  return "ping -M do -s " + std::to_string(port.active_mtu.value_or(kLargestPathMtu) + kRoceHeaders - kPingHeaders) +
         " -I " + (port.netdev.empty() ? "NETDEV" : port.netdev) + " PEER";
}

// Losses without retransmissions, or without NAKs.
void weigh_transport(const PortContext& ctx, Cause& out) {
  const Signals& seen = ctx.signals;
  if (rose(seen.sequence_naks) || rose(seen.duplicate_requests)) return;
  if (!rose(seen.ack_timeouts) && !rose(seen.retries_exceeded) && !rose(seen.retransmissions)) {
    out.add_ambiguous("this port retransmitted nothing: with adaptive routing this is reordering, not loss",
                      "Read the retransmissions of the senders: fabric-agentctl diagnose there");
    return;
  }
  if (rose(seen.out_of_sequence)) return;
  if (std::string fault = rails_fault(ctx.view, ctx.port); !fault.empty()) {
    out.doubt("also possible: rails in one subnet (host), and one of them answers for another: " + fault);
    out.next.emplace_back("Correct the subnet's ARP and routes first: fabric-agentctl check --only rails");
  }
  if (std::string gateway = silent_gateway(ctx.view.now, ctx.port); !gateway.empty()) {
    out.add(std::move(gateway));
    out.next.emplace_back("Check VLAN, address and the gateway on the switch: fabric-agentctl check --only gateway");
    return;
  }
  // A far end may be gone.
  if (rose(seen.retries_exceeded) && frames_too_long(ctx).empty()) out.is_proven = false;
  out.add_ambiguous("no NAK arrived: a slow far end, or frames too long for the path, look the same",
                    "Send full-size frames over the path: " + full_size_ping(ctx.port));
}

MaybeCause loss_in_network(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!ctx.symptoms.has(loss) || discards_explain_loss(ctx, ctx.lossless_discards) || send_discards_explain_loss(ctx) ||
      wire_explains_loss(ctx) || is_tx_blocked(ctx))
    return std::nullopt;
  // A transport that sends again over other paths finds its way around a loss.
  if (capabilities_of(ctx.port.kernel_driver).resends_on_other_paths) return std::nullopt;
  if (gids_gone(ctx) > 0 && !rose(seen.sequence_naks) && !rose(seen.out_of_sequence))
    return std::nullopt;  // answers may not reach this port
  Cause out{.evidence = loss_lines(ctx)};
  out.add(minor_rnr_lines(ctx));
  weigh_own_discards(ctx, out);
  if (has_link_counters(seen)) out.add(link_line(ctx));
  if (std::string received = unprotected(ctx, Direction::rx); !received.empty()) {
    out.add(std::move(received));
    // RoCE arrives outside the priorities with PFC: discards on the other priorities count too.
    const double count = all_discards(seen);
    if (discards_explain_loss(ctx, count)) out.doubt("but this port discarded packets: " + plus("discards", count));
    out.next.emplace_back(
        "The peers use another traffic class, or a switch rewrites the DSCP: check it at the sender (NCCL_IB_TC of "
        "fabric-agentctl topo --format nccl there)");
  }
  weigh_transport(ctx, out);
  if (ctx.symptoms.has(tx_pause) && is_disordered(ctx))
    out.add_ambiguous("this port sends pause meanwhile: packets that wait for it may be discarded before it",
                      "Read the queue drops of the port on " + ctx.peer_label() + " while it is paused");
  if (std::string text = frames_too_long(ctx); !text.empty()) out.add(std::move(text));
  if (agrees_on_pfc(ctx)) out.add("PFC is " + to_text(*ctx.port.qos.pfc) + " at both ends of the cable");
  // A lossy fabric loses packets by design: as in `loss`, their share decides how bad it is, at both ends.
  const Loss& lost = ctx.lost;
  const Measured share{ctx.port.id(), std::max(lost.requester, lost.responder), lost.packets.value_or(1)};
  if (ctx.fabric.is_lossy() && lost.retries_exceeded == 0 &&
      status_by_window(ctx.view, "retransmissions", share) != Status::critical)
    out.status = Status::warning;
  return out;
}

constexpr Rule kDamagedOnPath{
    .id = "damaged-on-path",
    .group = group::diagnosis,
    .title = "Packets arrive that another link or a device in the network has damaged.",
    .meaning =
        "InfiniBand: ten or more packets ended with the bad packet delimiter (port_rcv_remote_physical_errors). RoCE: "
        "ICRC errors, enough for the losses, while every link's CRC is right; or ten or more frames with a wrong CRC, "
        "while the FEC of this port's link (RS) corrected every code word: cut-through switches forward damaged "
        "frames.",
    .fix =
        "Compare with the other hosts that see it, and find the link, switch or line card that their paths "
        "share.\nLook for symbol errors along the path, above {peer}: ibqueryerrors (InfiniBand); FCS and FEC counters "
        "of the switches (Ethernet)",
    .limits = {&kFewEvents, &kInFlight, &kTries},
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {marked, loss, link},
    .excludes =
        "This port's own cable does not mark packets, damages the CRC with the ICRC, and leaves code words that FEC "
        "cannot correct.",
    .find_cause = damaged_on_path,
};

constexpr Rule kSendDrops{
    .id = "send-drops",
    .group = group::diagnosis,
    .title = "This port discards packets on sending.",
    .meaning = "Discards on sending rose together with the transport's losses, at least one for ten retransmissions.",
    .fix =
        "Read the discards: ethtool -S {netdev} | grep -iE 'discard|drop'\nCheck whether the link was down, or a "
        "steering rule or rate limit drops packets: tc -s qdisc show dev {netdev}",
    .limits = {&kFewEvents, &kSendDiscards},
    .culprit = Culprit::host,
    .explains = {loss},
    .excludes = "A port without a link, paused by its peer or waiting for InfiniBand credits discards too.",
    .find_cause = send_drops,
};

constexpr Rule kLossInNetwork{
    .id = "loss-in-network",
    .group = group::diagnosis,
    .title = "RoCE packets are lost or reordered between this port and its peers.",
    .meaning =
        "The transport counted losses: ten or more, and more than 1 in a million packets (packets out of order: 10 in "
        "a million; on a lossy fabric: 1 in 1000 packets sent again, a warning up to 1 in 10).",
    .fix =
        "Look for discards of the RoCE priority on {peer} and along the path, and for damaged frames (FCS, FEC) from "
        "this port on {peer}.\nRun on the far ends: fabric-agentctl diagnose (their discards are losses here)\nCompare "
        "PFC, trust, DSCP map and ECN of the switches with this host: fabric-agentctl neighbors; fabric-agentctl "
        "show\nWith adaptive routing or spraying, packets out of sequence alone are not loss: set it in [fabric].",
    .fix_lossy =
        "A lossy fabric loses packets under congestion: look for the queue that drops on {peer} and along the path, "
        "and "
        "for ECN marks before it drops.\nCheck that congestion control works at the senders (ecn_rp, ecn_np, CNPs): "
        "fabric-agentctl show --port {netdev}\nRule out damaged frames (FCS, FEC) on the path.\nRun on the far ends: "
        "fabric-agentctl diagnose",
    .fix_infiniband =
        "Look for discards and errors of the ports along the path: ibqueryerrors\nRun on the far ends: fabric-agentctl "
        "diagnose (their discards are losses here)\nWith adaptive routing, packets out of sequence alone are not loss: "
        "set it in [fabric].",
    .limits = {&kFewEvents, &kLossRatio, &kLossyRatio, &kReorderRatio, &kInFlight, &kTries, &kBlocked},
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {loss},
    .excludes =
        "Discards of this port that are enough for the losses, errors of its link, and pause received for 80 % of the "
        "window. Not enough evidence: a port that counts no discards; without NAKs and packets out of order, broken "
        "connections, or rails of this host that answer for each other.",
    .find_cause = loss_in_network,
};

// Causes at the ends: a host that receives too slowly, and far ends that do not answer.

constexpr Limit kLateReceives{"slow-host",
                              "late_receive_ratio",
                              1e-6,
                              "of the packets without a posted receive, while the port sends pause",
                              "ours: fewer do not fill a buffer",
                              0,
                              1};

using enum Symptom;

MaybeCause slow_host(const PortContext& ctx) {
  const bool sends_pause = ctx.symptoms.has(tx_pause);
  const double here = rnr_here(ctx);
  double enough = ctx.limit(kFewEvents);  // late receives, to explain the pause
  if (sends_pause) enough = std::max(enough, ctx.limit(kLateReceives) * ctx.lost.packets.value_or(0));
  const bool late = here >= enough;
  if (!sends_pause && !late) return std::nullopt;
  const PauseShare& sent = ctx.sent;
  const bool storm = is_pfc_storm(ctx);
  const bool is_minor = sends_pause && !late && !storm && sent.ratio < ctx.limit(kFaultPause);
  const bool sends_alone = is_minor && sent.measured && sends_pause_alone(ctx);
  Cause out{.is_proven = late || storm || (sent.measured && !is_minor) || sends_alone, .evidence = {}};
  std::optional<NarrowSlot> slot;
  if (late) out.add(plus("packets without a posted receive here", here));
  else out.add(lines_of({{"packets without a posted receive here", ctx.signals.out_of_buffer}}));
  if (late && is_much_rnr(ctx, rnr_there(ctx))) out.add(plus("RNR NAKs received as well", rnr_there(ctx)));
  out.add(pause_lines(ctx));
  if (!sends_pause) {
    out.add("this port sends no pause: flow control ends at the application");
  } else {
    Lines pcie_faults;
    for (const Finding& each : faults_before_gpus(ctx)) pcie_faults.push_back("also: " + fault_text(each));
    if (const auto fault = link_fault(ctx)) pcie_faults.push_back("also: " + fault_text(*fault));
    if (pcie_faults.empty()) slot = narrow_slot(ctx);
    if (pcie_faults.empty() && sends_alone) out.add("no pause received; no fault of the PCIe link or of NUMA is known");
    else if (pcie_faults.empty() && !late && !slot) out.add("PCIe, NUMA and posted receives do not explain it");
    if (slot) out.add(slot->line);
    out.add(pcie_faults);
    const std::string iommu[]{"iommu"};
    if (contains(run_rules(ctx.view, iommu).findings, Status::warning, &Finding::status))
      out.add("also possible: the IOMMU translates every DMA: fabric-agentctl check --only iommu");
  }
  if (!late) out.unexplained.add(receiver);
  if (slot && slot->is_full && !late && !storm) {
    out.meaning =
        "Packets for host memory arrive faster than the PCIe slot of this NIC carries them; the port sends pause for "
        "the rest.";
    if (is_minor) out.status = Status::ok;
    if (slot->has_direct) {
      out.certainty = Certainty::likely;
      out.next.emplace_back(
          "Compare with buffers in GPU memory, whose data the NIC's Data Direct function carries: no pause should be "
          "left");
    }
    out.next.emplace_back(
        "Receive into GPU memory, or use fewer ports of this host at once for buffers in host memory");
  } else if (sends_alone) {
    out.meaning =
        "This port sends pause and receives none: packets arrive faster than this host takes them (PCIe, memory, "
        "IOMMU, NUMA node of the buffers), for a short part of the time.";
    out.certainty = Certainty::likely;
    out.status = Status::ok;
    out.next.emplace_back(
        "Compare the receive path with that of an equal host: fabric-agentctl check --only "
        "pcie,pci-tuning,iommu,locality,numa-balancing; put the buffers on the NUMA node of the NIC, or into a GPU on "
        "its switch");
  }
  if (is_minor)
    out.next.emplace_back(
        "A port sends pause if its own host or NIC does not accept packets fast enough: compare the pause over minutes "
        "with PCIe stalls and the job's steps: fabric-agentctl counters --watch");
  if (storm) out.status = Status::critical;
  return out;
}

MaybeCause late_far_end(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!ctx.symptoms.has(receiver) || !is_far_end_late(ctx)) return std::nullopt;
  Cause out{.evidence =
                lines_of({{"RNR NAKs received", seen.rnr_naks}, {"RNR retries exceeded", seen.rnr_retries_exceeded}})};
  const double here = rnr_here(ctx);
  if (here > 0) out.add(plus("few packets without a posted receive here", here));
  else out.add("a receive was always posted here");
  out.unexplained.add(loss);
  return out;
}

MaybeCause silent_far_end(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!rose(seen.retries_exceeded)) return std::nullopt;
  const double few = ctx.limit(kFewEvents), naks = rise(seen.sequence_naks), disorder = rise(seen.out_of_sequence);
  bool single_losses = disorder >= few;
  if (seen.sequence_naks)
    single_losses = naks >= std::max(std::min(ctx.limit(kTries) * *seen.retries_exceeded, 100.0), few);
  if (single_losses || wire_explains_loss(ctx) || discards_explain_loss(ctx, discards_of_roce(ctx)))
    return std::nullopt;
  Cause out{.evidence = loss_lines(ctx), .status = Status::critical};
  if (capabilities_of(ctx.port.kernel_driver).resends_on_other_paths) {
    out.add("the transport sends again over other paths: no answer came over any of them");
    out.add_ambiguous("traffic that the cloud's network refuses looks the same from here",
                      "Find the peer in the job's log, and check that its instance and process are alive");
    out.next.emplace_back(
        "If it never answered: both instances need the same subnet, and a security group that allows all traffic from "
        "and to itself");
    out.next.emplace_back("Run there: fabric-agentctl diagnose");
    out.has_all_steps = true;  // its queue pairs have no far end, and it needs no routes
    out.unexplained.add(receiver);
    return out;
  }
  if (disorder >= few)
    out.add("hardly any NAK arrived: these are not single losses; the packets out of order came from other peers");
  else if (naks + disorder > 0) out.add("hardly any NAK or packet out of order arrived: these are not single losses");
  else out.add("no sequence NAK and no packet out of order arrived: these are not single losses");
  // RNR NAKs are answers.
  if (const Lines late = minor_rnr_lines(ctx); !late.empty()) {
    out.add(late);
    if (rnr_there(ctx) >= few) out.add("a far end that sends RNR NAKs is alive, and posts its receives too late");
  }
  out.add_ambiguous("a path that is broken, or passes only short frames, looks the same from here",
                    "Send full-size frames to the far end: " + full_size_ping(ctx.port) +
                        "; if only short ones pass, compare the MTU of every hop");

  // Reasons for missing answers other than the far end.
  if (std::string text = frames_too_long(ctx); !text.empty()) out.doubt(std::move(text));
  if (const std::string gateway = silent_gateway(ctx.view.now, ctx.port); !gateway.empty()) out.doubt("but " + gateway);
  if (is_tx_blocked(ctx)) out.doubt("but the network lets this port send almost nothing: requests may wait here");
  if (const size_t gone = gids_gone(ctx); gone > 0)
    out.doubt("but " + counted(gone, "GID") + " of this port removed meanwhile");
  // A connection that breaks has timed out once for each retry and once before.
  if (rise(seen.ack_timeouts) > 2 * (ctx.limit(kTries) + 1) * rise(seen.retries_exceeded))
    out.doubt(
        "but far more ACKs timed out than belong to the connections that broke: other connections continue, and lose "
        "packets");

  if (is_disordered(ctx)) out.shared.add(loss);  // packets out of order came from a peer that is not silent
  out.unexplained.add(receiver);
  return out;
}

// A far end may answer late as well as not at all.
MaybeCause far_end(const PortContext& ctx) {
  MaybeCause late = late_far_end(ctx), gone = silent_far_end(ctx);
  if (!late || (gone && !gone->is_proven && !ctx.symptoms.has(receiver))) return gone;
  if (!gone || !gone->is_proven) return late;
  gone->add(std::move(late->evidence));
  gone->unexplained = {};
  return gone;
}

}  // namespace

constexpr Rule kSlowHost{
    .id = "slow-host",
    .group = group::diagnosis,
    .title = "This host receives too slowly: an application, a GPU or the NIC is late or hangs.",
    .meaning =
        "Packets arrive without a posted receive (out_of_buffer, RNR NAKs sent), or the port sends pause for 20 % of "
        "the window, or its NIC counted a PFC storm. Pause sent for 5 to 20 % of the window by a port that receives "
        "none is no fault: the receive path of this host is slower than the link at times. Losses and discards during "
        "a storm are caused by this host.",
    .fix = {"Look for a hung process or GPU: journalctl -k -b; nvidia-smi or amd-smi\n"
            "Find the processes with queue pairs, and check their CPU, pinning and queue depths: rdma resource show qp "
            "link {rdma}\n",
            {Work::ends_jobs,
             "If pause does not end, take the port out of the network and reset the NIC: ip link set {netdev} down; "
             "devlink dev reload pci/{pci}"}},
    .limits = {&kFaultPause, &kFewEvents, &kLateReceives, &kStoppedPause, &kStoppedRate},
    .culprit = Culprit::host,
    .explains = {tx_pause, receiver},
    .explains_stopped_host = true,
    .excludes =
        "A degraded or distant PCIe path comes first. A few late receives beside many RNR NAKs received are not this "
        "fault.",
    .find_cause = slow_host,
};

constexpr Rule kFarEnd{
    .id = "far-end",
    .group = group::diagnosis,
    .title = "The far end of the connections posts its receives too late, or does not answer at all.",
    .meaning =
        "RNR NAKs arrived for more than 1 in 1000 packets and ten a second, or RNR retry was exceeded, while a receive "
        "was posted here for nearly all packets; or transport retry was exceeded with hardly any NAK: no answer "
        "arrives at all, instead of single lost packets.",
    .fix =
        "Find the far ends: rdma resource show qp link {rdma}\nCheck that those hosts and processes are alive, and "
        "that GIDs and routes are valid: fabric-agentctl check --only network\nRun there: fabric-agentctl diagnose",
    .limits = {&kRnrRatio, &kRnrRate, &kTries},
    .culprit = Culprit::peer,
    .explains = {loss, receiver},
    .excludes =
        "Own GIDs that were removed, gateways that do not answer, a switch that accepts only shorter frames, pause "
        "received for 80 % of the window, errors or discards of this port, twice as many timeouts as the broken "
        "connections can have had.",
    .find_cause = far_end,
};

constexpr Rule kTable[]{kLoss,      kReceiver,      kRequests, kDiscards, kDamagedOnPath,
                        kSendDrops, kLossInNetwork, kSlowHost, kFarEnd};
const std::span<const Rule> kLossRules = kTable;

}  // namespace fabric
