// SPDX-License-Identifier: Apache-2.0
#include "metrics/exposition.h"

#include <array>
#include <bit>
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

// A histogram's values in the reference's order: to(suffix, bound, value). Buckets hold all that is below them, too.
template <class To>
void each_value(const HistogramSample& histogram, To&& to) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  uint64_t count = 0;
  for (uint64_t in_bucket : histogram.counts) count += in_bucket;
  to("_count", nullptr, static_cast<double>(count));
  to("_sum", nullptr, histogram.sum);
  uint64_t below = 0;
  for (size_t i = 0; i < histogram.bounds.size(); ++i) {
    below += i < histogram.counts.size() ? histogram.counts[i] : 0;
    to("_bucket", &histogram.bounds[i], static_cast<double>(below));
  }
  to("_bucket", &kInfinity, static_cast<double>(count));
}

// `bound`: the upper bound of a bucket, which is one more label. The line lacks its value.
void append_series(std::string& out, const Metric& metric, std::string_view suffix, std::string_view labels,
                   const double* bound) {
  (out += metric.name) += suffix;
  if (!labels.empty()) (out += '{') += labels;
  if (bound != nullptr) {
    (out += labels.empty() ? '{' : ',') += "le=\"";
    append_value(out, *bound);
    out += '"';
  }
  if (!labels.empty() || bound != nullptr) out += '}';
  out += ' ';
}

std::string_view type_text(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return " counter\n";
    case MetricKind::gauge: return " gauge\n";
    case MetricKind::histogram: return " histogram\n";
    case MetricKind::untyped: break;
  }
  return " untyped\n";
}

void append_head(std::string& out, const Metric& metric) {
  for (std::string_view part : {std::string_view("# HELP "), metric.name, std::string_view(" "), metric.help,
                                std::string_view("\n# TYPE "), metric.name, type_text(metric.kind)})
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

// `put` appends a value to `out`.
template <class Put>
void write(std::string& out, const std::vector<Family>& families, Put&& put) {
  const auto line = [&](const Metric& metric, std::string_view suffix, std::string_view labels, const double* bound,
                        double value) {
    append_series(out, metric, suffix, labels, bound);
    put(value);
    out += '\n';
  };
  out.reserve(size_of(families));
  for (const Family& family : families) {
    append_head(out, *family.metric);
    for (const MetricSample& sample : family.samples) line(*family.metric, "", sample.labels, nullptr, sample.value);
    for (const HistogramSample& histogram : family.histograms)
      each_value(histogram, [&](std::string_view suffix, const double* bound, double value) {
        line(*family.metric, suffix, histogram.labels.text(), bound, value);
      });
  }
}

}  // namespace

std::string to_exposition(const std::vector<Family>& families) {
  std::string out;
  write(out, families, [&](double value) { append_value(out, value); });
  return out;
}

std::string PageText::renewed(const std::vector<Family>& families) {
  constexpr size_t kGrowth = 4;  // of a value, on average: rarely is there more, which costs one more copy
  std::string out;
  out.reserve(last_->size() + kGrowth * spots_.size());
  size_t copied = 0;  // of the last text
  auto spot = spots_.begin();
  const auto put = [&](double value) {
    Spot& now = *spot++;
    const size_t at = out.size() + now.at - copied;
    if (std::bit_cast<uint64_t>(value) != std::bit_cast<uint64_t>(now.value)) {
      out.append(*last_, copied, now.at - copied);
      copied = now.at + now.size;
      append_value(out, value);
      now = {value, 0, static_cast<uint32_t>(out.size() - at)};
    }
    now.at = static_cast<uint32_t>(at);
  };
  for (const Family& family : families) {
    for (const MetricSample& sample : family.samples) put(sample.value);
    for (const HistogramSample& histogram : family.histograms)
      each_value(histogram, [&](auto, auto, double value) { put(value); });
  }
  out.append(*last_, copied);
  return out;
}

PageText::Text PageText::of(FamilySet& set) {
  const std::vector<Family>& families = set.families();
  if (last_ && set.shape() == shape_) return last_ = std::make_shared<const std::string>(renewed(families));
  shape_ = set.shape();
  spots_.clear();
  std::string out;
  write(out, families, [&](double value) {
    const size_t at = out.size();
    append_value(out, value);
    spots_.push_back({value, static_cast<uint32_t>(at), static_cast<uint32_t>(out.size() - at)});
  });
  return last_ = std::make_shared<const std::string>(std::move(out));
}

}  // namespace fabric
