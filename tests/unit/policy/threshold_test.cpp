// SPDX-License-Identifier: Apache-2.0
// Every Threshold has its source and its key, is named by the row that compares with it, and follows the configuration.
#include "checks/check.h"
#include "diagnosis/diagnosis.h"
#include "judge/report.h"
#include "policy/config.h"
#include "support/config.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

Result<LoadedConfig> configured(const Threshold& row, double value) {
  return parse_config("[thresholds]\n" + std::string(row.key) + " = " + test::number(value) + "\n", "test");
}

TEST(Threshold, HasSourceKeyRangeAndARow) {
  std::set<const Threshold*> used;
  for (const Check& check : checks()) used.insert(check.thresholds.begin(), check.thresholds.end());
  for (const Rule& rule : rules()) used.insert(rule.thresholds.begin(), rule.thresholds.end());
  used.erase(nullptr);
  const auto all = thresholds();
  EXPECT_EQ(used, std::set<const Threshold*>(all.begin(), all.end())) << "run cmake again after adding a row";
  std::set<std::string_view> keys;
  for (const Threshold* row : all) {
    EXPECT_TRUE(used.contains(row)) << row->key << " is in no row of a check or rule";
    EXPECT_TRUE(keys.insert(row->key).second) << row->key;
    EXPECT_FALSE(row->unit.empty() || row->source.empty()) << row->key;
    EXPECT_TRUE(row->least <= row->value && row->value <= row->most && row->least < row->most) << row->key;
  }
}

TEST(Threshold, FollowsTheConfigurationWithinItsRange) {
  test::Healthy machine;
  for (const Threshold* row : thresholds()) {
    EXPECT_EQ(limit_of(machine.view(), *row), row->value) << row->key;
    const double other = row->value == row->most ? row->least : row->most;
    const auto loaded = configured(*row, other);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    machine.policy.thresholds = loaded->policy.thresholds;
    EXPECT_DOUBLE_EQ(limit_of(machine.view(), *row), other) << row->key;
    EXPECT_TRUE(test::has(show_config(loaded->policy), std::string(row->key) + " = " + test::number(other)))
        << row->key;
    machine.policy.thresholds.clear();
    for (const double wrong : {row->most * 2, -1.0}) {
      const auto rejected = configured(*row, wrong);
      ASSERT_FALSE(rejected.ok()) << row->key << " " << wrong;
      EXPECT_TRUE(test::has(rejected.error().text(),
                            "expected a number from " + test::number(row->least) + " to " + test::number(row->most)));
    }
  }
}

TEST(Threshold, ChangesAVerdict) {
  test::Healthy machine;
  const std::vector<std::string> only{"nofile"};
  EXPECT_EQ(worst(run_checks(machine.view(), only)), Status::ok);
  machine.policy.thresholds = {{"open_files", 1e9}};
  const Report report = run_checks(machine.view(), only);
  EXPECT_EQ(worst(report), Status::warning);
  EXPECT_EQ(report.findings.at(0).expected, "at least 1000000000 (hard limit)");
}

}  // namespace
}  // namespace fabric
