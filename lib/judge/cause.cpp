// SPDX-License-Identifier: Apache-2.0
#include "judge/cause.h"

#include <utility>

#include "judge/port_context.h"
#include "judge/port_state.h"
#include "judge/remedy.h"
#include "node/endpoints.h"

namespace fabric {

namespace {

// A cause comes before its consequences, and a specific cause before a general one.
constexpr std::string_view kOrder[]{"admin-down",      "bad-module",       "device-reset",      "no-partner",
                                    "switch-restart",  "damaged-in-host",  "damaged-link",      "port-state",
                                    "pfc-off-switch",  "roce-unprotected", "headroom",          "slow-pcie",
                                    "slow-host",       "ecn-off",          "paused-by-network", "busy-network",
                                    "damaged-on-path", "send-drops",       "far-end",           "loss-in-network"};

constexpr Rule kNotEnoughEvidence{
    .id = "not-enough-evidence",
    .group = group::diagnosis,
    .title = "The evidence does not identify a cause.",
    .meaning = "Symptoms that no rule explains with enough evidence.",
    .limits = {&kFewEvents},
    .culprit = Culprit::unknown,
    .status = Status::unknown,
    .excludes = "The diagnosis lists what to collect, and the rules that came close.",
};

struct SymptomText {
  Symptom symptom;
  std::string_view text;
  FixRow collect;
  FixRow collect_infiniband{};  // empty: `collect`
};
constexpr SymptomText kTexts[]{
    {Symptom::tx_pause, "this port sends pause",
     "Measure pause time and PCIe stalls over a longer window: fabric-agentctl diagnose --interval 30s"},
    {Symptom::rx_pause, "this port is paused by its peer",
     "Read CNPs and ECN marks: rdma statistic show link {rdma}\nRead the PFC counters of {peer}",
     "Read the waits for credits (PortXmitWait) and the discards along the path: ibqueryerrors"},
    {Symptom::loss,
     "RDMA packets are lost or reordered",
     {"Read the discards of this port (ethtool -S {netdev}) and of {peer}\nEnable LLDP",
      {Work::service, ": systemctl enable --now fabric-lldp"}}},
    {Symptom::discards,
     "frames of a lossless priority are discarded",
     {"Read the PFC of the switch: ",
      {Work::service, "systemctl enable --now fabric-lldp, then "},
      "fabric-agentctl neighbors"}},
    {Symptom::link, "the link went down or had errors",
     "Read the module as root: ethtool -m {netdev}\nRead the log of {peer}\nUse a longer window: fabric-agentctl "
     "diagnose --interval 1min"},
    {Symptom::receiver, "receivers are not ready (RNR)",
     "Find the far ends: rdma resource show qp link {rdma}\nRun there: fabric-agentctl diagnose"},
    {Symptom::pcie, "the PCIe path stalls", "Read the PCIe link as root: lspci -vvs {pci}"},
    {Symptom::ignored, "CNPs are ignored", "Read ecn_rp of this port: fabric-agentctl show --port {netdev}"},
    {Symptom::unanswered, "ECN-marked packets are not answered with CNPs",
     "Read ecn_np of this port: fabric-agentctl show --port {netdev}"},
    {Symptom::starved, "this port has data to send and no credits",
     "Read the error counters of this link, then of the ports of {peer}: ibqueryerrors"},
    {Symptom::marked, "packets arrive that a device on the path marked as damaged",
     "Look for symbol errors along the path: ibqueryerrors"},
    {Symptom::overrun,
     "the receive buffer overran, which credits should prevent: the NIC's firmware, the cable, or {peer}",
     {{Work::at_link, "Swap the cables of two ports, and see which port has the overruns then\n"},
      "Compare the firmware of the NICs and of {peer}: fabric-agentctl check --only firmware"}},
};

// The fix for losses and discards of a port without settings, whose wire is elsewhere.
constexpr FixRow kCollectInGuest{
    "Compare with the other hosts of the job: run fabric-agentctl diagnose there\nUse a longer window: fabric-agentctl "
    "diagnose --interval 1min"};

std::string filled(std::string_view text, const PortContext& ctx) {
  return fill_names(text, &ctx.port, ctx.port.id(), ctx.peer_label());
}

// Adds each line of the fix.
void add_lines(std::vector<Fix>& out, const FixRow& fix, const PortContext& ctx) {
  Fix line;
  for (const StepRow& step : fix) {
    std::string_view rest = step.text;
    for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
      line += Step(step.work, filled(rest.substr(0, end), ctx));
      out.push_back(std::exchange(line, {}));
    }
    if (!rest.empty()) line += Step(step.work, filled(rest, ctx));
  }
  if (!line.empty()) out.push_back(std::move(line));
}

Finding finding_of(const Rule& rule, const PortContext& ctx, Cause cause) {
  Finding out{.id = std::string(rule.id), .subject = ctx.port.id(), .meaning = std::string(rule.title)};
  if (!cause.meaning.empty()) out.meaning = std::move(cause.meaning);
  out.status = cause.status.value_or(rule.status);
  out.culprit = cause.culprit.value_or(rule.culprit);
  if (out.culprit != Culprit::unknown) out.certainty = cause.certainty;
  out.evidence = std::move(cause.evidence);
  out.fix = std::move(cause.next);
  const FixRow* fix = &rule.fix;
  if (ctx.fabric.is_lossy() && !rule.fix_lossy.empty()) fix = &rule.fix_lossy;
  if (ctx.fabric.kind == FabricKind::scheduled && !rule.fix_scheduled.empty()) fix = &rule.fix_scheduled;
  if (ctx.port.link_layer == LinkLayer::infiniband && !rule.fix_infiniband.empty()) fix = &rule.fix_infiniband;
  if (rule.is_cause() && !cause.has_all_steps)
    add_lines(out.fix, *fix, ctx);  // the fix of a check is a text for its manual
  return out;
}

// The symptoms that the rule explains on this port.
Symptoms explained_by(const Rule& rule, const Cause& result, const PortContext& ctx) {
  Symptoms out = rule.explains;
  out.remove(result.unexplained);
  // A link with few errors does not explain all losses. A rule that applies without link symptoms (firmware reset) is
  // not about the link.
  if (out.has(Symptom::link) && ctx.symptoms.has(Symptom::link) && !wire_explains_loss(ctx))
    out.remove({Symptom::loss});
  // Causes that make a host slow do not explain a host that receives nothing.
  if (!rule.explains_stopped_host && receives_nothing(ctx)) out.remove({Symptom::tx_pause});
  // A cause in this host does not explain late receivers at the far end.
  if (rule.culprit == Culprit::host && is_far_end_late(ctx)) out.remove({Symptom::receiver});
  return out;
}

// The commands of a switch about one port, by its system (LLDP).
struct SwitchCommands {
  std::string_view system;
  std::string_view traffic;  // pause, queue drops and errors
  std::string_view link;     // state, transceiver and its light
  // The commands take the port's description, if it begins so, and not its id.
  std::string_view described_as{};
};
constexpr SwitchCommands kSwitches[]{
    {"SONiC", "show pfc counters; show queue counters {port}; show interfaces counters errors",
     "show interfaces status {port}; show interfaces transceiver eeprom {port} --dom",
     "Ethernet"},  // the id is an alias: "etp1"
    {"Arista",
     "show priority-flow-control counters; show interfaces {port} counters queue; show interfaces {port} counters "
     "errors",
     "show interfaces {port} status; show interfaces {port} transceiver"},
    {"NX-OS",
     "show interface {port} priority-flow-control; show queuing interface {port}; show interface {port} counters "
     "errors",
     "show interface {port} status; show interface {port} transceiver details"},
    {"Cumulus", "nv show interface {port} counters; nv show interface {port} counters qos",
     "nv show interface {port} link; ethtool -m {port}"},
};

// A step of a finding that this host alone cannot decide: the measurement at the other end of the cable. If the port
// has no link, this step comes before the cable is moved, else last.
void add_far_measurement(Finding& finding, const PortContext& ctx) {
  if (is_virtual(ctx.port) || is_audit_only(ctx.port)) return;  // the cable is another machine's, or the DPU's
  const bool is_elsewhere = finding.culprit != Culprit::host && finding.culprit != Culprit::none;
  if (!is_elsewhere || ctx.port.link_layer == LinkLayer::infiniband) return;
  const bool is_dead = is_down(ctx.port);  // without a link, only its state and its light count
  std::string commands = "PFC frames, queue drops and errors (FCS, FEC) of the port";
  if (ctx.symptoms.has(Symptom::rx_pause) && ctx.received.priority < 0)
    commands = "global pause frames, queue drops and errors (FCS, FEC) of the port";
  if (is_dead) commands = "state of the port, its transceiver, tx and rx power";
  for (const SwitchCommands& each : kSwitches) {
    if (ctx.peer == nullptr || ctx.peer->system_description.find(each.system) == std::string::npos) continue;
    commands = is_dead ? each.link : each.traffic;
    std::string name = ctx.peer->port();
    const std::string& description = ctx.peer->port_description;
    if (!each.described_as.empty() && description.starts_with(each.described_as)) name = description;
    replace_all(commands, "{port}", name);
  }
  const size_t place = is_dead ? std::min<size_t>(1, finding.fix.size()) : finding.fix.size();
  finding.fix.emplace(finding.fix.begin() + static_cast<std::ptrdiff_t>(place),
                      "Measure on " + ctx.peer_label() + ": " + commands);
}

}  // namespace

std::vector<std::string_view> switch_systems() {
  std::vector<std::string_view> out;
  for (const SwitchCommands& each : kSwitches) out.push_back(each.system);
  return out;
}

namespace {

// A rule that matched with too little evidence.
struct UnprovenCause {
  Symptoms explains;
  std::string line;
  std::vector<Fix> next;
};

// Adds the candidates that explain one of the symptoms.
void add_candidates(Finding& out, Symptoms symptoms, const std::vector<UnprovenCause>& candidates) {
  for (const UnprovenCause& each : candidates) {
    if (!each.explains.any_of(symptoms)) continue;
    out.evidence.push_back(each.line);
    for (const Fix& step : each.next)
      if (!contains(out.fix, step)) out.fix.push_back(step);
  }
}

// All unexplained symptoms in one finding: the metric has one series per port for it. The finding of port-state has the
// severity of a port that is not in order.
Finding unexplained(const PortContext& ctx, Symptoms left, const std::vector<UnprovenCause>& candidates) {
  Finding out = finding_of(kNotEnoughEvidence, ctx, {});
  std::optional<Finding> fault;
  if (left.has(Symptom::link)) fault = port_state_fault(ctx.view, ctx.port);
  if (fault) {
    out.meaning = fault->meaning;
    out.evidence.push_back(fault->observed + "; expected " + fault->expected);
    for (Fix& each : fault->fix) out.fix.push_back(std::move(each));
  }
  for (const SymptomText& text : kTexts) {
    if (!left.has(text.symptom)) continue;
    // The link is in order, but no subnet manager has configured the port.
    if (text.symptom == Symptom::link && fault && error_lines(ctx).empty()) continue;
    if (text.symptom == Symptom::discards && ctx.lossless_discards <= 0) {
      const Signals& seen = ctx.signals;
      append(out.evidence, lines_of({{"packets discarded on receiving", seen.rx_discards},
                                     {"packets discarded on sending", seen.tx_discards}}));
      add_lines(out.fix, kCollectInGuest, ctx);
      continue;
    }
    out.evidence.push_back(filled(text.text, ctx));
    if (text.symptom == Symptom::link) append(out.evidence, error_lines(ctx));
    if (text.symptom == Symptom::loss) {
      append(out.evidence, loss_lines(ctx));
      if (!left.has(Symptom::receiver)) append(out.evidence, rnr_lines(ctx.signals, ctx.limit(kRnrRate)));
    }
    const bool is_far = text.symptom == Symptom::loss && ctx.port.role == PortRole::guest_function;
    const FixRow* collect = &text.collect;
    if (ctx.port.link_layer == LinkLayer::infiniband && !text.collect_infiniband.empty())
      collect = &text.collect_infiniband;
    add_lines(out.fix, is_far ? kCollectInGuest : *collect, ctx);
  }
  add_candidates(out, left, candidates);
  add_far_measurement(out, ctx);
  return out;
}

// Symptoms that the bond reports for its members (those of RDMA), or the members for their bond (those of the port).
Symptoms reported_elsewhere(const PortContext& ctx) {
  using enum Symptom;
  if (ctx.port.is_member()) return {loss, receiver, ignored, unanswered};
  const auto members = members_of(ctx.view.now, ctx.port);
  if (members.empty()) return {};
  Symptoms out{tx_pause, rx_pause, discards};
  for (const Port* member : members) {
    const Signals* seen = signals_of_port(ctx.view, *member);
    if (seen != nullptr && is_lasting_storm(make_context(ctx.view, *member, *seen))) out.add(loss);
  }
  return out;
}

// A suppressed rule explains its symptoms, too: run_rules() marks its finding.
void diagnose_port(const PortContext& ctx, Findings& out) {
  Symptoms left = ctx.symptoms;
  left.remove(reported_elsewhere(ctx));
  if (left.empty()) return;
  std::vector<UnprovenCause> candidates;
  for (const Rule* each : cause_rules()) {
    const Rule& rule = *each;
    if (!left.any_of(rule.explains)) continue;
    auto result = rule.find_cause(ctx);
    if (!result) continue;
    const Symptoms explains = explained_by(rule, *result, ctx);
    if (!left.any_of(explains)) continue;
    if (!result->is_proven) {
      candidates.push_back({explains,
                            "possible, with too little evidence: " + std::string(rule.id) + " (" +
                                std::string(to_text(rule.culprit)) + "): " + joined(result->evidence, "; "),
                            result->next});
      continue;
    }
    Symptoms fully_explained = explains;
    fully_explained.remove(result->shared);
    left.remove(fully_explained);
    // A host that sends pause almost all the time causes the losses and, when it receives nothing, the discards.
    if (explains.has(Symptom::tx_pause) && is_lasting_storm(ctx)) left.remove({Symptom::loss});
    if (explains.has(Symptom::tx_pause) && receives_nothing(ctx)) left.remove({Symptom::discards});
    if (explains.any_of({Symptom::rx_pause, Symptom::starved}) && left.has(Symptom::loss) && is_tx_blocked(ctx)) {
      left.remove({Symptom::loss});
      for (const std::string& line : loss_lines(ctx))
        result->evidence.push_back("packets wait here and arrive late or not at all: " + line);
    }
    out.push_back(finding_of(rule, ctx, std::move(*result)));
    // A link that is down proves least: other causes may still be possible.
    if (rule.culprit == Culprit::none || !rule.is_cause()) add_candidates(out.back(), fully_explained, candidates);
    add_far_measurement(out.back(), ctx);
  }
  if (!left.empty()) out.push_back(unexplained(ctx, left, candidates));
}

}  // namespace

std::span<const Rule* const> cause_rules() {
  static const std::vector<const Rule*> all = [] {
    std::vector<const Rule*> out;
    for (const std::string_view id : kOrder) out.push_back(find_rule(id));
    return out;
  }();
  return all;
}

const std::span<const Rule> kUnexplainedRules{&kNotEnoughEvidence, 1};

size_t rank_of_cause(std::string_view id) {
  return static_cast<size_t>(std::ranges::find(kOrder, id) - std::begin(kOrder));
}

Findings diagnose(const View& view) {
  Findings out;
  if (view.signals == nullptr) return out;
  for (const Port& port : view.now.ports) {
    const Signals* own = signals_of_port(view, port);
    if (own == nullptr || (is_virtual(port) && !is_endpoint(port))) continue;
    const Signals signals = with_bond(view, port, *own);
    const auto members = members_of(view.now, port);
    std::optional<Port> bond;
    if (!members.empty()) bond = with_settings_of(members, port);
    const PortContext ctx = make_context(view, bond ? *bond : port, signals);
    if (ctx.symptoms.empty()) continue;
    const size_t first = out.size();
    diagnose_port(ctx, out);
    if (!is_virtual(port)) continue;
    std::string wire = "Its wire and settings are those of its physical function, on the host of this guest or pod";
    if (const Port* other = physical_of(view.now, port))
      wire = "Its wire and settings are those of " + other->id() + ": fabric-agentctl diagnose " + other->id();
    for (size_t i = first; i < out.size(); ++i) out[i].fix.emplace_back(wire);
  }
  for (Finding& each : out) {
    each.observed = joined(each.evidence, "; ");
    write_remedy(each);
  }
  return out;
}

}  // namespace fabric
