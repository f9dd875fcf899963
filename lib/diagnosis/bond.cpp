// SPDX-License-Identifier: Apache-2.0
// A bond and its members: RDMA counters are the bond's, port and cable counters are the members'. Each is diagnosed
// with the counters of both, and reports its own symptoms.

#include "diagnosis/context.h"

namespace fabric {
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

// A priority has PFC if it has it on every member. Other settings are equal, or the plan reports the drift.
Port with_settings_of(const std::vector<const Port*>& members, Port bond) {
  for (const Port* member : members) {
    const Qos &theirs = member->qos, own = bond.qos;
    if (!own.pfc || !theirs.pfc) bond.qos.pfc = own.pfc ? own.pfc : theirs.pfc;
    else bond.qos.pfc->bits &= theirs.pfc->bits;
    if (!own.trust) bond.qos.trust = theirs.trust;
    if (!own.cable_length) bond.qos.cable_length = theirs.cable_length;
    if (!own.ecn_rp) bond.qos.ecn_rp = theirs.ecn_rp;
    if (!own.ecn_np) bond.qos.ecn_np = theirs.ecn_np;
  }
  return bond;
}

Signals with_bond(const View& view, const Port& port, Signals own) {
  Signals members;
  for (const Port& other : view.now.ports) {
    if (!is_of_one_bond(port, other)) continue;
    const Signals* seen = signals_of_port(view, other);
    if (seen == nullptr) continue;
    if (other.is_member()) combine(members, *seen, add);
    else
      for (const auto each : kOfRdma)
        if (!(own.*each)) own.*each = seen->*each;
  }
  combine(own, members, keep_larger);
  return own;
}

// Port symptoms are reported by the members, RDMA symptoms by the bond.
Symptoms reported_elsewhere(const PortContext& ctx) {
  using enum Symptom;
  if (ctx.port.is_member()) return {loss, receiver, ignored, unanswered};
  const auto members = members_of(ctx.view.now, ctx.port);
  if (members.empty()) return {};
  Symptoms out{tx_pause, rx_pause, discards};
  if (std::ranges::any_of(members, [&](const Port* member) {
        const Signals* seen = signals_of_port(ctx.view, *member);
        return seen != nullptr && is_pfc_storm(make_context(ctx.view, *member, *seen));
      }))
    out.add(loss);
  return out;
}

}  // namespace fabric
