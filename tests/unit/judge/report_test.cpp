// SPDX-License-Identifier: Apache-2.0
// The verdict of a report and its JSON.
#include "judge/report.h"

#include "base/json.h"
#include "support/test.h"

namespace fabric {
namespace {

Report of(std::vector<Status> statuses) {
  Report report;
  for (Status status : statuses) report.findings.push_back({"id", "subject", status, "o", "e", "", ""});
  return report;
}

TEST(Report, StatusesRankAsInMonitoringPlugins) {
  EXPECT_EQ(worst(Report{}), Status::ok);
  EXPECT_EQ(worst(of({Status::ok, Status::unknown})), Status::unknown);
  EXPECT_EQ(worst(of({Status::unknown, Status::warning})), Status::warning);
  EXPECT_EQ(worst(of({Status::warning, Status::critical, Status::unknown})), Status::critical);
  EXPECT_EQ(static_cast<int>(Status::warning), 1);
  EXPECT_EQ(static_cast<int>(Status::critical), 2);
  EXPECT_EQ(static_cast<int>(Status::unknown), 3);
}

TEST(Report, JsonKeepsTheContract) {
  const Report report{{{"pfc", "mlx5_0/1", Status::critical, "none", "3", "why", "what"}}};
  EXPECT_EQ(to_json(report).dump(),
            R"({"verdict":"critical","checks":[{"id":"pfc","subject":"mlx5_0/1","status":"critical",)"
            R"("observed":"none","expected":"3","meaning":"why","remedy":"what"}]})");
}

}  // namespace
}  // namespace fabric
