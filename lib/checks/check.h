// SPDX-License-Identifier: Apache-2.0
// One check = one file lib/checks/<group>/<name>.cpp: its function and below it `extern const Check kNameCheck{...};`.
// CMake lists these rows (registry.cpp.in). Its fault goes into tests/faults.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fabric {

struct Finding;
struct Report;
struct View;
using Findings = std::vector<Finding>;

struct Check {
  std::string_view id;       // "pfc-and-pause": stable; used by --only, explain and metrics
  std::string_view group;    // accepted by --only as well
  std::string_view title;    // the good condition, as a statement
  std::string_view meaning;  // the comparison, and the effect of a fault
  std::string_view inspect;  // commands that show the evidence; NETDEV, RDMADEV and ADDRESS are placeholders
  std::string_view fix{};    // empty if no finding is a fault
  // Pure. Appends at most one finding per subject, without id, and none for subjects to which the check does not apply.
  // nullptr: the health rules that name this check answer it (health/rule.h).
  void (*ask)(const View& view, Findings& findings) = nullptr;
  bool facts_only = false;  // every finding is ok: listed with --verbose, no fault in tests/faults
};

// In the order of reports: as one inspects a node, from the wire up.
inline constexpr std::string_view kCheckGroups[] = {"link", "settings", "topology", "platform", "cabling",
                                                    "host", "network",  "agent",    "counters", "device"};
namespace group {
inline constexpr std::string_view link = "link", settings = "settings", topology = "topology", platform = "platform",
                                  cabling = "cabling", host = "host", network = "network", agent = "agent",
                                  counters = "counters", device = "device";
}  // namespace group

// All checks, sorted by group.
std::span<const Check> checks();

// nullptr: unknown id.
const Check* find_check(std::string_view id);

// True if `name` is an id or a group.
bool names_check(std::string_view name);

// "MEANING\nInspect: COMMANDS\nFix: COMMANDS", for `explain`.
std::string runbook(const Check& check);

// Runs the checks named by id or group, all if `only` is empty. Findings are sorted worst first, then in table order.
Report run_checks(const View& view, std::span<const std::string> only = {});

}  // namespace fabric
