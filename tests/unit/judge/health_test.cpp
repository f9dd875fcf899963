// SPDX-License-Identifier: Apache-2.0
// The states of a rule over time, by a clock of the test: confirmed, raised, cleared. Their file, their configuration,
// and acknowledgements.
#include "judge/health.h"

#include "judge/engine.h"
#include "judge/health_state.h"
#include "policy/config.h"
#include "policy/show_config.h"
#include "support/test.h"

namespace fabric {
namespace {

constexpr RuleWindow rule(Measure measure, const WindowLimits& limits, double least, double quiet) {
  return {{.key = "key", .measure = measure, .limits = limits, .least = least}, {.quiet = quiet}};
}
constexpr RuleWindow kLevel = rule(Measure::level, {10, 20, 0, 20, 30}, 0, 0.5),
                     kCount = rule(Measure::count, {3, 5, 100, 0, 20}, 1, 1),
                     kRatio = rule(Measure::ratio, {0.01, 0.1, 60, 10, 30}, 5, 0.5);

// One subject, with the clock of the test.
struct Watch {
  RuleWindow rule;
  HealthState state{};
  double now = 1000;

  Status at(double seconds, double amount, double base = 0) {
    now = seconds;
    const Measured reading{"mlx5_0/1", amount, base, "seen " + std::to_string(amount), std::nullopt, std::nullopt};
    advance(state, rule, rule.limits, &reading, now);
    return state.status();
  }
  Status silent(double seconds) {
    now = seconds;
    advance(state, rule, rule.limits, nullptr, now);
    return state.status();
  }
};

TEST(Health, IsRaisedAfterItsConfirmation) {
  Watch watch{kLevel};
  EXPECT_EQ(watch.at(0, 12), Status::ok);
  EXPECT_EQ(watch.state.phase(), HealthPhase::pending);
  EXPECT_EQ(watch.at(10, 12), Status::ok);
  EXPECT_EQ(watch.at(20, 12), Status::warning);
  EXPECT_EQ(watch.state.phase(), HealthPhase::raised);
  EXPECT_EQ(watch.state.since(), 0) << "since its first reading";
}

TEST(Health, OneGoodReadingRestartsTheConfirmation) {
  Watch watch{kLevel};
  watch.at(0, 12);
  watch.at(10, 9);
  EXPECT_EQ(watch.state.phase(), HealthPhase::ok);
  EXPECT_EQ(watch.at(20, 12), Status::ok);
  EXPECT_EQ(watch.at(30, 12), Status::ok);
  EXPECT_EQ(watch.at(40, 12), Status::warning);
}

TEST(Health, ClearsAfterAWaitWellBelowTheLimit) {
  Watch watch{kLevel};
  for (double t : {0.0, 10.0, 20.0}) watch.at(t, 12);
  EXPECT_EQ(watch.at(30, 8), Status::warning) << "below the limit, not well below";
  EXPECT_EQ(watch.state.phase(), HealthPhase::raised);
  EXPECT_EQ(watch.at(40, 4), Status::warning);
  EXPECT_EQ(watch.state.phase(), HealthPhase::clearing);
  EXPECT_EQ(watch.at(50, 7), Status::warning) << "not quiet: the wait restarts";
  EXPECT_EQ(watch.at(60, 0), Status::warning);
  EXPECT_EQ(watch.at(89, 0), Status::ok) << "a wait may end one second early";
  EXPECT_EQ(watch.state, (HealthState{.warning = {}, .critical = {}, .seen = 89, .onsets = 1, .first_onset = 20}));
}

TEST(Health, ChangesBetweenWarningAndCritical) {
  Watch watch{kLevel};
  for (double t : {0.0, 10.0, 20.0}) watch.at(t, 12);
  EXPECT_EQ(watch.at(30, 25), Status::warning);
  EXPECT_EQ(watch.at(50, 25), Status::critical);
  EXPECT_EQ(watch.state.since(), 30);
  EXPECT_EQ(watch.at(60, 7), Status::critical);
  EXPECT_EQ(watch.at(90, 7), Status::warning) << "quiet enough for critical, not for a warning";
  EXPECT_EQ(watch.at(100, 1), Status::warning);
  EXPECT_EQ(watch.at(130, 1), Status::ok);
}

TEST(Health, CountsWithinItsWindow) {
  Watch watch{kCount};
  EXPECT_EQ(watch.at(0, 1), Status::ok);
  EXPECT_EQ(watch.at(50, 1), Status::ok);
  EXPECT_EQ(watch.at(101, 1), Status::ok) << "the first is out of the window";
  EXPECT_EQ(watch.at(110, 1), Status::warning);
  EXPECT_EQ(watch.at(111, 2), Status::critical);
  EXPECT_EQ(watch.at(205, 0), Status::critical) << "three are left: the wait begins";
  EXPECT_EQ(watch.at(212, 0), Status::critical);
  EXPECT_EQ(watch.at(226, 0), Status::warning);
  EXPECT_EQ(watch.at(400, 0), Status::ok);
  EXPECT_TRUE(watch.state.parts.empty());
}

TEST(Health, ComparesEventsWithTheirBase) {
  Watch watch{kRatio};
  EXPECT_EQ(watch.at(0, 4, 10), Status::ok) << "fewer than `least`";
  EXPECT_EQ(watch.at(70, 10, 10'000), Status::ok) << "one in a thousand";
  EXPECT_EQ(watch.at(140, 500, 10'000), Status::ok);
  EXPECT_EQ(watch.at(150, 500, 10'000), Status::warning);
  EXPECT_EQ(watch.at(160, 0, 1'000'000), Status::warning);
  EXPECT_EQ(watch.at(190, 0, 1'000'000), Status::ok);
}

TEST(Health, ALongWindowIsKeptInFewParts) {
  Watch watch{kRatio};
  for (int i = 0; i < 10'000; ++i) watch.at(i * 0.01, 1, 1000);
  EXPECT_LE(watch.state.parts.size(), 61u);
  EXPECT_NEAR(watch.state.value, 0.001, 1e-6);
}

TEST(Health, WithoutAReadingNothingChanges) {
  Watch watch{kLevel};
  watch.at(0, 12);
  EXPECT_EQ(watch.silent(100), Status::ok) << "no reading confirms nothing";
  for (double t : {110.0, 130.0}) watch.at(t, 12);
  EXPECT_EQ(watch.state.status(), Status::warning);
  EXPECT_EQ(watch.silent(500), Status::warning) << "and clears nothing";
  EXPECT_FALSE(is_forgotten(watch.state, watch.rule.limits, 500));
  EXPECT_TRUE(is_forgotten(watch.state, watch.rule.limits, 130 + 901)) << "but the state is dropped in the end";
}

TEST(Health, AClockThatGoesBackRestartsTheWaits) {
  Watch watch{kLevel};
  for (double t : {1000.0, 1020.0}) watch.at(t, 12);
  ASSERT_EQ(watch.state.status(), Status::warning);
  EXPECT_EQ(watch.at(10, 0), Status::warning);
  EXPECT_LE(watch.state.since(), 10);
  EXPECT_EQ(watch.at(30, 0), Status::warning);
  EXPECT_EQ(watch.at(40, 0), Status::ok) << "cleared 30 s after it became quiet";
  Watch counting{kCount};
  counting.at(1000, 4);
  EXPECT_EQ(counting.at(5, 0), Status::warning);
  EXPECT_EQ(counting.at(25, 0), Status::ok) << "events of the future do not count";
}

TEST(Health, AClockThatLeapsForwardForgetsTheWindow) {
  Watch watch{kCount};
  watch.at(0, 2);
  EXPECT_EQ(watch.at(100'000, 1), Status::ok);
}

TEST(Health, LimitsOfTheSubjectOverrideThoseOfTheRule) {
  HealthState state;
  Measured hot{"mlx5_0/1", 15};
  hot.warning = 30;
  hot.critical = 40;
  for (double t : {0.0, 30.0}) advance(state, kLevel, kLevel.limits, &hot, t);
  EXPECT_EQ(state.status(), Status::ok);
  hot.amount = 45;
  for (double t : {60.0, 90.0}) advance(state, kLevel, kLevel.limits, &hot, t);
  EXPECT_EQ(state.status(), Status::critical);
}

TEST(Health, ARuleThatIsSwitchedOffIsOk) {
  Watch watch{kCount};
  watch.at(0, 5);
  ASSERT_EQ(watch.state.status(), Status::critical);
  const Measured reading{"mlx5_0/1", 5};
  advance(watch.state, watch.rule, {std::nullopt, std::nullopt, 100, 0, 0}, &reading, 1);
  EXPECT_EQ(watch.state.status(), Status::ok);
}

TEST(Health, OneReadingAloneIsJudgedWithoutConfirmation) {
  EXPECT_EQ(status_of_reading(kLevel, kLevel.limits, {"x", 12}), Status::warning);
  EXPECT_EQ(status_of_reading(kRatio, kRatio.limits, {"x", 4, 10}), Status::ok);
  EXPECT_EQ(status_of_reading(kRatio, kRatio.limits, {"x", 5, 10}), Status::critical);
  EXPECT_EQ(status_of_reading(*find_window("link_flap"), find_window("link_flap")->limits, {"x", 1, 1}),
            Status::warning)
      << "one link down in one reading";
}

// Every rule: raised by a value above its limits for long enough, and cleared when it is quiet.
TEST(Health, EveryRuleClearsByItself) {
  for (const RuleWindow& rule : rule_windows()) {
    HealthState state;
    double now = 5000;
    const double much = std::max(rule.limits.critical.value_or(0), rule.limits.warning.value_or(0)) * 2 + rule.least;
    const Measured bad{"s", much * 10, 10}, good{"s", 0, 10};
    for (int i = 0; i < 30; ++i) advance(state, rule, rule.limits, &bad, now += 10);
    EXPECT_NE(state.status(), Status::ok) << rule.key;
    const double until = now + rule.limits.window + rule.limits.clear + 40;
    while (now < until) advance(state, rule, rule.limits, &good, now += 10);
    EXPECT_EQ(state.phase(), HealthPhase::ok) << rule.key;
    EXPECT_NE(rule.rule, "");
  }
}

// Three link downs in 12 h are one finding for hours; each link down is an event.
TEST(HealthEvents, CountEachOnsetOnce) {
  Watch flap{rule(Measure::count, {3, 5, 12 * 3600, 0, 60}, 1, 1)};
  flap.at(0, 0);
  EXPECT_EQ(flap.state.onsets, 0u);
  flap.at(10, 1);
  EXPECT_EQ(flap.state.onsets, 1u) << "one link down";
  EXPECT_EQ(flap.state.status(), Status::ok);
  flap.at(20, 2);
  EXPECT_EQ(flap.state.onsets, 1u) << "the same flap, which now reaches the limit";
  EXPECT_EQ(flap.state.status(), Status::warning);
  flap.at(30, 0);
  flap.at(40, 1);
  EXPECT_EQ(flap.state.onsets, 2u) << "although the finding is raised already";
  EXPECT_EQ(flap.state.first_onset, 10);
}

TEST(HealthEvents, CountAfterTheConfirmation) {
  Watch confirmed{kRatio};
  for (double t = 0; t < 60; t += 20) {
    confirmed.at(t, 50, 1000);
    confirmed.at(t + 10, 0, 1000000);
  }
  EXPECT_EQ(confirmed.state.onsets, 0u) << "one reading in two";
  confirmed.at(60, 50000, 1000);
  confirmed.at(70, 50000, 1000);
  confirmed.at(80, 50000, 1000);
  EXPECT_EQ(confirmed.state.onsets, 1u);
  Watch level{kLevel};
  for (double t : {0.0, 10.0, 20.0, 30.0}) level.at(t, 25);
  EXPECT_EQ(level.state.onsets, 1u) << "critical after warning is no second event";
}

TEST(HealthEvents, SlowFaultsCountWhenTheyReachTheLimit) {
  Watch slow{rule(Measure::count, {6, kNever, 60, 0, 60}, 1, 1)};
  for (double t = 0; t < 60; t += 10) slow.at(t, 2);
  EXPECT_EQ(slow.state.onsets, 1u);
}

HealthMemory some_memory() {
  HealthMemory memory;
  memory.health.now = 1234.5;
  memory.health.wall = 1'800'000'000;
  memory.health.devices["mlx5_0/1"] = {.pci = "0000:17:00.0", .ifindex = 7, .since = 12.25};
  memory.health.devices["mlx5_1/1"] = {.pci = "0000:18:00.0"};
  Watch watch{rule_windows()[0]};
  watch.at(1200, 3);
  watch.state.evidence = "\"quoted\" 3 times down";
  memory.health.rules["link_flap"]["mlx5_0/1"] = watch.state;
  Watch over{kCount};
  for (double t : {1000.0, 1010.0, 1200.0}) over.at(t, t == 1010 ? 3 : 0);
  memory.health.rules["gid_changed"]["mlx5_0/1"] = over.state;  // cleared: only the number of its events is left
  memory.acks = {{"link-flap", "mlx5_*", 17, 18, true}};
  return memory;
}

TEST(HealthFile, IsReadAsItWasWritten) {
  const HealthMemory memory = some_memory();
  const auto read = parse_health(health_text(memory), "health.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->health.rules, memory.health.rules);
  EXPECT_EQ(read->health.devices, memory.health.devices);
  EXPECT_EQ(read->health.now, memory.health.now);
  EXPECT_EQ(read->health.wall, memory.health.wall);
  EXPECT_EQ(read->acks, memory.acks);
}

TEST(HealthFile, AStateWithADamagedTimeClears) {
  HealthMemory memory = some_memory();
  HealthState& state = memory.health.rules["link_flap"]["mlx5_0/1"];
  state.parts.clear();
  state.warning = {true, 1e15, 1e15};
  auto read = parse_health(health_text(memory), "health.json");
  ASSERT_TRUE(read) << read.error().text();
  Watch watch{rule_windows()[0]};
  watch.state = read->health.rules["link_flap"]["mlx5_0/1"];
  for (int i = 0; i < 20; ++i) watch.at(1300 + 10 * i, 0);
  EXPECT_EQ(watch.state.status(), Status::ok);
}

TEST(HealthFile, AnErrorNamesItsPlace) {
  const auto broken = parse_health(R"({"format":1,"updated":1,"rules":[)", "/run/x/health.json");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, EBADMSG);
  EXPECT_EQ(broken.error().text().find("/run/x/health.json: "), 0u) << broken.error().text();
  EXPECT_FALSE(parse_health("", "health.json"));
  const std::string text = health_text(some_memory());
  for (size_t length = 0; length + 1 < text.size(); ++length)
    EXPECT_FALSE(parse_health(text.substr(0, length), "health.json")) << length;
  const auto strange =
      parse_health(R"({"format":1,"updated":5,"rules":{"a":{"b":{"seen":1,"onsets":-1}}}})", "health.json");
  ASSERT_FALSE(strange);
  EXPECT_TRUE(test::has(strange.error().what, "health.json: rules: onsets: expected an integer from 0"))
      << strange.error().what;
}

TEST(HealthConfig, MayChangePartOfARule) {
  const auto loaded = parse_config(
      "[rules.link-flap]\nwarning = 2\nwindow = \"1h\"\n[rules.loss]\nout_of_sequence = { warning = \"never\", "
      "critical = "
      "\"never\" }\n[rules.pre-fec-ber]\npre_fec_ber = { warning = 1e-6 }\n[rules]\nboot_grace = \"5min\"\n",
      "x", "", rule_rows());
  ASSERT_TRUE(loaded) << loaded.error().text();
  const RulePolicy& health = loaded->policy.rules;
  const WindowLimits& flap = health.of("link-flap").windows.at("link_flap");
  EXPECT_EQ(flap.warning, 2);
  EXPECT_EQ(flap.critical, 5);
  EXPECT_EQ(flap.window, 3600);
  EXPECT_EQ(health.boot_grace, 300);
  EXPECT_TRUE(health.of("loss").windows.at("out_of_sequence").is_off());
  EXPECT_EQ(health.of("pre-fec-ber").windows.at("pre_fec_ber").warning, 1e-6);
  EXPECT_EQ(health.by_id.size(), 3u) << "the others are the rules' own";
  for (const auto& [id, rule] : health.by_id) EXPECT_EQ(rule.windows.size(), 1u) << id;
  const auto again = parse_config(show_config(loaded->policy, rule_rows()), "shown", "", rule_rows());
  ASSERT_TRUE(again) << again.error().text();
  for (const RuleWindow& rule : rule_windows())
    EXPECT_EQ(limits_of(again->policy.rules, rule), limits_of(health, rule)) << rule.key;
}

TEST(HealthConfig, AnErrorNamesItsLine) {
  for (const char* line :
       {"link-flap = 3", "link-flap = { warning = 9 }", "link-flap = { warning = -1 }", "link-flap = { warnings = 1 }",
        "link-flap = { window = \"0s\" }", "optics = { window = \"1min\" }", "link-flop = { enabled = false }",
        "boot_grace = \"2 days\"", "link-flap = \"no\""}) {
    const auto loaded = parse_config(std::string("[rules]\n") + line + "\n", "x", "", rule_rows());
    ASSERT_FALSE(loaded) << line;
    EXPECT_EQ(loaded.error().text().find("x:2:"), 0u) << loaded.error().text();
  }
}

TEST(Acks, EndWhenTheyExpireOrTheirFindingClears) {
  const std::vector<Ack> acks{{"loss", "mlx5_*", 100, 200, "root", "known"}, {"rate", "", 100, 1000, "", ""}};
  Report report;
  report.findings = {{"loss", "mlx5_0/1", Status::warning, "", "", "", ""},
                     {"rate", "mlx5_0/1", Status::ok, "", "", "", ""}};
  std::vector<AckSeen> seen;
  follow_acks(seen, acks, report, 110);
  EXPECT_EQ(active_acks(acks, seen, 150).size(), 2u);
  EXPECT_EQ(active_acks(acks, seen, 200).size(), 1u) << "expired";
  report.findings[0].status = Status::ok;
  follow_acks(seen, acks, report, 110 + kAckOutlasts - 1);
  EXPECT_EQ(active_acks(acks, seen, 150).size(), 2u) << "the finding may return soon";
  follow_acks(seen, acks, report, 110 + kAckOutlasts);
  const auto left = active_acks(acks, seen, 150);
  ASSERT_EQ(left.size(), 1u) << "the finding has cleared";
  EXPECT_EQ(left[0].id, "rate") << "its finding was never raised";
  report.findings[0].status = Status::critical;
  follow_acks(seen, acks, report, 500);
  EXPECT_EQ(active_acks(acks, seen, 150).size(), 1u) << "the finding that returns is a new one";
  follow_acks(seen, {}, report, 600);
  EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace fabric
