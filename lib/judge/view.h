// SPDX-License-Identifier: Apache-2.0
// What checks and diagnosis rules see, and their rows.
#pragma once

#include "judge/health.h"
#include "node/signals.h"
#include "policy/policy.h"
#include "setting/change.h"

namespace fabric {

struct Pairing;

// The input of a check. `before` is an earlier snapshot of the same machine, or nullptr.
struct View {
  const Node& now;
  const Node* before = nullptr;
  const Policy* policy = nullptr;  // null: no configuration could be read
  // Port id -> result of a dry-run qos::reconcile for each setting of its policy. No entry: not compared.
  const Plan* plan = nullptr;
  // Port id -> activity between `before` and `now`, or over the window of the caller; nullptr: only one reading.
  const std::map<std::string, Signals>* signals = nullptr;
  // State of the health rules over time; nullptr: not observed.
  const Health* health = nullptr;
  // built_pairing() of `now`, which run_checks() computes once for all checks; nullptr: not computed.
  const Pairing* pairing = nullptr;
  // Why `policy` is null ("/etc/...: No such file or directory"), or is the last valid one instead of the files'.
  std::string no_policy;
};

// A number that a check or diagnosis rule compares with, and that a site may judge otherwise: a row
// `extern const Threshold kName(` beside the function, named by the row of the check or rule. CMake lists these rows.
// Numbers of standards are plain constants.
struct Threshold {
  constexpr Threshold(std::string_view its_key, double its_value, std::string_view its_unit,
                      std::string_view its_source, double its_least, double its_most)
      : key(its_key), value(its_value), unit(its_unit), source(its_source), least(its_least), most(its_most) {}
  std::string_view key;  // of [thresholds] in the configuration: "pause_share"
  double value;
  std::string_view unit, source;  // who published the value; "ours": unpublished
  double least, most;             // what the configuration accepts
};

// The configured value, or the row's.
inline double limit_of(const View& view, const Threshold& threshold) {
  const double* given = view.policy != nullptr ? find_in(view.policy->thresholds, threshold.key) : nullptr;
  return given != nullptr ? *given : threshold.value;
}

using Findings = std::vector<Finding>;

// One check = one row beside its function: `extern const Check kNameCheck{...};` below lib/checks, or below lib/health
// if health rules answer it. CMake lists these rows (registry.cpp.in). Its fault goes into tests/faults.
struct Check {
  std::string_view id;       // "pfc-and-pause": stable; used by --only, explain and metrics
  std::string_view group;    // accepted by --only as well
  std::string_view title;    // the fault, as a headline: "The PCIe link is below its capability"
  std::string_view meaning;  // the comparison, and the effect of a fault
  std::string_view inspect;  // commands that show the evidence; NETDEV, RDMADEV and ADDRESS are placeholders
  std::string_view fix{};    // empty if every finding is ok: listed with --verbose, no fault in tests/faults
  // Pure. Appends at most one finding per subject, without id, and none for subjects to which the check does not apply.
  // All nullptr: the health rules that name this check answer it (health/rule.h).
  void (*ask)(const View& view, Findings& findings) = nullptr;
  // In its place: the one finding about the host, or that of each port.
  std::optional<Finding> (*ask_host)(const View& view) = nullptr;
  std::optional<Finding> (*ask_port)(const View& view, const Port& port) = nullptr;
  std::array<const Threshold*, 2> thresholds{};
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
