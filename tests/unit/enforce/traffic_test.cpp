// SPDX-License-Identifier: Apache-2.0
// RoCE's class of traffic moves as a whole: after every single change of a simulated NIC, an oracle that knows nothing
// of the product's rules judges by the NIC's own state whether RoCE is protected as before.
#include <numeric>

#include "enforce/restore.h"
#include "enforce/selftest.h"
#include "support/protection.h"
#include "support/roce_policies.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"
#include "support/turns.h"

namespace fabric::test {
namespace {

// ---- the runs

// The obstacle of a run: the n-th change is refused; a setting is held by another writer; a job starts before the n-th
// question whether the port is in use.
struct Hindrance {
  unsigned refused = 0;
  std::optional<SettingId> held{};
  std::optional<unsigned> busy_from{};
  [[nodiscard]] std::string text() const {
    if (refused != 0) return "change " + std::to_string(refused) + " is refused";
    if (held) return std::string(key_text(*held)) + " is held by another writer";
    if (busy_from) return "a job starts before question " + std::to_string(*busy_from);
    return "nothing hinders";
  }
};

struct WatchedBed {
  explicit WatchedBed(Personality personality) : bed(personality) {}
  FileBed bed;
  std::vector<std::string> faults;  // the oracle's
  unsigned changes = 0, questions = 0;

  // The states of the two DSCPs at the start, and at the end if nothing hinders.
  void watch(unsigned from, unsigned to, unsigned from_start, unsigned to_end) {
    bed.nic.after_change = [=, this](const std::string& op) {
      ++changes;
      const SimNic& nic = bed.nic;
      const unsigned least = from_start & to_end;
      const unsigned old_now = protection_on(nic, from), new_now = protection_on(nic, to);
      // These drivers cannot replace an entry of a DSCP: it is unmapped until it is added again.
      const bool cannot_replace = nic.personality == Personality::bnxt || nic.personality == Personality::ice;
      if (cannot_replace && (op == "delapp" || op == "setapp") && !priority_on(nic, from)) return;
      if ((least & ~old_now) == 0 || (least & ~new_now) == 0) return;
      faults.push_back("after change " + std::to_string(changes) + " (" + nic.log.back() + "): DSCP " +
                       std::to_string(from) + " has " + std::to_string(old_now) + ", DSCP " + std::to_string(to) +
                       " has " + std::to_string(new_now) + ", RoCE had " + std::to_string(from_start) + ", gets " +
                       std::to_string(to_end));
    };
  }
};

void expect_protected(Personality personality, const RocePolicy& from, const RocePolicy& to, const Hindrance& hindrance,
                      unsigned to_end, bool by_restore = false) {
  WatchedBed run(personality);
  FileBed& bed = run.bed;
  bed.settle_to(from.want);
  bed.settle_to(from.want);
  const unsigned from_start = protection_on(bed.nic, from.dscp);
  const auto log_before = bed.nic.log.size();
  // While a job runs, nothing is taken away, even if the policy does.
  if (hindrance.busy_from == 1U) to_end = ~0U;
  run.watch(from.dscp, to.dscp, from_start, to_end);
  bed.nic.refuse_change = hindrance.refused;
  bed.terms.in_conflict = [&](SettingId id) { return hindrance.held == id; };
  bed.terms.in_use = [&](const Port&) { return hindrance.busy_from && ++run.questions >= *hindrance.busy_from; };
  const Changes changes = by_restore ? test::write_back(bed.kernel, bed.port, to.want, bed.terms) : bed.apply(to.want);
  bed.nic.link_up();
  const unsigned least = from_start & to_end;
  const bool is_protected =
      (least & ~protection_on(bed.nic, from.dscp)) == 0 || (least & ~protection_on(bed.nic, to.dscp)) == 0;
  std::string log;
  for (size_t i = log_before; i < bed.nic.log.size(); ++i) log += bed.nic.log[i] + "\n";
  EXPECT_TRUE(run.faults.empty() && is_protected)
      << name_of(personality) << ": from \"" << from.name << "\" to \"" << to.name << "\", " << hindrance.text() << "\n"
      << (run.faults.empty() ? "at the end: unprotected" : run.faults.front()) << "\n"
      << log << text(changes);
  // A pass that nothing hinders completes the move.
  bed.nic.after_change = [](const auto&) {};
  bed.nic.refuse_change = 0;
  bed.terms = free_terms();
  bed.settle_to(to.want);
  const Changes last = bed.settle_to(to.want);
  // bnxt has two lossless queues. If a refusal in between leaves PFC on priorities that the new ETS would spread over
  // more classes, the class of traffic waits where it is protected.
  if (personality == Personality::bnxt &&
      has_outcome(last, "ets", Outcome::unsupported, "lossless traffic classes, the NIC has 2")) {
    EXPECT_EQ(protection_on(bed.nic, from.dscp) & from_start, from_start) << text(last);
    return;
  }
  EXPECT_TRUE(keys_with(last, Outcome::pending).empty() && keys_with(last, Outcome::refused).empty())
      << name_of(personality) << ": from \"" << from.name << "\" to \"" << to.name << "\", after " << hindrance.text()
      << "\n"
      << text(last);
  if (hindrance.busy_from != 1U) EXPECT_EQ(protection_on(bed.nic, to.dscp) & to_end, to_end) << text(last);
}

// A driver, and of how many runs one is done.
class Traffic : public testing::TestWithParam<std::tuple<Personality, unsigned>> {};
const auto kMovers = testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full);
const auto kMoverName = [](const auto& each) { return name_of(std::get<0>(each.param)); };
INSTANTIATE_TEST_SUITE_P(Drivers, Traffic, testing::Combine(kMovers, testing::Values(80U)), kMoverName);
INSTANTIATE_TEST_SUITE_P(DriversHarder, Traffic, testing::Combine(kMovers, testing::Values(1U)), kMoverName);

TEST_P(Traffic, IsNeverLeftWithLessProtection) {
  const auto [personality, every] = GetParam();
  std::mt19937 random(41);
  for (const RocePolicy& from : policies(personality))
    for (const RocePolicy& to : policies(personality)) {
      if (from.name == to.name) continue;
      // Without hindrance: the end, and the numbers of changes and questions.
      WatchedBed free(personality);
      free.bed.settle_to(from.want);
      free.bed.settle_to(from.want);
      free.bed.nic.after_change = [&](const auto&) { ++free.changes; };
      free.bed.terms.in_use = [&](const Port&) { return ++free.questions == 0; };
      free.bed.settle_to(to.want);
      const unsigned end = protection_on(free.bed.nic, to.dscp);
      std::vector<Hindrance> all{{}, {.busy_from = 1}};
      for (unsigned n = 1; n <= free.changes; ++n) all.push_back({.refused = n});
      for (unsigned n = 2; n <= free.questions; ++n) all.push_back({.busy_from = n});
      for (const Setting& setting : kSettings)
        if (has_value(setting, to.want) && setting.traffic != TrafficPart::none) all.push_back({.held = setting.id});
      expect_protected(personality, from, to, {}, end);
      for (const Hindrance& hindrance : all) {
        if (random() % every != 0) continue;
        expect_protected(personality, from, to, hindrance, end);
        expect_protected(personality, from, to, hindrance, end, true);
        if (testing::Test::HasFailure()) return;
      }
    }
}

// bnxt: the APP entry of RoCE v2 names the priority of RoCE's packets. A policy that does not set it releases that
// priority last, too.
TEST(TrafficOfBnxt, ThePriorityOfTheAppEntryIsReleasedLast) {
  FileBed bed{Personality::bnxt};
  RocePolicy from = roce("26 to 4, RoCE on 5", Personality::bnxt, 26, 4, 0x30);
  from.want.roce_prio = 5;
  bed.settle_to(from.want);
  bed.settle_to(from.want);
  ASSERT_EQ(bed.nic.pfc.pfc_en, 0x30);
  bool is_moved = false;
  bed.nic.after_change = [&](const auto&) {
    is_moved = is_moved || priority_on(bed.nic, 26) == 3U;
    if (!is_moved) EXPECT_TRUE((bed.nic.pfc.pfc_en & 0x20) != 0) << bed.nic.log.back();
  };
  const Changes changes = bed.settle_to(roce("26 to 3", Personality::bnxt, 26, 3, 0x08).want);
  EXPECT_TRUE(is_moved) << text(changes);
}

// A write that the policy wants and that takes protection away waits for the end of a job; the part of it that protects
// does not.
TEST(TrafficOfMlx5, OnABusyPortTheStepIsWrittenThatProtectsBoth) {
  FileBed bed{Personality::mlx5};
  RocePolicy to = roce("26 to 3, PFC on 3 and 4", Personality::mlx5, 26, 3, 0x18);
  to.want.ets->prio_tc = {0, 0, 0, 1, 2, 0, 3, 0};
  to.want.ets->tsa[2] = Tsa::ets;
  to.want.ets->bw = {40, 40, 20};
  bed.settle_to(to.want);
  bed.settle_to(to.want);
  // Another program exchanges the classes of 3 and of a lossy priority.
  bed.nic.ets.prio_tc[3] = 0;
  to.want.ets->prio_tc = {0, 0, 0, 1, 0, 0, 3, 0};
  bed.terms.in_use = kInUse;
  const Changes changes = bed.apply(to.want);
  EXPECT_EQ(protection_on(bed.nic, 26) & 4U, 4U) << text(changes);
  EXPECT_NE(bed.nic.ets.prio_tc[4], 0) << "4 is alone in its class as before\n" << text(changes);
  EXPECT_TRUE(has_outcome(changes, "ets", Outcome::pending, "takes protection away")) << text(changes);
}

// A NIC of these drivers has global pause on from the factory: it protects RoCE until PFC does. Both wait for the end
// of the job, although the driver changes pause without harm.
TEST(TrafficOfMlx5, GlobalPauseStaysUntilPfcMayBeWritten) {
  for (const bool with_pfc : {true, false})
    for (const Personality personality : {Personality::mlx5, Personality::mlx4}) {
      SCOPED_TRACE(name_of(personality) + (with_pfc ? " with PFC" : ""));
      FileBed bed{personality};
      bed.nic.pause = {.rx = true, .tx = true};
      Qos want{.dcbx = Dcbx::host, .pause = Pause{}};
      if (with_pfc) want.pfc = PrioSet{0x08};
      bed.terms.in_use = kInUse;
      const Changes waits = bed.apply(want);
      EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(waits);
      EXPECT_EQ(of(waits, "pause").outcome, Outcome::pending) << text(waits);
      bed.terms.in_use = kIdle;
      const Changes idle = bed.settle_to(want);
      EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(idle);
      EXPECT_EQ(bed.nic.pfc.pfc_en, with_pfc ? 0x08 : 0) << text(idle);
    }
}

// Global pause goes off first, because drivers refuse PFC beside it. If PFC then does not come, pause comes back.
TEST(TrafficOfMlx5, GlobalPauseIsRestoredIfPfcIsRefusedOrIgnored) {
  for (const Personality personality : {Personality::mlx5, Personality::mlx4, Personality::bnxt, Personality::full})
    for (const Fault& fault : {Fault{Fault::refuse, EIO}, Fault{Fault::ignore}}) {
      SCOPED_TRACE(name_of(personality) + (fault.action == Fault::ignore ? ", ignored" : ", refused"));
      FileBed bed{personality};
      bed.nic.pause = {.rx = true, .tx = true};
      Qos want = roce("26 to 3", personality, 26, 3, 0x08).want;
      want.pause = Pause{};
      bed.nic.faults["setpfc"] = fault;
      const Changes failed = bed.settle_to(want);
      EXPECT_EQ(bed.nic.pfc.pfc_en, 0) << text(failed);
      EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(failed);
      EXPECT_TRUE(has_outcome(failed, "pause", Outcome::pending, "waits for pfc")) << text(failed);
      bed.nic.faults.clear();
      bed.settle_to(want);
      const Changes done = bed.settle_to(want);
      EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(done);
      EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08) << text(done);
    }
}

// The answer after the write is lost: PFC is not written in this pass, and a job may have started before the next one.
TEST(TrafficOfMlx5, GlobalPauseIsRestoredIfThePassEndsBeforePfc) {
  for (const Personality personality : {Personality::mlx5, Personality::mlx4, Personality::bnxt, Personality::full})
    for (const bool is_refused : {false, true}) {
      SCOPED_TRACE(name_of(personality) + (is_refused ? ", PFC refused" : ""));
      FileBed bed{personality};
      bed.nic.pause = {.rx = true, .tx = true};
      Qos want = roce("26 to 3", personality, 26, 3, 0x08).want;
      want.pause = Pause{};
      const Fault lost{Fault::refuse, ENOBUFS, 2};  // the reading, and its repetition
      if (is_refused) bed.nic.faults["setpfc"] = {Fault::refuse, EIO};
      unsigned readings = 0;
      bed.nic.after_change = [&](const std::string& op) {
        if (op == "setpause" && !is_refused && readings++ == 0) bed.nic.faults["getpause"] = lost;
        if (op == "setpfc" && is_refused && readings++ == 0) bed.nic.faults["getpause"] = lost;
      };
      const Changes failed = bed.apply(want);
      EXPECT_EQ(bed.nic.pfc.pfc_en, 0) << text(failed);
      EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(failed);
      EXPECT_GT(readings, 0U);
      bed.nic.faults.clear();
      bed.settle_to(want);
      const Changes done = bed.settle_to(want);
      EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(done);
      EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08) << text(done);
    }
}

// The program was killed after it had switched pause off, and PFC does not come in the next pass either: the saved
// original shows what RoCE has lost.
TEST(TrafficOfMlx5, GlobalPauseIsRestoredAfterAPassThatWasKilled) {
  for (const Personality personality : {Personality::mlx5, Personality::mlx4, Personality::bnxt, Personality::full})
    for (const bool is_busy : {false, true}) {
      SCOPED_TRACE(name_of(personality) + (is_busy ? ", busy" : ", PFC refused"));
      FileBed bed{personality};
      bed.nic.pause = {.rx = true, .tx = true};
      Qos want = roce("26 to 3", personality, 26, 3, 0x08).want;
      want.pause = Pause{};
      std::optional<Qos> original = bed.read();
      bed.terms.original = [&](const Port&) { return original; };
      bed.nic.pause = {};
      const bool may_stop_traffic = personality == Personality::bnxt || personality == Personality::full;
      if (is_busy) bed.terms.in_use = kInUse;
      else bed.nic.faults["setpfc"] = {Fault::refuse, EIO};
      const Changes failed = bed.settle_to(want);
      EXPECT_EQ(bed.nic.pfc.pfc_en, 0) << text(failed);
      if (is_busy && may_stop_traffic) {
        EXPECT_EQ(bed.nic.calls["setpause"], 0U) << text(failed);
      } else {
        EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(failed);
        EXPECT_TRUE(has_outcome(failed, "pause", Outcome::pending, "waits for pfc")) << text(failed);
        EXPECT_NE(of(failed, "pause").from, of(failed, "pause").to);
      }
      const unsigned writes = bed.nic.calls["setpause"];
      original->pause = Pause{};
      if (is_busy) bed.apply(want);
      EXPECT_EQ(bed.nic.calls["setpause"], writes) << "it stays as it is";
      bed.terms.in_use = kIdle;
      bed.nic.faults.clear();
      bed.settle_to(want);
      const Changes done = bed.settle_to(want);
      EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(done);
      EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08) << text(done);
    }
}

TEST(TrafficOfMlx5, GlobalPauseThatThePortNeverHadIsNotWritten) {
  FileBed bed{Personality::mlx5};
  bed.nic.pause = {};
  Qos want = roce("26 to 3", Personality::mlx5, 26, 3, 0x08).want;
  want.pause = Pause{};
  const Qos original = bed.read();
  bed.terms.original = [&](const Port&) { return original; };
  bed.nic.faults["setpfc"] = {Fault::refuse, EIO};
  bed.settle_to(want);
  EXPECT_EQ(bed.nic.calls["setpause"], 0U);
}

// Without PFC global pause is the only protection: a job keeps it.
TEST(TrafficOfMlx5, GlobalPauseStaysOnABusyPortWithoutPfc) {
  FileBed bed{Personality::mlx5};
  bed.nic.pause = {.rx = true, .tx = true};
  bed.nic.faults["getpfc"] = {Fault::refuse, EOPNOTSUPP};
  const Qos want{.pause = Pause{}, .pfc = PrioSet{0x08}};
  bed.terms.in_use = kInUse;
  const Changes waits = bed.apply(want);
  ASSERT_EQ(of(waits, "pfc").outcome, Outcome::unsupported) << text(waits);
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(waits);
  EXPECT_TRUE(has_outcome(waits, "pause", Outcome::pending, "takes protection away")) << text(waits);
  bed.terms.in_use = kIdle;
  const Changes idle = bed.apply(want);
  EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(idle);
}

// The NIC shows PFC and cannot have the wanted one: what an idle port has lost by the policy is not written again.
TEST(TrafficOfBnxt, GlobalPauseIsNotRestoredIfPfcCannotBe) {
  FileBed bed{Personality::bnxt};
  bed.nic.pause = {.rx = true, .tx = true};
  bed.nic.pfc.pfc_cap = 1;
  Qos want = roce("26 to 3", Personality::bnxt, 26, 3, 0x18).want;
  want.pause = Pause{};
  want.ets->prio_tc[4] = 2;
  const Changes changes = bed.settle_to(want);
  ASSERT_EQ(of(changes, "pfc").outcome, Outcome::unsupported) << text(changes);
  EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(changes);
  const auto writes = bed.nic.writes();
  EXPECT_EQ(of(bed.apply(want), "pause").outcome, Outcome::in_sync);
  EXPECT_EQ(bed.nic.writes(), writes);
}

// mlx4 ends PFC when global pause is switched on; a policy without pfc says nothing of that.
TEST(TrafficOfMlx4, PauseThatEndsPfcWaitsForAnIdlePort) {
  FileBed bed{Personality::mlx4};
  bed.settle_to({.dcbx = Dcbx::host, .pfc = PrioSet{0x08}});
  ASSERT_EQ(bed.nic.pfc.pfc_en, 0x08);
  bed.terms.in_use = kInUse;
  const Changes changes = bed.apply({.pause = Pause{.rx = true, .tx = true}});
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08) << text(changes);
}

// A virtual function's packets have the tags that its guest or `ip link set NETDEV vf 0 vlan 7 qos 3` gives them: no
// VLAN of the host shows them. Jobs of pods with RoCE on PCP 3 must not lose PFC when the port begins to trust DSCP.
TEST(TrafficOfMlx5, TheTagsOfAVirtualFunctionCount) {
  FileBed bed{Personality::mlx5};
  bed.port.pci = "0000:24:00.0";
  const std::string function = "sys/bus/pci/devices/" + bed.port.pci;
  bed.tree.file(function + "/device", "0x1021\n");  // ConnectX-7: the change of trust does not stop the port
  const std::vector<RocePolicy> all = policies(Personality::mlx5);
  const Qos& pcp = all.back().want;
  const Qos dscp = roce("26 to 3", Personality::mlx5, 26, 3, 0x08).want;
  bed.settle_to(pcp);
  bed.settle_to(pcp);
  ASSERT_EQ(bed.nic.pfc.pfc_en, 0x08);
  bed.tree.folder(function + "/virtfn0");
  bed.terms.in_use = kInUse;
  const Changes waits = bed.apply(dscp);
  EXPECT_TRUE(bed.nic.app.empty()) << "PCP is trusted as before\n" << text(waits);
  EXPECT_TRUE(has_outcome(waits, "dscp_map", Outcome::pending, "moves RoCE to another priority"));
  bed.tree.remove(function + "/virtfn0");
  const Changes untagged = bed.apply(dscp);
  EXPECT_FALSE(bed.nic.app.empty()) << "without tags nothing has used priority 3\n" << text(untagged);
}

// While ice trusts DSCP it keeps its classes, in which RoCE has no share of its own. Classes that a policy derives for
// other drivers hinder no move.
TEST(TrafficOfIce, ClassesThatItKeepsHinderNoMove) {
  FileBed bed{Personality::ice};
  const auto policy = [](unsigned priority) {
    RocePolicy out = roce("", Personality::ice, 26, priority, static_cast<uint8_t>(1U << priority));
    out.want.ets->prio_tc = {0, 0, 0, 0, 0, 0, 2, 0};
    out.want.ets->prio_tc[priority] = 1;
    out.want.ets->bw = {50, 50};
    return out.want;
  };
  bed.settle_to(policy(3));
  bed.settle_to(policy(3));
  ASSERT_EQ(bed.nic.pfc.pfc_en, 0x08);
  const Changes changes = bed.settle_to(policy(4));
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x10) << text(changes);
  EXPECT_EQ(priority_on(bed.nic, 26), 4U) << text(changes);
  EXPECT_EQ(of(changes, "ets").outcome, Outcome::unsupported);
}

// RoCE moves from priority 3 to 4 while a job runs.
class Move : public testing::TestWithParam<Personality> {
 protected:
  void SetUp() override {
    bed.settle_to(from.want);
    bed.settle_to(from.want);
    bed.nic.log.clear();
  }
  // The places of the changes in the log.
  [[nodiscard]] size_t first(const std::string& what) const {
    for (size_t i = 0; i < bed.nic.log.size(); ++i)
      if (has(bed.nic.log[i], what)) return i;
    return SIZE_MAX;
  }
  [[nodiscard]] std::string log() const {
    return std::accumulate(bed.nic.log.begin(), bed.nic.log.end(), std::string(),
                           [](std::string all, const std::string& line) { return std::move(all) + line + "\n"; });
  }
  FileBed bed{GetParam()};
  const RocePolicy from = roce("26 to 3", GetParam(), 26, 3, 0x08), to = roce("26 to 4", GetParam(), 26, 4, 0x10);
};
INSTANTIATE_TEST_SUITE_P(Drivers, Move, testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice),
                         personality_name);

TEST_P(Move, WaitsAsAWholeForAnIdlePort) {
  bed.terms.in_use = kInUse;
  const Changes plan = bed.plan(to.want), changes = bed.apply(to.want);
  EXPECT_EQ(bed.nic.writes(), 0U) << log();
  for (const char* key : {"dscp_map", "ets", "pfc"}) {
    EXPECT_EQ(of(changes, key).outcome, Outcome::pending) << text(changes);
    EXPECT_EQ(of(plan, key).outcome, Outcome::pending) << text(plan);
  }
  EXPECT_TRUE(has_outcome(changes, "ets", Outcome::pending, "uses the port"));
}

TEST_P(Move, ProtectsTheNewPriorityThenMovesThenReleasesTheOld) {
  expect_all(bed.settle_to(to.want), {Outcome::applied, Outcome::in_sync});
  const size_t both = first("pfc_en=0x18"), moved = first("setapp sel=5 proto=26 prio=4"), last = first("pfc_en=0x10");
  EXPECT_TRUE(both < moved && moved < last && last != SIZE_MAX) << log();
  expect_settled(bed, to.want);
}

TEST_P(Move, ARefusalNamesTheSettingThatTheOthersWaitFor) {
  bed.nic.faults["setpfc"] = {.code = EIO};
  const Changes changes = bed.settle_to(to.want);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::refused);
  EXPECT_TRUE(has_outcome(changes, "dscp_map", Outcome::pending, "waits for pfc"));
  EXPECT_EQ(first("proto=26"), SIZE_MAX) << log();
}

// Settings that only protect do not wait for the others.
TEST_P(Move, ProtectionThatWasLostComesBackAtOnce) {
  bed.nic.ets.tc_tx_bw[bed.nic.ets.prio_tc[3]] = 0;
  bed.nic.ets.tc_tx_bw[0] = 100;
  if (GetParam() == Personality::mlx5) {
    bed.terms.in_use = kInUse;
    EXPECT_EQ(of(bed.apply(from.want), "ets").outcome, Outcome::applied);
  }
}

TEST_P(Move, ASelfTestKeepsTheTrafficProtected) {
  WatchedBed run(GetParam());
  FileBed& own = run.bed;
  own.settle_to(from.want);
  own.settle_to(from.want);
  const unsigned start = protection_on(own.nic, 26);
  run.watch(26, 26, start, start);
  FreeTurns turns(own.kernel);
  const auto test = qos::self_test(own.kernel, own.port, to.want,
                                   {.directory = own.tree.path(), .in_use = kIdle, .turns = turns, .patience = {}});
  ASSERT_TRUE(test.ok()) << test.error().text();
  EXPECT_TRUE(run.faults.empty()) << run.faults.front();
  EXPECT_TRUE(test->is_restored()) << text(test->restored);
  EXPECT_EQ(protection_on(own.nic, 26), start);
}

}  // namespace
}  // namespace fabric::test
