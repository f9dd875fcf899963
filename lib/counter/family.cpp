// SPDX-License-Identifier: Apache-2.0
#include "counter/family.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace fabric {
namespace {

size_t hash_of(const Metric& metric, const Labels& labels) {
  size_t hash = std::hash<const Metric*>{}(&metric);
  for (const Label& label : labels)
    for (std::string_view text : {label.name, std::string_view(label.value)})
      hash = hash * 1'000'003 ^ std::hash<std::string_view>{}(text);
  return hash;
}

}  // namespace

MetricSample* FamilySet::series_of(const Metric& metric, Labels&& labels, bool& existed) {
  size_t hash = hash_of(metric, labels);
  for (auto found = index_.find(hash); found != index_.end(); found = index_.find(++hash)) {
    Family& family = families_[found->second.family];
    MetricSample& sample = family.samples[found->second.sample];
    existed = family.metric == &metric && sample.labels == labels;
    if (existed) return &sample;
  }
  if (series_ >= limit_) {
    ++over_limit_;
    return nullptr;
  }
  Family& family = family_of(metric);
  index_.emplace(hash, Place{static_cast<size_t>(&family - families_.data()), family.samples.size()});
  ++series_;
  family.samples.push_back({std::move(labels), 0});
  return &family.samples.back();
}

bool FamilySet::has(const Metric& metric, const Labels& labels) const {
  size_t hash = hash_of(metric, labels);
  for (auto found = index_.find(hash); found != index_.end(); found = index_.find(++hash)) {
    const Family& family = families_[found->second.family];
    if (family.metric == &metric && family.samples[found->second.sample].labels == labels) return true;
  }
  return false;
}

Family& FamilySet::family_of(const Metric& metric) {
  auto family = std::find_if(families_.begin(), families_.end(), [&](const Family& f) { return f.metric == &metric; });
  if (family == families_.end()) family = families_.insert(family, {&metric, {}});
  return *family;
}

void FamilySet::add(const Metric& metric, HistogramSample histogram) {
  const size_t wanted = histogram.bounds.size() + 3;  // +Inf, _sum, _count
  auto is_this = [&](const Family& family) { return family.metric == &metric; };
  auto same = [&](const HistogramSample& other) { return other.labels == histogram.labels; };
  const auto known = std::find_if(families_.begin(), families_.end(), is_this);
  if (known != families_.end() && std::any_of(known->histograms.begin(), known->histograms.end(), same)) {
    duplicates_ += wanted;
    return;
  }
  if (wanted > limit_ - std::min(series_, limit_)) {
    over_limit_ += wanted;
    return;
  }
  series_ += wanted;
  family_of(metric).histograms.push_back(std::move(histogram));
}

void FamilySet::add(const Metric& metric, Labels labels, double value) {
  bool existed = false;
  MetricSample* sample = series_of(metric, std::move(labels), existed);
  if (existed) ++duplicates_;
  else if (sample) sample->value = value;
}

void FamilySet::accumulate(const Metric& metric, Labels labels, double value) {
  bool existed = false;
  if (MetricSample* sample = series_of(metric, std::move(labels), existed)) sample->value += value;
}

}  // namespace fabric
