// SPDX-License-Identifier: Apache-2.0
// A report as people read it: equal findings as one, counts in words.
#pragma once

#include <string>
#include <vector>

#include "model/node.h"
#include "model/report.h"

namespace fabric {

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
