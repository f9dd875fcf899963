// SPDX-License-Identifier: Apache-2.0
// RoCE LAG of mlx5: the RDMA device and RoCE's mark are the bond's, the map and PFC are the members', whose functions
// differ. After every change an oracle judges by the state of the NICs whether RoCE's new connections are protected.
#include <thread>

#include "enforce/restore.h"
#include "node/netdev_use.h"
#include "support/ports.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"
#include "support/tree.h"
#include "support/turns.h"

namespace fabric::test {
namespace {

constexpr const char* kTos = "sys/kernel/config/rdma_cm/mlx5_bond_0/ports/1/default_roce_tos";
constexpr const char* kRdmaDevice = "sys/class/infiniband/mlx5_bond_0/device";

// RoCE with this DSCP on this lossless priority.
Qos roce(uint8_t dscp, uint8_t priority) {
  return {.dcbx = Dcbx::host,
          .trust = Trust::dscp,
          .dscp_map = DscpMap{{dscp, priority}, {48, 6}},
          .pfc = PrioSet{static_cast<uint8_t>(1U << priority)},
          .roce_tos = dscp * 4U};
}

class RoceLag : public testing::Test, protected TreeWithFiles {
 protected:
  RoceLag() {
    const std::string functions[]{add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:24:00.0"}),
                                  add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:24:00.1"})};
    tree.link(kRdmaDevice, "../../../../" + functions[0]);
    tree.file("sys/class/net/bond0/bonding/slaves", "eth0 eth1\n");
    for (size_t i = 0; i < 2; ++i)
      tree.link("sys/class/net/eth" + std::to_string(i) + "/device", "../../../../" + functions[i]);
    tree.folder("sys/kernel/debug/clk").file(kTos, "0\n");
    files->on_write(kTos, [this](SimFiles& written, const std::string& file, std::string_view text) {
      const int code = store_number(0, 255)(written, file, text);
      judge("roce_tos");
      return code;
    });
    kernel.root.set_behind(files);
    for (Port* port : {&ports[0], &ports[1], &ports[2]}) {
      port->rdma = "mlx5_bond_0";
      port->kernel_driver = "mlx5_core";
      port->pci = "0000:24:00.0";
    }
    make_bond(ports[0]);
    make_member(ports[1]);
    make_member(ports[2]);
    ports[2].pci = "0000:24:00.1";
    for (SimNic* nic : {&eth0, &eth1}) nic->after_change = [this](const std::string& op) { judge(op); };
  }

  Changes pass(Port& port, const Qos& want) {
    Changes changes = test::reconcile(kernel, port, want, terms, kSaveNowhere);
    for (SimNic* nic : {&eth0, &eth1}) nic->link_up();
    return changes;
  }
  // One pass of each port.
  Changes apply(const Qos& want) {
    Changes all;
    for (Port& port : ports) {
      const Changes changes = pass(port, want);
      all.insert(all.end(), changes.begin(), changes.end());
    }
    return all;
  }
  void settle_to(const Qos& want) {
    for (int i = 0; i < 3; ++i) apply(want);
    expect_all(apply(want), {Outcome::in_sync});
  }

  qos::WritePort writer_of(const Qos& want) {
    return [this, want](const Port& port, const qos::Complete& complete) {
      return qos::reconcile(kernel, port, want, complete(terms), kSaveNowhere).changes;
    };
  }
  Changes in_rounds(const qos::WritePort& write, std::chrono::milliseconds patience = {}) {
    FreeTurns turns(kernel, patience);
    return qos::write_in_rounds(turns, ports, write, qos::sleep_for);
  }
  // From now on a test fails when both links are down.
  void watch_links() {
    for (SimNic* nic : {&eth0, &eth1})
      nic->after_change = [this](const std::string& op) {
        EXPECT_TRUE(eth0.carrier || eth1.carrier) << "both links are down after " << op;
        judge(op);
      };
  }
  // The record after an apply --confirm of `to`, with `from` before it.
  confirm::Record applied(const Qos& from, const Qos& to, Disruptive disruptive) {
    settle_to(from);
    confirm::Record record = confirm::begin({"a boot", 0}, std::chrono::seconds(1), {.disruptive = disruptive}, "");
    const qos::SaveOriginal save = [&](const Port& port, const Qos& before) -> Result<void> {
      confirm::remember(record, port, before, keys_of(to));
      return {};
    };
    for (int i = 0; i < 3; ++i)
      for (Port& port : ports) {
        test::reconcile(kernel, port, to, terms, save);
        for (SimNic* nic : {&eth0, &eth1}) nic->link_up();
      }
    return record;
  }

  uint32_t tos() { return kernel.root.number_in<uint32_t>(kTos).value_or(0); }
  // Whether PFC protects the packets of RoCE's new connections on both links.
  bool is_protected() {
    return std::ranges::all_of(std::array{&eth0, &eth1}, [this](const SimNic* nic) {
      unsigned priority = 0;
      for (const dcb_app& entry : nic->app)
        if (entry.selector == IEEE_8021QAZ_APP_SEL_DSCP && entry.protocol == tos() / 4) priority = entry.priority;
      return (nic->pfc.pfc_en >> priority & 1) != 0;
    });
  }
  void judge(const std::string& op) {
    if (watched) EXPECT_TRUE(is_protected()) << "after " << op;
  }

  SimKernel sim;
  SimNic &bond = sim.add_nic("bond0", Personality::nodcb), &eth0 = sim.add_nic("eth0", Personality::mlx5),
         &eth1 = sim.add_nic("eth1", Personality::mlx5);
  Kernel kernel = sim.kernel(tree.path());
  std::vector<Port> ports{bond.port(), eth0.port(), eth1.port()};
  qos::Terms terms = free_terms();
  bool watched = false;
};

// The device of the RDMA name is on the first member's function. This does not mean that the second one was renamed.
TEST_F(RoceLag, BothMembersAreWritten) {
  const Changes changes = apply(roce(26, 3));
  EXPECT_FALSE(contains(changes, ENODEV, &Change::code)) << text(changes);
  EXPECT_EQ(eth0.pfc.pfc_en, 0x08);
  EXPECT_EQ(eth1.pfc.pfc_en, 0x08);
  EXPECT_EQ(tos(), 104U);
  settle_to(roce(26, 3));
}

TEST_F(RoceLag, AnotherDeviceOfTheRdmaNameIsNotWrittenForTheBond) {
  const std::string other = add_pci(tree, {"pci0000:40/0000:40:01.0", "0000:41:00.0"});
  tree.remove(kRdmaDevice).link(kRdmaDevice, "../../../../" + other);
  const Changes changes = pass(ports[0], roce(26, 3));
  EXPECT_EQ(of(changes, "roce_tos").code, ENODEV) << text(changes);
  EXPECT_EQ(tos(), 0U);
}

TEST_F(RoceLag, MovesAsAWholeAndIsProtectedAllTheTime) {
  settle_to(roce(26, 3));
  ASSERT_TRUE(is_protected());
  watched = true;
  const Changes first = apply(roce(34, 4));
  EXPECT_TRUE(has_outcome(first, "roce_tos", Outcome::pending, "of the members of bond0"));
  EXPECT_EQ(eth0.pfc.pfc_en, 0x18) << "the old priority is released when the bond has left it";
  EXPECT_EQ(eth1.pfc.pfc_en, 0x18);
  const auto waits = std::ranges::find_if(
      first, [](const Change& change) { return change.setting == SettingId::pfc && change.waits_for; });
  ASSERT_NE(waits, first.end()) << text(first);
  EXPECT_EQ(waits->waits_for, SettingId::roce_tos) << waits->detail;
  settle_to(roce(34, 4));
  EXPECT_EQ(tos(), 136U);
  EXPECT_EQ(eth0.pfc.pfc_en, 0x10);
  EXPECT_EQ(eth1.pfc.pfc_en, 0x10);
}

TEST_F(RoceLag, RocesMarkWaitsWithTheMembersForAnIdlePort) {
  settle_to(roce(26, 3));
  watched = true;
  terms.in_use = kInUse;
  for (int i = 0; i < 3; ++i) apply(roce(34, 4));
  EXPECT_EQ(tos(), 104U) << "PFC of the new priority waits";
  terms.in_use = kIdle;
  settle_to(roce(34, 4));
  EXPECT_EQ(tos(), 136U);
}

TEST_F(RoceLag, RocesMarkStaysIfOneMemberRefusesItsProtection) {
  settle_to(roce(26, 3));
  watched = true;
  eth1.faults["setpfc"] = {.code = EIO};
  Changes last;
  for (int i = 0; i < 3; ++i) last = apply(roce(34, 4));
  EXPECT_EQ(tos(), 104U);
  EXPECT_TRUE(has_outcome(last, "roce_tos", Outcome::pending, "pfc of the members of bond0"));
  eth1.faults.clear();
  settle_to(roce(34, 4));
  EXPECT_EQ(tos(), 136U);
}

// Global pause protects all priorities of the members, PFC only the one that the bond's mark leads to.
TEST_F(RoceLag, GlobalPauseOfTheMembersStaysUntilRoceIsMarkedForPfc) {
  for (const bool is_named : {false, true}) {
    SCOPED_TRACE(is_named ? "the policy ends pause" : "the policy does not name pause");
    tree.file(kTos, "0\n");
    for (SimNic* nic : {&eth0, &eth1}) {
      nic->pause = {.rx = true, .tx = true};
      nic->pfc.pfc_en = 0;
      nic->app.clear();
    }
    Qos want = roce(26, 3);
    if (is_named) want.pause = Pause{};
    files->fault({.code = EIO, .glob = "*default_roce_tos"});
    for (int i = 0; i < 3; ++i) apply(want);
    const Changes last = apply(want);
    EXPECT_EQ(tos(), 0U);
    for (const SimNic* nic : {&eth0, &eth1}) {
      EXPECT_TRUE(nic->pause.rx && nic->pause.tx) << text(last);
      EXPECT_EQ(nic->pfc.pfc_en, 0) << text(last);
    }
    EXPECT_TRUE(has_outcome(last, "pfc", Outcome::pending, "roce_tos of bond0"));
    files->heal();
    settle_to(want);
    EXPECT_TRUE(is_protected());
    for (const SimNic* nic : {&eth0, &eth1}) EXPECT_FALSE(nic->pause.rx || nic->pause.tx);
  }
}

// PFC of another priority is on beside pause: other traffic moves, and pause alone protects RoCE.
TEST_F(RoceLag, GlobalPauseBesidePfcStaysUntilRoceIsMarked) {
  for (const bool is_named : {false, true}) {
    SCOPED_TRACE(is_named ? "the policy ends pause" : "the policy does not name pause");
    settle_to(roce(34, 4));
    tree.file(kTos, "0\n");
    for (SimNic* nic : {&eth0, &eth1}) nic->pause = {.rx = true, .tx = true};
    Qos want = roce(26, 3);
    if (is_named) want.pause = Pause{};
    files->fault({.code = EIO, .glob = "*default_roce_tos"});
    for (int i = 0; i < 3; ++i) apply(want);
    const Changes last = apply(want);
    for (const SimNic* nic : {&eth0, &eth1}) EXPECT_TRUE(nic->pause.rx && nic->pause.tx) << text(last);
    EXPECT_TRUE(has_outcome(last, "pfc", Outcome::pending, "roce_tos"));
    files->heal();
    settle_to(want);
    EXPECT_TRUE(is_protected());
    for (const SimNic* nic : {&eth0, &eth1}) EXPECT_EQ(nic->pfc.pfc_en, 0x08);
  }
}

// Another program has switched pause on: PFC of the new priority, the mark and PFC of the old one do not wait for each
// other.
TEST_F(RoceLag, PfcBesideGlobalPauseMovesWithTheMark) {
  for (const bool is_named : {false, true}) {
    SCOPED_TRACE(is_named ? "the policy ends pause" : "the policy does not name pause");
    settle_to(roce(26, 3));
    for (SimNic* nic : {&eth0, &eth1}) nic->pause = {.rx = true, .tx = true};
    Qos want = roce(34, 4);
    if (is_named) want.pause = Pause{};
    settle_to(want);
    EXPECT_EQ(tos(), 136U);
    EXPECT_TRUE(is_protected());
    for (const SimNic* nic : {&eth0, &eth1}) EXPECT_EQ(nic->pfc.pfc_en, 0x10);
  }
}

// The policy replaces PFC by global pause, and RoCE's mark changes: the mark leads RoCE away from PFC.
TEST_F(RoceLag, RocesMarkStaysUntilTheMembersHaveGlobalPause) {
  settle_to(roce(26, 3));
  Qos want = roce(26, 3);
  want.pause = Pause{.rx = true, .tx = true};
  want.pfc = PrioSet{};
  want.roce_tos = 0;
  eth1.faults["setpause"] = {.code = EIO};
  for (int i = 0; i < 3; ++i) apply(want);
  const Changes last = apply(want);
  EXPECT_EQ(tos(), 104U) << text(last);
  EXPECT_EQ(eth1.pfc.pfc_en, 0x08) << text(last);
  EXPECT_TRUE(has_outcome(last, "roce_tos", Outcome::pending, "pause of the members of bond0"));
  eth1.faults.clear();
  settle_to(want);
  EXPECT_EQ(tos(), 0U);
  for (const SimNic* nic : {&eth0, &eth1}) {
    EXPECT_TRUE(nic->pause.rx && nic->pause.tx);
    EXPECT_EQ(nic->pfc.pfc_en, 0);
  }
}

// An entry that asks for a mark and whose members cannot be read: nothing is known of the protection.
TEST_F(RoceLag, RocesMarkStaysIfAMemberCannotBeRead) {
  settle_to(roce(26, 3));
  eth1.faults["getpause"] = {.code = ENOBUFS};
  const Changes changes = pass(ports[0], roce(34, 4));
  EXPECT_EQ(of(changes, "roce_tos").outcome, Outcome::refused) << text(changes);
  EXPECT_TRUE(of(changes, "roce_tos").is_lost);
  EXPECT_EQ(tos(), 104U);
}

TEST_F(RoceLag, APlanShowsWhatIsWrittenInTheEnd) {
  settle_to(roce(26, 3));
  for (Port& port : ports) {
    const Changes changes = qos::plan(kernel, port, roce(34, 4), terms).changes;
    for (const Change& change : changes)
      EXPECT_TRUE(change.outcome == Outcome::differs || change.outcome == Outcome::in_sync) << text(changes);
  }
  EXPECT_EQ(tos(), 104U);
}

// The members protect, the bond moves RoCE, the members release: three passes in one call.
TEST_F(RoceLag, OneCallRestoresTheBondAndItsMembers) {
  settle_to(roce(26, 3));
  state::Originals originals;
  const qos::SaveOriginal save = [&](const Port& port, const Qos& before) {
    return state::save_original(tree.path(), originals, port, before);
  };
  for (int i = 0; i < 3; ++i)
    for (Port& port : ports) {
      test::reconcile(kernel, port, roce(34, 4), terms, save);
      for (SimNic* nic : {&eth0, &eth1}) nic->link_up();
    }
  ASSERT_EQ(tos(), 136U);
  ASSERT_EQ(eth1.pfc.pfc_en, 0x10);
  watched = true;
  terms.wanted_of = qos::saved_settings(ports, originals);
  const Changes changes = in_rounds([&](const Port& port, const qos::Complete& complete) {
    Changes done = qos::restore(kernel, port, originals, complete(terms)).changes;
    for (SimNic* nic : {&eth0, &eth1}) nic->link_up();
    return done;
  });
  expect_all(changes, {Outcome::in_sync, Outcome::applied});
  EXPECT_EQ(tos(), 104U);
  EXPECT_EQ(eth0.pfc.pfc_en, 0x08);
  EXPECT_EQ(eth1.pfc.pfc_en, 0x08);
  EXPECT_TRUE(originals.empty()) << text(changes);
}

// The members were in sync from the start, so that only the bond has a saved setting: its mark is of a priority without
// PFC.
TEST_F(RoceLag, ARestoreOfTheMarkAloneWaitsForAnIdlePort) {
  settle_to(roce(26, 3));
  watched = true;
  terms.in_use = kInUse;
  state::Originals originals;
  state::original_of(originals, ports[0]).roce_tos = 0;
  Changes changes = test::restore(kernel, ports[0], ports, originals, terms);
  EXPECT_TRUE(has_outcome(changes, "roce_tos", Outcome::pending, "")) << text(changes);
  EXPECT_EQ(tos(), 104U);
  watched = false;
  terms.in_use = kIdle;
  changes = test::restore(kernel, ports[0], ports, originals, terms);
  EXPECT_EQ(tos(), 0U) << text(changes);
  EXPECT_TRUE(originals.empty());
}

// An entry for the members and one for the bond: neither has the other's part of RoCE's class.
TEST_F(RoceLag, EntriesOfTheirOwnForTheBondAndItsMembersMoveTogether) {
  settle_to(roce(26, 3));
  watched = true;
  const auto part_of = [](const Port& port, Qos want) {
    if (port.is_member()) want.roce_tos.reset();
    else want = {.roce_tos = want.roce_tos};
    return want;
  };
  const Qos want = roce(34, 4);
  terms.wanted_of = [&](const Port& other) { return part_of(other, want); };
  for (int i = 0; i < 3; ++i)
    for (Port& port : ports) {
      const bool releases = i == 0 && port.is_member();
      const Changes changes = pass(port, part_of(port, want));
      if (releases) EXPECT_TRUE(has_outcome(changes, "pfc", Outcome::pending, "roce_tos of bond0")) << text(changes);
    }
  EXPECT_EQ(tos(), 136U);
  EXPECT_EQ(eth0.pfc.pfc_en, 0x10);
  EXPECT_EQ(eth1.pfc.pfc_en, 0x10);
}

TEST_F(RoceLag, ARevertProtectsRoceAllTheTime) {
  confirm::Record record = applied(roce(26, 3), roce(34, 4), Disruptive::idle);
  ASSERT_EQ(tos(), 136U);
  ASSERT_EQ(eth1.pfc.pfc_en, 0x10);
  watched = true;
  for (SimNic* nic : {&eth0, &eth1})
    nic->after_change = [this, nic](const std::string& op) {
      judge(op);
      nic->link_up();
    };
  FreeTurns turns(kernel);
  confirm::revert(kernel, ports, record, {"a boot", 2'000}, {.in_use = kIdle, .turns = turns, .sleep = qos::sleep_for});
  EXPECT_FALSE(confirm::is_pending(record)) << confirm::left_text(record);
  EXPECT_EQ(tos(), 104U);
  EXPECT_EQ(eth0.pfc.pfc_en, 0x08);
  EXPECT_EQ(eth1.pfc.pfc_en, 0x08);
}

// The bond was formed while the apply awaited its confirmation: the MTU is the bond's then.
TEST_F(RoceLag, ARevertWaitsForTheEndOfTheBond) {
  Port alone = eth1.port();
  alone.rdma = "mlx5_1";
  alone.kernel_driver = "mlx5_core";
  alone.pci = "0000:24:00.1";
  confirm::Record record = confirm::begin({"a boot", 0}, std::chrono::seconds(1), {}, "");
  confirm::remember(record, alone, {.mtu = 1500}, keys_of(Qos{.mtu = 1500}));
  eth1.mtu = 4200;
  Changes changes = test::revert(kernel, ports, record, {"a boot", 2'000}, kIdle);
  EXPECT_TRUE(confirm::is_pending(record));
  confirm::RetryPause pause;
  for (const int seconds : {2, 4, 8}) {
    changes = test::revert(kernel, ports, record, {"a boot", 700'000}, kIdle);
    EXPECT_FALSE(confirm::is_pending(record)) << "the other ports do not wait for it";
    EXPECT_TRUE(has_outcome(changes, "mtu", Outcome::refused, "a setting of bond0"));
    EXPECT_EQ(pause.after(changes).count(), seconds);
  }
  EXPECT_TRUE(has(confirm::left_text(record), "mtu"));
  EXPECT_EQ(eth1.mtu, 4200U);
  std::vector<Port> apart{eth0.port(), alone};
  test::revert(kernel, apart, record, {"a boot", 701'000}, kIdle);
  EXPECT_EQ(eth1.mtu, 1500U);
  EXPECT_TRUE(record.is_restored());
}

// With disruptive = "now" the revert of an apply leaves the bond one link, too: it sleeps, or is called again.
TEST_F(RoceLag, ARevertWritesTheMembersOneAfterTheOther) {
  for (const bool sleeps : {true, false}) {
    confirm::Record record = applied(roce(26, 3), roce(34, 4), Disruptive::now);
    terms.disruptive = Disruptive::now;
    watch_links();
    FreeTurns turns(kernel, std::chrono::milliseconds(2'000));
    unsigned waits = 0;
    const auto links_return = [&](std::chrono::milliseconds) {
      if (++waits % 30 == 0)
        for (SimNic* nic : {&eth0, &eth1}) nic->link_up();
    };
    for (int call = 0; call < 8 && confirm::is_pending(record); ++call) {
      confirm::RevertTerms how{.in_use = kInUse, .turns = turns, .sleep = {}};
      if (sleeps) how.sleep = links_return;
      const Changes changes = confirm::revert(kernel, ports, record, {"a boot", 700'000}, how);
      if (sleeps) continue;
      if (call == 0) EXPECT_TRUE(contains(changes, Outcome::pending, &Change::outcome)) << text(changes);
      std::this_thread::sleep_for(qos::kMemberPause + std::chrono::milliseconds(50));
      for (SimNic* nic : {&eth0, &eth1}) nic->link_up();
    }
    EXPECT_FALSE(confirm::is_pending(record)) << confirm::left_text(record);
    EXPECT_EQ(eth0.pfc.pfc_en, 0x08);
    EXPECT_EQ(eth1.pfc.pfc_en, 0x08);
    EXPECT_EQ(waits > 0, sleeps);
    for (SimNic* nic : {&eth0, &eth1}) {
      nic->after_change = [](const std::string&) {};
      nic->link_up();
    }
    terms.disruptive = Disruptive::idle;
  }
}

// fabric-agentctl may end before the link is back: the next program knows of the port, and of the link of the member.
TEST_F(RoceLag, AWriteThatTakesTheLinkIsRecordedBeforeItIsMade) {
  pass(ports[0], roce(26, 3));  // PFC, which ends global pause, waits for the mark
  terms.disruptive = Disruptive::now;
  bool is_recorded = false;
  eth0.after_change = [&](const std::string&) {
    is_recorded = is_recorded || kernel.root.exists(qos::Unsettled::kFile);
  };
  const auto report = [](const std::string& what) { ADD_FAILURE() << what; };
  qos::Unsettled first(tree.path(), report);
  qos::Turns turns(kernel, first);
  const qos::WriteTerms turn = turns.terms_for(ports[1], terms, std::chrono::steady_clock::now());
  qos::reconcile(kernel, ports[1], roce(26, 3), turn, kSaveNowhere);
  EXPECT_TRUE(is_recorded);
  EXPECT_FALSE(eth0.carrier);
  EXPECT_TRUE(first.contains(ports[1]));
  qos::Unsettled next(tree.path(), report);
  next.load();
  EXPECT_TRUE(next.contains(ports[1]));
  EXPECT_FALSE(next.contains(ports[2]));
  // Another program adds a port: neither loses that of the other.
  next.add(kernel.root, ports[2], std::nullopt);
  first.remove(ports[1]);
  next.load();
  EXPECT_FALSE(next.contains(ports[1]));
  EXPECT_TRUE(next.contains(ports[2]));
  next.remove(ports[2]);
  EXPECT_FALSE(kernel.root.exists(qos::Unsettled::kFile));
}

// A step of the class is reported as pending, but has taken the link down.
TEST_F(RoceLag, AStepOfAMemberKeepsTheOtherOneWaiting) {
  settle_to(roce(26, 3));
  terms.disruptive = Disruptive::now;
  watch_links();
  FreeTurns turns(kernel, qos::kMemberPatience);
  unsigned polls = 0;
  qos::write_in_rounds(turns, ports, writer_of(roce(34, 4)), [&](auto) {
    if (++polls % 30 == 0)
      for (SimNic* nic : {&eth0, &eth1}) nic->link_up();
  });
  EXPECT_EQ(tos(), 136U);
  EXPECT_GE(polls, 30U);
}

// With disruptive = "now" the bond keeps one link.
TEST_F(RoceLag, TheMembersAreNotWithoutALinkAtTheSameTime) {
  terms.disruptive = Disruptive::now;
  watch_links();
  std::chrono::milliseconds slept{};
  FreeTurns turns(kernel, qos::kMemberPatience);
  qos::write_in_rounds(turns, ports, writer_of(roce(26, 3)), [&](std::chrono::milliseconds time) {
    slept += time;
    if (slept == std::chrono::seconds(3)) eth0.link_up();
  });
  EXPECT_EQ(slept, std::chrono::seconds(3)) << "until the link is back";
  EXPECT_EQ(eth0.pfc.pfc_en, 0x08);
  EXPECT_EQ(eth1.pfc.pfc_en, 0x08);
}

// Two NICs with RDMA devices of their own, whose bond is for IP only, as in front of most servers.
TEST_F(RoceLag, TheMembersOfABondForIpAreNotWithoutALinkAtTheSameTime) {
  for (const char* netdev : {"eth0", "eth1"}) tree.link("sys/class/net/" + std::string(netdev) + "/master", "../bond0");
  ports = {eth0.port(), eth1.port()};
  EXPECT_TRUE(ports[0].bond.empty());
  terms.disruptive = Disruptive::now;
  watch_links();
  FreeTurns turns(kernel, qos::kMemberPatience);
  unsigned polls = 0;
  qos::write_in_rounds(turns, ports, writer_of({.pfc = PrioSet{0x08}}), [&](auto) {
    if (++polls == 30) eth0.link_up();
  });
  EXPECT_EQ(polls, 30U) << "until the link is back";
  EXPECT_EQ(eth0.pfc.pfc_en, 0x08);
  EXPECT_EQ(eth1.pfc.pfc_en, 0x08);
}

// A member without a cable does not keep the next one waiting; nor does one whose link stays down.
TEST_F(RoceLag, TheWaitForAMembersLinkIsBounded) {
  terms.disruptive = Disruptive::now;
  eth0.carrier = false;
  FreeTurns turns(kernel, qos::kMemberPatience);
  qos::write_in_rounds(turns, ports, writer_of(roce(26, 3)),
                       [](auto) { FAIL() << "a link that was down before does not come back"; });
  EXPECT_EQ(eth1.pfc.pfc_en, 0x08);
  eth0.link_up();
  eth1.link_up();
  in_rounds(writer_of(roce(34, 4)), std::chrono::milliseconds(20));
  EXPECT_EQ(eth1.pfc.pfc_en & 0x10, 0x10);
}

// Another program has left the first member without a link: only a write of the second one waits for it.
TEST_F(RoceLag, APassThatWritesNothingDoesNotWaitForAMember) {
  settle_to(roce(26, 3));
  terms.disruptive = Disruptive::now;
  eth0.carrier = false;
  const auto now = std::chrono::steady_clock::now();
  qos::Unsettled left({}, {});
  left.add(kernel.root, ports[1], now);
  qos::Turns turns(kernel, left);
  turns.note_others(ports, now);
  ASSERT_NE(turns.why_wait(ports[2], now), "");
  qos::write_in_rounds(turns, ports, writer_of(roce(26, 3)), [](auto) { FAIL() << "everything is in sync"; });
  bool slept = false;
  qos::write_in_rounds(turns, ports, writer_of(roce(34, 4)), [&](auto) {
    slept = true;
    eth0.link_up();
  });
  EXPECT_TRUE(slept);
}

// The time of the write counts, not that of the first look at it; a member that had no link before is not awaited.
TEST_F(RoceLag, AnotherProgramsWriteIsAwaitedFromItsTimeOn) {
  eth0.carrier = false;
  const auto now = std::chrono::steady_clock::now();
  const auto waits = [&](std::optional<qos::Instant> restart) {
    qos::Unsettled first(tree.path(), [](const std::string& what) { ADD_FAILURE() << what; });
    first.add(kernel.root, ports[1], restart);
    qos::Unsettled next(tree.path(), [](const std::string& what) { ADD_FAILURE() << what; });
    qos::Turns turns(kernel, next);
    turns.note_others(ports, now);
    const bool out = !turns.why_wait(ports[2], now).empty();
    next.remove(ports[1]);
    return out;
  };
  EXPECT_FALSE(waits(std::nullopt));
  EXPECT_TRUE(waits(now - qos::kMemberPatience / 2));
  EXPECT_FALSE(waits(now - qos::kMemberPatience * 2));
  eth0.carrier = true;  // the driver may report the loss late
  EXPECT_TRUE(waits(now - qos::kMemberPause / 2));
  EXPECT_FALSE(waits(now - qos::kMemberPause * 2));
}

// Packets of a VLAN above the bond have a tag on the members' links.
TEST_F(RoceLag, AVlanAboveTheBondIsAboveItsMembers) {
  EXPECT_FALSE(has_vlan(kernel.root, "eth0"));
  tree.folder("sys/class/net/eth0/upper_bond0").folder("sys/class/net/bond0/upper_bond0.7");
  tree.file("proc/net/vlan/bond0.7", "");
  EXPECT_TRUE(has_vlan(kernel.root, "eth0"));
  EXPECT_TRUE(has_vlan(kernel.root, "bond0"));
  EXPECT_FALSE(has_vlan(kernel.root, "eth1"));
}

}  // namespace
}  // namespace fabric::test
