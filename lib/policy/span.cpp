// SPDX-License-Identifier: Apache-2.0
#include "policy/span.h"

#include <span>

#include "base/parse.h"

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

// Maintenance windows: "Sat 02:00-04:00", "Mon-Fri,Sun 23:00-01:00", "daily 03:00-04:00". Days as in systemd.time(7).
constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr uint8_t kDaily = 0x7f;
constexpr unsigned kMidnight = 24 * 60;

std::optional<size_t> day_of(std::string_view text) {
  for (size_t day = 0; day < kDays.size(); ++day)
    if (kDays[day] == text) return day;
  return std::nullopt;
}

// "Sat", "Mon-Fri"; "Sat-Mon" goes over the end of the week.
std::optional<uint8_t> days_of_range(std::string_view text) {
  const auto ends = split(text, '-');
  const auto first = day_of(ends.front()), last = day_of(ends.back());
  if (!first || !last || ends.size() > 2) return std::nullopt;
  unsigned days = 0;
  for (size_t day = *first;; day = (day + 1) % kDays.size()) {
    days |= 1U << day;
    if (day == *last) return static_cast<uint8_t>(days);
  }
}

std::optional<uint8_t> days_of(std::string_view text) {
  if (text == "daily") return kDaily;
  unsigned days = 0;
  for (std::string_view part : split(text, ',')) {
    const auto some = days_of_range(part);
    if (!some) return std::nullopt;
    days |= *some;
  }
  return static_cast<uint8_t>(days);
}

// "02:00"; "24:00" as an end only.
std::optional<unsigned> minute_of(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hour = parse_number<unsigned>(text.substr(0, 2)), minute = parse_number<unsigned>(text.substr(3));
  if (!hour || !minute || *minute > 59 || *hour * 60 + *minute > kMidnight) return std::nullopt;
  return *hour * 60 + *minute;
}

std::string clock(unsigned minute) {
  const auto two = [](unsigned number) { return std::string(number < 10 ? "0" : "") + std::to_string(number); };
  return two(minute / 60) + ":" + two(minute % 60);
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
    if (count != 0) append_item(out, std::to_string(count) + std::string(unit.name), " ");
  }
  if (out.empty()) return "0s";
  return out;
}

std::optional<Window> parse_window(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() != 2) return std::nullopt;
  const auto times = split(parts[1], '-');
  const auto days = days_of(parts[0]);
  if (times.size() != 2 || !days) return std::nullopt;
  const auto from = minute_of(times[0]), to = minute_of(times[1]);
  if (!from || !to || *from == *to || *from == kMidnight) return std::nullopt;
  return Window{*days, *from, *to};
}

std::string window_text(const Window& window) {
  std::string days;
  for (size_t day = 0; day < kDays.size(); ++day)
    if ((window.days >> day & 1) != 0) append_item(days, kDays[day], ",");
  return (window.days == kDaily ? "daily" : days) + " " + clock(window.from) + "-" + clock(window.to);
}

}  // namespace fabric
