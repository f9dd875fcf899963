// SPDX-License-Identifier: Apache-2.0
// Settings in audit mode, and settings whose reading proves nothing: listed, and no fault of the node.
#include "base/json.h"
#include "judge/engine.h"
#include "judge/health_state.h"
#include "metrics/families.h"
#include "support/healthy_node.h"
#include "support/series.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

// In audit mode, with an agent that runs or without one.
struct Audited : Healthy {
  explicit Audited(bool runs = true) {
    policy.mode = Mode::audit;
    now.agent->mode = "audit";
    now.agent->running = runs;
  }
};

// Each setting of each port and a setting of the host differ from the policy in the same way.
void plant(Healthy& node, Outcome outcome) {
  for (auto& [port, changes] : node.plan)
    for (Change& change : changes) {
      change.outcome = outcome;
      change.from = outcome == Outcome::unverified ? change.to : "something else";
      change.detail = "a reason";
    }
  node.policy.sysctl["net.ipv4.tcp_ecn"] = "1";
  node.plan["host"] = {{"host", {}, outcome, 0, false, "2", "1", "a reason", "net.ipv4.tcp_ecn"}};
}

bool is_setting(const Finding& finding) { return find_rule(finding.id)->group == group::settings; }

// The worst status of the settings.
Status worst_setting(const Report& report) {
  Report settings = report;
  std::erase_if(settings.findings, [](const Finding& each) { return !is_setting(each); });
  return worst(settings);
}

// What alerts, node-problem-detector and dashboards read.
std::set<double> statuses_of_settings(const Report& report) {
  std::set<double> out;
  for (const auto& [series, value] : series_of([&](FamilySet& set) { add_report(set, report, {}); }))
    for (const Setting& setting : kSettings)
      if (series.starts_with("fabric_check_status,check=" + std::string(setting.key))) out.insert(value);
  return out;
}

// The report as `check --brief` of a scheduler reads it from the exporter's file.
Report published(const Report& report) {
  auto read = parse_report(report_text(PublishedReport{report, 1}), "report.json");
  EXPECT_TRUE(read.ok());
  return std::move(read->report);
}

TEST(CheckAudit, WhatDiffersIsListedAndFailsNothing) {
  for (const bool runs : {true, false}) {
    for (const Outcome outcome : {Outcome::differs, Outcome::pending, Outcome::unsupported}) {
      Audited node(runs);
      const size_t others = complaints(run_rules(node.view())).size();  // an agent that does not run
      plant(node, outcome);
      const Report report = run_rules(node.view());
      EXPECT_EQ(complaints(report).size(), others) << describe(complaints(report));
      EXPECT_EQ(worst_setting(report), Status::ok);
      EXPECT_EQ(worst_setting(published(report)), Status::ok);
      EXPECT_EQ(statuses_of_settings(report), std::set<double>{0});
      size_t listed = 0;
      for (const Finding& each : report.findings) {
        if (!is_audited(each)) continue;
        ++listed;
        EXPECT_TRUE(is_setting(each));
        EXPECT_NE(each.observed, each.expected);
        EXPECT_TRUE(has(each.meaning, "Audit mode: not written.")) << each.meaning;
        EXPECT_TRUE(has(each.remedy, "fabric-agentctl plan")) << each.remedy;
      }
      EXPECT_GT(listed, 4 * 5u);
      EXPECT_TRUE(has(counts_text(report, false), std::to_string(listed) + " not enforced (audit mode)"));
      EXPECT_TRUE(has(counts_text(published(report), false), std::to_string(listed) + " not enforced (audit mode)"));
      EXPECT_TRUE(
          std::ranges::any_of(group_findings(report), [](const auto& each) { return is_audited(*each.finding); }));
      const Json json = Json::parse(to_json(report).dump());
      EXPECT_EQ(std::ranges::count_if(json["checks"],
                                      [&](const Json& each) {
                                        return each["id"] == "pfc" && each["status"] == "ok" &&
                                               each["outcome"] == to_text(outcome);
                                      }),
                4);
    }
  }
}

TEST(CheckAudit, WhatBreaksAJobStaysCritical) {
  Audited node;
  plant(node, Outcome::differs);
  down(node, 0, 2);
  EXPECT_TRUE(has(said(node.view()), "port-state mlx5_0/1 critical")) << said(node.view());
}

// Compared with the switch, a setting of this port differs for the same reason. A fault of the switch is another one.
TEST(CheckAudit, RulesAboutTheSameSettingAreSilentToo) {
  const auto without_pfc = [](Healthy& node) {
    node.now.ports[0].qos.pfc = PrioSet{};
    Change& pfc = node.change("mlx5_0/1", "pfc");
    pfc.outcome = Outcome::differs;
    pfc.from = "none";
  };
  Healthy enforced;
  without_pfc(enforced);
  EXPECT_TRUE(has(said(enforced.view(), {"peer-pfc"}), "peer-pfc mlx5_0/1")) << "or the test shows nothing";
  Audited node;
  without_pfc(node);
  EXPECT_EQ(said(node.view(), {"peer-pfc"}), "");
  Audited other;
  other.now.ports[0].qos.pfc = PrioSet{};  // as the policy wants
  other.policy.ports[0].want.pfc = PrioSet{};
  EXPECT_TRUE(has(said(other.view(), {"peer-pfc"}), "peer-pfc mlx5_0/1"));
}

TEST(CheckAudit, WhatCannotBeReadStaysUnknown) {
  Audited node;
  node.plan.erase("mlx5_0/1");
  EXPECT_TRUE(has(said(node.view()), "pfc mlx5_0/1 unknown"));
}

TEST(CheckAudit, EnforcedSettingsCount) {
  for (const bool runs : {true, false}) {
    Healthy node;
    node.now.agent->running = runs;
    plant(node, Outcome::differs);
    const Report report = run_rules(node.view());
    EXPECT_EQ(worst_setting(report), Status::critical);
    EXPECT_TRUE(statuses_of_settings(report).contains(2));
    EXPECT_TRUE(std::ranges::none_of(report.findings, is_audited));
  }
}

// Intel's drivers show pause as off beside PFC: for ever, and without a fault. Neither in sync nor different.
TEST(CheckUnverified, IsAValueOfItsOwn) {
  for (const bool audit : {false, true}) {
    Healthy node;
    if (audit) node = Audited();
    plant(node, Outcome::unverified);
    node.plan.erase("host");
    node.policy.sysctl.clear();
    const Report report = run_rules(node.view());
    EXPECT_EQ(worst(report), Status::ok) << describe(complaints(report));
    const auto unverified = static_cast<size_t>(std::ranges::count_if(report.findings, is_unverified));
    EXPECT_GT(unverified, 4 * 5u);
    for (const Report& each : {report, published(report)})
      EXPECT_TRUE(has(counts_text(each, true), std::to_string(unverified) + " unverified")) << counts_text(each, true);
    EXPECT_FALSE(has(counts_text(report, true), " " + std::to_string(report.findings.size()) + " ok"));
    const Series series = series_of([&](FamilySet& set) { add_report(set, report, {}); });
    const std::string pfc = ",device=mlx5_0,port=1,setting=pfc";
    EXPECT_EQ(series.at("fabric_setting_unverified" + pfc), 1);
    EXPECT_FALSE(series.contains("fabric_setting_in_sync" + pfc));
    const Json json = Json::parse(to_json(report).dump());
    EXPECT_TRUE(std::ranges::any_of(json["checks"], [](const Json& each) {
      return each["id"] == "pfc" && each.contains("outcome") && each["outcome"] == "unverified";
    }));
  }
}

}  // namespace
}  // namespace fabric
