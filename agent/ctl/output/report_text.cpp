// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/report_text.h"

#include <algorithm>

#include "base/parse.h"
#include "checks/check.h"

namespace fabric::ctl {
namespace {

// "pfc, ets", or "settings (55 checks)" of many of one group.
std::string ids_text(const std::vector<std::string>& ids) {
  constexpr size_t kMostNamed = 5;
  const Check* first = find_check(ids.front());
  const bool one_group = std::ranges::all_of(ids, [&](const std::string& id) {
    const Check* check = find_check(id);
    return first != nullptr && check != nullptr && check->group == first->group;
  });
  if (ids.size() <= kMostNamed || !one_group) return joined(ids);
  return std::string(first->group) + " (" + std::to_string(ids.size()) + " checks)";
}

// "CRITICAL  loss  mlx5_0..7", the subjects below the check if the line is too short.
std::string heading(const FindingGroup& block, const Output& output) {
  const std::string status = upper(to_text(block.finding->status)), ids = ids_text(block.ids),
                    subjects = names_text(block.subjects);
  const std::string colored_status = colored(output, block.finding->status, status) + "  ";
  const auto indent = static_cast<unsigned>(status.size() + 2), behind = static_cast<unsigned>(indent + ids.size() + 2);
  if (output.width == 0 || behind < output.width / 2)
    return colored_status + ids + "  " + wrapped(subjects, output.width, behind);
  return colored_status + wrapped(ids, output.width, indent) + "\n" + std::string(indent, ' ') +
         wrapped(subjects, output.width, indent);
}

std::string block_text(const FindingGroup& block, const Output& output, bool brief) {
  const Finding& finding = *block.finding;
  std::string text = "\n" + heading(block, output) + (finding.acknowledged ? "  (acknowledged)" : "") + "\n";
  const auto line = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += std::string("  ") + label + "  " + wrapped(value, output.width, 13) + "\n";
  };
  if (!brief && !finding.meaning.empty()) text += "  " + wrapped(finding.meaning, output.width, 2) + "\n";
  line("Found:   ", finding.observed);
  line("Since:   ", finding.since);
  if (brief) return text;
  line("Expected:", finding.expected);
  line("Known:   ", finding.acknowledgement);
  line("Fix:     ", finding.remedy);
  return text;
}

const Finding* first_finding(const Report& report) {
  return find_where(report.findings,
                    [](const Finding& finding) { return finding.status != Status::ok && !finding.acknowledged; });
}

}  // namespace

std::string findings_text(const Report& report, const Output& output, bool brief) {
  std::string text;
  for (const FindingGroup& block : group_findings(report)) text += block_text(block, output, brief);
  return text;
}

std::string report_text(const Report& report, const std::string& hostname, bool verbose, const Output& output,
                        bool brief) {
  const Status verdict = worst(report);
  const std::string counts = counts_text(report, true);
  const std::string headline =
      (hostname.empty() ? "" : hostname + ": ") + colored(output, verdict, upper(to_text(verdict))) + ": " +
      std::to_string(report.findings.size()) + " checked" + (counts.empty() ? "" : ": ") + counts;
  std::string text = wrapped(headline, output.width, 2) + "\n" + findings_text(report, output, brief);
  if (!verbose || count_findings(report, Status::ok) == 0) return text;
  Table table({"CHECK", "SUBJECT", "FOUND"});
  for (const Finding& finding : report.findings)
    if (finding.status == Status::ok) table.add({finding.id, finding.subject, finding.observed});
  return text + "\n" + colored(output, Status::ok, "OK") + "\n" + table.text(output);
}

std::string brief_text(const Report& report, Status verdict, const std::string& remark) {
  const std::string counts = counts_text(report, false);
  std::string text = "fabric " + upper(to_text(verdict)) + ": " + (counts.empty() ? "" : counts + ", ") +
                     std::to_string(report.findings.size()) + " checks";
  if (const Finding* first = first_finding(report); first != nullptr) {
    text += ": " + first->id + " " + first->subject + ": " + first->observed +
            (first->expected.empty() ? "" : ", expected " + first->expected);
    size_t others = 0;
    for (const Status bad : {Status::critical, Status::warning, Status::unknown}) others += count_findings(report, bad);
    if (others > 1) text += "; " + std::to_string(others - 1) + " more";
  }
  if (!remark.empty()) text += " (" + remark + ")";
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '|', '/');  // a monitoring plugin's performance data begins there
  return text + "\n";
}

std::string next_text(const Report& report, const std::string& options) {
  const Finding* first = first_finding(report);
  if (first == nullptr) return {};
  const Check* check = find_check(first->id);
  const std::string_view group = check == nullptr ? std::string_view() : check->group;
  const bool of_port = first->subject.find('/') != std::string::npos;
  std::string command = "explain " + first->id;
  if (check == nullptr) command = "topo" + options;
  else if (group == "settings" && first->status != Status::unknown) command = "plan" + options;
  else if ((group == "link" || group == "network" || group == "counters") && of_port)
    command = "diagnose " + first->subject + options;
  return "\nNext: fabric-agentctl " + command + "\n";
}

Json unseen_json(const Node& node) {
  Json list = Json::array();
  for (const std::string& line : unseen_lines(node)) list.push_back(line);
  return list;
}

std::string unseen_text(const Node& node, const Output& output) {
  std::string text;
  for (const std::string& line : unseen_lines(node)) text += "  " + line + "\n";
  return text.empty() ? text : folded("\nCould not be read:\n" + text, output.width);
}

}  // namespace fabric::ctl
