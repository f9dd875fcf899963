// SPDX-License-Identifier: Apache-2.0
#include "counter/exposition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

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

// `bound`: the upper bound of a bucket, which is one more label.
void append_series(std::string& out, const Metric& metric, std::string_view suffix, const Labels& labels, const double* bound, double value) {
  (out += metric.name) += suffix;
  char open = '{';
  for (const Label& label : labels) {
    out += open;
    out += label.name;
    out += "=\"";
    append_escaped(out, label.value);
    out += '"';
    open = ',';
  }
  if (bound != nullptr) {
    (out += open) += "le=\"";
    append_value(out, *bound);
    out += '"';
    open = ',';
  }
  if (open == ',') out += '}';
  out += ' ';
  append_value(out, value);
  out += '\n';
}

// In the reference's order. Buckets hold all that is below them, too.
void append_histogram(std::string& out, const Metric& metric, const HistogramSample& histogram) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  uint64_t count = 0;
  for (uint64_t in_bucket : histogram.counts) count += in_bucket;
  append_series(out, metric, "_count", histogram.labels, nullptr, static_cast<double>(count));
  append_series(out, metric, "_sum", histogram.labels, nullptr, histogram.sum);
  uint64_t below = 0;
  for (size_t i = 0; i < histogram.bounds.size(); ++i) {
    below += i < histogram.counts.size() ? histogram.counts[i] : 0;
    append_series(out, metric, "_bucket", histogram.labels, &histogram.bounds[i], static_cast<double>(below));
  }
  append_series(out, metric, "_bucket", histogram.labels, &kInfinity, static_cast<double>(count));
}

std::string_view type_text(MetricKind kind) {
  return kind == MetricKind::counter ? " counter\n" : kind == MetricKind::gauge ? " gauge\n" : " histogram\n";
}

void append_head(std::string& out, const Metric& metric) {
  for (std::string_view part : {std::string_view("# HELP "), metric.name, std::string_view(" "), metric.help,
                                std::string_view("\n# TYPE "), metric.name,
                                type_text(metric.kind)})
    out += part;
}

}  // namespace

std::string to_exposition(const std::vector<Family>& families) {
  size_t series = 0;
  for (const Family& family : families) {
    series += family.samples.size();
    for (const HistogramSample& histogram : family.histograms) series += histogram.bounds.size() + 3;
  }
  std::string out;
  out.reserve(series * 96 + families.size() * 160);
  for (const Family& family : families) {
    append_head(out, *family.metric);
    for (const MetricSample& sample : family.samples) append_series(out, *family.metric, "", sample.labels, nullptr, sample.value);
    for (const HistogramSample& histogram : family.histograms) append_histogram(out, *family.metric, histogram);
  }
  return out;
}

}  // namespace fabric
