// SPDX-License-Identifier: Apache-2.0
// Global pause and PFC exclude each other, and each of them makes RoCE's priority lossless. A policy that replaces one
// by the other never leaves RoCE without both, whatever the driver refuses. An oracle judges by the NIC's own state.
#include "enforce/restore.h"
#include "support/protection.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

constexpr unsigned kDscp = 26, kPriority = 3;

struct LosslessBy {
  bool pause = false, pfc = false;
  [[nodiscard]] bool any() const { return pause || pfc; }
  bool operator==(const LosslessBy&) const = default;
  [[nodiscard]] std::string text() const {
    return std::string("pause ") + (pause ? "on" : "off") + ", PFC " + (pfc ? "[3]" : "none");
  }
};
constexpr LosslessBy kNeither{}, kPfc{.pfc = true}, kPause{.pause = true}, kBoth{.pause = true, .pfc = true};

// `with_class`: with PFC, RoCE has a class of its own; without it, no DSCP is mapped.
Qos policy(Personality personality, LosslessBy by, bool with_class) {
  Qos want{.pause = Pause{.rx = by.pause, .tx = by.pause}, .pfc = PrioSet{static_cast<uint8_t>(by.pfc ? 0x08 : 0)}};
  if (personality != Personality::qede) want.dcbx = Dcbx::host;
  const bool is_mapped = by.pfc || !with_class;
  Ets& ets = want.ets.emplace();
  if (personality == Personality::ice) {
    ets = shares(kIdentity, {});
    ets.bw[0] = ets.bw[kPriority] = 50;
  } else if (is_mapped) {
    ets.prio_tc[kPriority] = 1;
    ets.tsa[0] = ets.tsa[1] = Tsa::ets;
    ets.bw[0] = ets.bw[1] = 50;
  } else {
    ets.tsa[0] = Tsa::ets;
    ets.bw[0] = 100;
  }
  const bool knows_dscps =
      personality != Personality::i40e && personality != Personality::qede && personality != Personality::mlx4;
  if (!knows_dscps) return want;
  want.dscp_map = is_mapped ? DscpMap{{kDscp, kPriority}} : DscpMap{};
  want.trust = is_mapped ? Trust::dscp : Trust::pcp;
  if (personality == Personality::ice && !is_mapped) want.ets.reset();
  return want;
}

bool is_lossless(const SimNic& nic) {
  if (nic.pause.rx && nic.pause.tx) return true;
  const bool is_tagged = nic.personality == Personality::i40e || nic.personality == Personality::qede ||
                         nic.personality == Personality::mlx4;
  const unsigned priority = is_tagged ? kPriority : priority_on(nic, kDscp).value_or(0);
  return (nic.pfc.pfc_en >> priority & 1) != 0;
}

// The result of the writes of one operation, or the reason not to write the port.
struct Obstacle {
  enum Kind : uint8_t { none, refused, unsent, ignored, unread, in_conflict, busy, default_route, never, window };
  Kind kind = none;
  std::string op{};
  [[nodiscard]] std::string text() const {
    constexpr const char* kNames[]{
        "nothing hinders", "refused",   "not sent (ENOBUFS)", "ignored", "not read afterwards",
        "in conflict",     "port busy", "default route",      "never",   "window closed"};
    return kNames[kind] + (op.empty() ? "" : ": " + op);
  }
};

// A bed with the policy `from`, and an oracle that counts the writes in a row, of those that the driver refuses also,
// after which RoCE is not protected.
struct WatchedPass {
  WatchedPass(Personality personality, const Qos& from) : bed(personality) {
    bed.settle_to(from);
    bed.settle_to(from);
    was_lossless = is_lossless(bed.nic);
    original = bed.read();
    log_before = bed.nic.log.size();
    watch();
  }
  void watch() {
    bed.nic.after_change = [this](const std::string& op) {
      ++changes;
      if (changes == killed_after) throw std::runtime_error("killed");
      // qede offers PFC to the switch, and "setall" makes it effective.
      if (bed.nic.personality == Personality::qede && op == "setpfc") return;
      if (is_lossless(bed.nic)) unprotected = 0;
      else longest = std::max(longest, ++unprotected);
      if (op == unread_after) bed.nic.faults["getpause"] = {Fault::refuse, ENOBUFS, 2};
    };
  }
  void put(const Obstacle& obstacle) {
    SimNic& nic = bed.nic;
    switch (obstacle.kind) {
      case Obstacle::none: break;
      case Obstacle::refused: nic.faults[obstacle.op] = {Fault::refuse, EIO}; break;
      case Obstacle::unsent: nic.faults[obstacle.op] = {Fault::refuse, ENOBUFS, 1}; break;
      case Obstacle::ignored: nic.faults[obstacle.op] = {Fault::ignore}; break;
      case Obstacle::unread: unread_after = obstacle.op; break;
      case Obstacle::in_conflict:
        bed.terms.in_conflict = [op = obstacle.op](SettingId id) { return "set" + std::string(key_text(id)) == op; };
        break;
      case Obstacle::busy: bed.terms.in_use = kInUse; break;
      case Obstacle::default_route: nic.has_default_route = true; break;
      case Obstacle::never: bed.terms.disruptive = Disruptive::never; break;
      case Obstacle::window: bed.terms.window = qos::Maintenance::closed; break;
    }
  }
  void clear() {
    bed.nic.faults.clear();
    bed.nic.has_default_route = false;
    bed.terms = free_terms();
    unread_after.clear();
    killed_after = 0;
  }
  Changes pass(const Qos& want, bool by_restore) {
    Changes changes_made = by_restore ? test::write_back(bed.kernel, bed.port, want, bed.terms) : bed.apply(want);
    bed.nic.link_up();
    return changes_made;
  }
  // ice and i40e hide global pause beside PFC.
  Pause shown_pause() { return bed.read().pause.value_or(Pause{}); }
  [[nodiscard]] std::string log() const {
    std::string out;
    for (size_t i = log_before; i < bed.nic.log.size(); ++i) out += bed.nic.log[i] + "\n";
    return out;
  }

  FileBed bed;
  bool was_lossless = false;
  Qos original;
  size_t log_before = 0;
  unsigned changes = 0, killed_after = 0, unprotected = 0, longest = 0;
  std::string unread_after;
};

std::vector<Obstacle> obstacles(bool with_class) {
  std::vector<Obstacle> out{{}, {Obstacle::busy}, {Obstacle::default_route}, {Obstacle::never}, {Obstacle::window}};
  for (const char* op : {"setpause", "setpfc"})
    for (const auto kind :
         {Obstacle::refused, Obstacle::unsent, Obstacle::ignored, Obstacle::unread, Obstacle::in_conflict})
      out.push_back({kind, op});
  if (with_class)
    for (const char* op : {"setets", "setapp", "delapp", "settrust"})
      for (const auto kind : {Obstacle::refused, Obstacle::ignored}) out.push_back({kind, op});
  return out;
}

class PauseOrPfc : public testing::TestWithParam<Personality> {};
INSTANTIATE_TEST_SUITE_P(Drivers, PauseOrPfc,
                         testing::Values(Personality::mlx5, Personality::mlx4, Personality::bnxt, Personality::ice,
                                         Personality::full, Personality::i40e, Personality::qede),
                         personality_name);

// Every step-th case; the number of obstacles is no multiple of `step`, so that all have their turn.
void replace_pause_or_pfc(Personality personality, unsigned step) {
  unsigned cases = 0;
  for (const bool with_class : {false, true})
    for (const LosslessBy from : {kNeither, kPfc, kPause, kBoth})
      for (const LosslessBy to : {kNeither, kPfc, kPause, kBoth})
        for (const Obstacle& obstacle : obstacles(with_class)) {
          const bool is_watched = from.any() && to.any() && !(from == to);
          if (!is_watched && obstacle.kind != Obstacle::none) continue;
          if (++cases % step != 0) continue;
          const bool by_restore = cases / step % 2 == 0;
          SCOPED_TRACE("from " + from.text() + " to " + to.text() + (with_class ? ", with its class; " : "; ") +
                       obstacle.text() + (by_restore ? ", by write_back()" : ""));
          WatchedPass run(personality, policy(personality, from, with_class));
          EXPECT_EQ(run.was_lossless, from.any());
          const Qos want = policy(personality, to, with_class);
          run.put(obstacle);
          const Changes changes = run.pass(want, by_restore);
          if (is_watched) {
            EXPECT_TRUE(is_lossless(run.bed.nic)) << run.log() << text(changes);
            // ice's writer returns the PFC that the port shows to the driver's copy after a refusal; mlx5's writes the
            // pause that a PFC of none has ended, and the pass repeats it.
            EXPECT_LE(run.longest, personality == Personality::ice || personality == Personality::mlx5 ? 3U : 2U)
                << "more than the writes of pause and PFC\n"
                << run.log() << text(changes);
          }
          run.clear();
          run.pass(want, by_restore);
          const Changes last = run.pass(want, by_restore);
          if (to.pause && to.pfc) continue;  // not every driver can have both
          EXPECT_EQ(run.shown_pause().rx, to.pause) << run.log() << text(last);
          // bnxt shows PFC of a priority that it does not pause, because its class has no lossless queue.
          const bool is_idle = run.bed.nic.pfc.pfc_en == 0x08 && protection_of(run.bed.nic, 3) == 0;
          EXPECT_EQ(is_idle ? 0 : run.bed.nic.pfc.pfc_en, to.pfc ? 0x08 : 0) << run.log() << text(last);
          if (testing::Test::HasFailure()) return;
        }
}

TEST_P(PauseOrPfc, RoceIsNeverLeftWithoutBoth) { replace_pause_or_pfc(GetParam(), 4); }
TEST_P(PauseOrPfc, RoceIsNeverLeftWithoutBothHarder) { replace_pause_or_pfc(GetParam(), 1); }

// The program is killed after any of its changes, and the new protection does not come in the next pass either.
TEST_P(PauseOrPfc, RoceIsProtectedAfterAPassThatWasKilled) {
  unsigned killed = 0;
  for (const bool with_class : {false, true})
    for (const bool to_pause : {false, true})
      for (const auto kind : {Obstacle::none, Obstacle::refused, Obstacle::unsent, Obstacle::ignored})
        for (unsigned after = 1;; ++after) {
          Obstacle obstacle{kind};
          if (kind != Obstacle::none) obstacle.op = to_pause ? "setpause" : "setpfc";
          SCOPED_TRACE(std::string(to_pause ? "to pause" : "to PFC") + (with_class ? ", with its class" : "") +
                       ", killed after change " + std::to_string(after) + "; " + obstacle.text());
          WatchedPass run(GetParam(), policy(GetParam(), to_pause ? kPfc : kPause, with_class));
          const Qos want = policy(GetParam(), to_pause ? kPause : kPfc, with_class);
          run.killed_after = after;
          bool was_killed = false;
          try {
            run.pass(want, false);
          } catch (const std::runtime_error&) {
            was_killed = true;
          }
          if (!was_killed) break;
          ++killed;
          // mlx5 has 64 entries of the DSCP map, of which few are tried.
          const bool is_entry = run.bed.nic.log.back().starts_with("setapp");
          if (GetParam() == Personality::mlx5 && is_entry && after % 8 != 0) continue;
          run.bed.nic.link_up();
          run.put(obstacle);
          run.bed.terms.original = [&](const Port&) { return run.original; };
          const Changes changes = run.pass(want, false);
          EXPECT_TRUE(is_lossless(run.bed.nic)) << run.log() << text(changes);
          run.clear();
          run.pass(want, false);
          const Changes last = run.pass(want, false);
          EXPECT_EQ(run.shown_pause().rx, to_pause) << run.log() << text(last);
          EXPECT_EQ(run.bed.nic.pfc.pfc_en, to_pause ? 0 : 0x08) << run.log() << text(last);
          if (HasFailure()) return;
        }
  EXPECT_GT(killed, 10U);
}

// A job keeps PFC until it has ended if the driver restarts the link for global pause.
TEST(PauseOrPfcPending, PfcSaysWhatPauseWaitsFor) {
  WatchedPass run(Personality::ice, policy(Personality::ice, kPfc, false));
  run.bed.terms.in_use = kInUse;
  const Changes changes = run.pass(policy(Personality::ice, kPause, false), false);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::pending) << text(changes);
  EXPECT_EQ(of(changes, "pause").wait, WaitsFor::idle_port) << text(changes);
  EXPECT_EQ(run.bed.nic.pfc.pfc_en, 0x08);
}

TEST(PauseOrPfcPending, PfcThatWasWrittenAgainSaysWhy) {
  WatchedPass run(Personality::mlx5, policy(Personality::mlx5, kPfc, false));
  run.put({Obstacle::refused, "setpause"});
  const Qos want = policy(Personality::mlx5, kPause, false);
  const Changes changes = run.pass(want, false);
  EXPECT_TRUE(has_outcome(changes, "pfc", Outcome::pending, "waits for pause")) << text(changes);
  EXPECT_EQ(of(changes, "pause").outcome, Outcome::refused) << text(changes);
  EXPECT_EQ(run.bed.nic.pfc.pfc_en, 0x08);
  // The agent does not try a setting again at once that the driver has refused.
  run.bed.terms.in_conflict = [](SettingId id) { return id == SettingId::pause; };
  const auto writes = run.bed.nic.writes();
  EXPECT_TRUE(has_outcome(run.pass(want, false), "pfc", Outcome::pending, "waits for pause"));
  EXPECT_EQ(run.bed.nic.writes(), writes);
}

// A setting appears after global pause went off, so that the originals are saved again before PFC, and the disk is full
// then. The original of pause was saved before.
TEST(PauseOrPfcPending, PauseComesBackAlsoIfOriginalsCannotBeSavedAnyMore) {
  FileBed bed{Personality::full};
  bed.nic.pause = {.rx = true, .tx = true};
  unsigned saves = 0;
  bed.save = [&](const Port&, const Qos&) -> Result<void> {
    if (!bed.nic.ethtool.pfc_prevention) return {};
    ++saves;
    return error(ENOSPC, "originals.json");
  };
  bed.nic.after_change = [&](const std::string& op) {
    if (op == "setpause" && !bed.nic.pause.rx) bed.nic.ethtool.pfc_prevention = 8000;
  };
  Qos want = policy(Personality::full, kPfc, false);
  want.pfc_watchdog = 200;
  const Changes changes = bed.settle_to(want);
  EXPECT_GT(saves, 0U);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::unsaved) << text(changes);
  EXPECT_TRUE(is_lossless(bed.nic)) << text(changes);
}

// PFC is on beside global pause, and RoCE's packets are not on its priority yet: pause alone protects them. If they do
// not get there, pause stays.
TEST(PauseOrPfcPending, PauseStaysUntilRocesPacketsAreWherePfcIs) {
  for (const Personality personality : {Personality::mlx5, Personality::full})
    for (const bool is_held : {false, true}) {
      SCOPED_TRACE(name_of(personality) + (is_held ? ", held by another writer" : ", refused"));
      FileBed bed{personality};
      bed.nic.pause = {.rx = true, .tx = true};
      bed.nic.pfc.pfc_en = 0x08;
      ASSERT_NE(priority_on(bed.nic, kDscp), kPriority);
      const Qos want = policy(personality, kPfc, true);
      if (is_held)
        bed.terms.in_conflict = [](SettingId id) { return id == SettingId::dscp_map || id == SettingId::trust; };
      else bed.nic.faults["setapp"] = {Fault::refuse, EIO};
      const Changes changes = bed.settle_to(want);
      EXPECT_TRUE(is_lossless(bed.nic)) << text(changes);
      EXPECT_TRUE(has_outcome(changes, "pause", Outcome::pending, "waits for "));
      EXPECT_FALSE(has(of(changes, "pause").detail, "waits for pfc")) << "it is on";
      bed.nic.faults.clear();
      bed.terms = free_terms();
      bed.settle_to(want);
      const Changes last = bed.settle_to(want);
      EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(last);
      EXPECT_TRUE(is_lossless(bed.nic)) << text(last);
    }
}

// New bits of PFC end pause in the NIC.
TEST(PauseOrPfcPending, PauseThatThePolicyDoesNotNameStaysToo) {
  for (const bool is_held : {false, true}) {
    SCOPED_TRACE(is_held ? "held by another writer" : "refused");
    FileBed bed{Personality::mlx5};
    bed.nic.pause = {.rx = true, .tx = true};
    Qos want = policy(Personality::mlx5, kPfc, true);
    want.pause.reset();
    if (is_held)
      bed.terms.in_conflict = [](SettingId id) { return id == SettingId::dscp_map || id == SettingId::trust; };
    else bed.nic.faults["setapp"] = {Fault::refuse, EIO};
    const Changes changes = bed.settle_to(want);
    EXPECT_TRUE(is_lossless(bed.nic)) << text(changes);
    EXPECT_TRUE(has_outcome(changes, "pfc", Outcome::pending, "waits for ")) << text(changes);
    bed.nic.faults.clear();
    bed.terms = free_terms();
    bed.settle_to(want);
    EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
    EXPECT_TRUE(is_lossless(bed.nic));
  }
}

// Another writer keeps pause on, and the DSCP map is refused.
TEST(PauseOrPfcPending, PfcThatEndsPauseInConflictWaitsUntilRocesPacketsAreThere) {
  FileBed bed{Personality::mlx5};
  bed.nic.pause = {.rx = true, .tx = true};
  const Qos want = policy(Personality::mlx5, kPfc, true);
  bed.terms.in_conflict = [](SettingId id) { return id == SettingId::pause; };
  bed.nic.faults["setapp"] = {Fault::refuse, EIO};
  const Changes changes = bed.settle_to(want);
  EXPECT_TRUE(is_lossless(bed.nic)) << text(changes);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0) << text(changes);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::pending) << text(changes);
  bed.nic.faults.clear();
  bed.settle_to(want);
  const Changes last = bed.settle_to(want);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08) << text(last);
  EXPECT_TRUE(is_lossless(bed.nic)) << text(last);
}

// PFC of another priority is on beside pause. If the driver refuses the new PFC, pause comes back.
TEST(PauseOrPfcPending, PauseComesBackIfPfcStaysOnAnotherPriority) {
  for (const Personality personality : {Personality::mlx5, Personality::bnxt, Personality::full}) {
    SCOPED_TRACE(name_of(personality));
    FileBed bed{personality};
    Qos before = policy(personality, kPfc, true);
    before.pfc = PrioSet{0x10};
    before.pause.reset();
    bed.settle_to(before);
    bed.settle_to(before);
    ASSERT_EQ(bed.nic.pfc.pfc_en, 0x10);
    bed.nic.pause = {.rx = true, .tx = true};
    bed.nic.faults["setpfc"] = {Fault::refuse, EIO};
    const Changes changes = bed.settle_to(policy(personality, kPfc, true));
    EXPECT_TRUE(is_lossless(bed.nic)) << text(changes);
    bed.nic.faults.clear();
    bed.settle_to(policy(personality, kPfc, true));
    const Changes last = bed.settle_to(policy(personality, kPfc, true));
    EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(last);
    EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08) << text(last);
  }
}

// PFC of another priority is on beside pause, which protects a job's packets; the policy wants neither.
TEST(PauseOrPfcPending, PauseBesidePfcStaysUntilTheJobHasEnded) {
  FileBed bed{Personality::mlx5};
  bed.settle_to(policy(Personality::mlx5, kNeither, false));
  bed.nic.pause = {.rx = true, .tx = true};
  bed.nic.pfc.pfc_en = 0x04;
  ASSERT_EQ(priority_on(bed.nic, kDscp), kPriority);
  bed.terms.in_use = kInUse;
  const Changes waits = bed.apply(policy(Personality::mlx5, kNeither, false));
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(waits);
  EXPECT_EQ(of(waits, "pause").wait, WaitsFor::idle_port) << text(waits);
  bed.terms.in_use = kIdle;
  const Changes done = bed.settle_to(policy(Personality::mlx5, kNeither, false));
  EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx || bed.nic.pfc.pfc_en != 0) << text(done);
}

// The mark of RoCE's packets decides, too, whether PFC reaches them: it is written before pause goes off.
TEST(PauseOrPfcPending, PauseStaysUntilRoceIsMarkedForPfc) {
  FileBed bed{Personality::mlx5};
  const std::string tos = "sys/kernel/config/rdma_cm/" + bed.port.rdma + "/ports/1/default_roce_tos";
  bed.tree.file(tos, "0\n");
  bed.files->on_write(tos, store_number(0, 255));
  bed.nic.pause = {.rx = true, .tx = true};
  Qos want = policy(Personality::mlx5, kPfc, true);
  want.roce_tos = kDscp << 2U;
  bed.files->fault({.code = EIO, .glob = "*default_roce_tos"});
  const Changes changes = bed.settle_to(want);
  EXPECT_EQ(of(changes, "roce_tos").outcome, Outcome::refused) << text(changes);
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(changes);
  EXPECT_TRUE(has_outcome(changes, "pause", Outcome::pending, "waits for roce_tos"));
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0) << text(changes);
  bed.files->heal();
  bed.settle_to(want);
  const Changes last = bed.settle_to(want);
  EXPECT_EQ(bed.tree.content(tos).substr(0, 3), "104");
  EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(last);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08) << text(last);
}

}  // namespace
}  // namespace fabric::test
