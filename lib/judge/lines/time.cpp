// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/time.h"

#include <algorithm>
#include <ctime>
#include <string>

#include "base/parse.h"

namespace fabric::lines {
namespace {

constexpr size_t kTimeWithin = 160;  // the time is within so many characters of the start of a line
constexpr double kLeastEpoch = 1e9;  // a smaller number of seconds in brackets counts from boot
constexpr int64_t kDay = 24 * 3600;

// Formats of strptime(3), with the length of the text; glog's severity comes before the month.
constexpr std::pair<const char*, size_t> kForms[] = {{"%Y-%m-%dT%H:%M:%S", 19}, {"%Y-%m-%d %H:%M:%S", 19},
                                                     {"%Y/%m/%d %H:%M:%S", 19}, {"%b %e %H:%M:%S %Y", 20},
                                                     {"%b %e %H:%M:%S", 15},    {"%m%d %H:%M:%S", 13}};

// The time zone after the seconds and their fraction ("Z", "+02:00", "-0700"), in seconds. nullopt: local time.
std::optional<int64_t> zone_of(std::string_view rest) {
  size_t at = 0;
  if (at < rest.size() && (rest[at] == '.' || rest[at] == ',')) ++at;
  while (at < rest.size() && is_digit(rest[at])) ++at;
  rest.remove_prefix(at);
  if (rest.starts_with('Z')) return 0;
  if (rest.size() < 5 || (rest[0] != '+' && rest[0] != '-')) return std::nullopt;
  const auto hours = parse_number<unsigned>(rest.substr(1, 2));
  const bool is_west = rest[0] == '-';
  rest.remove_prefix(3);
  if (rest[0] == ':') rest.remove_prefix(1);
  const auto minutes = parse_number<unsigned>(rest.substr(0, 2));
  if (!hours || !minutes) return std::nullopt;
  const auto east = static_cast<int64_t>(*hours * 60 + *minutes) * 60;
  if (is_west) return -east;
  return east;
}

// `zone` nullopt: local time.
int64_t seconds_of(std::tm parts, std::optional<int64_t> zone) {
  parts.tm_isdst = -1;
  if (zone) return static_cast<int64_t>(::timegm(&parts)) - *zone;
  return static_cast<int64_t>(::mktime(&parts));
}

// Sets the year of `now`, or the previous one if the time would lie in the future.
void set_year(std::tm& parts, int64_t now) {
  std::tm today{};
  const auto present = static_cast<time_t>(now);
  ::localtime_r(&present, &today);
  parts.tm_year = today.tm_year;
  if (seconds_of(parts, std::nullopt) > now + kDay) --parts.tm_year;
}

}  // namespace

std::optional<int64_t> time_of(std::string_view line, int64_t now, double uptime) {
  const std::string text(line.substr(0, kTimeWithin));
  for (size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && (is_digit(text[at - 1]) || (text[at - 1] >= 'A' && text[at - 1] <= 'z' && text[at - 1] != '[')))
      continue;
    for (const auto& [form, size] : kForms) {
      const char* begin = text.c_str() + at;
      if (form[1] == 'm') {  // glog
        if (std::string_view("IWEF").find(text[at]) == std::string_view::npos) continue;
        ++begin;
      }
      std::tm parts{};
      const char* end = ::strptime(begin, form, &parts);
      if (end == nullptr || static_cast<size_t>(end - begin) != size) continue;
      if (parts.tm_year == 0) set_year(parts, now);
      if (form[1] == 'Y') return seconds_of(parts, zone_of(end));
      return seconds_of(parts, std::nullopt);
    }
  }
  // "[12345.678901]": of the kernel in seconds since boot, of UCX since 1970.
  for (size_t at = text.find('['); at != std::string::npos; at = text.find('[', at + 1)) {
    const size_t end = text.find(']', at);
    if (end == std::string::npos) break;
    const std::string_view inside = trim(std::string_view(text).substr(at + 1, end - at - 1));
    const size_t dot = inside.find('.');
    const bool has_microseconds = dot != std::string_view::npos && inside.size() - dot == 7;
    if (!has_microseconds || inside.find_first_not_of("0123456789.") != std::string_view::npos) continue;
    const auto seconds = parse_double(inside);
    if (!seconds) break;
    if (*seconds >= kLeastEpoch) return static_cast<int64_t>(std::min(*seconds, 1e12));
    return now - static_cast<int64_t>(uptime - *seconds + 0.5);
  }
  return std::nullopt;
}

}  // namespace fabric::lines
