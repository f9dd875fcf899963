// SPDX-License-Identifier: Apache-2.0
// What holds on every driver.
#include "support/ports.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

struct Dcb : testing::TestWithParam<Personality> {
  Bed bed{GetParam()};
  const Qos want = profile(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Drivers, Dcb,
                         testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full),
                         personality_name);

TEST_P(Dcb, FirstApplyObeysAndSecondWritesNothing) {
  auto first = bed.settle_to(want);
  ASSERT_EQ(first.size(), want.cable_length ? 8u : 7u);
  expect_all(first, {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(of(first, "pfc").outcome, Outcome::applied);
  const Qos now = bed.read();
  EXPECT_EQ(now.pfc, want.pfc);
  EXPECT_EQ(now.mtu, 4200u);
  EXPECT_EQ(now.trust, Trust::dscp);
  EXPECT_EQ(now.dscp_map->at(26), 3);
  EXPECT_EQ(now.ets, want.ets);
  EXPECT_EQ(now.pause, Pause{});
  expect_settled(bed, want);
  EXPECT_EQ(bed.port.qos, bed.read(keys_of(want))) << "what is not asked for is not read";
}

TEST_P(Dcb, ChangesComeInTheOrderOfTheSettings) {
  auto changes = bed.apply(want);
  std::vector<size_t> rows;
  for (const Change& change : changes) rows.push_back(index(change.setting));
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_EQ(changes.front().port, "sim2/1");
}

TEST_P(Dcb, EachSettingThatDriftsAloneIsRepaired) {
  const std::map<std::string, void (*)(SimNic&)> drifts{
      {"pause", [](SimNic& nic) { nic.pause.tx = true; }},
      {"mtu", [](SimNic& nic) { nic.mtu = 9000; }},
      {"pfc", [](SimNic& nic) { nic.pfc.pfc_en = 0x18; }},
      {"ets", [](SimNic& nic) { nic.ets.tc_tx_bw[0] = 40, nic.ets.tc_tx_bw[3] = 60; }},
      {"dscp_map", [](SimNic& nic) { nic.app.front().priority = 5; }},
  };
  for (const auto& [key, drift] : drifts) {
    if (key == "pause" && GetParam() == Personality::ice) continue;  // shown as off while PFC is on
    SCOPED_TRACE(key);
    Bed fresh(GetParam());
    fresh.settle_to(want);
    const Qos good = fresh.read();
    drift(fresh.nic);
    auto changes = fresh.settle_to(want);
    EXPECT_EQ(of(changes, key).outcome, Outcome::applied) << text(changes);
    EXPECT_EQ(fresh.read(), good) << text(changes);
    expect_settled(fresh, want);
  }
}

TEST_P(Dcb, ThePlanNamesWhatIsThenWritten) {
  for (auto mess : std::vector<void (*)(SimNic&)>{[](SimNic&) {}, [](SimNic& nic) { nic.pfc.pfc_en = 1; },
                                                  [](SimNic& nic) { nic.app.clear(), nic.dscp_mode = false; }}) {
    mess(bed.nic);
    const auto before = bed.nic.writes();
    auto plan = bed.plan(want);
    EXPECT_EQ(bed.nic.writes(), before) << "a plan writes nothing";
    EXPECT_EQ(bed.port.qos, bed.read(keys_of(want))) << "nor does it take its wish for what is";
    auto done = bed.settle_to(want);
    EXPECT_EQ(keys_with(plan, Outcome::differs), written(done)) << text(plan) << text(done);
  }
}

// The Arm cores of a DPU program the port: it is compared, and never written.
TEST_P(Dcb, APortOfADpuIsPlannedAndNotWritten) {
  bed.port.role = PortRole::dpu_owned;
  const auto before = bed.nic.writes();
  const auto plan = bed.plan(want);
  const auto changes = bed.apply(want);
  EXPECT_EQ(bed.nic.writes(), before) << text(changes);
  EXPECT_EQ(keys_with(changes, Outcome::differs), keys_with(plan, Outcome::differs));
  EXPECT_FALSE(keys_with(changes, Outcome::differs).empty());
}

TEST_P(Dcb, TheOriginalsComeBack) {
  const Qos original = bed.read();
  bed.settle_to(want);
  auto changes = bed.settle_to(original);
  expect_all(changes, {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.read(), original) << text(changes);
  const auto writes = bed.nic.writes();
  bed.apply(original);
  EXPECT_EQ(bed.nic.writes(), writes);
}

TEST_P(Dcb, OriginalsAreSavedOnceBeforeTheFirstWriteAndOnlyThen) {
  const Qos original = bed.read();
  std::vector<Qos> saved;
  bed.save = [&](const Port&, const Qos& before) -> Result<void> {
    EXPECT_EQ(bed.nic.writes(), 0u);
    saved.push_back(before);
    return {};
  };
  bed.settle_to(want);
  ASSERT_EQ(saved.size(), 1u);
  for (const Setting& setting : kSettings) {
    if (!has_value(setting, want) && !has_value(setting, saved[0])) continue;
    EXPECT_EQ(value_text(setting, saved[0]), value_text(setting, original)) << setting.key;
  }
  bed.apply(want);
  EXPECT_EQ(saved.size(), 1u) << "nothing to write, nothing to save";
}

TEST_P(Dcb, NothingIsWrittenWhenTheOriginalsCannotBeSaved) {
  bed.save = [](const Port&, const Qos&) -> Result<void> { return error(ENOSPC, "originals.json"); };
  auto changes = bed.apply(want);
  EXPECT_EQ(bed.nic.writes(), 0u);
  for (const Change& change : changes) {
    if (change.outcome == Outcome::in_sync) continue;
    EXPECT_EQ(change.outcome, Outcome::unsaved);
    EXPECT_TRUE(has(change.detail, "originals.json"));
  }
}

TEST_P(Dcb, ARefusalIsReportedWithItsErrnoAndTheRestGoesOn) {
  bed.nic.faults["setpfc"] = {.code = EOPNOTSUPP};
  auto changes = bed.settle_to(want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::refused);
  EXPECT_EQ(of(changes, "pfc").code, EOPNOTSUPP);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "ets").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "dscp_map").outcome, Outcome::applied);
}

TEST_P(Dcb, AnIgnoredWriteIsReportedAsSuch) {
  bed.nic.faults["setets"] = {.action = Fault::ignore};
  auto changes = bed.settle_to(want);
  EXPECT_TRUE(has_outcome(changes, "ets", Outcome::ignored, "reads back as"));
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
}

TEST_P(Dcb, ADeviceThatDisappearsCostsWhatWasLeft) {
  for (auto action : {Fault::vanish, Fault::vanish_after}) {
    Bed fresh(GetParam());
    fresh.nic.faults["setets"] = {.action = action};
    auto changes = fresh.apply(want);
    EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
    for (const char* key : {"ets", "pfc"}) {
      EXPECT_EQ(of(changes, key).outcome, Outcome::refused) << text(changes);
      EXPECT_EQ(of(changes, key).code, ENODEV);
      EXPECT_EQ(of(changes, key).detail, "device disappeared");
    }
    EXPECT_EQ(fresh.nic.calls["setpfc"], 0u);
  }
}

TEST_P(Dcb, ANewDeviceOfTheSameNameIsNotWritten) {
  bed.sim.reload(bed.nic);
  auto changes = bed.apply(want);
  EXPECT_EQ(bed.nic.writes(), 0u);
  for (const Change& change : changes) EXPECT_EQ(change.code, ENODEV);
}

TEST_P(Dcb, ABusyPortKeepsItsTraffic) {
  bed.terms.in_use = kInUse;
  auto planned = bed.plan(want);
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::pending);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::pending);
  EXPECT_TRUE(of(changes, "pfc").disruptive);
  EXPECT_EQ(bed.nic.calls["setpfc"], want.cable_length ? 1u : 0u) << "the cable's length alone does not flap";
  EXPECT_EQ(bed.nic.carrier_downs, 0u);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
  EXPECT_EQ(keys_with(planned, Outcome::pending), keys_with(changes, Outcome::pending))
      << text(planned) << text(changes);
  EXPECT_EQ(keys_with(planned, Outcome::differs), written(changes));

  bed.terms.in_use = kIdle;
  expect_all(bed.settle_to(want), {Outcome::applied, Outcome::in_sync});
}

TEST_P(Dcb, NeverMeansNeverAndNowDoesNotAsk) {
  bed.terms.in_use = [](const Port&) {
    ADD_FAILURE() << "asked";
    return true;
  };
  bed.terms.disruptive = Disruptive::never;
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::pending);
  EXPECT_EQ(bed.nic.carrier_downs, 0u);
  bed.terms.disruptive = Disruptive::now;
  bed.terms.window = qos::Maintenance::closed;
  EXPECT_TRUE(has_outcome(bed.apply(want), "pfc", Outcome::pending, "maintenance window"));
  EXPECT_EQ(bed.nic.carrier_downs, 0u);
  bed.terms.window = qos::Maintenance::open;
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::applied);
}

// Neither when it is idle, nor "now", nor by restore: only an entry that names the port allows it.
TEST_P(Dcb, APortWithTheDefaultRouteIsNotWrittenDisruptively) {
  bed.nic.has_default_route = true;
  for (const Disruptive when : {Disruptive::idle, Disruptive::now}) {
    bed.terms.disruptive = when;
    for (const Changes& changes :
         {bed.plan(want), bed.apply(want), qos::write_back(bed.kernel, bed.port, want, bed.terms)}) {
      EXPECT_TRUE(has_outcome(changes, "mtu", Outcome::pending, "the default route leaves by eth0"));
      EXPECT_TRUE(has_outcome(changes, "mtu", Outcome::pending, "front_end = true"));
      EXPECT_EQ(of(changes, "pfc").outcome, Outcome::pending);
    }
  }
  EXPECT_EQ(bed.nic.carrier_downs, 0U);
  EXPECT_EQ(bed.nic.mtu, 1500U);
  bed.terms.front_end = true;
  bed.terms.in_use = [](const Port&) { return qos::Use{"a TCP session"}; };
  bed.terms.disruptive = Disruptive::idle;
  EXPECT_TRUE(has_outcome(bed.apply(want), "mtu", Outcome::pending, "a TCP session")) << "others still count";
  bed.terms.in_use = [](const Port&) { return qos::Use{"the default route", true}; };
  expect_all(bed.settle_to(want), {Outcome::applied, Outcome::in_sync});
}

TEST_P(Dcb, AConflictIsReportedAndNotWritten) {
  bed.terms.in_conflict = [](SettingId setting) { return setting == SettingId::pfc; };
  auto changes = bed.settle_to(want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::conflict);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
}

// What a caller forgets costs a write, not a job: an empty function answers that the port is in use, and saves nothing.
TEST_P(Dcb, WithoutAnAnswerOrAPlaceForTheOriginalsNothingIsWritten) {
  using Ask = std::function<bool(const Port&)>;
  using Save = std::function<Result<void>(const Port&, const Qos&)>;
  static_assert(!std::is_default_constructible_v<qos::UseCheck> && !std::is_default_constructible_v<qos::Terms>);
  static_assert(!std::is_constructible_v<qos::UseCheck, std::nullptr_t>);
  static_assert(!std::is_default_constructible_v<qos::SaveOriginal>);
  static_assert(!std::is_constructible_v<qos::SaveOriginal, std::nullptr_t>);
  EXPECT_EQ(qos::Terms{.in_use = kIdle}.window, qos::Maintenance::closed);
  EXPECT_EQ(qos::Terms{.in_use = kIdle}.disruptive, Disruptive::idle);
  bed.terms.in_use = Ask();
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::pending);
  EXPECT_EQ(bed.nic.carrier_downs, 0u);
  Bed unsaved(GetParam());
  unsaved.save = Save();
  EXPECT_EQ(of(unsaved.apply(want), "pfc").outcome, Outcome::unsaved);
  EXPECT_EQ(unsaved.nic.writes(), 0u);
}

// A bond and its members share an RDMA device. No caller says which settings are whose.
TEST_P(Dcb, ThePortsOwnSettingsAloneAreWritten) {
  make_member(bed.port);
  const auto changes = bed.settle_to(want);
  EXPECT_FALSE(contains(changes, SettingId::mtu, &Change::setting)) << "the bond's";
  EXPECT_EQ(bed.nic.calls["setmtu"], 0u);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::applied);
}

TEST_P(Dcb, EntriesOfOtherSelectorsStay) {
  if (GetParam() == Personality::mlx5 || GetParam() == Personality::ice) GTEST_SKIP() << "takes DSCP entries only";
  const dcb_app roce{IEEE_8021QAZ_APP_SEL_DGRAM, 3, 4791};
  bed.nic.app.push_back(roce);
  bed.settle_to(want);
  bed.settle_to(bed.read());
  EXPECT_EQ(std::count_if(bed.nic.app.begin(), bed.nic.app.end(), [](const dcb_app& a) { return a.protocol == 4791; }),
            1);
}

using Reconcile = On<Personality::mlx5>;

TEST_F(Reconcile, AnMtuBeyondTheDeviceIsNotPlannedEither) {
  Qos want{.mtu = 65000};
  for (const auto& changes : {bed.plan(want), bed.apply(want)}) {
    EXPECT_EQ(of(changes, "mtu").outcome, Outcome::unsupported);
    EXPECT_EQ(of(changes, "mtu").detail, "the netdev's largest MTU is 9978 bytes");
  }
  EXPECT_EQ(bed.nic.calls["setmtu"], 0U);
  bed.nic.min_mtu = 1280;
  want.mtu = 1000;
  const auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "mtu").code, EINVAL);
  EXPECT_TRUE(has(of(changes, "mtu").detail, "mtu less than device minimum")) << "in the kernel's words";
}

TEST_F(Reconcile, NothingWantedIsNothingDone) {
  EXPECT_TRUE(bed.apply({}).empty());
  EXPECT_EQ(bed.nic.calls.size(), 0u);
}

}  // namespace
}  // namespace fabric::test
