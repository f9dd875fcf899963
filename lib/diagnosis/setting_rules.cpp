// SPDX-License-Identifier: Apache-2.0
// Settings that cause loss: PFC off at one end, RoCE on another priority, too little headroom.

#include "diagnosis/context.h"

namespace fabric {

extern const Threshold kBackground("background_rate", 1e4, "bytes a second of a priority",
                                   "ours: PTP at its usual rates is about half of it", 0, 1e12);

namespace {

using enum Symptom;

bool loses(const PortContext& ctx) { return ctx.symptoms.any_of({discards, loss}); }

// The priorities of the set with more than background traffic, if the port counts bytes by priority. Background is
// judged relative to RDMA's share, and PTP's own rate always counts as background.
PrioSet with_traffic(const PortContext& ctx, PrioSet set) {
  const Signals& seen = ctx.signals;
  const auto bytes = [](const PrioritySignals& each) { return rise(each.rx_bytes) + rise(each.tx_bytes); };
  double most = 0;
  for (const PrioritySignals& each : seen.priority) most = std::max(most, bytes(each));
  if (const double rdma = rise(seen.rx_bytes) + rise(seen.tx_bytes); rdma > 0) most = std::min(most, rdma);
  const double background = std::max(std::min(most / 1000, 1e6 * seen.seconds), ctx.limit(kBackground) * seen.seconds);
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = seen.priority[static_cast<size_t>(priority)];
    if (each.rx_bytes && each.tx_bytes && bytes(each) <= background)
      set.bits = static_cast<uint8_t>(set.bits & ~(1u << priority));
  }
  return set;
}

// The affected priorities without PFC in `pfc`: those with discards, else all lossless ones in use.
PrioSet lacking(const PortContext& ctx, PrioSet pfc) {
  const uint8_t affected =
      ctx.lossless_discards > 0 ? ctx.discarding.bits : with_traffic(ctx, ctx.lossless.value_or(PrioSet{})).bits;
  return PrioSet{static_cast<uint8_t>(affected & ~pfc.bits)};
}

// Only the switch calls these priorities lossless, and nothing shows that RoCE uses them: the port has PFC on another
// one, and without a policy, a discard or a byte count.
bool only_switch_has(const PortContext& ctx, PrioSet off) {
  if (ctx.port.qos.pfc->bits == 0 || ctx.policy_pfc || ctx.lossless_discards > 0) return false;
  for (int priority = 0; priority < kPriorities; ++priority)
    if (off.has(priority) && ctx.signals.priority[static_cast<size_t>(priority)].tx_bytes) return false;
  return true;
}

MaybeResult pfc_off_here(const PortContext& ctx) {
  if (!loses(ctx) || !ctx.port.qos.pfc) return std::nullopt;
  PrioSet off = lacking(ctx, *ctx.port.qos.pfc);
  if (ctx.policy_pfc) off.bits &= ctx.policy_pfc->bits;
  if (off.bits == 0) return std::nullopt;
  const auto& at_switch = ctx.switch_pfc;
  RuleResult out{.certain = !only_switch_has(ctx, off), .evidence = {}};
  out.add("PFC of this port: " + to_text(*ctx.port.qos.pfc) + "; priority " + list_text(off) + " is missing");
  if (at_switch) out.add("PFC of " + ctx.peer_label() + ": " + to_text(*at_switch));
  if (ctx.policy_pfc) out.add("PFC of the policy: " + to_text(*ctx.policy_pfc));
  out.add(all_loss_lines(ctx));
  return out;
}
MaybeResult pfc_off_switch(const PortContext& ctx) {
  const auto& at_switch = ctx.switch_pfc;
  if (!loses(ctx) || !ctx.pfc() || !at_switch) return std::nullopt;
  const PrioSet off = lacking(ctx, *at_switch);
  if ((off.bits & ctx.pfc()->bits) == 0) return std::nullopt;
  RuleResult out{.evidence = {"PFC of " + ctx.peer_label() + ": " + to_text(*at_switch) + "; priority " +
                                  list_text(off) + " is missing",
                              ctx.pfc_text()}};
  if (ctx.sent.ratio > 0) out.add("this port sent pause, and the switch ignored it");
  out.add(all_loss_lines(ctx));
  return out;
}

constexpr SettingId kClassification[] = {SettingId::trust, SettingId::dscp_map, SettingId::apptrust};

bool differs(const View& view, const Port& port, SettingId setting) {
  const Changes* changes = view.plan == nullptr ? nullptr : find_in(*view.plan, port.id());
  return changes != nullptr && std::ranges::any_of(*changes, [&](const Change& change) {
           const Outcome outcome = with_agents_word(view.now, change).outcome;
           return change.setting == setting && change.sysctl.empty() && !is_done(outcome) &&
                  outcome != Outcome::unsupported;
         });
}

bool differs_from_plan(const PortContext& ctx, SettingId setting) {
  const auto members = members_of(ctx.view.now, ctx.port);
  return differs(ctx.view, ctx.port, setting) ||
         std::ranges::any_of(members, [&](const Port* member) { return differs(ctx.view, *member, setting); });
}

MaybeResult wrong_priority(const PortContext& ctx) {
  if (!loses(ctx)) return std::nullopt;
  RuleResult out;
  if (ctx.port.qos.trust && *ctx.port.qos.trust != Trust::dscp && ctx.policy != nullptr &&
      ctx.policy->want.trust == Trust::dscp)
    out.add("trust: have pcp, want dscp");
  else
    for (const SettingId setting : kClassification)
      if (differs_from_plan(ctx, setting)) out.add(std::string(key_text(setting)) + " differs from the policy");
  if (std::string sent = unprotected(ctx, Direction::tx); !sent.empty()) {
    if (out.evidence.empty())
      out.next.emplace_back(
          "The application uses another traffic class: set this network's (NCCL_IB_TC of fabric-agentctl topo --format "
          "nccl; roce_tos in the policy for rdma_cm)");
    out.add(std::move(sent));
  }
  if (out.evidence.empty()) return std::nullopt;
  // Then the difference concerns other DSCPs.
  if (const std::string line = well_protected(ctx); !line.empty()) out.doubt(line);
  out.add(all_loss_lines(ctx));
  return out;
}
MaybeResult unprotected_roce(const PortContext& ctx) {
  MaybeResult off = pfc_off_here(ctx);
  if (off && off->certain) return off;
  MaybeResult wrong = wrong_priority(ctx);
  return wrong && (wrong->certain || !off) ? wrong : off;
}

// No priority with discards ever sent pause, by the port's own counters.
bool never_paused(const PortContext& ctx) {
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = ctx.signals.priority[static_cast<size_t>(priority)];
    if (ctx.discarding.has(priority) && (rose(each.tx_pause_frames) || rose(each.tx_pause_seconds) ||
                                         (!each.tx_pause_frames && !each.tx_pause_seconds)))
      return false;
  }
  return true;
}

MaybeResult headroom(const PortContext& ctx) {
  if (!ctx.symptoms.has(discards) || !ctx.port.qos.pfc || receives_nothing(ctx) ||
      lacking(ctx, *ctx.port.qos.pfc).bits != 0)
    return std::nullopt;
  const auto& at_switch = ctx.switch_pfc;
  RuleResult out{at_switch.has_value(),
                 {"PFC of this port: " + to_text(*ctx.port.qos.pfc) +
                  (at_switch ? "; of " + ctx.peer_label() + ": " + to_text(*at_switch) : "; of the switch: unknown")}};
  const PauseShare& sent = ctx.sent;
  if (sent.ratio >= ctx.limit(kFaultPause) || is_pfc_storm(ctx)) out.unexplained.add(tx_pause);
  if (sent.ratio > 0) out.add(sent.text());
  else if (never_paused(ctx)) {
    out.add("ambiguous: this port never sent pause: the priority may be in a lossy receive buffer");
    out.next.push_back("Check prio2buffer and buffer_size first: fabric-agentctl plan --port " + ctx.port.netdev);
  }
  if (ctx.port.qos.cable_length) out.add("cable_length: " + std::to_string(*ctx.port.qos.cable_length) + " m");
  out.add(all_loss_lines(ctx));
  if (!discards_explain_loss(ctx, ctx.lossless_discards)) out.unexplained.add(loss);
  return out;
}

}  // namespace

extern const Rule kPfcOffSwitch{
    .id = "pfc-off-switch",
    .culprit = Culprit::network,
    .status = Status::critical,
    .confidence = 0.94,
    .explains = {discards, loss},
    .conclusion = "PFC is off on the switch port for a lossless priority of this host.",
    .next = "Enable PFC for the priority on {peer}.\nCheck what it announces: fabric-agentctl neighbors",
    .signature =
        "RoCE packets are lost, this port's PFC has the priority, and the switch announces (DCBX) PFC without it: it "
        "neither obeys pause for it nor sends any.",
    .excludes = "Priorities without traffic.",
    .evaluate = pfc_off_switch,
};

extern const Rule kUnprotected{
    .id = "roce-unprotected",
    .culprit = Culprit::host,
    .status = Status::critical,
    .confidence = 0.97,
    .explains = {discards, loss},
    .conclusion = "RoCE traffic of this port is not protected: PFC is off for its priority, or it uses another one.",
    .next = "Inspect: fabric-agentctl plan --port {netdev}\nFix: fabric-agentctl apply --port {netdev}",
    .signature =
        "RoCE packets are lost, and this port's PFC lacks a priority with traffic that the switch (LLDP, DCBX) or the "
        "policy has; or trust or the DSCP map differs from the policy; or less than 10 % of the RDMA bytes sent used a "
        "priority with PFC.",
    .excludes = "A difference is not the cause if 90 % of the bytes used a priority with PFC in both directions.",
    .thresholds = {&kUnprotectedShare, &kProtected, &kMuchTraffic, &kBackground},
    .evaluate = unprotected_roce,
};

extern const Rule kHeadroom{
    .id = "headroom",
    .culprit = Culprit::host,
    .status = Status::critical,
    .confidence = 0.93,
    .explains = {discards, loss, tx_pause},
    .conclusion = "Frames of a lossless priority overran this port's receive buffer: headroom is missing or too small.",
    .next =
        "Check cable length and buffers: fabric-agentctl show --port {netdev}\nSet cable_length to the real length, "
        "and buffer_size = \"auto\", in the policy.",
    .signature =
        "Frames of a lossless priority were discarded here although PFC is on at both ends: the data in flight after "
        "pause was sent did not fit into the headroom, or the priority is in a buffer without headroom.",
    .excludes =
        "Much larger losses are not explained by these frames. Not concluded if the PFC of the switch is unknown.",
    .thresholds = {&kFewEvents, &kFaultPause, &kSendDiscards},
    .evaluate = headroom,
};

}  // namespace fabric
