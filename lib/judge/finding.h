// SPDX-License-Identifier: Apache-2.0
// Helpers for rules: findings, and the outcome of a setting.
#pragma once

#include "judge/report.h"
#include "judge/view.h"
#include "node/port.h"

namespace fabric {

inline Finding good(std::string subject, std::string observed, std::string expected) {
  return Finding{{}, std::move(subject), Status::ok, std::move(observed), std::move(expected), {}, {}};
}

inline Finding bad(Status status, std::string subject, std::string observed, std::string expected, std::string meaning,
                   Fix fix) {
  Finding out{{}, std::move(subject), status, std::move(observed), std::move(expected), std::move(meaning)};
  out.fix.push_back(std::move(fix));
  return out;
}

// "pcie GPU1: x8 at 32 GT/s; expected x16 at 32 GT/s"
inline std::string fault_text(const Finding& fault) {
  return fault.id + " " + fault.subject + ": " + fault.observed + "; expected " + fault.expected;
}

// The state of a setting by its dry run, for check, status, diagnose and the metrics. The outcome is the running
// agent's if the agent knows more (the result of its write, a value that only root can read). It is in_sync if nothing
// can be judged or done (a virtual function, FEC without a link); `from` has the reason.
Change with_agent_outcome(const Node& node, Change change);

// The work of a command that writes the setting: with some drivers the link restarts (Op::disruptive).
Work work_of_write(const Port& port, SettingId setting);

// Whether settings are not enforced, by the operator's choice: the mode of the running agent, else of the policy.
bool is_audit(const View& view);
// Turns a finding about a setting into that of audit mode (is_audited): the operator chose not to enforce, so nothing
// is wrong with the node. A value that could not be read stays unknown.
Finding audited(Finding finding);

// The value that more than half have. `counts`: how many have each value.
template <class Value>
std::optional<Value> majority(const std::map<Value, size_t>& counts) {
  size_t all = 0;
  for (const auto& [value, count] : counts) all += count;
  for (const auto& [value, count] : counts)
    if (count * 2 > all) return value;
  return std::nullopt;
}

}  // namespace fabric
