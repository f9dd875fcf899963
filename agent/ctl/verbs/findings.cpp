// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/findings.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "ctl/output/table.h"
#include "enforce/confirm.h"
#include "enforce/selftest.h"
#include "judge/engine.h"
#include "judge/health_state.h"
#include "judge/remedy.h"
#include "node/state.h"

namespace fabric::ctl {

bool is_of_rule(const Finding& finding, const std::string& id_or_group) {
  const Rule* rule = find_rule(finding.id);
  return finding.id == id_or_group || (rule != nullptr && rule->group == id_or_group);
}

std::vector<std::string> unchecked(const Report& report, const std::vector<std::string>& only) {
  std::vector<std::string> out;
  for (const std::string& name : only)
    if (std::ranges::none_of(report.findings, [&](const Finding& finding) { return is_of_rule(finding, name); }))
      out.push_back(name);
  if (only.empty() && report.findings.empty()) out.emplace_back("check");
  return out;
}

std::string end_of_self_test(const Node& node) {
  if (node.agent && node.agent->running) return "fabric-agentd restores its settings from before when the port is idle";
  return "once the port is idle, fabric-agentctl apply (the policy's values) or fabric-agentctl restore (the original "
         "ones) ends it, or the start of the agent: systemctl start fabric-agent";
}

UnconfirmedApply unconfirmed_apply(const Root& root, const Node& node, const Options& options) {
  // The clock of a captured machine has stopped.
  if ((node.agent && node.agent->running) || options.root != options.host) return {};
  const auto record = confirm::load(options.root);
  if (!record && record.error().code == EACCES) return {};  // root reads it
  if (!record) return {"an apply may await confirmation: " + record.error().text(), true};
  if (!*record) return {};
  const std::string left = confirm::left_text(**record);
  if (confirm::is_due(**record, confirm::this_moment(root)))
    return {"an apply was not confirmed by " + (*record)->until + "; not restored: " + left, true};
  if (confirm::is_pending(**record))
    return {"an apply awaits confirmation until " + (*record)->until + ": fabric-agentctl confirm", false};
  if (left.empty()) return {};
  return {"an apply was reverted at " + (*record)->reverted + "; not restored: " + left, true};
}

// Adds a finding of the rule `agent` for each port of a self-test that was interrupted and is not ended (nothing while
// a program writes: the test may be running), and for an overdue apply with --confirm. Nothing while the agent runs,
// which publishes both. The exporter has neither: only root can open the lock that shows whether a program writes.
static void add_unfinished(Report& report, const Root& root, const Node& node, const Options& options) {
  if (node.agent && node.agent->running) return;  // it publishes both, and the rule judges them
  Finding agent;
  agent.id = "agent";
  const auto is_asked = [&](const std::string& name) { return is_of_rule(agent, name); };
  if (!options.only.empty() && std::ranges::none_of(options.only, is_asked)) return;
  const auto tests = qos::open_self_tests(root, node.ports);
  std::vector<Finding> found;
  if (!tests && tests.error().code == EBADMSG)
    found.push_back(
        bad(Status::warning, kHostSubject, tests.error().text(), "no self-test left unfinished",
            "A self-test was interrupted, and the settings from before it cannot be restored.",
            "Repair the file, or abandon those settings: mv /" + std::string(state::kSelfTestFile) + " /root/"));
  std::optional<bool> is_running;
  if (tests && !tests->empty()) is_running = qos::is_writing(root);
  if (tests && is_running != true)
    for (const qos::OpenSelfTest& test : *tests) {
      const bool is_named = options.ports.empty() || std::ranges::any_of(node.ports, [&](const Port& port) {
                              return port.id() == test.port && is_chosen(options, port);
                            });
      if (test.absent || !is_named) continue;
      std::string meaning = "A self-test and its guard were killed.";
      if (!is_running) meaning = "Unless the self-test is still running, it and its guard were killed.";
      meaning += " The port may have values of the test, or neither global pause nor PFC.";
      std::string fix = end_of_self_test(node);
      fix.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(fix.front())));
      found.push_back(bad(Status::warning, test.port, qos::text_of(test, is_running), "no self-test left unfinished",
                          meaning, fix));
    }
  if (const UnconfirmedApply apply = unconfirmed_apply(root, node, options); apply.is_fault)
    found.push_back(bad(Status::warning, kHostSubject, apply.text, "no apply left unfinished",
                        "The guard of an apply with --confirm has ended, or the machine was restarted, and no agent "
                        "runs: the ports may have settings that were not confirmed.",
                        "fabric-agentctl restore or the next apply restores them once the ports are idle, or the "
                        "start of the agent: systemctl start fabric-agent"));
  for (Finding& finding : found) {
    finding.id = agent.id;
    write_remedy(finding);
  }
  const auto place =
      std::ranges::find_if(report.findings, [](const Finding& each) { return each.status != Status::critical; });
  report.findings.insert(place, std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

Report find_faults(Machine& machine, Samples& samples, const Options& options, int64_t wall) {
  const Plan plan = make_plan(machine, samples.now, options);
  const auto memory = load_health(machine.kernel.root);
  if (!memory) samples.now.unseen.push_back("health states of fabric-exporter: " + memory.error().text());
  const auto acks = load_acks(machine.kernel.root);
  if (!acks) samples.now.unseen.push_back("acknowledgements: " + acks.error().text());
  View view{.now = samples.now, .policy = machine.policy_or_null(), .plan = &plan, .no_policy = machine.no_policy};
  if (samples.before) {
    view.before = &*samples.before;
    view.signals = &samples.signals;
  }
  view.is_captured = options.root != options.host;
  view.wall = wall;
  view.peers = options.peers;
  if (!options.ports.empty())
    for (const Port& port : samples.now.ports)
      if (is_chosen(options, port)) view.named.insert(port.id());
  std::vector<AckSeen> seen_acks;
  if (memory && *memory) {
    view.health = &(*memory)->health;
    seen_acks = (*memory)->acks;
  }
  Report report = run_rules(view, options.only);
  add_unfinished(report, machine.kernel.root, samples.now, options);
  std::string observed = "nothing that it applies to was found";
  if (samples.now.ports.empty() && samples.now.topology.gpus.empty())
    observed = "no GPU, RDMA port or NIC with settings was found";
  for (const std::string& name : unchecked(report, options.only)) {
    report.findings.push_back(bad(Status::unknown, kHostSubject, observed, "at least one subject",
                                  "Nothing was checked, so the state is unknown.",
                                  "List the GPUs and NICs that were found: fabric-agentctl topo"));
    report.findings.back().id = name;
    write_remedy(report.findings.back());
  }
  if (acks) mark_acknowledged(report, active_acks(*acks, seen_acks, wall), wall);
  return report;
}

std::string place_of_fixes(const Report& report, const Node& node, const Options& options, const Output& output) {
  const bool is_captured = options.root != options.host;
  const bool has_fix = std::ranges::any_of(report.findings, [](const Finding& each) { return !each.remedy.empty(); });
  if (!is_captured || !has_fix) return {};
  std::string name = "the captured machine";
  if (!node.hostname.empty()) name = node.hostname;
  return "\n" + folded("The commands of the fixes are for " + name + ", not for this machine.\n", output.width);
}

Status verdict_of(const Report& report, const Options& options) {
  const Status verdict = worst(report);
  if (options.strict && verdict == Status::warning) return Status::critical;
  return verdict;
}

}  // namespace fabric::ctl
