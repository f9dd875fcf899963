// SPDX-License-Identifier: Apache-2.0
// The settings that a policy wants are written and read back: properties of every driver, properties of one, and random
// policies from random states.
#include "nic/generic/dscp.h"
#include "support/ports.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::test {
namespace {

using Bnxt = On<Personality::bnxt>;
using Full = On<Personality::full>;
using Ice = On<Personality::ice>;
using Mlx5 = On<Personality::mlx5>;
using Nodcb = On<Personality::nodcb>;
using Rxe = On<Personality::nodcb>;

// -- Every driver

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
  EXPECT_EQ(bed.have, bed.read(keys_of(want))) << "what is not asked for is not read";
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
    EXPECT_EQ(bed.have, bed.read(keys_of(want))) << "nor does it take its wish for what is";
    auto done = bed.settle_to(want);
    EXPECT_EQ(keys_with(plan, Outcome::differs), written(done)) << text(plan) << text(done);
  }
}

// The Arm cores of a DPU program the port: it is compared, and never written.
TEST_P(Dcb, APortOfADpuIsComparedAndNotWritten) {
  const auto unowned = bed.plan(want);
  bed.port.role = PortRole::dpu_owned;
  const auto before = bed.nic.writes();
  for (const auto& changes : {bed.plan(want), bed.apply(want)}) {
    EXPECT_EQ(bed.nic.writes(), before) << text(changes);
    for (const Outcome promise : {Outcome::differs, Outcome::pending, Outcome::applied})
      EXPECT_TRUE(keys_with(changes, promise).empty()) << text(changes);
    bool any = false;
    for (const Change& change : unowned) {
      if (change.outcome != Outcome::differs) continue;
      any = true;
      EXPECT_TRUE(has_outcome(changes, change.key(), Outcome::unsupported, "Set it on the DPU"));
      EXPECT_EQ(of(changes, change.key()).from, change.from) << "observed";
    }
    EXPECT_TRUE(any);
  }
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

// "now" asks only for the default route, which may have left a moment ago.
TEST_P(Dcb, NeverMeansNeverAndNowWritesAUsedPort) {
  unsigned questions = 0;
  bed.terms.in_use = [&](const Port&) {
    ++questions;
    return true;
  };
  bed.terms.disruptive = Disruptive::never;
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::pending);
  EXPECT_EQ(bed.nic.carrier_downs, 0u);
  EXPECT_EQ(questions, 0u);
  bed.terms.disruptive = Disruptive::now;
  bed.terms.window = qos::Maintenance::closed;
  EXPECT_TRUE(has_outcome(bed.apply(want), "pfc", Outcome::pending, "maintenance window"));
  EXPECT_EQ(bed.nic.carrier_downs, 0u);
  bed.terms.window = qos::Maintenance::open;
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::applied);
}

// The port is not written when it is idle, with "now", or by restore: only an entry that names the port allows it.
TEST_P(Dcb, APortWithTheDefaultRouteIsNotWrittenDisruptively) {
  bed.nic.has_default_route = true;
  for (const Disruptive when : {Disruptive::idle, Disruptive::now}) {
    bed.terms.disruptive = when;
    for (const Changes& changes :
         {bed.plan(want), bed.apply(want), write_back(bed.kernel, bed.port, want, bed.terms)}) {
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
  bed.terms.in_use = [](const Port&) { return qos::Use{"the default route", qos::UseKind::default_route}; };
  expect_all(bed.settle_to(want), {Outcome::applied, Outcome::in_sync});
}

TEST_P(Dcb, AConflictIsReportedAndNotWritten) {
  bed.terms.in_conflict = [](SettingId setting) { return setting == SettingId::pfc; };
  auto changes = bed.settle_to(want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::conflict);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
}

// A forgotten function costs a write, not a job: an empty one answers that the port is in use, and saves nothing.
TEST_P(Dcb, WithoutAnAnswerOrAPlaceForTheOriginalsNothingIsWritten) {
  using Ask = std::function<bool(const Port&)>;
  using Save = std::function<Result<void>(const Port&, const Qos&)>;
  static_assert(!std::is_default_constructible_v<qos::UseCheck> && !std::is_default_constructible_v<qos::Terms>);
  static_assert(!std::is_constructible_v<qos::UseCheck, std::nullptr_t>);
  static_assert(!std::is_default_constructible_v<qos::SaveOriginal>);
  static_assert(!std::is_constructible_v<qos::SaveOriginal, std::nullptr_t>);
  static_assert(!std::is_default_constructible_v<qos::WantedOf>);
  static_assert(!std::is_constructible_v<qos::WantedOf, std::nullptr_t>);
  static_assert(!std::is_default_constructible_v<qos::WriteTerms>);
  static_assert(!std::is_constructible_v<qos::WriteTerms, qos::Terms>, "a write has its turn");
  const qos::Terms terms{.in_use = kIdle, .wanted_of = qos::WantedOf::same_policy()};
  EXPECT_EQ(terms.window, qos::Maintenance::closed);
  EXPECT_EQ(terms.disruptive, Disruptive::idle);
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

// Its index and its card are unknown: the name may lead to another device, and an original would be saved under another
// key.
TEST_P(Dcb, APortWhoseNetdevTheScanCouldNotReadIsNotWritten) {
  bed.port.ifindex = 0;
  bed.port.unread = {{PortPart::netdev, "netdev, mtu, carrier: eth0: read link: no answer (ETIMEDOUT)"}};
  bed.save = [](const Port&, const Qos&) -> Result<void> {
    ADD_FAILURE() << "saved";
    return {};
  };
  const Changes changes = bed.apply(want);
  EXPECT_EQ(bed.nic.writes(), 0U);
  ASSERT_FALSE(changes.empty());
  for (const Change& change : changes) {
    EXPECT_EQ(change.outcome, Outcome::refused);
    EXPECT_TRUE(change.is_lost);
    EXPECT_TRUE(has(change.detail, "ETIMEDOUT")) << change.detail;
  }
}

// The default route may come while a pass writes other settings.
TEST_P(Dcb, ADefaultRouteThatComesDuringThePassStopsItsDisruptiveWrites) {
  bed.terms.disruptive = Disruptive::now;
  bed.nic.after_change = [&](const std::string& op) {
    bed.nic.has_default_route = bed.nic.has_default_route || op == "setmtu";
  };
  const Changes changes = bed.apply(want);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied) << text(changes);
  EXPECT_TRUE(has_outcome(changes, "pfc", Outcome::pending, "the default route leaves by eth0"));
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

// -- One driver each

// RoCE LAG: the RDMA device sits on the bond, PFC and DSCP belong to the cards below.
TEST(Bond, SettingsOfTheMembersAreNamedSo) {
  Tree tree;
  tree.folder("sys/class/net/bond0/bonding");
  SimKernel sim;
  SimNic& nic = sim.add_nic("bond0", Personality::nodcb);
  Kernel kernel = sim.kernel(tree.path());
  Port port = nic.port();
  const Changes changes = reconcile(kernel, port, {.mtu = 4200, .pfc = PrioSet{8}}, free_terms(), kSaveNowhere);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
  EXPECT_TRUE(has_outcome(changes, "pfc", Outcome::unsupported, "bond0 is a bond"));
}

TEST_F(Mlx5, OnePfcChangeFlapsOnceAndTheThresholdsAreSettledAtCarrierUp) {
  bed.apply(profile(Personality::mlx5));
  EXPECT_EQ(bed.nic.carrier_downs, 1u);
  EXPECT_EQ(bed.nic.calls["setpfc"], 1u) << "nothing was lossless: the cable's length travels with PFC";
  bed.nic.link_up();
  ASSERT_TRUE(qos::settle(bed.kernel, bed.port).ok());
  EXPECT_EQ(bed.nic.calls["setpfc"], 2u);
  EXPECT_EQ(bed.nic.log.back(), "setpfc pfc_en=0x08 delay=30");
  EXPECT_EQ(bed.nic.carrier_downs, 1u);
}

TEST_F(Mlx5, ALongerCableFollowsPfcWhereBuffersWereLossless) {
  Qos want = profile(Personality::mlx5);
  bed.settle_to(want);
  bed.nic.calls.clear();
  want.pfc = PrioSet{0x18};
  want.cable_length = 100;
  bed.apply(want);
  EXPECT_EQ(bed.nic.calls["setpfc"], 2u) << "the old lossless buffers may be too small for it";
  EXPECT_EQ(bed.nic.pfc.delay, 100);
}

TEST_F(Mlx5, ACableLengthInConflictDoesNotTravelWithPfc) {
  bed.terms.in_conflict = [](SettingId setting) { return setting == SettingId::cable_length; };
  const auto before = bed.nic.pfc.delay;
  const Changes changes = bed.apply(profile(Personality::mlx5));
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::applied) << text(changes);
  EXPECT_EQ(of(changes, "cable_length").outcome, Outcome::conflict) << text(changes);
  EXPECT_EQ(bed.nic.pfc.delay, before);
}

// One message has the map and the sizes.
TEST_F(Mlx5, ABufferSettingInConflictIsNotWrittenWithTheOther) {
  const Qos want{.pause = Pause{}, .prio2buffer = Eight{0, 0, 0, 1}, .buffer_size = Buffers{.bytes = {204800, 204800}}};
  for (const SettingId held : {SettingId::prio2buffer, SettingId::buffer_size}) {
    Bed fresh(Personality::mlx5);
    const dcbnl_buffer before = fresh.nic.buffer;
    fresh.terms.in_conflict = [=](SettingId setting) { return setting == held; };
    const Changes changes = fresh.apply(want);
    const bool is_map = held == SettingId::prio2buffer;
    EXPECT_EQ(of(changes, key_text(held)).outcome, Outcome::conflict) << text(changes);
    EXPECT_TRUE(was_written(of(changes, is_map ? "buffer_size" : "prio2buffer"))) << text(changes);
    EXPECT_EQ(std::ranges::equal(fresh.nic.buffer.prio2buffer, before.prio2buffer), is_map);
    EXPECT_EQ(std::ranges::equal(fresh.nic.buffer.buffer_size, before.buffer_size), !is_map);
  }
}

TEST_F(Mlx5, HostModeComesAndGoesWithoutTheBitsOfVersions) {
  bed.nic.dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE;
  const Qos firmware{.dcbx = Dcbx::firmware}, host{.dcbx = Dcbx::host};
  EXPECT_EQ(of(bed.apply(host), "dcbx").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.dcbx, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE);
  EXPECT_EQ(of(bed.apply(firmware), "dcbx").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.dcbx, DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE);
}

TEST_F(Mlx5, ARefusedHostModeIsTheFirmwaresAndNoLackOfPrivilege) {
  bed.nic.firmware_agent = true;
  bed.nic.dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE;
  const auto changes = bed.apply({.dcbx = Dcbx::host});
  EXPECT_TRUE(has_outcome(changes, "dcbx", Outcome::refused, "LLDP_NB_DCBX_P1=0"));
  EXPECT_FALSE(has(of(changes, "dcbx").detail, "CAP_NET_ADMIN"));
}

TEST_F(Mlx5, AnMtuChangeSettlesTheThresholdsAtOnce) {
  bed.settle_to(profile(Personality::mlx5));
  bed.apply({.mtu = 9000});
  ASSERT_GE(bed.nic.log.size(), 2u);
  EXPECT_EQ(bed.nic.log.end()[-2], "setmtu 9000");
  EXPECT_EQ(bed.nic.log.end()[-1], "setpfc pfc_en=0x08 delay=30");
  EXPECT_EQ(bed.nic.carrier_downs, 1u);
}

TEST_F(Mlx5, All64DscpsGoInOneMessageAndOnlyTheDifferentOnes) {
  bed.settle_to(profile(Personality::mlx5));
  EXPECT_EQ(bed.nic.calls["setapp"], 64u);
  EXPECT_EQ(bed.nic.app.size(), 64u);
  EXPECT_EQ(bed.read().dscp_map->at(63), 7);
  bed.nic.app[26].priority = 0;
  bed.settle_to(profile(Personality::mlx5));
  EXPECT_EQ(bed.nic.calls["setapp"], 65u);
  EXPECT_EQ(bed.nic.log.back(), "setapp sel=5 proto=26 prio=3");
}

TEST_F(Mlx5, TrustAloneListsTheDefaultMapAndPcpEmptiesIt) {
  Qos want{.trust = Trust::dscp};
  EXPECT_EQ(of(bed.apply(want), "trust").outcome, Outcome::applied);
  EXPECT_EQ(bed.read().dscp_map, dscp::complete({}));
  want.trust = Trust::pcp;
  EXPECT_EQ(of(bed.apply(want), "trust").outcome, Outcome::applied);
  EXPECT_TRUE(bed.nic.app.empty());
}

TEST_F(Mlx5, WhatTheCardCannotDoIsUnsupportedAndNotTried) {
  auto changes = bed.apply({.trust = Trust::pcp,
                            .dscp_map = DscpMap{{26, 3}},
                            .ets = Ets{.prio_tc = kIdentity, .tsa = {Tsa::strict, Tsa::strict, Tsa::cb_shaper}},
                            .cable_length = 1000});
  EXPECT_EQ(keys_with(changes, Outcome::unsupported), (std::set<std::string>{"cable_length", "ets", "trust"}));
  EXPECT_EQ(of(changes, "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.calls["setets"] + bed.nic.calls["setpfc"], 0u);
}

// mlxconfig NUM_OF_TC_P1.
TEST_F(Mlx5, ClassesThatTheFirmwareIsSetNotToHaveAreNotTried) {
  bed.nic.ets.ets_cap = 4;
  const auto changes = bed.apply({.ets = shares({0, 0, 0, 1, 0, 0, 5, 0}, {50, 50})});
  EXPECT_TRUE(has_outcome(changes, "ets", Outcome::unsupported, "4 traffic classes"));
  EXPECT_EQ(bed.nic.calls["setets"], 0u);
}

TEST_F(Mlx5, ADriverReloadIsRepaired) {
  bed.settle_to(profile(Personality::mlx5));
  bed.sim.reload(bed.nic);
  bed.port = bed.nic.port();
  auto changes = bed.settle_to(profile(Personality::mlx5));
  EXPECT_EQ(keys_with(changes, Outcome::applied), (std::set<std::string>{"mtu", "ets"})) << text(changes);
  EXPECT_EQ(keys_with(changes, Outcome::unverified), std::set<std::string>{"cable_length"}) << text(changes);
  EXPECT_EQ(bed.nic.pfc.delay, 30);
  EXPECT_EQ(bed.nic.carrier_downs, 1u) << "the bits were still there: no second flap";
}

TEST(Pause, RestoreToItTakesPfcOffFirst) {
  for (auto personality : {Personality::mlx5, Personality::ice, Personality::full}) {
    Bed bed(personality);
    const Qos original = bed.read();
    ASSERT_EQ(original.pause, (Pause{true, true}));
    bed.settle_to(profile(personality));
    const size_t from = bed.nic.log.size();
    bed.settle_to(original);
    size_t pfc = 0, pause = 0;
    for (size_t i = from; i < bed.nic.log.size(); ++i) {
      if (pfc == 0 && bed.nic.log[i].starts_with("setpfc")) pfc = i;
      if (pause == 0 && bed.nic.log[i].starts_with("setpause")) pause = i;
    }
    ASSERT_NE(pfc, 0u);
    EXPECT_LT(pfc, pause) << testing::PrintToString(bed.nic.log);
  }
}

TEST_F(Mlx5, PauseWaitsForThePfcThatMustWait) {
  const Qos original = bed.read();
  bed.settle_to(profile(Personality::mlx5));
  bed.terms.in_use = kInUse;
  auto changes = bed.apply(original);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::pending);
  EXPECT_EQ(of(changes, "pause").outcome, Outcome::pending) << text(changes);
  EXPECT_EQ(bed.nic.pause, Pause{});
}

class InSync : public testing::TestWithParam<Personality> {};

// An apply makes no driver call that a plan does not list: calls are counted, not differences.
TEST_P(InSync, AnApplyCallsNoWriteOfTheDriver) {
  Bed bed(GetParam());
  const Qos want = profile(GetParam());
  bed.terms.disruptive = Disruptive::now;
  for (int pass = 0; pass < 2; ++pass) bed.settle_to(want);
  expect_all(bed.plan(want), {Outcome::in_sync, Outcome::unsupported});
  const unsigned before = bed.nic.writes(), flaps = bed.nic.carrier_downs;
  expect_all(bed.apply(want), {Outcome::in_sync, Outcome::unsupported});
  EXPECT_EQ(bed.nic.writes(), before);
  EXPECT_EQ(bed.nic.carrier_downs, flaps);
}
INSTANTIATE_TEST_SUITE_P(Every, InSync,
                         testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::nodcb,
                                         Personality::full),
                         personality_name);

// An ETS of zeros would move every priority to the first queue.
TEST_F(Bnxt, PfcWithoutAnyEtsIsRefusedWithTheRemedy) {
  EXPECT_TRUE(has_outcome(bed.apply({.pfc = PrioSet{0x08}}), "pfc", Outcome::refused, "add ets to the policy"));
  EXPECT_EQ(bed.nic.calls["setets"], 0u);
}

// The firmware may have PFC on, and the driver shows none until it has set something.
TEST_F(Bnxt, ZerosThatNobodySetAreUnverifiedAndWrittenOnce) {
  bed.nic.pfc.pfc_en = 0x08;
  Qos want{.pfc = PrioSet{}};
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::unverified) << "without an ETS it cannot be written";
  EXPECT_EQ(bed.nic.writes(), 0u);
  want.ets = profile(Personality::bnxt).ets;
  const Change planned = of(bed.plan(want), "pfc");
  EXPECT_EQ(planned.outcome, Outcome::unverified);
  EXPECT_EQ(planned.from, "-");
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
  expect_settled(bed, want);
}

// A restore would give the NIC that ETS, although nothing was set but the MTU.
TEST_F(Bnxt, ZerosThatNobodyAskedForAreNoOriginals) {
  Qos saved;
  bed.save = [&](const Port&, const Qos& before) -> Result<void> {
    saved = before;
    return {};
  };
  bed.settle_to({.mtu = 9000});
  EXPECT_EQ(saved.mtu, 1500u);
  EXPECT_FALSE(saved.ets);
}

TEST_F(Bnxt, AnEtsOfZerosIsWrittenOnceAsWell) {
  Qos want{.ets = Ets{}};
  EXPECT_EQ(of(bed.apply(want), "ets").outcome, Outcome::applied);
  EXPECT_EQ(of(bed.apply(want), "ets").outcome, Outcome::in_sync);
  EXPECT_EQ(bed.nic.calls["setets"], 1u);
}

TEST_F(Bnxt, WhatTheFirmwareSaidOnceIsUnverified) {
  bed.nic.dcbx = DCB_CAP_DCBX_VER_IEEE;
  EXPECT_EQ(of(bed.apply({.pfc = PrioSet{}}), "pfc").outcome, Outcome::unverified);
}

TEST_F(Bnxt, ClassesThatTheNicLacksGetNoAlgorithm) {
  bed.nic.traffic_classes = 3;
  EXPECT_EQ(of(bed.apply({.ets = shares({0, 0, 0, 1, 0, 0, 2, 0}, {50, 50})}), "ets").outcome, Outcome::applied);
}

// bnxt_setup_mq_tc() -> bnxt_check_rings().
TEST_F(Bnxt, TooFewQueuesForAllClassesAreNotAMissingFeature) {
  bed.nic.faults["setets"] = {.code = ENOMEM};
  const auto changes = bed.apply(profile(Personality::bnxt));
  EXPECT_TRUE(has_outcome(changes, "ets", Outcome::refused, "ethtool -L eth0 combined"));
  EXPECT_EQ(of(changes, "ets").code, ENOMEM);
}

TEST(Pause, WaitsForAnIdlePortWhereTheDriverRestartsTheLink) {
  for (auto personality : {Personality::bnxt, Personality::ice, Personality::i40e, Personality::qede, Personality::full,
                           Personality::mlx5, Personality::mlx4}) {
    Bed bed(personality);
    bed.terms.in_use = kInUse;
    // There, only the end of global pause waits: it may be what protects RoCE.
    const bool harmless = personality == Personality::mlx5 || personality == Personality::mlx4;
    if (harmless) bed.nic.pause = {};
    auto changes = bed.apply({.pause = harmless ? Pause{.rx = true, .tx = true} : Pause{}});
    EXPECT_EQ(of(changes, "pause").outcome, harmless ? Outcome::applied : Outcome::pending) << text(changes);
    EXPECT_EQ(bed.nic.carrier_downs, 0u);
  }
}

TEST_F(Bnxt, TooManyLosslessClassesAreNotTried) {
  Qos want = profile(Personality::bnxt);
  want.pfc = PrioSet{0xff};
  EXPECT_TRUE(has_outcome(bed.apply(want), "pfc", Outcome::unsupported, "8 lossless traffic classes, the NIC has 2"));
  EXPECT_EQ(bed.nic.calls["setpfc"], 0u) << "each try would close and open the NIC";
}

TEST_F(Bnxt, FirmwareDcbxIsNamedNeverWrittenAndTheRestWaitsForIt) {
  bed.nic.firmware_agent = true;
  const Qos want = profile(Personality::bnxt);
  for (const Changes& changes : {bed.plan(want), bed.apply(want), bed.apply(want)}) {
    EXPECT_TRUE(has_outcome(changes, "dcbx", Outcome::unsupported, "the NIC's firmware owns DCBX by an option in its"));
    EXPECT_TRUE(has(of(changes, "dcbx").detail, "niccli, then restart the node; or set dcbx = \"firmware\""));
    for (const char* key : {"dscp_map", "ets", "pfc"})
      EXPECT_TRUE(has_outcome(changes, key, Outcome::pending, "waits for dcbx: the NIC's firmware owns DCBX"));
  }
  for (const std::string& line : bed.nic.log) EXPECT_FALSE(line.starts_with("setdcbx")) << line;
  EXPECT_EQ(bed.nic.calls["setpfc"], 0u);
  EXPECT_EQ(of(bed.apply(want), "mtu").outcome, Outcome::in_sync) << "the rest was written";
}

// The mode of an agent without DCBX is that of a program that has set it: only the write shows the difference.
TEST_F(Bnxt, AFirmwareAgentWithoutDcbxRefusesTheHostsMode) {
  bed.nic.firmware_agent = true;
  bed.nic.agent_runs_dcbx = false;
  EXPECT_EQ(of(bed.plan({.dcbx = Dcbx::host}), "dcbx").outcome, Outcome::differs);
  EXPECT_TRUE(has_outcome(bed.apply({.dcbx = Dcbx::host}), "dcbx", Outcome::refused, "niccli"));
}

TEST_F(Bnxt, FirmwareDcbxThatThePolicyWantsIsInSync) {
  bed.nic.firmware_agent = true;
  EXPECT_EQ(of(bed.plan({.dcbx = Dcbx::firmware}), "dcbx").outcome, Outcome::in_sync);
}

TEST_F(Bnxt, HostModeIsTakenBeforeAndGivenBackAfterTheRest) {
  bed.nic.dcbx = DCB_CAP_DCBX_VER_IEEE;
  const Qos original = bed.read();
  ASSERT_EQ(original.dcbx, Dcbx::firmware);
  expect_all(bed.settle_to(profile(Personality::bnxt)), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.log.front(), "setdcbx mode=0x09");
  expect_all(bed.settle_to(original), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.log.back(), "setdcbx mode=0x00");
  EXPECT_EQ(bed.read(), original);
}

TEST_F(Bnxt, AnotherPriorityOfAMappedDscpIsTakenOff) {
  bed.settle_to(profile(Personality::bnxt));
  ASSERT_EQ(bed.nic.set_app({IEEE_8021QAZ_APP_SEL_DSCP, 1, 26}), 0);  // dcb app add dev eth0 dscp-prio 26:1
  ASSERT_EQ(bed.nic.firmware_dscp[26], 1) << "the kernel lists both, the card has the last";
  EXPECT_EQ(of(bed.apply(profile(Personality::bnxt)), "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.firmware_dscp[26], 3);
  EXPECT_EQ(of(bed.apply(profile(Personality::bnxt)), "dscp_map").outcome, Outcome::in_sync);
}

// bnxt_hwrm_if_change() after a reset of the firmware: bnxt_dcb_free(), and the same netdev with the kernel's list as
// it was.
TEST_F(Bnxt, AfterAFirmwareResetTheCardIsToldItsDscpsAnew) {
  const Qos want = profile(Personality::bnxt);
  bed.settle_to(want);
  ASSERT_EQ(bed.nic.firmware_dscp.size(), 2U);
  bed.nic.ets = {};
  bed.nic.ets_known = bed.nic.pfc_known = false;
  bed.nic.pfc.pfc_en = 0;
  bed.nic.firmware_dscp.clear();
  expect_all(bed.apply(want), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.firmware_dscp[26], 3);
  EXPECT_EQ(bed.nic.firmware_dscp[48], 6);
  expect_settled(bed, want);
}

TEST_F(Ice, TheFirstDscpOverwritesEtsWhichIsThenWrittenAndPlanned) {
  Qos want = profile(Personality::ice);
  want.dscp_map.reset(), want.trust.reset(), want.pfc.reset(), want.ets.reset();
  bed.settle_to(want);
  // The ETS is already as wanted, but it will not survive the mode's switch.
  bed.nic.dscp_mode = false;
  const Ets ets = *profile(Personality::ice).ets;
  std::copy(ets.prio_tc.begin(), ets.prio_tc.end(), bed.nic.ets.prio_tc);
  std::copy(ets.bw.begin(), ets.bw.end(), bed.nic.ets.tc_tx_bw);
  for (int i = 0; i < 8; ++i) bed.nic.ets.tc_tsa[i] = static_cast<uint8_t>(ets.tsa[static_cast<size_t>(i)]);
  want = profile(Personality::ice);
  EXPECT_EQ(bed.read().ets, want.ets);
  EXPECT_EQ(of(bed.plan(want), "ets").outcome, Outcome::differs);
  EXPECT_EQ(of(bed.settle_to(want), "ets").outcome, Outcome::applied);
  EXPECT_EQ(bed.read().ets, want.ets);
}

TEST_F(Ice, PrioritiesStayOnTheirClassesInDscpMode) {
  Qos want = profile(Personality::ice);
  want.ets->prio_tc = {0, 0, 0, 1, 0, 0, 0, 0};
  EXPECT_EQ(of(bed.settle_to(want), "ets").outcome, Outcome::unsupported);
  EXPECT_EQ(bed.nic.calls["setets"], 0u) << "each try would close and open the netdev";
}

TEST_F(Ice, APositiveAnswerDoesNotCostTheRestOfTheTable) {
  Qos want{.dscp_map = DscpMap{{8, 1}, {16, 2}, {24, 3}, {26, 5}}};
  EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, Outcome::applied);
  bed.nic.finds_nothing_to_do = true;  // delapp answers 2
  want.dscp_map = DscpMap{{26, 4}};
  EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.app.size(), 1u);
}

// setapp answers 1, which is success elsewhere, and the entry stays in the kernel's list.
TEST_F(Ice, AMapThatNeverReachedTheNicIsRefusedAndNotListed) {
  bed.nic.faults["fwdcb"] = {.code = EBUSY};
  EXPECT_EQ(of(bed.apply({.dscp_map = DscpMap{{26, 3}}}), "dscp_map").outcome, Outcome::refused);
  EXPECT_TRUE(bed.nic.app.empty());
}

TEST_F(Ice, PauseBesidePfcAndASecondLosslessClassAreUnverified) {
  Qos want = profile(Personality::ice);
  bed.settle_to(want);
  EXPECT_EQ(keys_with(bed.apply(want), Outcome::unverified), std::set<std::string>{"pause"});
  want.pfc = PrioSet{0x18};
  bed.settle_to(want);
  EXPECT_EQ(keys_with(bed.apply(want), Outcome::unverified), (std::set<std::string>{"pause", "pfc"}));
}

TEST_F(Ice, GlobalPauseBesidePfcThatStaysIsNotTried) {
  bed.settle_to({.dcbx = Dcbx::host, .pfc = PrioSet{8}});
  const unsigned writes = bed.nic.writes();
  EXPECT_TRUE(has_outcome(bed.apply({.pause = Pause{true, true}}), "pause", Outcome::unsupported, "add pfc = []"));
  EXPECT_EQ(bed.nic.writes(), writes);
  EXPECT_TRUE(has_outcome(bed.apply({.pause = Pause{true, true}, .pfc = PrioSet{}}), "pause", Outcome::applied));
}

// ice_dcbnl_setets(), ice_dcbnl_setpfc(): "DCB changes not allowed when in a bond".
TEST_F(Ice, ARefusalInABondIsNamedSo) {
  bed.nic.faults["setets"] = bed.nic.faults["setpfc"] = {.code = EINVAL};
  const auto changes = bed.apply(profile(Personality::ice));
  for (const char* key : {"ets", "pfc"}) EXPECT_TRUE(has_outcome(changes, key, Outcome::refused, "bond"));
}

// ice_set_channels(), since Linux 6.2.
TEST_F(Ice, ChannelsStayWhileRdmaUsesTheFunction) {
  bed.nic.ethtool.channels = {8, 63};
  bed.nic.faults["setchannels"] = {.code = EBUSY};
  EXPECT_TRUE(has_outcome(bed.apply({.channels = 32}), "channels", Outcome::refused, "irdma"));
}

// The host's function of a BlueField in DPU mode: mlx5e_dcbnl_build_netdev() gives it no operations.
TEST_F(Nodcb, OfMlx5IsAPortOfTheArmCores) {
  bed.port.kernel_driver = "mlx5_core";
  const auto changes = bed.apply({.mtu = 4200, .trust = Trust::dscp, .pfc = PrioSet{8}});
  for (const char* key : {"trust", "pfc"})
    EXPECT_TRUE(has_outcome(changes, key, Outcome::unsupported, "BlueField in DPU mode"));
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
}

TEST_F(Nodcb, WhatNeedsDcbnlIsUnsupportedAndTheRestIsApplied) {
  auto changes = bed.apply(profile(Personality::nodcb));
  for (const char* key : {"dcbx", "trust", "dscp_map", "ets", "pfc"}) {
    EXPECT_EQ(of(changes, key).outcome, Outcome::unsupported);
    EXPECT_FALSE(of(changes, key).detail.empty());
  }
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "pause").outcome, Outcome::unsupported)
      << "the kernel shows PFC as pause here, and would replace it";
  EXPECT_EQ(bed.nic.calls["setpause"], 0u);
}

TEST_F(Rxe, HasAnMtuAndNoPriorities) {
  bed.port.kernel_driver = "rxe";
  auto changes = bed.apply(profile(Personality::nodcb));
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "pfc").detail, "software RDMA has no priorities in hardware");
}

TEST_F(Full, TrustGoesThroughTheApptrustTable) {
  Qos want{.trust = Trust::dscp};
  EXPECT_EQ(of(bed.apply(want), "trust").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.trust, (std::vector<uint8_t>{IEEE_8021QAZ_APP_SEL_DSCP, dcbnl::kSelectorPcp}));
  bed.nic.faults["settrust"] = {.action = Fault::ignore};  // kernels before 6.2 drop the attribute with success
  want.trust = Trust::pcp;
  EXPECT_EQ(of(bed.apply(want), "trust").outcome, Outcome::ignored);
}

TEST_F(Full, ASecondEntryOfAMappedDscpIsRemoved) {
  bed.settle_to(profile(Personality::full));
  bed.nic.app.push_back({IEEE_8021QAZ_APP_SEL_DSCP, 5, 26});
  EXPECT_EQ(bed.read().dscp_map->at(26), 5);
  EXPECT_EQ(of(bed.apply(profile(Personality::full)), "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.app.size(), 2u);
}

// -- Random wishes from random states: fixed seeds, the same cases each time

// A driver and how many cases.
class AnyDcb : public testing::TestWithParam<std::tuple<Personality, int>> {};
const auto kDrivers = testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full);
const auto kDriverName = [](const auto& each) { return name_of(std::get<0>(each.param)); };
INSTANTIATE_TEST_SUITE_P(Drivers, AnyDcb, testing::Combine(kDrivers, testing::Values(50)), kDriverName);
INSTANTIATE_TEST_SUITE_P(DriversHarder, AnyDcb, testing::Combine(kDrivers, testing::Values(400)), kDriverName);

// From any state to any policy: the pass ends in sync or reports the reason, and its report stays true in a second
// pass, which writes only settings that were refused or ignored before (here there are none).
Qos random_qos(std::mt19937& random, Personality personality) {
  auto pick = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
  Qos out;
  if (pick(2)) out.dcbx = Dcbx::host;
  if (pick(2)) out.pause = Pause{pick(4) == 0, pick(4) == 0};
  if (pick(2)) out.mtu = 1500 + pick(8) * 1000;
  if (pick(3)) {
    out.dscp_map.emplace();
    for (unsigned i = pick(4); i > 0; --i)
      (*out.dscp_map)[static_cast<uint8_t>(pick(64))] = static_cast<uint8_t>(pick(8));
  }
  if (pick(2)) out.trust = pick(2) ? Trust::dscp : Trust::pcp;
  if (pick(2)) {
    Ets ets;
    if (pick(2) || personality == Personality::ice) ets.prio_tc = kIdentity;
    else
      for (auto& tc : ets.prio_tc) tc = static_cast<uint8_t>(pick(3));
    ets.tsa[0] = ets.tsa[1] = Tsa::ets;
    ets.bw[0] = static_cast<uint8_t>(1 + pick(98));
    ets.bw[1] = static_cast<uint8_t>(100 - ets.bw[0]);
    out.ets = ets;
  }
  if (pick(2)) out.pfc = PrioSet{static_cast<uint8_t>(pick(4) == 0 ? 0 : 1u << pick(8))};
  if (pick(2)) out.cable_length = 1 + pick(999);
  // Global pause beside PFC is a wish that ice refuses; config/ warns of it.
  if (out.pause && (out.pause->rx || out.pause->tx)) out.pfc = PrioSet{};
  return out;
}

TEST_P(AnyDcb, AnyWishFromAnyStateEndsHonestly) {
  const auto [driver, count] = GetParam();
  std::mt19937 random(20'240 + static_cast<unsigned>(driver));
  for (int i = 0; i < count; ++i) {
    Bed bed(driver);
    bed.settle_to(random_qos(random, driver));
    const Qos want = random_qos(random, driver);
    auto plan = bed.plan(want);
    auto first = bed.settle_to(want);
    SCOPED_TRACE("case " + std::to_string(i) + "\n" + text(first));
    std::set<Outcome> honest{Outcome::applied, Outcome::in_sync, Outcome::unsupported, Outcome::refused};
    // Global pause stays on if the PFC that replaces it is refused.
    const bool keeps_pause = keys_with(first, Outcome::refused).contains("pfc") &&
                             keys_with(first, Outcome::pending) == std::set<std::string>{"pause"};
    if (keeps_pause) honest.insert(Outcome::pending);
    expect_all(first, honest);
    // A plan cannot know what will be refused.
    auto tried = written(first);
    if (keeps_pause) tried.insert("pause");
    tried.merge(keys_with(first, Outcome::refused));
    auto planned = keys_with(plan, Outcome::differs);
    for (const Change& change : plan)
      if (change.outcome == Outcome::unverified && change.from == "-") planned.insert(change.key());
    // ice shows pause once PFC is off: a plan cannot know that it will have to be written.
    if (keys_with(plan, Outcome::unverified).contains("pause")) tried.erase("pause");
    EXPECT_EQ(planned, tried) << text(plan);
    for (const Change& change : first) {
      const Setting& setting = setting_of(change.setting);
      const Qos expected = driver_for(bed.port.kernel_driver).expected(want, {});
      EXPECT_EQ(same_value(setting, expected, bed.have.value_or(Qos{})), is_done(change.outcome)) << change.key();
    }
    const auto writes = bed.nic.writes();
    auto second = bed.settle_to(want);
    EXPECT_TRUE(written(second).empty()) << text(second);
    if (keys_with(first, Outcome::refused).empty()) {
      EXPECT_EQ(bed.nic.writes(), writes) << text(second);
    }
    if (testing::Test::HasFailure()) break;
  }
}

TEST_P(AnyDcb, AnyReadingCanBeRestored) {
  const auto [driver, count] = GetParam();
  std::mt19937 random(7'001 + static_cast<unsigned>(driver));
  for (int i = 0; i < (count + 1) / 2; ++i) {
    Bed bed(driver);
    bed.settle_to(random_qos(random, driver));
    const Qos original = bed.read();
    bed.settle_to(profile(driver));
    auto changes = bed.settle_to(original);
    SCOPED_TRACE("case " + std::to_string(i) + "\n" + text(changes));
    expect_all(changes, {Outcome::applied, Outcome::in_sync});
    EXPECT_EQ(bed.read(), driver_for(bed.port.kernel_driver).expected(original, {}));
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace fabric::test
