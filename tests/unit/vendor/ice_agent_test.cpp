// SPDX-License-Identifier: Apache-2.0
// Intel's ice: the LLDP agent in firmware, the card's limits, irdma's congestion control.
#include "support/sim_files_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

Qos take_over() {
  Qos want = profile(Personality::ice);
  want.fw_lldp = false;
  return want;
}

TEST(IceAgent, IsStoppedFirstAndTheRestFollows) {
  Bed bed(Personality::ice);
  bed.nic.firmware_agent = true;
  EXPECT_EQ(bed.read().fw_lldp, true);
  EXPECT_EQ(bed.read().dcbx, Dcbx::firmware);
  auto plan = bed.plan(take_over());
  EXPECT_EQ(bed.nic.writes(), 0u);
  auto changes = bed.settle_to(take_over());
  expect_all(changes, {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(keys_with(plan, Outcome::differs), keys_with(changes, Outcome::applied)) << text(plan) << text(changes);
  EXPECT_EQ(bed.nic.log.front(), "setprivflag fw-lldp-agent off");
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
  const unsigned writes = bed.nic.writes();
  expect_all(bed.settle_to(take_over()), {Outcome::in_sync});
  EXPECT_EQ(bed.nic.writes(), writes);
}

TEST(IceAgent, IsStartedAgainAfterAllElseIsRestored) {
  Bed bed(Personality::ice);
  bed.nic.firmware_agent = true;
  const Qos original = bed.read();
  bed.settle_to(take_over());
  auto changes = bed.settle_to(original);
  expect_all(changes, {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.log.back(), "setprivflag fw-lldp-agent on");
  EXPECT_EQ(bed.read(), original) << text(changes);
}

TEST(IceAgent, ARunningJobIsNotDisturbed) {
  Bed bed(Personality::ice);
  bed.nic.firmware_agent = true;
  bed.options.busy = [](const Port&) { return true; };
  auto changes = bed.apply(take_over());
  EXPECT_EQ(of(changes, "fw_lldp").outcome, Outcome::pending);
  EXPECT_TRUE(bed.nic.firmware_agent);
  EXPECT_NE(of(changes, "dcbx").outcome, Outcome::applied);
}

TEST(IceAgent, WithoutAWordOfItDcbxIsRefusedWithBothWays) {
  Bed bed(Personality::ice);
  bed.nic.firmware_agent = true;
  auto changes = bed.apply(profile(Personality::ice));
  EXPECT_EQ(of(changes, "dcbx").outcome, Outcome::refused);
  EXPECT_NE(of(changes, "dcbx").detail.find("fw_lldp = false"), std::string::npos);
  EXPECT_NE(of(changes, "dcbx").detail.find("ethtool --set-priv-flags eth0 fw-lldp-agent off"), std::string::npos);
  EXPECT_TRUE(bed.nic.firmware_agent) << "the operator's, until he says so";
}

TEST(IceAgent, IsNotStartedBesideDscps) {
  Bed bed(Personality::ice);
  Qos want = profile(Personality::ice);
  want.dcbx.reset();
  want.fw_lldp = true;
  auto changes = bed.settle_to(want);
  EXPECT_EQ(of(changes, "fw_lldp").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "fw_lldp").detail.find("VLAN mode"), std::string::npos);
  EXPECT_EQ(bed.nic.calls["setprivflag"], 0u);
}

TEST(IceAgent, ARefusalIsReported) {
  Bed bed(Personality::ice);
  bed.nic.firmware_agent = true;
  bed.nic.faults["setprivflag"] = {.action = Fault::refuse, .code = EBUSY};
  auto changes = bed.apply(take_over());
  EXPECT_EQ(of(changes, "fw_lldp").outcome, Outcome::refused);
  EXPECT_EQ(of(changes, "fw_lldp").code, EBUSY);
}

TEST(IceLimits, OneLosslessClassAndNoGap) {
  Bed bed(Personality::ice);
  Qos want;
  want.ets = Ets{.prio_tc = {0, 0, 0, 2, 0, 0, 0, 0}};
  want.ets->tsa.fill(Tsa::ets);
  want.ets->bw = {50, 0, 50};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "ets").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "ets").detail.find("without a gap"), std::string::npos);
  want.ets->prio_tc = {0, 0, 0, 1, 1, 0, 0, 0};
  want.ets->bw = {50, 50};
  want.pfc = PrioSet{0x18};
  changes = bed.apply(want);
  expect_all(changes, {Outcome::applied});
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x18) << "two priorities, one class";
  want.pfc = PrioSet{0x09};
  changes = bed.apply(want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::unverified);
  EXPECT_NE(of(changes, "pfc").detail.find("PFC on one traffic class"), std::string::npos) << "the driver takes two";
}

TEST(IceLimits, NoClassBeyondThoseThatThePortHas) {
  Bed bed(Personality::ice);
  bed.nic.ets.ets_cap = 4;  // a card with more than four ports
  Qos want;
  want.ets = Ets{.prio_tc = {0, 1, 2, 3, 4, 0, 0, 0}};
  want.ets->tsa.fill(Tsa::ets);
  want.ets->bw = {20, 20, 20, 20, 20};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "ets").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "ets").detail.find("4 traffic classes"), std::string::npos);
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

TEST(IceIrdma, DcqcnOfIntelsModuleIsSwitchedAndTheFolderGoes) {
  IrdmaBed bed;
  bed.add_configfs();
  Qos want;
  want.cc = true;
  EXPECT_EQ(bed.read().cc, false);
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.dcqcn, 1);
  EXPECT_FALSE(bed.tree.root().exists("sys/kernel/config/irdma/rocep1s0f0")) << "the driver could not be unloaded";
  expect_all(bed.apply(want), {Outcome::in_sync});
  want.cc = false;
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.dcqcn, 0);
}

TEST(IceIrdma, LinuxsOwnHasNoSwitchAndIsNamed) {
  IrdmaBed bed;
  Qos want;
  want.cc = true;
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "cc").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "cc").detail.find("Intel's irdma package"), std::string::npos);
}

TEST(IceIrdma, WithoutPrivilegeTheReasonIsThat) {
  IrdmaBed bed;
  bed.add_configfs();
  bed.files->fault({.action = SimFiles::Fault::refuse, .code = EACCES, .glob = "sys/kernel/config/irdma/*"});
  Qos want;
  want.cc = true;
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "cc").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "cc").detail.find("root's alone"), std::string::npos) << text(changes);
}

}  // namespace
}  // namespace fabric::test
