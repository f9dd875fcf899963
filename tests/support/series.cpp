// SPDX-License-Identifier: Apache-2.0
#include "support/series.h"

#include "support/test.h"

namespace fabric::test {

std::map<std::string, double> series(const FamilySet& set) {
  std::map<std::string, double> out;
  for (const prometheus::MetricFamily& family : set.families()) {
    if (family.type == prometheus::MetricType::Histogram) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string key = family.name;
      for (const auto& label : metric.label) key += "," + label.name + "=" + label.value;
      EXPECT_TRUE(out.emplace(key, value_of(family.type, metric)).second) << key << " twice";
    }
  }
  return out;
}

}  // namespace fabric::test
