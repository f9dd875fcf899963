// SPDX-License-Identifier: Apache-2.0
#include "counter/exposition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/parse.h"

namespace fabric {
namespace {

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

void append_value(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  std::array<char, 32> text;
  // The integer path is the faster one, and never prints 1e+06 for a counter.
  auto end = std::abs(value) <= kExactIntegers && value == std::trunc(value)
                 ? std::to_chars(text.data(), text.data() + text.size(), static_cast<int64_t>(value)).ptr
                 : std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

bool is_plain(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c != '"' && c != '\\' && c != '\x7f'; });
}

// Bytes that are not UTF-8, and NUL, become U+FFFD: Prometheus would refuse the whole page.
void append_escaped(std::string& out, std::string_view value) {
  if (is_plain(value)) {
    out += value;
    return;
  }
  for (size_t at = 0; at < value.size();) {
    size_t length = value[at] == '\0' ? 0 : utf8_length(value, at);
    if (length == 0) out += "\xef\xbf\xbd";
    else if (value[at] == '\n') out += "\\n";
    else if (value[at] == '"' || value[at] == '\\') (out += '\\') += value[at];
    else out += value.substr(at, length);
    at += length == 0 ? 1 : length;
  }
}

void append_sample(std::string& out, const Metric& metric, const MetricSample& sample) {
  out += metric.name;
  char open = '{';
  for (const Label& label : sample.labels) {
    out += open;
    out += label.name;
    out += "=\"";
    append_escaped(out, label.value);
    out += '"';
    open = ',';
  }
  if (open == ',') out += '}';
  out += ' ';
  append_value(out, sample.value);
  out += '\n';
}

void append_head(std::string& out, const Metric& metric) {
  for (std::string_view part : {std::string_view("# HELP "), metric.name, std::string_view(" "), metric.help,
                                std::string_view("\n# TYPE "), metric.name,
                                metric.kind == MetricKind::counter ? std::string_view(" counter\n") : std::string_view(" gauge\n")})
    out += part;
}

}  // namespace

std::string to_exposition(const std::vector<Family>& families) {
  size_t series = 0;
  for (const Family& family : families) series += family.samples.size();
  std::string out;
  out.reserve(series * 96 + families.size() * 160);
  for (const Family& family : families) {
    append_head(out, *family.metric);
    for (const MetricSample& sample : family.samples) append_sample(out, *family.metric, sample);
  }
  return out;
}

}  // namespace fabric
