// SPDX-License-Identifier: Apache-2.0
// Text to numbers and words, and lists to text.
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

// Convert ASCII letters only.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
constexpr bool is_hex(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}

// The text without leading and trailing white space.
std::string_view trim(std::string_view text);

// The parts between separators, also empty ones.
std::vector<std::string_view> split(std::string_view text, char separator);

// Whether the word is one of the list, which '|' separates.
bool has_word(std::string_view list, std::string_view word);

// The parts between white space.
std::vector<std::string_view> words(std::string_view text);

// The number in `text`. nullopt unless the whole text is one, except white space around it: not "12x", "", "-1" if
// unsigned, or a number that overflows.
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

// A finite number, by the same rules.
std::optional<double> parse_double(std::string_view text);

// Two hexadecimal digits for each byte: "00:1c:73".
std::string hex_digits(std::string_view bytes, std::string_view separator = {});

// Matches a shell pattern (*, ?, [..]) by fnmatch(3).
bool glob_match(const std::string& pattern, const std::string& text);
bool matches_any(std::span<const std::string> globs, std::string_view text);

inline std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// Length of the well-formed UTF-8 sequence at `at` (RFC 3629), 0 if there is none.
size_t utf8_length(std::string_view text, size_t at);

// Length of the character at `at` if terminals, the journal and labels can show it. 0: a control character, a character
// that has no width or changes the direction of writing (Unicode's Cf, Zl, Zp), or not UTF-8.
size_t shown_length(std::string_view text, size_t at);

enum class Breaks : uint8_t { replace, keep };
// Text from outside, made safe to show: "?" replaces each character that cannot be shown. A blank replaces a line break
// or tab, unless these are kept.
std::string clean_text(std::string_view text, Breaks breaks = Breaks::replace);

// Natural order: "mlx5_2" before "mlx5_10", "eth9" before "eth10".
bool natural_less(std::string_view a, std::string_view b);
// The order of names in maps.
struct NaturalLess {
  bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
};

// "1 part", "2 parts"
std::string counted(size_t count, std::string_view noun);
// Like the function above, of a plural and with the number as text: "1 link down", "2 link downs". Its first word with
// "s" at the end is the noun.
std::string amount_text(const std::string& number, std::string_view plural);

// Puts `to` in place of each `from`. A `from` that `to` contains is not replaced again.
void replace_all(std::string& text, std::string_view from, std::string_view to);

// Any text as content or double-quoted attribute of XML or HTML. Applies clean_text(), but keeps line breaks.
std::string escape_xml(std::string_view text);

// The number of insertions, deletions, substitutions and swaps of neighbors that turn one text into the other
// (Damerau-Levenshtein, optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

// The first `length` characters, with "…" if there are more.
std::string shortened(const std::string& text, size_t length);

// FNV-1a, 64 bits: detects changes, but does not protect against forgery.
uint64_t fnv1a(std::string_view text);

// Seconds since 1970 as "2026-11-21T14:30:00Z" (RFC 3339).
std::string time_text(int64_t wall);
// The inverse; nullopt: another form.
std::optional<int64_t> parse_time(const std::string& text);
// How long before `wall` the moment was, as systemctl(1) shows it: "40 s ago", "5 min ago", "3 h ago", "12 days ago".
// The text itself if it is in another form, or later than `wall`.
std::string ago_text(const std::string& time, int64_t wall);

// Appends the item, after a separator unless the list is empty: "a", then "a, b".
inline void append_item(std::string& list, std::string_view item, std::string_view separator = ", ") {
  if (!list.empty()) list.append(separator);
  list.append(item);
}

// The texts of all elements, by `text` if given.
template <class List, class Text>
std::string joined(const List& list, std::string_view separator, Text&& text) {
  std::string out;
  for (bool first = true; const auto& element : list) {
    if (!first) out.append(separator);
    out.append(text(element));
    first = false;
  }
  return out;
}
template <class List>
std::string joined(const List& list, std::string_view separator = ", ") {
  return joined(list, separator, [](std::string_view element) { return element; });
}

// The word in brackets, which the kernel uses to mark the chosen one: "none [integrity] confidentiality". The whole
// line if it has no brackets.
std::string chosen_word(std::string_view line);

}  // namespace fabric
