// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace fabric {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\v\f";

std::string_view digits_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(at, end - at);
}

std::string_view without_zeros(std::string_view digits) {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

struct CodeRange {
  uint32_t first, last;
};
// Unicode 15, general categories Cc, Cf, Zl and Zp, without historic scripts.
constexpr CodeRange kInvisible[] = {{0, 0x1f},        {0x7f, 0x9f},      {0xad, 0xad},     {0x600, 0x605},
                                    {0x61c, 0x61c},   {0x6dd, 0x6dd},    {0x70f, 0x70f},   {0x180e, 0x180e},
                                    {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f}, {0xfeff, 0xfeff},
                                    {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0;;) {
    size_t stop = text.find(separator, start);
    if (stop == std::string_view::npos) {
      parts.push_back(text.substr(start));
      return parts;
    }
    parts.push_back(text.substr(start, stop - start));
    start = stop + 1;
  }
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view each = list.substr(0, list.find('|'));
    if (each == word) return true;
    list.remove_prefix(std::min(each.size() + 1, list.size()));
  }
  return false;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  for (size_t start = 0; (start = text.find_first_not_of(kSpaces, start)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSpaces, start), text.size());
    found.push_back(text.substr(start, end - start));
    start = end;
  }
  return found;
}

std::optional<double> parse_double(std::string_view text) {
  text = trim(text);
  double value{};
  const char* end = text.data() + text.size();
  auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end || text.empty() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string hex_digits(std::string_view bytes, std::string_view separator) {
  return joined(bytes, separator, [](char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    return std::string{kDigits[value >> 4], kDigits[value & 15]};
  });
}

bool glob_match(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool matches_any(std::span<const std::string> globs, std::string_view text) {
  if (globs.empty()) return false;
  const std::string name(text);
  return std::ranges::any_of(globs, [&](const std::string& glob) { return glob_match(glob, name); });
}

size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  size_t length = 4;
  if (lead < 0xf0) length = 3;
  if (lead < 0xe0) length = 2;
  if (at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(at + 1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool beyond = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
  if (overlong || beyond) return 0;
  return length;
}

size_t shown_length(std::string_view text, size_t at) {
  const size_t length = utf8_length(text, at);
  if (length == 0) return 0;
  uint32_t code = static_cast<unsigned char>(text[at]);
  if (length > 1) code &= 0x7fU >> length;
  for (size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
  for (const CodeRange& range : kInvisible)
    if (code >= range.first && code <= range.last) return 0;
  return length;
}

std::string clean_text(std::string_view text, Breaks breaks) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    size_t shown = 1;
    if (c < ' ' || c > '~') shown = shown_length(text, at);
    if (shown > 0) {
      out += text.substr(at, shown);
      at += shown;
      continue;
    }
    if (kSpaces.find(c) == std::string_view::npos) out += '?';
    else if (breaks == Breaks::keep) out += c;
    else out += ' ';
    at += std::max<size_t>(1, utf8_length(text, at));
  }
  return out;
}

bool natural_less(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto digits_a = digits_at(a, i), digits_b = digits_at(b, j);
      const auto number_a = without_zeros(digits_a), number_b = without_zeros(digits_b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      i += digits_a.size();
      j += digits_b.size();
    } else if (a[i] != b[j]) {
      return std::string_view::traits_type::lt(a[i], b[j]);  // as bytes: char is unsigned on arm64
    } else {
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // a strict order also for "eth01" and "eth1"
}

std::optional<int64_t> parse_time(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (text.empty() || end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<int64_t>(::timegm(&parts));
}

std::string ago_text(const std::string& time, int64_t wall) {
  constexpr int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  const auto then = parse_time(time);
  if (!then || *then > wall) return time;
  const int64_t age = wall - *then;
  if (age < 2 * kMinute) return std::to_string(age) + " s ago";
  if (age < 2 * kHour) return std::to_string(age / kMinute) + " min ago";
  if (age < 2 * kDay) return std::to_string(age / kHour) + " h ago";
  return std::to_string(age / kDay) + " days ago";
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string counted(size_t count, std::string_view noun) {
  std::string out = std::to_string(count) + " " + std::string(noun);
  if (count != 1) out += "s";
  return out;
}

std::string amount_text(const std::string& number, std::string_view plural) {
  std::string noun(plural);
  size_t end = noun.find("s ");
  if (end == std::string::npos && noun.ends_with('s')) end = noun.size() - 1;
  if (number == "1" && end != std::string::npos) {
    const bool has_y = end > 2 && noun.compare(end - 2, 2, "ie") == 0;  // "retries"
    if (has_y) noun.replace(end - 2, 3, "y");
    else noun.erase(end, 1);
  }
  return number + " " + noun;
}

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text, Breaks::keep)) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string shortened(const std::string& text, size_t length) {
  size_t end = 0, count = 0;
  for (; end < text.size() && count < length; ++count) end += std::max<size_t>(1, utf8_length(text, end));
  if (end >= text.size()) return text;
  return text.substr(0, end) + "…";
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      size_t substitute = cost[i - 1][j - 1];
      if (a[i - 1] != b[j - 1]) ++substitute;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitute});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

std::string time_text(int64_t wall) {
  const std::time_t seconds = wall;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string chosen_word(std::string_view line) {
  const size_t open = line.find('[');
  if (open == std::string_view::npos) return std::string(trim(line));
  const size_t close = line.find(']', open);
  if (close == std::string_view::npos) return std::string(trim(line));
  return std::string(line.substr(open + 1, close - open - 1));
}

}  // namespace fabric
