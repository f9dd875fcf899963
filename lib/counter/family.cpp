// SPDX-License-Identifier: Apache-2.0
#include "counter/family.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/parse.h"

namespace fabric {
namespace {

constexpr size_t kFirstPlaces = 4096, kFirstSamples = 8;

size_t join(size_t hash, size_t with) { return hash * 0x9e3779b97f4a7c15 ^ with; }
size_t hash_of(const Metric& metric, const Labels& labels) { return join(reinterpret_cast<uintptr_t>(&metric), labels.hash()); }

bool is_plain(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c != '"' && c != '\\' && c != '\x7f'; });
}

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

}  // namespace

void Labels::push_back(const Label& label) {
  if (label.name.empty()) return;
  if (!text_.empty()) text_ += ',';
  (text_ += label.name) += "=\"";
  const size_t value = text_.size();
  append_escaped(text_, label.value);
  hash_ = join(hash_, std::hash<std::string_view>{}(text().substr(value)));
  text_ += '"';
}

size_t FamilySet::place_of(size_t hash, const Metric& metric, std::string_view labels) const {
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

MetricSample* FamilySet::series_of(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, bool& existed) {
  if (placed_ * 2 >= places_.size()) grow();
  wanted_ = labels;
  for (const Label& label : more) wanted_.push_back(label);
  const std::string_view text = wanted_.text();
  const size_t hash = hash_of(metric, wanted_), at = place_of(hash, metric, text);
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
  char* kept = static_cast<char*>(memory_.allocate(text.size(), 1));
  std::copy(text.begin(), text.end(), kept);
  family.samples.push_back({{kept, text.size()}, 0});
  return &family.samples.back();
}

bool FamilySet::has(const Metric& metric, const Labels& labels) const {
  return !places_.empty() && places_[place_of(hash_of(metric, labels), metric, labels.text())].family != kNowhere;
}

Family& FamilySet::family_of(const Metric& metric) {
  const auto [known, is_new] = family_index_.try_emplace(&metric, static_cast<uint32_t>(families_.size()));
  if (is_new) families_.push_back({&metric, std::pmr::vector<MetricSample>(&memory_)}), families_.back().samples.reserve(kFirstSamples);
  return families_[known->second];
}

void FamilySet::add(const Metric& metric, HistogramSample histogram) {
  const size_t wanted = histogram.bounds.size() + 3;  // +Inf, _sum, _count
  auto same = [&](const HistogramSample& other) { return other.labels.text() == histogram.labels.text(); };
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

void FamilySet::add(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value) {
  bool existed = false;
  MetricSample* sample = series_of(metric, labels, more, existed);
  if (existed) ++duplicates_;
  else if (sample) sample->value = value;
}

void FamilySet::accumulate(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value) {
  bool existed = false;
  if (MetricSample* sample = series_of(metric, labels, more, existed)) sample->value += value;
}

}  // namespace fabric
