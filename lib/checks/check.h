// SPDX-License-Identifier: Apache-2.0
// The table of checks. A row is in the file of its check: model/view.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/view.h"

namespace fabric {

// All checks, sorted by group.
std::span<const Check> checks();

// nullptr: unknown id.
const Check* find_check(std::string_view id);

// True if `name` is an id or a group.
bool names_check(std::string_view name);

// "Limit: 0.05 of the window stalled by PCIe. Source: ours. Key: [thresholds] pcie_stall_share"
std::string limit_text(const Threshold& threshold);

// "MEANING\nInspect: COMMANDS\nFix: COMMANDS\nLimit: ...", for `explain`.
std::string runbook(const Check& check);

// Runs the checks named by id or group, all if `only` is empty. Findings are sorted worst first, then in table order.
Report run_checks(const View& view, std::span<const std::string> only = {});

}  // namespace fabric
