// SPDX-License-Identifier: Apache-2.0
// The result of the checks: source of table, exit code, JSON, journal and metric; and of the diagnosis.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/status.h"

namespace fabric {

struct Node;

// (id, subject) is unique in a report: they are labels of a metric.
struct Finding {
  std::string id;       // of the check: "pfc"
  std::string subject;  // "mlx5_0/1", "GPU3", "host"
  Status status = Status::ok;
  std::string observed;
  std::string expected;
  std::string meaning;            // why it matters; empty if ok
  std::string remedy;             // a command to paste; empty if ok
  std::string since{};            // RFC 3339; empty: unknown
  bool unverified = false;        // ok as far as the driver's answer shows, which proves nothing
  bool acknowledged = false;      // shown, but does not count for the verdict
  std::string acknowledgement{};  // by whom, until when, why
};

struct Report {
  std::vector<Finding> findings;
};

// The worst status by rank(). An empty report is ok; acknowledged findings count as ok.
Status worst(const Report& report);

// {"verdict": "critical", "checks": [{"id","subject","status","observed","expected","meaning","remedy"}]}, with "since"
// and "acknowledged" if known. A contract with scripts: members are added, never renamed.
Json to_json(const Report& report);

// Findings that are equal but for check or subject: each id applies to each subject.
struct FindingGroup {
  const Finding* finding = nullptr;  // the first; points into the report
  std::vector<std::string> ids, subjects;
};
// Of the findings that are not ok, in the report's order.
std::vector<FindingGroup> group_findings(const Report& report);

// Without acknowledged findings.
size_t count_findings(const Report& report, Status status);
// "3 critical, 1 warning, 192 ok, 1 acknowledged"
std::string counts_text(const Report& report, bool with_ok);

// One line for each reading that failed: "mlx5_2/1: ethtool statistics: Operation not permitted (EPERM)".
std::vector<std::string> unseen_lines(const Node& node);

enum class Culprit : uint8_t {
  none,     // no fault
  host,     // this host: its settings, slot, memory, CPU or application
  cable,    // cable, connector or module of this link
  network,  // switches and their settings, or traffic of others
  peer,     // the host at the far end of the connections, or the device at the far end of the cable
  unknown,  // there are symptoms, and the evidence does not identify a cause
};
template <>
inline constexpr std::string_view kEnumWords<Culprit>[] { "none", "host", "cable", "network", "peer", "unknown" };

// The conclusion of a rule of lib/diagnosis about one port over a window.
struct Diagnosis {
  std::string subject;  // port id: "mlx5_0/1"
  std::string rule;     // its id: "far-numa"; "not-enough-evidence"
  Culprit culprit = Culprit::unknown;
  Status status = Status::warning;    // severity
  double confidence = 0;              // 0..1: how well the evidence excludes other causes. 0 for unknown
  std::string conclusion;             // one sentence
  std::vector<std::string> evidence;  // one line each
  std::vector<std::string> next;      // steps: actions, or values to collect
};
using Diagnoses = std::vector<Diagnosis>;

// critical, warning, unknown, ok: the first that occurs; ok if empty.
Status worst(std::span<const Diagnosis> diagnoses);

// [{"port","rule","culprit","status","confidence","conclusion","evidence":[],"next":[]}]
Json to_json(std::span<const Diagnosis> diagnoses);

}  // namespace fabric
