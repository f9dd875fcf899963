// SPDX-License-Identifier: Apache-2.0
#include "node/lldpad.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/parse.h"

namespace fabric::host {
namespace {

constexpr const char* kFile = "var/lib/lldpad/lldpad.conf";  // DEFAULT_CFG_FILE
constexpr size_t kMostGroups = 16;
constexpr std::string_view kSpace = " \t\r\n\f\v", kEndsWord = " \t\r\n\f\v={}[]():;,\"#/";

}  // namespace

// getopt() of lldpad.c: "hdksptvf:RV:". Options may share one word: "-tf FILE".
bool names_another_file(std::string_view command_line) {
  for (const std::string_view word : split(command_line, '\0')) {
    if (!word.starts_with('-')) continue;
    const size_t valued = word.find_first_of("fV");
    if (valued != std::string_view::npos && word[valued] == 'f') return true;
  }
  return false;
}

std::optional<std::map<std::string, int>> parse_lldpad(std::string_view text) {
  std::map<std::string, int> out;
  std::vector<std::string> groups;  // the names of the open groups, arrays and lists
  std::string name;                 // of the setting whose value follows
  bool has_equals = false;
  size_t at = 0;
  const auto end_setting = [&] {
    name.clear();
    has_equals = false;
  };
  while (at < text.size()) {
    const char next = text[at];
    const std::string_view rest = text.substr(at);
    if (kSpace.find(next) != std::string_view::npos) {
      ++at;
    } else if (next == '#' || rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.starts_with("/*")) {
      const size_t end = text.find("*/", at + 2);
      if (end == std::string_view::npos) return std::nullopt;
      at = end + 2;
    } else if (next == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
      if (at >= text.size()) return std::nullopt;
      ++at;
      end_setting();
    } else if (next == '{' || next == '[' || next == '(') {
      if (groups.size() == kMostGroups) return std::nullopt;
      groups.push_back(std::exchange(name, {}));
      has_equals = false;
      ++at;
    } else if (next == '}' || next == ']' || next == ')') {
      if (groups.empty()) return std::nullopt;
      groups.pop_back();
      end_setting();
      ++at;
    } else if (next == '=' || next == ':') {
      has_equals = true;
      ++at;
    } else if (next == ';' || next == ',') {
      end_setting();
      ++at;
    } else {
      const std::string_view word = rest.substr(0, rest.find_first_of(kEndsWord));
      if (word.empty()) return std::nullopt;  // "/" alone
      at += word.size();
      if (!has_equals) {
        name = word;
        continue;
      }
      if (groups.size() == 2 && groups[0] == "lldp" && name == "adminStatus")
        if (const auto status = parse_number<int>(word)) out[groups[1]] = *status;
      end_setting();
    }
  }
  if (!groups.empty()) return std::nullopt;
  return out;
}

std::map<std::string, int> read_lldpad(const Root& root, unsigned pid) {
  if (names_another_file(root.read("proc/" + std::to_string(pid) + "/cmdline").value_or(""))) return {};
  return parse_lldpad(root.text_of(kFile)).value_or(std::map<std::string, int>());
}

}  // namespace fabric::host
