// SPDX-License-Identifier: Apache-2.0
// Receive buffers and rate limits of mlx5, through reconcile() and the driver's own rules.
#include "nic/generic/headroom.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

// What a lossless buffer of the simulated card needs.
uint64_t least(const SimNic& nic, uint32_t cable) {
  return headroom::minimum({nic.speed, cable, nic.mtu, nic.max_mtu});
}

constexpr Eight kBuffer1{0, 0, 0, 1, 0, 0, 0, 0};  // of priority 3

// Applies, and finishes when the link is up again.
Changes settled(FileBed& bed, const Qos& want) {
  auto changes = bed.apply(want);
  bed.nic.link_up();
  bed.set_speed(bed.nic.speed);
  EXPECT_TRUE(qos::settle(bed.kernel, bed.port).ok());
  return changes;
}

struct Mlx5Buffers : testing::Test {
  FileBed bed{Personality::mlx5};
  // DSCP 26 on priority 3 without loss, in buffer 1.
  static Qos roce(uint32_t cable, const Buffers& sizes = {.automatic = true}) {
    Qos want = profile(Personality::mlx5);
    want.mtu = 9000;
    want.cable_length = cable;
    want.prio2buffer = kBuffer1;
    want.buffer_size = sizes;
    return want;
  }
  Changes settle(const Qos& want) { return settled(bed, want); }
};

TEST_F(Mlx5Buffers, AutoIsPlannedInBytesWrittenOnceAndStays) {
  bed.set_speed(400'000);
  const Qos want = roce(30);
  auto plan = bed.plan(want);
  EXPECT_EQ(of(plan, "buffer_size").outcome, Outcome::differs) << text(plan);
  EXPECT_FALSE(has(of(plan, "buffer_size").to, "auto"));
  auto changes = settle(want);
  expect_all(changes, {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(of(changes, "buffer_size").to, of(plan, "buffer_size").to);
  EXPECT_LE(bed.nic.calls["setbuffer"], 2u);
  EXPECT_GE(bed.nic.buffer.buffer_size[1], least(bed.nic, 30));
  EXPECT_EQ(bed.nic.carrier_downs, 1u);
  expect_settled(bed, want);
}

TEST_F(Mlx5Buffers, BuffersComeBeforeThePfcThatNeedsThem) {
  settle(roce(30));
  auto at = [&](const char* operation) {
    return std::find_if(bed.nic.log.begin(), bed.nic.log.end(),
                        [&](const auto& line) { return line.starts_with(operation); });
  };
  ASSERT_NE(at("setbuffer"), bed.nic.log.end());
  EXPECT_LT(at("setpause"), at("setbuffer"));
  EXPECT_LT(at("setmtu"), at("setbuffer"));
  EXPECT_LT(at("setbuffer"), at("setpfc"));
  EXPECT_EQ(bed.nic.log.back(), "setpfc pfc_en=0x08 delay=30") << "the thresholds, at carrier-up";
}

// A shorter cable: while the driver reckons with the old one the buffers stay as large, then they shrink.
TEST_F(Mlx5Buffers, ALongerAndAShorterCableAreBothFollowed) {
  bed.set_speed(400'000);
  settle(roce(30));
  for (uint32_t meters : {300u, 5u, 90u}) {
    const bool longer = meters > bed.nic.pfc.delay;
    const uint32_t before = bed.nic.buffer.buffer_size[1];
    expect_all(settle(roce(meters)), {Outcome::applied, Outcome::in_sync});
    EXPECT_EQ(bed.nic.pfc.delay, meters);
    expect_all(settle(roce(meters)), {Outcome::applied, Outcome::in_sync});
    EXPECT_EQ(bed.nic.buffer.buffer_size[1] > before, longer);
    EXPECT_GE(bed.nic.buffer.buffer_size[1], least(bed.nic, meters));
    expect_all(bed.apply(roce(meters)), {Outcome::in_sync});
  }
  EXPECT_EQ(bed.nic.carrier_downs, 1u) << "buffers and cable stop nothing";
}

// The driver judges the sizes by the old cable, and refuses them until that is written.
TEST_F(Mlx5Buffers, SmallerSizesAndAShorterCableAreOnePass) {
  settle(roce(300, {.bytes = {100'000, 140'000}}));
  const Qos want = roce(30, {.bytes = {100'000, 80'000}});
  expect_all(settle(want), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.buffer.buffer_size[1], 80'000u);
  expect_settled(bed, want);
}

TEST_F(Mlx5Buffers, AFasterLinkGetsMore) {
  settle(roce(30));
  const uint32_t before = bed.nic.buffer.buffer_size[1];
  bed.set_speed(400'000);
  auto changes = bed.apply(roce(30));
  EXPECT_EQ(written(changes), std::set<std::string>{"buffer_size"}) << text(changes);
  EXPECT_GT(bed.nic.buffer.buffer_size[1], before);
}

TEST_F(Mlx5Buffers, ADriverWhoseCellsAreOthersIsInSyncAsWell) {
  bed.nic.cell = 144;
  settle(roce(30));
  expect_settled(bed, roce(30));
}

TEST_F(Mlx5Buffers, SizesThatTheDriverRoundsDownAreObeyed) {
  const Qos want = roce(30, {.bytes = {200'001, 200'127}});
  expect_all(settle(want), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.buffer.buffer_size[1], 200'064u);
  expect_all(bed.apply(want), {Outcome::in_sync});
}

// Sizes of a ConnectX-7 are multiples of 288.
TEST_F(Mlx5Buffers, TheLargestCellsLeaveNoDrift) {
  bed.nic.cell = 288;
  const Qos want = roce(30, {.bytes = {201'887, 201'887}});
  expect_all(settle(want), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.buffer.buffer_size[1], 201'600u);
  expect_settled(bed, want);
  settle(roce(30));
  expect_settled(bed, roce(30));
}

TEST_F(Mlx5Buffers, TooSmallIsSaidWithNumbersBeforeAnythingIsWritten) {
  bed.set_speed(400'000);
  bed.nic.mtu = 9000;
  const auto changes = bed.apply({.pause = Pause{},
                                  .prio2buffer = kBuffer1,
                                  .buffer_size = Buffers{.bytes = {100'000, 150'000}},
                                  .pfc = PrioSet{0x08},
                                  .cable_length = 30});
  for (const char* key : {"buffer_size", "prio2buffer"})
    EXPECT_TRUE(
        has_outcome(changes, key, Outcome::unsupported, "buffer 1 needs 180586 bytes for 400000 Mb/s, 30 m, MTU 9000"));
  EXPECT_EQ(bed.nic.calls["setbuffer"], 0u);
}

TEST_F(Mlx5Buffers, WithoutASpeedNothingIsComputed) {
  bed.tree.file("sys/class/net/eth0/speed", "-1\n");
  EXPECT_TRUE(has_outcome(bed.apply(roce(30)), "buffer_size", Outcome::unsupported, "link is down"));
  EXPECT_EQ(bed.nic.calls["setbuffer"], 0u);
}

TEST_F(Mlx5Buffers, WhatDoesNotFitIsSaid) {
  bed.set_speed(800'000);
  bed.nic.buffer.total_size = 262'016;
  EXPECT_TRUE(has_outcome(bed.apply(roce(100)), "buffer_size", Outcome::unsupported, "the port has 262016"));
  EXPECT_EQ(bed.nic.calls["setbuffer"], 0u);
}

// The driver's own judgement: it has less than it said, a frame is larger than it said.
TEST_F(Mlx5Buffers, ARefusalHasItsErrnoAndItsRemedy) {
  bed.nic.faults["setbuffer"] = {.code = ENOMEM};
  auto changes = bed.apply(roce(30));
  EXPECT_TRUE(has_outcome(changes, "prio2buffer", Outcome::refused, "too small"));
  EXPECT_EQ(of(changes, "prio2buffer").code, ENOMEM);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::applied) << "costs its own settings only";
}

TEST_F(Mlx5Buffers, PfcOnBuffersOfTheHostsThatAreTooSmallIsRefusedHonestly) {
  bed.nic.pause = Pause{};
  bed.nic.buffer.buffer_size[0] = 20'096;
  bed.nic.manual_buffers = true;
  Qos want{.pfc = PrioSet{0x08}};
  auto changes = bed.apply(want);
  EXPECT_TRUE(has_outcome(changes, "pfc", Outcome::refused, "enlarge it"));
  EXPECT_EQ(of(changes, "pfc").code, ENOMEM);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0) << "else the same bits again would read as in sync, with a buffer that stays lossy";
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::refused);
}

// Each buffer large enough for its new use only after the same message's map was judged.
TEST_F(Mlx5Buffers, APriorityMovesToABufferThatWasEmpty) {
  Qos want = roce(30, {.bytes = {150'016, 200'064}});
  settle(want);
  ASSERT_FALSE(bed.nic.lossy[1]);
  want.prio2buffer = Eight{0, 0, 0, 2, 0, 0, 0, 0};
  want.buffer_size = Buffers{.bytes = {150'016, 0, 200'064}};
  expect_all(settle(want), {Outcome::applied, Outcome::in_sync});
  EXPECT_FALSE(bed.nic.lossy[2]);
  EXPECT_TRUE(bed.nic.lossy[1]);
  EXPECT_EQ(bed.nic.buffer.buffer_size[1], 0u);
}

TEST_F(Mlx5Buffers, TheyShrinkAfterThePfcThatNeededThem) {
  Qos want = roce(30, {.bytes = {150'016, 200'064}});
  settle(want);
  want.pfc = PrioSet{};
  want.prio2buffer->fill(0);
  want.buffer_size = Buffers{.bytes = {20'096}};
  expect_all(settle(want), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.buffer.buffer_size[0], 20'096u);
}

// Two priorities, the second's buffer large enough for the longer cable, the first's only after it lost its PFC.
TEST_F(Mlx5Buffers, ALongerCableIsJudgedByTheNewLosslessBuffers) {
  Qos want = roce(5, {.bytes = {20'096, 80'000, 200'064}});
  want.prio2buffer = Eight{0, 0, 0, 1, 2, 0, 0, 0};
  settle(want);
  want.pfc = PrioSet{0x10};
  want.cable_length = 300;
  expect_all(settle(want), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.pfc.delay, 300);
  EXPECT_EQ(bed.nic.carrier_downs, 2u);
}

// Firmware without PCAM's buffer_ownership: PFC, set after the buffers, leaves them lossy, and every answer is as
// wanted.
TEST_F(Mlx5Buffers, ThatStayLossyAreUnverified) {
  bed.nic.shows_ownership = false;
  settle(roce(30));
  ASSERT_TRUE(bed.nic.lossy[1] && bed.read().pfc == PrioSet{0x08});
  const auto changes = bed.apply(roce(30));
  EXPECT_EQ(keys_with(changes, Outcome::unverified),
            (std::set<std::string>{"prio2buffer", "buffer_size", "cable_length"}))
      << text(changes);
  EXPECT_TRUE(has(of(changes, "buffer_size").detail, "lossless is not shown"));
  Qos lossy = roce(30);
  lossy.pfc = PrioSet{};
  settle(lossy);
  EXPECT_EQ(of(bed.apply(lossy), "buffer_size").outcome, Outcome::in_sync) << "nothing to be lossless";
}

TEST_F(Mlx5Buffers, ACableWithoutBuffersIsUnverified) {
  for (int pass = 0; pass < 2; ++pass)
    EXPECT_TRUE(
        has_outcome(bed.apply({.cable_length = 30}), "cable_length", Outcome::unverified, "owns the receive buffers"));
}

TEST_F(Mlx5Buffers, PfcOverBuffersThatBecameTooSmallIsUnverifiedWithTheNumbers) {
  settle(roce(30));
  bed.set_speed(800'000);
  EXPECT_TRUE(has_outcome(bed.apply({.pfc = PrioSet{0x08}}), "pfc", Outcome::unverified, "buffer 1 needs"));
}

// The toggle leaves the link down, at which 40 Gb/s count: that the buffer is too small shows at carrier-up.
TEST_F(Mlx5Buffers, ThresholdsThatCannotBeComputedStayKnown) {
  bed.nic.pause = Pause{};
  bed.nic.buffer.buffer_size[0] = 60'032;
  bed.nic.manual_buffers = true;
  bed.set_speed(400'000);
  Qos want{.pfc = PrioSet{0x08}};
  bed.apply(want);
  bed.nic.link_up();
  const auto settled = qos::settle(bed.kernel, bed.port);
  ASSERT_EQ(code_of(settled), ENOMEM);
  EXPECT_EQ(of(bed.apply(want), "pfc").outcome, Outcome::unverified);
}

TEST_F(Mlx5Buffers, GlobalPauseMakesEveryBufferLossless) {
  Qos want = roce(30, {.bytes = {20'096, 200'064}});
  want.pause = Pause{true, true};
  want.pfc = PrioSet{};
  EXPECT_TRUE(has(of(bed.apply(want), "buffer_size").detail, "buffer 0 needs"));
}

TEST_F(Mlx5Buffers, TheOriginalComesBack) {
  const Qos original = bed.read();
  ASSERT_TRUE(original.buffer_size && original.prio2buffer && original.maxrate);
  settle(roce(30));
  ASSERT_NE(bed.read().prio2buffer, original.prio2buffer);
  expect_all(settle(original), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.read().buffer_size, original.buffer_size);
  EXPECT_EQ(bed.read().prio2buffer, original.prio2buffer);
}

TEST_F(Mlx5Buffers, AreReadOnlyWhenAskedFor) {
  const Qos have = bed.read(keys_of({.mtu = 9000}));
  EXPECT_FALSE(have.buffer_size || have.prio2buffer || have.maxrate);
}

// Any wish after any other: the first pass ends in sync or says what it could not, the second finds nothing, or what
// the first left behind; the third writes nothing.
TEST(Mlx5AnyBuffers, AnyWishAfterAnyOtherEndsInSync) {
  std::mt19937 random(11);
  auto pick = [&](unsigned count) { return static_cast<uint32_t>(random() % count); };
  for (int i = 0; i < 30; ++i) {
    FileBed bed(Personality::mlx5);
    constexpr uint32_t kSpeeds[]{100'000, 200'000, 400'000};
    bed.nic.cell = std::array{128u, 144u, 288u}[pick(3)];
    bed.set_speed(kSpeeds[pick(3)]);
    for (int step = 0; step < 4; ++step) {
      Qos want{.pause = Pause{}, .pfc = PrioSet{static_cast<uint8_t>(1u << pick(8))}};
      want.prio2buffer.emplace().fill(0);
      for (size_t prio = 0; prio < 8; ++prio)
        if (want.pfc->has(static_cast<int>(prio))) (*want.prio2buffer)[prio] = static_cast<uint8_t>(1 + pick(2));
      want.buffer_size = Buffers{.automatic = true};
      if (pick(2)) want.mtu = 1500 + pick(8000);
      if (pick(2)) want.cable_length = 1 + pick(100);
      SCOPED_TRACE("case " + std::to_string(i) + " step " + std::to_string(step));
      const auto plan = bed.plan(want);
      const auto changes = settled(bed, want);
      const std::string first = text(changes);
      expect_all(changes, {Outcome::applied, Outcome::in_sync});
      EXPECT_EQ(keys_with(plan, Outcome::differs), written(changes)) << text(plan);
      auto second = settled(bed, want);
      expect_all(second, {Outcome::applied, Outcome::in_sync});
      const auto sets = bed.nic.calls["setbuffer"];
      expect_all(settled(bed, want), {Outcome::in_sync});
      EXPECT_EQ(bed.nic.calls["setbuffer"], sets);
      if (HasFailure()) FAIL() << bed.nic.speed << " Mb/s\n" << first << "then\n" << text(second);
    }
  }
}

// ConnectX-4 wants L2 headers inline, and with DSCP those of IP: its channels are closed and opened. What is not known
// to be harmless waits for an idle port.
TEST(Mlx5Trust, WaitsForAnIdlePortUnlessTheNicWantsNoInlineHeaders) {
  for (const char* device : {"0x1013", "0x1015", "0x1016", "", "0x1017", "0x1021", "0xa2dc"}) {
    FileBed bed(Personality::mlx5);
    const bool harmless = std::set<std::string>{"0x1017", "0x1021", "0xa2dc"}.contains(device);
    if (*device != 0) bed.tree.file("sys/bus/pci/devices/" + bed.port.pci + "/device", std::string(device) + "\n");
    bed.nic.wants_inline = !harmless;
    bed.terms.in_use = kInUse;
    Qos want{.trust = Trust::dscp, .dscp_map = DscpMap{{26, 3}}};
    EXPECT_EQ(of(bed.plan(want), "dscp_map").disruptive, !harmless) << device;
    EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, harmless ? Outcome::applied : Outcome::pending) << device;
    EXPECT_EQ(bed.nic.carrier_downs, 0u) << device;
  }
}

TEST(OtherDrivers, AutoIsForThoseWhoseFormulaIsKnown) {
  FileBed bed(Personality::full);
  const Qos want{.prio2buffer = kBuffer1, .buffer_size = Buffers{.automatic = true}};
  EXPECT_EQ(of(bed.apply(want), "buffer_size").outcome, Outcome::unsupported);
  EXPECT_EQ(bed.nic.calls["setbuffer"], 0u) << "no sizes of zero";
}

Qos limited(uint64_t kbit) {
  Qos want;
  want.maxrate.emplace().kbit[5] = kbit;
  return want;
}

TEST_F(Mlx5Buffers, ARateThatTheCardCanKeepIsSetAndRestored) {
  for (uint64_t kbit : {100'000ull, 2'500'000ull, 25'500'000ull, 26'000'000ull, 255'000'000ull, 0ull}) {
    EXPECT_EQ(of(bed.apply(limited(kbit)), "maxrate").outcome, Outcome::applied) << kbit;
    EXPECT_EQ(bed.nic.maxrate.tc_maxrate[5], kbit);
  }
}

// The driver would say yes and keep another one.
TEST_F(Mlx5Buffers, ARateThatWouldBeRoundedIsNotWrittenAndTheNearestIsNamed) {
  const std::pair<uint64_t, const char*> kRates[]{
      {50'000, "the nearest is 100000"},       {2'549'999, "the nearest is 2500000"},
      {25'600'000, "the nearest is 25500000"}, {25'900'000, "the nearest is 26000000"},
      {30'500'000, "the nearest is 31000000"}, {1'000'000'000'000, "the nearest is 65535000000"},
  };
  for (bool truncates : {false, true}) {
    bed.nic.truncates_rates = truncates;
    for (auto [kbit, nearest] : kRates)
      EXPECT_TRUE(has_outcome(bed.apply(limited(kbit)), "maxrate", Outcome::unsupported, nearest)) << kbit;
  }
  EXPECT_EQ(bed.nic.calls["setmaxrate"], 0u);
}

// Linux 7.x asks the firmware for the most, 6.x refuses, 5.10 and OFED keep what fits into a byte.
TEST_F(Mlx5Buffers, ARateBeyondAByteIsTriedAndLeavesNothingBehind) {
  expect_all(bed.apply(limited(100'000'000)), {Outcome::applied});
  for (bool truncates : {false, true}) {
    bed.nic.truncates_rates = truncates;
    EXPECT_EQ(of(bed.apply(limited(400'000'000)), "maxrate").outcome, Outcome::refused) << truncates;
    EXPECT_EQ(bed.nic.maxrate.tc_maxrate[5], 100'000'000u);
  }
}

}  // namespace
}  // namespace fabric::test
