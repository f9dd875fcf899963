// SPDX-License-Identifier: Apache-2.0
#include "counter/exposition.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

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
  auto end = std::abs(value) <= kExactIntegers && value == static_cast<double>(static_cast<int64_t>(value))
                 ? std::to_chars(text.data(), text.data() + text.size(), static_cast<int64_t>(value)).ptr
                 : std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

// `bound`: the upper bound of a bucket, which is one more label.
void append_series(std::string& out, const Metric& metric, std::string_view suffix, std::string_view labels, const double* bound, double value) {
  (out += metric.name) += suffix;
  if (!labels.empty()) (out += '{') += labels;
  if (bound != nullptr) {
    (out += labels.empty() ? '{' : ',') += "le=\"";
    append_value(out, *bound);
    out += '"';
  }
  if (!labels.empty() || bound != nullptr) out += '}';
  out += ' ';
  append_value(out, value);
  out += '\n';
}

// In the reference's order. Buckets hold all that is below them, too.
void append_histogram(std::string& out, const Metric& metric, const HistogramSample& histogram) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  uint64_t count = 0;
  for (uint64_t in_bucket : histogram.counts) count += in_bucket;
  append_series(out, metric, "_count", histogram.labels.text(), nullptr, static_cast<double>(count));
  append_series(out, metric, "_sum", histogram.labels.text(), nullptr, histogram.sum);
  uint64_t below = 0;
  for (size_t i = 0; i < histogram.bounds.size(); ++i) {
    below += i < histogram.counts.size() ? histogram.counts[i] : 0;
    append_series(out, metric, "_bucket", histogram.labels.text(), &histogram.bounds[i], static_cast<double>(below));
  }
  append_series(out, metric, "_bucket", histogram.labels.text(), &kInfinity, static_cast<double>(count));
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

// Enough for all of it: kNumber for a value and what stands around it.
size_t size_of(const std::vector<Family>& families) {
  constexpr size_t kNumber = 28, kBucket = 37, kHead = 32;
  size_t size = 0;
  for (const Family& family : families) {
    const size_t name = family.metric->name.size();
    size += kHead + 2 * name + family.metric->help.size();
    for (const MetricSample& sample : family.samples) size += name + sample.labels.size() + kNumber;
    for (const HistogramSample& histogram : family.histograms)
      size += (histogram.bounds.size() + 3) * (name + histogram.labels.text().size() + kBucket + kNumber);
  }
  return size;
}

}  // namespace

std::string to_exposition(const std::vector<Family>& families) {
  std::string out;
  out.reserve(size_of(families));
  for (const Family& family : families) {
    append_head(out, *family.metric);
    for (const MetricSample& sample : family.samples) append_series(out, *family.metric, "", sample.labels, nullptr, sample.value);
    for (const HistogramSample& histogram : family.histograms) append_histogram(out, *family.metric, histogram);
  }
  return out;
}

}  // namespace fabric
