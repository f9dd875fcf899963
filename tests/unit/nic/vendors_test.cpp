// SPDX-License-Identifier: Apache-2.0
// Features of Broadcom's and Intel's cards alone (mlx5: mlx5_test.cpp).
#include <random>

#include "support/protection.h"
#include "support/sim_files_bnxt.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

using IceLimits = On<Personality::ice>;

// -- Broadcom: congestion control, behind each of its two doors

Qos congestion_control() {
  return {.cnp_dscp = 48,
          .cnp_prio = OrNone{6},
          .cc = true,
          .cc_mode = 0,
          .cc_g = 6,
          .cc_phases = 7,
          .cc_init_cr = 300,
          .cc_init_tr = 900,
          .cc_rtt = 50,
          .cc_tcp_cp = 16,
          .cc_inactivity_cp = 20'000,
          .roce_dscp = 26};
}

const std::map<std::string, uint32_t> kSet{
    {"enable_cc", 1},      {"tos_ecn", 1},      {"cc_mode", 0},   {"run_avg_weight_g", 6}, {"num_phase_per_state", 7},
    {"init_cr", 300},      {"init_tr", 900},    {"rtt", 50},      {"tcp_cp", 16},          {"inactivity_cp", 20'000},
    {"alt_vlan_dscp", 48}, {"alt_vlan_pcp", 6}, {"tos_dscp", 26}, {"roce_prio", 3}};

struct CcBed : FileBed {
  // No number of the card is as congestion_control() wants it.
  CcBed() : FileBed(Personality::bnxt), card(*files) {
    port.rdma = "bnxt_re0";
    for (const char* name : {"tos_dscp", "alt_vlan_dscp", "alt_vlan_pcp"}) card.firmware[name] = 0;
  }
  // Where it stands in the log of what was written; npos: nowhere.
  [[nodiscard]] size_t at(const std::string& line) const {
    const auto found = std::find(files->log.begin(), files->log.end(), line);
    return found == files->log.end() ? std::string::npos : static_cast<size_t>(found - files->log.begin());
  }
  [[nodiscard]] std::string shown(const std::string& file) const { return tree.content(card.cc_folder() + file); }
  SimBnxtRe card;
};

struct BnxtCc : testing::Test {
  CcBed bed;
};
using BnxtRocePrio = BnxtCc;
using BnxtApp = BnxtCc;
struct BnxtCcDebugfs : BnxtCc {
  BnxtCcDebugfs() { bed.card.add_debugfs(bed.port.pci); }
};
struct BnxtCcConfigfs : BnxtCc {
  BnxtCcConfigfs() { bed.card.add_configfs(bed.port.rdma); }
};

TEST_F(BnxtCcDebugfs, EveryNumberIsSetReadBackAndWrittenOnce) {
  const Qos want = congestion_control();
  auto changes = bed.apply(want);
  expect_all(changes, {Outcome::applied});
  EXPECT_EQ(changes.size(), 12u);
  EXPECT_EQ(bed.card.firmware, kSet);
  EXPECT_EQ(bed.files->log.size(), 12u) << "enable_cc was on: of the switch's two files tos_ecn alone";
  EXPECT_EQ(keys_of(bed.read(keys_of(want))) & keys_of(want), keys_of(want));
  bed.files->log.clear();
  expect_all(bed.apply(want), {Outcome::in_sync});
  EXPECT_TRUE(bed.files->log.empty());
}

TEST_F(BnxtCcDebugfs, WithoutEcnCapableDataCongestionControlIsOff) {
  EXPECT_EQ(bed.read().cc, false) << "Linux 6.12 starts like this";
  bed.apply({.cc = true});
  EXPECT_EQ(bed.read().cc, true);
  expect_all(bed.apply({.cc = false}), {Outcome::applied});
  EXPECT_EQ(bed.card.firmware["enable_cc"] + bed.card.firmware["tos_ecn"], 0u);
}

TEST_F(BnxtCcDebugfs, Ect0IsAsGoodAsEct1) {
  bed.card.firmware["tos_ecn"] = 2;
  bed.card.firmware["enable_cc"] = 0;
  bed.card.add_debugfs(bed.port.pci);
  expect_all(bed.apply({.cc = true}), {Outcome::applied});
  EXPECT_EQ(bed.card.firmware["tos_ecn"], 2u);
}

TEST_F(BnxtCcDebugfs, WhatTheFirmwareRefusesInSilenceIsSeen) {
  bed.files->on_write("*/rtt", ignore_text());
  auto changes = bed.apply(congestion_control());
  EXPECT_EQ(of(changes, "cc_rtt").outcome, Outcome::ignored);
  EXPECT_EQ(of(changes, "cc_rtt").detail, "accepted, but reads back as 40");
  EXPECT_EQ(of(changes, "cc_g").outcome, Outcome::applied);
}

TEST_F(BnxtCcDebugfs, LockdownRefusesWritesAndIsNamed) {
  bed.files->fault({.code = EPERM});
  auto changes = bed.apply(congestion_control());
  expect_all(changes, {Outcome::refused});
  EXPECT_TRUE(has(of(changes, "cc_mode").detail, "lockdown"));
}

TEST_F(BnxtCcDebugfs, WithoutPrivilegeTheReasonIsThat) {
  bed.files->unreadable("sys/kernel/debug*", EACCES);
  auto changes = bed.apply(congestion_control());
  expect_all(changes, {Outcome::unsupported});
  EXPECT_EQ(of(changes, "cc").detail, "only root has access to /sys/kernel/debug");
}

TEST_F(BnxtCc, AKernelWithoutAnyKnobIsNamedWithTheWaysOut) {
  auto changes = bed.apply(congestion_control());
  expect_all(changes, {Outcome::unsupported});
  for (const Change& change : changes) EXPECT_TRUE(has(change.detail, "niccli")) << change.key();
}

TEST_F(BnxtCc, NobodyLooksWhereNothingIsWanted) {
  bed.card.add_debugfs(bed.port.pci);
  bed.card.add_configfs(bed.port.rdma);
  bed.files->reads.clear();
  bed.apply({.mtu = 4200});
  for (const std::string& file : bed.files->reads) EXPECT_FALSE(has(file, "bnxt_re"));
  EXPECT_TRUE(bed.files->log.empty());
}

TEST_F(BnxtCcConfigfs, EveryNumberReachesTheFirmwareAndTheFolderGoes) {
  bed.card.add_debugfs(bed.port.pci);
  expect_all(bed.apply(congestion_control()), {Outcome::applied});
  EXPECT_EQ(bed.card.firmware, kSet);
  EXPECT_FALSE(bed.tree.root().exists("sys/kernel/config/bnxt_re/bnxt_re0"));
  EXPECT_EQ(bed.files->log.front(), "mkdir sys/kernel/config/bnxt_re/bnxt_re0");
  EXPECT_NE(bed.at(bed.card.cc_folder() + "cc_mode = 0x0"), std::string::npos);
  EXPECT_NE(bed.at(bed.card.cc_folder() + "inact_th = 0x4e20"), std::string::npos)
      << "decimal digits would be read as hex";
  for (const std::string& line : bed.files->log) EXPECT_FALSE(has(line, "debug")) << "one door";
  expect_all(bed.apply(congestion_control()), {Outcome::in_sync});
}

TEST_F(BnxtCcConfigfs, AFolderThatSomebodyMadeStays) {
  ASSERT_TRUE(bed.kernel.root.make_directory("sys/kernel/config/bnxt_re/bnxt_re0").ok());
  expect_all(bed.apply(congestion_control()), {Outcome::applied});
  EXPECT_TRUE(bed.tree.root().exists("sys/kernel/config/bnxt_re/bnxt_re0"));
  EXPECT_EQ(bed.at("rmdir sys/kernel/config/bnxt_re/bnxt_re0"), std::string::npos);
}

TEST_F(BnxtCcConfigfs, CongestionControlIsOnBeforeTheCnpsAreMarked) {
  bed.card.firmware["enable_cc"] = 0;
  bed.card.add_configfs(bed.port.rdma);
  expect_all(bed.apply(congestion_control()), {Outcome::applied});
  EXPECT_LT(bed.at(bed.card.cc_folder() + "ecn_enable = 0x1"), bed.at(bed.card.cc_folder() + "cnp_dscp = 0x30"));
  EXPECT_EQ(bed.card.firmware["alt_vlan_dscp"], 48u);
}

// Only mlx5 can leave the choice to the adapter: for bnxt this is reported, and the present number does not become
// zero.
TEST_F(BnxtCcConfigfs, NoPriorityAtAllIsNotOffered) {
  bed.card.firmware["alt_vlan_pcp"] = 5;
  bed.card.add_configfs(bed.port.rdma);
  EXPECT_TRUE(has_outcome(bed.apply({.cnp_prio = OrNone{}}), "cnp_prio", Outcome::unsupported, "set a number"));
  EXPECT_EQ(bed.card.firmware["alt_vlan_pcp"], 5u);
}

TEST_F(BnxtCcConfigfs, AServiceProfileRefusesThePriorityAndCostsNothingElse) {
  bed.card.service_profiles = true;
  auto changes = bed.apply(congestion_control());
  EXPECT_EQ(keys_with(changes, Outcome::refused), std::set<std::string>{"cnp_prio"}) << text(changes);
  EXPECT_TRUE(has(of(changes, "cnp_prio").detail, "service profiles"));
  EXPECT_EQ(bed.card.firmware["alt_vlan_dscp"], 48u);
}

// The module shows the written value, applied or not.
TEST_F(BnxtCcConfigfs, ARefusedApplyIsTakenBackAndReported) {
  const auto before = bed.card.firmware;
  bed.files->fault({.code = EINVAL, .glob = "*/apply"});
  auto changes = bed.apply(congestion_control());
  expect_all(changes, {Outcome::refused});
  EXPECT_TRUE(has(of(changes, "cc_mode").detail, "/apply"));
  EXPECT_EQ(bed.card.firmware, before);
  const Qos shown = bed.read();
  EXPECT_EQ(shown.cc_mode, 1u);
  EXPECT_EQ(shown.cc, false);
  EXPECT_EQ(shown.cnp_dscp, 0u);
  bed.files->heal();
  expect_all(bed.apply(congestion_control()), {Outcome::applied});
  EXPECT_EQ(bed.card.firmware, kSet);
}

TEST_F(BnxtCcConfigfs, WhatCannotBeTakenBackIsNamed) {
  bed.files->fault({.code = EINVAL, .glob = "*/apply"});
  bed.files->before = [&](unsigned, const std::string& file) {
    if (file.ends_with("/apply")) bed.files->fault({.code = EIO, .glob = "*/cc_mode"});
  };
  // It shows the wanted value now, and the card does something else: that must not read as done.
  EXPECT_TRUE(
      has_outcome(bed.apply({.cc_mode = 0}), "cc_mode", Outcome::refused, "cc_mode could not be restored to 1"));
}

TEST_F(BnxtCcConfigfs, OfTwoFilesTheFirstIsTakenBackWhereTheSecondIsRefused) {
  bed.card.firmware["enable_cc"] = 0;
  bed.card.add_configfs(bed.port.rdma);
  bed.files->fault({.code = EINVAL, .glob = "*/ecn_enable"});
  EXPECT_EQ(of(bed.apply({.cc = true}), "cc").outcome, Outcome::refused);
  EXPECT_EQ(bed.card.firmware["tos_ecn"], 0u);
  EXPECT_EQ(bed.at(bed.card.cc_folder() + "apply = 0x1"), std::string::npos);
  ASSERT_TRUE(bed.kernel.root.make_directory("sys/kernel/config/bnxt_re/bnxt_re0").ok());
  EXPECT_EQ(bed.shown("ecn_marking"), "0\n");
}

TEST_F(BnxtCcConfigfs, ANewFolderThatTheDriverRefusesIsTheReason) {
  bed.files->fault({.code = EACCES, .glob = "sys/kernel/config/bnxt_re/*"});
  auto changes = bed.apply(congestion_control());
  expect_all(changes, {Outcome::unsupported});
  EXPECT_EQ(of(changes, "cc").detail, "only root has access to /sys/kernel/config/bnxt_re/bnxt_re0");
}

// Without an ETS the driver proves no APP entry.
TEST_F(BnxtRocePrio, IsTheAppEntryOfRoceV2AndNeverMissingInBetween) {
  const auto outcome = [this](uint32_t prio) { return of(bed.apply({.roce_prio = prio}), "roce_prio").outcome; };
  EXPECT_EQ(bed.read().roce_prio, 0u) << "no entry";
  EXPECT_EQ(outcome(3), Outcome::unverified);
  bed.nic.log.clear();
  EXPECT_EQ(outcome(5), Outcome::unverified);
  EXPECT_EQ(bed.nic.log,
            (std::vector<std::string>{"setapp sel=3 proto=4791 prio=5", "delapp sel=3 proto=4791 prio=3"}));
  EXPECT_EQ(outcome(0), Outcome::unverified);
  EXPECT_TRUE(bed.nic.app.empty());
}

TEST_F(BnxtRocePrio, BroadcomsModuleIsToldToo) {
  bed.card.add_configfs(bed.port.rdma);
  EXPECT_EQ(of(bed.apply({.roce_prio = 5}), "roce_prio").outcome, Outcome::unverified);
  EXPECT_EQ(bed.card.firmware["roce_prio"], 5u);
  bed.card.service_profiles = true;
  EXPECT_EQ(of(bed.apply({.roce_prio = 4}), "roce_prio").outcome, Outcome::unverified) << "the APP entry counts there";
}

// The kernel lists an entry before firmware is asked.
TEST_F(BnxtApp, TheListShowsNothingThatTheFirmwareRefused) {
  bed.nic.faults["fwapp"] = {.action = Fault::refuse, .code = EIO, .times = 1};
  EXPECT_EQ(of(bed.apply({.roce_prio = 3}), "roce_prio").outcome, Outcome::refused);
  EXPECT_TRUE(bed.nic.app.empty());
  bed.nic.faults["fwapp"] = {.action = Fault::refuse, .code = EIO, .times = 1};
  const Qos want{.dscp_map = DscpMap{{26, 3}}};
  EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, Outcome::refused);
  EXPECT_TRUE(bed.read().dscp_map->empty());
  EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, Outcome::unverified);
}

TEST_F(BnxtApp, AnEntryThatTheFirmwareKeepsIsListedAgain) {
  Qos want{.dscp_map = DscpMap{{26, 3}}};
  bed.apply(want);
  bed.nic.faults["fwapp"] = {.action = Fault::refuse, .code = EIO, .times = 1};
  want.dscp_map = DscpMap{};
  EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, Outcome::refused);
  EXPECT_EQ(bed.read().dscp_map, (DscpMap{{26, 3}}));
  EXPECT_EQ(bed.nic.firmware_dscp.at(26), 3);
}

TEST_F(BnxtApp, ADscpThatWasListedTwiceIsMappedAfterwards) {
  Qos want{.dscp_map = DscpMap{{26, 3}}};
  bed.apply(want);
  ASSERT_EQ(bed.nic.set_app({IEEE_8021QAZ_APP_SEL_DSCP, 5, 26}), 0);
  ASSERT_EQ(bed.nic.firmware_dscp.at(26), 5);
  EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, Outcome::unverified);
  EXPECT_EQ(bed.nic.app.size(), 1u);
  EXPECT_EQ(bed.nic.firmware_dscp, (std::map<uint16_t, uint8_t>{{26, 3}}));
}

// -- Broadcom: lossless queues, which only a PFC gives to traffic classes

struct BnxtQueues : On<Personality::bnxt> {
  BnxtQueues() {
    want = profile(Personality::bnxt);
    bed.settle_to(want);
    bed.settle_to(want);
    EXPECT_EQ(protection_of(bed.nic, 3) & 1, 1u);
  }
  // The ETS of the policy with another class of priority 3.
  void another_program_moves(uint8_t tc) {
    ieee_ets ets = bed.nic.ets;
    ets.prio_tc[3] = tc;
    ASSERT_EQ(bed.nic.set_ets(ets), 0);
    bed.nic.link_up();
  }
  Qos want;
};

TEST_F(BnxtQueues, APriorityThatAnotherProgramMovedToALossyQueueHasNoPfc) {
  another_program_moves(5);
  ASSERT_EQ(bed.nic.pfc.pfc_en, 0x08) << "the driver still shows it";
  ASSERT_EQ(protection_of(bed.nic, 3), 0u);
  EXPECT_EQ(bed.read().pfc, PrioSet{});
  EXPECT_TRUE(has(bed.notes.unverified.at(SettingId::pfc), "priority 3"));
  EXPECT_EQ(of(bed.plan({.pfc = PrioSet{0x08}}), "pfc").outcome, Outcome::differs);
  EXPECT_EQ(of(bed.settle_to({.pfc = PrioSet{0x08}}), "pfc").outcome, Outcome::applied);
  EXPECT_EQ(bed.read().pfc, PrioSet{0x08});
  EXPECT_NE(protection_of(bed.nic, 3), 0u);
}

TEST_F(BnxtQueues, TheEtsOfThePolicyGivesThePriorityItsQueueBack) {
  another_program_moves(5);
  bed.settle_to(want);
  EXPECT_NE(protection_of(bed.nic, 3), 0u);
  expect_settled(bed, want);
}

// dcbnl sets ETS and PFC of one message one after the other: nobody who is killed leaves the one without the other.
TEST_F(BnxtQueues, AnEtsThatMovesALosslessPrioritySendsPfcInTheSameMessage) {
  want.ets->prio_tc[3] = 5;
  want.ets->tsa[5] = Tsa::ets;
  want.ets->bw = {50, 0, 0, 0, 0, 50, 0, 0};
  want.ets->tsa[3] = Tsa::strict;
  bed.nic.calls.clear();
  EXPECT_EQ(of(bed.settle_to({.ets = want.ets}), "ets").outcome, Outcome::applied);
  EXPECT_NE(protection_of(bed.nic, 3), 0u);
  EXPECT_EQ(bed.nic.calls["setets"], 1u);
  EXPECT_EQ(bed.nic.calls["setpfc"], 1u);
  bed.settle_to(want);
  expect_settled(bed, want);
}

TEST_F(BnxtQueues, AnEtsWhosePfcIsRefusedIsTakenBack) {
  want.ets->prio_tc[3] = 5;
  bed.nic.faults["setpfc"] = {.action = Fault::refuse, .code = EIO};
  EXPECT_EQ(of(bed.settle_to({.ets = want.ets}), "ets").outcome, Outcome::refused);
  EXPECT_NE(protection_of(bed.nic, 3), 0u);
  EXPECT_EQ(bed.nic.ets.prio_tc[3], 3);
}

// The firmware refuses the PFC after the driver has given the lossless queues to other classes.
TEST_F(BnxtQueues, AnEtsWhosePfcTheFirmwareRefusesIsTakenBackWithItsQueues) {
  want.ets->prio_tc[3] = 5;
  bed.nic.faults["fwpfc"] = {.action = Fault::refuse, .code = EIO};
  EXPECT_EQ(of(bed.settle_to({.ets = want.ets}), "ets").outcome, Outcome::refused);
  EXPECT_EQ(bed.nic.ets.prio_tc[3], 3);
  EXPECT_NE(protection_of(bed.nic, 3), 0u);
}

TEST_F(BnxtQueues, APfcThatTheFirmwareRefusesLeavesTheOldOneItsQueues) {
  const Reading have{.values = bed.read()};
  const PortIo io{.kernel = bed.kernel, .netdev = bed.nic.name, .ifindex = bed.nic.ifindex};
  bed.nic.faults["fwpfc"] = {.action = Fault::refuse, .code = EIO};
  EXPECT_FALSE(op_of(driver_for("bnxt_en"), SettingId::pfc)
                   .write(io, setting_of(SettingId::pfc), {.pfc = PrioSet{0x60}}, have)
                   .ok());
  EXPECT_EQ(bed.read().pfc, PrioSet{0x08});
  EXPECT_NE(protection_of(bed.nic, 3), 0u);
}

TEST_F(BnxtQueues, AnEtsThatKeepsTheClassesOfLosslessPrioritiesLeavesPfc) {
  want.ets->prio_tc[1] = 0;
  bed.nic.calls.clear();
  EXPECT_EQ(of(bed.settle_to(want), "ets").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.calls["setpfc"], 0u);
  EXPECT_NE(protection_of(bed.nic, 3), 0u);
}

TEST_F(BnxtQueues, AnEtsThatNeedsMoreLosslessQueuesThanTheNicHasIsNotTried) {
  ieee_ets one = bed.nic.ets;
  std::ranges::copy(Eight{0, 0, 0, 3, 3, 3, 0, 0}, one.prio_tc);
  ASSERT_EQ(bed.nic.set_ets(one), 0);
  ASSERT_EQ(bed.nic.set_pfc({.pfc_en = 0x38}), 0);
  bed.nic.link_up();
  ASSERT_EQ(bed.read().pfc, PrioSet{0x38});
  bed.nic.calls.clear();
  EXPECT_TRUE(has_outcome(bed.apply({.ets = want.ets}), "ets", Outcome::unsupported, "3 lossless traffic classes"));
  EXPECT_EQ(bed.nic.calls["setets"], 0u);
}

// Two programs set ETS and PFC in turn, and the firmware refuses some PFC: no reading shows a priority as lossless that
// is not.
TEST_F(BnxtQueues, NoReadingShowsALossyPriorityAsLossless) {
  std::mt19937 random{1};
  for (int round = 0; round < 500; ++round) {
    Ets ets{};
    for (auto& tc : ets.prio_tc) tc = static_cast<uint8_t>(random() % 8);
    const PrioSet pfc{static_cast<uint8_t>(random() % 4 == 0 ? 0 : 1U << random() % 8 | 1U << random() % 8)};
    bed.nic.faults["fwpfc"] = {.action = Fault::refuse, .code = EIO, .times = static_cast<int>(random() % 2)};
    switch (random() % 3) {
      case 0: bed.settle_to({.ets = ets}); break;
      case 1: bed.settle_to({.pfc = pfc}); break;
      default: {
        ieee_ets other = bed.nic.ets;
        std::ranges::copy(ets.prio_tc, other.prio_tc);
        (void)bed.nic.set_ets(other);
        bed.nic.link_up();
      }
    }
    const PrioSet shown = bed.read().pfc.value_or(PrioSet{});
    for (unsigned prio = 0; prio < 8; ++prio)
      if (shown.has(prio)) ASSERT_NE(protection_of(bed.nic, prio), 0u) << "round " << round << ", priority " << prio;
  }
}

// -- Intel: the LLDP agent in ice's firmware, the card's limits, irdma's congestion control

struct IceAgent : IceLimits {
  IceAgent() {
    bed.nic.firmware_agent = true;
    take_over.fw_lldp = false;
  }
  Qos take_over = profile(Personality::ice);
};

TEST_F(IceAgent, IsStoppedFirstAndTheRestFollows) {
  EXPECT_EQ(bed.read().fw_lldp, true);
  EXPECT_EQ(bed.read().dcbx, Dcbx::firmware);
  auto plan = bed.plan(take_over);
  EXPECT_EQ(bed.nic.writes(), 0u);
  auto changes = bed.settle_to(take_over);
  expect_all(changes, {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(keys_with(plan, Outcome::differs), keys_with(changes, Outcome::applied)) << text(plan) << text(changes);
  EXPECT_EQ(bed.nic.log.front(), "setprivflag fw-lldp-agent off");
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
  expect_settled(bed, take_over);
}

TEST_F(IceAgent, IsStartedAgainAfterAllElseIsRestored) {
  const Qos original = bed.read();
  bed.settle_to(take_over);
  expect_all(bed.settle_to(original), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.log.back(), "setprivflag fw-lldp-agent on");
  EXPECT_EQ(bed.read(), original);
}

TEST_F(IceAgent, ARunningJobIsNotDisturbed) {
  bed.terms.in_use = kInUse;
  auto changes = bed.apply(take_over);
  EXPECT_EQ(of(changes, "fw_lldp").outcome, Outcome::pending);
  EXPECT_TRUE(bed.nic.firmware_agent);
  EXPECT_NE(of(changes, "dcbx").outcome, Outcome::applied);
}

TEST_F(IceAgent, WithoutAWordOfItNothingOfDcbIsWrittenAndBothWaysAreNamed) {
  for (const Changes& changes : {bed.plan(profile(Personality::ice)), bed.apply(profile(Personality::ice))})
    for (const char* key : {"dcbx", "dscp_map", "pfc"}) {
      EXPECT_TRUE(has_outcome(changes, key, Outcome::pending, "fw_lldp = false"));
      EXPECT_TRUE(has_outcome(changes, key, Outcome::pending, "ethtool --set-priv-flags eth0 fw-lldp-agent off"));
    }
  EXPECT_EQ(bed.nic.calls["setpfc"] + bed.nic.calls["setdcbx"], 0u);
  EXPECT_TRUE(bed.nic.firmware_agent) << "the operator's, until he says so";
}

// The mode of DCBX says it where the flag cannot be read.
TEST_F(IceAgent, IsKnownByTheModeOfDcbx) {
  bed.kernel.ethtool.reset();
  EXPECT_EQ(bed.read().fw_lldp, true);
  EXPECT_TRUE(has_outcome(bed.plan(profile(Personality::ice)), "pfc", Outcome::pending, "fw-lldp-agent off"));
}

TEST_F(IceAgent, ARefusalIsReported) {
  bed.nic.faults["setprivflag"] = {.code = EBUSY};
  auto changes = bed.apply(take_over);
  EXPECT_EQ(of(changes, "fw_lldp").outcome, Outcome::refused);
  EXPECT_EQ(of(changes, "fw_lldp").code, EBUSY);
}

TEST_F(IceLimits, TheAgentIsNotStartedBesideDscps) {
  Qos want = profile(Personality::ice);
  want.dcbx.reset();
  want.fw_lldp = true;
  EXPECT_TRUE(has_outcome(bed.settle_to(want), "fw_lldp", Outcome::unsupported, "VLAN mode"));
  EXPECT_EQ(bed.nic.calls["setprivflag"], 0u);
}

TEST_F(IceLimits, OneLosslessClassAndNoGap) {
  Qos want{.ets = shares({0, 0, 0, 2, 0, 0, 0, 0}, {50, 0, 50})};
  EXPECT_TRUE(has_outcome(bed.apply(want), "ets", Outcome::unsupported, "without a gap"));
  want = {.ets = shares({0, 0, 0, 1, 1, 0, 0, 0}, {50, 50}), .pfc = PrioSet{0x18}};
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x18) << "two priorities, one class";
  want.pfc = PrioSet{0x09};
  EXPECT_TRUE(has_outcome(bed.apply(want), "pfc", Outcome::unverified, "PFC on one traffic class"))
      << "the driver takes two";
}

TEST_F(IceLimits, NoClassBeyondThoseThatThePortHas) {
  bed.nic.ets.ets_cap = 4;  // a card with more than four ports
  EXPECT_TRUE(has_outcome(bed.apply({.ets = shares({0, 1, 2, 3, 4, 0, 0, 0}, {20, 20, 20, 20, 20})}), "ets",
                          Outcome::unsupported, "4 traffic classes"));
  EXPECT_EQ(bed.nic.calls["setets"], 0u);
}

// ice_dcb_bwchk() adds up the classes in use alone.
TEST_F(IceLimits, BandwidthOfAClassWithoutPriorityIsMissing) {
  const Qos want{.ets = shares({0, 0, 0, 1, 0, 0, 0, 0}, {50, 25, 25})};
  EXPECT_TRUE(has_outcome(bed.apply(want), "ets", Outcome::unsupported, "add up to 75"));
  EXPECT_EQ(bed.nic.calls["setets"], 0u);
}

// -- The copy of ice's driver (desired_dcbx_cfg), which keeps what was refused and sends it with the next change

struct IceCopy : IceLimits {
  IceCopy() {
    bed.settle_to(want);
    bed.settle_to(want);
  }
  void refuse_by_firmware(int times) { bed.nic.faults["fwdcb"] = {.code = EIO, .times = times}; }
  [[nodiscard]] bool is_as_shown() const { return !rule_ice_differs(&bed.nic.ice.local, &bed.nic.ice.desired); }
  // Another program asks for bandwidths that do not add up.
  void poison() {
    ieee_ets ets = bed.nic.ets;
    ets.tc_tx_bw[0] = 10;
    ASSERT_EQ(bed.nic.set_ets(ets), -EINVAL);
    ASSERT_FALSE(is_as_shown());
  }
  Qos want = profile(Personality::ice);
};

TEST_F(IceCopy, ARefusedEtsIsNotSentWithTheNextChange) {
  const auto before = bed.read().ets;
  refuse_by_firmware(1);
  EXPECT_EQ(of(bed.apply({.ets = shares(kIdentity, {60, 0, 0, 40})}), "ets").outcome, Outcome::refused);
  EXPECT_TRUE(is_as_shown());
  EXPECT_EQ(of(bed.apply({.pfc = PrioSet{0x18}}), "pfc").outcome, Outcome::unverified) << "two lossless classes";
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x18);
  EXPECT_EQ(bed.read().ets, before);
}

TEST_F(IceCopy, ARefusedEndOfPfcIsNotSentWithTheNextChange) {
  refuse_by_firmware(1);
  EXPECT_EQ(of(bed.apply({.pfc = PrioSet{}}), "pfc").outcome, Outcome::refused);
  EXPECT_TRUE(is_as_shown());
  EXPECT_EQ(of(bed.apply({.ets = shares(kIdentity, {60, 0, 0, 40})}), "ets").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
}

// Pause needs PFC off for a moment.
TEST_F(IceCopy, ARefusedPauseLeavesPfcInIt) {
  bed.nic.pause = {.rx = true, .tx = true};  // hidden beside PFC
  refuse_by_firmware(1);
  const Reading have{.values = bed.read()};
  const PortIo io{.kernel = bed.kernel, .netdev = bed.nic.name, .ifindex = bed.nic.ifindex};
  const Op& op = op_of(driver_for("ice"), SettingId::pause);
  EXPECT_FALSE(op.write(io, setting_of(SettingId::pause), {.pause = Pause{}}, have).ok());
  EXPECT_TRUE(is_as_shown());
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
}

TEST_F(IceCopy, PfcThatTheFirmwareRefusesOnceComesBackAfterPause) {
  const Reading have{.values = bed.read()};
  const PortIo io{.kernel = bed.kernel, .netdev = bed.nic.name, .ifindex = bed.nic.ifindex};
  bed.nic.faults["fwdcb"] = {.code = EIO, .times = 1, .passes = 1};  // after PFC went off
  EXPECT_TRUE(op_of(driver_for("ice"), SettingId::pause)
                  .write(io, setting_of(SettingId::pause), {.pause = Pause{}}, have)
                  .ok());
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
}

TEST_F(IceCopy, TheRefusedEtsOfAnotherProgramHindersNoWrite) {
  poison();
  EXPECT_EQ(of(bed.apply({.pfc = PrioSet{0x10}}), "pfc").outcome, Outcome::applied);
  EXPECT_TRUE(is_as_shown());
  poison();
  EXPECT_EQ(of(bed.apply({.dscp_map = DscpMap{{26, 3}, {34, 4}}}), "dscp_map").outcome, Outcome::applied);
  EXPECT_TRUE(is_as_shown());
  EXPECT_EQ(priority_on(bed.nic, 34), 4U);
  EXPECT_EQ(priority_on(bed.nic, 48), std::nullopt);
  EXPECT_EQ(bed.nic.ets.tc_tx_bw[0], 50);
}

// setapp answers 1, and delapp an error after the entry has left the kernel's list.
TEST_F(IceCopy, AMapThatTheFirmwareRefusesOnceIsSentAgain) {
  for (const DscpMap& map : {DscpMap{{26, 3}, {48, 6}, {34, 3}}, DscpMap{{26, 3}}}) {
    refuse_by_firmware(1);
    EXPECT_EQ(of(bed.apply({.dscp_map = map}), "dscp_map").outcome, Outcome::applied);
    EXPECT_TRUE(is_as_shown());
    for (const unsigned dscp : {26U, 34U, 48U}) {
      const auto entry = map.find(static_cast<uint8_t>(dscp));
      EXPECT_EQ(priority_on(bed.nic, dscp), entry == map.end() ? std::nullopt : std::optional<unsigned>(entry->second));
    }
  }
}

// The list shows the entries that the NIC has.
TEST_F(IceCopy, ADeletionThatTheFirmwareRefusesIsListedAgain) {
  refuse_by_firmware(2);
  EXPECT_EQ(of(bed.apply({.dscp_map = DscpMap{{26, 3}}}), "dscp_map").outcome, Outcome::refused);
  EXPECT_EQ(bed.read().dscp_map, want.dscp_map);
  EXPECT_EQ(priority_on(bed.nic, 48), 6U);
  EXPECT_TRUE(is_as_shown());
}

TEST_F(IceCopy, TheLastDscpTakesNoPfcAndLeavesNoEtsBehind) {
  const Qos none{.trust = Trust::pcp, .dscp_map = DscpMap{}};
  EXPECT_EQ(of(bed.plan(none), "dscp_map").outcome, Outcome::differs);
  EXPECT_EQ(of(bed.apply(none), "dscp_map").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
  EXPECT_TRUE(is_as_shown());
  EXPECT_EQ(bed.nic.ets.tc_tx_bw[0], 100);
  EXPECT_EQ(bed.nic.ets.prio_tc[3], 0);
}

// The driver has switched to DSCP mode, and back to the defaults of VLAN mode.
TEST_F(IceLimits, AFirstMapThatTheFirmwareRefusesCostsNeitherEtsNorPfc) {
  const Qos before{.ets = shares({0, 0, 0, 1, 0, 0, 0, 0}, {40, 60}), .pfc = PrioSet{0x08}};
  bed.settle_to(before);
  bed.nic.faults["fwdcb"] = {.code = EIO, .times = 2};
  EXPECT_EQ(of(bed.apply({.dscp_map = DscpMap{{26, 3}}, .pfc = PrioSet{0x08}}), "dscp_map").outcome, Outcome::refused);
  EXPECT_TRUE(bed.nic.app.empty());
  EXPECT_EQ(bed.read().ets, before.ets);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
}

struct IrdmaBed : FileBed {
  IrdmaBed() : FileBed(Personality::ice) { port.rdma = "rocep1s0f0"; }
  // Intel's irdma, src/irdma/configfs.c: kstrtobool(), shown as %d.
  void add_configfs() {
    tree.folder("sys/kernel/config/irdma");
    files->on_make_directory("sys/kernel/config/irdma/*",
                             [this](SimFiles& simulated, const std::string& folder, std::string_view) {
                               simulated.tree.file(folder + "/roce_dcqcn_enable", std::to_string(dcqcn) + "\n");
                               return 0;
                             });
    files->on_remove_directory("sys/kernel/config/irdma/*",
                               [](SimFiles& simulated, const std::string& folder, std::string_view) {
                                 simulated.tree.remove(folder);
                                 return 0;
                               });
    files->on_write("*/roce_dcqcn_enable", [this](SimFiles& simulated, const std::string& file, std::string_view text) {
      if (text != "0" && text != "1") return EINVAL;
      dcqcn = text == "1";
      simulated.tree.file(file, std::string(text) + "\n");
      return 0;
    });
  }
  int dcqcn = 0;
};

struct IceIrdma : testing::Test {
  IrdmaBed bed;
};

TEST_F(IceIrdma, DcqcnOfIntelsModuleIsSwitchedAndTheFolderGoes) {
  bed.add_configfs();
  Qos want{.cc = true};
  EXPECT_EQ(bed.read().cc, false);
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.dcqcn, 1);
  EXPECT_FALSE(bed.tree.root().exists("sys/kernel/config/irdma/rocep1s0f0")) << "the driver could not be unloaded";
  expect_all(bed.apply(want), {Outcome::in_sync});
  want.cc = false;
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.dcqcn, 0);
}

TEST_F(IceIrdma, LinuxsOwnHasNoSwitchAndIsNamed) {
  EXPECT_TRUE(has_outcome(bed.apply({.cc = true}), "cc", Outcome::unsupported, "Intel's irdma package"));
}

TEST_F(IceIrdma, WithoutPrivilegeTheReasonIsThat) {
  bed.add_configfs();
  bed.files->fault({.code = EACCES, .glob = "sys/kernel/config/irdma/*"});
  EXPECT_TRUE(has_outcome(bed.apply({.cc = true}), "cc", Outcome::unsupported, "only root has access"));
}

}  // namespace
}  // namespace fabric::test
