// SPDX-License-Identifier: Apache-2.0
// Intel's ice: the LLDP agent in firmware, the card's limits, irdma's congestion control.
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

using IceLimits = On<Personality::ice>;
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

TEST_F(IceAgent, WithoutAWordOfItDcbxIsRefusedWithBothWays) {
  auto changes = bed.apply(profile(Personality::ice));
  EXPECT_TRUE(has_outcome(changes, "dcbx", Outcome::refused, "fw_lldp = false"));
  EXPECT_TRUE(has_outcome(changes, "dcbx", Outcome::refused, "ethtool --set-priv-flags eth0 fw-lldp-agent off"));
  EXPECT_TRUE(bed.nic.firmware_agent) << "the operator's, until he says so";
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
