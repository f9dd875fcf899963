// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/report_text.h"

#include <algorithm>
#include <cctype>

namespace fabric::ctl {
namespace {

// Findings that say the same of several subjects.
struct Block {
  const Finding* finding = nullptr;
  std::vector<std::string> ids, subjects;
};

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

bool say_the_same(const Finding& a, const Finding& b) {
  return a.status == b.status && a.observed == b.observed && a.expected == b.expected && a.meaning == b.meaning &&
         a.remedy == b.remedy && a.acknowledgement == b.acknowledgement && a.since == b.since;
}

// The subjects of one check, then the checks that have the very same subjects: each id goes with each subject.
std::vector<Block> fold(const Report& report) {
  std::vector<Block> checks, blocks;
  for (const Finding& finding : report.findings) {
    if (finding.status == Status::ok) continue;
    auto same = std::find_if(checks.begin(), checks.end(), [&](const Block& block) {
      return block.ids.front() == finding.id && say_the_same(*block.finding, finding);
    });
    if (same == checks.end()) same = checks.insert(checks.end(), Block{&finding, {finding.id}, {}});
    add_once(same->subjects, finding.subject);
  }
  for (Block& check : checks) {
    auto same = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
      return block.subjects == check.subjects && say_the_same(*block.finding, *check.finding);
    });
    if (same == blocks.end()) blocks.push_back(std::move(check));
    else add_once(same->ids, check.ids.front());
  }
  return blocks;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return out;
}

// "CRITICAL  loss  mlx5_0/1, mlx5_1/1": who, behind which check where there is room.
std::string heading(const Block& block, const Output& output) {
  const std::string status = upper(to_text(block.finding->status)), ids = joined(block.ids),
                    subjects = joined(block.subjects);
  const std::string coloured_status = coloured(output, block.finding->status, status) + "  ";
  const auto indent = static_cast<unsigned>(status.size() + 2), behind = static_cast<unsigned>(indent + ids.size() + 2);
  if (output.width == 0 || behind < output.width / 2)
    return coloured_status + ids + "  " + wrapped(subjects, output.width, behind);
  return coloured_status + wrapped(ids, output.width, indent) + "\n" + std::string(indent, ' ') +
         wrapped(subjects, output.width, indent);
}

std::string block_text(const Block& block, const Output& output, bool brief) {
  const Finding& finding = *block.finding;
  std::string text = "\n" + heading(block, output) + (finding.acknowledged ? "  (acknowledged)" : "") + "\n";
  const auto line = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += std::string("  ") + label + "  " + wrapped(value, output.width, 12) + "\n";
  };
  line("observed", finding.observed);
  line("since   ", finding.since);
  if (brief) return text;
  line("expected", finding.expected);
  line("meaning ", finding.meaning);
  line("remedy  ", finding.remedy);
  line("known   ", finding.acknowledgement);
  return text;
}

size_t count(const Report& report, Status status) {
  return static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
    return finding.status == status && !finding.acknowledged;
  }));
}

size_t count_acknowledged(const Report& report) {
  return static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                           [](const Finding& finding) { return finding.acknowledged; }));
}

}  // namespace

std::string report_text(const Report& report, const std::string& hostname, bool verbose, const Output& output,
                        bool brief) {
  const Status verdict = worst(report);
  std::string counts;
  for (Status status : {Status::critical, Status::warning, Status::unknown, Status::ok})
    if (const size_t number = count(report, status); number > 0)
      counts += (counts.empty() ? "" : ", ") + std::to_string(number) + " " + std::string(to_text(status));
  if (const size_t known = count_acknowledged(report); known > 0)
    counts += (counts.empty() ? "" : ", ") + std::to_string(known) + " acknowledged";
  const std::string headline =
      (hostname.empty() ? "" : hostname + ": ") + coloured(output, verdict, upper(to_text(verdict))) + ": " +
      std::to_string(report.findings.size()) + " checked" + (counts.empty() ? "" : ": " + counts);
  std::string text = wrapped(headline, output.width, 0) + "\n";
  for (const Block& block : fold(report)) text += block_text(block, output, brief);
  if (!verbose || count(report, Status::ok) == 0) return text;
  Table table({"CHECK", "SUBJECT", "OBSERVED"});
  for (const Finding& finding : report.findings)
    if (finding.status == Status::ok) table.add({finding.id, finding.subject, finding.observed});
  return text + "\n" + coloured(output, Status::ok, "OK") + "\n" + table.text(output);
}

namespace {

std::vector<std::string> unseen(const Node& node) {
  std::vector<std::string> lines = node.unseen;
  for (const Port& port : node.ports)
    for (const std::string& reason : port.unread) add_once(lines, port.id() + ": " + reason);
  return lines;
}

}  // namespace

Json unseen_json(const Node& node) {
  Json list = Json::array();
  for (const std::string& line : unseen(node)) list.push(line);
  return list;
}

std::string unseen_text(const Node& node) {
  std::string text;
  for (const std::string& line : unseen(node)) text += "  " + line + "\n";
  return text.empty() ? text : "\nCould not be read:\n" + text;
}

bool is_write(const Change& change) { return change.outcome == Outcome::differs || change.outcome == Outcome::pending; }

std::string changes_text(const Changes& changes, bool all, const Output& output) {
  Table table({"PORT", "SETTING", "FROM", "TO", "OUTCOME", "NOTE"});
  for (const Change& change : changes) {
    if (change.outcome == Outcome::in_sync && !all) continue;
    std::string note = change.detail;
    if (change.disruptive && note.empty() && is_write(change)) note = "stops traffic for a moment";
    table.add({change.port, change.key(), change.from, change.to, std::string(to_text(change.outcome)), note});
  }
  return table.empty() ? std::string() : table.text(output);
}

Json changes_json(const Changes& changes) {
  Json list = Json::array();
  for (const Change& change : changes) {
    Json entry = Json::object();
    entry.put("port", change.port)
        .put("setting", change.key())
        .put("outcome", to_text(change.outcome))
        .put("from", change.from)
        .put("to", change.to)
        .put("disruptive", change.disruptive)
        .put("errno", change.code == 0 ? Json() : Json(change.code))
        .put("detail", change.detail);
    list.push(std::move(entry));
  }
  return list;
}

}  // namespace fabric::ctl
