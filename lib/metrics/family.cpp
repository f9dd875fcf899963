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

void append_label_value(std::string& out, std::string_view value) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(value, is_plain)) {
    out += value;
    return;
  }
  for (size_t at = 0; at < value.size();) {
    const size_t length = utf8_length(value, at);
    if (length == 0 || value[at] == '\0') {
      out += "\xef\xbf\xbd";
      ++at;
      continue;
    }
    if (value[at] == '"' || value[at] == '\\') out += '\\';
    if (value[at] == '\n') out += "\\n";
    else out += value.substr(at, length);
    at += length;
  }
}

// `begin`: where the series' labels begin in `out`.
void append_label(std::string& out, size_t begin, const Label& label) {
  if (label.name.empty()) return;
  if (out.size() > begin) out += ',';
  (out += label.name) += "=\"";
  append_label_value(out, label.value);
  out += '"';
}

// The labels of `text`, which append_label() has written.
std::vector<ClientMetric::Label> labels_in(std::string_view text) {
  std::vector<ClientMetric::Label> out;
  for (size_t at = 0; at < text.size(); at += 2) {  // 2: the closing quote and the comma
    const size_t equals = text.find('=', at);
    ClientMetric::Label& label = out.emplace_back();
    label.name = text.substr(at, equals - at);
    for (at = equals + 2; text[at] != '"'; ++at) {
      if (text[at] != '\\') label.value += text[at];
      else if (text[++at] == 'n') label.value += '\n';
      else label.value += text[at];
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

Labels::Labels(const Labels& labels, std::initializer_list<Label> more) : text_(labels.text_) {
  for (const Label& label : more) push_back(label);
}

void Labels::push_back(const Label& label) { append_label(text_, 0, label); }

std::vector<MetricFamily> FamilySet::families() const {
  std::vector<MetricFamily> out;
  for (const SeriesFamily& family : families_) {
    const MetricType type = type_of(family.metric.kind);
    MetricFamily& converted = out.emplace_back();
    converted.name = family.metric.name;
    converted.help = family.metric.help;
    converted.type = type;
    for (const Series& series : family.series) {
      ClientMetric& metric = converted.metric.emplace_back();
      metric.label = labels_in(labels(series));
      if (type == MetricType::Counter) metric.counter.value = series.value;
      if (type == MetricType::Gauge) metric.gauge.value = series.value;
      if (type == MetricType::Untyped) metric.untyped.value = series.value;
      if (series.histogram) metric.histogram = *series.histogram;
    }
  }
  return out;
}

FamilySet::FoundSeries FamilySet::find_or_create(const Metric& metric, const Labels& labels,
                                                 std::initializer_list<Label> more, size_t size) {
  const size_t begin = labels_.size();
  labels_ += labels.text();
  for (const Label& label : more) append_label(labels_, begin, label);
  const std::string_view text = std::string_view(labels_).substr(begin);
  const auto known = by_name_.find(metric.name);
  const auto index = known != by_name_.end() ? known->second : static_cast<uint32_t>(families_.size());
  const size_t hash = std::hash<std::string_view>()(text) * 31 + index;

  size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot].number != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].hash != hash || slots_[slot].family != index) continue;
    Series& series = families_[index].series[slots_[slot].number - 1];
    if (this->labels(series) != text) continue;
    labels_.resize(begin);
    return {&series, false};
  }
  if (size > limit_ - std::min(series_, limit_)) {
    labels_.resize(begin);
    over_limit_ += size;
    return {};
  }

  if (known == by_name_.end()) {
    by_name_.emplace(metric.name, index);
    families_.push_back({metric, {}});
    families_.back().series.reserve(8);  // most families have a series for each port
  }
  SeriesFamily& family = families_[index];
  family.series.push_back({.begin = begin, .size = text.size()});
  slots_[slot] = {hash, index, static_cast<uint32_t>(family.series.size())};
  series_ += size;
  if (++slots_in_use_ * 2 > slots_.size()) grow();
  return {&family.series.back(), true};
}

void FamilySet::grow() {
  std::vector<SeriesSlot> slots(slots_.size() * 2);
  for (const SeriesSlot& each : slots_) {
    if (each.number == 0) continue;
    size_t slot = each.hash & (slots.size() - 1);
    while (slots[slot].number != 0) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = each;
  }
  slots_ = std::move(slots);
}

void FamilySet::add(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value) {
  const FoundSeries found = find_or_create(metric, labels, more);
  if (found.is_new) found.series->value = value;
  else if (found.series != nullptr) ++duplicates_;
}

void FamilySet::accumulate(const Metric& metric, const Labels& labels, std::initializer_list<Label> more,
                           double value) {
  const FoundSeries found = find_or_create(metric, labels, more);
  if (found.series != nullptr) found.series->value += value;
}

void FamilySet::add_missing(const Metric& metric, const Labels& labels, double value) {
  if (const FoundSeries found = find_or_create(metric, labels, {}); found.is_new) found.series->value = value;
}

void FamilySet::add(const Metric& metric, const HistogramSample& sample) {
  const size_t size = sample.bounds.size() + 3;  // +Inf, _sum, _count
  const FoundSeries found = find_or_create(metric, sample.labels, {}, size);
  if (!found.is_new) {
    if (found.series != nullptr) duplicates_ += size;
    return;
  }
  ClientMetric::Histogram& histogram = *(found.series->histogram = std::make_unique<ClientMetric::Histogram>());
  histogram.sample_sum = sample.sum;
  for (size_t i = 0; i <= sample.bounds.size(); ++i) {
    if (i < sample.counts.size()) histogram.sample_count += sample.counts[i];
    double bound = std::numeric_limits<double>::infinity();
    if (i < sample.bounds.size()) bound = sample.bounds[i];
    histogram.bucket.push_back({histogram.sample_count, bound});
  }
}

}  // namespace fabric
