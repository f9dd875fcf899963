// SPDX-License-Identifier: Apache-2.0
// Late receivers, here or at the far end, and a host that sends pause for an unknown reason.
#include <algorithm>

#include "diagnosis/context.h"
#include "diagnosis/rules.h"

namespace fabric {
namespace {

using enum Symptom;

Result slow_receiver(const PortContext& ctx) {
  constexpr double kRatio = 1e-6;  // of the packets: fewer do not fill a buffer (ours)
  if (!ctx.symptoms.has(tx_pause) || rnr_here(ctx) < std::max(kFewEvents, kRatio * loss_of(ctx).packets.value_or(0)))
    return std::nullopt;
  RuleResult out{0.75, late_lines(ctx)};
  if (out.evidence.empty()) out.evidence.push_back(plus("RNR NAKs sent", rnr_here(ctx)));
  append(out.evidence, pause_lines(ctx));
  return out;
}
constexpr Rule kSlowReceiver{
    .id = "slow-receiver",
    .culprit = Culprit::host,
    .explains = {tx_pause, receiver},
    .conclusion = "An application on this host posts no receives in time, and the port sends PFC pause.",
    .next =
        "Find the processes with queue pairs: rdma resource show qp link {rdma}\nCheck their CPU, pinning and queue "
        "depths, and look for a hung GPU or process: nvidia-smi; top",
    .runbook =
        "Pause sent, and packets arrived without a posted receive (out_of_buffer), while PCIe and NUMA are "
        "without fault.",
    .evaluate = slow_receiver};

Result receiver_late(const PortContext& ctx) {
  if (!ctx.symptoms.has(receiver) || rnr_here(ctx) < kFewEvents) return std::nullopt;
  RuleResult out{0.75, {plus("packets without a posted receive here", rnr_here(ctx))}};
  if (is_much_rnr(ctx, rnr_there(ctx))) out.evidence.push_back(plus("RNR NAKs received as well", rnr_there(ctx)));
  out.evidence.emplace_back("this port sends no pause: flow control ends at the application");
  return out;
}
constexpr Rule kReceiverLate{
    .id = "receiver-late",
    .culprit = Culprit::host,
    .explains = {receiver},
    .conclusion = "An application on this host posts its receives too late.",
    .next =
        "Find the processes with queue pairs: rdma resource show qp link {rdma}\nDeepen the receive queues, and check "
        "that the threads get their CPU.",
    .runbook =
        "Packets arrived without a posted receive, and this port sent no pause. The network is not the cause. A "
        "few such packets next to many RNR NAKs received are not this.",
    .evaluate = receiver_late};

Result peer_not_ready(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (!ctx.symptoms.has(receiver) || !is_far_end_late(ctx)) return std::nullopt;
  RuleResult out{rose(seen.rnr_retries_exceeded) ? 0.8 : 0.6, {}};
  if (rose(seen.rnr_naks)) out.evidence.push_back(plus("RNR NAKs received", *seen.rnr_naks));
  if (rose(seen.rnr_retries_exceeded)) out.evidence.push_back(plus("RNR retries exceeded", *seen.rnr_retries_exceeded));
  const double here = rnr_here(ctx);
  out.evidence.push_back(here > 0 ? plus("few packets without a posted receive here", here)
                                  : "a receive was always posted here");
  return out;
}
constexpr Rule kPeerNotReady{
    .id = "peer-not-ready",
    .culprit = Culprit::peer,
    .explains = {receiver},
    .conclusion = "The application at the far end of the connections posts its receives too late.",
    .next = "Find the far ends: rdma resource show qp link {rdma}\nRun there: fabric-agentctl diagnose",
    .runbook =
        "RNR NAKs arrived for more than 1 in 1000 packets and ten a second, or RNR retry was exceeded, while a "
        "receive was posted here for nearly all packets. A few RNR NAKs are normal flow control.",
    .thresholds = {{{1e-3, "RNR NAKs per packet", "ours"}, {10, "RNR NAKs a second", "ours"}}},
    .evaluate = peer_not_ready};

Result pause_storm(const PortContext& ctx) {
  const PauseShare sent = pause_of(ctx, Direction::tx);
  if (!rose(ctx.signals.pause_storm_events) && !(sent.measured && sent.ratio >= 0.9)) return std::nullopt;
  RuleResult out{0.85, pause_lines(ctx)};
  append(out.evidence, late_lines(ctx));
  if (std::string degraded = degraded_link(ctx); !degraded.empty()) out.evidence.push_back("also: " + degraded);
  return out;
}
constexpr Rule kEndlessPause{
    .id = "endless-pause",
    .culprit = Culprit::host,
    .status = Status::critical,
    .explains = {tx_pause},
    .explains_stopped_host = true,
    .conclusion = "PFC storm: this host no longer drains its receive buffers, and its pause frames stop the network.",
    .next =
        "Look for a hung process or GPU: journalctl -k -b; nvidia-smi\nTake the port out of the network if it "
        "continues: ip link set {netdev} down\nReset the NIC: devlink dev reload pci/{pci}",
    .runbook =
        "The NIC counted a PFC storm, or a priority sent pause for 90 % of the window, and the PCIe slot does not "
        "explain it. If the port received nothing meanwhile, causes that only slow a NIC down do not explain "
        "it. Losses and discards while a host sends pause for 80 % of the time or more, or after its NIC "
        "stopped sending pause, are caused by this host: the packets could not be delivered.",
    .thresholds = {{{0.9, "of the window, PFC pause sent", "SONiC's PFC watchdog: 0.8 to 0.99"}, kStorm}},
    .evaluate = pause_storm};

// Only this NIC can send its pause frames, whatever the reason.
Result host_holds(const PortContext& ctx) {
  if (!ctx.symptoms.has(tx_pause)) return std::nullopt;
  RuleResult out{pause_of(ctx, Direction::tx).measured ? 0.6 : 0.45, pause_lines(ctx)};
  out.evidence.emplace_back("PCIe, NUMA and posted receives do not explain it");
  return out;
}
constexpr Rule kHostHolds{
    .id = "host-holds-network",
    .culprit = Culprit::host,
    .explains = {tx_pause},
    .conclusion = "This host sends PFC pause: it does not drain its receive buffers in time, for an unknown reason.",
    .next =
        "Watch the counters: fabric-agentctl counters --watch\nRead PCIe counters: ethtool -S {netdev} | grep -i "
        "pci\nCheck the host: fabric-agentctl check --only topology,platform,host",
    .runbook =
        "This NIC sends pause for more than 5 % of the window; neither PCIe nor NUMA nor missing receives explain "
        "it.",
    .thresholds = {{kMuchPause}},
    .evaluate = host_holds};

constexpr Rule kReceiver[]{kSlowReceiver, kReceiverLate, kPeerNotReady};
constexpr Rule kPause[]{kEndlessPause, kHostHolds};

}  // namespace

std::span<const Rule> receiver_rules() { return kReceiver; }
std::span<const Rule> pause_rules() { return kPause; }

}  // namespace fabric
