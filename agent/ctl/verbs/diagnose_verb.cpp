// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/diagnose_verb.h"

#include <cstdio>

#include "base/clock.h"
#include "base/find.h"
#include "ctl/output/report_text.h"
#include "ctl/verbs.h"
#include "ctl/verbs/findings.h"
#include "judge/port_context.h"

namespace fabric::ctl {
namespace {

// `is_faultless`: no finding names one of the ports. `down`: the ports without a link that have no finding.
std::string causes_text(const Report& causes, const Samples& samples, size_t ports, size_t down, bool is_faultless,
                        const Output& output) {
  if (!samples.before)
    return folded("The cause of symptoms requires two readings of the counters, and there is one (--interval).\n",
                  output.width);
  if (ports == 0) return "No RDMA port was observed.\n";
  const double seconds = in_seconds(samples.now.taken - samples.before->taken);
  char length[32];
  if (seconds < 999.5) std::snprintf(length, sizeof length, "%.3g s", seconds);
  else std::snprintf(length, sizeof length, "%.0f s", seconds);
  std::string window = std::string(" in a window of ") + length + ".\n";
  if (seconds <= 0) window = " in one reading of the counters: rates were not checked.\n";  // of a capture
  const std::string observed = counted(ports, "port");
  if (is_faultless && down > 0) {
    const std::string unused = std::to_string(down) + (down == 1 ? " DOWN that needs" : " DOWN that need") +
                               " no link (fabric-agentctl check --verbose)";
    if (down >= ports) return folded(unused + window, output.width);
    return folded(counted(ports - down, "port") + " without symptoms, and " + unused + window, output.width);
  }
  if (is_faultless) return observed + " without symptoms" + window;
  if (causes.findings.empty()) return observed + " observed" + window;
  Table table({"PORT", "CULPRIT", "CERTAINTY", "RULE"});
  for (const Finding& cause : causes.findings) {
    std::string certainty = "-";
    if (cause.certainty) certainty = to_text(*cause.certainty);
    table.add({cause.subject, std::string(to_text(*cause.culprit)), certainty, cause.id});
  }
  // The same cause of several ports is one block, as in check; a cause that check does not list has one, too.
  std::vector<FindingGroup> groups = group_findings(causes);
  for (const Finding& cause : causes.findings)
    if (!is_listed(cause)) groups.push_back({&cause, {cause.id}, {cause.subject}});
  std::string blocks;
  for (const FindingGroup& group : groups) {
    const Finding& cause = *group.finding;
    const std::string culprit(to_text(*cause.culprit));
    blocks += "\n" + colored(output, cause.status,
                             wrapped(names_text(group.subjects), output.width, 2) + "  " + culprit + "  " + cause.id);
    if (cause.acknowledged) blocks += "  (acknowledged " + cause.acknowledgement + ")";
    if (cause.suppressed) blocks += "  (suppressed " + cause.suppression + ")";
    blocks += "\n  " + wrapped(cause.meaning, output.width, 2) + "\n";
    std::string label = "Evidence: ";
    for (const std::string& line : group.observed.empty() ? cause.evidence : group.observed) {
      blocks += "  " + label + wrapped(line, output.width, 12) + "\n";
      label = "          ";
    }
    label = "Next:     ";
    for (const std::string& line : cause.next) {
      blocks += "  " + label + wrapped(line, output.width, 12) + "\n";
      label = "          ";
    }
    if (!group.likewise.empty()) blocks += "  Also for: " + wrapped(also_for(group.likewise), output.width, 12) + "\n";
  }
  return table.text(output) + blocks + "\n" + observed + " observed" + window;
}

// Late receives of the named ports: too few for a symptom.
std::string late_receives_text(std::span<const Port* const> ports, const Samples& samples, const RulePolicy& rules,
                               const Output& output) {
  std::string out;
  for (const Port* port : ports)
    if (const Signals* seen = find_in(samples.signals, port->id()))
      for (const std::string& line : rnr_lines(*seen, limit_of(rules, kRnrRate)))
        out += wrapped(port->id() + ": " + line +
                           ". Too few for a symptom, but senders wait each time until a receive is posted.",
                       output.width, 2) +
               "\n";
  return out;
}

}  // namespace

int print_diagnosis(Report report, const Samples& samples, const RulePolicy& rules, const Options& options,
                    Output& output) {
  std::vector<const Port*> chosen;
  for (const Port& port : samples.now.ports) {
    const bool has_symptoms = is_judged(port) || port.is_member() || is_endpoint(port);
    if (is_chosen(options, port) && (has_symptoms || !options.ports.empty())) chosen.push_back(&port);
  }
  const auto names_of = [](const Port& port) {
    return std::vector<std::string>{port.id(), port.rdma, port.netdev, port.pci};
  };
  const auto names_chosen_port = [&](const Finding& finding) {
    // The subject of a port's finding may be the port, its RDMA device, its netdev or its PCI function.
    return std::ranges::any_of(chosen, [&](const Port* port) { return contains(names_of(*port), finding.subject); });
  };
  // A finding about several ports has another subject, and names them: a subnet of rails, a PCIe bridge, the IOMMU.
  const auto concerns_chosen_port = [&](const Finding& finding) {
    if (names_chosen_port(finding)) return true;
    const auto is_subject = [&](const Port& port) { return contains(names_of(port), finding.subject); };
    if (std::ranges::any_of(samples.now.ports, is_subject)) return false;  // of another port
    const std::string text = finding.observed + "; " + finding.about;
    return std::ranges::any_of(chosen, [&](const Port* port) { return masked(text, names_of(*port)) != text; });
  };
  if (!options.ports.empty())
    std::erase_if(report.findings, [&](const Finding& finding) { return !concerns_chosen_port(finding); });
  Status verdict = Status::unknown;
  if (!report.findings.empty()) verdict = verdict_of(report, options);
  Report causes, others;
  for (Finding& each : report.findings) {
    if (each.culprit) causes.findings.push_back(std::move(each));
    else if (is_listed(each)) others.findings.push_back(std::move(each));
  }
  // Sorted by port, the silenced ones last. The causes of a port keep the order in which they explain each other, as
  // diagnose() finds them.
  std::ranges::stable_sort(causes.findings, {}, [&](const Finding& cause) {
    return std::pair(is_silenced(cause),
                     std::ranges::find(chosen, cause.subject, [](const Port* port) { return port->id(); }));
  });
  if (options.json) {
    Report settings = others;
    std::erase_if(settings.findings,
                  [](const Finding& each) { return !is_of_rule(each, std::string(group::settings)); });
    Json seconds;
    if (samples.before) seconds = in_seconds(samples.now.taken - samples.before->taken);
    output.text += json_text({{"verdict", to_text(verdict)},
                              {"seconds", std::move(seconds)},
                              {"diagnoses", causes_json(causes)},
                              {"settings", to_json(settings)["checks"]},
                              {"findings", to_json(others)["checks"]},
                              {"unread", unseen_lines(samples.now)}});
  } else {
    const bool is_faultless =
        causes.findings.empty() && std::ranges::none_of(others.findings, [&](const Finding& finding) {
          return rank(finding.status) < rank(Status::unknown) && (!options.ports.empty() || names_chosen_port(finding));
        });
    // The observable share comes before the verdict.
    for (const Finding& each : others.findings)
      if (is_faultless && limits_verdict(each) && names_chosen_port(each))
        output.text += wrapped(each.subject + ": " + each.observed + ".", output.width, 2) + "\n";
    if (is_faultless && !options.ports.empty()) output.text += late_receives_text(chosen, samples, rules, output);
    const auto down =
        static_cast<size_t>(std::ranges::count_if(chosen, [](const Port* port) { return is_down(*port); }));
    output.text += causes_text(causes, samples, chosen.size(), down, is_faultless, output) +
                   findings_text(others, output) + unseen_text(samples.now, output) +
                   place_of_fixes(causes.findings.empty() ? others : causes, samples.now, options, output);
  }
  return static_cast<int>(verdict);
}

int run_diagnose(const Options& command_line, Output& output) {
  Options options = command_line;  // ports may also be arguments
  options.ports.insert(options.ports.end(), options.arguments.begin(), options.arguments.end());
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, "diagnose: " + machine.error().text());
  Samples samples = take_samples(*machine, options.interval);
  if (auto known = check_ports(options, samples.now); !known)
    return fail(output, kFailure, "diagnose: " + known.error().text());
  Report report = find_faults(*machine, samples, options, wall_now(machine->kernel));
  const Policy* policy = machine->policy_or_null();
  return print_diagnosis(std::move(report), samples, policy != nullptr ? policy->rules : RulePolicy{}, options, output);
}

}  // namespace fabric::ctl
