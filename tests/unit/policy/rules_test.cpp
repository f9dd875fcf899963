// SPDX-License-Identifier: Apache-2.0
// [rules.ID]: every limit has its source and its key and follows the configuration; every rule can be switched off, and
// its severity changed.
#include "support/rules.h"

#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/report.h"
#include "policy/config.h"
#include "support/config.h"
#include "support/diagnosed.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

Result<LoadedConfig> configured(const std::string& text) { return parse_config(text, "test", {}, rule_rows()); }

Result<LoadedConfig> configured(const Limit& row, double value) {
  return configured("[rules." + std::string(row.rule) + "]\n" + std::string(row.key) + " = " + test::number(value) +
                    "\n");
}

TEST(Limit, HasSourceKeyRangeAndARow) {
  std::set<const Limit*> used;
  for (const Rule& rule : rules()) used.insert(rule.limits.begin(), rule.limits.end());
  used.erase(nullptr);
  const auto all = test::limits();
  EXPECT_EQ(used, std::set<const Limit*>(all.begin(), all.end())) << "a limit is named by the rule that its key has";
  std::set<std::string> names;
  for (const Limit* row : all) {
    EXPECT_TRUE(names.insert(row->name()).second) << row->name();
    EXPECT_FALSE(row->unit.empty() || row->source.empty()) << row->name();
    EXPECT_TRUE(row->least <= row->value && row->value <= row->most && row->least < row->most) << row->name();
  }
}

TEST(Limit, FollowsTheConfigurationWithinItsRange) {
  test::Healthy machine;
  for (const Limit* row : test::limits()) {
    EXPECT_EQ(limit_of(machine.view(), *row), row->value) << row->name();
    const double other = row->value == row->most ? row->least : row->most;
    const auto loaded = configured(*row, other);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    machine.policy.rules = loaded->policy.rules;
    EXPECT_DOUBLE_EQ(limit_of(machine.view(), *row), other) << row->name();
    const auto again = configured(show_config(loaded->policy, rule_rows()));
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_DOUBLE_EQ(again->policy.rules.limits.at(row->name()), other);
    machine.policy.rules.limits.clear();
    for (const double wrong : {row->most * 2, -1.0}) {
      const auto rejected = configured(*row, wrong);
      ASSERT_FALSE(rejected.ok()) << row->name() << " " << wrong;
      EXPECT_TRUE(test::has(rejected.error().text(),
                            "expected a number from " + test::number(row->least) + " to " + test::number(row->most)));
    }
  }
}

TEST(Limit, ChangesAVerdict) {
  test::Healthy machine;
  const std::vector<std::string> only{"nofile"};
  EXPECT_EQ(worst(run_rules(machine.view(), only)), Status::ok);
  machine.policy.rules.limits = {{"nofile.limit", 1e9}};
  const Report report = run_rules(machine.view(), only);
  EXPECT_EQ(worst(report), Status::warning);
  EXPECT_EQ(report.findings.at(0).expected, "at least 1000000000 (hard limit)");
  machine.policy.rules.severity = {{"nofile", Status::critical}};
  EXPECT_EQ(worst(run_rules(machine.view(), only)), Status::critical);
  machine.policy.rules.enabled = {{"nofile", false}};
  EXPECT_EQ(worst(run_rules(machine.view(), only)), Status::ok);
}

constexpr int64_t kFebruary = 1'801'440'000;  // 2027-02-01T00:00:00Z

TEST(Suppression, HasAReasonAndAnEndOrNeither) {
  const auto loaded = configured(
      "[rules.nofile]\nenabled = false\nreason = \"TICKET-1: \\\"new\\\" image\"\nuntil = 2027-01-31\n"
      "[rules.memlock]\nenabled = false\n[rules.hugepages]\nenabled = true\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const RulePolicy& rules = loaded->policy.rules;
  EXPECT_TRUE(rules.is_suppressed("nofile", 0)) << "the time is unknown";
  EXPECT_TRUE(rules.is_suppressed("nofile", kFebruary - 1)) << "the last day counts";
  EXPECT_FALSE(rules.is_suppressed("nofile", kFebruary));
  EXPECT_TRUE(rules.has_ended("nofile", kFebruary));
  EXPECT_TRUE(rules.is_suppressed("memlock", kFebruary)) << "without an end";
  EXPECT_FALSE(rules.is_suppressed("hugepages", 0));
  EXPECT_EQ(suppression_text(rules, "nofile"), "until 2027-01-31: TICKET-1: \"new\" image");
  EXPECT_EQ(suppression_text(rules, "memlock"), "without an end: no reason given");
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_TRUE(test::has(loaded->warnings[0].what, "rules.memlock: suppressed without a reason"));

  const auto again = configured(show_config(loaded->policy, rule_rows()));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->policy.rules.enabled, rules.enabled) << "also of the last valid configuration";
  EXPECT_EQ(again->policy.rules.reason, rules.reason);
  EXPECT_EQ(again->policy.rules.until, rules.until);
}

TEST(Suppression, RejectsWhatSuppressesNothing) {
  for (const auto& [text, says] : {
           std::pair("[rules.nofile]\nuntil = 2027-01-31\n",
                     "rules.nofile.until: suppresses nothing by itself; add enabled"),
           {"[rules.nofile]\nreason = \"x\"\n", "rules.nofile.reason: suppresses nothing by itself; add enabled"},
           {"[rules.nofile]\nenabled = false\nreason = \"\"\n", "for example reason = \"TICKET-1: new switches\""},
           {"[rules.nofile]\nenabled = false\nuntil = \"2027-01-31\"\n", "expected a date without quotes"},
           {"[rules.nofile]\nenabled = false\nuntil = 2027-01-31T10:00:00Z\n", "expected a date without quotes"},
           {"[rules.nofile]\nenabled = false\nuntil = 30\n", "for example until = 2027-01-31"},
       }) {
    const auto loaded = configured(text);
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_TRUE(test::has(loaded.error().text(), says)) << loaded.error().text();
  }
}

TEST(Suppression, ItsEndIsAWarningAndTheRuleCountsAgain) {
  test::Healthy machine;
  machine.policy.rules.limits = {{"nofile.limit", 1e9}};
  EXPECT_EQ(test::said(machine.view(), {"suppressions"}), "") << "there is none";
  machine.policy.rules.enabled = {{"nofile", false}};
  machine.policy.rules.reason = {{"nofile", "TICKET-1"}};
  machine.policy.rules.until = {{"nofile", kFebruary}};
  View view = machine.view();
  view.wall = kFebruary - 1;
  const Report during = run_rules(view);
  EXPECT_EQ(worst(during), Status::ok);
  EXPECT_TRUE(test::has(counts_text(during, true), " suppressed"));
  EXPECT_EQ(during.findings.at(0).suppression, "until 2027-01-31: TICKET-1");
  view.wall = kFebruary;
  EXPECT_EQ(worst(run_rules(view, std::vector<std::string>{"nofile"})), Status::warning);
  const auto ended = test::complaints_of(view, {"suppressions"});
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(test::describe(ended), "suppressions host warning: ended: nofile until 2027-01-31: TICKET-1\n");
  EXPECT_TRUE(test::has(ended[0].remedy, "[rules.nofile]: remove enabled = false"));
}

TEST(RulesTable, EveryRuleCanBeSwitchedOffAndItsSeverityChanged) {
  for (const Rule& rule : rules()) {
    const auto loaded = configured("[rules." + std::string(rule.id) + "]\nenabled = false\nseverity = \"critical\"\n");
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    EXPECT_FALSE(loaded->policy.rules.is_enabled(rule.id));
    EXPECT_EQ(loaded->policy.rules.severity.at(std::string(rule.id)), Status::critical);
    const auto again = configured(show_config(loaded->policy, rule_rows()));
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(again->policy.rules.enabled, loaded->policy.rules.enabled);
    EXPECT_EQ(again->policy.rules.severity, loaded->policy.rules.severity);
  }
}

TEST(RulesTable, ADisabledCauseLeavesItsSymptomsUnexplained) {
  test::Healthy node;
  test::hold(node, 0.9);
  ASSERT_EQ(test::rules_of(test::ask(node)), std::set<std::string>{"slow-host"});
  node.policy.rules.enabled = {{"slow-host", false}};
  EXPECT_EQ(test::rules_of(test::ask(node)), std::set<std::string>{"not-enough-evidence"});
}

TEST(RulesTable, RejectsWhatARuleDoesNotHave) {
  for (const auto& [text, says] : {
           std::pair("[rules.link-flip]\nenabled = false\n", "unknown rule \"link-flip\"; did you mean \"link-flap\"?"),
           {"[rules.bit_errors_slow]\nwindow = \"1h\"\n",
            "unknown rule \"bit_errors_slow\"; write [rules.link-errors] with bit_errors_slow = { ... }"},
           {"[rules]\nlane_power = { clear = \"5s\" }\n", "unknown rule \"lane_power\"; write [rules.optics]"},
           {"[rules.zzzzzzzzzzzzzzzzzz]\n", "unknown rule \"zzzzzzzzzzzzzzzzzz\"; see fabric-agent.toml(5)"},
           {"[rules.link-flap]\nenabled = 0\n", "expected true or false"},
           {"[rules.link-flap]\nseverity = \"bad\"\n", "expected \"warning\" or \"critical\""},
           {"[rules.link-flap]\nwarnings = 2\n", "did you mean \"warning\"?"},
           {"[rules.link-flap]\nwarning = 9\n", "warning is above critical"},
           {"[rules.optics]\nwindow = \"1h\"\n", "a level has no window"},
           {"[rules.link-errors]\nwarning = 1\n", "unknown key"},
           {"[rules.link-errors.bit_errors]\nlimit = 1\n", "unknown key"},
           {"[rules]\nlink-flap = 3\n", "expected a table"},
       }) {
    const auto loaded = configured(text);
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_TRUE(test::has(loaded.error().text(), says)) << loaded.error().text();
  }
}

}  // namespace
}  // namespace fabric
