// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/pattern.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric::lines {
namespace {

// Whether the parts of the pattern follow each other in the line.
bool has_parts(std::string_view line, std::string_view pattern) {
  size_t from = 0;  // after the parts found so far
  while (!pattern.empty()) {
    std::string_view part = cut(pattern, '*');
    const bool begins_word = part.starts_with('^');
    if (begins_word) part.remove_prefix(1);
    size_t at = line.find(part, from);
    const bool ends_in_number = !part.empty() && is_digit(part.back());
    const auto is_inside_word = [&] {
      return (begins_word && at > 0 && is_word_letter(line[at - 1])) ||
             (ends_in_number && at + part.size() < line.size() && is_word_letter(line[at + part.size()]));
    };
    while (at != std::string_view::npos && is_inside_word()) at = line.find(part, at + 1);
    if (at == std::string_view::npos) return false;
    from = at + part.size();
  }
  return true;
}

}  // namespace

bool is_word_letter(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

std::string_view cut(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

bool has_any(std::string_view line, std::string_view patterns) {
  while (!patterns.empty())
    if (has_parts(line, cut(patterns, '|'))) return true;
  return false;
}

}  // namespace fabric::lines
