// SPDX-License-Identifier: Apache-2.0
// The result of the checks: source of table, exit code, JSON, journal and metric.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "model/status.h"

namespace fabric {

struct Node;

// Order of findings, worst first: critical 0, warning 1, unknown 2, ok 3.
int rank(Status value);

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

}  // namespace fabric
