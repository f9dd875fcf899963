// SPDX-License-Identifier: Apache-2.0
// The patterns of the tables of messages, components and conditions.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fabric::lines {

bool is_word_letter(char letter);  // a letter, a digit or '_'

// Removes the text before the next separator from `rest` and returns it. Does not allocate: a log has millions of
// lines.
std::string_view cut(std::string_view& rest, char separator);

// Whether one of the alternatives, which '|' separates, is in the line. '*' matches any text. A part that ends in a
// number matches whole numbers only: "12" is not found in "120". One that begins with '^' matches at the beginning of a
// word; one that ends with '$' matches if neither a letter nor a digit follows: "query_port$" is not found in
// "query_portmap".
bool has_any(std::string_view line, std::string_view patterns);

// The groups of three letters that a line has. A pattern with a group that the line lacks does not match it, so that
// few of the thousands of patterns are searched for in a line.
class LetterGroups {
 public:
  static constexpr size_t kKinds = 8192;  // groups with the same hash count as one

  LetterGroups() = default;
  explicit LetterGroups(std::string_view line);
  bool has(uint16_t group) const { return has_[group]; }
  const std::vector<uint16_t>& list() const { return list_; }

 private:
  std::bitset<kKinds> has_;
  std::vector<uint16_t> list_;  // each once
};

// Patterns as of has_any(), prepared for many lines. Does not copy the text.
class PatternList {
 public:
  struct Pattern {
    std::string_view text;
    std::vector<uint16_t> groups;  // of its longest part; empty if that is shorter
  };

  explicit PatternList(std::string_view patterns);
  // groups: of this line
  bool is_in(std::string_view line, const LetterGroups& groups) const;
  const std::vector<Pattern>& patterns() const { return patterns_; }

 private:
  std::vector<Pattern> patterns_;
};

}  // namespace fabric::lines
