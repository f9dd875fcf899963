// SPDX-License-Identifier: Apache-2.0
// Collects the series of a page. They are kept as a page shows them, which costs a third of prometheus-cpp's data
// model; families() converts them.
#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nic/metrics.h"

namespace fabric {

// Labels of a series, kept as their text on a page: device="mlx5_0",port="1". Skips a label without a name. NUL and
// bytes that are not UTF-8 become U+FFFD, because Prometheus rejects a whole page for one of them.
class Labels {
 public:
  Labels() = default;
  Labels(std::initializer_list<Label> labels) : Labels(Labels(), labels) {}
  Labels(const Labels& labels, std::initializer_list<Label> more);
  void push_back(const Label& label);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A histogram of observations. Its series: _count, _sum, one _bucket per bound and one for +Inf.
struct HistogramSample {
  Labels labels;
  std::span<const double> bounds;  // inclusive upper bounds, ascending, without +Inf
  std::vector<uint64_t> counts;    // per bucket, not cumulative; the last one counts values above every bound
  double sum = 0;
};

// Collects series into families, in the order of first use. Each family is contiguous and no series occurs twice:
// Prometheus rejects a page that violates either. A Metric's name must outlive the set.
class FamilySet {
 public:
  // Series beyond `limit` are dropped and counted.
  explicit FamilySet(size_t limit = SIZE_MAX) : slots_(2048), limit_(limit) {}

  // Adds a series with `labels` and then `more`. A second one with the same labels is dropped and counted.
  void add(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value);
  void add(const Metric& metric, const Labels& labels, double value) { add(metric, labels, {}, value); }
  // Adds to the value of an existing series: for two counters that are parts of one.
  void accumulate(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value);
  // Leaves an existing series unchanged and does not count a duplicate.
  void add_missing(const Metric& metric, const Labels& labels, double value);
  // Adds a histogram with all of its series, or none if they exceed the limit.
  void add(const Metric& metric, const HistogramSample& histogram);

  struct Series {
    size_t begin = 0, size = 0;                                        // of its labels' text in the text of all series
    double value = 0;                                                  // not of a histogram
    std::unique_ptr<prometheus::ClientMetric::Histogram> histogram{};  // null: not a histogram
  };
  struct SeriesFamily {
    Metric metric;
    std::vector<Series> series;
  };
  [[nodiscard]] const std::vector<SeriesFamily>& list() const { return families_; }
  // As the page shows them: device="mlx5_0",port="1".
  [[nodiscard]] std::string_view labels(const Series& series) const {
    return std::string_view(labels_).substr(series.begin, series.size);
  }
  // In prometheus-cpp's data model.
  [[nodiscard]] std::vector<prometheus::MetricFamily> families() const;
  [[nodiscard]] size_t series() const { return series_; }
  [[nodiscard]] size_t dropped_by_limit() const { return over_limit_; }
  [[nodiscard]] size_t dropped_duplicates() const { return duplicates_; }
  // Makes room for the few series that describe the page itself.
  void raise_limit(size_t by) {
    if (limit_ <= SIZE_MAX - by) limit_ += by;
  }

 private:
  struct FoundSeries {
    Series* series = nullptr;  // null: over the limit; valid until the next call
    bool is_new = false;
  };
  // Finds the series with these labels or creates it; `size`: how many lines of the page it takes.
  FoundSeries find_or_create(const Metric& metric, const Labels& labels, std::initializer_list<Label> more,
                             size_t size = 1);

  // A hash table with open addressing, of which at most half is in use: an allocation for each series would cost more
  // than the rest of add().
  struct SeriesSlot {
    size_t hash = 0;
    uint32_t family = 0, number = 0;  // 0: free; else the series' index + 1
  };
  void grow();

  std::vector<SeriesFamily> families_;
  std::string labels_;  // the labels of all series, one after the other
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<SeriesSlot> slots_;  // a power of two
  size_t slots_in_use_ = 0;
  size_t limit_, series_ = 0, over_limit_ = 0, duplicates_ = 0;
};

}  // namespace fabric
