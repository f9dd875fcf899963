// SPDX-License-Identifier: Apache-2.0
// An exporter's names of raw counters. For the compat_*.cpp files only.
#pragma once

#include <deque>

#include "metrics/compat.h"

namespace fabric {

struct CompatRow {
  CounterSource source;
  std::string_view raw;   // '#': a priority, which becomes a label
  std::string_view name;  // of the metric, without the exporter's prefix and "_total"
  FixedLabel label{}, more{};
};

class CompatTable {
 public:
  // `in_base_units`: as the catalogue scales them, not as the driver counts.
  CompatTable(std::string prefix, std::span<const CompatRow> rows, bool in_base_units = false);
  CompatTable(CompatTable&&) = default;

  // Rows of counters that the catalogue describes; its text is their help.
  void add(std::span<const CompatRow> rows);
  void add(const CompatRow& row, const CounterRow& described);
  // A series for each counter that has a name here, with `labels` and the row's.
  void publish(FamilySet& families, const Labels& labels, CounterSource source,
               std::span<const Counter> counters) const;
  [[nodiscard]] const std::vector<CompatName>& names() const { return names_; }

 private:
  struct Series {
    const Metric* metric;
    FixedLabel label, more;
    std::string priority;
    Scale scale;
  };
  struct Named {
    std::string name, help;
    Metric metric{};
  };
  const Metric& metric_of(const CompatRow& row, const CounterRow& described);

  std::string prefix_;
  bool in_base_units_;
  std::deque<Named> metrics_;  // does not move what it holds
  std::vector<CompatName> names_;
  std::unordered_multimap<std::string, Series> series_;  // by source and raw name
};

}  // namespace fabric
