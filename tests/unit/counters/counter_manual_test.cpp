// SPDX-License-Identifier: Apache-2.0
// fabric-counters(7) matches the tables.
#include "counters/catalogue.h"
#include "metrics/telemetry_metrics.h"
#include "support/manuals.h"
#include "support/test.h"

namespace fabric {
namespace {

const std::string kPage = FABRIC_SOURCE_DIR "/agent/exporter/fabric-counters.7";

TEST(CountersManual, IsWhatTheTablesMake) {
  const std::string made = test::counters_manual();
  if (std::getenv("FABRIC_UPDATE_GOLDEN") != nullptr) std::ofstream(kPage) << made;
  std::stringstream page;
  page << std::ifstream(kPage).rdbuf();
  EXPECT_EQ(page.str(), made) << kPage << " is out of date; run tests/regenerate counter_manual";
}

TEST(CountersManual, HasEveryRowOfEveryVendor) {
  const std::string made = test::counters_manual();
  size_t metrics = 0;
  for (const CounterTable& table : counter_tables())
    for (const CounterRow& row : table.rows) {
      std::string name;
      for (const char letter : row.name) name += letter == '-' ? "\\-" : std::string(1, letter);
      EXPECT_NE(made.find(name), std::string::npos) << row.name;
      if (row.metric == nullptr) continue;
      ++metrics;
      EXPECT_NE(made.find(".B " + std::string(row.metric->name) + "\n"), std::string::npos) << row.metric->name;
    }
  EXPECT_GT(metrics, 100u);
  for (const Metric* metric : metrics::kTelemetry)
    EXPECT_NE(made.find(".B " + std::string(metric->name) + "\n"), std::string::npos) << metric->name;
}

// An entry as people read it: which thing, in which unit, by which names.
TEST(CountersManual, HasUnitClassAndSources) {
  const std::string made = test::counters_manual();
  const size_t at = made.find(".B fabric_pfc_paused_seconds_total\n");
  ASSERT_NE(at, std::string::npos);
  const std::string entry = made.substr(at, made.find(".TP", at) - at);
  EXPECT_NE(entry.find("Unit: seconds."), std::string::npos) << entry;
  EXPECT_NE(entry.find("NVIDIA mlx5: ethtool rx_prio#_pause_duration (direction rx, microseconds)"), std::string::npos)
      << entry;
  EXPECT_NE(entry.find("Broadcom bnxt_re, bnxt_en, bng_en: ethtool pfc_pri#_rx_duration_us"), std::string::npos)
      << entry;
  const size_t error = made.find(".B fabric_rdma_ack_timeouts_total\n");
  EXPECT_NE(made.substr(error, made.find(".TP", error) - error).find("Class: loss"), std::string::npos);
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
  const std::string made = test::counters_manual();
  const size_t at = made.find("bnxt_get_ethtool_stats(): bnxt_port_stats_arr");
  ASSERT_NE(at, std::string::npos);
  const std::string entry = made.substr(at, made.find(".TP", at) - at);
  EXPECT_NE(entry.find("rx_pcs_symbol_err"), std::string::npos) << entry;
  EXPECT_NE(entry.find("Reset by: "), std::string::npos);
}

}  // namespace
}  // namespace fabric
