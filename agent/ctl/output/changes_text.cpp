// SPDX-License-Identifier: Apache-2.0
// plan and apply as a diff: "- pfc none", "+ pfc 3", grouped by port.
#include <algorithm>

#include "base/json.h"
#include "base/parse.h"
#include "ctl/output/report_text.h"

namespace fabric::ctl {
namespace {

std::string line(const char* mark, const char* color, const std::string& text, const Output& output) {
  const std::string out = std::string("  ") + mark + " " + wrapped(text, output.width, 6) + "\n";
  return output.color && *color != '\0'
             ? std::string("\033[") + color + "m" + out.substr(0, out.size() - 1) + "\033[0m\n"
             : out;
}

// What the outcome means for the operator, if the diff does not show it.
std::string note_text(const Change& change) {
  const std::string outcome(to_text(change.outcome)),
      code = change.code == 0 ? "" : " (" + errno_name(change.code) + ")";
  if (change.outcome != Outcome::differs) return outcome + code + (change.detail.empty() ? "" : ": " + change.detail);
  return change.detail;
}

std::string change_text(const Change& change, const Output& output) {
  if (change.outcome == Outcome::in_sync) return line(" ", "", change.key() + " " + change.to, output);
  const bool written = is_write(change) || was_written(change);
  std::string text;
  if (written) {
    text += line("-", "31", change.key() + " " + change.from, output);
    text += line("+", "32", change.key() + " " + change.to, output);
  }
  std::string note = note_text(change);
  if (is_write(change) && change.disruptive)
    note = "disruptive: stops traffic for a moment" + (note.empty() ? "" : "; " + note);
  if (!written) note = change.key() + ": have " + change.from + ", want " + change.to + ": " + note;
  return note.empty() ? text : text + line("!", "33", note, output);
}

}  // namespace

// Unverified from "-": a write makes it known.
bool is_write(const Change& change) {
  return change.outcome == Outcome::differs || change.outcome == Outcome::pending ||
         (change.outcome == Outcome::unverified && change.from == "-");
}

std::string changes_text(const Changes& changes, bool all, const Output& output) {
  struct Group {
    std::vector<std::string> ports;
    std::string text;
  };
  std::vector<Group> groups;
  for (const Change& change : changes) {
    if (change.outcome == Outcome::in_sync && !all) continue;
    if (groups.empty() || groups.back().ports.front() != change.port) groups.push_back({{change.port}, {}});
    groups.back().text += change_text(change, output);
  }
  std::vector<Group> merged;
  for (Group& group : groups) {
    const auto same = std::ranges::find_if(merged, [&](const Group& other) { return other.text == group.text; });
    if (same == merged.end()) merged.push_back(std::move(group));
    else same->ports.push_back(group.ports.front());
  }
  return joined(merged, "\n", [&](const Group& group) {
    return wrapped(names_text(group.ports), output.width, 2) + "\n" + group.text;
  });
}

Json changes_json(const Changes& changes) {
  Json list = Json::array();
  for (const Change& change : changes) {
    Json entry = Json::object({{"port", change.port},
                               {"setting", change.key()},
                               {"outcome", to_text(change.outcome)},
                               {"from", change.from},
                               {"to", change.to},
                               {"disruptive", change.disruptive},
                               {"errno", change.code == 0 ? Json() : Json(change.code)},
                               {"detail", change.detail}});
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace fabric::ctl
