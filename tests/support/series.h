// SPDX-License-Identifier: Apache-2.0
// Converts a FamilySet to the form that tests compare.
#pragma once

#include "metrics/family.h"
#include "policy/policy.h"
#include "support/test.h"

namespace fabric::test {

// Publishes all groups of series.
inline const Published kEverything{RawCounters::all, {kValues<SeriesGroup>.begin(), kValues<SeriesGroup>.end()}};

// "name,label=value,..." -> value
using Series = std::map<std::string, double>;
// Fails on duplicate series and on two families of one name. Omits histograms.
inline Series series(const FamilySet& set) {
  Series out;
  std::set<std::string> names;
  for (const prometheus::MetricFamily& family : set.families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name << ": two families of one name";
    if (family.type == prometheus::MetricType::Histogram) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string key = family.name;
      for (const auto& label : metric.label) key += "," + label.name + "=" + label.value;
      double value = metric.untyped.value;
      if (family.type == prometheus::MetricType::Counter) value = metric.counter.value;
      if (family.type == prometheus::MetricType::Gauge) value = metric.gauge.value;
      EXPECT_TRUE(out.emplace(key, value).second) << key << " twice";
    }
  }
  return out;
}
// The series that `add` adds to an empty set. Fails on duplicates.
inline Series series_of(const std::function<void(FamilySet& set)>& add) {
  FamilySet set;
  add(set);
  EXPECT_EQ(set.dropped_duplicates(), 0u);
  return series(set);
}

}  // namespace fabric::test
