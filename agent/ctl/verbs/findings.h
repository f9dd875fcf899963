// SPDX-License-Identifier: Apache-2.0
// The findings of this machine. check and diagnose print the same findings and have the same verdict.
#pragma once

#include "ctl/output/terminal.h"
#include "ctl/verbs/samples.h"
#include "judge/report.h"

namespace fabric::ctl {

// Evaluates the rules with the exporter's health states and the operator's acknowledgements, at `wall` (seconds since
// 1970). If a rule or group of --only, or the whole check, has checked nothing, a finding with status unknown reports
// that.
Report find_faults(Machine& machine, Samples& samples, const Options& options, int64_t wall);

// "an apply was not confirmed by TIME; not restored: mlx5_0/1 mtu": the status that a running agent would report.
// Empty: there is no such apply, or the agent runs. `is_fault`: its time is over.
struct UnconfirmedApply {
  std::string text{};
  bool is_fault = false;
};
UnconfirmedApply unconfirmed_apply(const Root& root, const Node& node, const Options& options);
// Who ends an interrupted self-test, and when: "fabric-agentd restores ...".
std::string end_of_self_test(const Node& node);

bool is_of_rule(const Finding& finding, const std::string& id_or_group);
// The names of --only for which the report has no finding; without --only, "check" if the report is empty.
std::vector<std::string> unchecked(const Report& report, const std::vector<std::string>& only);

// With --strict a warning is critical.
Status verdict_of(const Report& report, const Options& options);

// Says that the commands are for the captured machine, if the findings are those of a captured tree; else empty.
std::string place_of_fixes(const Report& report, const Node& node, const Options& options, const Output& output);

}  // namespace fabric::ctl
