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

TEST(CountersManual, HasTheKernelSourceOfEveryRow) {
  const std::string made = counters_manual();
  for (const CounterTable& table : counter_tables())
    for (const CounterRow& row : table.rows) {
      EXPECT_FALSE(row.origin.kernel.empty() || row.origin.reset.empty()) << table.vendor << ": " << row.name;
      for (const CounterRow& other : table.rows)
        EXPECT_TRUE(&other.origin == &row.origin || other.origin.kernel != row.origin.kernel)
            << other.name << ": the same origin as that of " << row.name << ", written twice";
    }
}

}  // namespace
}  // namespace fabric
