// SPDX-License-Identifier: Apache-2.0
// Congestion: CNPs and ECN marks that are ignored, and the reason for pause received.

#include "diagnosis/context.h"
#include "nic/counter_catalogue.h"

namespace fabric {

extern const Threshold kCongested("congestion_rate", 10, "CNPs a second",
                                  "ours: fewer in a window of seconds are no congestion", 0.1, 1e9);

namespace {

using enum Symptom;

MaybeResult ecn_off(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  const bool ignores = ctx.symptoms.has(ignored), silent = ctx.symptoms.has(unanswered);
  const auto &rp = ctx.port.qos.ecn_rp, &np = ctx.port.qos.ecn_np;
  RuleResult out;
  if (ignores) {
    out.add(plus("CNPs received and ignored", *seen.cnp_ignored));
    if (without_congestion_control(ctx, rp).bits != 0) out.add("ecn_rp of this port: " + to_text(*rp));
    if (ctx.symptoms.has(rx_pause)) out.add(ctx.received.text());
  } else {
    out.unexplained.add(rx_pause);
  }
  if (silent) {
    out.add(plus("ECN-marked packets received", *seen.ecn_marked));
    out.add("CNPs sent: none");
    if (np) out.add("ecn_np of this port: " + to_text(*np));
  }
  if (ctx.port.qos.cc == false) out.add("cc of this port: off");
  return ignores || silent ? MaybeResult(out) : std::nullopt;
}

// CNPs received concern the traffic that this port sends; marks and CNPs sent concern the traffic it receives, which
// pause received does not stop.
double congestion_per_second(const Signals& seen) {
  const double events = seen.cnp_handled ? *seen.cnp_handled : std::max(rise(seen.cnp_sent), rise(seen.ecn_marked));
  return seen.seconds > 0 ? events / seen.seconds : 0;
}

// Since the counters were reset: congestion counters exist, and all are 0. A bond's members have none.
bool was_never_marked(const PortContext& ctx) {
  using namespace metrics;
  bool is_counted = false;
  for (const Counter& each : ctx.port.counters.hw) {
    const auto match = find_counter(CounterSource::hw, each.name, ctx.port.kernel_driver);
    const Metric* metric = match ? match->row->metric : nullptr;
    if (metric != &kCnpSent && metric != &kCnpHandled && metric != &kCnpIgnored && metric != &kEcnMarked) continue;
    if (each.value > 0) return false;
    is_counted = true;
  }
  return is_counted;
}

// The first port of this host with a PFC storm: its pause may spread back to this port.
std::string storming_port(const View& view) {
  for (const Port& port : view.now.ports) {
    const Signals* seen = signals_of_port(view, port);
    if (seen == nullptr || port.virtual_function) continue;
    const PortContext other = make_context(view, port, *seen);
    if (other.symptoms.has(tx_pause) && is_pfc_storm(other)) return port.id();
  }
  return {};
}

// Marks that should come first, or another port's storm: what this end cannot decide.
void weigh_spread(const PortContext& ctx, RuleResult& out) {
  const Signals& seen = ctx.signals;
  const bool is_counted = seen.cnp_handled || seen.cnp_sent || seen.ecn_marked;
  const auto& rp = ctx.port.qos.ecn_rp;
  out.certain = is_counted && ctx.received.measured;
  out.add(is_counted ? "hardly any CNP arrived with it" : "this driver does not count CNPs");
  if (without_congestion_control(ctx, rp).bits != 0)
    out.doubt("but ecn_rp of this port is " + to_text(*rp) + ": it would ignore CNPs");
  if (is_counted && was_never_marked(ctx)) {
    out.add(
        "ambiguous: no mark and no CNP was ever counted here: if the switches do not mark, any congestion looks like "
        "this");
    out.next.push_back("Check first that " + ctx.peer_label() +
                       " and the switches above mark (ECN) the queue of the RoCE priority before they pause");
  }
  if (const std::string source = storming_port(ctx.view); !source.empty()) {
    out.add("ambiguous: " + source + " of this host has a PFC storm, which spreads: it may be the source");
    out.next.push_back("Fix " + source + " first, and check whether this ends with it");
  }
}

MaybeResult paused_by_network(const PortContext& ctx) {
  RuleResult out;
  const bool is_starved = ctx.symptoms.has(starved);
  if (is_starved) {  // credits come only from the far end of the cable; a link that retrains waits too
    out.certain = !ctx.symptoms.any_of({link, overrun});
    out.evidence = {"data to send and no credits for at least " + percent(*starved_share(ctx)) + " of the time; " +
                        plus("port_xmit_wait ticks", *ctx.signals.transmit_wait),
                    out.certain ? "this link has no errors" : "but this link has errors, and waits while it retrains"};
    out.next.emplace_back(
        "Follow PortXmitWait along the path (ibqueryerrors): the slow port is behind the last one that waits.");
    return out;
  }
  if (!ctx.symptoms.has(rx_pause)) return std::nullopt;
  const PauseShare& received = ctx.received;
  out.add(ctx.received.text());
  if (received.priority < 0 && ctx.pfc() && ctx.pfc()->bits != 0) {
    out.add(plus("global pause frames received", rise(ctx.signals.rx_global_pause_frames)));
    out.add(ctx.pfc_text());
    out.next.push_back("On " + ctx.peer_label() +
                       ": disable 802.3x flow control, and enable PFC for the RoCE priority.");
    return out;
  }
  if (congestion_per_second(ctx.signals) >= ctx.limit(kCongested) || received.ratio < ctx.limit(kFaultPause))
    return std::nullopt;
  out.critical = true;
  weigh_spread(ctx, out);
  return out;
}

// Lossless networks pause: information, no fault.
MaybeResult congestion(const PortContext& ctx) {
  const PauseShare &received = ctx.received, &sent = ctx.sent;
  RuleResult out{.certain = false, .evidence = {}};
  if (ctx.symptoms.has(rx_pause) && received.measured &&
      (congestion_per_second(ctx.signals) >= ctx.limit(kCongested) || received.ratio < ctx.limit(kFaultPause))) {
    out.certain = true;
    out.add(ctx.received.text());
    const Signals& seen = ctx.signals;
    if (rose(seen.cnp_handled)) out.add(plus("CNPs received and handled", *seen.cnp_handled));
    else if (rose(seen.cnp_sent)) out.add(plus("CNPs sent", *seen.cnp_sent));
    else if (rose(seen.ecn_marked)) out.add(plus("ECN-marked packets received", *seen.ecn_marked));
  } else {
    out.unexplained.add(rx_pause);
  }
  if (ctx.symptoms.has(tx_pause) && sent.measured && sent.ratio < ctx.limit(kFaultPause) && !is_pfc_storm(ctx)) {
    out.certain = true;
    out.add(sent.text());
  } else {
    out.unexplained.add(tx_pause);
  }
  if (out.certain && !ctx.symptoms.any_of({loss, discards})) out.add("no loss");
  if (out.evidence.empty() && ctx.symptoms.has(rx_pause)) out.add(ctx.received.text());
  return out.evidence.empty() ? MaybeResult() : MaybeResult(out);
}

}  // namespace

extern const Rule kEcnOff{
    .id = "ecn-off",
    .culprit = Culprit::host,
    .confidence = 0.96,
    .explains = {ignored, unanswered, rx_pause},
    .conclusion = "Congestion control is off on this port: it ignores CNPs, or answers no ECN marks.",
    .next =
        "Inspect the settings of congestion control: fabric-agentctl show --port {netdev}\nFix: enable them in the "
        "policy (ecn_rp and ecn_np for the RoCE priority; on NICs with one setting for all priorities: cc), then "
        "fabric-agentctl apply --port {netdev}. Where the driver has none, fabric-agentctl plan says what to do",
    .signature =
        "The NIC ignored 10 % of the CNPs or more, at least one a second; or 1000 or more ECN-marked packets arrived "
        "and no CNP was sent, on a RoCE port whose ecn_np lacks the priority or is unknown.",
    .excludes = "Delay-based congestion control needs no CNPs.",
    .thresholds = {&kIgnoredCnps, &kMarked, &kFewEvents},
    .evaluate = ecn_off,
};

extern const Rule kPausedByNetwork{
    .id = "paused-by-network",
    .culprit = Culprit::network,
    .confidence = 0.96,
    .explains = {rx_pause, starved},
    .conclusion =
        "The network stops this port, and not for congestion on this port's paths: a receiver or a link elsewhere is "
        "full.",
    .next =
        "Find the port that sends pause: fabric-agentctl diagnose on the other hosts of the pod, and the PFC counters "
        "of {peer} towards them. The first host with PFC pause sent is the source.\nIf there is none, check that "
        "{peer} marks (ECN) the queue of the RoCE priority.",
    .signature =
        "PFC pause received for 20 % of the window with hardly any CNP: the full queue is not filled by this port's "
        "packets. Or global pause frames on a port with PFC. Or InfiniBand: data and no credits for 5 % of the window "
        "(a tick of port_xmit_wait counts as eight bytes).",
    .excludes = "Drivers that count no CNPs or no pause time; a link with errors, which waits while it retrains.",
    .thresholds = {&kFaultPause, &kCongested, &kStarved},
    .evaluate = paused_by_network,
};

extern const Rule kCongestion{
    .id = "busy-network",
    .culprit = Culprit::none,
    .status = Status::ok,
    .confidence = 0.65,
    .explains = {rx_pause, tx_pause},
    .conclusion = "The lossless network is busy, and works: PFC pauses, and congestion control slows the senders.",
    .next =
        "If the job is slow, look at incast: queue depth and ECN marks of {peer} and the switches above, job placement "
        "and rail use.",
    .signature =
        "Pause received for more than 5 % of the window with ten CNPs a second or more for this port's traffic, or "
        "pause in either direction for 5 to 20 %.",
    .excludes = "Drivers that count pause frames and no pause time.",
    .thresholds = {&kPauseShare, &kPauseFramesShare, &kFaultPause, &kCongested},
    .evaluate = congestion,
};

}  // namespace fabric
