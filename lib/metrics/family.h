// SPDX-License-Identifier: Apache-2.0
// Metric families, as light as they can be: what the exporter renders and what the tests compare.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/metric.h"

namespace fabric {

// As a page shows them: device="mlx5_0",port="1". What many series begin with is written once.
class Labels {
 public:
  Labels() = default;
  Labels(std::initializer_list<Label> labels) {
    size_t size = 0;
    for (const Label& label : labels) size += label.name.size() + label.value.size() + 4;
    text_.reserve(size);
    for (const Label& label : labels) push_back(label);
  }
  // Escapes the value. Bytes that are not UTF-8, and NUL, become U+FFFD: Prometheus would refuse the whole page.
  void push_back(const Label& label);
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  std::string text_;
};

struct MetricSample {
  std::string_view labels;  // Labels::text(), which the set keeps
  double value = 0;         // counters beyond 2^53 are rounded to the nearest double, as everywhere in Prometheus
};

// Observations by size. As series: _count, _sum, a _bucket for each bound and one for +Inf.
struct HistogramSample {
  Labels labels;
  std::span<const double> bounds;  // upper bounds, inclusive, ascending, without +Inf; must outlive the sample
  std::vector<uint64_t> counts;    // of each bucket alone, the last one for what is above every bound
  double sum = 0;
};

struct Family {
  const Metric* metric = nullptr;
  std::vector<MetricSample> samples{};
  std::vector<HistogramSample> histograms{};  // of a metric of that kind, which has no samples
};

// Text in few allocations, given back last first.
class TextStack {
 public:
  std::string_view push(std::string_view text);
  void pop(size_t size);  // the last that was pushed and is there, of this size

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size = 0, used = 0;
  };
  std::vector<Block> blocks_;  // none empty
};

// Families in the order in which each was first added to: contiguous, and no series twice. A set that is begun anew for
// each page remembers the calls of the page before: as long as they come in the same order, each finds its series where
// it was.
class FamilySet {
 public:
  // At most `limit` series; what comes later is dropped and counted.
  explicit FamilySet(size_t limit = SIZE_MAX) : limit_(limit) {}
  // Another page: what comes out is what a new set would give. Metrics and bounds must outlive the set, not the page.
  void begin(size_t limit);

  // `metric` must outlive the set. `more` follows `labels`. A second sample with the same labels is dropped and
  // counted: a scrape with a series twice is refused as a whole by Prometheus.
  void add(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value);
  void add(const Metric& metric, const Labels& labels, double value) { add(metric, labels, {}, value); }
  // As add(), but adds to the series when it is there: two counters that are parts of one.
  void accumulate(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value);
  // As add(), but where the series is there it stays as it is, and nothing is counted.
  void add_missing(const Metric& metric, const Labels& labels, double value);
  // A histogram of MetricKind::histogram, whole or not at all.
  void add(const Metric& metric, HistogramSample histogram);

  // A part of the page that `from` alone decides, which does not change while anybody holds it: where it is what it was
  // on the page before, the part is, too, and `add` is not called. Null: it is called. Of its series nobody else may
  // speak, and each part has a number of its own, from 0.
  template <class Add>
  void part(size_t number, std::shared_ptr<const void> from, Add&& add) {
    if (repeats(number, from)) return;
    const Part before{std::move(from), next_, 0, 0, series_, over_limit_, duplicates_, 0};
    add();
    remember(number, before);
  }

  // What only the page before had is forgotten with this.
  [[nodiscard]] const std::vector<Family>& families();
  // After families(): another number than before when anything but values is another.
  [[nodiscard]] uint64_t shape() const { return shape_; }
  [[nodiscard]] size_t series() const { return series_; }
  [[nodiscard]] size_t dropped_by_limit() const { return over_limit_; }
  [[nodiscard]] size_t dropped_duplicates() const { return duplicates_; }
  // Room for the few series that tell about the rest.
  void raise_limit(size_t by) { limit_ += limit_ > SIZE_MAX - by ? 0 : by; }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;
  static constexpr uint8_t kUnforeseen = UINT8_MAX;
  // A call and what became of it.
  struct Step {
    uint32_t family = kNowhere;  // dropped for want of room
    uint32_t sample = 0;         // or histogram
    uint32_t before = 0;         // bytes of its text that came as Labels
    uint8_t more = kUnforeseen;  // labels that came one by one; kUnforeseen: some of them escaped, or no sample
    bool first = false;          // of those that named the series: made it
    bool histogram = false;
  };
  // Where a series stands.
  struct Place {
    size_t hash = 0;  // of metric and labels
    uint32_t family = kNowhere, sample = 0;
  };

  struct Part {
    std::shared_ptr<const void> from{};
    size_t begin = 0, end = 0;  // steps
    uint64_t shape = 0;
    size_t series = 0, over_limit = 0, duplicates = 0;  // that it added
    size_t limit = 0;
  };
  bool repeats(size_t number, const std::shared_ptr<const void>& from);
  void remember(size_t number, Part before);

  // The sample with these labels, made when there is none; null when the limit forbids that.
  struct Named {
    MetricSample* sample = nullptr;
    bool is_new = false;  // on this page; its value is 0
  };
  Named series_of(const Metric& metric, const Labels& labels, std::initializer_list<Label> more);
  // Was this the next call of the page before, too, and would become of it what became of it then?
  [[nodiscard]] bool is_next(const Metric& metric, const Labels& labels, std::initializer_list<Label> more) const;
  [[nodiscard]] bool is_next(const Metric& metric, const HistogramSample& histogram) const;
  Step look_for(const Metric& metric, const Labels& labels, std::initializer_list<Label> more);
  Step look_for(const Metric& metric, const HistogramSample& histogram);
  void append(Step step);
  // All that only calls of the page before made, from the next on.
  void forget_rest();
  uint32_t family_of(const Metric& metric);
  // The place of the series or, where it is not there, the free one for it.
  [[nodiscard]] size_t place_of(size_t hash, const Metric& metric, std::string_view labels) const;
  void make_places();

  TextStack texts_;  // of the samples' labels, in the order of the steps
  Labels wanted_;    // of the series that is looked for
  std::vector<Family> families_;
  std::unordered_map<const Metric*, uint32_t> family_index_;
  std::vector<Step> steps_;  // of this page, and behind next_ of the one before
  std::vector<Part> parts_;
  size_t next_ = 0;
  uint64_t shape_ = 0;
  std::vector<Place>
      places_;  // open addressing; a power of two, at most half full; none before something is looked for
  size_t placed_ = 0;
  size_t limit_, series_ = 0, over_limit_ = 0, duplicates_ = 0;
};

}  // namespace fabric
