// SPDX-License-Identifier: Apache-2.0
#include "metrics/family.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/parse.h"

namespace fabric {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::string valid_utf8(std::string_view value) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::ranges::all_of(value, is_plain)) return std::string(value);
  std::string out;
  out.reserve(value.size());
  for (size_t at = 0; at < value.size();) {
    const size_t length = utf8_length(value, at);
    if (length == 0 || value[at] == '\0') {
      out += "\xef\xbf\xbd";
      ++at;
    } else {
      out += value.substr(at, length);
      at += length;
    }
  }
  return out;
}

MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return MetricType::Counter;
    case MetricKind::gauge: return MetricType::Gauge;
    case MetricKind::histogram: return MetricType::Histogram;
    case MetricKind::untyped: break;
  }
  return MetricType::Untyped;
}

}  // namespace

double& value_of(MetricType type, ClientMetric& metric) {
  if (type == MetricType::Counter) return metric.counter.value;
  if (type == MetricType::Gauge) return metric.gauge.value;
  return metric.untyped.value;
}

double value_of(MetricType type, const ClientMetric& metric) {
  return value_of(type, const_cast<ClientMetric&>(metric));
}

void Labels::push_back(const Label& label) {
  if (!label.name.empty()) list_.push_back({std::string(label.name), valid_utf8(label.value)});
}

MetricFamily& FamilySet::family_of(const Metric& metric) {
  const auto [known, is_new] = by_name_.try_emplace(metric.name, families_.size());
  if (is_new) {
    families_.push_back({std::string(metric.name), std::string(metric.help), type_of(metric.kind), {}});
    families_.back().metric.reserve(8);  // most families have a series for each port
  }
  return families_[known->second];
}

FamilySet::FoundMetric FamilySet::find_or_create(const Metric& metric, Labels labels, size_t size) {
  const std::hash<std::string_view> hash_text;
  size_t hash = hash_text(metric.name);
  for (const auto& label : labels.list()) hash = hash * 31 + hash_text(label.value);
  for (auto [known, last] = by_series_.equal_range(hash); known != last; ++known) {
    MetricFamily& family = families_[known->second.first];
    ClientMetric& series = family.metric[known->second.second];
    if (family.name == metric.name && series.label == labels.list()) return {&series, false};
  }
  if (size > limit_ - std::min(series_, limit_)) {
    over_limit_ += size;
    return {};
  }
  MetricFamily& family = family_of(metric);
  const auto index = static_cast<size_t>(&family - families_.data());
  by_series_.emplace(hash, std::pair(index, family.metric.size()));
  series_ += size;
  family.metric.emplace_back().label = std::move(labels).take();
  return {&family.metric.back(), true};
}

void FamilySet::add(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value) {
  const FoundMetric found = find_or_create(metric, Labels(labels, more));
  if (found.is_new) value_of(type_of(metric.kind), *found.metric) = value;
  else if (found.metric != nullptr) ++duplicates_;
}

void FamilySet::accumulate(const Metric& metric, const Labels& labels, std::initializer_list<Label> more,
                           double value) {
  const FoundMetric found = find_or_create(metric, Labels(labels, more));
  if (found.metric != nullptr) value_of(type_of(metric.kind), *found.metric) += value;
}

void FamilySet::add_missing(const Metric& metric, const Labels& labels, double value) {
  if (const FoundMetric found = find_or_create(metric, labels); found.is_new)
    value_of(type_of(metric.kind), *found.metric) = value;
}

void FamilySet::add(const Metric& metric, const HistogramSample& sample) {
  const size_t size = sample.bounds.size() + 3;  // +Inf, _sum, _count
  const FoundMetric found = find_or_create(metric, sample.labels, size);
  if (!found.is_new) {
    if (found.metric != nullptr) duplicates_ += size;
    return;
  }
  ClientMetric::Histogram& histogram = found.metric->histogram;
  histogram.sample_sum = sample.sum;
  for (size_t i = 0; i <= sample.bounds.size(); ++i) {
    if (i < sample.counts.size()) histogram.sample_count += sample.counts[i];
    double bound = std::numeric_limits<double>::infinity();
    if (i < sample.bounds.size()) bound = sample.bounds[i];
    histogram.bucket.push_back({histogram.sample_count, bound});
  }
}

}  // namespace fabric
