// SPDX-License-Identifier: Apache-2.0
// The series of a FamilySet in the form that tests compare.
#pragma once

#include "metrics/family.h"
#include "policy/policy.h"
#include "support/test.h"

namespace fabric::test {

// Everything that can be published.
inline const Published kEverything{RawCounters::all, {kValues<SeriesGroup>.begin(), kValues<SeriesGroup>.end()}};

// Series as text -> value: name,label=value,...
using Series = std::map<std::string, double>;
// Fails on a duplicate and on two families of one name; leaves histograms out.
inline Series series(const FamilySet& set) {
  Series out;
  std::set<std::string_view> names;
  for (const prometheus::MetricFamily& family : set.families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name << ": two families of one name";
    if (family.type == prometheus::MetricType::Histogram) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string key = family.name;
      for (const auto& label : metric.label) key += "," + label.name + "=" + label.value;
      EXPECT_TRUE(out.emplace(key, value_of(family.type, metric)).second) << key << " twice";
    }
  }
  return out;
}
// What `add` puts into a set, none of it twice.
inline Series series_of(const std::function<void(FamilySet& set)>& add) {
  FamilySet set;
  add(set);
  EXPECT_EQ(set.dropped_duplicates(), 0u);
  return series(set);
}

}  // namespace fabric::test
