// SPDX-License-Identifier: Apache-2.0
// A host that does not take what arrives, and far ends that do not answer.

#include "checks/check.h"
#include "diagnosis/context.h"

namespace fabric {

extern const Threshold kLateReceives("late_receive_ratio", 1e-6,
                                     "of the packets without a posted receive, while the port sends pause",
                                     "ours: fewer do not fill a buffer", 0, 1);

namespace {

using enum Symptom;

// Of PCIe, beside the application. `late`: late receives explain the pause.
Lines pcie_lines(const PortContext& ctx, bool late) {
  Lines out;
  for (const Finding& each : faults_before_gpus(ctx)) out.push_back("also: " + fault_text(each));
  if (const std::string degraded = degraded_link(ctx); !degraded.empty()) out.push_back("also: " + degraded);
  if (out.empty() && !late) out.emplace_back("PCIe, NUMA and posted receives do not explain it");
  const std::string iommu[]{"iommu"};
  if (contains(run_checks(ctx.view, iommu).findings, Status::warning, &Finding::status))
    out.emplace_back("also possible: the IOMMU translates every DMA: fabric-agentctl check --only iommu");
  return out;
}

MaybeResult slow_host(const PortContext& ctx) {
  const bool sends_pause = ctx.symptoms.has(tx_pause);
  const double here = rnr_here(ctx);
  const bool late = here >= std::max(ctx.limit(kFewEvents),
                                     sends_pause ? ctx.limit(kLateReceives) * ctx.lost.packets.value_or(0) : 0);
  if (!sends_pause && !late) return std::nullopt;
  const PauseShare& sent = ctx.sent;
  const bool storm = rose(ctx.signals.pause_storm_events) || (sent.measured && sent.ratio >= ctx.limit(kStorm));
  const bool little = sends_pause && !late && !storm && sent.ratio < ctx.limit(kFaultPause);
  RuleResult out{.certain = late || storm || (sent.measured && !little), .evidence = {}};
  if (late) out.add(plus("packets without a posted receive here", here));
  else out.add(lines_of({{"packets without a posted receive here", ctx.signals.out_of_buffer}}));
  if (late && is_much_rnr(ctx, rnr_there(ctx))) out.add(plus("RNR NAKs received as well", rnr_there(ctx)));
  out.add(pause_lines(ctx));
  if (!sends_pause) out.add("this port sends no pause: flow control ends at the application");
  else out.add(pcie_lines(ctx, late));
  if (!late) out.unexplained.add(receiver);
  if (little)
    out.next.emplace_back(
        "Pause that this port sends is for what its own host or NIC does not take: compare it over minutes with PCIe "
        "stalls and the job's steps: fabric-agentctl counters --watch");
  out.critical = storm;
  return out;
}

MaybeResult not_ready(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!ctx.symptoms.has(receiver) || !is_far_end_late(ctx)) return std::nullopt;
  RuleResult out{.evidence = lines_of(
                     {{"RNR NAKs received", seen.rnr_naks}, {"RNR retries exceeded", seen.rnr_retries_exceeded}})};
  const double here = rnr_here(ctx);
  out.add(here > 0 ? plus("few packets without a posted receive here", here) : "a receive was always posted here");
  out.unexplained.add(loss);
  return out;
}

// Other reasons for missing answers than the far end.
Lines doubts_about_silence(const PortContext& ctx) {
  Lines out;
  if (std::string text = frames_too_long(ctx); !text.empty()) out.push_back(std::move(text));
  if (const std::string gateway = silent_gateway(ctx); !gateway.empty()) out.push_back("but " + gateway);
  if (is_tx_blocked(ctx))
    out.emplace_back("but the network lets this port send almost nothing: requests may wait here");
  if (const size_t gone = gids_gone(ctx); gone > 0)
    out.push_back("but " + std::to_string(gone) + " GIDs of this port were removed meanwhile");
  // A connection that breaks has timed out once for each retry and once before.
  if (rise(ctx.signals.ack_timeouts) > 2 * (ctx.limit(kTries) + 1) * rise(ctx.signals.retries_exceeded))
    out.emplace_back("but far more ACKs timed out than belong to the connections that broke: others go on, and lose");
  return out;
}

MaybeResult silent(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!rose(seen.retries_exceeded)) return std::nullopt;
  const double few = ctx.limit(kFewEvents), naks = rise(seen.sequence_naks), disorder = rise(seen.out_of_sequence);
  const bool single_losses = seen.sequence_naks
                                 ? naks >= std::max(std::min(ctx.limit(kTries) * *seen.retries_exceeded, 100.0), few)
                                 : disorder >= few;
  if (single_losses || wire_explains_loss(ctx) || discards_explain_loss(ctx, discards_of_roce(ctx)))
    return std::nullopt;
  RuleResult out{.evidence = loss_lines(ctx), .critical = true};
  out.add(disorder >= few
              ? "hardly any NAK arrived: these are no single losses; the packets out of order came from other peers"
          : naks + disorder > 0 ? "hardly any NAK or packet out of order arrived: these are no single losses"
                                : "no NAK and no packet out of order arrived: these are no single losses");
  out.add("ambiguous: a path that is broken, or passes only short frames, looks the same from here");
  out.next.push_back("Send full-size frames to the far end: ping -M do -s " +
                     std::to_string(ctx.port.active_mtu.value_or(4096) + 68) + " -I " + ctx.port.netdev +
                     " PEER; if only short ones pass, compare the MTU of every hop");
  Lines doubts = doubts_about_silence(ctx);
  out.certain = doubts.empty();
  out.add(std::move(doubts));
  if (is_disordered(ctx)) out.shared.add(loss);  // packets out of order came from a peer that is not silent
  out.unexplained.add(receiver);
  return out;
}

// Both may be true of one far end.
MaybeResult far_end(const PortContext& ctx) {
  MaybeResult late = not_ready(ctx), gone = silent(ctx);
  if (!late || (gone && !gone->certain && !ctx.symptoms.has(receiver))) return gone;
  if (!gone || !gone->certain) return late;
  gone->add(std::move(late->evidence));
  gone->unexplained = {};
  return gone;
}

}  // namespace

extern const Rule kSlowHost{
    .id = "slow-host",
    .culprit = Culprit::host,
    .confidence = 0.98,
    .explains = {tx_pause, receiver},
    .explains_stopped_host = true,
    .conclusion = "This host does not take what it receives: an application, a GPU or the NIC is late or hangs.",
    .next =
        "Look for a hung process or GPU: journalctl -k -b; nvidia-smi or amd-smi\n"
        "Find the processes with queue pairs, and check their CPU, pinning and queue depths: rdma resource show qp "
        "link {rdma}\nIf pause does not end, take the port "
        "out of the network and reset the NIC: ip link set {netdev} down; devlink dev reload pci/{pci}",
    .signature =
        "Packets arrive without a posted receive (out_of_buffer, RNR NAKs sent), or the port sends pause for 20 % of "
        "the window, or its NIC counted a PFC storm. Losses and discards during a storm are caused by this host.",
    .excludes =
        "A degraded or distant PCIe path comes first. Next to many RNR NAKs received, a few late receives are not "
        "this.",
    .thresholds = {&kFaultPause, &kStorm, &kFewEvents, &kLateReceives},
    .evaluate = slow_host,
};

extern const Rule kFarEnd{
    .id = "far-end",
    .culprit = Culprit::peer,
    .confidence = 0.97,
    .explains = {loss, receiver},
    .conclusion = "The far end of the connections posts its receives too late, or does not answer at all.",
    .next =
        "Find the far ends: rdma resource show qp link {rdma}\nCheck that those hosts and processes are alive, and "
        "that GIDs and routes are valid: fabric-agentctl check --only network\nRun there: fabric-agentctl diagnose",
    .signature =
        "RNR NAKs arrived for more than 1 in 1000 packets and ten a second, or RNR retry was exceeded, while a receive "
        "was posted here for nearly all packets; or transport retry was exceeded with hardly any NAK: no single "
        "packets were lost, and no answer arrives.",
    .excludes =
        "Own GIDs that were removed, gateways that do not answer, a switch that accepts only shorter frames, pause "
        "received for 80 % of the window, errors or discards of this port, twice as many timeouts as the broken "
        "connections can have had.",
    .thresholds = {&kRnrRatio, &kRnrRate, &kTries},
    .evaluate = far_end,
};

}  // namespace fabric
