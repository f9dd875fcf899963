// SPDX-License-Identifier: Apache-2.0
#include "metrics/family.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/bytes.h"
#include "base/parse.h"

namespace fabric {
namespace {

constexpr size_t kFirstPlaces = 4096, kFirstSamples = 8, kTextBlock = 1 << 14;

size_t hash_of(const Metric& metric, std::string_view labels) {
  return reinterpret_cast<uintptr_t>(&metric) * 0x9e3779b97f4a7c15 ^ std::hash<std::string_view>{}(labels);
}

constexpr auto kPlain = [] {
  std::array<bool, 256> out{};
  for (size_t c = ' '; c < 0x7f; ++c) out[c] = c != '"' && c != '\\';
  return out;
}();

bool is_plain(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
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

// Do `more`, of which `number` are not empty, stand in `kept` from `at` on, as they are and nothing else?
bool stand_in(std::string_view kept, size_t at, std::initializer_list<Label> more, size_t number) {
  for (const Label& label : more) {
    if (label.name.empty()) continue;
    const size_t comma = at > 0 ? 1 : 0, name = label.name.size(), value = label.value.size();
    if (number-- == 0 || kept.size() - at < comma + name + value + 3) return false;
    const char* text = kept.data() + at;
    if ((comma != 0 && text[0] != ',') || !same_bytes(text + comma, label.name.data(), name)) return false;
    text += comma + name;
    if (text[0] != '=' || text[1] != '"' || text[2 + value] != '"' || !same_bytes(text + 2, label.value.data(), value))
      return false;
    at += comma + name + value + 3;
  }
  return at == kept.size() && number == 0;
}

size_t number_of(std::initializer_list<Label> more) {
  return static_cast<size_t>(std::ranges::count_if(more, [](const Label& label) { return !label.name.empty(); }));
}

size_t series_in(const HistogramSample& histogram) { return histogram.bounds.size() + 3; }  // +Inf, _sum, _count

}  // namespace

void Labels::push_back(const Label& label) {
  if (label.name.empty()) return;
  if (!text_.empty()) text_ += ',';
  (text_ += label.name) += "=\"";
  append_escaped(text_, label.value);
  text_ += '"';
}

std::string_view TextStack::push(std::string_view text) {
  if (text.empty()) return {};
  if (blocks_.empty() || blocks_.back().size - blocks_.back().used < text.size()) {
    const size_t size = std::max(kTextBlock, text.size());
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(size), size, 0});
  }
  Block& block = blocks_.back();
  char* kept = block.bytes.get() + block.used;
  std::copy(text.begin(), text.end(), kept);
  block.used += text.size();
  return {kept, text.size()};
}

void TextStack::pop(size_t size) {
  if (size == 0) return;
  blocks_.back().used -= size;
  if (blocks_.back().used == 0) blocks_.pop_back();
}

void FamilySet::begin(size_t limit) {
  next_ = 0;
  std::vector<Place>().swap(places_);
  placed_ = 0;
  limit_ = limit;
  series_ = over_limit_ = duplicates_ = 0;
}

const std::vector<Family>& FamilySet::families() {
  forget_rest();
  return families_;
}

// Backwards, so that each series is the last of its family and each empty family the last of all.
void FamilySet::forget_rest() {
  if (next_ < steps_.size()) ++shape_;
  for (; next_ < steps_.size(); steps_.pop_back()) {
    const Step step = steps_.back();
    if (!step.first) continue;
    Family& family = families_[step.family];
    if (step.histogram) {
      family.histograms.pop_back();
    } else {
      texts_.pop(family.samples.back().labels.size());
      family.samples.pop_back();
    }
    if (!family.samples.empty() || !family.histograms.empty()) continue;
    family_index_.erase(family.metric);
    families_.pop_back();
  }
}

// The same steps stand there, from the same count of series on.
bool FamilySet::repeats(size_t number, const std::shared_ptr<const void>& from) {
  if (from == nullptr || number >= parts_.size()) return false;
  const Part& last = parts_[number];
  if (last.from != from || last.begin != next_ || last.shape != shape_ || last.limit != limit_ || last.over_limit > 0)
    return false;
  next_ = last.end;
  series_ += last.series;
  duplicates_ += last.duplicates;
  return true;
}

void FamilySet::remember(size_t number, Part before) {
  if (number >= parts_.size()) parts_.resize(number + 1);
  parts_[number] = {std::move(before.from),
                    before.begin,
                    next_,
                    shape_,
                    series_ - before.series,
                    over_limit_ - before.over_limit,
                    duplicates_ - before.duplicates,
                    limit_};
}

void FamilySet::append(Step step) {
  steps_.push_back(step);
  ++shape_;
}

size_t FamilySet::place_of(size_t hash, const Metric& metric, std::string_view labels) const {
  for (size_t at = hash & (places_.size() - 1);; at = (at + 1) & (places_.size() - 1)) {
    const Place& place = places_[at];
    if (place.family == kNowhere) return at;
    const Family& family = families_[place.family];
    if (place.hash == hash && family.metric == &metric && family.samples[place.sample].labels == labels) return at;
  }
}

// Twice as many as there were, of all series that are there.
void FamilySet::make_places() {
  places_.assign(std::max({places_.size() * 2, std::bit_ceil(steps_.size() * 2), kFirstPlaces}), {});
  placed_ = 0;
  for (uint32_t i = 0; i < families_.size(); ++i) {
    const Family& family = families_[i];
    for (uint32_t sample = 0; sample < family.samples.size(); ++sample, ++placed_) {
      const std::string_view labels = family.samples[sample].labels;
      const size_t hash = hash_of(*family.metric, labels);
      places_[place_of(hash, *family.metric, labels)] = {hash, i, sample};
    }
  }
}

uint32_t FamilySet::family_of(const Metric& metric) {
  const auto [known, is_new] = family_index_.try_emplace(&metric, static_cast<uint32_t>(families_.size()));
  if (is_new)
    families_.push_back({.metric = &metric}),
        families_.back().samples.reserve(metric.kind == MetricKind::histogram ? 0 : kFirstSamples);
  return known->second;
}

FamilySet::Step FamilySet::look_for(const Metric& metric, const Labels& labels, std::initializer_list<Label> more) {
  if (placed_ * 2 >= places_.size()) make_places();
  wanted_ = labels;
  for (const Label& label : more) wanted_.push_back(label);
  const std::string_view text = wanted_.text();
  const size_t hash = hash_of(metric, text);
  Place& place = places_[place_of(hash, metric, text)];
  Step step{.before = static_cast<uint32_t>(labels.text().size())};
  if (text.find('\\', step.before) == std::string_view::npos)
    step.more = static_cast<uint8_t>(std::min<size_t>(number_of(more), kUnforeseen));
  step.first = place.family == kNowhere;
  if (!step.first) {
    step.family = place.family;
    step.sample = place.sample;
    return step;
  }
  if (series_ >= limit_) return {};
  const uint32_t family = family_of(metric);
  auto& samples = families_[family].samples;
  place = {hash, family, static_cast<uint32_t>(samples.size())};
  ++placed_;
  samples.push_back({texts_.push(text), 0});
  step.family = family;
  step.sample = place.sample;
  return step;
}

// As many labels in as many bytes, none of them escaped: then none of the values has a quote or a backslash of its own.
inline bool FamilySet::is_next(const Metric& metric, const Labels& labels, std::initializer_list<Label> more) const {
  if (next_ == steps_.size()) return false;
  const Step& step = steps_[next_];
  const std::string_view text = labels.text();
  if (step.more == kUnforeseen || step.before != text.size() || (step.first && series_ >= limit_)) return false;
  const Family& family = families_[step.family];
  if (family.metric != &metric) return false;
  const std::string_view kept = family.samples[step.sample].labels;
  return same_bytes(kept.data(), text.data(), text.size()) && stand_in(kept, text.size(), more, step.more);
}

FamilySet::Named FamilySet::series_of(const Metric& metric, const Labels& labels, std::initializer_list<Label> more) {
  if (!is_next(metric, labels, more)) {
    forget_rest();
    append(look_for(metric, labels, more));
  }
  const Step& step = steps_[next_++];
  if (step.family == kNowhere) {
    ++over_limit_;
    return {};
  }
  MetricSample& sample = families_[step.family].samples[step.sample];
  if (step.first) {
    ++series_;
    sample.value = 0;
  }
  return {&sample, step.first};
}

void FamilySet::add(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value) {
  const Named series = series_of(metric, labels, more);
  if (series.is_new) series.sample->value = value;
  else if (series.sample != nullptr) ++duplicates_;
}

void FamilySet::accumulate(const Metric& metric, const Labels& labels, std::initializer_list<Label> more,
                           double value) {
  if (const Named series = series_of(metric, labels, more); series.sample != nullptr) series.sample->value += value;
}

void FamilySet::add_missing(const Metric& metric, const Labels& labels, double value) {
  if (const Named series = series_of(metric, labels, {}); series.is_new) series.sample->value = value;
}

bool FamilySet::is_next(const Metric& metric, const HistogramSample& histogram) const {
  if (next_ == steps_.size()) return false;
  const Step& step = steps_[next_];
  if (step.family == kNowhere || !step.histogram || families_[step.family].metric != &metric) return false;
  const HistogramSample& kept = families_[step.family].histograms[step.sample];
  if (kept.labels.text() != histogram.labels.text()) return false;
  return !step.first || (std::ranges::equal(kept.bounds, histogram.bounds) &&
                         series_in(histogram) <= limit_ - std::min(series_, limit_));
}

FamilySet::Step FamilySet::look_for(const Metric& metric, const HistogramSample& histogram) {
  const auto known = family_index_.find(&metric);
  const auto same = [&](const HistogramSample& other) { return other.labels.text() == histogram.labels.text(); };
  if (known != family_index_.end()) {
    const auto& there = families_[known->second].histograms;
    const auto found = std::ranges::find_if(there, same);
    if (found != there.end())
      return {.family = known->second, .sample = static_cast<uint32_t>(found - there.begin()), .histogram = true};
  }
  if (series_in(histogram) > limit_ - std::min(series_, limit_)) return {};
  const uint32_t family = family_of(metric);
  auto& histograms = families_[family].histograms;
  histograms.emplace_back();
  return {.family = family, .sample = static_cast<uint32_t>(histograms.size() - 1), .first = true, .histogram = true};
}

void FamilySet::add(const Metric& metric, HistogramSample histogram) {
  if (!is_next(metric, histogram)) {
    forget_rest();
    append(look_for(metric, histogram));
  }
  const Step& step = steps_[next_++];
  if (step.family == kNowhere) {
    over_limit_ += series_in(histogram);
  } else if (!step.first) {
    duplicates_ += series_in(histogram);
  } else {
    series_ += series_in(histogram);
    families_[step.family].histograms[step.sample] = std::move(histogram);
  }
}

}  // namespace fabric
