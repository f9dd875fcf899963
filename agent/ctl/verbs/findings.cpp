// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/findings.h"

#include "judge/engine.h"
#include "judge/health_state.h"

namespace fabric::ctl {
namespace {

void report_nothing_checked(Report& report, const std::vector<std::string>& only, const Node& node) {
  const bool empty = node.ports.empty() && node.topology.gpus.empty();
  for (const std::string& name : unchecked(report, only)) {
    report.findings.push_back(
        bad(Status::unknown, "host",
            empty ? "no GPU, RDMA port or NIC with settings was found" : "nothing that it applies to was found",
            "at least one subject", "Nothing was checked, so the state is unknown.",
            "List the GPUs and NICs that were found: fabric-agentctl topo"));
    report.findings.back().id = name;
  }
}

}  // namespace

bool is_of_rule(const Finding& finding, const std::string& id_or_group) {
  const Rule* rule = find_rule(finding.id);
  return finding.id == id_or_group || (rule != nullptr && rule->group == id_or_group);
}

std::vector<std::string> unchecked(const Report& report, const std::vector<std::string>& only) {
  std::vector<std::string> out;
  std::ranges::copy_if(only, std::back_inserter(out), [&](const std::string& name) {
    return std::ranges::none_of(report.findings, [&](const Finding& finding) { return is_of_rule(finding, name); });
  });
  if (only.empty() && report.findings.empty()) out.emplace_back("check");
  return out;
}

Report find_faults(Machine& machine, Samples& samples, const Options& options, int64_t wall) {
  const Plan plan = make_plan(machine, samples.now, options);
  const auto memory = load_health(machine.kernel.root);
  if (!memory) samples.now.unseen.push_back("health states of fabric-exporter: " + memory.error().text());
  const auto acks = load_acks(machine.kernel.root);
  if (!acks) samples.now.unseen.push_back("acknowledgements: " + acks.error().text());
  const bool has_memory = memory && *memory;
  View view = view_of(machine, samples, plan);
  if (has_memory) view.health = &(*memory)->health;
  Report report = run_rules(view, options.only);
  report_nothing_checked(report, options.only, samples.now);
  if (acks)
    mark_acknowledged(report, standing(*acks, has_memory ? (*memory)->acks : std::vector<AckSeen>{}, wall), wall);
  return report;
}

Status verdict_of(const Report& report, const Options& options) {
  const Status verdict = worst(report);
  return options.strict && verdict == Status::warning ? Status::critical : verdict;
}

}  // namespace fabric::ctl
