// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/report_text.h"

#include <array>

#include "judge/rule.h"
#include "judge/unseen.h"

namespace fabric::ctl {
namespace {

// "pfc, ets", or "settings (55 checks)" for many checks of one group.
std::string checks_text(const std::vector<std::string>& ids) {
  if (ids.size() <= 5) return joined(ids);
  const Rule* first = find_rule(ids.front());
  if (first == nullptr) return joined(ids);
  for (const std::string& id : ids) {
    const Rule* check = find_rule(id);
    if (check == nullptr || check->group != first->group) return joined(ids);
  }
  return std::string(first->group) + " (" + std::to_string(ids.size()) + " checks)";
}

const Finding* first_finding(const Report& report) {
  return find_where(report.findings,
                    [](const Finding& finding) { return finding.status != Status::ok && !is_silenced(finding); });
}

const Finding* same_finding(const Report& report, const Finding& wanted) {
  return find_where(report.findings, [&](const Finding& finding) {
    return finding.id == wanted.id && finding.subject == wanted.subject;
  });
}

bool is_bad(const Finding* finding) { return finding != nullptr && finding->status != Status::ok; }

// `color`: an SGR parameter of ECMA-48; empty: no color.
std::string diff_line(const char* mark, const std::string& color, const std::string& text, const Output& output) {
  const std::string line = std::string("  ") + mark + " " + wrapped(text, output.width, 6);
  if (!output.color || color.empty()) return line + "\n";
  return "\033[" + color + "m" + line + "\033[0m\n";
}

// "- pfc none", "+ pfc 3", and a note if the diff does not show what the outcome means for the operator.
std::string diff_text(const Change& change, const Output& output) {
  if (change.outcome == Outcome::in_sync) return diff_line(" ", "", change.key() + " " + change.to, output);
  std::string note = change.detail;
  if (change.outcome != Outcome::differs) {
    note = to_text(change.outcome);
    if (change.code != 0) note += " (" + errno_name(change.code) + ")";
    if (!change.detail.empty()) note += ": " + change.detail;
  }
  if (is_write(change) && change.disruptive) {
    if (!note.empty()) note.insert(0, "; ");
    note.insert(0, "disruptive: stops traffic for a moment");
  }
  if (!is_write(change) && !was_written(change))
    return diff_line("!", "33", change.key() + ": have " + change.from + ", want " + change.to + ": " + note, output);
  std::string text = diff_line("-", "31", change.key() + " " + change.from, output) +
                     diff_line("+", "32", change.key() + " " + change.to, output);
  if (!note.empty()) text += diff_line("!", "33", note, output);
  return text;
}

}  // namespace

std::string findings_text(const Report& report, const Output& output, bool brief) {
  std::string text;
  for (const FindingGroup& block : group_findings(report)) {
    const Finding& finding = *block.finding;
    // "CRITICAL  loss  mlx5_0..7", with the subjects below the check if the line is too short.
    const std::string status = upper(status_words(finding));
    const std::string ids = checks_text(block.ids), subjects = names_text(block.subjects);
    const auto ids_column = static_cast<unsigned>(status.size() + 2),
               subjects_column = static_cast<unsigned>(ids_column + ids.size() + 2);
    text += "\n" + colored(output, finding.status, status) + "  ";
    if (output.width == 0 || subjects_column < output.width / 2) {
      text += ids + "  " + wrapped(subjects, output.width, subjects_column);
    } else {
      text += wrapped(ids, output.width, ids_column) + "\n" + std::string(ids_column, ' ') +
              wrapped(subjects, output.width, ids_column);
    }
    if (finding.acknowledged) text += "  (acknowledged)";
    if (finding.suppressed) text += "  (suppressed)";
    text += "\n";
    if (!brief && !finding.meaning.empty()) text += "  " + wrapped(finding.meaning, output.width, 2) + "\n";

    std::string culprit;
    if (finding.culprit) culprit = to_text(*finding.culprit);
    if (finding.culprit && finding.certainty) culprit += " (" + std::string(to_text(*finding.certainty)) + ")";
    std::vector<std::pair<std::string, std::string>> lines{{"Culprit: ", culprit}};
    for (const std::string& observed : block.observed) lines.emplace_back("Found:   ", observed);
    if (block.observed.empty()) {
      lines.emplace_back("Found:   ", finding.observed);
      lines.emplace_back("Since:   ", finding.since);
    }
    if (!brief) {
      lines.emplace_back("Expected:", block.expected);
      lines.emplace_back("Known:   ", finding.acknowledgement);
      lines.emplace_back("Reason:  ", finding.suppression);
      if (finding.next.empty()) lines.emplace_back("Fix:     ", finding.remedy);
      for (const std::string& step : finding.next) lines.emplace_back("Fix:     ", step);
      lines.emplace_back("Also for:", also_for(block.likewise));
    }
    std::string previous;  // a label of several lines precedes the first
    for (const auto& [label, value] : lines) {
      if (value.empty()) continue;
      text += "  " + (label == previous ? std::string(label.size(), ' ') : label) + "  " +
              wrapped(value, output.width, 13) + "\n";
      previous = label;
    }
  }
  return text;
}

// "RDMA is observable in part (mlx5_0/1: of 300 GB RDMA received, at most 10 % ...; 2 more ports); otherwise "; empty:
// no port's is known to be.
static std::string observable_text(const Report& report) {
  std::string text;
  size_t count = 0;
  for (const Finding& finding : report.findings)
    if (finding.id == kUnseenTrafficId && limits_verdict(finding) && ++count == 1)
      text = finding.subject + ": " + finding.observed;
  if (count == 0) return {};
  if (count > 1) text += "; " + counted(count - 1, "more port");
  return "RDMA is observable in part (" + text + "); otherwise ";
}

std::string headline_text(const Report& report, const std::string& hostname, const Output& output) {
  const Status verdict = worst(report);
  const std::string counts = counts_text(report, true);
  std::string headline;
  if (!hostname.empty()) headline = hostname + ": ";
  if (verdict == Status::ok) headline += observable_text(report);  // before the word OK, which does not cover it
  headline +=
      colored(output, verdict, upper(to_text(verdict))) + ": " + std::to_string(report.findings.size()) + " checked";
  if (!counts.empty()) headline += ": " + counts;
  return wrapped(headline, output.width, 2) + "\n";
}

std::string report_text(const Report& report, const std::string& hostname, bool verbose, const Output& output,
                        bool brief) {
  std::string text = headline_text(report, hostname, output) + findings_text(report, output, brief);
  if (!verbose) return text;
  Table unverified({"CHECK", "SUBJECT", "FOUND"}), ok({"CHECK", "SUBJECT", "FOUND"});
  for (const Finding& finding : report.findings) {
    if (is_listed(finding)) continue;
    Table& table = is_unverified(finding) ? unverified : ok;
    table.add({finding.id, finding.subject, finding.observed});
  }
  if (!unverified.empty()) text += "\nUNVERIFIED\n" + unverified.text(output);
  if (!ok.empty()) text += "\n" + colored(output, Status::ok, "OK") + "\n" + ok.text(output);
  return text;
}

std::string brief_text(const Report& report, Status verdict, const std::string& remark) {
  const std::string counts = counts_text(report, false);
  std::string text = "fabric " + upper(to_text(verdict)) + ": ";
  if (!counts.empty()) text += counts + ", ";
  text += counted(report.findings.size(), "check");
  if (const Finding* first = first_finding(report); first != nullptr) {
    text += ": " + first->id + " " + first->subject + ": " + first->observed;
    if (!first->expected.empty()) text += ", expected " + first->expected;
    size_t count = 0;
    for (const Status bad : {Status::critical, Status::warning, Status::unknown}) count += count_findings(report, bad);
    if (count > 1) text += "; " + std::to_string(count - 1) + " more";
  }
  size_t unjudged = 0;
  for (const Finding& finding : report.findings)
    if (limits_verdict(finding) && ++unjudged == 1)
      text += "; not judged: " + finding.subject + ": " + finding.observed;
  if (unjudged > 1) text += "; " + std::to_string(unjudged - 1) + " more not judged";
  if (!remark.empty()) text += " (" + remark + ")";
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '|', '/');  // in a monitoring plugin's output, | begins the performance data
  return text + "\n";
}

std::string next_text(const Report& report, const Node& node, bool can_plan, const std::string& options) {
  const Finding* first = first_finding(report);
  if (first == nullptr) first = find_where(report.findings, is_audited);
  if (first == nullptr) return {};
  // A port that is gone cannot be diagnosed, nor can a device without ports.
  const bool is_of_port = contains(node.ports, first->subject, &Port::id);
  std::string command = "explain " + first->id;
  const Rule* check = find_rule(first->id);
  if (check == nullptr) command = "topo" + options;
  else if (check->group == group::settings && first->status != Status::unknown && can_plan) command = "plan" + options;
  else if (is_of_port &&
           contains(std::array{group::link, group::network, group::counters, group::diagnosis}, check->group))
    command = "diagnose " + first->subject + options;
  return "\nNext: fabric-agentctl " + command + "\n";
}

std::string unseen_text(const Node& node, const Output& output) {
  std::string text;
  for (const auto& [reason, subjects] : merged_unseen(node)) {
    text += "  ";
    if (!subjects.empty()) text += names_text(subjects) + ": ";
    text += reason + "\n";
  }
  if (text.empty()) return {};
  return folded("\nCould not be read:\n" + text, output.width);
}

std::vector<ReportChange> changes_of(const Report& before, const Report& now) {
  using Kind = ReportChange::Kind;
  std::vector<ReportChange> out;
  for (const Finding& finding : now.findings) {
    if (finding.status == Status::ok) continue;
    const Finding* previous = same_finding(before, finding);
    if (!is_bad(previous) || (previous->suppressed && !finding.suppressed)) out.push_back({Kind::raised, finding});
    else if (rank(finding.status) < rank(previous->status)) out.push_back({Kind::worse, finding});
    else if (rank(finding.status) > rank(previous->status)) out.push_back({Kind::better, finding});
    else if (finding.acknowledged && !previous->acknowledged) out.push_back({Kind::acknowledged, finding});
    else if (!finding.acknowledged && previous->acknowledged) out.push_back({Kind::unacknowledged, finding});
  }
  for (const Finding& previous : before.findings)
    if (previous.status != Status::ok && !is_bad(same_finding(now, previous))) out.push_back({Kind::cleared, previous});
  return out;
}

std::string change_text(const ReportChange& change, int64_t wall) {
  const Finding& finding = change.finding;
  std::string text = time_text(wall) + " " + std::string(to_text(change.kind)) + " " +
                     std::string(to_text(finding.status)) + " " + finding.id + " " + finding.subject;
  if (change.kind != ReportChange::Kind::cleared) text += ": " + finding.observed;
  if (finding.acknowledged) text += " (acknowledged " + finding.acknowledgement + ")";
  if (finding.suppressed) text += " (suppressed " + finding.suppression + ")";
  return text + "\n";
}

std::string change_json(const ReportChange& change, int64_t wall) {
  Status status = change.finding.status;
  if (change.kind == ReportChange::Kind::cleared) status = Status::ok;
  Json acknowledged;
  if (change.finding.acknowledged) acknowledged = change.finding.acknowledgement;
  Json line = Json::object({{"time", time_text(wall)},
                            {"change", to_text(change.kind)},
                            {"id", change.finding.id},
                            {"subject", change.finding.subject},
                            {"status", to_text(status)},
                            {"observed", change.finding.observed},
                            {"acknowledged", acknowledged}});
  if (change.finding.suppressed) line["suppressed"] = change.finding.suppression;
  return json_line(line);
}

bool is_write(const Change& change) {
  // An unknown value ("-") is written so that it becomes known.
  return change.outcome == Outcome::differs || change.outcome == Outcome::pending ||
         (change.outcome == Outcome::unverified && !was_read(change));
}

std::string blocks_text(const std::vector<PortText>& ports, const Output& output) {
  std::vector<std::pair<const PortText*, std::vector<std::string>>> blocks;
  for (const PortText& port : ports) {
    auto* same = find_where(blocks, [&](const auto& block) {
      return block.first->remark == port.remark && block.first->text == port.text;
    });
    if (same == nullptr) blocks.push_back({&port, {port.port}});
    else same->second.push_back(port.port);
  }
  std::string text;
  for (const auto& [first, names] : blocks)
    append_item(text, wrapped(names_text(names) + first->remark, output.width, 2) + "\n" + first->text, "\n");
  return text;
}

std::string changes_text(const Changes& changes, const std::vector<Port>& ports, bool all, const Output& output) {
  // A detail may name its port. Ports whose changes differ only in that share a block, which has the words of the first
  // one and the netdevs of the others.
  struct PortChanges {
    std::string port, netdev, text, without_names;
  };
  std::vector<PortChanges> by_port;
  for (const Change& change : changes) {
    if (change.outcome == Outcome::in_sync && !all) continue;
    if (by_port.empty() || by_port.back().port != change.port)
      by_port.emplace_back(PortChanges{change.port, {}, {}, {}});
    PortChanges& block = by_port.back();
    block.text += diff_text(change, output);
    Change plain = change;
    if (const Port* port = find_port(ports, change.port)) {
      block.netdev = port->netdev;
      plain.detail = masked(change.detail, {port->netdev, port->pci, port->id(), port->rdma});
    }
    block.without_names += diff_text(plain, {});
  }
  std::vector<PortText> texts;
  for (const PortChanges& block : by_port) {
    const auto first = std::ranges::find(by_port, block.without_names, &PortChanges::without_names);
    std::string text = first->text, others;
    bool has_names = false;
    for (auto each = std::next(first); each != by_port.end(); ++each) {
      if (each->without_names != block.without_names) continue;
      append_item(others, each->netdev);
      has_names = has_names || each->text != first->text;
    }
    if (has_names) text += "  Also for: " + wrapped(others, output.width, 12) + "\n";
    texts.push_back({block.port, {}, std::move(text)});
  }
  return blocks_text(texts, output);
}

Json changes_json(const Changes& changes) {
  Json list = Json::array();
  for (const Change& change : changes) {
    Json code;
    if (change.code != 0) code = errno_name(change.code);
    Json& row = list.emplace_back(Json{{"port", change.port},
                                       {"setting", change.key()},
                                       {"outcome", to_text(change.outcome)},
                                       {"from", change.from},
                                       {"to", change.to},
                                       {"disruptive", change.disruptive},
                                       {"errno", std::move(code)},
                                       {"detail", change.detail}});
    if (change.waits_for) row["waits_for"] = key_text(*change.waits_for);
  }
  return list;
}

}  // namespace fabric::ctl
