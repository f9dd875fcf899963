// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "base/parse.h"
#include "config/config.h"

namespace fabric {
namespace {

struct Unit {
  std::string_view name;
  int64_t milliseconds;
};
constexpr std::array kUnits{
    Unit{"h", 3'600'000},     Unit{"min", 60'000},     Unit{"s", 1'000},          Unit{"ms", 1},
    Unit{"hr", 3'600'000},    Unit{"hour", 3'600'000}, Unit{"hours", 3'600'000},  Unit{"m", 60'000},
    Unit{"minute", 60'000},   Unit{"minutes", 60'000}, Unit{"sec", 1'000},        Unit{"second", 1'000},
    Unit{"seconds", 1'000},   Unit{"msec", 1},         Unit{"d", 86'400'000},     Unit{"day", 86'400'000},
    Unit{"days", 86'400'000}, Unit{"w", 604'800'000},  Unit{"week", 604'800'000}, Unit{"weeks", 604'800'000}};
constexpr int64_t kLongest = int64_t{366} * 24 * 3'600'000;

std::optional<int64_t> unit_of(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return unit.milliseconds;
  return name.empty() ? std::optional<int64_t>(1'000) : std::nullopt;
}

std::string_view take(std::string_view& text, std::string_view set) {
  size_t end = text.find_first_not_of(set);
  std::string_view head = text.substr(0, end);
  text.remove_prefix(head.size());
  return head;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_span(std::string_view text) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  int64_t total = 0;
  while (!text.empty()) {
    auto number = parse_number<int64_t>(take(text, "0123456789"));
    take(text, " ");
    auto unit = unit_of(take(text, "abcdefghijklmnopqrstuvwxyz"));
    take(text, " ");
    if (!number || !unit || *number > kLongest / *unit) return std::nullopt;
    total += *number * *unit;
    if (total > kLongest) return std::nullopt;
  }
  return std::chrono::milliseconds(total);
}

std::string span_text(std::chrono::milliseconds span) {
  int64_t rest = span.count();
  std::string out;
  for (const Unit& unit : std::span(kUnits).first(4)) {
    int64_t count = rest / unit.milliseconds;
    rest %= unit.milliseconds;
    if (count != 0) out += (out.empty() ? "" : " ") + std::to_string(count) + std::string(unit.name);
  }
  return out.empty() ? "0s" : out;
}

}  // namespace fabric
