// SPDX-License-Identifier: Apache-2.0
#include "counter/family.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace fabric {
namespace {

constexpr size_t kFirstPlaces = 2048;

// By the values: most series of a metric have the same names.
size_t hash_of(const Metric& metric, const Labels& labels) {
  size_t hash = reinterpret_cast<uintptr_t>(&metric);
  for (const Label& label : labels) hash = hash * 0x9e3779b97f4a7c15 ^ std::hash<std::string_view>{}(label.value);
  return hash;
}

}  // namespace

size_t FamilySet::place_of(size_t hash, const Metric& metric, const Labels& labels) const {
  for (size_t at = hash & (places_.size() - 1);; at = (at + 1) & (places_.size() - 1)) {
    const Place& place = places_[at];
    if (place.family == kNowhere) return at;
    const Family& family = families_[place.family];
    if (place.hash == hash && family.metric == &metric && family.samples[place.sample].labels == labels) return at;
  }
}

void FamilySet::grow() {
  std::vector<Place> before(std::max(places_.size() * 2, kFirstPlaces));
  before.swap(places_);
  for (const Place& place : before) {
    if (place.family == kNowhere) continue;
    size_t at = place.hash & (places_.size() - 1);
    while (places_[at].family != kNowhere) at = (at + 1) & (places_.size() - 1);
    places_[at] = place;
  }
}

MetricSample* FamilySet::series_of(const Metric& metric, Labels&& labels, bool& existed) {
  if (placed_ * 2 >= places_.size()) grow();
  const size_t hash = hash_of(metric, labels), at = place_of(hash, metric, labels);
  existed = places_[at].family != kNowhere;
  if (existed) return &families_[places_[at].family].samples[places_[at].sample];
  if (series_ >= limit_) {
    ++over_limit_;
    return nullptr;
  }
  Family& family = family_of(metric);
  places_[at] = {hash, static_cast<uint32_t>(&family - families_.data()), static_cast<uint32_t>(family.samples.size())};
  ++placed_;
  ++series_;
  family.samples.push_back({std::move(labels), 0});
  return &family.samples.back();
}

bool FamilySet::has(const Metric& metric, const Labels& labels) const {
  return !places_.empty() && places_[place_of(hash_of(metric, labels), metric, labels)].family != kNowhere;
}

Family& FamilySet::family_of(const Metric& metric) {
  const auto [known, is_new] = family_index_.try_emplace(&metric, static_cast<uint32_t>(families_.size()));
  if (is_new) families_.push_back({&metric, {}});
  return families_[known->second];
}

void FamilySet::add(const Metric& metric, HistogramSample histogram) {
  const size_t wanted = histogram.bounds.size() + 3;  // +Inf, _sum, _count
  auto same = [&](const HistogramSample& other) { return other.labels == histogram.labels; };
  const auto known = family_index_.find(&metric);
  if (known != family_index_.end() && std::ranges::any_of(families_[known->second].histograms, same)) {
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
