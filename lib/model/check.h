// SPDX-License-Identifier: Apache-2.0
// One check = one row beside its function: `extern const Check kNameCheck{...};` below lib/checks, or below lib/health
// if health rules answer it. CMake lists these rows (registry.cpp.in). Its fault goes into tests/faults.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace fabric {

struct Finding;
struct Port;
struct Report;
struct Threshold;
struct View;
using Findings = std::vector<Finding>;

struct Check {
  std::string_view id;       // "pfc-and-pause": stable; used by --only, explain and metrics
  std::string_view group;    // accepted by --only as well
  std::string_view title;    // the fault, as a headline: "The PCIe link is below its capability"
  std::string_view meaning;  // the comparison, and the effect of a fault
  std::string_view inspect;  // commands that show the evidence; NETDEV, RDMADEV and ADDRESS are placeholders
  std::string_view fix{};    // empty if no finding is a fault
  // Pure. Appends at most one finding per subject, without id, and none for subjects to which the check does not apply.
  // Both nullptr: the health rules that name this check answer it (health/rule.h).
  void (*ask)(const View& view, Findings& findings) = nullptr;
  // The same for each port, in the place of `ask`.
  std::optional<Finding> (*ask_port)(const View& view, const Port& port) = nullptr;
  std::array<const Threshold*, 2> thresholds{};
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

}  // namespace fabric
