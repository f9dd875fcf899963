// SPDX-License-Identifier: Apache-2.0
#include "node/host_unit_file.h"

#include <algorithm>
#include <cmath>

#include "base/parse.h"

namespace fabric::unit_file {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Line {
  std::string text;
  unsigned number;
};

// Without comments, and continued ones joined.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  unsigned number = 0;
  bool goes_on = false;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = trim(line);
    if (content.starts_with('#') || content.starts_with(';')) continue;  // also amid a continued line
    if (!goes_on) out.push_back({{}, number});
    out.back().text += line;
    goes_on = (line.size() - (line.find_last_not_of('\\') + 1)) % 2 == 1;  // an odd number of backslashes
    if (goes_on) out.back().text.back() = ' ';
  }
  return out;
}

constexpr auto kIsDigit = [](char c) { return c >= '0' && c <= '9'; };

// Takes the digits at the front; nothing where there are none or too many.
std::optional<uint64_t> take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, kIsDigit);
  const auto length = static_cast<size_t>(end - text.begin());
  const auto value = parse_number<uint64_t>(text.substr(0, length));
  text.remove_prefix(length);
  return value;
}

// One term of a size: "1.5G". Its unit must be smaller than `limit`, the one before it.
std::optional<uint64_t> take_term(std::string_view& text, uint64_t& limit) {
  const auto whole = take_digits(text);
  if (!whole) return std::nullopt;
  double fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const size_t before = text.size();
    const auto digits = take_digits(text);
    if (!digits) return std::nullopt;
    fraction = static_cast<double>(*digits) / std::pow(10.0, static_cast<double>(before - text.size()));
  }
  text = trim(text);
  uint64_t factor = 1;
  if (!text.empty() && !kIsDigit(text.front())) {
    const size_t power = std::string_view("BKMGTPE").find(text.front());
    if (power == std::string_view::npos) return std::nullopt;
    factor = uint64_t{1} << (10 * power);
    text = trim(text.substr(1));
  }
  if (factor >= limit || *whole > UINT64_MAX / factor) return std::nullopt;
  limit = factor;
  return *whole * factor + static_cast<uint64_t>(fraction * static_cast<double>(factor));
}

std::optional<uint64_t> parse_size(std::string_view text) {
  if (text == "infinity") return kNoLimit;
  text = trim(text);
  uint64_t sum = 0, limit = UINT64_MAX;
  do {
    const auto term = take_term(text, limit);
    if (!term || *term >= kNoLimit - sum) return std::nullopt;
    sum += *term;
  } while (!text.empty());
  return sum;
}

std::optional<uint64_t> parse_count(std::string_view text) {
  if (text == "infinity") return kNoLimit;
  const auto count = parse_number<uint64_t>(text);
  return count == kNoLimit ? std::nullopt : count;
}

template <class Parse>
std::optional<ResourceLimit> parse_limit(std::string_view text, Parse parse_one) {
  const size_t colon = text.find(':');
  const auto soft = parse_one(text.substr(0, colon));
  const auto hard = colon == std::string_view::npos ? soft : parse_one(text.substr(colon + 1));
  if (!soft || !hard || *soft > *hard) return std::nullopt;
  return ResourceLimit{*soft, *hard};
}

}  // namespace

std::vector<Assignment> parse(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<Assignment> found;
  std::string section;
  for (const auto& [whole, number] : lines_of(text)) {
    const std::string_view line = trim(whole);
    if (line.starts_with('[')) {
      if (!line.ends_with(']')) break;
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const size_t equals = line.find('=');
    const std::string_view key = trim(line.substr(0, equals));
    if (section.empty() || equals == std::string_view::npos || key.empty()) continue;
    found.push_back({section, std::string(key), std::string(trim(line.substr(equals + 1))), number});
  }
  return found;
}

std::optional<ResourceLimit> parse_memory_limit(std::string_view text) { return parse_limit(text, parse_size); }

std::optional<ResourceLimit> parse_count_limit(std::string_view text) { return parse_limit(text, parse_count); }

}  // namespace fabric::unit_file
