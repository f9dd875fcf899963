// SPDX-License-Identifier: Apache-2.0
// Faults of a port, before a culprit is looked for.

#include "checks/cabling/peer.h"
#include "checks/check.h"
#include "diagnosis/context.h"

namespace fabric {

extern const Threshold kMarked("marked_packets", 1000, "ECN-marked packets without a CNP sent", "ours", 1, 1e9);
extern const Threshold kIgnoredCnps("cnp_ignored_share", 0.1, "of the CNPs ignored", "ours", 0.001, 1);
extern const Threshold kLossRatio("loss_ratio", 1e-6, "of the packets lost", "ours: NCCL over RoCE slows down above it",
                                  0, 1);
extern const Threshold kStarved("starved_share", 0.05, "of the window without credits", "ours, as with pause", 0.001,
                                1);

namespace {

// A port that is down and should be up: it was up, it is planned or configured. Or what the check port-state reports.
bool is_missed(const PortContext& ctx) {
  return (is_down(ctx.port) &&
          ((ctx.before != nullptr && !is_down(*ctx.before)) || !planned_cables(ctx.view.policy, ctx.port).empty() ||
           (!ctx.port.virtual_function && !why_unused(ctx.view, ctx.port)))) ||
         port_state_fault(ctx.view, ctx.port);
}

// More than one a second, as the check cnp-ignored, and a tenth of all.
bool ignores_cnps(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  const double count = rise(seen.cnp_ignored);
  return count >= std::max(ctx.limit(kFewEvents), seen.seconds) &&
         count >= ctx.limit(kIgnoredCnps) * (count + rise(seen.cnp_handled));
}

// CNPs are rate-limited per flow (some microseconds), but never to none for so many marks.
bool sends_no_cnps(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  const auto& np = ctx.port.qos.ecn_np;
  // Delay-based congestion control needs no CNPs. Without PFC the RoCE priority is unknown: any in ecn_np counts.
  if (np && np->bits != 0 && without_congestion_control(ctx, np).bits == 0) return false;
  return is_roce(ctx.port) && rise(seen.ecn_marked) >= ctx.limit(kMarked) && seen.cnp_sent && *seen.cnp_sent == 0;
}

bool has_loss(const PortContext& ctx) {
  const Loss& loss = ctx.lost;
  const double few = ctx.limit(kFewEvents);
  // Each timeout stops a connection: more than one a second, as the check loss, however many packets others sent.
  return loss.retries_exceeded > 0 || is_disordered(ctx) ||
         std::min(rise(ctx.signals.ack_timeouts), loss.requester) >= std::max(few, ctx.signals.seconds) ||
         (loss.requester >= few && loss.requester >= ctx.limit(kLossRatio) * loss.packets.value_or(0));
}

}  // namespace

Symptoms symptoms_of(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  const double few = ctx.limit(kFewEvents);
  Symptoms out;
  const auto add_if = [&](Symptom symptom, bool present) {
    if (present) out.add(symptom);
  };
  add_if(Symptom::link, is_missed(ctx) || rose(seen.link_downs) || rose(seen.link_recoveries) ||
                            rose(seen.link_integrity_errors) || damaged_frames(seen) > 0);
  add_if(Symptom::tx_pause, ctx.sent.is_much(ctx) || rose(seen.pause_storm_events));
  add_if(Symptom::rx_pause, ctx.received.is_much(ctx));
  add_if(Symptom::discards, ctx.lossless_discards >= few);
  add_if(Symptom::pcie,
         is_pcie_stalled(ctx) || rise(seen.pcie_overflows) + rise(seen.pcie_errors) >= few || !aer_lines(ctx).empty());
  add_if(Symptom::starved, starved_share(ctx).value_or(0) >= ctx.limit(kStarved));
  add_if(Symptom::marked, rise(seen.remote_physical_errors) >= few);
  add_if(Symptom::overrun, rose(seen.buffer_overruns));
  add_if(Symptom::loss, has_loss(ctx));
  add_if(Symptom::receiver,
         rose(seen.rnr_retries_exceeded) || is_much_rnr(ctx, rise(seen.out_of_buffer) + rise(seen.rnr_naks)));
  add_if(Symptom::ignored, ignores_cnps(ctx));
  add_if(Symptom::unanswered, sends_no_cnps(ctx));
  return out;
}

}  // namespace fabric
