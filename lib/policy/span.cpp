// SPDX-License-Identifier: Apache-2.0
#include "policy/span.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "base/parse.h"

namespace fabric {
namespace {

struct TimeUnit {
  std::string_view name;
  int64_t milliseconds;
};
constexpr std::array kUnits{TimeUnit{"h", 3'600'000},      TimeUnit{"min", 60'000},
                            TimeUnit{"s", 1'000},          TimeUnit{"ms", 1},
                            TimeUnit{"hr", 3'600'000},     TimeUnit{"hour", 3'600'000},
                            TimeUnit{"hours", 3'600'000},  TimeUnit{"m", 60'000},
                            TimeUnit{"minute", 60'000},    TimeUnit{"minutes", 60'000},
                            TimeUnit{"sec", 1'000},        TimeUnit{"second", 1'000},
                            TimeUnit{"seconds", 1'000},    TimeUnit{"msec", 1},
                            TimeUnit{"d", 86'400'000},     TimeUnit{"day", 86'400'000},
                            TimeUnit{"days", 86'400'000},  TimeUnit{"w", 604'800'000},
                            TimeUnit{"week", 604'800'000}, TimeUnit{"weeks", 604'800'000}};
constexpr int64_t kLongest = int64_t{366} * 24 * 3'600'000;

// Removes the leading characters that are in `set` from `text` and returns them.
std::string_view cut(std::string_view& text, std::string_view set) {
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

// "daily", "Sat", "Mon-Fri,Sun"; "Sat-Mon" passes the end of the week.
std::optional<uint8_t> parse_days(std::string_view text) {
  if (text == "daily") return kDaily;
  unsigned days = 0;
  for (const std::string_view part : split(text, ',')) {
    const auto ends = split(part, '-');
    const auto first = day_of(ends.front()), last = day_of(ends.back());
    if (!first || !last || ends.size() > 2) return std::nullopt;
    for (size_t day = *first; day != *last; day = (day + 1) % kDays.size()) days |= 1U << day;
    days |= 1U << *last;
  }
  return static_cast<uint8_t>(days);
}

// Minutes since 00:00 of "02:00" to "24:00".
std::optional<unsigned> minute_of(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hour = parse_number<unsigned>(text.substr(0, 2)), minute = parse_number<unsigned>(text.substr(3));
  if (!hour || !minute || *minute > 59 || *hour * 60 + *minute > kMidnight) return std::nullopt;
  return *hour * 60 + *minute;
}

// "02:00"
std::string clock_text(unsigned minute) {
  char text[16];
  std::snprintf(text, sizeof text, "%02u:%02u", minute / 60, minute % 60);
  return text;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_span(std::string_view text) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  int64_t total = 0;
  while (!text.empty()) {
    const auto number = parse_number<int64_t>(cut(text, "0123456789"));
    cut(text, " ");
    std::string_view name = cut(text, "abcdefghijklmnopqrstuvwxyz");
    if (name.empty()) name = "s";
    cut(text, " ");
    const auto unit = std::ranges::find(kUnits, name, &TimeUnit::name);
    if (!number || unit == kUnits.end() || *number > kLongest / unit->milliseconds) return std::nullopt;
    total += *number * unit->milliseconds;
    if (total > kLongest) return std::nullopt;
  }
  return std::chrono::milliseconds(total);
}

std::string span_text(std::chrono::milliseconds span) {
  int64_t rest = span.count();
  std::string out;
  for (const TimeUnit& unit : std::span(kUnits).first(4)) {
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
  const auto days = parse_days(parts[0]);
  if (times.size() != 2 || !days) return std::nullopt;
  const auto from = minute_of(times[0]), to = minute_of(times[1]);
  if (!from || !to || *from == *to || *from == kMidnight) return std::nullopt;
  return Window{*days, *from, *to};
}

std::string window_text(const Window& window) {
  std::string days;
  for (size_t day = 0; day < kDays.size(); ++day)
    if ((window.days >> day & 1) != 0) append_item(days, kDays[day], ",");
  if (window.days == kDaily) days = "daily";
  return days + " " + clock_text(window.from) + "-" + clock_text(window.to);
}

}  // namespace fabric
