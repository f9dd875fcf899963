// SPDX-License-Identifier: Apache-2.0
// fabric-counters(7) matches the tables.
#include "metrics/telemetry_metrics.h"
#include "nic/counter_catalogue.h"
#include "support/manuals.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::counters_manual;
using test::has;

const std::string kPage = "agent/exporter/fabric-counters.7";

TEST(CountersManual, IsWhatTheTablesMake) { test::expect_generated(kPage, counters_manual()); }

TEST(CountersManual, HasEveryRowOfEveryVendor) {
  const std::string made = counters_manual();
  size_t metrics = 0;
  for (const CounterTable& table : counter_tables())
    for (const CounterRow& row : table.rows) {
      std::string name;
      for (const char letter : row.name) name += letter == '-' ? "\\-" : std::string(1, letter);
      EXPECT_TRUE(has(made, name)) << row.name;
      if (row.metric == nullptr) continue;
      ++metrics;
      EXPECT_TRUE(has(made, ".B " + std::string(row.metric->name) + "\n")) << row.metric->name;
    }
  EXPECT_GT(metrics, 100u);
  for (const Metric* metric : metrics::kTelemetry)
    EXPECT_TRUE(has(made, ".B " + std::string(metric->name) + "\n")) << metric->name;
}

// Each row has a source: an origin begins at a row of its table, the first at the first row, and in the rows' order.
TEST(CountersManual, HasTheKernelSourceOfEveryRow) {
  for (const CounterTable& table : counter_tables()) {
    ASSERT_FALSE(table.origins.empty()) << table.vendor;
    EXPECT_EQ(table.origins.front().first, table.rows.front().name) << table.vendor;
    auto row = table.rows.begin();
    for (const CounterOrigin& origin : table.origins) {
      row = std::find_if(row, table.rows.end(), [&](const CounterRow& each) { return each.name == origin.first; });
      ASSERT_NE(row, table.rows.end()) << table.vendor << ": " << origin.first;
      EXPECT_FALSE(origin.kernel.empty() || origin.reset.empty()) << origin.first;
    }
  }
}

}  // namespace
}  // namespace fabric
