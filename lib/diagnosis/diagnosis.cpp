// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnosis.h"

#include <algorithm>
#include <array>

#include "diagnosis/diagnosis_case.h"
#include "model/finding.h"

namespace fabric {
namespace {

struct SymptomText {
  Symptom symptom;
  std::string_view what, collect;
};
constexpr std::array<SymptomText, kSymptoms> kTexts{{
    {Symptom::tx_pause, "this port sends pause",
     "Measure pause in time and PCIe stalls over a longer window: fabric-agentctl diagnose --interval 30s"},
    {Symptom::rx_pause, "this port is paused by the network",
     "Read congestion notifications and marks: rdma statistic show link {rdma}; and PFC counters of {peer}"},
    {Symptom::loss, "RDMA packets are lost or reordered",
     "Read discards of this port (ethtool -S {netdev}) and of {peer}; let the switch be heard: systemctl enable --now "
     "fabric-lldp"},
    {Symptom::discards, "frames of a lossless priority are discarded",
     "Learn the PFC of the switch: systemctl enable --now fabric-lldp, then fabric-agentctl neighbors"},
    {Symptom::link, "the link went down or had errors",
     "Read the module as root (ethtool -m {netdev}) and the log of {peer}; watch over a longer window: fabric-agentctl "
     "diagnose --interval 1min"},
    {Symptom::receiver, "receivers are not ready",
     "Find the far ends (rdma resource show qp link {rdma}) and ask there: fabric-agentctl diagnose"},
    {Symptom::pcie, "the PCIe path stalls", "Read the slot as root: lspci -vvs {pci}"},
    {Symptom::ignored, "congestion notifications are ignored",
     "Read ecn_rp of this port: fabric-agentctl show --port {netdev}"},
    {Symptom::unanswered, "congestion marks are not answered",
     "Read ecn_np of this port: fabric-agentctl show --port {netdev}"},
    {Symptom::starved, "this port has data and gets no credits",
     "Read its own link first, then the ports of {peer}: ibqueryerrors"},
    {Symptom::marked, "packets arrive that a device on the way marked as damaged",
     "Look for symbol errors along the path: ibqueryerrors"},
    {Symptom::overrun,
     "the receive buffer overran, which a link with credits never should: this card's firmware, the cable, or {peer}",
     "Exchange the cables of two ports, and see what the overruns follow\nCompare the firmware of the cards and of "
     "{peer}: fabric-agentctl check --only firmware"},
}};

void replace(std::string& text, std::string_view mark, const std::string& by) {
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
}

std::string filled(std::string_view text, const Case& one) {
  std::string out(text);
  replace(out, "{netdev}", one.port.netdev.empty() ? one.port.rdma : one.port.netdev);
  replace(out, "{rdma}", one.port.rdma + "/" + std::to_string(one.port.number));
  replace(out, "{pci}", one.port.pci);
  replace(out, "{peer}", one.peer_label());
  return out;
}

void add_steps(std::vector<std::string>& out, std::string_view text, const Case& one) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.push_back(filled(text.substr(0, end), one));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Diagnosis made(const Rule& rule, const Case& one, Verdict verdict) {
  Diagnosis out{.subject = one.port.id(),
                .rule = std::string(rule.id),
                .culprit = rule.culprit,
                .status = rule.status,
                .confidence = std::min(verdict.confidence, 1.0),
                .conclusion = std::string(rule.conclusion),
                .evidence = std::move(verdict.evidence),
                .next = std::move(verdict.next)};
  add_steps(out.next, rule.next, one);
  return out;
}

// What the rule explains of this port: a wire with a few errors has not lost everything that is lost, nor has a receive
// buffer that a few frames did not fit into. That others are late is not this host's doing, and what makes it slow does
// not stop it. A wire without any is not what such a rule is about (the firmware was reset).
Symptoms explained_by(const Rule& rule, const Case& one) {
  Symptoms out = rule.explains;
  if (out.has(Symptom::link) && one.symptoms.has(Symptom::link) && !wire_explains_loss(one))
    out.remove({Symptom::loss});
  if (rule.judge != judges::pause_storm && takes_nothing(one)) out.remove({Symptom::tx_pause});
  if (rule.culprit == Culprit::host && is_far_end_late(one)) out.remove({Symptom::receiver});
  if (rule.judge == judges::headroom && !threw_away(one, lossless_discards(one).second)) out.remove({Symptom::loss});
  return out;
}

// A rule that spoke without confidence.
struct Candidate {
  Symptoms explains;
  std::string line;
};

// All that is left without an explanation, in one diagnosis: a metric has one series for it.
Diagnosis unexplained(const Case& one, Symptoms left, const std::vector<Candidate>& candidates) {
  Diagnosis out = made(*find_rule("not-enough-evidence"), one, {});
  for (const SymptomText& text : kTexts) {
    if (!left.has(text.symptom)) continue;
    out.evidence.push_back(filled(text.what, one));
    if (text.symptom == Symptom::link || text.symptom == Symptom::loss)
      for (std::string& line : text.symptom == Symptom::link ? error_lines(one) : loss_lines(one))
        out.evidence.push_back(std::move(line));
    add_steps(out.next, text.collect, one);
  }
  for (const Candidate& each : candidates)
    if (each.explains.any_of(left)) out.evidence.push_back(each.line);
  return out;
}

void diagnose_port(const Case& one, Diagnoses& out) {
  Symptoms left = one.symptoms;
  left.remove(told_elsewhere(one));
  if (left.empty()) return;
  std::vector<Candidate> candidates;
  for (const Rule& rule : rules()) {
    const Symptoms explains = explained_by(rule, one);
    if (!left.any_of(explains)) continue;
    auto verdict = rule.judge(one);
    if (!verdict) continue;
    if (verdict->confidence < kEnough) {
      std::string line = "possible, with too little evidence: " + std::string(rule.id) + " (" +
                         std::string(to_text(rule.culprit)) + ")";
      for (size_t i = 0; i < verdict->evidence.size(); ++i) line += (i == 0 ? ": " : "; ") + verdict->evidence[i];
      candidates.push_back({explains, std::move(line)});
      continue;
    }
    if (rule.judge != judges::peer_silent || !is_disordered(one))
      left.remove(explains);  // what came out of order came from somebody
    if (explains.has(Symptom::tx_pause) && holds_without_end(one)) left.remove({Symptom::loss});
    if (explains.has(Symptom::tx_pause) && takes_nothing(one)) left.remove({Symptom::discards});
    if (explains.any_of({Symptom::rx_pause, Symptom::starved}) && left.has(Symptom::loss) && is_held_fast(one)) {
      left.remove({Symptom::loss});
      for (const std::string& line : loss_lines(one))
        verdict->evidence.push_back("and what it sends arrives late or not at all meanwhile: " + line);
    }
    out.push_back(made(rule, one, std::move(*verdict)));
  }
  if (!left.empty()) out.push_back(unexplained(one, left, candidates));
}

}  // namespace

Diagnoses diagnose(const View& view) {
  Diagnoses out;
  if (view.signals == nullptr) return out;
  for (const Port& port : view.now.ports) {
    const auto found = view.signals->find(port.id());
    if (found == view.signals->end() || port.virtual_function) continue;
    const Signals signals = with_bond(view, port, found->second);
    const auto members = members_of(view.now, port);
    const std::optional<Port> bond = members.empty() ? std::nullopt : std::optional(with_settings_of(members, port));
    const Case one = open_case(view, bond ? *bond : port, signals);
    if (!one.symptoms.empty()) diagnose_port(one, out);
  }
  return out;
}

}  // namespace fabric
