// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "ctl/output/report_text.h"
#include "ctl/verbs/findings.h"
#include "judge/engine.h"

namespace fabric::ctl {
namespace {

std::string block_text(const Finding& cause, const Output& output) {
  std::string text =
      "\n" +
      colored(output, cause.status, cause.subject + "  " + std::string(to_text(*cause.culprit)) + "  " + cause.id) +
      "\n";
  text += "  " + wrapped(cause.meaning, output.width, 2) + "\n";
  const auto list = [&](std::string label, const std::vector<std::string>& lines) {
    for (const std::string& each : lines) {
      text += "  " + label + wrapped(each, output.width, 12) + "\n";
      label.assign(label.size(), ' ');
    }
  };
  list("Evidence: ", cause.evidence);
  list("Next:     ", cause.next);
  return text;
}

double seconds_of(const Samples& samples) {
  return std::chrono::duration<double>(samples.now.taken - samples.before->taken).count();
}

std::string causes_text(const Report& causes, const Samples& samples, size_t ports, const Output& output) {
  if (!samples.before) return "The cause of symptoms requires two samples of the counters: set --interval.\n";
  if (ports == 0) return "No RDMA port was observed.\n";
  const double seconds = seconds_of(samples);
  char length[32];
  std::snprintf(length, sizeof length, seconds < 999.5 ? "%.3g s" : "%.0f s", seconds);
  const std::string window = std::string(" in a window of ") + length + ".\n",
                    observed = std::to_string(ports) + (ports == 1 ? " port" : " ports");
  if (causes.findings.empty()) return observed + " without symptoms" + window;
  Table table({"PORT", "CULPRIT", "CERTAINTY", "RULE"});
  std::string blocks;
  for (const Finding& each : causes.findings) {
    table.add({each.subject, std::string(to_text(*each.culprit)),
               each.certainty ? std::string(to_text(*each.certainty)) : "-", each.id});
    blocks += block_text(each, output);
  }
  return table.text(output) + blocks + "\n" + observed + " observed" + window;
}

// A finding of a port may have the port, its RDMA device, its netdev or its PCI function as subject.
bool is_about(const Finding& finding, const Port& port) {
  return finding.subject == port.id() || finding.subject == port.rdma || finding.subject == port.netdev ||
         finding.subject == port.pci;
}

}  // namespace

int run_diagnose(const Options& given, Output& output) {
  Options options = given;  // ports may also be arguments
  options.ports.insert(options.ports.end(), given.arguments.begin(), given.arguments.end());
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, "diagnose: " + machine.error().text());
  Samples samples = take_samples(*machine, options.interval);
  if (auto known = check_ports(options, samples.now); !known)
    return fail(output, kFailure, "diagnose: " + known.error().text());
  Report report = find_faults(*machine, samples, options, wall_now(machine->kernel));
  std::vector<const Port*> asked;
  for (const Port& port : samples.now.ports)
    if (is_chosen(options, port)) asked.push_back(&port);
  if (!options.ports.empty())
    std::erase_if(report.findings, [&](const Finding& each) {
      const bool is_of_host = each.subject == kHostSubject && names_host(options);
      return !is_of_host && std::ranges::none_of(asked, [&](const Port* port) { return is_about(each, *port); });
    });
  const Status verdict = report.findings.empty() ? Status::unknown : verdict_of(report, options);
  Report causes, others;
  for (Finding& each : report.findings) {
    if (each.culprit) causes.findings.push_back(std::move(each));
    else if (each.status != Status::ok) others.findings.push_back(std::move(each));
  }
  // A port's causes in the order in which they explain each other, as diagnose() finds them.
  std::ranges::stable_sort(causes.findings, {}, [&](const Finding& each) {
    return std::ranges::find(asked, each.subject, [](const Port* port) { return port->id(); });
  });
  if (options.json) {
    Report settings = others;
    std::erase_if(settings.findings,
                  [](const Finding& each) { return !is_of_rule(each, std::string(group::settings)); });
    output.text += json_text({{"verdict", to_text(verdict)},
                              {"seconds", samples.before ? Json(seconds_of(samples)) : Json()},
                              {"diagnoses", causes_json(causes)},
                              {"settings", to_json(settings)["checks"]},
                              {"findings", to_json(others)["checks"]},
                              {"unread", unseen_lines(samples.now)}});
  } else {
    output.text += causes_text(causes, samples, asked.size(), output) + findings_text(others, output) +
                   unseen_text(samples.now, output);
  }
  return static_cast<int>(verdict);
}

}  // namespace fabric::ctl
