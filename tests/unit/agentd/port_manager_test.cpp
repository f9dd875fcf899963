// SPDX-License-Identifier: Apache-2.0
// The agent's decisions, against simulated NICs behind real netlink messages.
#include "agentd/port_manager.h"

#include <linux/ethtool.h>
#include <unistd.h>

#include <thread>

#include "agentd/schedule.h"
#include "enforce/restore.h"
#include "enforce/sysctl.h"
#include "node/state.h"
#include "policy/cabling.h"
#include "policy/show_config.h"
#include "support/config.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::agentd {
namespace {

using std::chrono::seconds;
using test::has;
using test::Personality;
using test::SimNic;

constexpr const char* kProfile = R"(
[[port]]
dcbx = "host"
pause = "off"
mtu = 4200
trust = "dscp"
dscp_map = { 26 = 3, 48 = 6 }
ets = { prio_tc = [0,0,0,1,0,0,2,0], tsa = ["ets", "ets", "strict"], bw = [50, 50] }
pfc = [3]
)";

const std::string kEnforce = "mode = \"enforce\"\n", kRestore = "release = \"restore\"\n",
                  kNight = "maintenance = \"daily 02:00-04:00\"\n";
// Nothing in the way of a disruptive write.
const qos::Terms kFree = test::free_terms();
constexpr const char* kBySpeed = "[[port]]\nmatch = { speed = \"400G\" }\nmtu = 9000\n[[port]]\nmtu = 4200\n";
constexpr const char* kId = "roce_eth0/1";

Policy policy_of(const std::string& head, const std::string& profile = kProfile) { return test::good(head + profile); }

// The machine under test: NICs that keep their RDMA names over a reload, as udev's rules make them.
class PortManagerTest : public testing::Test {
 protected:
  PortManager& start(const std::string& head, const std::string& profile = kProfile) {
    kernel_.emplace(sim_.kernel(tree_.path()));
    restart(policy_of(head, profile));
    return *manager_;
  }
  // A NIC in order, by the profile.
  SimNic& enforced(Personality personality, const std::string& head = "", const std::string& profile = kProfile) {
    SimNic& nic = sim_.add_nic("eth0", personality);
    start(kEnforce + head, profile);
    return nic;
  }
  // At noon, with ports named by udev and a window at night.
  void start_for_names(const std::string& netdevs) {
    hour_ = 12;
    rdma_ = "mlx5_0";
    start(kEnforce + kNight, "[[port]]\nmatch = { netdev = \"" + netdevs + "\" }\ndcbx = \"host\"\npfc = [3]\n");
  }
  void restart(const Policy& policy) {
    manager_.emplace(environment(), policy);
    reconcile_all();
  }
  void reload(const Policy& policy) {
    manager_->set_policy(policy);
    reconcile_all();
  }
  Environment environment() {
    return {.kernel = *kernel_,
            .directory = tree_.path(),
            .log = [this](const JournalEntry& entry) { told_.push_back(entry); },
            .scan = [this](const Policy&) { return ports(); },
            .in_use = [this](const Port& port) { return busy_ == port.netdev; },
            .now_local =
                [this] {
                  std::tm now{};
                  now.tm_hour = hour_;
                  return now;
                }};
  }
  // The ports as members of a RoCE LAG.
  std::vector<Port> members() {
    std::vector<Port> found = ports();
    for (Port& port : found) {
      port.rdma = "mlx5_bond_0";
      port.kernel_driver = "mlx5_core";
      port.role = PortRole::bond_member;
      port.bond = "bond0";
    }
    return found;
  }
  std::vector<Port> ports() {
    std::vector<Port> found;
    for (SimNic& nic : sim_.nics())
      if (nic.present) {
        found.push_back(nic.port());
        found.back().rdma = rdma_.empty() ? "roce_" + nic.name : rdma_;
        found.back().carrier = nic.carrier;
        found.back().counters.carrier_down = nic.carrier_downs;
        if (nic.carrier) found.back().speed = nic.speed;
        found.back().role = role_;
      }
    return found;
  }
  void reconcile_all() {
    manager_->rescan();
    for (const std::string& id : manager_->table().ids()) look(id);
  }
  // 0, or the errno with which the port could not be looked at.
  int look(const std::string& id = kId) {
    auto done = manager_->reconcile_port(id, now_);
    manager_->publish();
    return done ? 0 : done.error().code;
  }
  SettingState setting(const std::string& key, const std::string& id = kId) {
    auto state = state::load_agent_state(tree_.root());
    EXPECT_TRUE(state.ok() && state->has_value());
    return (*state)->ports[id][key];
  }
  std::string outcome(const std::string& key, const std::string& id = kId) {
    const auto outcome = setting(key, id).outcome;
    return outcome ? std::string(to_text(*outcome)) : "";
  }
  size_t told(std::string_view id) const {
    return static_cast<size_t>(std::ranges::count(told_, id, &JournalEntry::id));
  }
  bool said(std::string_view id, std::string_view part) const {
    return std::ranges::any_of(told_,
                               [&](const JournalEntry& each) { return each.id == id && has(each.message, part); });
  }
  const JournalEntry& first_repair() const {
    return *std::ranges::find(told_, message_id::repaired, &JournalEntry::id);
  }
  // The kernel's report of the NIC's link.
  static rtnl::Link link_of(const SimNic& nic) {
    return {.ifindex = nic.ifindex, .name = nic.name, .carrier = true, .carrier_down_count = 1};
  }
  static std::string field(const JournalEntry& entry, const std::string& name) {
    for (const auto& [key, value] : entry.fields)
      if (key == name) return value;
    return "(absent)";
  }

  test::Tree tree_;
  test::SimKernel sim_;
  std::optional<Kernel> kernel_;
  std::optional<PortManager> manager_;
  std::vector<JournalEntry> told_;
  std::string busy_;
  std::string rdma_;  // the name of the RDMA device, if it is not by the netdev's
  PortRole role_ = PortRole::physical;
  int hour_ = 3;
  qos::Instant now_ = std::chrono::steady_clock::now();
};

// The Arm cores of the DPU set PFC, and with it the thresholds of the port.
TEST_F(PortManagerTest, APortOfADpuIsNotSettledEither) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.pfc.pfc_en = 1 << 3;
  role_ = PortRole::dpu_owned;
  start(kEnforce);
  ASSERT_EQ(outcome("pfc"), "in_sync");
  nic.link_up();
  EXPECT_TRUE(manager_->settle(kId).ok());
  EXPECT_EQ(nic.writes(), 0U);
}

// mlx5 rounds the sizes of buffers down to its cells.
TEST_F(PortManagerTest, WhatTheDriverRoundsIsNoDrift) {
  enforced(Personality::mlx5, "",
           kProfile + std::string("prio2buffer = [0,0,0,1,0,0,0,0]\nbuffer_size = [200001, 200127, 0,0,0,0,0,0]\n"));
  look();
  told_.clear();
  for (int pass = 0; pass < 3; ++pass) look();
  EXPECT_TRUE(told_.empty()) << told_.front().message;
  EXPECT_TRUE(setting("buffer_size").drifts.empty());
}

TEST_F(PortManagerTest, AuditWritesNothingAndTellsEachDifferenceOnce) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  PortManager& manager = start("mode = \"audit\"");
  size_t differences = told(message_id::differs) + told(message_id::pending);
  EXPECT_GE(differences, 4U);
  EXPECT_EQ(outcome("mtu"), "differs");
  reconcile_all();
  EXPECT_EQ(told(message_id::differs) + told(message_id::pending), differences);
  EXPECT_EQ(nic.writes(), 0U);
  EXPECT_EQ(exit_code(manager.view()), 1);
  EXPECT_FALSE(std::ifstream(tree_.path() + "/" + state::kOriginalsFile).good());
  nic.mtu = 9000;  // a new difference is logged
  look();
  EXPECT_EQ(told(message_id::differs) + told(message_id::pending), differences + 1);
}

TEST_F(PortManagerTest, EnforceBringsEveryPersonalityInOrderAndThenWritesNothing) {
  sim_.add_nic("eth0", Personality::mlx5);
  sim_.add_nic("eth1", Personality::bnxt);
  sim_.add_nic("eth2", Personality::ice);
  sim_.add_nic("eth3", Personality::nodcb);
  PortManager& manager = start(kEnforce);
  unsigned writes = 0;
  for (SimNic& nic : sim_.nics()) writes += nic.writes();
  EXPECT_GT(writes, 0U);
  now_ += seconds(30);
  reconcile_all();
  unsigned again = 0;
  for (SimNic& nic : sim_.nics()) again += nic.writes();
  EXPECT_EQ(again, writes);
  for (const char* id : {"roce_eth0/1", "roce_eth1/1", "roce_eth2/1"}) EXPECT_EQ(outcome("pfc", id), "in_sync") << id;
  EXPECT_EQ(outcome("pfc", "roce_eth3/1"), "unsupported");
  EXPECT_EQ(outcome("mtu", "roce_eth3/1"), "in_sync");
  EXPECT_EQ(outcome("ets", "roce_eth2/1"), "unsupported");  // ice keeps its own classes while it trusts DSCP
  EXPECT_EQ(service_status(manager.view()), "enforce: 4 ports, 2 in sync, 2 unsupported");
  EXPECT_EQ(exit_code(manager.view()), 1);
}

TEST_F(PortManagerTest, ForeignChangesArePutBackCountedAndTold) {
  SimNic& nic = enforced(Personality::mlx5);
  EXPECT_EQ(told(message_id::repaired), 0U);
  nic.mtu = 1500;
  look();
  EXPECT_EQ(nic.mtu, 4200U);
  EXPECT_EQ(setting("mtu").repairs, 1U);
  EXPECT_FALSE(setting("mtu").last_repair.empty());
  EXPECT_EQ(setting("pfc").repairs, 0U);
  ASSERT_EQ(told(message_id::repaired), 1U);
  const JournalEntry& entry = first_repair();
  EXPECT_EQ(field(entry, "FABRIC_PORT"), "roce_eth0/1");
  EXPECT_EQ(field(entry, "FABRIC_SETTING"), "mtu");
  EXPECT_EQ(field(entry, "FABRIC_FROM"), "1500");
  EXPECT_EQ(field(entry, "FABRIC_TO"), "4200");
}

TEST_F(PortManagerTest, FightingStopsAfterSoManyRoundsAndNamesTheSuspect) {
  tree_.file("proc/4711/comm", "lldpad\n").file("proc/4711/cmdline", "lldpad");
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  PortManager& manager = start(kEnforce + "conflict = { rounds = 3, window = 60 }\n");
  for (int i = 0; i < 10; ++i, now_ += seconds(1)) {
    nic.pfc.pfc_en = 0;
    look();
  }
  EXPECT_EQ(nic.pfc.pfc_en, 0);  // left to the other
  EXPECT_EQ(setting("pfc").repairs, 3U);
  EXPECT_EQ(outcome("pfc"), "conflict");
  EXPECT_TRUE(has(setting("pfc").detail, "changed back by "));
  EXPECT_FALSE(has(setting("pfc").detail, "lldpad")) << "it runs; nothing says it wrote";
  EXPECT_TRUE(has(told_.back().message, "pfc is none, want 3; conflict"));
  EXPECT_EQ(told(message_id::conflict), 1U);
  EXPECT_TRUE(manager.is_in_conflict("roce_eth0/1"));
  EXPECT_EQ(exit_code(manager.view()), 2);
  nic.mtu = 1500;  // the other settings are kept all the same
  look();
  EXPECT_EQ(nic.mtu, 4200U);
  manager.set_policy(policy_of(kEnforce));  // systemctl reload
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
}

// Another program writes during the conflict: the value that is replaced at its end is of that one.
TEST_F(PortManagerTest, AfterAConflictTheProgramIsNamedWhoseValueIsReplaced) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  start(kEnforce + "reread = \"1h\"\nconflict = { rounds = 3, window = 60 }\n");
  const auto write_as = [&](const std::string& pid, const std::string& name, uint8_t priorities) {
    tree_.file("proc/net/netlink", "sk Eth Pid Groups\n0 0 " + pid + " 0\n");
    tree_.file("proc/" + pid + "/status", "CapEff:\t0000000000001000\n");
    tree_.file("proc/" + pid + "/comm", name + "\n").file("proc/" + pid + "/cmdline", name + '\0' + "eth0" + '\0');
    nic.pfc.pfc_en = priorities;
    manager_->on_notification(kId, NotificationKind::dcb);
    look();
  };
  for (int i = 0; i < 4; ++i, now_ += seconds(1)) write_as("812", "qosd", 0);
  ASSERT_EQ(outcome("pfc"), "conflict");
  EXPECT_TRUE(has(setting("pfc").detail, "qosd (pid 812)"));
  write_as("900", "otherd", 1 << 4);
  for (int i = 0; i < 12 && nic.pfc.pfc_en != 1 << 3; ++i, now_ += kConflictReread) look();
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  EXPECT_TRUE(has(told_.back().message, "otherd (pid 900)")) << told_.back().message;
  EXPECT_FALSE(has(told_.back().message, "qosd")) << told_.back().message;
}

// Within a minute after the last foreign write the setting is as the policy wants, whenever between two checks that
// write came, whether or not it was notified, and although the agent repairs another setting meanwhile.
TEST_F(PortManagerTest, AConflictThatEndsIsWrittenAtOnce) {
  for (const bool notified : {false, true}) {
    for (auto phase = seconds(0); phase < kConflictReread; phase += seconds(1)) {
      SimNic& nic = sim_.add_nic("eth" + std::to_string(sim_.nics().size()), Personality::mlx5);
      const std::string id = "roce_" + nic.name + "/1";
      start(kEnforce + "reread = \"1h\"\nconflict = { rounds = 3, window = \"10min\" }\n");
      const auto spoil = [&](uint8_t priorities) {
        nic.pfc.pfc_en = priorities;
        nic.link_up();
        if (notified) manager_->on_notification(id, NotificationKind::dcb);
      };
      for (int round = 0; round < 4; ++round, now_ += seconds(1)) {
        spoil(0);
        look(id);
      }
      ASSERT_EQ(outcome("pfc", id), "conflict");
      // The other program writes the same value for as long as this can be seen.
      for (auto until = now_ + (notified ? seconds(200) : seconds(40)); now_ < until; now_ += kConflictReread) {
        spoil(0);
        look(id);
        ASSERT_EQ(nic.pfc.pfc_en, 0);
      }
      qos::Instant check = now_;
      now_ += phase - kConflictReread;
      const qos::Instant last_write = now_;
      spoil(1 << 4);
      nic.ets.prio_tc[3] = 0;
      while (now_ < last_write + seconds(60) && nic.pfc.pfc_en != 1 << 3) {
        now_ = check;
        check += kConflictReread;
        look(id);
        if (outcome("ets", id) == "applied") manager_->on_notification(id, NotificationKind::dcb);  // of our own write
      }
      EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
      EXPECT_LE(now_ - last_write, seconds(60));
      EXPECT_EQ(outcome("pfc", id), "applied");
      nic.present = false;
    }
  }
}

// A foreign PFC takes the link away, which may come back half a minute later: what is written then is the agent's.
TEST_F(PortManagerTest, TheWriteAfterCarrierUpDoesNotProlongAConflict) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  PortManager& manager = start(kEnforce + "reread = \"1h\"\nconflict = { rounds = 3, window = \"10min\" }\n");
  for (int round = 0; round < 4; ++round, now_ += seconds(1)) {
    nic.pfc.pfc_en = 1 << 4;
    nic.link_up();
    manager.on_notification(kId, NotificationKind::dcb);
    look();
  }
  ASSERT_EQ(outcome("pfc"), "conflict");
  const qos::Instant last_write = now_ - seconds(1);
  bool is_settled = false;
  for (; now_ <= last_write + seconds(55); now_ += kConflictReread) {
    if (!is_settled && now_ >= last_write + seconds(30)) {
      is_settled = true;
      EXPECT_TRUE(manager.settle(kId).ok());
      manager.on_notification(kId, NotificationKind::dcb);
    }
    look();
  }
  EXPECT_TRUE(is_settled);
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
}

// The writer is known and still runs, and the port is in use: a conflict on a disruptive setting does not end while it
// does. A writer that only paused is no reason to leave RoCE unprotected; one that changes the next write back is.
TEST_F(PortManagerTest, AWriterThatRunsDelaysTheNextWriteOnlyIfItChangesThatBack) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  busy_ = "eth0";
  PortManager& manager = start(kEnforce + "disruptive = \"now\"\nconflict = { rounds = 3, window = 60 }\n");
  tree_.file("proc/net/netlink", "sk Eth Pid Groups\n0 0 812 0\n");
  tree_.file("proc/812/status", "CapEff:\t0000000000001000\n");
  tree_.file("proc/812/comm", "qosd\n").file("proc/812/cmdline", std::string("qosd\0eth0\0", 10));
  tree_.file("proc/812/stat", "812 (qosd) S 1 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 55 0 0\n");
  const auto undo = [&] {
    nic.pfc.pfc_en = 0;
    nic.link_up();
    manager.on_notification("roce_eth0/1", NotificationKind::dcb);
    look();
  };
  for (int i = 0; i < 4; ++i, now_ += seconds(1)) undo();
  ASSERT_EQ(outcome("pfc"), "conflict");
  EXPECT_TRUE(has(setting("pfc").detail, "possibly qosd (pid 812)"));
  for (int i = 0; i < 12; ++i, now_ += seconds(5)) look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "a minute later";
  undo();
  EXPECT_EQ(outcome("pfc"), "conflict");
  undo();
  for (int i = 0; i < 10; ++i, now_ += seconds(60)) look();
  EXPECT_EQ(outcome("pfc"), "conflict") << "it reacts, and runs";
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  for (int i = 0; i < 8 && nic.pfc.pfc_en == 0; ++i, now_ += seconds(60)) look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "its rule may have been corrected";
  now_ -= seconds(55);
  undo();
  EXPECT_EQ(outcome("pfc"), "conflict");
  undo();
  for (int i = 0; i < 20; ++i, now_ += seconds(60)) look();
  EXPECT_EQ(nic.pfc.pfc_en, 0) << "it was not: the next write waits for half an hour";
  tree_.remove("proc/812");
  for (int i = 0; i < 3; ++i, now_ += seconds(60)) look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
  EXPECT_FALSE(manager.is_in_conflict("roce_eth0/1"));
}

// A program that writes once does not end the wait for the one that reacts, which runs.
TEST_F(PortManagerTest, AnotherProgramsWriteDoesNotEndTheWaitForAWriterThatReacts) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  busy_ = "eth0";
  start(kEnforce + "disruptive = \"now\"\nconflict = { rounds = 3, window = 60 }\n");
  const auto write_as = [&](const std::string& pid, const std::string& name, uint8_t priorities) {
    tree_.file("proc/net/netlink", "sk Eth Pid Groups\n0 0 " + pid + " 0\n");
    tree_.file("proc/" + pid + "/status", "CapEff:\t0000000000001000\n");
    tree_.file("proc/" + pid + "/comm", name + "\n").file("proc/" + pid + "/cmdline", name + '\0' + "eth0" + '\0');
    tree_.file("proc/" + pid + "/stat", pid + " (" + name + ") S 1 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 55 0 0\n");
    nic.pfc.pfc_en = priorities;
    nic.link_up();
    manager_->on_notification(kId, NotificationKind::dcb);
    look();
  };
  for (int i = 0; i < 4; ++i, now_ += seconds(1)) write_as("812", "qosd", 0);
  for (int i = 0; i < 12; ++i, now_ += seconds(5)) look();
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  for (int i = 0; i < 2; ++i) write_as("812", "qosd", 0);
  ASSERT_EQ(outcome("pfc"), "conflict");
  write_as("900", "otherd", 1 << 4);
  tree_.remove("proc/900");
  for (int i = 0; i < 10; ++i, now_ += seconds(60)) look();
  EXPECT_EQ(outcome("pfc"), "conflict");
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 4);
}

// On an idle port a write stops nobody's traffic: it comes within a minute after the last foreign one, also while the
// writer runs, because its rule may have been corrected.
TEST_F(PortManagerTest, AWriterThatRunsDelaysNoWriteOfAnIdlePort) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  PortManager& manager = start(kEnforce + "conflict = { rounds = 3, window = 60 }\n");
  tree_.file("proc/net/netlink", "sk Eth Pid Groups\n0 0 812 0\n");
  tree_.file("proc/812/status", "CapEff:\t0000000000001000\n");
  tree_.file("proc/812/comm", "qosd\n").file("proc/812/cmdline", std::string("qosd\0eth0\0", 10));
  tree_.file("proc/812/stat", "812 (qosd) S 1 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 55 0 0\n");
  const auto undo = [&] {
    nic.pfc.pfc_en = 0;
    nic.link_up();
    manager.on_notification(kId, NotificationKind::dcb);
    look();
  };
  for (int i = 0; i < 4; ++i, now_ += seconds(1)) undo();
  for (int reversal = 0; reversal < 4; ++reversal) {
    SCOPED_TRACE(reversal);
    ASSERT_EQ(outcome("pfc"), "conflict");
    ASSERT_TRUE(has(setting("pfc").detail, "qosd (pid 812)"));
    const qos::Instant last = now_;
    for (; now_ < last + seconds(60) && nic.pfc.pfc_en == 0; now_ += kConflictReread) look();
    EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
    EXPECT_LE(now_ - last, seconds(60));
    now_ += seconds(1);
    undo();
  }
  // In use, it waits; idle again, it is written.
  busy_ = "eth0";
  for (int i = 0; i < 60; ++i, now_ += kConflictReread) look();
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  busy_.clear();
  for (int i = 0; i < 12; ++i, now_ += kConflictReread) look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
}

// conflict.rounds = 1: the write after a conflict is the next conflict. Its writer is known all the same.
TEST_F(PortManagerTest, AWriterThatReactsIsLeftAloneAfterTwoWritesAlsoWithOneRound) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  busy_ = "eth0";
  PortManager& manager = start(kEnforce + "disruptive = \"now\"\nconflict = { rounds = 1, window = 60 }\n");
  const auto add_writer = [this] {
    tree_.file("proc/net/netlink", "sk Eth Pid Groups\n0 0 812 0\n");
    tree_.file("proc/812/comm", "qosd\n").file("proc/812/cmdline", std::string("qosd\0eth0\0", 10));
    tree_.file("proc/812/status", "CapEff:\t000001ffffffffff\n");
    tree_.file("proc/812/stat", "812 (qosd) S 1 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 55 0 0\n");
  };
  add_writer();
  unsigned writes = 0;
  for (int i = 0; i < 120; ++i, now_ += seconds(30)) {
    if (nic.pfc.pfc_en == 1 << 3) ++writes;
    nic.pfc.pfc_en = 0;
    nic.link_up();
    if (writes != 0) manager.on_notification("roce_eth0/1", NotificationKind::dcb);
    look();
  }
  EXPECT_LE(writes, 4U);
  EXPECT_EQ(outcome("pfc"), "conflict");
  // The program is corrected, and goes on running: in sync for a window, the conflict is over.
  nic.pfc.pfc_en = 1 << 3;
  for (int i = 0; i < 10; ++i, now_ += seconds(30)) look();
  EXPECT_FALSE(manager.is_in_conflict("roce_eth0/1"));
}

TEST_F(PortManagerTest, ARefusedSettingIsNotHammered) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  nic.faults["setpfc"] = {test::Fault::refuse, EINVAL, -1};
  start(kEnforce + "reread = 30\n");
  EXPECT_EQ(outcome("pfc"), "refused");
  EXPECT_EQ(setting("pfc").reason, "EINVAL");
  unsigned tries = nic.calls["setpfc"];
  ASSERT_GT(tries, 0U);
  for (int i = 0; i < 20; ++i, now_ += seconds(1)) look();
  EXPECT_EQ(nic.calls["setpfc"], tries);
  EXPECT_EQ(outcome("pfc"), "refused");
  EXPECT_EQ(told(message_id::not_set), 1U);
  nic.faults.clear();
  now_ += seconds(30);
  look();
  EXPECT_EQ(outcome("pfc"), "applied");
}

// Firmware refuses for hours to set the PFC that another program has removed. A job must not wait for the end of a
// pause that has grown to an hour.
TEST_F(PortManagerTest, APfcThatIsRefusedComesBackWithinTenMinutes) {
  SimNic& nic = enforced(Personality::full);
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  nic.pfc.pfc_en = 0;
  nic.faults["setpfc"] = {test::Fault::refuse, EBUSY, -1};
  for (int i = 0; i < 240; ++i, now_ += seconds(30)) look();
  EXPECT_EQ(outcome("pfc"), "refused");
  EXPECT_EQ(told(message_id::not_set), 1U) << "the journal has one line";
  nic.faults.clear();
  for (int i = 0; i < 20; ++i, now_ += seconds(30)) look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
}

// mlx5 restarts the link before it judges the buffers, and once more for the old PFC.
TEST_F(PortManagerTest, APfcWhoseRefusalRestartsTheLinkIsTriedLessAndLess) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.pause = {};
  nic.manual_buffers = true;
  nic.buffer.buffer_size[0] = 20'096;
  start(kEnforce, "[[port]]\npause = \"off\"\npfc = [3]\n");
  for (int i = 0; i < 240; ++i, now_ += seconds(30)) {
    nic.link_up();
    look();
  }
  EXPECT_EQ(outcome("pfc"), "refused");
  EXPECT_GT(nic.carrier_downs, 4U);
  EXPECT_LT(nic.carrier_downs, 30U);
}

// A PFC beside which global pause came back protects nothing more: each of its tries would switch pause off.
TEST_F(PortManagerTest, APfcThatIsRefusedWhilePauseIsOnIsTriedLessAndLess) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  ASSERT_TRUE(nic.pause.rx);
  nic.faults["setpfc"] = {test::Fault::refuse, EINVAL, -1};
  start(kEnforce);
  for (int i = 0; i < 240; ++i, now_ += seconds(30)) look();
  EXPECT_TRUE(nic.pause.rx);
  EXPECT_LT(nic.calls["setpfc"], 30U);
}

// The firmware refuses PFC after global pause went off, and also to switch pause on again. The next pass knows that
// RoCE had it.
TEST_F(PortManagerTest, GlobalPauseThatWasRefusedComesBackInTheNextPass) {
  SimNic& nic = enforced(Personality::full, "", "[[port]]\npause = \"rx,tx\"\nmtu = 4200\n");
  ASSERT_EQ(nic.mtu, 4200U) << "the original settings are saved";
  ASSERT_TRUE(nic.pause.rx && nic.pause.tx);
  nic.faults["setpfc"] = {test::Fault::refuse, EIO, -1};
  nic.after_change = [&](const std::string& op) {
    if (op == "setpause" && !nic.pause.rx) nic.faults["setpause"] = {test::Fault::refuse, EBUSY, 1};
  };
  reload(policy_of(kEnforce));
  ASSERT_FALSE(nic.pause.rx || nic.pfc.pfc_en != 0);
  nic.after_change = [](const auto&) {};
  nic.faults.erase("setpause");
  now_ += seconds(30);
  look();
  EXPECT_TRUE(nic.pause.rx && nic.pause.tx);
  nic.faults.clear();
  now_ += seconds(3'600);
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
  EXPECT_FALSE(nic.pause.rx);
}

TEST_F(PortManagerTest, ADisruptiveWriteWaitsForTheLastQueuePair) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.pfc.pfc_en = 0;
  busy_ = "eth0";
  PortManager& manager = start(kEnforce);
  EXPECT_EQ(outcome("pfc"), "pending");
  EXPECT_EQ(setting("pfc").reason, "idle_port");
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  EXPECT_TRUE(manager.waits_for_idle("roce_eth0/1"));
  EXPECT_FALSE(manager.is_idle("roce_eth0/1"));
  busy_.clear();
  EXPECT_TRUE(manager.is_idle("roce_eth0/1"));
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
  EXPECT_EQ(setting("pfc").reason, "") << "it is written";
  EXPECT_FALSE(manager.waits_for_idle("roce_eth0/1"));
}

// The agent was killed after it had switched global pause off for PFC, and a job began before the next one.
TEST_F(PortManagerTest, GlobalPauseThatAKilledAgentSwitchedOffIsRestored) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.pause = {.rx = true, .tx = true};
  start(kEnforce);
  ASSERT_FALSE(nic.pause.rx || nic.pause.tx);
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  nic.pfc.pfc_en = 0;
  look();
  ASSERT_FALSE(nic.pause.rx || nic.pause.tx) << "no pass was cut short: PFC is written";
  nic.pfc.pfc_en = 0;
  busy_ = "eth0";
  restart(policy_of(kEnforce));
  EXPECT_TRUE(nic.pause.rx && nic.pause.tx);
  EXPECT_EQ(outcome("pause"), "pending");
  nic.pause = {};
  look();
  EXPECT_FALSE(nic.pause.rx || nic.pause.tx) << "another program has switched it off since";
  nic.pause = {.rx = true, .tx = true};
  busy_.clear();
  look();
  look();
  EXPECT_FALSE(nic.pause.rx || nic.pause.tx);
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
}

TEST_F(PortManagerTest, ADriverReloadIsNoForeignWriter) {
  SimNic& nic = enforced(Personality::mlx5, "conflict = { rounds = 1 }\n");
  sim_.reload(nic);
  auto fresh = manager_->rescan();
  ASSERT_EQ(fresh, std::vector<std::string>{"roce_eth0/1"});
  look();
  EXPECT_EQ(outcome("ets"), "applied");
  EXPECT_EQ(setting("ets").repairs, 0U);
  EXPECT_EQ(told(message_id::conflict), 0U);
}

TEST_F(PortManagerTest, AVanishedPortIsForgottenAndTheOthersAreKept) {
  SimNic& gone = sim_.add_nic("eth0", Personality::full);
  SimNic& stays = sim_.add_nic("eth1", Personality::full);
  PortManager& manager = start(kEnforce);
  gone.present = false;
  stays.mtu = 1500;
  const size_t before = told_.size();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look(), ENODEV);  // a driver that is unloaded makes many events
  EXPECT_EQ(told_.size(), before) << "the rescan that follows says it";
  EXPECT_EQ(look("roce_eth1/1"), 0);
  EXPECT_EQ(stays.mtu, 4200U);
  manager.rescan();
  EXPECT_EQ(manager.table().ids(), std::vector<std::string>{"roce_eth1/1"});
}

TEST_F(PortManagerTest, AnExcludedPortHasNotGone) {
  SimNic& nic = enforced(Personality::full);
  manager_->set_policy(policy_of(kEnforce + "exporter.exclude = [\"roce_*\"]\n"));
  nic.present = false;  // the scan leaves it out
  manager_->rescan();
  EXPECT_TRUE(manager_->table().ids().empty());
  EXPECT_TRUE(has(told_.back().message, "excluded"));
}

// ethnl_ops_begin() of Linux 6.12: ENODEV of a netdev that its driver has detached, in a reset or for good.
TEST_F(PortManagerTest, ADetachedDeviceIsSaidSoAndNothingIsHeldAgainstIt) {
  SimNic& nic = enforced(Personality::full, "reread = 30\n");
  nic.faults["getpause"] = {test::Fault::refuse, ENODEV, -1};
  EXPECT_EQ(look(), ENODEV);
  EXPECT_EQ(outcome("mtu"), "applied") << "a reset may be over in a moment";
  EXPECT_TRUE(manager_->rescan().empty()) << "it is still there";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(look(), ENODEV);
  EXPECT_EQ(outcome("mtu"), "refused");
  EXPECT_TRUE(has(setting("mtu").detail, "dmesg"));
  EXPECT_TRUE(setting("mtu").drifts.empty()) << "not known is not drifted";
  EXPECT_EQ(exit_code(manager_->view()), 2);
  nic.faults.clear();
  nic.mtu = 1500;
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(nic.mtu, 4200U) << "at once";
}

// ENOBUFS, a timeout behind the kernel's lock: the driver has refused nothing.
TEST_F(PortManagerTest, ALostAnswerIsAskedForAgainSoonAndHeldAgainstNothing) {
  SimNic& nic = enforced(Personality::full, "reread = 30\n");
  EXPECT_EQ(manager_->retry_after(kId), std::nullopt);
  nic.mtu = 1500;
  nic.faults["getpause"] = {test::Fault::refuse, ENOBUFS, 2};  // the reading, and its repetition
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(nic.mtu, 1500U);
  EXPECT_EQ(outcome("mtu"), "refused");
  EXPECT_EQ(manager_->retry_after(kId), seconds(1));
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(nic.mtu, 4200U) << "at once";
  EXPECT_EQ(manager_->retry_after(kId), std::nullopt);
  nic.faults["getpause"] = {test::Fault::refuse, ETIMEDOUT, -1};
  for (const int pause : {1, 2, 4, 8, 16, 30, 30}) {
    EXPECT_EQ(look(), 0);
    EXPECT_EQ(manager_->retry_after(kId), seconds(pause));
  }
  nic.faults.clear();
  nic.faults["getpause"] = {test::Fault::refuse, ENODEV, 2};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(look(), ENODEV);
  EXPECT_EQ(manager_->retry_after(kId), seconds(30)) << "a device in a reset may come back without a notification";
}

// The kernel answers about no netdev while a driver holds its lock for longer than we wait.
TEST_F(PortManagerTest, APortWhoseNetdevTheScanCouldNotReadIsNoNewDevice) {
  SimNic& nic = enforced(Personality::mlx5);
  hour_ = 12;
  bool is_lost = false;
  Environment environment = this->environment();
  environment.scan = [&](const Policy&) {
    std::vector<Port> all = ports();
    for (Port& port : all) {
      if (!is_lost) continue;
      port.ifindex = 0;
      port.card.clear();
      port.unread = {{PortPart::netdev, "netdev, mtu, carrier: eth0: read link: no answer (ETIMEDOUT)"}};
    }
    return FoundPorts(std::move(all));
  };
  manager_.emplace(environment, policy_of(kEnforce + kNight));
  reconcile_all();
  EXPECT_EQ(manager_->rescan_after(), std::nullopt);
  nic.pfc.pfc_en = 0;
  for (const bool lost : {true, false}) {
    is_lost = lost;
    EXPECT_TRUE(manager_->rescan().empty());
    EXPECT_EQ(manager_->rescan_after(), lost ? std::optional<std::chrono::milliseconds>(1'000) : std::nullopt);
    look();
    EXPECT_EQ(outcome("pfc"), "pending") << "the maintenance window is closed";
    EXPECT_EQ(nic.pfc.pfc_en, 0);
  }
  EXPECT_TRUE(said(message_id::trouble, "ETIMEDOUT"));
  const auto originals = state::load_originals(tree_.path());
  ASSERT_TRUE(originals.ok());
  EXPECT_EQ(originals->size(), 1U);
}

TEST_F(PortManagerTest, TheOriginalIsSavedOnceAndRestoreErasesIt) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  nic.mtu = 2000;
  start(kEnforce);
  Port port = ports().at(0);
  auto originals = state::load_originals(tree_.path());
  ASSERT_TRUE(originals.ok());
  ASSERT_EQ(originals->count(state::port_key(port)), 1U);
  EXPECT_EQ(originals->at(state::port_key(port)).mtu, 2000U);
  nic.mtu = 3000;
  look();
  EXPECT_EQ(state::load_originals(tree_.path())->at(state::port_key(port)).mtu, 2000U);
  Changes changes = test::restore(*kernel_, port, {}, *originals, kFree);
  EXPECT_EQ(nic.mtu, 2000U);
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  EXPECT_FALSE(changes.empty());
  EXPECT_TRUE(originals->empty());
}

// Cards change places while the machine is off: slots keep their names and addresses, cards their serial numbers.
class PowerCycle : public PortManagerTest {
 protected:
  SimNic& insert(const std::string& slot, const std::string& serial, uint32_t mtu) {
    SimNic& nic = sim_.add_nic(slot, Personality::full);
    nic.card = "serial:" + serial + "/0.1";
    nic.mtu = mtu;
    return nic;
  }
  void boot() { start(kEnforce); }
  void power_off() {
    manager_.reset();
    for (SimNic& nic : sim_.nics()) nic.reload();
  }
  // Does the work of `fabric-agentctl restore`.
  Changes restore_all() {
    manager_.reset();
    auto originals = state::load_originals(tree_.path());
    EXPECT_TRUE(originals.ok());
    auto all = ports();
    for (Port& port : all) test::restore(*kernel_, port, {}, *originals, kFree);
    EXPECT_TRUE(state::save_originals(tree_.path(), *originals).ok());
    return qos::restore_of_absent(*originals, all);
  }
};

TEST_F(PowerCycle, CardsThatSwapSlotsAreRestoredToTheirOwnSettings) {
  SimNic& first = insert("eth0", "MT1", 2000);
  SimNic& second = insert("eth1", "MT2", 3000);
  second.pause = {false, true};
  boot();
  power_off();
  std::swap(first.name, second.name);
  std::swap(first.ifindex, second.ifindex);  // the simulated PCI address follows it
  boot();
  EXPECT_EQ(first.mtu, 4200U);
  EXPECT_EQ(second.mtu, 4200U);
  EXPECT_EQ(state::load_originals(tree_.path())->size(), 2U);
  EXPECT_TRUE(restore_all().empty());
  EXPECT_EQ(first.mtu, 2000U);
  EXPECT_EQ(first.pause, (Pause{true, true}));
  EXPECT_EQ(second.mtu, 3000U);
  EXPECT_EQ(second.pause, (Pause{false, true}));
  EXPECT_TRUE(state::load_originals(tree_.path())->empty());
}

TEST_F(PowerCycle, AReplacedCardsOriginalsWaitForItUnderItsName) {
  SimNic& stays = insert("eth0", "MT1", 2000);
  SimNic& moves = insert("eth1", "MT2", 3000);
  SimNic& replaced = insert("eth2", "MT3", 5000);
  const std::string place = state::port_place(replaced.port());
  boot();
  power_off();
  replaced.present = false;
  SimNic& spare = insert("eth2", "MT4", 1700);
  spare.ifindex = replaced.ifindex;
  moves.name = "eth3", moves.ifindex = 9;
  boot();
  EXPECT_EQ(spare.mtu, 4200U);
  const Changes kept = restore_all();
  EXPECT_EQ(stays.mtu, 2000U);
  EXPECT_EQ(moves.mtu, 3000U);
  EXPECT_EQ(spare.mtu, 1700U);
  ASSERT_FALSE(kept.empty());
  for (const Change& change : kept) {
    EXPECT_EQ(change.port, replaced.card);
    EXPECT_TRUE(has(change.detail, place));
  }
  power_off();
  spare.present = false;
  replaced.present = true;
  replaced.name = "eth4", replaced.ifindex = 8;
  boot();
  EXPECT_TRUE(restore_all().empty());
  EXPECT_EQ(replaced.mtu, 5000U);
}

TEST_F(PortManagerTest, CorruptOriginalsAreKeptAside) {
  tree_.file(state::kOriginalsFile, "[[[");
  SimNic& nic = enforced(Personality::full);
  EXPECT_EQ(nic.mtu, 4200U);
  EXPECT_EQ(tree_.content(std::string(state::kOriginalsFile) + ".corrupt"), "[[[");
  EXPECT_EQ(told(message_id::trouble), 1U);
  EXPECT_TRUE(has(state_of(manager_->view()).lost_originals.value().file, ".corrupt"))
      << "until an operator has removed the file";
  tree_.remove(std::string(state::kOriginalsFile) + ".corrupt");
  manager_->rescan();
  EXPECT_FALSE(state_of(manager_->view()).lost_originals);
}

// After a downgrade, this release cannot save originals: it compares and reports only.
TEST_F(PortManagerTest, WithOriginalsOfANewerReleaseNothingIsWritten) {
  const std::string newer = R"({"format":2,"cards":{}})";
  tree_.file(state::kOriginalsFile, newer);
  SimNic& nic = enforced(Personality::full);
  EXPECT_EQ(nic.writes(), 0U);
  EXPECT_EQ(outcome("mtu"), "unsaved");
  EXPECT_TRUE(has(setting("mtu").detail, "newer release")) << setting("mtu").detail;
  EXPECT_TRUE(state_of(manager_->view()).lost_originals.value().is_newer);
  EXPECT_EQ(tree_.content(state::kOriginalsFile), newer);
  EXPECT_FALSE(tree_.root().exists(std::string(state::kOriginalsFile) + ".corrupt"));
  tree_.remove(state::kOriginalsFile);  // a person gives them up
  manager_->rescan();
  look();
  EXPECT_EQ(nic.mtu, 4200U);
  EXPECT_FALSE(state_of(manager_->view()).lost_originals);
}

// Nothing is written beside a newer release's originals of the host, or its record of a self-test, also if all
// originals were saved before: not the policy of a port or the host, not a release, not the end of a self-test.
TEST_F(PortManagerTest, WithAFileOfANewerReleaseNothingIsWritten) {
  const std::string newer = R"({"format":2,"hosts":[]})";
  const std::string host = "[sysctl]\n\"net.ipv4.tcp_ecn\" = 1\n", sysctl = "proc/sys/net/ipv4/tcp_ecn";
  tree_.file(sysctl, "2\n");
  SimNic& nic = enforced(Personality::full, kRestore, kProfile + host);
  const auto pass = [this] {
    reconcile_all();
    ASSERT_TRUE(manager_->reconcile_host(now_).ok());
  };
  pass();
  ASSERT_EQ(nic.mtu, 4200U);
  ASSERT_EQ(tree_.content(sysctl).substr(0, 1), "1");
  for (const char* file : {state::kOriginalsFile, qos::kSysctlOriginalsFile, state::kSelfTestFile}) {
    SCOPED_TRACE(file);
    const std::string kept = tree_.root().exists(file) ? tree_.content(file) : "";
    tree_.file(file, newer).file(sysctl, "2\n");
    if (file != std::string(state::kSelfTestFile)) {
      const Qos before{.mtu = 1500};
      ASSERT_TRUE(
          state::save_originals(tree_.path(), {{state::port_key(ports().at(0)), before}}, state::kSelfTestFile).ok());
    }
    nic.mtu = 1600;
    const unsigned writes = nic.writes();
    pass();
    EXPECT_EQ(outcome("mtu"), "unsaved");
    EXPECT_TRUE(has(setting("mtu").detail, "newer release")) << setting("mtu").detail;
    const AgentState state = state_of(manager_->view());
    ASSERT_TRUE(state.lost_originals);
    EXPECT_TRUE(state.lost_originals->is_newer) << state.lost_originals->why;
    EXPECT_EQ(state.lost_originals->file, std::string("/") + file);
    reload(policy_of(kEnforce + kRestore, ""));  // a release
    restart(policy_of(kEnforce + kRestore, kProfile + host));
    pass();
    EXPECT_EQ(nic.writes(), writes);
    EXPECT_EQ(nic.mtu, 1600U);
    EXPECT_EQ(tree_.content(sysctl), "2\n");
    EXPECT_EQ(tree_.content(file), newer);
    tree_.remove(file).remove(state::kSelfTestFile);  // a person gives it up
    if (!kept.empty()) tree_.file(file, kept);
    pass();
    EXPECT_EQ(nic.mtu, 4200U);
    EXPECT_EQ(tree_.content(sysctl).substr(0, 1), "1");
    EXPECT_FALSE(state_of(manager_->view()).lost_originals);
  }
}

TEST_F(PortManagerTest, AReleasedPortIsRestoredAfterARefusal) {
  SimNic& nic = enforced(Personality::full, kRestore);
  ASSERT_EQ(nic.mtu, 4200U);
  nic.faults["setmtu"] = {test::Fault::refuse, EBUSY, -1};
  reload(policy_of(kEnforce + kRestore, ""));
  EXPECT_EQ(nic.mtu, 4200U);
  const unsigned tries = nic.calls["setmtu"];
  look();
  EXPECT_EQ(nic.calls["setmtu"], tries) << "not at once";
  restart(policy_of(kEnforce + kRestore, ""));  // nor is it forgotten with the agent
  nic.faults.clear();
  now_ += std::chrono::seconds(120);
  look();
  EXPECT_EQ(nic.mtu, 1500U);
  EXPECT_TRUE(state::load_originals(tree_.path())->empty());
}

// One setting of a released port is refused for good, as MRRS is to an agent without CAP_SYS_ADMIN. The others are
// back, and belong to whoever has the port now: the next try of the refused one must not take his PFC away.
TEST_F(PortManagerTest, WhatIsReleasedIsNotWrittenAgainWhileTheRestIsRefused) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.ethtool.pfc_prevention = 8000;
  start(kEnforce + kRestore, kProfile + std::string("pfc_watchdog = 200\n"));
  ASSERT_EQ(nic.ethtool.pfc_prevention, 200);
  nic.faults["settunable"] = {test::Fault::refuse, EPERM, -1};
  reload(policy_of(kEnforce + kRestore, ""));
  ASSERT_EQ(nic.mtu, 1500U);
  ASSERT_EQ(nic.pfc.pfc_en, 0);
  nic.mtu = 9000;
  nic.pfc.pfc_en = 1 << 4;
  const auto is_kept = [&] { return nic.mtu == 9000U && nic.pfc.pfc_en == 1 << 4; };
  for (int i = 0; i < 3; ++i, now_ += seconds(120)) look();
  EXPECT_TRUE(is_kept());
  restart(policy_of(kEnforce + kRestore, ""));
  EXPECT_TRUE(is_kept()) << "by the next agent";
  nic.faults.clear();
  now_ += seconds(120);
  look();
  EXPECT_EQ(nic.ethtool.pfc_prevention, 8000);
  EXPECT_TRUE(is_kept());
  EXPECT_TRUE(state::load_originals(tree_.path())->empty());
}

// Each try of a disruptive write may restart the link: an end that the driver refuses is not tried each minute for
// ever.
TEST_F(PortManagerTest, AReleaseThatIsRefusedForGoodIsTriedLessAndLess) {
  SimNic& nic = enforced(Personality::full, kRestore);
  nic.faults["setmtu"] = {test::Fault::refuse, EINVAL, -1};
  reload(policy_of(kEnforce + kRestore, ""));
  const unsigned tries = nic.calls["setmtu"];
  for (int minute = 0; minute < 240; ++minute, now_ += seconds(60)) look();
  EXPECT_LT(nic.calls["setmtu"] - tries, 20U);
  nic.faults.clear();
  reload(policy_of(kEnforce + kRestore, ""));
  EXPECT_EQ(nic.mtu, 1500U) << "at once after a reload";
}

// The original is global pause. It is refused, and so is the PFC that it was to replace.
TEST_F(PortManagerTest, AReleaseThatLeavesRoceUnprotectedIsTriedEachMinute) {
  SimNic& nic = enforced(Personality::full, kRestore, "[[port]]\npause = \"off\"\npfc = [3]\n");
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  nic.faults["setpause"] = {test::Fault::refuse, EBUSY, -1};
  nic.after_change = [&](const std::string& op) {
    if (op == "setpfc" && nic.pfc.pfc_en == 0) nic.faults["setpfc"] = {test::Fault::refuse, EBUSY, -1};
  };
  reload(policy_of(kEnforce + kRestore, ""));
  ASSERT_FALSE(nic.pause.rx || nic.pfc.pfc_en != 0);
  for (int minute = 0; minute < 240; ++minute, now_ += seconds(60)) look();
  nic.after_change = [](const auto&) {};
  nic.faults.erase("setpfc");
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "the firmware accepts what RoCE had";
  nic.faults.clear();
  now_ += seconds(3'600);
  look();
  EXPECT_TRUE(nic.pause.rx && nic.pause.tx);
  EXPECT_EQ(nic.pfc.pfc_en, 0);
}

// A self-test was killed: whatever the mode, the settings from before it come back once the port is idle.
TEST_F(PortManagerTest, AnInterruptedSelfTestIsRestored) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.pfc.pfc_en = 1 << 5;
  Qos before{.pfc = PrioSet{1 << 3}};
  Port port = ports().front();
  ASSERT_TRUE(state::save_originals(tree_.path(), {{state::port_key(port), before}}, state::kSelfTestFile).ok());
  busy_ = "eth0";
  start("mode = \"audit\"\n");
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 5);
  EXPECT_TRUE(tree_.root().exists(state::kSelfTestFile));
  busy_.clear();
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
  EXPECT_FALSE(tree_.root().exists(state::kSelfTestFile));
  EXPECT_TRUE(said(message_id::port, "self-test"));
  // A refused settle is repeated, and meanwhile the link has failed.
  rtnl::Link link = link_of(nic);
  link.carrier = false;
  manager_->link_changed(link);
  EXPECT_TRUE(manager_->settle(kId).ok());
  link.carrier = true;
  manager_->link_changed(link);
  nic.link_up();
  const unsigned writes = nic.calls["setpfc"];
  EXPECT_TRUE(manager_->settle(kId).ok());
  EXPECT_EQ(nic.calls["setpfc"], writes + 1) << "the thresholds, although nothing is enforced";
}

// A self-test that is killed while the agent runs is ended at once, not at the next re-read; on a port that is in use
// once more, when it is idle.
TEST_F(PortManagerTest, ASelfTestThatIsKilledIsLookedForUntilItIsEnded) {
  using Ids = std::optional<std::vector<std::string>>;
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  start("mode = \"audit\"\nreread = \"1h\"\n");
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), std::nullopt);
  auto lock = state::take_lock(tree_.path());
  ASSERT_TRUE(lock.ok());
  state::Original before(Qos{.pause = Pause{true, true}, .pfc = PrioSet{}});
  before.may_lack_pause_and_pfc = true;
  ASSERT_TRUE(
      state::save_originals(tree_.path(), {{state::port_key(ports().front()), before}}, state::kSelfTestFile).ok());
  manager_->note_self_test();
  nic.pause = {};
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), Ids(std::vector<std::string>{})) << "it is running";
  look();
  EXPECT_FALSE(nic.pause.rx);
  busy_ = "eth0";
  *lock = Fd();
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), Ids({kId}));
  look();
  EXPECT_TRUE(nic.pause.rx && nic.pause.tx) << "a job has started meanwhile";
  nic.pfc.pfc_en = 1 << 5;
  ASSERT_TRUE(
      state::save_originals(tree_.path(), {{state::port_key(ports().front()), before}}, state::kSelfTestFile).ok());
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), Ids(std::vector<std::string>{})) << "in use";
  busy_.clear();
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), Ids({kId}));
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), std::nullopt);
}

// A job runs without global pause and PFC, because the driver refuses to set pause again: it is tried each half a
// minute, however seldom the ports are read again.
TEST_F(PortManagerTest, ARefusedProtectionOfAKilledSelfTestIsTriedBetweenReReads) {
  using Ids = std::optional<std::vector<std::string>>;
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  state::Original before(Qos{.pause = Pause{true, true}, .pfc = PrioSet{}});
  before.may_lack_pause_and_pfc = true;
  ASSERT_TRUE(
      state::save_originals(tree_.path(), {{state::port_key(ports().front()), before}}, state::kSelfTestFile).ok());
  nic.pause = {};
  nic.faults["setpause"] = {test::Fault::refuse, EBUSY, -1};
  busy_ = "eth0";
  start("mode = \"audit\"\nreread = \"1h\"\n", "");
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), Ids({kId}));
  for (int i = 0; i < 20; ++i) {
    now_ += seconds(29);
    EXPECT_EQ(manager_->ports_of_killed_self_test(now_), Ids(std::vector<std::string>{})) << i;
    now_ += seconds(1);
    EXPECT_EQ(manager_->ports_of_killed_self_test(now_), Ids({kId})) << i;
    const unsigned tries = nic.calls["setpause"];
    look();
    EXPECT_GT(nic.calls["setpause"], tries) << i;
  }
  nic.faults.clear();
  now_ += seconds(30);
  look();
  EXPECT_TRUE(nic.pause.rx && nic.pause.tx);
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), std::nullopt) << "nothing else was left";
}

// A driver accepts the write that ends a self-test, and shows no effect: it is tried again after growing pauses, not
// with each notification, and the operator sees what is left.
TEST_F(PortManagerTest, AnEndOfASelfTestThatFailsIsRepeatedAfterGrowingPauses) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  state::Original before(Qos{.pause = Pause{true, true}, .pfc = PrioSet{}});
  before.may_lack_pause_and_pfc = true;
  ASSERT_TRUE(
      state::save_originals(tree_.path(), {{state::port_key(ports().front()), before}}, state::kSelfTestFile).ok());
  nic.pause = {};
  nic.faults["setpause"] = {test::Fault::ignore};
  busy_ = "eth0";
  start("mode = \"audit\"\n", "");
  const auto has_tried = [&] {
    const unsigned writes = nic.calls["setpause"];
    look();
    return nic.calls["setpause"] != writes;
  };
  EXPECT_GT(nic.calls["setpause"], 0U);
  EXPECT_FALSE(has_tried()) << "not with each notification";
  EXPECT_TRUE(has(service_status(manager_->view()), "a self-test was interrupted, not restored: roce_eth0/1 pause"))
      << service_status(manager_->view());
  EXPECT_EQ(exit_code(manager_->view()), 1);
  const auto left = [&] { return (*state::load_agent_state(tree_.root()))->left_of_self_tests; };
  EXPECT_EQ(left(), "roce_eth0/1 pause") << "check and the exporter read it";
  EXPECT_TRUE(said(message_id::trouble, "Left: roce_eth0/1 pause"));
  now_ += seconds(31);
  EXPECT_TRUE(has_tried());
  now_ += seconds(31);
  EXPECT_FALSE(has_tried()) << "the pause grows";
  nic.faults.clear();
  reload(policy_of("mode = \"audit\"\n", ""));
  EXPECT_TRUE(nic.pause.rx && nic.pause.tx) << "at once after a reload";
  busy_.clear();
  look();
  EXPECT_FALSE(tree_.root().exists(state::kSelfTestFile));
  EXPECT_EQ(left(), "");
  EXPECT_FALSE(has(service_status(manager_->view()), "self-test"));
  EXPECT_EQ(exit_code(manager_->view()), 0);
}

TEST_F(PortManagerTest, TheSelfTestOfAnAbsentCardIsReported) {
  sim_.add_nic("eth0", Personality::mlx5);
  ASSERT_TRUE(state::save_originals(tree_.path(), {{"0000:99:00.0/1", Qos{.mtu = 9000}}}, state::kSelfTestFile).ok());
  start("mode = \"audit\"\n");
  EXPECT_EQ(manager_->ports_of_killed_self_test(now_), std::nullopt);
  EXPECT_TRUE(said(message_id::trouble, "a self-test of 0000:99:00.0/1 was interrupted"));
}

TEST_F(PortManagerTest, WithoutADurableOriginalNothingIsWritten) {
  tree_.file("var/lib", "a file where a directory should be");
  SimNic& nic = enforced(Personality::full);
  EXPECT_EQ(nic.writes(), 0U);
  EXPECT_EQ(outcome("pfc"), "unsaved") << "not the driver's fault";
  EXPECT_TRUE(has(setting("pfc").detail, state::kOriginalsFile));
  EXPECT_EQ(exit_code(manager_->view()), 2);
  tree_.remove("var/lib");
  look();
  EXPECT_EQ(outcome("pfc"), "applied") << "at the next reading";
}

TEST_F(PortManagerTest, WhileAnotherWritesItComesAgain) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  auto lock = state::take_lock(tree_.path());
  ASSERT_TRUE(lock.ok());
  start(kEnforce);
  EXPECT_EQ(nic.writes(), 0U);
  EXPECT_EQ(look(), EWOULDBLOCK);
  EXPECT_EQ(told(message_id::trouble), 0U);
  now_ += seconds(10);  // the other one was stopped
  EXPECT_EQ(look(), EWOULDBLOCK);
  EXPECT_EQ(look(), EWOULDBLOCK);
  EXPECT_EQ(told(message_id::trouble), 1U) << "once";
  lock->reset();
  EXPECT_EQ(look(), 0);
  EXPECT_GT(nic.writes(), 0U);
}

TEST_F(PortManagerTest, ALockThatCannotBeOpenedIsToldAtOnce) {
  tree_.file("run", "a file where a directory should be");
  SimNic& nic = enforced(Personality::full);
  EXPECT_EQ(nic.writes(), 0U);
  EXPECT_TRUE(said(message_id::trouble, "no port is written"));
}

TEST_F(PortManagerTest, ABadReloadIsShown) {
  sim_.add_nic("eth0", Personality::full);
  PortManager& manager = start(kEnforce);
  manager.note_config({{}, error(0, "a.toml:1:1: wrong")});
  EXPECT_EQ(state_of(manager.view()).config_error, "a.toml:1:1: wrong");
  EXPECT_TRUE(has(service_status(manager.view()), "the last valid one stays in use"));
  manager.set_policy(policy_of(""));
  EXPECT_EQ(state_of(manager.view()).config_error, "");
}

TEST_F(PortManagerTest, PortsWithoutAnEntryAreLeftAlone) {
  SimNic& nic = enforced(Personality::full);
  manager_->set_policy(policy_of(kEnforce, "[[port]]\nmatch = { netdev = \"eth9\" }\nmtu = 9000\n"));
  nic.mtu = 1500;
  look();
  EXPECT_EQ(nic.mtu, 1500U);
  EXPECT_EQ(service_status(manager_->view()), "enforce: 0 ports, 1 unmanaged");
  EXPECT_EQ(state_of(manager_->view()).lost_entry, manager_->table().ids());
  manager_->set_policy(policy_of(kEnforce, "[[port]]\nmatch = { netdev = \"eth8\" }\nmtu = 9000\n"));
  EXPECT_EQ(state_of(manager_->view()).lost_entry, manager_->table().ids()) << "until it has one again";
  manager_->set_policy(policy_of(kEnforce));
  EXPECT_TRUE(state_of(manager_->view()).lost_entry.empty());
}

TEST_F(PortManagerTest, CarrierUpAndRenamesAreSeen) {
  SimNic& nic = enforced(Personality::mlx5);
  rtnl::Link link = link_of(nic);
  EXPECT_FALSE(manager_->link_changed(link).carrier_up);
  link.carrier = false;
  EXPECT_FALSE(manager_->link_changed(link).carrier_up);
  link.carrier = true;
  EXPECT_TRUE(manager_->link_changed(link).carrier_up);
  link.carrier_down_count = 2;  // down and up in one message
  EXPECT_TRUE(manager_->link_changed(link).carrier_up);
  EXPECT_FALSE(manager_->link_changed(link).carrier_up);
  link.name = "ens1";
  EXPECT_TRUE(manager_->link_changed(link).rescan);
  link.ifindex = 999;
  EXPECT_FALSE(manager_->link_changed(link).rescan);
  unsigned before = nic.calls["setpfc"];
  ASSERT_TRUE(manager_->settle("roce_eth0/1").ok());
  EXPECT_EQ(nic.calls["setpfc"], before + 1);  // mlx5 computes its thresholds again
}

// The socket overflowed while the link went down and up (a thousand containers came at once): the counter of carrier
// changes shows it.
TEST_F(PortManagerTest, ACarrierThatCameBackUnheardIsSeenWithTheNextLook) {
  SimNic& nic = enforced(Personality::mlx5);
  nic.link_up();
  manager_->rescan();
  EXPECT_TRUE(manager_->links_recovered().empty());
  ++nic.carrier_downs;
  manager_->rescan();
  EXPECT_EQ(manager_->links_recovered(), std::vector<std::string>{"roce_eth0/1"});
  manager_->rescan();
  EXPECT_TRUE(manager_->links_recovered().empty());
  nic.carrier = false;
  manager_->rescan();
  EXPECT_TRUE(manager_->links_recovered().empty());
  nic.carrier = true;
  manager_->rescan();
  EXPECT_EQ(manager_->links_recovered(), std::vector<std::string>{"roce_eth0/1"});
}

// The link is down when the agent starts, and the first notification is that it is up.
TEST_F(PortManagerTest, TheFirstCarrierAfterTheStartIsSeen) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.carrier = false;
  PortManager& manager = start(kEnforce);
  const rtnl::Link up = link_of(nic);
  EXPECT_TRUE(manager.link_changed(up).carrier_up);
  EXPECT_FALSE(manager.link_changed(up).carrier_up);
}

// Without a link the speed is unknown: the port keeps the entry of its speed.
TEST_F(PortManagerTest, APortWhoseLinkGoesDownKeepsTheEntryOfItsSpeed) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  nic.speed = 400'000;
  start(kEnforce, kBySpeed);
  ASSERT_EQ(nic.mtu, 9000U);
  nic.carrier = false;
  reconcile_all();
  EXPECT_EQ(nic.mtu, 9000U);
  nic.mtu = 1500;
  reconcile_all();
  EXPECT_EQ(nic.mtu, 9000U) << "kept as before";
  nic.carrier = true;
  nic.speed = 100'000;  // another cable
  EXPECT_EQ(manager_->rescan(), std::vector<std::string>{"roce_eth0/1"}) << "another entry's now";
  look();
  EXPECT_EQ(nic.mtu, 4200U);
}

TEST_F(PortManagerTest, WhichEntryIsItsOwnIsDecidedWhenTheLinkComesUp) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  nic.speed = 400'000;
  nic.carrier = false;
  start(kEnforce, kBySpeed);
  EXPECT_EQ(nic.mtu, 1500U);
  nic.carrier = true;
  const rtnl::Link up = link_of(nic);
  EXPECT_TRUE(manager_->link_changed(up).carrier_up);
  EXPECT_EQ(manager_->rescan(), std::vector<std::string>{"roce_eth0/1"});
  look();
  EXPECT_EQ(nic.mtu, 9000U);
}

// Ports of one host at two speeds, and a cable that is changed repeatedly: there is no other writer.
TEST_F(PortManagerTest, WhatAnotherEntryWantsIsNoRepair) {
  SimNic& nic = enforced(Personality::full, "", kBySpeed);
  for (const uint32_t speed : {400'000U, 100'000U, 400'000U, 100'000U, 400'000U, 100'000U, 400'000U}) {
    nic.speed = speed;
    reconcile_all();
    EXPECT_EQ(nic.mtu, speed == 400'000 ? 9000U : 4200U);
  }
  EXPECT_EQ(setting("mtu").repairs, 0U);
  EXPECT_EQ(told(message_id::repaired), 0U);
}

// The link is down since the agent's start: the port keeps its entry, although one for a speed comes before it.
TEST_F(PortManagerTest, APortWithoutALinkIsNotLetGoOfForASpeedThatItMayHave) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  nic.carrier = false;
  start(kEnforce);
  ASSERT_EQ(nic.mtu, 4200U);
  const std::string fast = "[[port]]\nname = \"fast\"\nmatch = { speed = \"400G\" }\nmtu = 9000\n";
  reload(policy_of(kEnforce + kRestore, fast + kProfile));
  EXPECT_EQ(nic.mtu, 4200U) << "restored, although its entry still matches";
}

// An entry that a reload brings does not make a port new that has carried jobs for weeks.
TEST_F(PortManagerTest, ThePortOfANewEntryWaitsForTheMaintenanceWindow) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  hour_ = 12;
  const std::string head = kEnforce + kNight;
  start(head, "");
  reload(policy_of(head));
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  EXPECT_EQ(outcome("pfc"), "pending");
  hour_ = 2;
  reconcile_all();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
}

// An entry that a restart brings does not make the port new, either.
TEST_F(PortManagerTest, ThePortOfAnEntryThatARestartBringsWaitsForTheMaintenanceWindow) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  hour_ = 12;
  const std::string head = kEnforce + kNight;
  start(head, "");
  restart(policy_of(head));
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  EXPECT_EQ(outcome("pfc"), "pending");
  sim_.reload(nic);
  restart(policy_of(head));
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "another device is a new one";
}

// At boot udev names a netdev when the agent has seen it under the kernel's name, which no entry matches.
TEST_F(PortManagerTest, APortThatIsNamedAfterTheStartDoesNotWaitForTheMaintenanceWindow) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  start_for_names("ens*");
  ASSERT_EQ(nic.pfc.pfc_en, 0);
  nic.name = "ens1f0np0";
  reconcile_all();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
  nic.pfc.pfc_en = 0;
  nic.name = "ens1f1np0";
  reconcile_all();
  EXPECT_EQ(nic.pfc.pfc_en, 0) << "renamed, and kept all the while";
}

// By hand, when it has carried jobs for hours (kernels since 6.2 rename a netdev that is up).
TEST_F(PortManagerTest, APortThatIsRenamedLaterWaitsForTheMaintenanceWindow) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  start_for_names("gpu*");
  now_ += std::chrono::hours(3);
  reconcile_all();
  nic.name = "gpu0";
  reconcile_all();
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  EXPECT_EQ(outcome("pfc", "mlx5_0/1"), "pending");
  hour_ = 2;
  reconcile_all();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
}

// `rdma dev set mlx5_0 name rocep36s0`, by hand or by udev: the netdev, and with it the device, is the same.
TEST_F(PortManagerTest, APortWhoseRdmaDeviceIsRenamedIsNoNewOne) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  rdma_ = "mlx5_0";
  hour_ = 12;
  start(kEnforce + kNight);
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  nic.pfc.pfc_en = 0;
  rdma_ = "rocep36s0";
  EXPECT_EQ(manager_->rescan(), std::vector<std::string>{"rocep36s0/1"}) << "checked at once";
  look("rocep36s0/1");
  EXPECT_EQ(nic.pfc.pfc_en, 0) << "the maintenance window is closed";
  EXPECT_EQ(outcome("pfc", "rocep36s0/1"), "pending");
  EXPECT_EQ(manager_->table().ids(), std::vector<std::string>{"rocep36s0/1"});
  // Renamed while no agent runs.
  rdma_ = "roce_gpu0";
  restart(policy_of(kEnforce + kNight));
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  hour_ = 2;
  look("roce_gpu0/1");
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
}

TEST_F(PortManagerTest, PortsThatExchangeTheirNamesAreNotNew) {
  SimNic& first = sim_.add_nic("eth0", Personality::mlx5);
  SimNic& second = sim_.add_nic("eth1", Personality::mlx5);
  hour_ = 12;
  start(kEnforce + kNight);
  for (const bool runs : {true, false}) {
    SCOPED_TRACE(runs ? "while the agent runs" : "while no agent runs");
    ASSERT_EQ(first.pfc.pfc_en & second.pfc.pfc_en, 1 << 3);
    first.pfc.pfc_en = second.pfc.pfc_en = 0;
    std::swap(first.name, second.name);
    if (runs) reconcile_all();
    else restart(policy_of(kEnforce + kNight));
    EXPECT_EQ(first.pfc.pfc_en | second.pfc.pfc_en, 0) << "the maintenance window is closed";
    hour_ = 2;
    reconcile_all();
    EXPECT_EQ(first.pfc.pfc_en & second.pfc.pfc_en, 1 << 3);
    hour_ = 12;
  }
}

// The scan has found the renamed port, and could not list the other one (EMFILE, NLM_F_DUMP_INTR).
TEST_F(PortManagerTest, APortThatAnIncompleteScanFindsRenamedIsNoNewOne) {
  SimNic& first = sim_.add_nic("eth0", Personality::mlx5);
  SimNic& second = sim_.add_nic("eth1", Personality::mlx5);
  std::map<int, std::string> names{{first.ifindex, "mlx5_0"}, {second.ifindex, "mlx5_1"}};
  int hidden = 0;
  const auto found_ports = [&](const Policy&) {
    std::vector<Port> found = ports();
    for (Port& port : found) port.rdma = names[port.ifindex];
    std::erase_if(found, [&](const Port& port) { return port.ifindex == hidden; });
    return FoundPorts(std::move(found), hidden == 0 ? "" : "ports: Too many open files (EMFILE)");
  };
  kernel_.emplace(sim_.kernel(tree_.path()));
  Environment environment = this->environment();
  environment.scan = found_ports;
  manager_.emplace(environment, policy_of(kEnforce + kNight));
  reconcile_all();
  ASSERT_EQ(first.pfc.pfc_en & second.pfc.pfc_en, 1 << 3);
  hour_ = 12;
  first.pfc.pfc_en = second.pfc.pfc_en = 0;
  const std::vector<std::string> ids{"mlx5_1/1", "rocep36s0/1"};
  names[first.ifindex] = "rocep36s0";
  hidden = second.ifindex;
  EXPECT_EQ(manager_->rescan(), std::vector<std::string>{"rocep36s0/1"}) << "checked at once";
  EXPECT_EQ(manager_->table().ids(), ids);
  reconcile_all();
  EXPECT_EQ(first.pfc.pfc_en | second.pfc.pfc_en, 0) << "the maintenance window is closed";
  EXPECT_EQ(outcome("pfc", "rocep36s0/1"), "pending");
  // They exchange their names, and the scan finds one of them.
  std::swap(names[first.ifindex], names[second.ifindex]);
  for (const int lacks : {second.ifindex, 0}) {
    hidden = lacks;
    reconcile_all();
    EXPECT_EQ(manager_->table().ids(), ids);
    EXPECT_EQ(first.pfc.pfc_en | second.pfc.pfc_en, 0) << "the maintenance window is closed";
  }
  EXPECT_EQ(manager_->table().entries().at("mlx5_1/1").port.ifindex, first.ifindex);
  hour_ = 2;
  reconcile_all();
  EXPECT_EQ(first.pfc.pfc_en & second.pfc.pfc_en, 1 << 3);
}

// Its name could not be read, or it was in a container.
TEST_F(PortManagerTest, APortWhoseNetdevIsFoundAgainIsNoNewDevice) {
  SimNic& nic = enforced(Personality::mlx5);
  bool is_missing = false;
  Environment environment = this->environment();
  environment.scan = [&](const Policy&) {
    std::vector<Port> found = ports();
    if (is_missing) found.front().netdev.clear();
    if (is_missing) found.front().ifindex = 0;
    return FoundPorts(std::move(found));
  };
  manager_.emplace(environment, policy_of(kEnforce + kNight));
  reconcile_all();
  hour_ = 12;
  for (const bool is_reloaded : {false, true}) {
    nic.pfc.pfc_en = 0;
    is_missing = true;
    reconcile_all();
    if (is_reloaded) sim_.reload(nic);
    is_missing = false;
    reconcile_all();
    EXPECT_EQ(nic.pfc.pfc_en, is_reloaded ? 1 << 3 : 0);
  }
}

TEST_F(PortManagerTest, AReleasedPortWhoseRdmaDeviceIsRenamedIsRestored) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  rdma_ = "mlx5_0";
  start(kEnforce + kRestore);
  ASSERT_EQ(nic.mtu, 4200U);
  busy_ = "eth0";
  reload(policy_of(kEnforce + kRestore, ""));
  ASSERT_EQ(nic.mtu, 4200U) << "a job runs";
  rdma_ = "rocep36s0";
  busy_.clear();
  reconcile_all();
  EXPECT_EQ(nic.mtu, 1500U);
}

// Down since the agent's start, and let go of by the reload, as its link shows when it has one.
TEST_F(PortManagerTest, APortWhoseLinkShowsThatNoEntryIsItsOwnIsLetGoOf) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  nic.carrier = false;
  nic.speed = 100'000;
  start(kEnforce);
  ASSERT_EQ(nic.mtu, 4200U);
  reload(policy_of(kEnforce + kRestore, "[[port]]\nmatch = { speed = \"400G\" }\nmtu = 9000\n"));
  EXPECT_EQ(nic.mtu, 4200U);
  nic.carrier = true;
  reconcile_all();
  EXPECT_EQ(nic.mtu, 1500U);
}

// ice shows the FEC of the link, and "off" without one: who set a mode that ends the link is not in order.
TEST_F(PortManagerTest, FecOfALinkThatIsDownIsWrittenOnceWhateverIsWanted) {
  for (const auto& [word, wanted, other] :
       {std::tuple("rs", ETHTOOL_FEC_RS, ETHTOOL_FEC_BASER), std::tuple("off", ETHTOOL_FEC_OFF, ETHTOOL_FEC_RS)}) {
    SimNic& nic = sim_.add_nic(word, Personality::ice);
    nic.ethtool.fec = wanted;
    nic.ethtool.fec_abilities = ETHTOOL_FEC_AUTO | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER;
    start(kEnforce, std::string("[[port]]\nfec = \"") + word + "\"\n");
    const std::string id = "roce_" + nic.name + "/1";
    ASSERT_EQ(outcome("fec", id), "in_sync");
    nic.ethtool.fec = other;
    nic.carrier = false;
    for (int i = 0; i < 3; ++i) reconcile_all();
    EXPECT_EQ(nic.ethtool.fec, wanted);
    EXPECT_EQ(nic.writes(), 1U) << "and waits for the link";
    nic.carrier = true;
    reconcile_all();
    EXPECT_EQ(outcome("fec", id), "in_sync");
    EXPECT_EQ(nic.writes(), 1U);
    nic.present = false;
  }
}

TEST_F(PortManagerTest, FecThatNoLinkHasShownIsWrittenAndIsNoOriginal) {
  SimNic& nic = sim_.add_nic("eth0", Personality::ice);
  nic.ethtool.fec = ETHTOOL_FEC_BASER;  // the far end has RS: no link for it
  nic.ethtool.fec_abilities = ETHTOOL_FEC_OFF | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER;
  nic.carrier = false;
  start(kEnforce, "[[port]]\nfec = \"rs\"\nmtu = 4200\n");
  EXPECT_EQ(nic.ethtool.fec, ETHTOOL_FEC_RS);
  EXPECT_EQ(setting("fec").detail, "accepted; the mode in use is known once the link is up");
  nic.carrier = true;
  reconcile_all();
  EXPECT_EQ(outcome("fec"), "in_sync");
  const auto originals = state::load_originals(tree_.path());
  ASSERT_TRUE(originals.ok() && originals->size() == 1);
  EXPECT_EQ(originals->begin()->second.fec, std::nullopt) << "\"off\" was nobody's wish, and would end the link";
  EXPECT_EQ(originals->begin()->second.mtu, 1500U);
}

// After the write the link shows our own mode, which a later write must not save as the original.
TEST_F(PortManagerTest, FecThatWasWrittenWithoutALinkNeverHasAnOriginal) {
  SimNic& nic = sim_.add_nic("eth0", Personality::ice);
  nic.ethtool.fec = ETHTOOL_FEC_BASER;
  nic.ethtool.fec_abilities = ETHTOOL_FEC_OFF | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER;
  nic.carrier = false;
  start(kEnforce, "[[port]]\nfec = \"rs\"\nmtu = 4200\n");
  nic.carrier = true;
  restart(policy_of(kEnforce, "[[port]]\nfec = \"rs\"\nmtu = 9000\n"));  // an agent that knows of no first pass
  ASSERT_EQ(nic.mtu, 9000U);
  auto originals = state::load_originals(tree_.path());
  ASSERT_TRUE(originals.ok() && originals->size() == 1);
  const state::Original& saved = originals->begin()->second;
  EXPECT_EQ(saved.fec, std::nullopt) << to_text(saved.fec.value_or(Fec{}));
  EXPECT_TRUE(has_key(saved.unknown, SettingId::fec));
  EXPECT_EQ(saved.mtu, 1500U);
  Port port = ports().at(0);
  for (const bool is_plan : {true, false}) {
    const Changes changes = is_plan ? qos::plan_restore(*kernel_, port, *originals, kFree)
                                    : test::restore(*kernel_, port, {}, *originals, kFree);
    const auto fec = std::ranges::find(changes, SettingId::fec, &Change::setting);
    ASSERT_NE(fec, changes.end());
    EXPECT_EQ(fec->outcome, Outcome::unsupported);
    EXPECT_TRUE(has(fec->detail, "unknown")) << fec->detail;
  }
  EXPECT_EQ(nic.mtu, 1500U);
  EXPECT_EQ(nic.ethtool.fec, ETHTOOL_FEC_RS) << "the original is unknown";
  EXPECT_TRUE(originals->empty());
}

TEST_F(PortManagerTest, TheMaintenanceWindowHoldsDisruptiveWritesOfPortsThatWereThere) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  hour_ = 12;
  start(kEnforce);
  manager_->set_policy(policy_of(kEnforce + kNight));
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "without a window";
  nic.pfc.pfc_en = 0;
  look();
  EXPECT_EQ(outcome("pfc"), "pending");
  EXPECT_TRUE(has(setting("pfc").detail, "maintenance window"));
  EXPECT_FALSE(manager_->waits_for_idle("roce_eth0/1")) << "asking for idleness is no use yet";
  EXPECT_EQ(manager_->until_window(), std::chrono::minutes(60));
  hour_ = 1;
  EXPECT_EQ(manager_->until_window(), std::chrono::minutes(60));
  hour_ = 2;
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
  EXPECT_EQ(manager_->until_window(), std::nullopt);
  // A device that appears (boot, driver reload) is put in order at once.
  hour_ = 12;
  sim_.reload(nic);
  nic.pfc.pfc_en = 0;
  manager_->rescan();
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
  nic.pfc.pfc_en = 0;
  look();
  EXPECT_EQ(nic.pfc.pfc_en, 0) << "only its first pass";
}

TEST_F(PortManagerTest, ARestartedAgentDoesNotTakeItsPortsForNewOnes) {
  SimNic& nic = enforced(Personality::mlx5);
  nic.mtu = 1500;
  look();
  ASSERT_EQ(setting("mtu").drifts.count("unnotified"), 1U);
  nic.pfc.pfc_en = 0;
  hour_ = 12;
  restart(policy_of(kEnforce + kNight));
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  EXPECT_EQ(setting("mtu").drifts["unnotified"], 1U) << "what is known goes on";
}

// After a downgrade, or with a damaged file: an agent of this boot has had the ports, whichever they were.
TEST_F(PortManagerTest, APublishedStateThatCannotBeReadMakesNoPortANewOne) {
  for (const char* text : {R"({"format":2,"cards":[]})", "[[["}) {
    SCOPED_TRACE(text);
    SimNic& nic = enforced(Personality::mlx5);
    ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
    nic.pfc.pfc_en = 0;
    hour_ = 12;
    tree_.file(state::kStateFile, text);
    restart(policy_of(kEnforce + kNight));
    EXPECT_EQ(nic.pfc.pfc_en, 0) << "the maintenance window is closed";
    EXPECT_EQ(outcome("pfc"), "pending");
    sim_.reload(nic);
    reconcile_all();
    EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "a device that appears later is new";
    sim_.nics().clear();
  }
}

// fabric-agentd restarts itself where OFED's driver was loaded again (kernel/host/sandbox.h).
TEST_F(PortManagerTest, ADeviceFromWhileNoAgentRanIsANewOne) {
  SimNic& nic = enforced(Personality::mlx5);
  sim_.reload(nic);
  nic.pfc.pfc_en = 0;
  hour_ = 12;
  restart(policy_of(kEnforce + kNight));
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "its first pass does not wait for the maintenance window";
}

TEST_F(PortManagerTest, ADriftWhileTheFirmwareRunsDcbxIsProbablyItsOwn) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  nic.dcbx = DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE;
  nic.pfc.pfc_en = 1 << 3;
  start("mode = \"audit\"\n", "[[port]]\npfc = [3]\n");
  ASSERT_NE(outcome("pfc"), "differs");
  nic.pfc.pfc_en = 0;
  look();
  EXPECT_EQ(setting("pfc").drifts["firmware"], 1U) << setting("pfc").drift_by;
}

TEST_F(PortManagerTest, DriftIsRecordedWithItsLikelyCause) {
  tree_.file("proc/net/netlink", "sk Eth Pid Groups\n0 0 77 0\n").file("proc/77/comm", "mlnx_qos\n");
  tree_.file("proc/77/status", "CapEff:\t0000000000001000\n");
  tree_.file("proc/77/cmdline", std::string("mlnx_qos\0-i\0eth0\0--pfc\0", 23));
  SimNic& nic = enforced(Personality::mlx5);
  EXPECT_TRUE(setting("ets").drifts.empty()) << "the first write is not a drift";
  manager_->on_notification("roce_eth0/1", NotificationKind::dcb);
  nic.pfc.pfc_en = 0;
  nic.mtu = 1500;
  look();
  SettingState pfc = setting("pfc");
  EXPECT_EQ(pfc.drifts["process"], 1U);
  EXPECT_EQ(pfc.drift_by, "mlnx_qos (pid 77)");
  EXPECT_EQ(pfc.drift_from, "3");
  EXPECT_EQ(pfc.drift_to, "none");
  EXPECT_FALSE(pfc.last_drift.empty());
  EXPECT_EQ(setting("mtu").drifts["unnotified"], 1U) << "a DCB notification is none of an MTU";
  manager_->on_notification("roce_eth0/1", NotificationKind::link);
  nic.mtu = 1500;
  look();
  EXPECT_EQ(setting("mtu").drift_by, "an unknown writer") << "mlnx_qos runs, has a route socket, and cannot change it";
  const JournalEntry& entry = first_repair();
  EXPECT_NE(field(entry, "FABRIC_CAUSE"), "(absent)");
  sim_.reload(nic);  // forgets ETS
  manager_->rescan();
  look();
  EXPECT_EQ(setting("ets").drifts["driver"], 1U);
  EXPECT_EQ(setting("ets").repairs, 0U);
  EXPECT_EQ(setting("pfc").drifts["process"], 1U);
}

TEST_F(PortManagerTest, InAuditDriftIsToldOnceToo) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  start("mode = \"audit\"\n", "[[port]]\nmtu = 1500\n");
  nic.mtu = 1400;
  look();
  look();
  EXPECT_EQ(setting("mtu").drifts["unnotified"], 1U);
  EXPECT_EQ(nic.mtu, 1400U);
}

TEST_F(PortManagerTest, LettingGoOfAPortLeavesOrRestoresAsThePolicySays) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  const uint32_t original = nic.mtu;
  start(kEnforce);
  ASSERT_EQ(nic.mtu, 4200U);
  reload(policy_of(kEnforce, ""));
  EXPECT_EQ(nic.mtu, 4200U) << "left as it is";
  reload(policy_of(kEnforce));
  busy_ = "eth0";
  reload(policy_of(kEnforce + kRestore, ""));
  busy_.clear();
  reconcile_all();
  EXPECT_EQ(nic.mtu, original);
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  const unsigned writes = nic.writes();
  reconcile_all();
  EXPECT_EQ(nic.writes(), writes);
  EXPECT_GE(told(message_id::port), 4U) << "found, let go, let go, released";
}

TEST_F(PortManagerTest, APortThatIsLetGoOfIsNotPutBackWhenThePolicyHasTurnedAway) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  for (const std::string& head : {"mode = \"audit\"\n" + kRestore, kEnforce}) {
    start(kEnforce);
    busy_ = "eth0";
    reload(policy_of(kEnforce + kRestore, ""));
    ASSERT_EQ(nic.mtu, 4200U) << "in use";
    manager_->set_policy(policy_of(head, ""));
    busy_.clear();
    const unsigned writes = nic.writes();
    reconcile_all();
    EXPECT_EQ(nic.writes(), writes) << head;
    EXPECT_EQ(nic.mtu, 4200U) << head;
  }
}

// Putting back flaps a link as setting does.
TEST_F(PortManagerTest, WhatIsReleasedWaitsForTheMaintenanceWindow) {
  SimNic& nic = enforced(Personality::mlx5);
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  hour_ = 12;
  reload(policy_of(kEnforce + kRestore + kNight, ""));
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3);
  EXPECT_EQ(outcome("pfc"), "pending");
  EXPECT_FALSE(manager_->waits_for_idle("roce_eth0/1"));
  EXPECT_EQ(manager_->until_window(), std::chrono::minutes(60));
  const size_t lines = told(message_id::port);
  reconcile_all();
  EXPECT_EQ(told(message_id::port), lines) << "logged once";
  hour_ = 2;
  reconcile_all();
  EXPECT_EQ(nic.pfc.pfc_en, 0);
}

// mlx5 keeps PFC over a reload of its driver or firmware; the netdev is another one then, or is away for a while.
TEST_F(PortManagerTest, WhatIsReleasedIsNotForgottenWithTheNetdev) {
  for (const bool away : {false, true}) {
    SimNic& nic = sim_.add_nic(away ? "eth1" : "eth0", Personality::mlx5);
    hour_ = 3;
    start(kEnforce);
    ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
    hour_ = 12;
    reload(policy_of(kEnforce + kRestore + kNight, ""));
    ASSERT_EQ(outcome("pfc", "roce_" + nic.name + "/1"), "pending");
    nic.present = !away;
    reconcile_all();
    nic.present = true;
    nic.ifindex += 100;
    reconcile_all();
    EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "not yet";
    hour_ = 2;
    reconcile_all();
    EXPECT_EQ(nic.pfc.pfc_en, 0) << away;
  }
}

// mlx5 computes the thresholds of lossless buffers when PFC is set, from the speed of a link that the write takes down.
TEST_F(PortManagerTest, WhatIsRestoredIsSettledWhenTheLinkIsUp) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.pfc.pfc_en = 1 << 4;
  start(kEnforce);
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  nic.link_up();
  reload(policy_of(kEnforce + kRestore, ""));
  reconcile_all();
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 4);
  nic.link_up();
  const unsigned before = nic.calls["setpfc"];
  EXPECT_TRUE(manager_->settle(kId).ok());
  EXPECT_EQ(nic.calls["setpfc"], before + 1) << "the same bits again";
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 4);
  EXPECT_TRUE(manager_->settle(kId).ok());
  EXPECT_EQ(nic.calls["setpfc"], before + 1) << "once: the port is not ours any more";
}

// The firmware is busy when the thresholds are to be computed: RoCE would have those of 40 Gb/s until the link fails.
TEST_F(PortManagerTest, APortThatCouldNotBeSettledIsSettledSoon) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  start(kEnforce);
  nic.link_up();
  EXPECT_EQ(manager_->settle_after(kId), std::nullopt);
  const size_t errors = told(message_id::trouble);
  nic.faults["setpfc"] = {test::Fault::refuse, EBUSY, -1};
  EXPECT_FALSE(manager_->settle(kId).ok());
  EXPECT_EQ(manager_->settle_after(kId), std::chrono::milliseconds(1'000));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(manager_->settle(kId).ok());
  EXPECT_EQ(manager_->settle_after(kId), std::chrono::milliseconds(60'000));
  EXPECT_EQ(told(message_id::trouble), errors + 1);
  nic.faults.clear();
  EXPECT_TRUE(manager_->settle(kId).ok());
  EXPECT_EQ(manager_->settle_after(kId), std::nullopt);
  // The same in a pass whose writes leave the link up.
  nic.after_change = [&](const std::string& op) {
    nic.link_up();
    if (op == "setpfc") nic.faults["setpfc"] = {test::Fault::refuse, EBUSY, 1};
  };
  nic.pfc.pfc_en = 0;
  look();
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  EXPECT_EQ(outcome("pfc"), "refused");
  EXPECT_EQ(manager_->settle_after(kId), std::chrono::milliseconds(1'000));
  nic.after_change = [](const auto&) {};
  nic.faults.clear();
  EXPECT_TRUE(manager_->settle(kId).ok());
  EXPECT_EQ(manager_->settle_after(kId), std::nullopt);
}

// An agent that ends between the write and the carrier: the next one settles the port, once, and only then.
TEST_F(PortManagerTest, APortThatAwaitsItsLinkIsSettledByTheNextAgent) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  start(kEnforce);
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  ASSERT_FALSE(nic.carrier);
  const auto with_link = [this] { return manager_->links_recovered(); };
  restart(policy_of(kEnforce));
  EXPECT_TRUE(with_link().empty()) << "the link is down: its return will be announced";
  nic.link_up();
  restart(policy_of(kEnforce));
  const unsigned before = nic.calls["setpfc"];
  EXPECT_EQ(with_link(), std::vector<std::string>{kId});
  EXPECT_TRUE(with_link().empty()) << "once";
  EXPECT_TRUE(manager_->settle(kId).ok());
  EXPECT_EQ(nic.calls["setpfc"], before + 1) << "the same bits again";
  restart(policy_of(kEnforce));
  EXPECT_TRUE(with_link().empty()) << "it is settled";
  EXPECT_EQ(nic.calls["setpfc"], before + 1);
}

TEST_F(PortManagerTest, APortThatIsRenamedWhileItAwaitsItsLinkIsSettledByTheNextAgent) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  rdma_ = "mlx5_0";
  start(kEnforce);
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  ASSERT_FALSE(nic.carrier);
  nic.link_up();
  rdma_ = "rocep36s0";
  for (const bool is_settled : {false, true}) {
    restart(policy_of(kEnforce));
    const auto with_link = manager_->links_recovered();
    EXPECT_EQ(with_link, is_settled ? std::vector<std::string>{} : std::vector<std::string>{"rocep36s0/1"});
    for (const std::string& id : with_link) EXPECT_TRUE(manager_->settle(id).ok());
  }
}

// A write that leaves PFC and the link alone leaves nothing to settle; nor does another device of the same name.
TEST_F(PortManagerTest, OnlyAPortThatMayBeUnsettledIsRecorded) {
  SimNic& nic = enforced(Personality::mlx5);
  nic.link_up();
  ASSERT_TRUE(manager_->settle(kId).ok());
  nic.ets.prio_tc[3] = 0;
  look();
  ASSERT_EQ(nic.ets.prio_tc[3], 1);
  restart(policy_of(kEnforce));
  EXPECT_TRUE(manager_->links_recovered().empty());
  nic.pfc.pfc_en = 0;
  look();
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  sim_.reload(nic);
  nic.pfc.pfc_en = 1 << 3;
  nic.link_up();
  manager_.emplace(environment(), policy_of(kEnforce));
  manager_->rescan();
  EXPECT_TRUE(manager_->links_recovered().empty()) << "another device";
}

TEST_F(PortManagerTest, WhatIsReleasedIsNotForgottenWithTheAgent) {
  SimNic& nic = enforced(Personality::mlx5);
  hour_ = 12;
  const Policy none = policy_of(kEnforce + kRestore + kNight, "");
  reload(none);
  ASSERT_EQ(outcome("pfc"), "pending");
  restart(none);
  EXPECT_EQ(nic.pfc.pfc_en, 1 << 3) << "not yet";
  EXPECT_EQ(outcome("pfc"), "pending");
  hour_ = 2;
  reconcile_all();
  EXPECT_EQ(nic.pfc.pfc_en, 0);
  const unsigned writes = nic.writes();
  restart(none);
  EXPECT_EQ(nic.writes(), writes);
}

// The netdev is in a container when the agent starts again.
TEST_F(PortManagerTest, APortWhoseNetdevIsAwayIsNotLetGoOf) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  const std::string head = kEnforce + kRestore + kNight;
  start(head);
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 3);
  nic.pfc.pfc_en = 0;
  hour_ = 12;
  reconcile_all();
  ASSERT_EQ(outcome("pfc"), "pending");
  Environment environment = this->environment();
  environment.scan = [this](const Policy&) {
    std::vector<Port> found = ports();
    found.front().netdev.clear();
    found.front().ifindex = 0;
    return found;
  };
  told_.clear();
  manager_.emplace(environment, policy_of(head));
  reconcile_all();
  for (const JournalEntry& entry : told_) EXPECT_FALSE(has(entry.message, "no [[port]] entry"));
}

// Ports that cannot be listed for a moment keep their records, and are not found again.
TEST_F(PortManagerTest, APortThatCannotBeListedIsKept) {
  enforced(Personality::mlx5);
  Environment environment = this->environment();
  std::string unread;
  environment.scan = [&](const Policy&) { return unread.empty() ? FoundPorts(ports()) : FoundPorts({}, unread); };
  manager_.emplace(environment, policy_of(kEnforce));
  reconcile_all();
  told_.clear();
  unread = "/sys/class/infiniband: Input/output error (EIO)";
  EXPECT_TRUE(manager_->rescan().empty());
  EXPECT_EQ(manager_->table().ids(), std::vector<std::string>{kId});
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(has(told_.front().message, "EIO")) << told_.front().message;
  unread.clear();
  EXPECT_TRUE(manager_->rescan().empty());
  EXPECT_EQ(told_.size(), 1U);
}

TEST_F(PortManagerTest, AFightOverAHostSettingEndsInAConflictToo) {
  constexpr const char* kFile = "proc/sys/net/ipv4/tcp_ecn";
  tree_.file(kFile, "2\n");
  start(kEnforce + "conflict = { rounds = 2 }\n[sysctl]\n\"net.ipv4.tcp_ecn\" = 1\n");
  const auto look_at_host = [this] {
    EXPECT_TRUE(manager_->reconcile_host(now_).ok());
    manager_->publish();
  };
  look_at_host();
  EXPECT_EQ(tree_.content(kFile), "1");
  for (int i = 0; i < 2; ++i) {
    tree_.file(kFile, "2\n");
    look_at_host();
    EXPECT_EQ(tree_.content(kFile), "1");
  }
  EXPECT_EQ(told(message_id::conflict), 1U);
  tree_.file(kFile, "2\n");
  look_at_host();
  EXPECT_EQ(tree_.content(kFile), "2\n") << "no longer written, as was said";
  EXPECT_EQ(outcome("net.ipv4.tcp_ecn", kHostSubject), "conflict");
  EXPECT_EQ(exit_code(manager_->view()), 2);
  for (auto quiet = kConflictReread; quiet <= seconds(60); quiet += kConflictReread) {
    now_ += kConflictReread;
    look_at_host();
  }
  EXPECT_EQ(tree_.content(kFile), "1") << "written within a minute after the last foreign write";
  EXPECT_EQ(outcome("net.ipv4.tcp_ecn", kHostSubject), "in_sync");
}

TEST_F(PortManagerTest, WhatCannotBeReadIsSaidAndNotTakenForReleased) {
  SimNic& nic = sim_.add_nic("eth0", Personality::full);
  const uint32_t original = nic.mtu;
  start(kEnforce);
  const std::string saved = tree_.content(state::kOriginalsFile);
  tree_.file(state::kOriginalsFile, "[[[");
  reload(policy_of(kEnforce + kRestore, ""));
  reconcile_all();
  EXPECT_EQ(told(message_id::trouble), 1U) << "once";
  EXPECT_EQ(tree_.content(state::kOriginalsFile), "[[[");
  tree_.file(state::kOriginalsFile, saved);
  reconcile_all();
  EXPECT_EQ(nic.mtu, original);
}

// The state after `fabric-agentctl apply --confirm`: the record, and the port as applied.
class Unconfirmed : public PortManagerTest {
 protected:
  void SetUp() override {
    tree_.file("proc/sys/kernel/random/boot_id", "this-boot\n");
    nic_ = &sim_.add_nic("eth0", Personality::full);
    nic_->mtu = 2000;
    start(kEnforce);
    ASSERT_EQ(nic_->mtu, 4200U);
    record_ = confirm::begin(confirm::this_moment(kernel_->root), std::chrono::seconds(3'600), manager_->policy(),
                             confirm::digest(wanted_config(manager_->policy())));
    Qos before{.mtu = 2000};
    confirm::remember(record_, ports().at(0), before, Keys().set());
    save();
  }
  void save() { ASSERT_TRUE(confirm::save(tree_.path(), record_).ok()); }
  SimNic* nic_ = nullptr;
  confirm::Record record_;
};

TEST_F(Unconfirmed, WhileItIsAwaitedNothingIsEnforced) {
  EXPECT_TRUE(manager_->watch_confirm().again);
  nic_->mtu = 1600;
  look();
  EXPECT_EQ(nic_->mtu, 1600U);
  EXPECT_EQ(outcome("mtu"), "pending");
  EXPECT_EQ(setting("mtu").reason, "confirmation");
  EXPECT_TRUE(setting("mtu").drifts.empty()) << "the apply has set it";
  EXPECT_TRUE(has(state_of(manager_->view()).held, "awaits confirmation"));
  EXPECT_FALSE(manager_->waits_for_idle("roce_eth0/1"));
  ASSERT_TRUE(confirm::remove(tree_.path()).ok());  // fabric-agentctl confirm
  look();
  EXPECT_EQ(nic_->mtu, 1600U) << "not before the configuration is read again";
  EXPECT_TRUE(manager_->watch_confirm().confirmed);
  EXPECT_FALSE(manager_->watch_confirm().confirmed) << "once";
  look();
  EXPECT_EQ(nic_->mtu, 4200U);
}

// The record may be unreadable for a moment (EIO, EINTR). Meanwhile an apply may await confirmation.
TEST_F(Unconfirmed, WhileTheRecordCannotBeReadNothingIsEnforced) {
  const auto make_unreadable = [this] { tree_.remove(confirm::kFile).folder(confirm::kFile); };
  const auto held = [this] { return state_of(manager_->view()).held; };
  ASSERT_TRUE(manager_->watch_confirm().again);
  make_unreadable();
  ASSERT_FALSE(confirm::load(tree_.path()).ok());
  nic_->mtu = 1600;
  look();
  EXPECT_EQ(nic_->mtu, 1600U);
  EXPECT_EQ(setting("mtu").reason, "confirmation");
  EXPECT_TRUE(has(held(), "an apply may await confirmation")) << held();
  EXPECT_TRUE(said(message_id::trouble, "nothing is enforced until"));
  EXPECT_TRUE(manager_->must_watch_confirm());
  EXPECT_TRUE(manager_->watch_confirm().again) << "repeated soon";
  tree_.remove(confirm::kFile);
  save();
  look();  // a pass of one port finds the record readable: the others are checked by watch_confirm()
  EXPECT_TRUE(manager_->watch_confirm().changed);
  EXPECT_FALSE(manager_->must_watch_confirm());
  EXPECT_TRUE(has(held(), "awaits confirmation until")) << held();
  EXPECT_EQ(nic_->mtu, 1600U);
  // Confirmed, while it cannot be read.
  make_unreadable();
  EXPECT_FALSE(manager_->watch_confirm().confirmed);
  tree_.remove(confirm::kFile);
  EXPECT_TRUE(manager_->watch_confirm().confirmed);
  look();
  EXPECT_EQ(nic_->mtu, 4200U);
}

// After a downgrade: an apply may await confirmation, and the file has the previous settings.
TEST_F(Unconfirmed, WithARecordOfANewerReleaseNothingIsWritten) {
  const std::string newer = R"({"format":2,"trials":[]})";
  tree_.file(confirm::kFile, newer);
  state::Originals tested;
  tested[state::port_key(ports().at(0))].mtu = 1500;
  ASSERT_TRUE(state::save_originals(tree_.path(), tested, state::kSelfTestFile).ok());
  nic_->mtu = 1600;
  const unsigned writes = nic_->writes();
  for (const bool restarted : {false, true}) {
    if (restarted) start(kEnforce);
    manager_->watch_confirm();
    look();
    EXPECT_EQ(nic_->writes(), writes);
    EXPECT_EQ(nic_->mtu, 1600U);
    EXPECT_EQ(setting("mtu").reason, "confirmation");
    EXPECT_TRUE(has(state_of(manager_->view()).held, "newer release")) << state_of(manager_->view()).held;
    EXPECT_TRUE(said(message_id::trouble, "Install that release again, or move the file away"));
    EXPECT_EQ(tree_.content(confirm::kFile), newer);
  }
  reload(policy_of(kEnforce));
  EXPECT_EQ(nic_->writes(), writes) << "nor is it removed by a reload";
  EXPECT_EQ(tree_.content(confirm::kFile), newer);
  tree_.remove(state::kSelfTestFile).remove(confirm::kFile);  // a person gives it up
  EXPECT_TRUE(manager_->watch_confirm().changed);
  look();
  EXPECT_EQ(nic_->mtu, 4200U) << outcome("mtu") << " " << setting("mtu").detail;
}

TEST_F(Unconfirmed, AReloadThatCannotEndTheRevertedApplySaysSoAndTriesAgain) {
  record_.deadline = 0;
  save();
  manager_->watch_confirm();
  ASSERT_EQ(nic_->mtu, 2000U);
  auto lock = state::take_lock(tree_.path());
  ASSERT_TRUE(lock.ok());
  manager_->set_policy(policy_of(kEnforce));  // a reload
  EXPECT_TRUE(said(message_id::trouble, "until the record of the reverted apply is removed"));
  EXPECT_TRUE(manager_->must_watch_confirm());
  EXPECT_TRUE(manager_->watch_confirm().again);
  EXPECT_TRUE(has(service_status(manager_->view()), "not confirmed"));
  lock->reset();
  EXPECT_TRUE(manager_->watch_confirm().changed);
  EXPECT_FALSE(manager_->must_watch_confirm());
  look();
  EXPECT_EQ(nic_->mtu, 4200U);
  EXPECT_EQ(state_of(manager_->view()).held, "");
}

// The retry ends the apply of the reload, and no later one.
TEST_F(Unconfirmed, AReloadEndsNoApplyThatCameAfterIt) {
  record_.deadline = 0;
  save();
  manager_->watch_confirm();
  auto lock = state::take_lock(tree_.path());
  manager_->set_policy(policy_of(kEnforce));
  record_.id = "another";
  record_.reverted.clear();
  record_.deadline = confirm::this_moment(kernel_->root).milliseconds + 3'600'000;
  save();
  lock->reset();
  EXPECT_TRUE(manager_->watch_confirm().again);
  const auto record = confirm::load(tree_.path());
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->id, "another");
  EXPECT_TRUE(has(state_of(manager_->view()).held, "awaits confirmation"));
}

TEST_F(Unconfirmed, OverdueItIsPutBackAndNotEnforcedUntilAReload) {
  record_.deadline = 0;
  save();
  EXPECT_TRUE(manager_->watch_confirm().changed);
  EXPECT_EQ(nic_->mtu, 2000U);
  EXPECT_EQ(told(message_id::reverted), 1U);
  look();
  EXPECT_EQ(nic_->mtu, 2000U);
  EXPECT_TRUE(has(service_status(manager_->view()), "not confirmed"));
  restart(policy_of(kEnforce));  // a restart
  EXPECT_EQ(nic_->mtu, 2000U);
  manager_->set_policy(policy_of(kEnforce));  // a reload
  look();
  EXPECT_EQ(nic_->mtu, 4200U);
  EXPECT_EQ(state_of(manager_->view()).held, "");
}

// The guard has ended it, and a pass of one port was the first to see that.
TEST_F(Unconfirmed, ItsEndIsACheckOfEveryPortWhoeverSeesItFirst) {
  record_.policy = "another";
  save();
  manager_->watch_confirm();
  record_.before.clear();
  record_.reverted = "2026-01-01T00:00:00Z";
  save();
  look();
  EXPECT_EQ(state_of(manager_->view()).held, "");
  EXPECT_TRUE(manager_->watch_confirm().changed);
  EXPECT_FALSE(manager_->watch_confirm().changed) << "once";
}

// The deadline is a time of CLOCK_BOOTTIME, which goes on while the machine is suspended; the event loop's clock does
// not.
TEST_F(Unconfirmed, ItsDeadlineIsAskedForAgainAtLeastEachMinute) {
  const auto again = manager_->watch_confirm().again;
  ASSERT_TRUE(again);
  EXPECT_LE(*again, std::chrono::minutes(1));
}

// `--config trial.toml apply --confirm` of a port that the agent's own configuration excludes.
TEST_F(Unconfirmed, AnExcludedPortIsPutBackToo) {
  Environment environment = this->environment();
  environment.scan = [this](const Policy& policy) {
    std::vector<Port> found = ports();
    std::erase_if(found, [&](const Port& port) { return contains(policy.exclude, port.rdma); });
    return FoundPorts(std::move(found));
  };
  record_.policy = "another";
  record_.deadline = 0;
  save();
  manager_.emplace(environment, policy_of(kEnforce + "[exporter]\nexclude = [\"roce_eth0\"]\n"));
  manager_->rescan();
  ASSERT_TRUE(manager_->table().ids().empty());
  manager_->watch_confirm();
  EXPECT_EQ(nic_->mtu, 2000U);
}

// The default route came to the port after the apply.
TEST_F(Unconfirmed, TheWayBackDoesNotTakeTheLinkOfTheDefaultRoute) {
  record_.disruptive = Disruptive::now;
  record_.deadline = 0;
  save();
  nic_->has_default_route = true;
  EXPECT_TRUE(manager_->watch_confirm().again);
  EXPECT_EQ(nic_->mtu, 4200U);
  manager_->set_policy(policy_of(kEnforce, "[[port]]\nmatch = { netdev = \"eth0\" }\nfront_end = true\nmtu = 4200\n"));
  manager_->watch_confirm();
  EXPECT_EQ(nic_->mtu, 2000U) << "an entry names it now";
}

TEST_F(Unconfirmed, WhichConfigurationItHasIsPublished) {
  manager_->publish();
  EXPECT_EQ((*state::load_agent_state(tree_.root()))->config, confirm::digest(wanted_config(manager_->policy())));
  Policy other = manager_->policy();
  other.ports[0].want.mtu = 1234;
  manager_->set_policy(other);
  manager_->publish();
  EXPECT_EQ((*state::load_agent_state(tree_.root()))->config, confirm::digest(wanted_config(other)));
}

// The configuration as fabric-agentctl reads it: by another path, and with the host name under which the plan of cables
// is searched.
TEST_F(Unconfirmed, TheSameFileReadByAnotherIsNotAnotherConfiguration) {
  const std::string text = kEnforce + "[cabling]\nfile = \"/etc/cables.csv\"\n[[port]]\nmtu = 4200\n";
  tree_.file("proc/sys/kernel/hostname", "gpu01\n");
  auto applied = parse_config(text, "./fabric-agent.toml");
  ASSERT_TRUE(applied.ok());
  load_cabling(tree_.root(), applied->policy);
  ASSERT_EQ(applied->policy.cabling.host, "gpu01");
  record_.policy = confirm::digest(wanted_config(applied->policy));
  record_.deadline = 0;
  save();
  manager_->watch_confirm();
  auto read = parse_config(text, "/etc/fabric-agent/fabric-agent.toml");
  ASSERT_TRUE(read.ok());
  restart(read->policy);
  EXPECT_EQ(nic_->mtu, 2000U) << "what was not confirmed is not enforced";
}

TEST_F(Unconfirmed, AnotherConfigurationIsAnotherWord) {
  record_.deadline = 0;
  save();
  manager_->watch_confirm();
  restart(policy_of(kEnforce, "[[port]]\nmtu = 3000\n"));
  EXPECT_EQ(nic_->mtu, 3000U);
}

// The host's setting that only the guard may write is left to it.
TEST_F(Unconfirmed, WhatIsRefusedToTheAgentIsLeftToTheGuard) {
  if (::geteuid() != 0) GTEST_SKIP() << "as root";
  tree_.folder("proc/sys/kernel/numa_balancing");  // cannot be written by any process
  record_.sysctl["kernel.numa_balancing"] = "1";
  record_.deadline = confirm::this_moment(tree_.root()).milliseconds;
  save();
  const auto watch = manager_->watch_confirm();
  EXPECT_TRUE(watch.again) << "tried again";
  EXPECT_EQ(nic_->mtu, 2000U) << "the rest is restored";
  const auto record = confirm::load(tree_.path());
  ASSERT_TRUE(record && *record);
  EXPECT_TRUE((*record)->sysctl.contains("kernel.numa_balancing"));
  EXPECT_TRUE((*record)->before.empty());
  EXPECT_TRUE(confirm::is_pending(**record));
}

TEST_F(Unconfirmed, AfterARebootItIsOverdue) {
  record_.boot_id = "the boot before";
  save();
  manager_.emplace(environment(), policy_of(kEnforce));
  manager_->rescan();
  manager_->watch_confirm();
  EXPECT_EQ(nic_->mtu, 2000U);
}

TEST_F(Unconfirmed, APortThatIsAwayIsPutBackWhenItReturns) {
  record_.deadline = confirm::this_moment(tree_.root()).milliseconds;
  save();
  nic_->present = false;
  manager_->rescan();
  EXPECT_TRUE(manager_->watch_confirm().again) << "tried again";
  nic_->present = true;
  manager_->rescan();
  EXPECT_FALSE(manager_->watch_confirm().again);
  EXPECT_EQ(nic_->mtu, 2000U);
}

TEST_F(PortManagerTest, AnApplyThatIsTakenBackIsSettledWhenTheLinkIsUp) {
  tree_.file("proc/sys/kernel/random/boot_id", "this-boot\n");
  SimNic& nic = enforced(Personality::mlx5);
  nic.link_up();
  confirm::Record record = confirm::begin(confirm::this_moment(kernel_->root), seconds(3'600), manager_->policy(),
                                          confirm::digest(wanted_config(manager_->policy())));
  confirm::remember(record, ports().at(0), {.pfc = PrioSet{1 << 4}}, Keys().set());
  record.deadline = 0;
  ASSERT_TRUE(confirm::save(tree_.path(), record).ok());
  manager_->watch_confirm();
  ASSERT_EQ(nic.pfc.pfc_en, 1 << 4);
  nic.link_up();
  const unsigned before = nic.calls["setpfc"];
  EXPECT_TRUE(manager_->settle(kId).ok());
  EXPECT_EQ(nic.calls["setpfc"], before + 1) << "although nothing is enforced";
}

// An operator who switches enforcement on keeps the network by which the machine is reached.
TEST_F(PortManagerTest, ThePortOfTheDefaultRouteIsWrittenOnlyIfAnEntryNamesIt) {
  SimNic& nic = sim_.add_nic("eth0", Personality::mlx5);
  nic.has_default_route = true;
  start(kEnforce);
  EXPECT_EQ(nic.carrier_downs, 0U);
  EXPECT_EQ(nic.mtu, 1500U);
  EXPECT_EQ(outcome("mtu"), "pending");
  EXPECT_TRUE(has(setting("mtu").detail, "front_end = true")) << setting("mtu").detail;
  reload(policy_of(kEnforce, "[[port]]\nmatch = { netdev = \"eth0\" }\nfront_end = true\nmtu = 4200\n"));
  EXPECT_EQ(nic.mtu, 4200U);
}

// A bond and its members wait for each other's part of RoCE's class: a change of one is a pass of the others.
TEST_F(PortManagerTest, ThePortsOfABondFollowEachOther) {
  sim_.add_nic("bond0", Personality::nodcb);
  sim_.add_nic("eth0", Personality::mlx5);
  sim_.add_nic("eth9", Personality::mlx5);
  kernel_.emplace(sim_.kernel(tree_.path()));
  Environment environment = this->environment();
  environment.scan = [this](const Policy&) {
    std::vector<Port> all = ports();
    for (Port& port : all) {
      if (port.netdev == "eth9") continue;
      port.rdma = "mlx5_bond_0";
      port.kernel_driver = "mlx5_core";
      port.role = port.netdev == "bond0" ? PortRole::bond : PortRole::bond_member;
      port.bond = "bond0";
    }
    return FoundPorts(std::move(all));
  };
  manager_.emplace(environment, policy_of(kEnforce));
  const std::string bond = "mlx5_bond_0/1", member = "mlx5_bond_0/1@eth0";
  reconcile_all();
  EXPECT_EQ(manager_->waiting_for(member), std::vector{bond});
  EXPECT_EQ(manager_->waiting_for(bond), std::vector{member});
  EXPECT_TRUE(manager_->waiting_for("roce_eth9/1").empty());
  reconcile_all();
  for (const std::string& id : {bond, member}) EXPECT_TRUE(manager_->waiting_for(id).empty()) << "nothing has changed";
}

// With disruptive = "now" the second member is written when the link of the first one is back, or after a while.
TEST_F(PortManagerTest, TheMembersOfABondAreWrittenOneAfterTheOther) {
  for (const bool returns : {true, false}) {
    SimNic& first = sim_.add_nic(returns ? "eth0" : "eth2", Personality::mlx5);
    SimNic& second = sim_.add_nic(returns ? "eth1" : "eth3", Personality::mlx5);
    kernel_.emplace(sim_.kernel(tree_.path()));
    Environment environment = this->environment();
    environment.scan = [&](const Policy&) {
      std::vector<Port> all = members();
      std::erase_if(all, [&](const Port& port) { return port.netdev != first.name && port.netdev != second.name; });
      return FoundPorts(std::move(all));
    };
    manager_.emplace(environment, policy_of(kEnforce + "disruptive = \"now\"\n"));
    const std::string a = "mlx5_bond_0/1@" + first.name, b = "mlx5_bond_0/1@" + second.name;
    reconcile_all();
    EXPECT_EQ(first.pfc.pfc_en, 1 << 3);
    EXPECT_FALSE(manager_->waits_for_member(a));
    EXPECT_TRUE(manager_->waits_for_member(b));
    EXPECT_EQ(second.carrier_downs, 0U);
    EXPECT_TRUE(has(setting("pfc", b).detail, "the link of " + first.name)) << setting("pfc", b).detail;
    now_ += seconds(2);
    look(b);
    EXPECT_EQ(second.carrier_downs, 0U) << "the first link is still down";
    if (returns) first.link_up();
    else now_ += seconds(30);
    look(b);
    EXPECT_EQ(second.pfc.pfc_en, 1 << 3);
    EXPECT_FALSE(manager_->waits_for_member(b));
    // A released bond gets its original settings in the same way.
    first.link_up();
    second.link_up();
    now_ += seconds(60);
    reload(policy_of(kEnforce + kRestore + "disruptive = \"now\"\n", ""));
    EXPECT_EQ(first.pfc.pfc_en, 0);
    EXPECT_EQ(second.pfc.pfc_en, 1 << 3);
    EXPECT_TRUE(manager_->waits_for_member(b));
    first.link_up();
    now_ += seconds(2);
    look(b);
    EXPECT_EQ(second.pfc.pfc_en, 0);
    EXPECT_FALSE(manager_->waits_for_member(b));
    for (const std::string& id : {a, b}) {
      look(id);
      EXPECT_TRUE(manager_->waiting_for(id).empty()) << id << ": passes without an end";
    }
  }
}

// The agent is stopped after the write of the first member: the next agent still waits for its link. So does the revert
// of an apply, which does not block the event loop.
TEST_F(PortManagerTest, TheNextAgentWaitsForTheLinkOfAMember) {
  tree_.file("proc/sys/kernel/random/boot_id", "this-boot\n");
  SimNic& first = sim_.add_nic("eth0", Personality::mlx5);
  SimNic& second = sim_.add_nic("eth1", Personality::mlx5);
  kernel_.emplace(sim_.kernel(tree_.path()));
  Environment environment = this->environment();
  environment.scan = [&](const Policy&) { return FoundPorts(members()); };
  const Policy policy = policy_of(kEnforce + "disruptive = \"now\"\n");
  const std::string b = "mlx5_bond_0/1@eth1";
  manager_.emplace(environment, policy);
  reconcile_all();
  ASSERT_FALSE(first.carrier);
  manager_.emplace(environment, policy);
  now_ = std::chrono::steady_clock::now();
  reconcile_all();
  EXPECT_TRUE(second.carrier) << "the link of the other member is not back";
  EXPECT_TRUE(manager_->waits_for_member(b));
  // The real clock, which watch_confirm() and the records of the other program have.
  const auto pause = [&] {
    std::this_thread::sleep_for(qos::kMemberPause + std::chrono::milliseconds(50));
    now_ = std::chrono::steady_clock::now();
  };
  first.link_up();
  pause();
  look(b);
  EXPECT_EQ(second.pfc.pfc_en, 1 << 3);
  second.link_up();
  pause();

  manager_.emplace(environment, policy);
  manager_->rescan();
  confirm::Record record = confirm::begin(confirm::this_moment(kernel_->root), seconds(3'600), policy,
                                          confirm::digest(wanted_config(policy)));
  for (const Port& port : environment.scan(policy).ports)
    confirm::remember(record, port, {.pfc = PrioSet{1 << 4}}, Keys().set());
  record.deadline = 0;
  ASSERT_TRUE(confirm::save(tree_.path(), record).ok());
  EXPECT_TRUE(manager_->watch_confirm().again);
  EXPECT_EQ(first.pfc.pfc_en, 1 << 4);
  EXPECT_FALSE(first.carrier);
  EXPECT_TRUE(second.carrier);
  first.link_up();
  pause();
  manager_->watch_confirm();
  EXPECT_EQ(second.pfc.pfc_en, 1 << 4);
}

// A setting that waits for another one, which the driver refuses, does not wait for an idle port.
TEST_F(PortManagerTest, ARefusedMemberOfTheClassIsNotPolledFor) {
  SimNic& nic = enforced(Personality::mlx5);
  nic.link_up();
  nic.faults["setpfc"] = {.code = EIO};
  const std::string profile = kProfile;
  std::string moved = profile;
  moved.replace(moved.find("26 = 3"), 6, "26 = 4");
  moved.replace(moved.find("[0,0,0,1,0,0,2,0]"), 17, "[0,0,0,0,1,0,2,0]");
  moved.replace(moved.find("pfc = [3]"), 9, "pfc = [4]");
  reload(policy_of(kEnforce, moved));
  EXPECT_EQ(outcome("pfc"), "refused");
  EXPECT_EQ(outcome("dscp_map"), "pending");
  EXPECT_TRUE(has(setting("dscp_map").detail, "waits for pfc")) << setting("dscp_map").detail;
  EXPECT_FALSE(manager_->waits_for_idle(kId));
  nic.faults.clear();
}

}  // namespace
}  // namespace fabric::agentd
