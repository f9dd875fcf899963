// SPDX-License-Identifier: Apache-2.0
// fabric-counters(7) matches the tables.
#include "counters/catalogue.h"
#include "metrics/telemetry_metrics.h"
#include "support/manuals.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::counters_manual;
using test::has;

const std::string kPage = "agent/exporter/fabric-counters.7";

TEST(CountersManual, IsWhatTheTablesMake) {
  const std::string made = counters_manual();
  if (std::getenv("FABRIC_UPDATE_GOLDEN") != nullptr) std::ofstream(FABRIC_SOURCE_DIR "/" + kPage) << made;
  EXPECT_EQ(test::of_source(kPage), made) << kPage << " is out of date; run tests/regenerate counter_manual";
}

// What the page says of the name, up to the next one.
std::string entry_of(const std::string& name) {
  const std::string made = counters_manual();
  const size_t at = made.find(name);
  EXPECT_NE(at, std::string::npos) << name;
  return at == std::string::npos ? "" : made.substr(at, made.find(".TP", at) - at);
}

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

// An entry as people read it: which thing, in which unit, by which names.
TEST(CountersManual, HasUnitClassAndSources) {
  const std::string entry = entry_of(".B fabric_pfc_paused_seconds_total\n");
  EXPECT_TRUE(has(entry, "Unit: seconds.")) << entry;
  EXPECT_TRUE(has(entry, "NVIDIA mlx5: ethtool rx_prio#_pause_duration (direction rx, microseconds)")) << entry;
  EXPECT_TRUE(has(entry, "Broadcom bnxt_re, bnxt_en, bng_en: ethtool pfc_pri#_rx_duration_us")) << entry;
  EXPECT_TRUE(has(entry_of(".B fabric_rdma_ack_timeouts_total\n"), "Class: loss"));
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
  const std::string entry = entry_of("bnxt_get_ethtool_stats(): bnxt_port_stats_arr");
  EXPECT_TRUE(has(entry, "rx_pcs_symbol_err")) << entry;
  EXPECT_TRUE(has(entry, "Reset by: "));
}

}  // namespace
}  // namespace fabric
