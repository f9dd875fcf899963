// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/pattern.h"

#include <algorithm>
#include <utility>

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
    const bool ends_word = part.ends_with('$');
    if (ends_word) part.remove_suffix(1);
    size_t at = line.find(part, from);
    const bool ends_in_number = !part.empty() && is_digit(part.back());
    const auto is_inside_word = [&] {
      const char after = at + part.size() < line.size() ? line[at + part.size()] : ' ';
      return (begins_word && at > 0 && is_word_letter(line[at - 1])) || (ends_in_number && is_word_letter(after)) ||
             (ends_word && is_word_letter(after) && after != '_');
    };
    while (at != std::string_view::npos && is_inside_word()) at = line.find(part, at + 1);
    if (at == std::string_view::npos) return false;
    from = at + part.size();
  }
  return true;
}

uint16_t hash_of(std::string_view group) {
  const auto value = [&](size_t at) { return static_cast<uint32_t>(static_cast<unsigned char>(group[at])); };
  const uint32_t number = value(0) | value(1) << 8U | value(2) << 16U;
  return static_cast<uint16_t>((number * 2654435761U) >> 19U);  // Knuth's multiplicative hash; 13 bits
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

LetterGroups::LetterGroups(std::string_view line) {
  for (size_t at = 0; at + 3 <= line.size(); ++at) {
    const uint16_t group = hash_of(line.substr(at, 3));
    if (has_[group]) continue;
    has_[group] = true;
    list_.push_back(group);
  }
}

PatternList::PatternList(std::string_view patterns) {
  constexpr size_t kMaxGroups = 4;
  while (!patterns.empty()) {
    Pattern out{cut(patterns, '|'), {}};
    std::string_view longest;
    for (std::string_view rest = out.text; !rest.empty();) {
      std::string_view part = cut(rest, '*');
      if (part.starts_with('^')) part.remove_prefix(1);
      if (part.ends_with('$')) part.remove_suffix(1);
      if (part.size() > longest.size()) longest = part;
    }
    // Spread over the part, its end included.
    const size_t count = longest.size() < 3 ? 0 : longest.size() - 2;
    for (size_t index = 0; index < std::min(count, kMaxGroups); ++index) {
      const size_t at = count <= kMaxGroups ? index : index * (count - 1) / (kMaxGroups - 1);
      out.groups.push_back(hash_of(longest.substr(at, 3)));
    }
    patterns_.push_back(std::move(out));
  }
}

bool PatternList::is_in(std::string_view line, const LetterGroups& groups) const {
  for (const Pattern& pattern : patterns_) {
    bool may_match = true;
    for (const uint16_t group : pattern.groups)
      if (!groups.has(group)) {
        may_match = false;
        break;
      }
    if (may_match && has_parts(line, pattern.text)) return true;
  }
  return false;
}

}  // namespace fabric::lines
