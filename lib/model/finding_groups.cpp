// SPDX-License-Identifier: Apache-2.0
#include "model/finding_groups.h"

#include <algorithm>

namespace fabric {
namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

bool is_same_fault(const Finding& a, const Finding& b) {
  return a.status == b.status && a.observed == b.observed && a.expected == b.expected && a.meaning == b.meaning &&
         a.remedy == b.remedy && a.acknowledgement == b.acknowledgement && a.since == b.since;
}

}  // namespace

// Merges the subjects of one check, then the checks with the same subjects.
std::vector<FindingGroup> group_findings(const Report& report) {
  std::vector<FindingGroup> checks, groups;
  for (const Finding& finding : report.findings) {
    if (finding.status == Status::ok) continue;
    auto same = std::find_if(checks.begin(), checks.end(), [&](const FindingGroup& group) {
      return group.ids.front() == finding.id && is_same_fault(*group.finding, finding);
    });
    if (same == checks.end()) same = checks.insert(checks.end(), FindingGroup{&finding, {finding.id}, {}});
    add_once(same->subjects, finding.subject);
  }
  for (FindingGroup& check : checks) {
    auto same = std::find_if(groups.begin(), groups.end(), [&](const FindingGroup& group) {
      return group.subjects == check.subjects && is_same_fault(*group.finding, *check.finding);
    });
    if (same == groups.end()) groups.push_back(std::move(check));
    else add_once(same->ids, check.ids.front());
  }
  return groups;
}

size_t count_findings(const Report& report, Status status) {
  return static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
    return finding.status == status && !finding.acknowledged;
  }));
}

std::string counts_text(const Report& report, bool with_ok) {
  std::string text;
  const auto add = [&](size_t number, std::string_view what) {
    if (number > 0) text.append(text.empty() ? "" : ", ").append(std::to_string(number)).append(" ").append(what);
  };
  for (Status status : {Status::critical, Status::warning, Status::unknown, Status::ok})
    if (with_ok || status != Status::ok) add(count_findings(report, status), to_text(status));
  add(static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                        [](const Finding& finding) { return finding.acknowledged; })),
      "acknowledged");
  return text;
}

std::vector<std::string> unseen_lines(const Node& node) {
  std::vector<std::string> lines = node.unseen;
  for (const Port& port : node.ports)
    for (const std::string& reason : port.unread) add_once(lines, port.id() + ": " + reason);
  return lines;
}

}  // namespace fabric
