// SPDX-License-Identifier: Apache-2.0
// The table of checks. A row is in the file of its check: model/view.h.
#pragma once

#include "base/parse.h"
#include "judge/finding.h"

namespace fabric {

// All checks, sorted by group.
std::span<const Check> checks();

// nullptr: unknown id.
const Check* find_check(std::string_view id);

// "Limit: 0.05 of the window stalled by PCIe. Source: ours. Key: [thresholds] pcie_stall_share"
std::string limit_text(const Threshold& threshold);

// "MEANING\nInspect: COMMANDS\nFix: COMMANDS\nLimit: ...", for `explain`.
std::string runbook(const Check& check);

// The first line of view.no_policy, and how many errors follow.
std::string first_error(const View& view);

// Runs the checks named by id or group, all if `only` is empty. Findings are sorted worst first, then in table order.
Report run_checks(const View& view, std::span<const std::string> only = {});

// The value that more than half have; `counts`: how many have each.
template <class Value>
std::optional<Value> majority(const std::map<Value, size_t>& counts) {
  size_t all = 0;
  for (const auto& [value, count] : counts) all += count;
  for (const auto& [value, count] : counts)
    if (count * 2 > all) return value;
  return std::nullopt;
}

// What the check port-state says of a port; nullopt: it is not judged, or in order.
std::optional<Finding> port_state_fault(const View& view, const Port& port);

std::vector<Check> checks_in_files();     // the rows that CMake finds (registry.cpp.in)
std::vector<Check> checks_of_settings();  // one per row of kSettings

}  // namespace fabric
