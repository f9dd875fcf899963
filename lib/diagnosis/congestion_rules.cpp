// SPDX-License-Identifier: Apache-2.0
// Congestion: CNPs and ECN marks that are ignored, and the reason for pause received.
#include <algorithm>

#include "counters/catalogue.h"
#include "diagnosis/context.h"
#include "diagnosis/rules.h"
#include "model/metrics.h"

namespace fabric {
namespace {

using enum Symptom;

bool is_paused(const PortContext& ctx) { return ctx.symptoms.has(rx_pause); }
bool has_loss(const PortContext& ctx) { return ctx.symptoms.any_of({loss, discards}); }
std::string rx_pause_line(const PortContext& ctx) { return pause_of(ctx, Direction::rx).text(Direction::rx); }

Result ecn_ignored(const PortContext& ctx) {
  if (!ctx.symptoms.has(ignored)) return std::nullopt;
  RuleResult out{0.8, {plus("CNPs received and ignored", *ctx.signals.cnp_ignored)}};
  const auto& rp = ctx.port.qos.ecn_rp;
  if (without_congestion_control(ctx, rp).bits != 0) {
    out.evidence.push_back("ecn_rp of this port: " + to_text(*rp));
    out.confidence = 0.95;
  }
  if (is_paused(ctx)) out.evidence.push_back(rx_pause_line(ctx));
  return out;
}
constexpr Rule kEcnIgnored{
    .id = "ecn-ignored",
    .culprit = Culprit::host,
    .explains = {ignored, rx_pause},
    .conclusion = "CNPs arrive and this port does not reduce its rate.",
    .next =
        "Inspect ecn_rp: fabric-agentctl show --port {netdev}\nFix: enable the reaction point for the RoCE priority "
        "(ecn_rp in the policy), then fabric-agentctl apply --port {netdev}",
    .runbook =
        "The NIC ignored 10 % of the CNPs or more, at least one a second: its reaction point is off for the "
        "priority.",
    .thresholds = {{{0.1, "of the CNPs ignored", "ours"}}},
    .evaluate = ecn_ignored};

Result ecn_unanswered(const PortContext& ctx) {
  if (!ctx.symptoms.has(unanswered)) return std::nullopt;
  RuleResult out{0.55, {plus("ECN-marked packets received", *ctx.signals.ecn_marked), "CNPs sent: none"}};
  const auto& np = ctx.port.qos.ecn_np;
  if (!np) return out;
  out.evidence.push_back("ecn_np of this port: " + to_text(*np));
  out.confidence = 0.9;
  return out;
}
constexpr Rule kEcnUnanswered{
    .id = "ecn-unanswered",
    .culprit = Culprit::host,
    .explains = {unanswered},
    .conclusion = "ECN-marked packets arrive, and this port sends no CNPs.",
    .next =
        "Inspect ecn_np: fabric-agentctl show --port {netdev}\nFix: enable the notification point for the RoCE "
        "priority (ecn_np in the policy), then fabric-agentctl apply --port {netdev}",
    .runbook =
        "1000 or more ECN-marked packets arrived and no CNP was sent, on a RoCE port whose ecn_np lacks the "
        "priority (without PFC: is empty) or is unknown. Delay-based congestion control needs no CNPs and is "
        "not this.",
    .thresholds = {{{1000, "ECN-marked packets", "ours"}}},
    .evaluate = ecn_unanswered};

Result global_pause(const PortContext& ctx) {
  const PauseShare received = pause_of(ctx, Direction::rx);
  if (!is_paused(ctx) || received.priority >= 0 || !ctx.port.qos.pfc || ctx.port.qos.pfc->bits == 0)
    return std::nullopt;
  return RuleResult{0.8,
                    {plus("global pause frames received", rise(ctx.signals.rx_global_pause_frames)),
                     received.text(Direction::rx), "PFC of this port: " + to_text(*ctx.port.qos.pfc)}};
}
constexpr Rule kGlobalPause{.id = "global-pause",
                            .culprit = Culprit::network,
                            .explains = {rx_pause},
                            .conclusion = "The switch sends global pause, which stops all priorities, instead of PFC.",
                            .next = "On {peer}: disable 802.3x flow control, and enable PFC for the RoCE priority.",
                            .runbook = "Global pause frames arrive on a port with PFC.",
                            .evaluate = global_pause};

// CNPs received concern the traffic that this port sends; marks and CNPs sent concern the traffic it receives, which
// pause received does not stop.
double congestion_per_second(const Signals& seen) {
  const double events = seen.cnp_handled ? *seen.cnp_handled : std::max(rise(seen.cnp_sent), rise(seen.ecn_marked));
  return seen.seconds > 0 ? events / seen.seconds : 0;
}
constexpr Threshold kCongested{10, "CNPs a second", "ours: fewer in a window of seconds are no congestion"};

Result incast(const PortContext& ctx) {
  if (!is_paused(ctx) || congestion_per_second(ctx.signals) < kCongested) return std::nullopt;
  const Signals& seen = ctx.signals;
  const double confidence = !pause_of(ctx, Direction::rx).measured ? 0.45 : has_loss(ctx) ? 0.6 : 0.8;
  RuleResult out{confidence, {rx_pause_line(ctx)}};
  if (rose(seen.cnp_handled)) out.evidence.push_back(plus("CNPs received and handled", *seen.cnp_handled));
  else if (rose(seen.cnp_sent)) out.evidence.push_back(plus("CNPs sent", *seen.cnp_sent));
  if (!rose(seen.cnp_handled) && rose(seen.ecn_marked))
    out.evidence.push_back(plus("ECN-marked packets received", *seen.ecn_marked));
  if (!has_loss(ctx)) out.evidence.emplace_back("no loss");
  return out;
}
constexpr Rule kIncast{
    .id = "incast",
    .culprit = Culprit::network,
    .explains = {rx_pause},
    .conclusion = "The network is congested (incast): switches pause this port and mark its packets.",
    .next =
        "Find the full ports: queue depth and ECN marks of {peer} and the switches above\nCheck job placement and "
        "rail use; set ECN thresholds below PFC's, so that marks come first.",
    .runbook =
        "Pause received for more than 5 % of the window, and CNPs for this port's traffic, ten a second or more. "
        "CNPs alone are normal congestion control. Not concluded if the driver counts pause frames and not "
        "pause time.",
    .thresholds = {{kMuchPause, kCongested}},
    .evaluate = incast};

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
    const auto seen = view.signals->find(port.id());
    if (seen == view.signals->end() || port.virtual_function) continue;
    const PortContext other = make_context(view, port, seen->second);
    if (other.symptoms.has(tx_pause) && is_pfc_storm(other)) return port.id();
  }
  return {};
}

Result pause_spread(const PortContext& ctx) {
  if (!is_paused(ctx)) return std::nullopt;
  const Signals& seen = ctx.signals;
  const bool is_counted = seen.cnp_handled || seen.cnp_sent || seen.ecn_marked;
  RuleResult out{is_counted && pause_of(ctx, Direction::rx).measured ? 0.65 : 0.4, {rx_pause_line(ctx)}};
  out.evidence.emplace_back(is_counted ? "hardly any CNP arrived with it" : "this driver does not count CNPs");
  const auto& rp = ctx.port.qos.ecn_rp;
  if (without_congestion_control(ctx, rp).bits != 0) {
    out.evidence.push_back("but ecn_rp of this port is " + to_text(*rp) + ": it would ignore CNPs");
    out.confidence = 0.4;
  }
  if (is_counted && was_never_marked(ctx)) {
    out.evidence.emplace_back(
        "but no mark and no CNP was ever counted here: if the switches do not mark, any congestion looks like this");
    out.next.push_back("Check first that " + ctx.peer_label() +
                       " and the switches above mark (ECN) the queue of the RoCE priority before they pause");
    out.confidence = std::min(out.confidence, 0.5);
  }
  if (const std::string source = storming_port(ctx.view); !source.empty()) {
    out.evidence.push_back("but " + source + " of this host has a PFC storm, which spreads: it may be the source");
    out.next.push_back("Fix " + source + " first, and check whether this ends with it");
    out.confidence = std::min(out.confidence, 0.5);
  }
  return out;
}
constexpr Rule kPauseSpread{
    .id = "pause-spread",
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {rx_pause},
    .conclusion = "The peer pauses this port without congestion on this port's paths: pause spreads from elsewhere.",
    .next =
        "Find the port that sends pause: fabric-agentctl diagnose on the other hosts of the pod, and PFC counters of "
        "{peer} towards them\nThe first host with PFC pause sent is the source.\nIf there is none: check that {peer} "
        "marks (ECN) the queue of the RoCE priority.",
    .runbook =
        "Pause received for more than 5 % of the window with hardly any CNP: the full queue is not filled by this "
        "port's packets. A port of this host with a PFC storm may be the source. If no mark was ever counted, "
        "the switches may not mark at all. Not concluded if the driver does not count CNPs.",
    .thresholds = {{kMuchPause, kCongested}},
    .evaluate = pause_spread};

// Credits come only from the far end of the cable. A link that retrains waits too.
Result no_credits(const PortContext& ctx) {
  if (!ctx.symptoms.has(starved)) return std::nullopt;
  const bool has_errors = ctx.symptoms.any_of({link, overrun});
  RuleResult out{has_errors ? 0.4 : 0.65,
                 {"data to send and no credits for at least " + percent(*starved_share(ctx)) + " of the time; " +
                  plus("port_xmit_wait ticks", *ctx.signals.transmit_wait)}};
  out.evidence.emplace_back(has_errors ? "but this link has errors, and waits while it retrains"
                                       : "this link has no errors");
  return out;
}
constexpr Rule kNoCredits{
    .id = "no-credits",
    .culprit = Culprit::network,
    .explains = {starved},
    .conclusion = "The InfiniBand network gives this port no credits: a receiver or a link beyond the switch is full.",
    .next =
        "Follow PortXmitWait along the path (ibqueryerrors): the slow port is behind the last one that waits.\nCheck "
        "job placement and routing (incast), and run on the receivers: fabric-agentctl diagnose",
    .runbook =
        "By port_xmit_wait of an NVIDIA NIC, it had data and no credits for 5 % of the window or more, and its own "
        "link has no errors. A tick counts as eight bytes of the port, the least on these NICs. The counter has "
        "32 bits and stops when full, after 0.7 s of waiting at 400 Gb/s: use short windows, and reset a full "
        "counter with perfquery -R.",
    .thresholds = {{{0.05, "of the window without credits", "ours, as with pause"}}},
    .evaluate = no_credits};

constexpr Rule kRules[]{kEcnIgnored, kEcnUnanswered, kGlobalPause, kIncast, kPauseSpread, kNoCredits};

}  // namespace

std::span<const Rule> congestion_rules() { return kRules; }

}  // namespace fabric
