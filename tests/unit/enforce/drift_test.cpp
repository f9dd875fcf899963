// SPDX-License-Identifier: Apache-2.0
#include "enforce/drift.h"

#include "support/test.h"

namespace fabric::qos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Transition = Drift::Transition;

class DriftTest : public testing::Test {
 protected:
  static Change change(Outcome outcome, std::string from = "none", std::string to = "3") {
    return {.port = "mlx5_0/1",
            .setting = SettingId::pfc,
            .outcome = outcome,
            .from = std::move(from),
            .to = std::move(to)};
  }
  Transition see(Outcome outcome, std::string from = "none") {
    return drift_.observe(change(outcome, std::move(from)), now_);
  }
  bool held() const { return drift_.is_held("mlx5_0/1", "pfc", now_); }
  uint64_t repairs() const { return drift_.repairs("mlx5_0/1", "pfc"); }
  void fight() {
    see(Outcome::applied);
    for (int i = 0; i < 3; ++i) see(Outcome::applied);
    ASSERT_TRUE(held());
  }

  Drift drift_{ConflictRule{3, seconds(60)}, seconds(30)};
  Instant now_{};
};

TEST_F(DriftTest, TheFirstWriteIsNoRepair) {
  EXPECT_EQ(see(Outcome::applied), Transition::nothing);
  EXPECT_EQ(repairs(), 0U);
  EXPECT_EQ(see(Outcome::applied), Transition::repaired);
  EXPECT_EQ(repairs(), 1U);
}

TEST_F(DriftTest, AWriteOverWhatWasInSyncIsARepair) {
  EXPECT_EQ(see(Outcome::in_sync, "3"), Transition::nothing);
  EXPECT_EQ(see(Outcome::applied), Transition::repaired);
}

TEST_F(DriftTest, AWriteThatTheReadingCannotProveIsARepairAsWell) {
  EXPECT_EQ(see(Outcome::unverified, "3"), Transition::nothing);
  EXPECT_EQ(see(Outcome::unverified), Transition::repaired);
}

TEST_F(DriftTest, AsManyRepairsAsRoundsWithinTheWindowAreAConflict) {
  see(Outcome::in_sync, "3");
  EXPECT_EQ(see(Outcome::applied), Transition::repaired);
  EXPECT_EQ(see(Outcome::applied), Transition::repaired);
  EXPECT_FALSE(held());
  EXPECT_EQ(see(Outcome::applied), Transition::conflict);
  EXPECT_TRUE(held());
  EXPECT_TRUE(drift_.is_in_conflict("mlx5_0/1"));
  EXPECT_EQ(repairs(), 3U);
}

TEST_F(DriftTest, RepairsFarApartAreNoConflict) {
  see(Outcome::in_sync, "3");
  for (int i = 0; i < 20; ++i, now_ += seconds(31)) EXPECT_EQ(see(Outcome::applied), Transition::repaired) << i;
  EXPECT_EQ(repairs(), 20U);
}

// A writer without notifications (firmware's DCBX) is found once a re-read: the link would flap for ever.
TEST_F(DriftTest, WhatFlapsTheLinkAtEachReReadIsAConflict) {
  Drift drift(ConflictRule{5, seconds(60)}, seconds(30));
  Change flaps = change(Outcome::applied);
  flaps.disruptive = true;
  drift.observe(flaps, now_);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(drift.observe(flaps, now_ += milliseconds(30'100)), Transition::repaired);
  EXPECT_EQ(drift.observe(flaps, now_ += milliseconds(30'100)), Transition::conflict);
}

TEST_F(DriftTest, OneSettingInConflictHoldsNoOther) {
  fight();
  EXPECT_FALSE(drift_.is_held("mlx5_0/1", "mtu", now_));
  EXPECT_FALSE(drift_.is_held("mlx5_1/1", "pfc", now_));
  EXPECT_FALSE(drift_.is_in_conflict("mlx5_1/1"));
}

TEST_F(DriftTest, AConflictEndsAfterAWindowAsWanted) {
  fight();
  now_ += seconds(30);
  EXPECT_EQ(see(Outcome::conflict, "none"), Transition::conflict_moved);
  now_ += seconds(1);
  EXPECT_EQ(see(Outcome::in_sync, "3"), Transition::nothing);
  now_ += seconds(59);
  EXPECT_EQ(see(Outcome::in_sync, "3"), Transition::conflict_moved);
  now_ += seconds(1);
  EXPECT_EQ(see(Outcome::in_sync, "3"), Transition::conflict_over);
  EXPECT_FALSE(held());
}

TEST_F(DriftTest, AConflictGoesOnWhileTheValueMoves) {
  fight();
  for (int i = 0; i < 100; ++i, now_ += seconds(44)) see(Outcome::conflict, i % 2 == 0 ? "none" : "4");
  EXPECT_TRUE(held());
}

TEST_F(DriftTest, AConflictGoesOnWhileTheSameValueIsWritten) {
  fight();
  for (int i = 0; i < 100; ++i, now_ += seconds(44)) drift_.observe(change(Outcome::conflict, "none"), now_, true);
  EXPECT_TRUE(held());
}

TEST_F(DriftTest, TheValueInConflictIsReportedWhenItMoves) {
  fight();
  EXPECT_EQ(see(Outcome::conflict, "none"), Transition::conflict_moved) << "the last report said restored";
  EXPECT_EQ(see(Outcome::conflict, "none"), Transition::nothing);
  EXPECT_EQ(see(Outcome::conflict, "4"), Transition::nothing) << "not with each round";
  now_ += seconds(10);
  EXPECT_EQ(see(Outcome::conflict, "4"), Transition::conflict_moved);
}

// The other writer may be gone: it is tried again within a minute, also where the write is disruptive.
TEST_F(DriftTest, AQuietWindowEndsAConflictAndOneMoreReversalIsAnother) {
  for (const bool disruptive : {false, true}) {
    Drift drift(ConflictRule{3, seconds(60)}, seconds(30));
    const auto observe = [&](Outcome outcome, const std::string& from) {
      Change seen = change(outcome, from);
      seen.disruptive = disruptive;
      return drift.observe(seen, now_);
    };
    observe(Outcome::in_sync, "3");
    observe(Outcome::applied, "none");
    observe(Outcome::applied, "none");
    constexpr seconds quiet(45);
    for (int trial = 0; trial < 8; ++trial) {
      EXPECT_EQ(observe(Outcome::applied, "none"), Transition::conflict) << trial;
      observe(Outcome::conflict, "none");
      now_ += quiet - seconds(1);
      EXPECT_EQ(observe(Outcome::conflict, "none"), Transition::nothing) << trial;
      now_ += seconds(1);
      EXPECT_EQ(observe(Outcome::conflict, "none"), Transition::conflict_over) << trial;
      EXPECT_EQ(observe(Outcome::applied, "none"), Transition::repaired);
      now_ += seconds(5);
    }
  }
}

TEST_F(DriftTest, ARefusedWriteIsHeldEverLonger) {
  see(Outcome::refused);
  EXPECT_TRUE(held());
  now_ += seconds(30);
  EXPECT_FALSE(held());
  see(Outcome::ignored);
  now_ += seconds(59);
  EXPECT_TRUE(held());
  now_ += seconds(1);
  EXPECT_FALSE(held());
  for (int i = 0; i < 100; ++i) see(Outcome::refused);
  now_ += seconds(3'600);
  EXPECT_FALSE(held());
}

// A job must not wait an hour for its protection because a firmware was busy for one.
TEST_F(DriftTest, ARefusedPauseThatLeavesRoceUnprotectedIsRepeatedAfterEachReReadPeriod) {
  Change refusal = change(Outcome::ignored);
  refusal.setting = SettingId::pause;
  const auto is_held = [this] { return drift_.is_held("mlx5_0/1", "pause", now_); };
  for (int i = 0; i < 8; ++i) drift_.observe(refusal, now_);
  refusal.outcome = Outcome::refused;
  refusal.is_unprotected = true;
  for (int i = 0; i < 20; ++i) {
    drift_.observe(refusal, now_);
    now_ += seconds(29);
    EXPECT_TRUE(is_held()) << i;
    now_ += seconds(1);
    EXPECT_FALSE(is_held()) << i;
  }
}

// Each try of PFC may restart the link before it is refused.
TEST_F(DriftTest, ARefusedPfcThatLeavesRoceUnprotectedIsRepeatedWithinTenMinutes) {
  Change refusal = change(Outcome::refused);
  refusal.is_unprotected = true;
  for (int i = 0; i < 20; ++i) {
    now_ += seconds(600);
    EXPECT_FALSE(held()) << i;
    drift_.observe(refusal, now_);
  }
  now_ += seconds(599);
  EXPECT_TRUE(held());
}

TEST_F(DriftTest, SuccessForgetsFailures) {
  for (int i = 0; i < 8; ++i) see(Outcome::refused);
  see(Outcome::in_sync, "3");
  EXPECT_FALSE(held());
  see(Outcome::refused);
  now_ += seconds(30);
  EXPECT_FALSE(held());
}

TEST_F(DriftTest, ARecreatedDeviceIsNobodysDoing) {
  fight();
  drift_.restart("mlx5_0/1");
  EXPECT_FALSE(held());
  EXPECT_EQ(see(Outcome::applied), Transition::nothing);
  EXPECT_EQ(repairs(), 3U);
}

TEST_F(DriftTest, ANewPolicyStartsAnew) {
  fight();
  drift_.clear(ConflictRule{1, seconds(1)}, seconds(30));
  EXPECT_FALSE(held());
  EXPECT_EQ(see(Outcome::applied), Transition::nothing);
  EXPECT_EQ(see(Outcome::applied), Transition::conflict);
}

TEST_F(DriftTest, WhatIsNotWrittenIsNoRepair) {
  see(Outcome::in_sync, "3");
  EXPECT_EQ(see(Outcome::differs), Transition::nothing);
  EXPECT_EQ(see(Outcome::pending), Transition::nothing);
  EXPECT_EQ(repairs(), 0U);
  EXPECT_EQ(see(Outcome::applied), Transition::repaired);
}

}  // namespace
}  // namespace fabric::qos
