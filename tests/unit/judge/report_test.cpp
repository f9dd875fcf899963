// SPDX-License-Identifier: Apache-2.0
// The verdict of a report and its JSON.
#include "judge/report.h"

#include "base/json.h"
#include "node/node.h"
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
            R"("observed":"none","expected":"3","meaning":"why","remedy":"what"}],"not_judged":[]})");
}

// What limits the verdict is shown with it, and does not change it.
TEST(Report, WhatIsNotJudgedIsSaidWithTheVerdict) {
  Report report = of({Status::ok, Status::ok});
  report.findings[1].observed = "3 of 8 devices";
  report.findings[1].unjudged = true;
  EXPECT_EQ(worst(report), Status::ok);
  EXPECT_EQ(counts_text(report, true), "1 ok, 1 not judged");
  const std::vector<FindingGroup> groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].finding, &report.findings[1]);
  const Json json = to_json(report);
  EXPECT_EQ(json["verdict"], "ok");
  EXPECT_EQ(json["not_judged"].dump(), R"([{"id":"id","subject":"subject","observed":"3 of 8 devices"}])");
  EXPECT_FALSE(json["checks"][0].contains("judged"));
  EXPECT_EQ(json["checks"][1]["judged"], false);
  report.findings[1].acknowledged = true;
  EXPECT_EQ(counts_text(report, true), "1 ok, 1 acknowledged");
  EXPECT_TRUE(to_json(report)["not_judged"].empty());
}

// One fault of several ports is one entry of a text, although each fix names its own netdev.
TEST(Report, FindingsThatDifferOnlyInTheNamesOfTheirPortAreOne) {
  const auto of_port = [](int number, const std::string& netdev) {
    const std::string rdma = "mlx5_" + std::to_string(number), pci = "0000:1" + std::to_string(number) + ":00.0";
    Finding out{"link-errors",
                rdma + "/1",
                Status::warning,
                "bad bits on " + netdev,
                "none",
                "why",
                "ethtool -m " + netdev + "; lspci -s " + pci};
    out.names = {netdev, pci, out.subject, rdma};
    return out;
  };
  Report report{{of_port(1, "eth1"), of_port(10, "eth10"), of_port(2, "eth2")}};
  const std::vector<FindingGroup> groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].subjects, (std::vector<std::string>{"mlx5_1/1", "mlx5_10/1", "mlx5_2/1"}));
  EXPECT_EQ(groups[0].likewise, (std::vector<std::string>{"eth10", "eth2"}));
  report.findings[1].remedy = "ethtool -m eth1";  // about another port than its own
  EXPECT_EQ(group_findings(report).size(), 2u);
  report.findings[2].names.clear();
  EXPECT_EQ(group_findings(report).size(), 3u);
}

TEST(Report, WhatCouldNotBeReadIsOneLineForAllPorts) {
  Node node;
  node.unseen = {"acknowledgements: EIO"};
  node.ports.resize(3);
  for (size_t i = 0; i < node.ports.size(); ++i) {
    node.ports[i].rdma = "mlx5_" + std::to_string(i);
    node.ports[i].unread = {"ethtool statistics: EPERM"};
  }
  node.ports[1].unread.emplace_back("gids: EIO");
  const auto lines = merged_unseen(node);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].reason, "ethtool statistics: EPERM");
  EXPECT_EQ(lines[1].ports.size(), 3u);
  EXPECT_EQ(lines[2].ports.size(), 1u);
}

// Like an acknowledgement, but of the site: counted, listed with its reason, and apart from acknowledgements.
TEST(Report, ASuppressedFindingIsListedAndDoesNotCount) {
  Report report = of({Status::critical, Status::ok});
  report.findings[0].suppressed = true;
  report.findings[0].suppression = "until 2027-01-31: new switches";
  EXPECT_EQ(worst(report), Status::ok);
  EXPECT_EQ(count_findings(report, Status::critical), 0u);
  EXPECT_EQ(counts_text(report, true), "1 ok, 1 suppressed");
  const std::vector<FindingGroup> groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].finding, &report.findings[0]);
  const Json json = to_json(report);
  EXPECT_EQ(json["verdict"], "ok");
  EXPECT_EQ(json["checks"][0]["status"], "critical");
  EXPECT_EQ(json["checks"][0]["suppressed"], "until 2027-01-31: new switches");
  EXPECT_FALSE(json["checks"][0].contains("acknowledged"));
  EXPECT_FALSE(json["checks"][1].contains("suppressed"));
}

}  // namespace
}  // namespace fabric
