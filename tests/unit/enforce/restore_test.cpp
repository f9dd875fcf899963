// SPDX-License-Identifier: Apache-2.0
// The original settings before our first write: each port keeps its own until they are restored.
#include "enforce/restore.h"

#include <linux/ethtool.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "enforce/confirm.h"
#include "enforce/selftest.h"
#include "node/node.h"
#include "support/ports.h"
#include "support/sim_nic_bed.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"
#include "support/turns.h"

namespace fabric::test {
namespace {

// mlx5 RoCE LAG: the bond's RDMA device sits on the function of its first member.
class BondRestore : public testing::Test {
 protected:
  BondRestore() {
    bond_.mtu = 2000;
    for (Port* port : {&ports_[0], &ports_[1]}) {
      port->rdma = "mlx5_bond_0";
      port->pci = "0000:24:00.0";
      port->kernel_driver = "mlx5_core";
    }
    make_bond(ports_[0]);
    make_member(ports_[1]);
  }
  void apply(const qos::SaveOriginal& save) {
    for (Port& port : ports_) {
      test::reconcile(kernel_, port, profile(Personality::mlx5), free_terms(), save);
      member_.link_up();
    }
    ASSERT_EQ(bond_.mtu, 4200U);
    ASSERT_EQ(member_.pfc.pfc_en, 8);
  }
  Tree tree_;
  SimKernel sim_;
  SimNic& bond_ = sim_.add_nic("bond0", Personality::nodcb);
  SimNic& member_ = sim_.add_nic("eth0", Personality::mlx5);
  Kernel kernel_ = sim_.kernel();
  std::vector<Port> ports_{bond_.port(), member_.port()};
};

TEST_F(BondRestore, TheMembersSettingsOutliveThoseOfTheBond) {
  state::Originals originals;
  apply(
      [&](const Port& port, const Qos& before) { return state::save_original(tree_.path(), originals, port, before); });
  ASSERT_EQ(originals.size(), 1U) << "one function, one entry";
  test::restore(kernel_, ports_[0], ports_, originals, free_terms());
  EXPECT_EQ(bond_.mtu, 2000U);
  EXPECT_EQ(originals.size(), 1U);
  test::restore(kernel_, ports_[1], ports_, originals, free_terms());
  EXPECT_EQ(member_.pfc.pfc_en, 0);
  EXPECT_TRUE(originals.empty());
}

// A card was taken out, or its driver is not loaded: it is not said that all is back.
TEST_F(BondRestore, WhatIsSavedOfAPortThatIsGoneIsTold) {
  state::Originals originals;
  originals[state::port_key(ports_[0])].mtu = 1500;
  EXPECT_TRUE(qos::restore_of_absent(originals, ports_).empty());
  originals["0000:2a:00.0/1"].pfc = PrioSet{1 << 3};
  const Changes absent = qos::restore_of_absent(originals, ports_);
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].port, "0000:2a:00.0/1");
  EXPECT_EQ(absent[0].outcome, Outcome::pending);
  EXPECT_EQ(absent[0].to, "3");
}

TEST_F(BondRestore, AnApplyThatNobodyConfirmedIsTakenBackOnBoth) {
  confirm::Record record =
      confirm::begin({"a boot", 0}, std::chrono::seconds(1), {.disruptive = Disruptive::now}, "policy");
  apply([&](const Port& port, const Qos& before) -> Result<void> {
    confirm::remember(record, port, before, Keys().set());
    return {};
  });
  revert(kernel_, ports_, record, {"a boot", 2'000}, kIdle);
  EXPECT_EQ(bond_.mtu, 2000U);
  EXPECT_EQ(member_.pfc.pfc_en, 0);
  EXPECT_FALSE(confirm::is_pending(record));
}

TEST(Restore, WhatThePortDoesNotOfferNowIsKept) {
  Bed bed(Personality::full);
  Qos want = profile(Personality::full);
  want.maxrate = Rates{{0, 0, 0, 1'000'000, 0, 0, 0, 0}};
  state::Originals originals;
  Tree tree;
  bed.save = [&](const Port& port, const Qos& before) {
    return state::save_original(tree.path(), originals, port, before);
  };
  bed.apply(want);
  const Rates applied = *want.maxrate;
  ASSERT_EQ(bed.read().maxrate, applied);
  bed.nic.faults["getmaxrate"] = {Fault::refuse, EOPNOTSUPP, -1};
  const Changes changes = test::restore(bed.kernel, bed.port, {}, originals, free_terms());
  EXPECT_EQ(of(changes, "maxrate").outcome, Outcome::unsupported);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
  ASSERT_EQ(originals.size(), 1U);
  EXPECT_EQ(keys_of(originals.begin()->second).count(), 1U) << "what is back is forgotten";
  bed.nic.faults.clear();
  test::restore(bed.kernel, bed.port, {}, originals, free_terms());
  EXPECT_EQ(bed.read().maxrate, Rates{});
  EXPECT_TRUE(originals.empty());
}

// A driver that shows its rings once the netdev has another MTU: one message sets both sizes, so that both originals
// are saved before it.
TEST(Restore, TwoSettingsThatAppearLateAndAreWrittenTogetherHaveTheirOriginals) {
  Bed bed(Personality::full);
  bed.nic.after_change = [&](const std::string& op) {
    if (op != "setmtu" || bed.nic.ethtool.ring_rx) return;
    bed.nic.ethtool.ring_rx = {512, 8192};
    bed.nic.ethtool.ring_tx = {256, 8192};
  };
  state::Originals originals;
  Tree tree;
  bed.save = [&](const Port& port, const Qos& before) {
    return state::save_original(tree.path(), originals, port, before);
  };
  const Changes changes = bed.apply({.mtu = 4200, .ring_rx = 2048, .ring_tx = 1024});
  EXPECT_EQ(bed.nic.calls["setrings"], 1U) << text(changes);
  ASSERT_EQ(bed.nic.ethtool.ring_rx->now, 2048U) << text(changes);
  ASSERT_EQ(bed.nic.ethtool.ring_tx->now, 1024U) << text(changes);
  ASSERT_EQ(originals.size(), 1U);
  EXPECT_EQ(originals.begin()->second.ring_rx, 512U);
  EXPECT_EQ(originals.begin()->second.ring_tx, 256U);
  EXPECT_EQ(originals.begin()->second.mtu, 1500U);
  const auto loaded = state::load_originals(tree.path());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(*loaded, originals) << "durable before the write";
  test::restore(bed.kernel, bed.port, {}, originals, free_terms());
  EXPECT_EQ(bed.nic.ethtool.ring_rx->now, 512U);
  EXPECT_EQ(bed.nic.ethtool.ring_tx->now, 256U);
}

// ice shows the FEC of the link alone. A write of another setting while there is none says nothing about FEC: its
// original is the mode that the link shows before FEC itself is written.
TEST(Restore, TheOriginalOfFecIsThatOfTheLinkIfItComesUpBeforeTheWrite) {
  Bed bed(Personality::ice);
  bed.nic.ethtool.fec = ETHTOOL_FEC_BASER;
  bed.nic.ethtool.fec_abilities = ETHTOOL_FEC_OFF | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER;
  bed.nic.dcbx = DCB_CAP_DCBX_VER_IEEE;
  bed.nic.carrier = false;
  state::Originals originals;
  Tree tree;
  bed.save = [&](const Port& port, const Qos& before) {
    return state::save_original(tree.path(), originals, port, before);
  };
  const Qos want{.dcbx = Dcbx::host, .fec = Fec{ETHTOOL_FEC_RS}};
  bed.terms.in_use = kInUse;
  Changes changes = bed.apply(want);
  ASSERT_EQ(of(changes, "dcbx").outcome, Outcome::applied) << text(changes);
  ASSERT_EQ(of(changes, "fec").outcome, Outcome::pending);
  ASSERT_EQ(originals.size(), 1U);
  EXPECT_TRUE(originals.begin()->second.unknown.none());
  bed.nic.carrier = true;
  bed.terms.in_use = kIdle;
  changes = bed.apply(want);
  ASSERT_EQ(bed.nic.ethtool.fec, ETHTOOL_FEC_RS) << text(changes);
  EXPECT_EQ(originals.begin()->second.fec, Fec{ETHTOOL_FEC_BASER});
}

// A bond for IP: the port keeps its RDMA device. The bond sets the MTU, and gives the port its own back.
struct MemberForIp : TreeWithFiles, Bed, testing::Test {
  MemberForIp() : Bed(Personality::mlx5, tree.path()) {
    tree.file("sys/class/net/bond0/bonding/slaves", "eth0\n");
    save = [this](const Port& of, const Qos& before) {
      return state::save_original(tree.path(), originals, of, before, qos::bond_above(kernel.root, of));
    };
  }
  void join(uint32_t mtu) {
    tree.link("sys/class/net/eth0/master", "../bond0");
    own_mtu = std::exchange(nic.mtu, mtu);
  }
  void leave() {
    tree.remove("sys/class/net/eth0/master");
    nic.mtu = own_mtu;
  }
  Changes restore() { return test::restore(kernel, port, {port}, originals, free_terms()); }
  state::Originals originals;
  uint32_t own_mtu = 0;
};

TEST_F(MemberForIp, TheMtuOfTheBondIsNoOriginalOnceItHasEnded) {
  nic.mtu = 2000;
  join(1500);
  settle_to({.mtu = 4200});
  EXPECT_EQ(*state::load_originals(tree.path()), originals);
  EXPECT_EQ(originals.begin()->second.bond, "bond0");
  leave();
  settle_to({.mtu = 4200});
  restore();
  EXPECT_EQ(nic.mtu, 2000U);
  EXPECT_TRUE(originals.empty());
  join(1500);
  settle_to({.mtu = 4200});
  restore();
  EXPECT_EQ(nic.mtu, 1500U) << "below the bond it is";
  EXPECT_TRUE(originals.empty());
  settle_to({.mtu = 4200});
  leave();
  restore();
  EXPECT_EQ(nic.mtu, 2000U);
  EXPECT_TRUE(originals.empty());
}

TEST_F(MemberForIp, TheOriginalMtuIsKeptUntilTheBondHasEnded) {
  nic.mtu = 2000;
  settle_to({.mtu = 4200});
  join(9000);
  EXPECT_TRUE(has_outcome(restore(), "mtu", Outcome::unsupported, "bond0 sets the MTU"));
  EXPECT_EQ(nic.mtu, 9000U);
  leave();
  restore();
  EXPECT_EQ(nic.mtu, 2000U);
  EXPECT_TRUE(originals.empty());
}

// apply --confirm tried an MTU before the port joined the bond.
TEST_F(MemberForIp, ARevertLeavesTheMtuOfTheBond) {
  confirm::Record record = confirm::begin({"a boot", 0}, std::chrono::seconds(1), {}, "");
  confirm::remember(record, port, {.mtu = 1500}, keys_of(Qos{.mtu = 1500}), qos::bond_above(kernel.root, port));
  nic.mtu = 4200;
  join(9000);
  std::vector<Port> ports{port};
  const auto may_end = [&](uint64_t milliseconds) {
    return confirm::may_end(kernel, ports, record, {"a boot", milliseconds}, kIdle, [](const Port&) { return false; });
  };
  EXPECT_FALSE(may_end(2'000));
  EXPECT_TRUE(may_end(700'000));
  const Changes kept = test::revert(kernel, ports, record, {"a boot", 2'000}, kIdle);
  EXPECT_TRUE(has_outcome(kept, "mtu", Outcome::unsupported, "bond0 sets the MTU"));
  EXPECT_EQ(nic.mtu, 9000U);
  EXPECT_TRUE(confirm::is_pending(record));
  test::revert(kernel, ports, record, {"a boot", 700'000}, kIdle);
  EXPECT_FALSE(confirm::is_pending(record)) << "the other ports do not wait for the end of the bond";
  EXPECT_TRUE(has(confirm::left_text(record), "mtu"));
  EXPECT_FALSE(may_end(2'000));
  leave();
  EXPECT_TRUE(may_end(2'000));
  test::revert(kernel, ports, record, {"a boot", 701'000}, kIdle);
  EXPECT_EQ(nic.mtu, 1500U);
  EXPECT_TRUE(record.is_restored());
}

// The apply tried an MTU below the bond, and the kernel has restored the port's own.
TEST_F(MemberForIp, ARevertAfterTheBondLeavesTheMtuOfThePort) {
  nic.mtu = 2000;
  join(1500);
  confirm::Record record = confirm::begin({"a boot", 0}, std::chrono::seconds(1), {}, "");
  confirm::remember(record, port, {.mtu = 1500}, keys_of(Qos{.mtu = 1500}), qos::bond_above(kernel.root, port));
  nic.mtu = 4200;
  leave();
  std::vector<Port> ports{port};
  test::revert(kernel, ports, record, {"a boot", 2'000}, kIdle);
  EXPECT_EQ(nic.mtu, 2000U);
  EXPECT_TRUE(record.is_restored());
}

// A card was replaced by one of another driver in the same slot.
TEST(Restore, SettingsOfAnotherDriversCardAreKeptAside) {
  Tree tree;
  state::Originals originals;
  Bed old(Personality::bnxt), present(Personality::full);
  ASSERT_EQ(state::port_key(old.port), state::port_key(present.port));
  ASSERT_TRUE(state::save_original(tree.path(), originals, old.port, {.mtu = 9000}).ok());
  EXPECT_TRUE(test::restore(present.kernel, present.port, {}, originals, free_terms()).empty());
  EXPECT_EQ(present.nic.writes(), 0U);
  const Changes kept = qos::restore_of_absent(originals, {present.port});
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_TRUE(has(kept[0].detail, "saved for bnxt_en")) << kept[0].detail;
  EXPECT_TRUE(has(kept[0].detail, "does not get them")) << kept[0].detail;
  ASSERT_TRUE(state::save_original(tree.path(), originals, present.port, {.mtu = 1500}).ok());
  EXPECT_EQ(originals.size(), 2U);
  present.nic.mtu = 4200;
  test::restore(present.kernel, present.port, {}, originals, free_terms());
  EXPECT_EQ(present.nic.mtu, 1500U);
  test::restore(old.kernel, old.port, {}, originals, free_terms());
  EXPECT_EQ(old.nic.mtu, 9000U) << "the card has returned";
  EXPECT_TRUE(originals.empty());
}

TEST(Restore, AValueThatNoFileTakesCostsItselfAlone) {
  Tree tree;
  state::Originals originals;
  const Qos before{.mtu = 1500,
                   .dscp_map = DscpMap{{26, 9}},  // dcb_ieee_setapp() takes every priority
                   .maxrate = Rates{{UINT64_MAX, 0, 0, 0, 0, 0, 0, 0}}};
  ASSERT_TRUE(state::save_original(tree.path(), originals, {.netdev = "eth0"}, before).ok());
  const auto loaded = state::load_originals(tree.path());
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->at("netdev:eth0").mtu, 1500U);
  EXPECT_FALSE(loaded->at("netdev:eth0").dscp_map);
}

// Writes each setting of a profile once, and then the previous values.
struct SelfTestBed : Bed {
  explicit SelfTestBed(Personality personality) : Bed(personality), before(read()) {}
  Result<qos::SelfTest> test(const qos::UseCheck& in_use = kIdle, bool route_allowed = false) {
    return qos::self_test(
        kernel, port, profile(nic.personality),
        {.directory = tree.path(), .in_use = in_use, .turns = turns, .patience = {}, .route_allowed = route_allowed});
  }
  // Acts as the program that starts next.
  void end(const qos::UseCheck& in_use = kIdle) {
    nic.link_up();
    EXPECT_TRUE(qos::end_self_test(kernel, {&port, 1}, tree.path(), in_use, turns).ok());
    nic.link_up();
  }
  bool has_record() const { return tree.root().exists(state::kSelfTestFile); }
  Tree tree;
  FreeTurns turns{kernel};
  const Qos before;
};

TEST(SelfTest, WritesEachSettingOnceAndRestoresWhatWas) {
  for (auto personality : {Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full}) {
    SelfTestBed bed(personality);
    auto test = bed.test([&](const Port&) {
      EXPECT_TRUE(bed.has_record());
      return false;
    });
    ASSERT_TRUE(test.ok());
    for (const auto& step : test->steps)
      EXPECT_TRUE(is_done(step.outcome)) << key_text(step.setting) << " " << to_text(step.outcome) << " "
                                         << step.detail;
    EXPECT_EQ(test->steps.size(), keys_of(profile(personality)).count());
    EXPECT_TRUE(test->is_restored()) << text(test->restored);
    const auto pfc = std::ranges::find(test->steps, SettingId::pfc, &qos::SelfTestStep::setting);
    ASSERT_NE(pfc, test->steps.end());
    EXPECT_EQ(pfc->second, personality == Personality::mlx5 || personality == Personality::ice ? "3" : "")
        << "by CEE, where the driver has it";
    EXPECT_FALSE(bed.has_record());
    bed.nic.link_up();
    EXPECT_EQ(bed.read(), bed.before);
  }
}

// The firmware is busy when the thresholds are computed again at the end.
TEST(SelfTest, SaysThatThePortIsNotSettled) {
  for (const bool is_busy : {false, true}) {
    SelfTestBed bed(Personality::mlx5);
    bed.settle_to(profile(Personality::mlx5));
    bed.settle_to(profile(Personality::mlx5));
    ASSERT_EQ(bed.nic.pfc.pfc_en, 8);
    bed.nic.after_change = [&](const std::string& op) {
      bed.nic.link_up();
      if (op == "setpfc" && is_busy) bed.nic.faults["setpfc"] = {Fault::refuse, EBUSY};
    };
    const auto test = bed.test();
    ASSERT_TRUE(test.ok());
    EXPECT_TRUE(test->is_restored()) << text(test->restored);
    EXPECT_EQ(test->settled.ok(), !is_busy);
  }
}

// A killed test was ended in part, because the driver refused a setting, or an apply has set the others since. The next
// test restores all that it writes.
TEST(SelfTest, RestoresAllItWritesAfterOneThatWasEndedInPart) {
  for (auto personality : {Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full}) {
    SCOPED_TRACE(name_of(personality));
    SelfTestBed bed(personality);
    const Qos left{.mtu = bed.before.mtu};
    ASSERT_TRUE(state::save_originals(bed.tree.path(), {{state::port_key(bed.port), left}}, state::kSelfTestFile).ok());
    auto test = bed.test();
    ASSERT_TRUE(test.ok());
    EXPECT_TRUE(test->is_restored()) << text(test->restored);
    EXPECT_FALSE(bed.has_record());
    bed.nic.link_up();
    EXPECT_EQ(bed.read(), bed.before);
  }
}

struct Killed {};

bool has_ended(pid_t process) {
  if (::kill(process, 0) != 0) return errno == ESRCH;
  std::string stat;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), stat);
  return stat.find(") Z ") != std::string::npos;
}

// Killed before each write in turn, and before each write of the first attempt to restore: the record on disk brings
// the settings from before the test back.
TEST(SelfTest, KilledAtAnyWriteIsRestoredByTheNextStart) {
  for (auto personality : {Personality::mlx5, Personality::bnxt, Personality::ice}) {
    size_t killed = 0;
    for (unsigned at = 0; at < 40; ++at) {
      SCOPED_TRACE(name_of(personality) + " killed at " + std::to_string(at));
      SelfTestBed bed(personality);
      unsigned calls = 0;
      try {
        (void)bed.test([&](const Port&) {
          if (calls++ == at) throw Killed();
          return false;
        });
        EXPECT_FALSE(bed.has_record());
        break;
      } catch (const Killed&) {
        ++killed;
      }
      EXPECT_TRUE(bed.has_record());
      bed.end();
      EXPECT_FALSE(bed.has_record());
      EXPECT_EQ(bed.read(), bed.before);
    }
    EXPECT_GE(killed, 7u);
  }
}

// The second test of a port that is not restored yet has still the first one's record.
TEST(SelfTest, StopsWhenAQueuePairOpensAndKeepsItsRecordUntilItCloses) {
  SelfTestBed bed(Personality::mlx5);
  unsigned calls = 0;
  const auto busy = [&](const Port&) { return calls++ >= 7; };
  auto test = bed.test(busy);
  ASSERT_TRUE(test.ok());
  EXPECT_TRUE(has(test->stopped, "has come into use"));
  EXPECT_FALSE(test->is_restored()) << text(test->restored);
  EXPECT_TRUE(bed.has_record());
  bed.end(busy);
  EXPECT_TRUE(bed.has_record());
  bed.end();
  EXPECT_FALSE(bed.has_record());
  EXPECT_EQ(bed.read(), bed.before);
}

// A job starts when global pause is off and PFC is not on yet, or was refused. Its end, which restores the rest, waits
// for the end of the job.
TEST(SelfTest, LeavesNoJobWithoutGlobalPauseAndPfc) {
  for (const Personality personality : {Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full})
    for (const bool is_refused : {false, true}) {
      SCOPED_TRACE(name_of(personality) + (is_refused ? ", PFC refused" : ""));
      SelfTestBed bed(personality);
      ASSERT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
      if (is_refused) bed.nic.faults["setpfc"] = {Fault::refuse, EIO};
      bool has_job = false, was_off = false;
      const auto busy = [&](const Port&) {
        bed.nic.link_up();
        const bool is_off = !bed.nic.pause.rx && bed.nic.pfc.pfc_en == 0;
        was_off = was_off || is_off;
        has_job = has_job || (is_off && (!is_refused || bed.nic.calls.contains("setpfc")));
        return has_job;
      };
      const auto test = bed.test(busy);
      ASSERT_TRUE(test.ok());
      EXPECT_TRUE(was_off);
      EXPECT_EQ(has_job, !is_refused) << "after the refusal, global pause has returned";
      EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
      bed.nic.faults.clear();
      bed.end();
      EXPECT_FALSE(bed.has_record());
      EXPECT_EQ(bed.read(), bed.before);
    }
}

// A write that would give the port its protection back is refused: it is repeated; if it fails for good, the test ends,
// says so, and the program that ends it tries again, although a job is running.
TEST(SelfTest, RepeatsTheWriteThatReturnsProtectionAndSaysThatItFailed) {
  for (const int times : {2, -1}) {
    SCOPED_TRACE(times);
    SelfTestBed bed(Personality::mlx5);
    bed.nic.faults["setpfc"] = {Fault::refuse, EIO};
    bool is_off = false;
    bed.nic.after_change = [&](const std::string& op) {
      if (op != "setpause" || bed.nic.pause.rx || is_off) return;
      is_off = true;
      bed.nic.faults["setpause"] = {Fault::refuse, EBUSY, times};
    };
    const auto test = bed.test([&](const Port&) { return is_off && bed.nic.calls.contains("setpfc"); });
    ASSERT_TRUE(test.ok());
    ASSERT_TRUE(is_off);
    EXPECT_EQ(bed.nic.pause.rx && bed.nic.pause.tx, times > 0);
    EXPECT_FALSE(test->is_restored());
    if (times > 0) continue;
    EXPECT_TRUE(has(test->stopped, "RoCE has neither global pause nor PFC")) << test->stopped;
    EXPECT_TRUE(has_outcome(test->restored, "pause", Outcome::refused, "RoCE has neither global pause nor PFC"));
    EXPECT_EQ(of(test->restored, "pause").code, EBUSY);
    bed.nic.faults.clear();
    bed.end(kInUse);
    EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
    EXPECT_TRUE(bed.has_record()) << "the rest waits for the end of the job";
    bed.end();
    EXPECT_FALSE(bed.has_record());
    EXPECT_EQ(bed.read(), bed.before);
  }
}

// A program that ends a test comes again and again. A write that the driver accepts without effect may restart the link
// of the job each time: it is repeated after pauses that grow. A refused pause leaves the link as it is, and the job
// has no protection: it is repeated after each period, however often it was refused.
TEST(SelfTest, AFailedReturnOfProtectionIsRepeatedSoonIfItWasRefused) {
  for (const Fault& fault : {Fault{Fault::refuse, EIO}, Fault{Fault::ignore}}) {
    const bool is_refused = fault.action == Fault::refuse;
    SCOPED_TRACE(is_refused ? "refused" : "accepted without effect");
    SelfTestBed bed(Personality::bnxt);
    ASSERT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
    state::Original before(bed.before);
    before.may_lack_pause_and_pfc = true;
    ASSERT_TRUE(
        state::save_originals(bed.tree.path(), {{state::port_key(bed.port), before}}, state::kSelfTestFile).ok());
    bed.nic.pause = {};
    bed.nic.faults["setpause"] = fault;
    qos::Drift failures(ConflictRule{}, std::chrono::seconds(30));
    const auto writes_at = [&](int second) {
      const unsigned writes = bed.nic.calls["setpause"];
      const qos::SelfTestRetries retries{failures, qos::Instant(std::chrono::seconds(second))};
      const auto ended =
          qos::end_self_test(bed.kernel, {&bed.port, 1}, bed.tree.path(), kInUse, bed.turns, {}, &retries);
      EXPECT_TRUE(ended.ok());
      bed.nic.link_up();
      return bed.nic.calls["setpause"] - writes;
    };
    std::vector<int> tried;
    for (int second = 0; second < 300; second += 5)
      if (writes_at(second) != 0) tried.push_back(second);
    if (is_refused) EXPECT_EQ(tried, (std::vector<int>{0, 30, 60, 90, 120, 150, 180, 210, 240, 270}));
    else EXPECT_EQ(tried, (std::vector<int>{0, 30, 90, 210}));
    bed.nic.faults.clear();
    EXPECT_NE(writes_at(is_refused ? 300 : 450), 0U);
    EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
    bed.end();
    EXPECT_FALSE(bed.has_record());
  }
}

// The record is all that is left if a test and its guard are killed together.
TEST(SelfTest, ItsRecordShowsThePortAndWhatIsNotAsBefore) {
  SelfTestBed bed(Personality::mlx5);
  EXPECT_TRUE(qos::open_self_tests(bed.tree.root(), {bed.port}).value().empty());
  Port absent = bed.port;
  absent.pci = "0000:99:00.0";
  absent.card.clear();
  ASSERT_TRUE(state::save_originals(bed.tree.path(),
                                    {{state::port_key(bed.port), Qos{.mtu = 9000, .pfc = bed.before.pfc}},
                                     {state::port_key(absent), Qos{.mtu = 9000}}},
                                    state::kSelfTestFile)
                  .ok());
  bed.port.qos = bed.read();
  const auto tests = qos::open_self_tests(bed.tree.root(), {bed.port});
  ASSERT_TRUE(tests.ok());
  ASSERT_EQ(tests->size(), 2U);
  for (const qos::OpenSelfTest& test : *tests) {
    EXPECT_EQ(test.absent, test.port != bed.port.id());
    EXPECT_EQ(test.differing, test.absent ? Keys() : Keys().set(index(SettingId::mtu)));
    EXPECT_EQ(has(qos::text_of(test, false), "was interrupted; not as before it: mtu"), !test.absent);
    EXPECT_EQ(has(qos::text_of(test, false), "absent or excluded"), test.absent);
  }
}

// Killed between global pause and PFC, and then a job starts: it gets back what the port had, whatever that write does
// to the link, once; the rest waits for the end of the job.
TEST(SelfTest, KilledWithoutGlobalPauseAndPfcGivesAJobItsProtectionBack) {
  for (const Personality personality : {Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full})
    for (const bool had_pfc : {false, true}) {
      SCOPED_TRACE(name_of(personality) + (had_pfc ? ", from PFC" : ", from global pause"));
      SelfTestBed bed(personality);
      if (had_pfc) {
        bed.settle_to(profile(personality));
        bed.settle_to(profile(personality));
        ASSERT_EQ(bed.nic.pfc.pfc_en, 8);
        state::Original before(bed.read());
        before.may_lack_pause_and_pfc = true;
        ASSERT_TRUE(
            state::save_originals(bed.tree.path(), {{state::port_key(bed.port), before}}, state::kSelfTestFile).ok());
        Qos trial = profile(personality);
        trial.pfc = PrioSet{};
        trial.mtu = 1500;
        bed.settle_to(trial);
      } else {
        EXPECT_THROW((void)bed.test([&](const Port&) {
          bed.nic.link_up();
          if (!bed.nic.pause.rx && bed.nic.pfc.pfc_en == 0) throw Killed();
          return false;
        }),
                     Killed);
      }
      ASSERT_FALSE(bed.nic.pause.rx || bed.nic.pfc.pfc_en != 0);
      bed.end(kInUse);
      const auto is_back = [&] { return had_pfc ? bed.nic.pfc.pfc_en == 8 : bed.nic.pause.rx && bed.nic.pause.tx; };
      EXPECT_TRUE(is_back());
      EXPECT_TRUE(bed.has_record());
      // A value that the policy removes afterwards does not come back.
      bed.nic.pause = {};
      bed.nic.pfc.pfc_en = 0;
      bed.end(kInUse);
      if (had_pfc || personality != Personality::mlx5) EXPECT_FALSE(is_back());
      bed.end();
      EXPECT_FALSE(bed.has_record());
    }
}

// The end of an older self-test does not undo a value that an apply has set meanwhile.
TEST(SelfTest, TheEndOfAKilledOneLeavesWhatAnApplyHasSet) {
  SelfTestBed bed(Personality::mlx5);
  ASSERT_TRUE(state::save_originals(bed.tree.path(), {{state::port_key(bed.port), Qos{.mtu = 9000, .pfc = PrioSet{8}}}},
                                    state::kSelfTestFile)
                  .ok());
  ASSERT_TRUE(qos::keep_from_self_test(bed.tree.path(), bed.port, Keys().set(index(SettingId::mtu))).ok());
  bed.end();
  EXPECT_EQ(bed.nic.mtu, 1500U);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 8);
  EXPECT_FALSE(bed.has_record());
}

// The program holds the lock and is killed: its guard acts. It ends without acting if the test has ended.
TEST(SelfTest, ItsGuardEndsAKilledOne) {
  for (const bool is_killed : {true, false}) {
    SCOPED_TRACE(is_killed);
    const Tree tree;
    const Port port{.netdev = "eth0"};
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t program = ::fork();
    if (program == 0) {
      const auto lock = state::take_lock(tree.path());
      const auto act = [&] {
        std::ofstream(tree.path() + "/acted") << "yes";
        (void)state::save_originals(tree.path(), {}, state::kSelfTestFile);
        return std::chrono::minutes(1);  // it does not wait any longer than there is a record
      };
      const auto detach = [&] { std::ofstream(tree.path() + "/guard") << ::getpid(); };
      bool stands = lock && qos::start_self_test_guard(tree.path(), port, detach, act);
      stands = stands &&
               state::save_originals(tree.path(), {{state::port_key(port), Qos{.mtu = 1500}}}, state::kSelfTestFile);
      if (!is_killed) stands = stands && state::save_originals(tree.path(), {}, state::kSelfTestFile);
      (void)!::write(ready[1], stands ? "y" : "n", 1);
      if (is_killed) ::pause();
      ::_exit(0);
    }
    char stands = 0;
    ASSERT_EQ(::read(ready[0], &stands, 1), 1);
    ASSERT_EQ(stands, 'y');
    pid_t guard = 0;
    ASSERT_TRUE(std::ifstream(tree.path() + "/guard") >> guard);
    if (is_killed) ::kill(program, SIGKILL);
    ASSERT_EQ(::waitpid(program, nullptr, 0), program);
    EXPECT_TRUE(becomes([&] { return has_ended(guard); }));
    EXPECT_EQ(tree.root().exists("acted"), is_killed);
    for (const int end : ready) ::close(end);
  }
}

// Nothing ends a test by a damaged record. The operator repairs or removes it.
TEST(SelfTest, ItsGuardWaitsForARepairOfADamagedRecord) {
  Tree tree;
  tree.file(state::kSelfTestFile, "{");
  const auto act = [&] {
    std::ofstream(tree.path() + "/acted") << "yes";
    return std::chrono::seconds(0);
  };
  const auto detach = [&] { std::ofstream(tree.path() + "/guard") << ::getpid(); };
  ASSERT_TRUE(qos::start_self_test_guard(tree.path(), Port{.netdev = "eth0"}, detach, act).ok());
  pid_t guard = 0;
  ASSERT_TRUE(std::ifstream(tree.path() + "/guard") >> guard);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(has_ended(guard));
  tree.remove(state::kSelfTestFile);
  EXPECT_TRUE(becomes([&] { return has_ended(guard); }));
  EXPECT_FALSE(tree.root().exists("acted"));
}

// The default route comes during the test: without --force its port is written no more, also not to end the test.
TEST(SelfTest, StopsWhenTheDefaultRouteComes) {
  for (const bool route_allowed : {false, true}) {
    SCOPED_TRACE(route_allowed);
    SelfTestBed bed(Personality::mlx5);
    unsigned calls = 0, downs = 0;
    const auto test = bed.test(
        [&](const Port&) {
          if (++calls == 4) bed.nic.has_default_route = true;
          if (calls == 4) downs = bed.nic.carrier_downs;
          bed.nic.link_up();
          if (!bed.nic.has_default_route) return qos::Use{};
          return qos::Use{.why = "the default route", .kind = qos::UseKind::default_route, .has_default_route = true};
        },
        route_allowed);
    ASSERT_TRUE(test.ok());
    ASSERT_GE(calls, 4U);
    EXPECT_EQ(test->stopped.empty(), route_allowed) << test->stopped;
    EXPECT_EQ(test->is_restored(), route_allowed) << text(test->restored);
    EXPECT_EQ(bed.has_record(), !route_allowed);
    if (route_allowed) continue;
    EXPECT_EQ(bed.nic.carrier_downs, downs);
    bed.end();
    EXPECT_TRUE(bed.has_record());
    EXPECT_EQ(bed.nic.carrier_downs, downs);
    bed.nic.has_default_route = false;
    bed.end();
    EXPECT_FALSE(bed.has_record());
    EXPECT_EQ(bed.read(), bed.before);
  }
}

// Also not to give it back global pause, which takes the link down with this driver.
TEST(SelfTest, ADefaultRouteThatComesWithoutGlobalPauseAndPfcKeepsItsLink) {
  SelfTestBed bed(Personality::bnxt);
  unsigned downs = 0;
  const auto test = bed.test([&](const Port&) {
    if (!bed.nic.has_default_route && !bed.nic.pause.rx && bed.nic.pfc.pfc_en == 0) {
      bed.nic.has_default_route = true;
      downs = bed.nic.carrier_downs;
    }
    bed.nic.link_up();
    if (!bed.nic.has_default_route) return qos::Use{};
    return qos::Use{.why = "the default route", .kind = qos::UseKind::default_route, .has_default_route = true};
  });
  ASSERT_TRUE(test.ok());
  ASSERT_TRUE(bed.nic.has_default_route);
  EXPECT_FALSE(test->stopped.empty());
  EXPECT_EQ(bed.nic.carrier_downs, downs);
  bed.nic.has_default_route = false;
  bed.end();
  EXPECT_FALSE(bed.has_record());
  EXPECT_EQ(bed.read(), bed.before);
}

// The port has got a job and the default route since: the job waits for its pause, or for an entry that names the port.
TEST(SelfTest, AJobBesideTheDefaultRouteGetsNoPauseByARestartOfTheLink) {
  SelfTestBed bed(Personality::bnxt);
  state::Original before(bed.before);
  before.may_lack_pause_and_pfc = true;
  ASSERT_TRUE(state::save_originals(bed.tree.path(), {{state::port_key(bed.port), before}}, state::kSelfTestFile).ok());
  bed.nic.pause = {};
  bed.nic.has_default_route = true;
  const unsigned downs = bed.nic.carrier_downs;
  bed.end(kInUse);
  EXPECT_EQ(bed.nic.carrier_downs, downs);
  EXPECT_FALSE(bed.nic.pause.rx);
  EXPECT_TRUE(bed.has_record());
  const auto front_end = [](const Port&) { return true; };
  EXPECT_TRUE(qos::end_self_test(bed.kernel, {&bed.port, 1}, bed.tree.path(), kInUse, bed.turns, front_end).ok());
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
}

// The next program knows by the record that the test was forced, or by an entry that names the port.
TEST(SelfTest, OfThePortOfTheDefaultRouteEndsAsItMayBeWritten) {
  for (const bool is_forced : {true, false}) {
    SCOPED_TRACE(is_forced);
    SelfTestBed bed(Personality::mlx5);
    bed.nic.has_default_route = is_forced;
    unsigned calls = 0;
    try {
      (void)bed.test(
          [&](const Port&) {
            if (++calls == 6) throw Killed();
            return false;
          },
          is_forced);
      FAIL();
    } catch (const Killed&) {
    }
    bed.nic.has_default_route = true;
    const auto front_end = [&](const Port&) { return !is_forced; };
    EXPECT_TRUE(qos::end_self_test(bed.kernel, {&bed.port, 1}, bed.tree.path(), kIdle, bed.turns, front_end).ok());
    EXPECT_FALSE(bed.has_record());
  }
}

TEST(SelfTest, WithoutARecordNothingIsWritten) {
  SelfTestBed bed(Personality::mlx5);
  bed.tree.file("var/lib", "a file where a directory should be");
  EXPECT_FALSE(bed.test().ok());
  EXPECT_EQ(bed.nic.writes(), 0u);
}

// Without a link ice does not show the mode that would have to be restored.
TEST(SelfTest, LeavesFecAloneWhileItsModeIsUnknown) {
  SelfTestBed bed(Personality::ice);
  bed.nic.ethtool.fec = ETHTOOL_FEC_BASER;
  bed.nic.ethtool.fec_abilities = ETHTOOL_FEC_OFF | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER;
  bed.nic.carrier = bed.port.carrier.emplace(false);
  const auto test = qos::self_test(bed.kernel, bed.port, {.mtu = 4200, .fec = Fec{ETHTOOL_FEC_RS}},
                                   {.directory = bed.tree.path(), .in_use = kIdle, .turns = bed.turns, .patience = {}});
  ASSERT_TRUE(test.ok());
  ASSERT_EQ(test->steps.size(), 2U);
  EXPECT_EQ(test->steps[0].setting, SettingId::fec);
  EXPECT_EQ(test->steps[0].outcome, Outcome::unsupported);
  EXPECT_EQ(test->steps[1].outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.ethtool.fec, ETHTOOL_FEC_BASER);
  EXPECT_FALSE(bed.has_record());
}

TEST(SelfTest, CountsTheLinkAndNamesARefusal) {
  SelfTestBed bed(Personality::mlx5);
  bed.nic.faults["setets"] = {.code = EINVAL, .times = 1};
  auto test = bed.test();
  ASSERT_TRUE(test.ok());
  for (const auto& step : test->steps) {
    const bool pfc = step.setting == SettingId::pfc;
    EXPECT_EQ(step.carrier_downs, pfc ? 1u : 0u) << key_text(step.setting);
    EXPECT_EQ(step.link_back, !pfc) << "nothing brings this link up again";
    EXPECT_EQ(step.code, step.setting == SettingId::ets ? EINVAL : 0);
    if (pfc) bed.nic.link_up();
  }
}

TEST(SelfTest, IsRefusedWhereItWouldCutOffTheHostOrAJob) {
  Tree tree;
  SimKernel sim;
  SimNic& nic = sim.add_nic("eth0", Personality::mlx5);
  Kernel kernel = sim.kernel(tree.path());
  const auto why = [&](bool route_allowed) { return qos::why_no_self_test(kernel, nic.port(), route_allowed); };
  EXPECT_TRUE(has(why(false), "cannot be determined")) << "not known";
  auto rdma = std::make_unique<SimRdma>();
  rdma->devices[0] = {.name = nic.port().rdma, .ports = {{1, {}}}, .owners = {{"qp", {}}, {"mr", {}}}};
  kernel.rdma = std::move(rdma);
  EXPECT_EQ(why(false), "");
  nic.has_default_route = true;
  EXPECT_EQ(why(false), "the default route leaves by eth0; --force tests it anyway");
  EXPECT_EQ(why(true), "");
}

}  // namespace
}  // namespace fabric::test
