// SPDX-License-Identifier: Apache-2.0
// mlx5: receive buffers, their headroom and rate limits, through reconcile() and the driver's own rules; congestion
// control in files: the kernel's driver (debugfs) and OFED's (sysfs), on trees of their shape with the driver's rules
// behind.
#include <numeric>

#include "base/parse.h"
#include "nic/generic/file_settings.h"
#include "nic/generic/headroom.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

using headroom::BufferUse;
using headroom::LinkProperties;
using headroom::minimum;
using headroom::xoff;

// -- Receive buffers and rate limits

// The minimum size of a lossless buffer of the simulated card.
uint64_t least(const SimNic& nic, uint32_t cable) { return minimum({nic.speed, cable, nic.mtu, nic.max_mtu}); }

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
  EXPECT_LE(bed.nic.calls["setbuffer"], 4u) << "two of them with PFC, which makes the buffers lossless";
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

// Firmware without PCAM's buffer_ownership: PFC alone, set after the buffers, leaves them lossy, and every answer is as
// wanted. A changed map makes them lossless, and gives them the thresholds of the link.
TEST_F(Mlx5Buffers, OfAnOwnerThatIsNotShownFollowPfcAndAreUnverified) {
  bed.nic.shows_ownership = false;
  const Qos want = roce(30);
  settle(want);
  ASSERT_EQ(bed.read().pfc, PrioSet{0x08});
  EXPECT_FALSE(bed.nic.lossy[1]);
  EXPECT_EQ(bed.read(keys_of(want)).prio2buffer, kBuffer1);
  ASSERT_LT(bed.nic.room[1], bed.nic.xoff()) << "computed without a link";
  ASSERT_TRUE(qos::settle(bed.kernel, bed.port, want).ok());
  EXPECT_EQ(bed.nic.room[1], bed.nic.xoff());
  EXPECT_EQ(bed.read(keys_of(want)).prio2buffer, kBuffer1);
  const auto changes = bed.apply(want);
  EXPECT_EQ(keys_with(changes, Outcome::unverified),
            (std::set<std::string>{"prio2buffer", "buffer_size", "cable_length"}))
      << text(changes);
  EXPECT_TRUE(has(of(changes, "buffer_size").detail, "lossless is not shown"));
  Qos lossy = roce(30);
  lossy.pfc = PrioSet{};
  settle(lossy);
  EXPECT_EQ(of(bed.apply(lossy), "buffer_size").outcome, Outcome::in_sync) << "nothing to be lossless";
}

// Linux 6.1 and OFED: a driver that was loaded again does not know that the host has set the buffers.
TEST_F(Mlx5Buffers, FollowPfcAfterTheDriverWasLoadedAgain) {
  Qos want = roce(30, {.bytes = {100'224, 100'224, 100'224}});
  want.prio2buffer = Eight{0, 0, 0, 1, 2, 0, 0, 0};
  settle(want);
  ASSERT_FALSE(bed.nic.lossy[1]);
  bed.nic.reload();
  ASSERT_FALSE(bed.nic.manual_buffers);
  want.pfc = PrioSet{0x10};
  settle(want);
  ASSERT_EQ(bed.nic.pfc.pfc_en, 0x10);
  EXPECT_FALSE(bed.nic.lossy[2]);
  EXPECT_TRUE(bed.nic.lossy[1]);
  EXPECT_EQ(bed.read(keys_of(want)).prio2buffer, want.prio2buffer);
}

TEST_F(Mlx5Buffers, PfcWhoseBuffersStayLossyIsRefusedAndTheOldOneIsSet) {
  Qos other = roce(30, {.bytes = {150'336, 150'336}});
  settle(other);
  other.pfc = PrioSet{0x09};
  bed.nic.faults["setbuffer"] = {.code = EIO};
  const Changes changes = settle(other);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::refused) << text(changes);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
  bed.nic.faults.clear();
  settle(other);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x09);
}

// Buffers that the policy does not name stay as the firmware has them.
TEST_F(Mlx5Buffers, WithoutAWordOfThemAreNotTouched) {
  settle({.pause = Pause{}, .pfc = PrioSet{0x08}, .cable_length = 30});
  ASSERT_TRUE(qos::settle(bed.kernel, bed.port, {.pfc = PrioSet{0x08}, .cable_length = 30}).ok());
  EXPECT_EQ(bed.nic.calls["setbuffer"], 0U);
  EXPECT_FALSE(bed.nic.manual_buffers);
}

// The buffer's room for what arrives after pause was sent follows the link, the MTU and the cable.
TEST_F(Mlx5Buffers, PauseIsSentInTime) {
  Qos want = roce(30, {.bytes = {100'224, 300'096}});
  settle(want);
  EXPECT_EQ(bed.nic.room[1], bed.nic.xoff());
  bed.set_speed(400'000);
  ASSERT_LT(bed.nic.room[1], bed.nic.xoff());
  ASSERT_TRUE(qos::settle(bed.kernel, bed.port).ok()) << "at carrier-up";
  EXPECT_EQ(bed.nic.room[1], bed.nic.xoff());
  bed.nic.mtu = 1500;
  ASSERT_TRUE(qos::settle(bed.kernel, bed.port).ok());
  bed.apply({.mtu = 9000});
  EXPECT_EQ(bed.nic.room[1], bed.nic.xoff()) << "the MTU";
  want.cable_length = 100;
  bed.apply(want);
  ASSERT_EQ(bed.nic.pfc.delay, 100);
  EXPECT_EQ(bed.nic.room[1], bed.nic.xoff()) << "the cable";
  EXPECT_EQ(bed.nic.carrier_downs, 1U);
}

// A driver that judges the lossless buffers by a new MTU before they are larger.
TEST_F(Mlx5Buffers, AnMtuThatNeedsLargerOnesComesWithTheNextPass) {
  bed.nic.mtu_sets_thresholds = true;
  bed.set_speed(400'000);
  Qos want = roce(30);
  want.mtu = 1500;
  settle(want);
  want.mtu = 9000;
  EXPECT_TRUE(has_outcome(settle(want), "mtu", Outcome::refused, "too small"));
  EXPECT_EQ(bed.nic.mtu, 1500U);
  EXPECT_EQ(of(settle(want), "mtu").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.room[1], bed.nic.xoff());
  expect_settled(bed, want);
}

// New bits end global pause. Nothing replaces it if the policy wants no PFC, or if the driver refuses it.
TEST_F(Mlx5Buffers, PauseThatThePolicyDoesNotNameStaysWithoutPfc) {
  bed.nic.pfc.pfc_en = 0x08;
  ASSERT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
  EXPECT_EQ(of(bed.apply({.pfc = PrioSet{}}), "pfc").outcome, Outcome::applied);
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
  bed.nic.buffer.buffer_size[0] = 20'096;
  bed.nic.manual_buffers = true;
  EXPECT_EQ(of(bed.apply({.pfc = PrioSet{0x08}}), "pfc").code, ENOMEM);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
}

// The driver makes no buffer lossless when pause is switched on: it would never be sent.
TEST_F(Mlx5Buffers, PauseIsSentByBuffersOfTheHost) {
  Qos want = roce(30, {.bytes = {100'224, 100'224}});
  settle(want);
  want.pause = Pause{true, true};
  want.pfc = PrioSet{};
  settle(want);
  const Changes changes = settle(want);
  ASSERT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx && bed.nic.pfc.pfc_en == 0) << text(changes);
  EXPECT_FALSE(bed.nic.lossy[0] || bed.nic.lossy[1]) << text(changes);
  EXPECT_EQ(bed.read(keys_of(want)).prio2buffer, kBuffer1);
}

TEST_F(Mlx5Buffers, PauseThatPfcHasEndedIsSentAtOnce) {
  Qos want = roce(30, {.bytes = {100'224, 100'224}});
  settle(want);
  ASSERT_EQ(bed.nic.set_pause({true, true}), 0);
  want.pause = Pause{true, true};
  want.pfc = PrioSet{};
  const Changes changes = bed.apply(want);  // the toggle leaves the link down
  ASSERT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx && bed.nic.pfc.pfc_en == 0) << text(changes);
  EXPECT_FALSE(bed.nic.lossy[0] || bed.nic.lossy[1]) << text(changes);
}

TEST_F(Mlx5Buffers, PauseThatIsNeverSentIsRefusedAndPfcStays) {
  Qos want = roce(30, {.bytes = {20'160, 100'224}});
  settle(want);
  ASSERT_EQ(bed.nic.pfc.pfc_en, 0x08);
  want.pause = Pause{true, true};
  want.pfc = PrioSet{};
  want.buffer_size.reset();
  const Changes changes = settle(want);
  EXPECT_TRUE(bed.nic.pfc.pfc_en == 0x08 && !bed.nic.lossy[1]) << text(changes);
  EXPECT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx) << text(changes);
}

// With the policy's small buffer of the other priorities, pause would not be sent.
TEST_F(Mlx5Buffers, PauseComesBackWithItsBuffersIfPfcIsRefused) {
  bed.nic.manual_buffers = true;
  bed.nic.pause = {.rx = true, .tx = true};
  bed.nic.faults["setpfc"] = {Fault::refuse, EIO, -1};
  const Qos before = bed.read();
  const Qos want = roce(30, {.bytes = {20'160, 100'224}});
  const Changes changes = bed.apply(want);
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(changes);
  EXPECT_EQ(bed.read().prio2buffer, before.prio2buffer) << text(changes);
  EXPECT_EQ(bed.read().buffer_size, before.buffer_size) << text(changes);
  for (const char* key : {"prio2buffer", "buffer_size"})
    EXPECT_TRUE(has_outcome(changes, key, Outcome::pending, "waits for pfc")) << text(changes);
  bed.nic.faults.clear();
  settle(want);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
  expect_settled(bed, want);
}

// The NIC still obeys the pause of the switch.
TEST_F(Mlx5Buffers, PauseThatIsNeverSentIsSetBackToWhatItWas) {
  bed.nic.pause = {.rx = true};
  std::ranges::copy(kBuffer1, bed.nic.buffer.prio2buffer);
  bed.nic.buffer.buffer_size[0] = 20'096;
  bed.nic.buffer.buffer_size[1] = 100'224;
  const Reading have{.values = bed.read()};
  PortIo io{.kernel = bed.kernel, .netdev = bed.nic.name, .ifindex = bed.nic.ifindex};
  io.writable.set(index(SettingId::prio2buffer));
  const Op& op = op_of(driver_for("mlx5_core"), SettingId::pause);
  EXPECT_EQ(code_of(op.write(io, setting_of(SettingId::pause), {.pause = Pause{true, true}}, have)), ENOMEM);
  EXPECT_TRUE(bed.nic.pause.rx);
  EXPECT_FALSE(bed.nic.pause.tx);
}

TEST_F(Mlx5Buffers, PauseThatPfcHasEndedIsWrittenAgain) {
  const Qos want{.pause = Pause{true, true}, .pfc = PrioSet{}};
  bed.nic.pfc.pfc_en = 0x08;
  const Changes plan = bed.plan(want);
  const Changes changes = settle(want);
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx) << text(changes);
  EXPECT_EQ(keys_with(plan, Outcome::differs), written(changes)) << text(plan) << text(changes);
  expect_settled(bed, want);
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

// From any policy to any other: the first pass ends in sync or reports the reason; the second finds nothing, or the
// rest of the first; the third writes nothing.
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

// ConnectX-4 requires L2 headers inline, and with DSCP those of IP: its channels are closed and opened. Writes that are
// not known to be harmless wait for an idle port.
TEST(Mlx5Trust, WaitsForAnIdlePortUnlessTheNicWantsNoInlineHeaders) {
  for (const char* device : {"0x1013", "0x1015", "0x1016", "", "0x1017", "0x1021", "0xa2dc"}) {
    FileBed bed(Personality::mlx5);
    const bool harmless = std::set<std::string>{"0x1017", "0x1021", "0xa2dc"}.contains(device);
    if (*device != 0) bed.tree.file("sys/bus/pci/devices/" + bed.port.pci + "/device", std::string(device) + "\n");
    bed.nic.reopens_for_trust = !harmless;
    bed.terms.in_use = kInUse;
    Qos want{.trust = Trust::dscp, .dscp_map = DscpMap{{26, 3}}};
    EXPECT_EQ(of(bed.plan(want), "dscp_map").disruptive, !harmless) << device;
    EXPECT_EQ(of(bed.apply(want), "dscp_map").outcome, harmless ? Outcome::applied : Outcome::pending) << device;
    EXPECT_EQ(bed.nic.carrier_downs, 0u) << device;
  }
}

// OFED closes and opens the channels of every NIC; not if other DSCPs are mapped already.
TEST(Mlx5Trust, WithOfedWaitsForAnIdlePortUnlessDscpIsTrusted) {
  FileBed bed(Personality::mlx5);
  add_ofed_ecn(*bed.files, "eth0");
  bed.tree.file("sys/bus/pci/devices/" + bed.port.pci + "/device", "0x1021\n");
  bed.nic.reopens_for_trust = true;
  bed.terms.in_use = kInUse;
  const Qos want{.trust = Trust::dscp, .dscp_map = DscpMap{{26, 3}}};
  const Changes waits = bed.apply(want);
  EXPECT_EQ(of(waits, "dscp_map").outcome, Outcome::pending) << text(waits);
  EXPECT_EQ(of(bed.apply({.trust = Trust::dscp}), "trust").outcome, Outcome::pending);
  EXPECT_EQ(bed.nic.carrier_downs, 0U);
  bed.terms.in_use = kIdle;
  const Changes changes = bed.apply(want);
  expect_all(changes, {Outcome::applied, Outcome::in_sync});
  EXPECT_TRUE(of(changes, "dscp_map").disruptive);
  EXPECT_EQ(bed.nic.carrier_downs, 1U);
  bed.terms.in_use = kInUse;
  EXPECT_EQ(of(bed.apply({.dscp_map = DscpMap{{26, 4}}}), "dscp_map").outcome, Outcome::applied) << "a repair";
  EXPECT_EQ(of(bed.apply({.dscp_map = DscpMap{}}), "dscp_map").outcome, Outcome::pending) << "the last ones";
  EXPECT_EQ(bed.nic.carrier_downs, 1U);
}

// The driver has switched to PCP, and does not show it while DSCPs are listed.
TEST(Mlx5Trust, AFailureOfTheFirmwareBesideListedDscpsHasItsFix) {
  Bed bed(Personality::mlx5);
  bed.settle_to({.dscp_map = DscpMap{{26, 3}}});
  bed.nic.faults["setapp"] = {.code = EREMOTEIO};
  const Changes changes = bed.apply({.dscp_map = DscpMap{{26, 4}}});
  EXPECT_TRUE(has_outcome(changes, "dscp_map", Outcome::refused, "dcb app flush dev eth0 dscp-prio")) << text(changes);
}

TEST(OtherDrivers, AutoIsForThoseWhoseFormulaIsKnown) {
  FileBed bed(Personality::full);
  const Qos want{.prio2buffer = kBuffer1, .buffer_size = Buffers{.automatic = true}};
  EXPECT_EQ(of(bed.apply(want), "buffer_size").outcome, Outcome::unsupported);
  EXPECT_EQ(bed.nic.calls["setbuffer"], 0u) << "no sizes of zero";
}

// Classes of 0 % are served last. If a single other class has 100 %, the driver shows their shares of what is left.
TEST(Mlx5Ets, ClassesOfZeroAreShownAsZero) {
  Bed bed(Personality::mlx5);
  const Qos rest{.ets = shares({0, 1, 2, 3, 0, 0, 0, 0}, {0, 0, 0, 100})};
  expect_all(bed.apply(rest), {Outcome::applied});
  EXPECT_EQ(bed.nic.mlx5_shown_ets().tc_tx_bw[7], 16) << "else the simulated NIC does not show what the driver shows";
  EXPECT_EQ(bed.read().ets->bw, rest.ets->bw);
  expect_settled(bed, rest);
  const Qos some{.ets = shares({0, 1, 2, 3, 0, 0, 0, 0}, {40, 0, 0, 60})};
  expect_all(bed.apply(some), {Outcome::applied});
  expect_settled(bed, some);
}

TEST(Mlx5Ets, AClassOfZeroThatReadsAsAllIsNotWrittenAndTheOtherWayIsNamed) {
  Bed bed(Personality::mlx5);
  Qos want{.ets = Ets{.prio_tc = {0, 0, 0, 1, 0, 0, 0, 0}, .tsa = {Tsa::ets, Tsa::ets}, .bw = {0, 100}}};
  EXPECT_TRUE(has_outcome(bed.apply(want), "ets", Outcome::unsupported, "tsa \"strict\" for class 1"));
  EXPECT_EQ(bed.nic.calls["setets"], 0U);
  want.ets->tsa[1] = Tsa::strict;
  want.ets->bw = {100, 0};
  expect_all(bed.apply(want), {Outcome::applied});
  expect_settled(bed, want);
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

// -- Headroom

constexpr uint32_t kMaxMtu = 9978;  // of usual cards

// Computed by hand from mlx5/core/en/port_buffer.c, in its integers.
struct Known {
  LinkProperties link;
  uint64_t xoff, minimum;
};
const Known kKnown[]{
    {{100'000, 7, 4200, kMaxMtu}, 43'024, 53'130},     {{100'000, 7, 9000, kMaxMtu}, 56'080, 66'186},
    {{100'000, 100, 9000, kMaxMtu}, 76'180, 86'286},   {{200'000, 30, 4200, kMaxMtu}, 84'424, 94'530},
    {{400'000, 7, 4200, kMaxMtu}, 137'824, 147'930},   {{400'000, 30, 9000, kMaxMtu}, 170'480, 180'586},
    {{400'000, 100, 9000, kMaxMtu}, 231'280, 241'386}, {{800'000, 30, 9000, kMaxMtu}, 316'480, 326'586},
};

TEST(Headroom, IsTheDriversFormula) {
  for (const Known& known : kKnown) {
    EXPECT_EQ(xoff(known.link), known.xoff) << known.link.speed << " " << known.link.cable << " " << known.link.mtu;
    EXPECT_EQ(minimum(known.link), known.minimum)
        << known.link.speed << " " << known.link.cable << " " << known.link.mtu;
  }
}

TEST(Headroom, AtLeast40GbitCount) {
  const LinkProperties slow{25'000, 7, 4200, kMaxMtu}, forty{40'000, 7, 4200, kMaxMtu}, down{0, 7, 4200, kMaxMtu};
  EXPECT_EQ(minimum(slow), minimum(forty));
  EXPECT_EQ(minimum(down), minimum(forty));
  EXPECT_LT(minimum(forty), minimum({50'000, 7, 4200, kMaxMtu}));
}

TEST(Headroom, AFrameOf9216CountsWhereTheCardSaysLess) {
  EXPECT_EQ(minimum({100'000, 7, 4200, 1500}), minimum({100'000, 7, 4200, 9216}));
  EXPECT_EQ(minimum({100'000, 7, 4200, 10'000}) - minimum({100'000, 7, 4200, 9216}), 784u);
}

TEST(Headroom, TheLongestCableAtTheHighestSpeedDoesNotOverflow) {
  EXPECT_EQ(xoff({3'200'000, 999, 65'535, kMaxMtu}), 2458ull * 3'200'000 / 1000 + 178'255);
}

// Priority 3 without loss in buffer 1.
BufferUse use(uint32_t speed, std::optional<uint32_t> total) {
  BufferUse out;
  out.link = {speed, 30, 9000, kMaxMtu};
  out.prio2buffer[3] = 1;
  out.lossless = PrioSet{0x08};
  out.total = total;
  return out;
}

uint64_t sum(const Buffers& sizes) { return std::accumulate(sizes.bytes.begin(), sizes.bytes.end(), uint64_t{0}); }

TEST(Objection, NamesTheBufferAndWhatItNeeds) {
  const BufferUse roce = use(400'000, 524'032);
  EXPECT_EQ(objection(roce, {.bytes = {100'000, 180'586}}), "");
  EXPECT_EQ(objection(roce, {.bytes = {100'000, 180'585}}),
            "buffer 1 needs 180586 bytes for 400000 Mb/s, 30 m, MTU 9000; 180585 are too few (buffer_size = \"auto\" "
            "in the policy "
            "gives it enough)");
  EXPECT_TRUE(has(objection(use(0, {}), {.bytes = {100'000, 30'000}}), "down"));
}

TEST(Objection, APriorityInABufferWithoutBytesWouldLoseAll) {
  EXPECT_EQ(objection(use(100'000, {}), {.bytes = {0, 200'000}}),
            "priority 0 maps to buffer 0, which has no bytes: all its frames would be lost");
}

TEST(Objection, AllTogetherMustFit) {
  EXPECT_EQ(objection(use(100'000, 300'000), {.bytes = {100'000, 200'000}}), "");
  EXPECT_EQ(objection(use(100'000, 300'000), {.bytes = {100'001, 200'000}}),
            "the buffers take 300001 bytes together, the port has 300000");
}

TEST(Automatic, TheLosslessGetTheirMinimumAndTheOthersTheRest) {
  for (uint32_t speed : {100'000u, 200'000u, 400'000u}) {
    const BufferUse roce = use(speed, 524'032);
    auto sizes = automatic(roce, {.bytes = {524'032}});
    ASSERT_TRUE(sizes.ok()) << sizes.error().text();
    EXPECT_GE(sizes->bytes[1], minimum(roce.link));
    EXPECT_LE(sizes->bytes[1], minimum(roce.link) + 3 * kMaxMtu) << "no more than it needs";
    EXPECT_LE(sum(*sizes), 524'032u);
    EXPECT_GT(sum(*sizes), 520'000u) << "nothing lies idle";
    EXPECT_EQ(sizes->bytes[2], 0u) << "no priority maps there";
    EXPECT_FALSE(sizes->automatic);
  }
}

// Newer cards keep most of it in a pool outside of the eight.
TEST(Automatic, WhatStandsOutsideOfTheBuffersStaysThere) {
  const BufferUse roce = use(100'000, 1'027'728);
  const Buffers shipped{.bytes = {20'016, 156'096}};
  auto sizes = automatic(roce, shipped);
  ASSERT_TRUE(sizes.ok());
  EXPECT_LE(sum(*sizes), sum(shipped));
  const BufferUse fast = use(800'000, 1'027'728);
  sizes = automatic(fast, shipped);
  ASSERT_TRUE(sizes.ok());
  EXPECT_GT(sizes->bytes[1], minimum(fast.link)) << "taken from there where it must be";
  EXPECT_LT(sum(*sizes), 400'000u);
}

TEST(Automatic, SaysWithNumbersWhatDoesNotFit) {
  auto sizes = automatic(use(800'000, 262'016), {.bytes = {262'016}});
  ASSERT_FALSE(sizes.ok());
  EXPECT_EQ(sizes.error().code, 0);
  for (const char* number : {"800000 Mb/s, 30 m, MTU 9000", "1 lossless", "262016"})
    EXPECT_TRUE(has(sizes.error().what, number));
  sizes = automatic(use(0, 524'032), {});
  ASSERT_FALSE(sizes.ok());
  EXPECT_TRUE(has(sizes.error().what, "link is down"));
}

// For any port, the result is never objected to, needs no rounding on cells of 128, 144 or 288 bytes, and is the result
// again if the port already has it.
TEST(Automatic, IsAcceptableAndItsOwnAnswer) {
  std::mt19937 random(3);
  auto pick = [&](unsigned count) { return static_cast<uint32_t>(random() % count); };
  unsigned fitted = 0;
  for (int i = 0; i < 2000; ++i) {
    BufferUse port;
    constexpr uint32_t kSpeeds[]{10'000, 25'000, 100'000, 200'000, 400'000, 800'000};
    port.link = {kSpeeds[pick(6)], 1 + pick(300), 1500 + pick(8000), 9000 + pick(2000)};
    for (auto& buffer : port.prio2buffer) buffer = static_cast<uint8_t>(pick(8));
    port.lossless = PrioSet{static_cast<uint8_t>(random())};
    if (pick(4)) port.total = 200'000 + pick(3'000'000);
    Buffers now;
    for (auto& bytes : now.bytes) bytes = pick(port.total.value_or(1'000'000) / 8);
    auto sizes = automatic(port, now);
    if (!sizes) continue;
    ++fitted;
    EXPECT_EQ(objection(port, *sizes), "");
    for (uint32_t bytes : sizes->bytes) EXPECT_TRUE(bytes % 128 == 0 && bytes % 288 == 0) << bytes;
    auto again = automatic(port, *sizes);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->bytes, sizes->bytes);
  }
  EXPECT_GT(fitted, 500u);
}

// -- Congestion control in files

constexpr std::string_view kNumbers =
    "cnp_dscp cnp_prio min_time_between_cnps clamp_tgt_rate clamp_tgt_rate_after_time_inc rpg_time_reset "
    "rpg_byte_reset rpg_threshold rpg_max_rate rpg_ai_rate rpg_hai_rate rpg_gd rpg_min_dec_fac "
    "rpg_min_rate rate_to_set_on_first_cnp dce_tcp_g dce_tcp_rtt rate_reduce_monitor_period initial_alpha_value";

const Setting& row(std::string_view key) { return setting_of(*parse_setting(key)); }
Keys only(std::string_view key) { return Keys().set(index(*parse_setting(key))); }

std::string folder_of(const Port& port) { return "sys/kernel/debug/mlx5/" + port.pci + "/cc_params"; }

struct Inbox : testing::Test {
  Inbox() { add_mlx5_cc_params(*bed.files, bed.port.pci); }
  std::string folder() { return folder_of(bed.port); }
  std::string shown(const std::string& file) { return bed.tree.content(folder() + "/" + file); }
  FileBed bed{Personality::mlx5};
};

struct OfedBed : FileBed {
  OfedBed() : FileBed(Personality::mlx5) {
    add_ofed_ecn(*files, "eth0");
    add_ofed_traffic_class(*files, port.rdma, 1);
  }
};
struct Ofed : testing::Test {
  std::string ecn(const std::string& file) { return "sys/class/net/eth0/ecn/" + file; }
  OfedBed bed;
};

// Each number, alone, with a value that differs from the card's default: one write, read back, restored.
void set_and_restore_each(FileBed& bed) {
  for (std::string_view key : words(kNumbers)) {
    SCOPED_TRACE(key);
    const Qos original = bed.read(only(key));
    Qos want;
    ASSERT_TRUE(has_value(row(key), original)) << bed.notes.reasons[*parse_setting(key)];
    if (!file_settings::number_of(row(key), original)) continue;  // none as shipped: tests of their own
    const uint32_t shipped = *file_settings::number_of(row(key), original);
    file_settings::set_number(row(key), shipped + 1 <= row(key).max && shipped + 1 <= 1000 ? shipped + 1 : shipped - 1,
                              want);
    const unsigned before = bed.files->changes();
    EXPECT_EQ(of(bed.plan(want), key).outcome, Outcome::differs);
    EXPECT_EQ(bed.files->changes(), before) << "a plan writes nothing";
    auto changes = bed.apply(want);
    EXPECT_EQ(of(changes, key).outcome, Outcome::applied) << text(changes);
    EXPECT_EQ(bed.files->changes(), before + 1);
    EXPECT_TRUE(same_value(row(key), bed.read(only(key)), want));
    expect_all(bed.apply(want), {Outcome::in_sync});
    EXPECT_EQ(bed.files->changes(), before + 1) << "nothing differs any more";
    Qos back;
    file_settings::set_number(row(key), shipped, back);
    expect_all(bed.apply(back), {Outcome::applied});
  }
}

TEST_F(Inbox, EachParameterIsSetReadBackAndRestored) {
  set_and_restore_each(bed);
  EXPECT_EQ(shown("np_cnp_dscp"), "48\n");
  EXPECT_EQ(bed.files->log.front(), folder() + "/np_cnp_dscp = 49");
}

TEST_F(Ofed, EachParameterIsSetReadBackAndRestored) {
  set_and_restore_each(bed);
  EXPECT_EQ(bed.files->log.front(), ecn("roce_np/cnp_dscp") + " = 49");
}

TEST_F(Inbox, OnlyWhatIsAskedForCostsTheFirmwareACommand) {
  bed.read(only("rpg_gd") | only("cnp_dscp"));
  auto reads_below = [&](const std::string& part) {
    return std::ranges::count_if(bed.files->reads, [&](const auto& file) { return has(file, part); });
  };
  EXPECT_EQ(reads_below("cc_params/"), 2);
  bed.read(only("mtu"));
  EXPECT_EQ(reads_below("cc_params/"), 2);
}

// Twice all of them, and each once after its write: not all of them after each write.
TEST_F(Inbox, ManyParametersAreNotAllReadAgainAfterEachWrite) {
  Qos want = profile(Personality::mlx5);
  int count = 0;
  for (std::string_view key : words(kNumbers)) {
    const auto shipped = file_settings::number_of(row(key), bed.read(only(key)));
    ASSERT_TRUE(shipped) << key;
    file_settings::set_number(row(key), *shipped == row(key).max ? *shipped - 1 : *shipped + 1, want);
    ++count;
  }
  bed.files->reads.clear();
  expect_all(bed.settle_to(want), {Outcome::applied, Outcome::in_sync});
  const auto reads = std::ranges::count_if(bed.files->reads, [](const auto& file) { return has(file, "cc_params/"); });
  EXPECT_EQ(reads, 3 * (count + 1)) << "one more for the priority of CNPs, which has two files";
  expect_settled(bed, want);
}

TEST_F(Inbox, TheCnpsPriorityCountsOnlyWhereTheModeSaysSo) {
  bed.tree.file(folder() + "/np_cnp_prio_mode", "1\n");
  EXPECT_EQ(bed.read().cnp_prio, OrNone{}) << "the 6 in the file is not what CNPs get";
  Qos want{.cnp_prio = OrNone{6}};
  EXPECT_EQ(of(bed.apply(want), "cnp_prio").outcome, Outcome::applied);
  EXPECT_EQ(shown("np_cnp_prio_mode"), "0\n");
  expect_all(bed.apply(want), {Outcome::in_sync});
  want.cnp_prio = OrNone{};
  EXPECT_EQ(of(bed.apply(want), "cnp_prio").outcome, Outcome::applied) << "as before our first write";
  EXPECT_EQ(shown("np_cnp_prio_mode"), "1\n");
}

TEST_F(Inbox, TheDscpOfRoundTripAnswersCountsOnceItIsValid) {
  Qos want{.rtt_resp_dscp = OrNone{0}};
  EXPECT_EQ(of(bed.plan(want), "rtt_resp_dscp").outcome, Outcome::differs);
  EXPECT_EQ(of(bed.apply(want), "rtt_resp_dscp").outcome, Outcome::applied);
  EXPECT_EQ(shown("rtt_resp_dscp_valid"), "1\n");
  EXPECT_EQ(bed.read().rtt_resp_dscp, OrNone{0});
  want.rtt_resp_dscp = OrNone{};
  EXPECT_EQ(of(bed.apply(want), "rtt_resp_dscp").outcome, Outcome::applied) << "as before our first write";
  EXPECT_EQ(shown("rtt_resp_dscp_valid"), "0\n");
}

// Linux 6.1 has neither file.
TEST_F(Inbox, AnOlderKernelLacksOneFileAndSaysSo) {
  bed.tree.remove(folder() + "/rtt_resp_dscp").remove(folder() + "/rtt_resp_dscp_valid");
  auto changes = bed.apply({.rpg_gd = 10, .rtt_resp_dscp = OrNone{20}});
  EXPECT_TRUE(
      has_outcome(changes, "rtt_resp_dscp", Outcome::unsupported, "there is no /" + folder() + "/rtt_resp_dscp"));
  EXPECT_EQ(of(changes, "rpg_gd").outcome, Outcome::applied);
}

TEST_F(Inbox, TheFirmwareRefusesWhatIsOutOfItsRange) {
  const auto changes = bed.apply({.rpg_max_rate = 3'000'000});  // a port of 400 Gb/s
  EXPECT_EQ(of(changes, "rpg_max_rate").code, EINVAL);
  for (const char* part : {"EINVAL", "firmware does not accept this value"})
    EXPECT_TRUE(has_outcome(changes, "rpg_max_rate", Outcome::refused, part));
  EXPECT_EQ(shown("rp_max_rate"), "0\n");
}

TEST_F(Inbox, SwitchesForEachPriorityAreOfedsAndTheRemedyIsNamed) {
  auto changes = bed.apply({.ecn_rp = PrioSet{8}, .ecn_np = PrioSet{8}, .traffic_class = OrNone{106}});
  for (const char* key : {"ecn_rp", "ecn_np"})
    EXPECT_TRUE(has_outcome(changes, key, Outcome::unsupported, "ROCE_CC_PRIO_MASK_P1"));
  EXPECT_TRUE(has(of(changes, "traffic_class").detail, "OFED"));
  EXPECT_EQ(bed.files->changes(), 0u);
}

// Why it is not offered, each in its own words.
struct Closed {
  const char* name;
  std::function<void(FileBed&)> shut;
  const char* says;
};
void PrintTo(const Closed& closed, std::ostream* out) { *out << closed.name; }

void lock_down(FileBed& bed, const char* mode) {
  bed.tree.file("sys/kernel/security/lockdown", mode);
  bed.files->unreadable("*/cc_params/*", EPERM);
}
const Closed kClosed[] = {
    {"lockdown", [](FileBed& bed) { lock_down(bed, "none [integrity] confidentiality\n"); }, "kernel lockdown"},
    {"confidentiality", [](FileBed& bed) { lock_down(bed, "none integrity [confidentiality]\n"); }, "kernel lockdown"},
    {"not_mounted", [](FileBed& bed) { bed.tree.remove("sys/kernel/debug").folder("sys/kernel/debug"); },
     "/sys/kernel/debug is not mounted"},
    {"no_debugfs", [](FileBed& bed) { bed.tree.remove("sys/kernel/debug"); }, "this kernel has no /sys/kernel/debug"},
    {"not_root", [](FileBed& bed) { bed.files->unreadable("sys/kernel/debug*", EACCES); }, "only root has access"},
    {"no_congestion_control", [](FileBed& bed) { bed.tree.remove(folder_of(bed.port)); },
     "firmware does not allow setting DCQCN"},
    {"second_function_of_a_lag",
     [](FileBed& bed) { bed.tree.remove(folder_of(bed.port)).folder("sys/class/net/eth0/bonding_slave"); },
     "bond's first function"},
    {"virtual_function",
     [](FileBed& bed) {
       bed.tree.remove(folder_of(bed.port)).folder("sys/bus/pci/devices/" + bed.port.pci + "/physfn");
     },
     "a virtual function"},
    {"dead_firmware", [](FileBed& bed) { bed.files->unreadable("*/cc_params/*", ETIMEDOUT); }, "ETIMEDOUT"}};

class InboxClosed : public Inbox, public testing::WithParamInterface<Closed> {};
INSTANTIATE_TEST_SUITE_P(Reasons, InboxClosed, testing::ValuesIn(kClosed), kByName);

TEST_P(InboxClosed, IsUnsupportedWithItsReason) {
  GetParam().shut(bed);
  auto changes = bed.apply({.mtu = 4200, .cnp_prio = OrNone{5}, .rpg_gd = 10});
  for (const char* key : {"rpg_gd", "cnp_prio"})
    EXPECT_TRUE(has_outcome(changes, key, Outcome::unsupported, GetParam().says));
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied) << "the rest goes on";
  EXPECT_EQ(bed.files->changes(), 0u);
}

TEST_F(Inbox, APermissionThatOnlyWritingLacksIsARefusal) {
  bed.files->fault({.code = EPERM});
  auto changes = bed.apply({.rpg_gd = 10});
  EXPECT_EQ(of(changes, "rpg_gd").code, EPERM);
  EXPECT_TRUE(has(of(changes, "rpg_gd").detail, "lockdown")) << "not a capability of netlink";
}

TEST_F(Inbox, AWriteThatIsIgnoredIsSeen) {
  bed.files->on_write("*/rp_gd", ignore_text());
  EXPECT_TRUE(has_outcome(bed.apply({.rpg_gd = 10}), "rpg_gd", Outcome::ignored, "reads back as 11"));
}

TEST_F(Inbox, ACardThatGoesAwayEndsIt) {
  bed.files->fault({.action = SimFiles::Fault::vanish, .nth = 2});
  auto changes = bed.apply({.rpg_ai_rate = 10, .rpg_hai_rate = 10, .rpg_gd = 10});
  EXPECT_EQ(keys_with(changes, Outcome::applied).size(), 1u) << text(changes);
  EXPECT_EQ(keys_with(changes, Outcome::refused).size(), 2u);
  for (const Change& change : changes)
    EXPECT_EQ(change.detail, change.outcome == Outcome::refused ? "device disappeared" : "");
  EXPECT_EQ(bed.files->changes(), 2u) << "nothing is written to what is gone";
}

// At whichever write the process dies, the next start ends in sync.
TEST(OfedKilled, AtAnyWriteTheNextPassCompletesIt) {
  Qos want{.ecn_rp = PrioSet{0x08}, .cnp_dscp = 46, .rpg_gd = 10, .traffic_class = OrNone{106}};
  struct Died {};
  unsigned deaths = 0;
  for (unsigned n = 1; n < 32; ++n) {
    OfedBed fresh;
    fresh.files->before = [n](unsigned now, const std::string&) {
      if (now == n) throw Died{};
    };
    bool died = false;
    try {
      (void)fresh.apply(want);
    } catch (const Died&) {
      died = true;
    }
    deaths += died;
    fresh.files->before = [](unsigned, const std::string&) {};
    expect_all(fresh.apply(want), {Outcome::applied, Outcome::in_sync});
    expect_all(fresh.apply(want), {Outcome::in_sync});
    if (!died) break;
  }
  EXPECT_EQ(deaths, 10u) << "seven switches, two numbers, one traffic class";
}

TEST_F(Ofed, OnlyTheSwitchesThatDifferAreWritten) {
  bed.tree.file(ecn("roce_rp/enable/6"), "0\n");
  auto changes = bed.apply({.ecn_rp = PrioSet{0xf8}});
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "ecn_rp").from, "0,1,2,3,4,5,7");
  const std::vector<std::string> expected{ecn("roce_rp/enable/0") + " = 0", ecn("roce_rp/enable/1") + " = 0",
                                          ecn("roce_rp/enable/2") + " = 0", ecn("roce_rp/enable/6") + " = 1"};
  EXPECT_EQ(bed.files->log, expected);
  EXPECT_EQ(bed.read().ecn_np, PrioSet{0xff}) << "the notification point is another setting";
}

// The notification point is on while the switch of one priority is.
TEST_F(Ofed, TheNotificationPointIsTheSwitchOfThePort) {
  EXPECT_EQ(of(bed.apply({.ecn_np = PrioSet{0x08}}), "ecn_np").outcome, Outcome::in_sync) << "on for all priorities";
  for (int prio = 0; prio < 8; ++prio) bed.tree.file(ecn("roce_np/enable/" + std::to_string(prio)), "0\n");
  EXPECT_EQ(of(bed.apply({.ecn_np = PrioSet{0x08}}), "ecn_np").outcome, Outcome::applied);
  EXPECT_EQ(bed.read().ecn_np, PrioSet{0x08});
  EXPECT_EQ(of(bed.apply({.ecn_np = PrioSet{}}), "ecn_np").outcome, Outcome::applied);
  EXPECT_EQ(bed.read().ecn_np, PrioSet{}) << "off is another state than on";
}

TEST_F(Ofed, ASwitchThatReadsEmptyIsNotKnownAndNotWritten) {
  bed.tree.file(ecn("roce_np/enable/3"), "");
  auto changes = bed.apply({.ecn_rp = PrioSet{0x08}, .ecn_np = PrioSet{0x08}});
  EXPECT_TRUE(has_outcome(changes, "ecn_np", Outcome::unsupported, "firmware did not answer"));
  EXPECT_TRUE(has(of(changes, "ecn_np").detail, "roce_np/enable/3"));
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::applied);
  for (const std::string& line : bed.files->log) EXPECT_FALSE(has(line, "roce_np"));
}

TEST_F(Ofed, ARefusalInTheMiddleIsReportedWithWhatStands) {
  bed.files->fault({.code = EIO, .glob = "*/roce_rp/enable/5"});
  Qos want{.ecn_rp = PrioSet{0x08}};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::refused);
  EXPECT_EQ(of(changes, "ecn_rp").code, EIO);
  ASSERT_TRUE(bed.have);
  EXPECT_EQ(bed.have->ecn_rp, PrioSet{0xe8}) << "0, 1, 2 and 4 are off";
  bed.files->heal();
  expect_all(bed.apply(want), {Outcome::applied});
}

TEST_F(Ofed, OfAVirtualFunctionNothingCanBeWritten) {
  bed.files->on_write("*/ecn/*", refuse_text(EACCES));
  auto changes = bed.apply({.rpg_gd = 10});
  EXPECT_EQ(of(changes, "rpg_gd").code, EACCES);
  EXPECT_TRUE(has(of(changes, "rpg_gd").detail, "virtual function"));
}

TEST_F(Ofed, TheTrafficClassIsForcedChangedAndCleared) {
  const std::string file = "sys/class/infiniband/" + bed.port.rdma + "/tc/1/traffic_class";
  EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, OrNone{});
  for (const OrNone value : {OrNone{106}, OrNone{0}, OrNone{}}) {
    EXPECT_EQ(of(bed.apply({.traffic_class = value}), "traffic_class").outcome, Outcome::applied);
    EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, value);
  }
  EXPECT_EQ(bed.files->log.back(), file + " = -1");
  bed.tree.file(file, "src_ip=1.2.3.4,tclass=32\nGlobal tclass=64\n");
  EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, OrNone{64}) << "rules for addresses are not it";
  bed.tree.file(file, "Global tclass=-1\n");
  EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, OrNone{});
}

TEST_F(Ofed, WithoutItsFileTheTrafficClassIsNotOffered) {
  bed.tree.remove("sys/class/infiniband/" + bed.port.rdma + "/tc");
  EXPECT_FALSE(bed.read().traffic_class);
  EXPECT_TRUE(has(bed.notes.reasons[SettingId::traffic_class], "there is no"));
  bed.port.rdma.clear();
  EXPECT_FALSE(bed.read().traffic_class);
  EXPECT_TRUE(has(bed.notes.reasons[SettingId::traffic_class], "no RDMA device"));
}

TEST_F(Ofed, DcbnlIsTheSame) {
  expect_all(bed.apply(profile(Personality::mlx5)), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.app.size(), 64u) << "the whole map";
  EXPECT_EQ(bed.nic.pfc.delay, 30);
}

TEST(Mlx5Evidence, FilesOfEcnAreOfedAndTheirAbsenceIsTheKernel) {
  FileBed bed(Personality::mlx5);
  EXPECT_EQ(driver_for("mlx5_core", &bed.kernel.root, "eth0").name, "mlx5");
  bed.tree.folder("sys/class/net/eth0/ecn");
  EXPECT_EQ(driver_for("mlx5_core", &bed.kernel.root, "eth0").name, "mlx5_ofed");
  EXPECT_EQ(driver_for("mlx5_core", &bed.kernel.root, "eth1").name, "mlx5");
  EXPECT_EQ(driver_for("bnxt_en", &bed.kernel.root, "eth0").name, "bnxt");
}

TEST(FileNumber, IsDecimalOrHexAndTheWholeText) {
  EXPECT_EQ(file_settings::number("300\n"), 300u);
  EXPECT_EQ(file_settings::number("0x1F\n"), 31u);
  for (const char* text : {"", "\n", "-1\n", "12 x", "0x", "4294967296"})
    EXPECT_FALSE(file_settings::number(text)) << text;
}

TEST(SimFilesRules, AreTheKernels) {
  Tree tree;
  tree.file("a/number", "1\n").file("a/plain", "x\n");
  SimFiles files(tree);
  files.on_write("a/number", store_number(1, 10));
  auto write = [&](const char* file, const char* text) {
    auto verdict = *files.act(BehindFiles::Act::write, file, text);
    return verdict ? 0 : verdict.error().code;
  };
  EXPECT_EQ(write("a/number", "0xa"), 0);
  EXPECT_EQ(tree.content("a/number"), "10\n");
  for (const char* text : {"11", "0", "-1", "", " 5", "5 ", "5x"}) EXPECT_EQ(write("a/number", text), EINVAL) << text;
  EXPECT_EQ(write("a/number", "011\n"), 0) << "octal";
  EXPECT_EQ(tree.content("a/number"), "9\n");
  EXPECT_EQ(write("a/plain", "1"), EACCES) << "no rule";
  EXPECT_EQ(write("a/none", "1"), ENOENT);
}

}  // namespace
}  // namespace fabric::test
