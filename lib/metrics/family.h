// SPDX-License-Identifier: Apache-2.0
// Builder of metric families in prometheus-cpp's data model.
#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <initializer_list>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nic/metrics.h"

namespace fabric {

// Labels of a series. Skips a label without a name. NUL and bytes that are not UTF-8 become U+FFFD, because Prometheus
// rejects a whole page for one of them.
class Labels {
 public:
  using List = std::vector<prometheus::ClientMetric::Label>;

  Labels() = default;
  Labels(std::initializer_list<Label> labels) : Labels(Labels(), labels) {}
  Labels(const Labels& labels, std::initializer_list<Label> more) {
    list_.reserve(labels.list_.size() + more.size());
    list_ = labels.list_;
    for (const Label& label : more) push_back(label);
  }
  void push_back(const Label& label);
  [[nodiscard]] const List& list() const { return list_; }
  [[nodiscard]] List take() && { return std::move(list_); }

 private:
  List list_;
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
  explicit FamilySet(size_t limit = SIZE_MAX) : by_series_(1024), limit_(limit) {}

  // Adds a series with `labels` and then `more`. A second one with the same labels is dropped and counted.
  void add(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value);
  void add(const Metric& metric, const Labels& labels, double value) { add(metric, labels, {}, value); }
  // Adds to the value of an existing series: for two counters that are parts of one.
  void accumulate(const Metric& metric, const Labels& labels, std::initializer_list<Label> more, double value);
  // Leaves an existing series unchanged and does not count a duplicate.
  void add_missing(const Metric& metric, const Labels& labels, double value);
  // Adds a histogram with all of its series, or none if they exceed the limit.
  void add(const Metric& metric, const HistogramSample& histogram);

  [[nodiscard]] const std::vector<prometheus::MetricFamily>& families() const { return families_; }
  // Moves the families out; the set must not be used afterwards.
  [[nodiscard]] std::vector<prometheus::MetricFamily> take() { return std::move(families_); }
  [[nodiscard]] size_t series() const { return series_; }
  [[nodiscard]] size_t dropped_by_limit() const { return over_limit_; }
  [[nodiscard]] size_t dropped_duplicates() const { return duplicates_; }
  // Makes room for the few series that describe the page itself.
  void raise_limit(size_t by) {
    if (limit_ <= SIZE_MAX - by) limit_ += by;
  }

 private:
  struct FoundMetric {
    prometheus::ClientMetric* metric = nullptr;  // null: over the limit; valid until the next call
    bool is_new = false;
  };
  // Finds the metric with these labels or creates it; `size` is its number of series.
  FoundMetric find_or_create(const Metric& metric, Labels labels, size_t size = 1);
  prometheus::MetricFamily& family_of(const Metric& metric);

  std::vector<prometheus::MetricFamily> families_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::unordered_multimap<size_t, std::pair<size_t, size_t>> by_series_;  // hash of name and labels -> family, metric
  size_t limit_, series_ = 0, over_limit_ = 0, duplicates_ = 0;
};

// The value of a metric that is not a histogram.
double& value_of(prometheus::MetricType type, prometheus::ClientMetric& metric);
double value_of(prometheus::MetricType type, const prometheus::ClientMetric& metric);

}  // namespace fabric
