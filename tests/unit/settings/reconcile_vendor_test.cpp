// SPDX-License-Identifier: Apache-2.0
// What holds on one driver.
#include "support/sim_nic_bed.h"
#include "support/test.h"
#include "support/tree.h"
#include "vendor/generic/dscp.h"

namespace fabric::test {
namespace {

// RoCE LAG: the RDMA device sits on the bond, PFC and DSCP belong to the cards below.
TEST(Bond, SettingsOfTheMembersAreNamedSo) {
  Tree tree;
  tree.folder("sys/class/net/bond0/bonding");
  SimKernel sim;
  SimNic& nic = sim.add_nic("bond0", Personality::nodcb);
  Kernel kernel = sim.kernel(tree.path());
  Port port = nic.port();
  Qos want;
  want.mtu = 4200;
  want.pfc = PrioSet{8};
  const Changes changes = qos::reconcile(kernel, port, want, {});
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "pfc").detail.find("bond0 is a bond"), std::string::npos) << of(changes, "pfc").detail;
}

TEST(Mlx5, OnePfcChangeFlapsOnceAndTheThresholdsAreSettledAtCarrierUp) {
  Bed bed(Personality::mlx5);
  bed.apply(profile(Personality::mlx5));
  EXPECT_EQ(bed.nic.carrier_downs, 1u);
  EXPECT_EQ(bed.nic.calls["setpfc"], 1u) << "nothing was lossless: the cable's length travels with PFC";
  bed.nic.link_up();
  ASSERT_TRUE(qos::settle(bed.kernel, bed.port).ok());
  EXPECT_EQ(bed.nic.calls["setpfc"], 2u);
  EXPECT_EQ(bed.nic.log.back(), "setpfc pfc_en=0x08 delay=30");
  EXPECT_EQ(bed.nic.carrier_downs, 1u);
}

TEST(Mlx5, ALongerCableFollowsPfcWhereBuffersWereLossless) {
  Bed bed(Personality::mlx5);
  Qos want = profile(Personality::mlx5);
  bed.settle_to(want);
  bed.nic.calls.clear();
  want.pfc = PrioSet{0x18};
  want.cable_length = 100;
  bed.apply(want);
  EXPECT_EQ(bed.nic.calls["setpfc"], 2u) << "the old lossless buffers may be too small for it";
  EXPECT_EQ(bed.nic.pfc.delay, 100);
}

TEST(Mlx5, HostModeComesAndGoesWithoutTheBitsOfVersions) {
  Bed bed(Personality::mlx5);
  bed.nic.dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE;
  Qos firmware, host;
  firmware.dcbx = Dcbx::firmware, host.dcbx = Dcbx::host;
  EXPECT_EQ(of(bed.apply(host), "dcbx").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.dcbx, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE);
  EXPECT_EQ(of(bed.apply(firmware), "dcbx").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.dcbx, DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE);
}

TEST(Mlx5, AnMtuChangeSettlesTheThresholdsAtOnce) {
  Bed bed(Personality::mlx5);
  bed.settle_to(profile(Personality::mlx5));
  Qos want;
  want.mtu = 9000;
  bed.apply(want);
  ASSERT_GE(bed.nic.log.size(), 2u);
  EXPECT_EQ(bed.nic.log.end()[-2], "setmtu 9000");
  EXPECT_EQ(bed.nic.log.end()[-1], "setpfc pfc_en=0x08 delay=30");
  EXPECT_EQ(bed.nic.carrier_downs, 1u);
}

TEST(Mlx5, All64DscpsGoInOneMessageAndOnlyTheDifferentOnes) {
  Bed bed(Personality::mlx5);
  bed.settle_to(profile(Personality::mlx5));
  EXPECT_EQ(bed.nic.calls["setapp"], 64u);
  EXPECT_EQ(bed.nic.app.size(), 64u);
  EXPECT_EQ(bed.read().dscp_map->at(63), 7);
  bed.nic.app[26].priority = 0;
  bed.settle_to(profile(Personality::mlx5));
  EXPECT_EQ(bed.nic.calls["setapp"], 65u);
  EXPECT_EQ(bed.nic.log.back(), "setapp sel=5 proto=26 prio=3");
}

TEST(Mlx5, TrustAloneListsTheDefaultMapAndPcpEmptiesIt) {
  Bed bed(Personality::mlx5);
  Qos want;
  want.trust = Trust::dscp;
  EXPECT_EQ(of(bed.apply(want), "trust").outcome, Outcome::applied);
  EXPECT_EQ(bed.read().dscp_map, dscp::complete({}));
  want.trust = Trust::pcp;
  EXPECT_EQ(of(bed.apply(want), "trust").outcome, Outcome::applied);
  EXPECT_TRUE(bed.nic.app.empty());
}

TEST(Mlx5, WhatTheCardCannotDoIsUnsupportedAndNotTried) {
  Bed bed(Personality::mlx5);
  Qos want;
  want.cable_length = 1000;
  want.ets = Ets{.prio_tc = kIdentity};
  want.ets->tsa[2] = Tsa::cb_shaper;
  want.trust = Trust::pcp;
  want.dscp_map = DscpMap{{26, 3}};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "cable_length").outcome, Outcome::unsupported);
  EXPECT_EQ(of(changes, "ets").outcome, Outcome::unsupported);
  EXPECT_EQ(of(changes, "trust").outcome, Outcome::unsupported);
  EXPECT_EQ(of(changes, "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.calls["setets"] + bed.nic.calls["setpfc"], 0u);
}

TEST(Mlx5, ADriverReloadIsRepaired) {
  Bed bed(Personality::mlx5);
  bed.settle_to(profile(Personality::mlx5));
  bed.sim.reload(bed.nic);
  bed.port = bed.nic.port();
  auto changes = bed.settle_to(profile(Personality::mlx5));
  EXPECT_EQ(keys_with(changes, Outcome::applied), (std::set<std::string>{"mtu", "ets"})) << text(changes);
  EXPECT_EQ(keys_with(changes, Outcome::unverified), std::set<std::string>{"cable_length"}) << text(changes);
  EXPECT_EQ(bed.nic.pfc.delay, 30);
  EXPECT_EQ(bed.nic.carrier_downs, 1u) << "the bits were still there: no second flap";
}

TEST(Mlx5, RestoreToPauseOnTakesPfcOffFirst) {
  for (auto personality : {Personality::mlx5, Personality::ice, Personality::full}) {
    Bed bed(personality);
    const Qos original = bed.read();
    ASSERT_EQ(original.pause, (Pause{true, true}));
    bed.settle_to(profile(personality));
    const size_t from = bed.nic.log.size();
    bed.settle_to(original);
    size_t pfc = 0, pause = 0;
    for (size_t i = from; i < bed.nic.log.size(); ++i) {
      if (bed.nic.log[i].starts_with("setpfc")) pfc = i;
      if (bed.nic.log[i].starts_with("setpause")) pause = i;
    }
    ASSERT_NE(pause, 0u);
    EXPECT_LT(pfc, pause);
  }
}

TEST(Mlx5, PauseWaitsForThePfcThatMustWait) {
  Bed bed(Personality::mlx5);
  const Qos original = bed.read();
  bed.settle_to(profile(Personality::mlx5));
  bed.options.busy = [](const Port&) { return true; };
  auto changes = bed.apply(original);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::pending);
  EXPECT_EQ(of(changes, "pause").outcome, Outcome::pending) << text(changes);
  EXPECT_EQ(bed.nic.pause, Pause{});
}

class InSync : public testing::TestWithParam<Personality> {};

// What a plan does not list, an apply does not call: driver calls are counted, not differences.
TEST_P(InSync, AnApplyCallsNoWriteOfTheDriver) {
  Bed bed(GetParam());
  const Qos want = profile(GetParam());
  bed.options.disruptive = Disruptive::now;
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
TEST(Bnxt, PfcWithoutAnyEtsIsRefusedWithTheRemedy) {
  Bed bed(Personality::bnxt);
  Qos want;
  want.pfc = PrioSet{0x08};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::refused) << text(changes);
  EXPECT_NE(of(changes, "pfc").detail.find("add ets to the policy"), std::string::npos) << text(changes);
  EXPECT_EQ(bed.nic.calls["setets"], 0u);
}

// The firmware may have PFC on, and the driver shows none until it has set something.
TEST(Bnxt, ZerosThatNobodySetAreUnverifiedAndWrittenOnce) {
  Bed bed(Personality::bnxt);
  bed.nic.pfc.pfc_en = 0x08;
  Qos want;
  want.pfc = PrioSet{};
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::unverified) << "without an ETS it cannot be written";
  EXPECT_EQ(bed.nic.writes(), 0u);
  want.ets = profile(Personality::bnxt).ets;
  auto plan = bed.plan(want);
  EXPECT_EQ(of(plan, "pfc").outcome, Outcome::unverified) << text(plan);
  EXPECT_EQ(of(plan, "pfc").from, "-");
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
  const unsigned writes = bed.nic.writes();
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::in_sync) << text(changes);
  EXPECT_EQ(of(changes, "ets").outcome, Outcome::in_sync);
  EXPECT_EQ(bed.nic.writes(), writes);
}

TEST(Bnxt, AnEtsOfZerosIsWrittenOnceAsWell) {
  Bed bed(Personality::bnxt);
  Qos want;
  want.ets = Ets{};
  EXPECT_EQ(of(bed.apply(want), "ets").outcome, Outcome::applied);
  EXPECT_EQ(of(bed.apply(want), "ets").outcome, Outcome::in_sync);
  EXPECT_EQ(bed.nic.calls["setets"], 1u);
}

TEST(Bnxt, WhatTheFirmwareSaidOnceIsUnverified) {
  Bed bed(Personality::bnxt);
  bed.nic.dcbx = DCB_CAP_DCBX_VER_IEEE;
  Qos want;
  want.pfc = PrioSet{};
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::unverified);
}

TEST(Bnxt, ClassesThatTheNicLacksGetNoAlgorithm) {
  Bed bed(Personality::bnxt);
  bed.nic.traffic_classes = 3;
  Qos want;
  want.ets = Ets{.prio_tc = {0, 0, 0, 1, 0, 0, 2, 0}};
  want.ets->tsa.fill(Tsa::ets);
  want.ets->bw = {50, 50};
  EXPECT_EQ(of(bed.apply(want), "ets").outcome, Outcome::applied);
}

TEST(Pause, WaitsForAnIdlePortWhereTheDriverRestartsTheLink) {
  for (auto personality : {Personality::bnxt, Personality::ice, Personality::i40e, Personality::qede, Personality::full,
                           Personality::mlx5}) {
    Bed bed(personality);
    bed.options.busy = [](const Port&) { return true; };
    Qos want;
    want.pause = Pause{};
    auto changes = bed.apply(want);
    const bool harmless = personality == Personality::mlx5;
    EXPECT_EQ(of(changes, "pause").outcome, harmless ? Outcome::applied : Outcome::pending) << text(changes);
    EXPECT_EQ(bed.nic.carrier_downs, 0u);
  }
}

TEST(Bnxt, TooManyLosslessClassesAreNotTried) {
  Bed bed(Personality::bnxt);
  Qos want = profile(Personality::bnxt);
  want.pfc = PrioSet{0xff};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "pfc").detail.find("8 lossless traffic classes, the NIC has 2"), std::string::npos)
      << text(changes);
  EXPECT_EQ(bed.nic.calls["setpfc"], 0u) << "each try would close and open the NIC";
}

TEST(Bnxt, FirmwareDcbxIsNamedInEveryRefusal) {
  Bed bed(Personality::bnxt);
  bed.nic.firmware_agent = true;
  auto changes = bed.apply(profile(Personality::bnxt));
  for (const char* key : {"dcbx", "dscp_map", "ets", "pfc"}) {
    EXPECT_EQ(of(changes, key).outcome, Outcome::refused) << text(changes);
    EXPECT_NE(of(changes, key).detail.find("niccli"), std::string::npos);
  }
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
}

TEST(Bnxt, HostModeIsTakenBeforeAndGivenBackAfterTheRest) {
  Bed bed(Personality::bnxt);
  bed.nic.dcbx = DCB_CAP_DCBX_VER_IEEE;
  const Qos original = bed.read();
  ASSERT_EQ(original.dcbx, Dcbx::firmware);
  expect_all(bed.settle_to(profile(Personality::bnxt)), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.log.front(), "setdcbx mode=0x09");
  expect_all(bed.settle_to(original), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.log.back(), "setdcbx mode=0x00");
  EXPECT_EQ(bed.read(), original);
}

TEST(Bnxt, AnotherPriorityOfAMappedDscpIsTakenOff) {
  Bed bed(Personality::bnxt);
  bed.settle_to(profile(Personality::bnxt));
  ASSERT_EQ(bed.nic.set_app({IEEE_8021QAZ_APP_SEL_DSCP, 1, 26}), 0);  // dcb app add dev eth0 dscp-prio 26:1
  ASSERT_EQ(bed.nic.firmware_dscp[26], 1) << "the kernel lists both, the card has the last";
  EXPECT_EQ(of(bed.apply(profile(Personality::bnxt)), "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.firmware_dscp[26], 3);
  EXPECT_EQ(of(bed.apply(profile(Personality::bnxt)), "dscp_map").outcome, Outcome::in_sync);
}

// bnxt_hwrm_if_change() after a reset of the firmware: bnxt_dcb_free(), and the same netdev with the kernel's list as
// it was.
TEST(Bnxt, AfterAFirmwareResetTheCardIsToldItsDscpsAnew) {
  Bed bed(Personality::bnxt);
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
  const unsigned writes = bed.nic.writes();
  expect_all(bed.apply(want), {Outcome::in_sync});
  EXPECT_EQ(bed.nic.writes(), writes);
}

TEST(Ice, TheFirmwareAgentIsNamedWithItsFlag) {
  Bed bed(Personality::ice);
  bed.nic.firmware_agent = true;
  EXPECT_EQ(bed.read().dcbx, Dcbx::firmware);
  auto changes = bed.apply(profile(Personality::ice));
  EXPECT_EQ(of(changes, "dcbx").outcome, Outcome::refused);
  EXPECT_NE(of(changes, "dcbx").detail.find("ethtool --set-priv-flags eth0 fw-lldp-agent off"), std::string::npos);
}

TEST(Ice, TheFirstDscpOverwritesEtsWhichIsThenWrittenAndPlanned) {
  Bed bed(Personality::ice);
  Qos want = profile(Personality::ice);
  want.dscp_map.reset(), want.trust.reset(), want.pfc.reset(), want.ets.reset();
  bed.settle_to(want);
  // The wanted ETS stands already, but it will not survive the mode's switch.
  bed.nic.dscp_mode = false;
  const Ets ets = *profile(Personality::ice).ets;
  std::copy(ets.prio_tc.begin(), ets.prio_tc.end(), bed.nic.ets.prio_tc);
  std::copy(ets.bw.begin(), ets.bw.end(), bed.nic.ets.tc_tx_bw);
  for (int i = 0; i < 8; ++i) bed.nic.ets.tc_tsa[i] = static_cast<uint8_t>(ets.tsa[static_cast<size_t>(i)]);
  want = profile(Personality::ice);
  EXPECT_EQ(bed.read().ets, want.ets);
  auto plan = bed.plan(want);
  EXPECT_EQ(of(plan, "ets").outcome, Outcome::differs) << text(plan);
  auto done = bed.settle_to(want);
  EXPECT_EQ(of(done, "ets").outcome, Outcome::applied);
  EXPECT_EQ(bed.read().ets, want.ets);
}

TEST(Ice, PrioritiesStayOnTheirClassesInDscpMode) {
  Bed bed(Personality::ice);
  Qos want = profile(Personality::ice);
  want.ets->prio_tc = {0, 0, 0, 1, 0, 0, 0, 0};
  auto changes = bed.settle_to(want);
  EXPECT_EQ(of(changes, "ets").outcome, Outcome::unsupported);
  EXPECT_EQ(bed.nic.calls["setets"], 0u) << "each try would close and open the netdev";
}

TEST(Ice, APositiveAnswerDoesNotCostTheRestOfTheTable) {
  Bed bed(Personality::ice);
  Qos want;
  want.dscp_map = DscpMap{{8, 1}, {16, 2}, {24, 3}, {26, 5}};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "dscp_map").outcome, Outcome::applied) << text(changes);
  want.dscp_map = DscpMap{{26, 4}};  // delapp answers 2
  EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.app.size(), 1u);
}

// setapp answers 1, which is success elsewhere, and the entry stays in the kernel's list.
TEST(Ice, AMapThatNeverReachedTheNicIsRefusedAndNotListed) {
  Bed bed(Personality::ice);
  bed.nic.faults["fwapp"] = {.action = Fault::refuse, .code = EBUSY};
  Qos want;
  want.dscp_map = DscpMap{{26, 3}};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "dscp_map").outcome, Outcome::refused) << text(changes);
  EXPECT_TRUE(bed.nic.app.empty());
}

TEST(Ice, PauseBesidePfcAndASecondLosslessClassAreUnverified) {
  Bed bed(Personality::ice);
  Qos want = profile(Personality::ice);
  bed.settle_to(want);
  EXPECT_EQ(keys_with(bed.apply(want), Outcome::unverified), std::set<std::string>{"pause"});
  want.pfc = PrioSet{0x18};
  bed.settle_to(want);
  EXPECT_EQ(keys_with(bed.apply(want), Outcome::unverified), (std::set<std::string>{"pause", "pfc"}));
}

TEST(Nodcb, WhatNeedsDcbnlIsUnsupportedAndTheRestIsApplied) {
  Bed bed(Personality::nodcb);
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

TEST(Rxe, HasAnMtuAndNoPriorities) {
  Bed bed(Personality::nodcb);
  bed.port.kernel_driver = "rxe";
  auto changes = bed.apply(profile(Personality::nodcb));
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "pfc").detail, "software RDMA has no priorities in hardware");
}

TEST(Full, TrustGoesThroughTheApptrustTable) {
  Bed bed(Personality::full);
  Qos want;
  want.trust = Trust::dscp;
  EXPECT_EQ(of(bed.apply(want), "trust").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.trust, (std::vector<uint8_t>{IEEE_8021QAZ_APP_SEL_DSCP, dcbnl::kSelectorPcp}));
  bed.nic.faults["settrust"] = {.action = Fault::ignore};  // kernels before 6.2 drop the attribute with success
  want.trust = Trust::pcp;
  EXPECT_EQ(of(bed.apply(want), "trust").outcome, Outcome::ignored);
}

TEST(Full, ASecondEntryOfAMappedDscpIsRemoved) {
  Bed bed(Personality::full);
  bed.settle_to(profile(Personality::full));
  bed.nic.app.push_back({IEEE_8021QAZ_APP_SEL_DSCP, 5, 26});
  EXPECT_EQ(bed.read().dscp_map->at(26), 5);
  EXPECT_EQ(of(bed.apply(profile(Personality::full)), "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.app.size(), 2u);
}

}  // namespace
}  // namespace fabric::test
