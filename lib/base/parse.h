// SPDX-License-Identifier: Apache-2.0
// Text to numbers and words, the whole text or nothing; lists to text.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fabric {

// ASCII letters alone.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Without leading and trailing white space.
std::string_view trim(std::string_view text);

// Empty parts are kept.
std::vector<std::string_view> split(std::string_view text, char separator);

std::vector<std::string_view> words(std::string_view text);

// The number that is the whole of `text` after trimming, or nothing ("12x", "", "-1" for unsigned, overflow).
template <std::integral T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
  text = trim(text);
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  T value{};
  const char* end = text.data() + text.size();
  auto [stop, failure] = std::from_chars(text.data(), end, value, base);
  if (failure != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text);

// Two hexadecimal digits for each byte: "00:1c:73".
std::string hex_digits(std::string_view bytes, std::string_view separator = {});

// Shell-style pattern match (*, ?, [..]) as fnmatch(3) does it.
bool glob_match(const std::string& pattern, const std::string& text);
bool matches_any(std::span<const std::string> globs, std::string_view text);

inline std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// Length of the well-formed UTF-8 sequence at `at` (RFC 3629), 0 if there is none.
size_t utf8_length(std::string_view text, size_t at);

// Length of the character at `at` if a terminal, a journal and a label can show it as it is. 0: a control character,
// one that has no width or changes the direction of writing (Unicode's Cf, Zl, Zp), or not UTF-8.
size_t shown_length(std::string_view text, size_t at);

enum class Breaks : uint8_t { replace, keep };
// Text of others, before anything is composed of it: "?" for each character that cannot be shown. Line breaks and tabs
// become blanks, unless they are kept.
std::string clean_text(std::string_view text, Breaks breaks = Breaks::replace);

// Natural order: "mlx5_2" before "mlx5_10", "eth9" before "eth10".
bool natural_less(std::string_view a, std::string_view b);

// Any text as content or double-quoted attribute of XML or HTML: by clean_text(), with line breaks kept.
std::string escape_xml(std::string_view text);

// Insertions, deletions, substitutions and swaps of neighbors that make one of the other (Damerau-Levenshtein, optimal
// string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

// The first `length` characters, with "…" if there are more.
std::string shortened(const std::string& text, size_t length);

// FNV-1a, 64 bits: a mark of change, no protection.
uint64_t fnv1a(std::string_view text);

// Seconds since 1970 as "2026-11-21T14:30:00Z" (RFC 3339).
std::string time_text(int64_t wall);

// "a", then "a, b".
inline void append_item(std::string& list, std::string_view item, std::string_view separator = ", ") {
  list.append(list.empty() ? "" : separator).append(item);
}

// Every element of the list, or what `text` makes of it.
template <class List, class Text>
std::string joined(const List& list, std::string_view separator, Text&& text) {
  std::string out;
  for (bool first = true; const auto& element : list) {
    out.append(first ? "" : separator).append(text(element));
    first = false;
  }
  return out;
}
template <class List>
std::string joined(const List& list, std::string_view separator = ", ") {
  return joined(list, separator, [](std::string_view element) { return element; });
}

// A word in brackets is the chosen one: "none [integrity] confidentiality"; the whole line without brackets.
std::string chosen_word(std::string_view line);

}  // namespace fabric
