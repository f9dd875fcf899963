// SPDX-License-Identifier: Apache-2.0
// What holds on one driver.
#include "nic/generic/dscp.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::test {
namespace {

using Mlx5 = On<Personality::mlx5>;
using Bnxt = On<Personality::bnxt>;
using Ice = On<Personality::ice>;
using Nodcb = On<Personality::nodcb>;
using Rxe = On<Personality::nodcb>;
using Full = On<Personality::full>;

// RoCE LAG: the RDMA device sits on the bond, PFC and DSCP belong to the cards below.
TEST(Bond, SettingsOfTheMembersAreNamedSo) {
  Tree tree;
  tree.folder("sys/class/net/bond0/bonding");
  SimKernel sim;
  SimNic& nic = sim.add_nic("bond0", Personality::nodcb);
  Kernel kernel = sim.kernel(tree.path());
  Port port = nic.port();
  const Changes changes = qos::reconcile(kernel, port, {.mtu = 4200, .pfc = PrioSet{8}}, free_terms(), kSaveNowhere);
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
      if (bed.nic.log[i].starts_with("setpfc")) pfc = i;
      if (bed.nic.log[i].starts_with("setpause")) pause = i;
    }
    ASSERT_NE(pause, 0u);
    EXPECT_LT(pfc, pause);
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

// What a plan does not list, an apply does not call: driver calls are counted, not differences.
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
                           Personality::mlx5}) {
    Bed bed(personality);
    bed.terms.in_use = kInUse;
    auto changes = bed.apply({.pause = Pause{}});
    const bool harmless = personality == Personality::mlx5;
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

TEST_F(Bnxt, FirmwareDcbxIsNamedInEveryRefusal) {
  bed.nic.firmware_agent = true;
  auto changes = bed.apply(profile(Personality::bnxt));
  for (const char* key : {"dcbx", "dscp_map", "ets", "pfc"})
    EXPECT_TRUE(has_outcome(changes, key, Outcome::refused, "niccli"));
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
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
  // The wanted ETS stands already, but it will not survive the mode's switch.
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
  want.dscp_map = DscpMap{{26, 4}};  // delapp answers 2
  EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.app.size(), 1u);
}

// setapp answers 1, which is success elsewhere, and the entry stays in the kernel's list.
TEST_F(Ice, AMapThatNeverReachedTheNicIsRefusedAndNotListed) {
  bed.nic.faults["fwapp"] = {.code = EBUSY};
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

}  // namespace
}  // namespace fabric::test
