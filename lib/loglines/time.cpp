// SPDX-License-Identifier: Apache-2.0
// The time at which a line was written.
#include <algorithm>
#include <ctime>

#include "base/parse.h"
#include "loglines/loglines.h"

namespace fabric::loglines {
namespace {

constexpr size_t kTimeWithin = 160;  // characters from the start of a line
constexpr double kLeastEpoch = 1e9;  // a number of seconds in brackets below it counts from boot
constexpr int64_t kDay = 24 * 3600;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Y M D h m s: digits of a number; b: a letter of the month's name; _: blank or digit of the day; L: glog's severity;
// others: themselves.
constexpr std::string_view kForms[] = {"YYYY-MM-DDThh:mm:ss", "YYYY-MM-DD hh:mm:ss", "bbb _D hh:mm:ss YYYY",
                                       "bbb _D hh:mm:ss", "LMMDD hh:mm:ss"};

struct Fields {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
};

int month_of(std::string_view name) {
  constexpr std::string_view kNames = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const size_t at = kNames.find(name);
  return at == std::string_view::npos || at % 3 != 0 ? 0 : static_cast<int>(at / 3) + 1;
}

bool take(char form, char letter, Fields& out) {
  const auto add = [&](int& field) {
    field = field * 10 + (letter - '0');
    return is_digit(letter);
  };
  switch (form) {
    case 'Y': return add(out.year);
    case 'M': return add(out.month);
    case 'D': return add(out.day);
    case 'h': return add(out.hour);
    case 'm': return add(out.minute);
    case 's': return add(out.second);
    case '_': return letter == ' ' || add(out.day);
    case 'L': return letter == 'I' || letter == 'W' || letter == 'E' || letter == 'F';
    default: return form == letter;
  }
}

std::optional<Fields> fields_of(std::string_view text, std::string_view form) {
  if (text.size() < form.size()) return std::nullopt;
  Fields out;
  size_t at = 0;
  if (form.starts_with("bbb")) {
    out.month = month_of(text.substr(0, 3));
    at = 3;
  }
  for (; at < form.size(); ++at)
    if (!take(form[at], text[at], out)) return std::nullopt;
  const bool is_time = out.month >= 1 && out.month <= 12 && out.day >= 1 && out.day <= 31 && out.hour < 24 &&
                       out.minute < 60 && out.second <= 60;
  return is_time ? std::optional(out) : std::nullopt;
}

// "Z", "+02:00", "-0700" behind the seconds and their fraction, in seconds. nullopt: local time.
std::optional<int64_t> zone_of(std::string_view rest) {
  size_t at = 0;
  if (at < rest.size() && (rest[at] == '.' || rest[at] == ',')) ++at;
  while (at < rest.size() && is_digit(rest[at])) ++at;
  rest.remove_prefix(at);
  if (rest.starts_with('Z')) return 0;
  if (rest.size() < 5 || (rest[0] != '+' && rest[0] != '-')) return std::nullopt;
  const auto hours = parse_number<unsigned>(rest.substr(1, 2));
  const auto minutes = parse_number<unsigned>(rest.substr(rest[3] == ':' ? 4 : 3, 2));
  if (!hours || !minutes) return std::nullopt;
  return (rest[0] == '-' ? -60 : 60) * static_cast<int64_t>(*hours * 60 + *minutes);
}

int64_t seconds_of(Fields fields, std::optional<int64_t> zone, int64_t now) {
  const auto in_year = [&](int year) {
    std::tm parts{};
    parts.tm_year = year - 1900, parts.tm_mon = fields.month - 1, parts.tm_mday = fields.day;
    parts.tm_hour = fields.hour, parts.tm_min = fields.minute, parts.tm_sec = fields.second;
    parts.tm_isdst = -1;
    return zone ? static_cast<int64_t>(::timegm(&parts)) - *zone : static_cast<int64_t>(::mktime(&parts));
  };
  if (fields.year != 0) return in_year(fields.year);
  std::tm today{};
  const auto seconds = static_cast<time_t>(now);
  ::localtime_r(&seconds, &today);
  const int64_t time = in_year(today.tm_year + 1900);
  return time > now + kDay ? in_year(today.tm_year + 1899) : time;
}

// "[12345.678901]" of the kernel (seconds since boot) and of UCX (since 1970).
std::optional<double> bracketed(std::string_view line) {
  for (size_t at = line.find('['); at != std::string_view::npos; at = line.find('[', at + 1)) {
    const size_t end = line.find(']', at);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = trim(line.substr(at + 1, end - at - 1));
    const size_t dot = inside.find('.');
    const auto is_number = [](char letter) { return is_digit(letter) || letter == '.'; };
    if (dot == std::string_view::npos || inside.size() - dot != 7 || !std::ranges::all_of(inside, is_number)) continue;
    return parse_double(inside);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> time_of(std::string_view line, int64_t now, double uptime) {
  line = line.substr(0, kTimeWithin);
  for (size_t at = 0; at < line.size(); ++at) {
    if (at > 0 && (is_digit(line[at - 1]) || (line[at - 1] >= 'A' && line[at - 1] <= 'z' && line[at - 1] != '[')))
      continue;
    for (const std::string_view form : kForms)
      if (const auto fields = fields_of(line.substr(at), form))
        return seconds_of(*fields, form.starts_with('Y') ? zone_of(line.substr(at + form.size())) : std::nullopt, now);
  }
  const auto number = bracketed(line);
  if (!number) return std::nullopt;
  return *number >= kLeastEpoch ? static_cast<int64_t>(std::min(*number, 1e12))
                                : now - static_cast<int64_t>(uptime - *number + 0.5);
}

}  // namespace fabric::loglines
