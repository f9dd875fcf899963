// SPDX-License-Identifier: Apache-2.0
// Metric families, as light as they can be: what the exporter renders and what the tests compare.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fabric {

enum class MetricKind : uint8_t { counter, gauge, histogram };

// One family. The name and the help are literals: they live as long as the program.
struct Metric {
  std::string_view name;
  std::string_view help;  // one line, plain ASCII without backslash: needs no escaping
  MetricKind kind = MetricKind::counter;
};

// An empty name gives none.
struct Label {
  std::string_view name, value;  // the name a literal, the value any bytes
  bool operator==(const Label&) const = default;
};

// As a page shows them: device="mlx5_0",port="1". What many series begin with is written once.
class Labels {
 public:
  Labels() = default;
  Labels(std::initializer_list<Label> labels) {
    for (const Label& label : labels) push_back(label);
  }
  // Escapes the value. Bytes that are not UTF-8, and NUL, become U+FFFD: Prometheus would refuse the whole page.
  void push_back(const Label& label);
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] size_t hash() const { return hash_; }

 private:
  std::string text_;
  size_t hash_ = 0;  // of the values: most series of a metric have the same names
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
  std::pmr::vector<MetricSample> samples;
  std::vector<HistogramSample> histograms{};  // of a metric of that kind, which has no samples
};

// Families in the order in which each was first added to: contiguous, and no series twice.
class FamilySet {
 public:
  // At most `limit` series; what comes later is dropped and counted.
  explicit FamilySet(size_t limit = SIZE_MAX) : limit_(limit) {}

  // `metric` must outlive the set. `more` follows `labels`. A second sample with the same labels is dropped and counted: a
  // scrape with a series twice is refused as a whole by Prometheus.
  void add(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value);
  void add(const Metric& metric, const Labels& labels, double value) { add(metric, labels, {}, value); }
  // As add(), but adds to the series when it is there: two counters that are parts of one.
  void accumulate(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value);
  // Is the series there?
  [[nodiscard]] bool has(const Metric& metric, const Labels& labels) const;
  // A histogram of MetricKind::histogram, whole or not at all.
  void add(const Metric& metric, HistogramSample histogram);

  [[nodiscard]] const std::vector<Family>& families() const { return families_; }
  [[nodiscard]] size_t series() const { return series_; }
  [[nodiscard]] size_t dropped_by_limit() const { return over_limit_; }
  [[nodiscard]] size_t dropped_duplicates() const { return duplicates_; }
  // Room for the few series that tell about the rest.
  void raise_limit(size_t by) { limit_ += limit_ > SIZE_MAX - by ? 0 : by; }

 private:
  // Where a series stands. A page has a thousand of them, made anew each time: nothing of one is allocated for itself.
  struct Place {
    size_t hash = 0;  // of metric and labels
    uint32_t family = kNowhere, sample = 0;
  };
  static constexpr uint32_t kNowhere = UINT32_MAX;

  // The sample with these labels, made when there is none; null when the limit forbids that.
  MetricSample* series_of(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, bool& existed);
  Family& family_of(const Metric& metric);
  // The place of the series or, where it is not there, the free one for it.
  [[nodiscard]] size_t place_of(size_t hash, const Metric& metric, std::string_view labels) const;
  void grow();

  std::pmr::monotonic_buffer_resource memory_{1 << 14};  // of samples and their labels
  Labels wanted_;                                        // of the series that is looked for
  std::vector<Family> families_;
  std::unordered_map<const Metric*, uint32_t> family_index_;
  std::vector<Place> places_;  // open addressing; a power of two, at most half full
  size_t placed_ = 0;
  size_t limit_, series_ = 0, over_limit_ = 0, duplicates_ = 0;
};

}  // namespace fabric
