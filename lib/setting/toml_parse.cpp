// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/parse.h"
#include "setting/toml_value.h"

namespace fabric {

MaybeProblem parse_toml(std::string_view text, toml::table& out) {
  // toml++ reads, compares and destroys the parts of a dotted key by recursion: thousands of them exhaust the stack.
  constexpr ptrdiff_t kMostDots = 512;  // of a line; an inline table of 64 switches by their domain names has 200
  toml::source_index number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (std::ranges::count(line, '.') > kMostDots) return TomlProblem{{number, 1}, "more than 512 dots in one line"};
  }
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return TomlProblem{parsed.error().source().begin, clean_text(parsed.error().description())};
  out = std::move(parsed).table();
  return std::nullopt;
}

Error corrupt(const std::string& name, const toml::source_position& at, const std::string& what) {
  return error(EBADMSG, name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + what);
}

Result<toml::table> parse_state(std::string_view text, const std::string& name) {
  toml::table table;
  if (auto problem = parse_toml(text, table)) return corrupt(name, problem->at, problem->what);
  return table;
}

}  // namespace fabric
