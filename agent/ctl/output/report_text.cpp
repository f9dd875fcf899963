// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/report_text.h"

#include "judge/engine.h"

namespace fabric::ctl {
namespace {

// "pfc, ets", or "settings (55 checks)" of many of one group.
std::string checks_text(const std::vector<std::string>& ids) {
  const auto group_of = [](const std::string& id) {
    const Rule* check = find_rule(id);
    return check == nullptr ? std::string_view() : check->group;
  };
  const std::string_view group = group_of(ids.front());
  const bool one_group = !group.empty() && std::ranges::count(ids, group, group_of) == std::ssize(ids);
  return one_group && ids.size() > 5 ? std::string(group) + " (" + std::to_string(ids.size()) + " checks)"
                                     : joined(ids);
}

// "CRITICAL  loss  mlx5_0..7", the subjects below the check if the line is too short.
std::string heading(const FindingGroup& block, const Output& output) {
  const std::string status = upper(to_text(block.finding->status)), ids = checks_text(block.ids),
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
  if (finding.culprit)
    line("Culprit: ", std::string(to_text(*finding.culprit)) +
                          (finding.certainty ? " (" + std::string(to_text(*finding.certainty)) + ")" : ""));
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

const Finding* same_finding(const Report& report, const Finding& wanted) {
  return find_where(report.findings, [&](const Finding& finding) {
    return finding.id == wanted.id && finding.subject == wanted.subject;
  });
}

bool is_bad(const Finding* finding) { return finding != nullptr && finding->status != Status::ok; }

// plan and apply as a diff: "- pfc none", "+ pfc 3", grouped by port.
std::string line(const char* mark, const char* color, const std::string& text, const Output& output) {
  const std::string out = std::string("  ") + mark + " " + wrapped(text, output.width, 6) + "\n";
  return output.color && *color != '\0'
             ? std::string("\033[") + color + "m" + out.substr(0, out.size() - 1) + "\033[0m\n"
             : out;
}

std::string change_text(const Change& change, const Output& output) {
  if (change.outcome == Outcome::in_sync) return line(" ", "", change.key() + " " + change.to, output);
  const bool written = is_write(change) || was_written(change);
  std::string text;
  if (written) {
    text += line("-", "31", change.key() + " " + change.from, output);
    text += line("+", "32", change.key() + " " + change.to, output);
  }
  std::string note = change.detail;  // what the outcome means for the operator, if the diff does not show it
  if (change.outcome != Outcome::differs)
    note = std::string(to_text(change.outcome)) + (change.code == 0 ? "" : " (" + errno_name(change.code) + ")") +
           (note.empty() ? "" : ": " + note);
  if (is_write(change) && change.disruptive)
    note = "disruptive: stops traffic for a moment" + (note.empty() ? "" : "; " + note);
  if (!written) note = change.key() + ": have " + change.from + ", want " + change.to + ": " + note;
  return note.empty() ? text : text + line("!", "33", note, output);
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
  const Rule* check = find_rule(first->id);
  const std::string_view group = check == nullptr ? std::string_view() : check->group;
  const bool of_port = first->subject.find('/') != std::string::npos;
  std::string command = "explain " + first->id;
  if (check == nullptr) command = "topo" + options;
  else if (group == "settings" && first->status != Status::unknown) command = "plan" + options;
  else if ((group == "link" || group == "network" || group == "counters" || group == "diagnosis") && of_port)
    command = "diagnose " + first->subject + options;
  return "\nNext: fabric-agentctl " + command + "\n";
}

std::string unseen_text(const Node& node, const Output& output) {
  std::string text;
  for (const std::string& line : unseen_lines(node)) text += "  " + line + "\n";
  return text.empty() ? text : folded("\nCould not be read:\n" + text, output.width);
}

std::vector<ReportChange> changes_of(const Report& before, const Report& now) {
  std::vector<ReportChange> out;
  for (const Finding& finding : now.findings) {
    if (finding.status == Status::ok) continue;
    const Finding* had = same_finding(before, finding);
    if (!is_bad(had)) out.push_back({"raised", finding});
    else if (had->status != finding.status)
      out.push_back({rank(finding.status) < rank(had->status) ? "worse" : "better", finding});
    else if (finding.acknowledged != had->acknowledged)
      out.push_back({finding.acknowledged ? "acknowledged" : "unacknowledged", finding});
  }
  for (const Finding& had : before.findings)
    if (had.status != Status::ok && !is_bad(same_finding(now, had))) out.push_back({"cleared", had});
  return out;
}

std::string change_text(const ReportChange& change, int64_t wall) {
  const Finding& finding = change.finding;
  std::string text = time_text(wall) + " " + std::string(change.what) + " " + std::string(to_text(finding.status)) +
                     " " + finding.id + " " + finding.subject;
  if (change.what != "cleared") text += ": " + finding.observed;
  return text + (finding.acknowledged ? " (acknowledged " + finding.acknowledgement + ")\n" : "\n");
}

std::string change_json(const ReportChange& change, int64_t wall) {
  const bool cleared = change.what == "cleared";
  const Json acknowledged = change.finding.acknowledged ? Json(change.finding.acknowledgement) : Json();
  return json_line({{"time", time_text(wall)},
                    {"change", change.what},
                    {"id", change.finding.id},
                    {"subject", change.finding.subject},
                    {"status", to_text(cleared ? Status::ok : change.finding.status)},
                    {"observed", change.finding.observed},
                    {"acknowledged", acknowledged}});
}

// Unverified from "-": a write makes it known.
bool is_write(const Change& change) {
  return change.outcome == Outcome::differs || change.outcome == Outcome::pending ||
         (change.outcome == Outcome::unverified && change.from == "-");
}

std::string blocks_text(const std::vector<PortText>& ports, const Output& output) {
  std::vector<std::pair<const PortText*, std::vector<std::string>>> blocks;
  for (const PortText& each : ports) {
    auto* same = find_where(blocks, [&](const auto& block) {
      return block.first->remark == each.remark && block.first->text == each.text;
    });
    if (same == nullptr) blocks.push_back({&each, {each.port}});
    else same->second.push_back(each.port);
  }
  return joined(blocks, "\n", [&](const auto& block) {
    return wrapped(names_text(block.second) + block.first->remark, output.width, 2) + "\n" + block.first->text;
  });
}

std::string changes_text(const Changes& changes, bool all, const Output& output) {
  std::vector<PortText> ports;
  for (const Change& change : changes) {
    if (change.outcome == Outcome::in_sync && !all) continue;
    if (ports.empty() || ports.back().port != change.port) ports.push_back({change.port, {}, {}});
    ports.back().text += change_text(change, output);
  }
  return blocks_text(ports, output);
}

Json changes_json(const Changes& changes) {
  Json list = Json::array();
  for (const Change& change : changes)
    list.push_back({{"port", change.port},
                    {"setting", change.key()},
                    {"outcome", to_text(change.outcome)},
                    {"from", change.from},
                    {"to", change.to},
                    {"disruptive", change.disruptive},
                    {"errno", change.code == 0 ? Json() : Json(errno_name(change.code))},
                    {"detail", change.detail}});
  return list;
}

}  // namespace fabric::ctl
