// SPDX-License-Identifier: Apache-2.0
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "kernel/netlink/ethtool.h"
#include "support/netns.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::ethtool {
namespace {

using test::Bed;
using test::of;
using test::Personality;
using test::Veth;

AttrWriter settings_reply() { return AttrWriter().header(genlmsghdr{}); }

TEST(ParseRings, LeavesOutWhatTheDriverHasNot) {
  auto both = settings_reply()
                  .u32(ETHTOOL_A_RINGS_RX_MAX, 8192)
                  .u32(ETHTOOL_A_RINGS_RX, 1024)
                  .u32(ETHTOOL_A_RINGS_TX_MAX, 4096)
                  .u32(ETHTOOL_A_RINGS_TX, 512);
  EXPECT_EQ(parse_rings(both.data()), (Rings{Amount{1024, 8192}, Amount{512, 4096}}));
  auto rx = settings_reply().u32(ETHTOOL_A_RINGS_RX_MAX, 8192).u32(ETHTOOL_A_RINGS_RX, 1024);
  EXPECT_EQ(parse_rings(rx.data()), (Rings{Amount{1024, 8192}, {}}));
  EXPECT_EQ(parse_rings({}), Rings{});
}

TEST(ParseChannels, AreTheCombinedOnes) {
  auto separate = settings_reply().u32(ETHTOOL_A_CHANNELS_RX_MAX, 8).u32(ETHTOOL_A_CHANNELS_RX_COUNT, 8);
  EXPECT_FALSE(parse_channels(separate.data()));
  auto combined = separate.u32(ETHTOOL_A_CHANNELS_COMBINED_MAX, 63).u32(ETHTOOL_A_CHANNELS_COMBINED_COUNT, 0);
  EXPECT_EQ(parse_channels(combined.data()), (Amount{0, 63})) << "zero is a count";
}

TEST(ParseFec, ReadsListAndAuto) {
  auto bit = [](const char* name) { return AttrWriter().text(ETHTOOL_A_BITSET_BIT_NAME, name); };
  AttrWriter bits, modes;
  bits.nest(ETHTOOL_A_BITSET_BITS_BIT, bit("RS"))
      .nest(ETHTOOL_A_BITSET_BITS_BIT, bit("None"))
      .nest(ETHTOOL_A_BITSET_BITS_BIT, bit("1000baseT/Full"));
  modes.flag(ETHTOOL_A_BITSET_NOMASK).nest(ETHTOOL_A_BITSET_BITS, bits);
  EXPECT_EQ(parse_fec(settings_reply().nest(ETHTOOL_A_FEC_MODES, modes).u8(ETHTOOL_A_FEC_AUTO, 1).data()),
            Fec{ETHTOOL_FEC_AUTO | ETHTOOL_FEC_RS | ETHTOOL_FEC_OFF});
  EXPECT_EQ(parse_fec(settings_reply().nest(ETHTOOL_A_FEC_MODES, AttrWriter()).data()), Fec{});
  EXPECT_FALSE(parse_fec(settings_reply().u8(ETHTOOL_A_FEC_AUTO, 1).data()));
}

class EthtoolFeature : public testing::Test {
 protected:
  EthtoolFeature() {
    bed.nic.ethtool.ring_rx = {1024, 8192};
    bed.nic.ethtool.ring_tx = {1024, 8192};
    bed.nic.ethtool.channels = {8, 63};
    bed.nic.ethtool.fec = ETHTOOL_FEC_AUTO;
  }
  std::vector<std::string> settings() const {
    std::vector<std::string> out;
    for (const std::string& line : bed.nic.log)
      if (line.starts_with("setrings") || line.starts_with("setchannels") || line.starts_with("setfec"))
        out.push_back(line);
    return out;
  }
  Bed bed{Personality::full};
};

TEST_F(EthtoolFeature, SetsReadsBackAndFindsNothingMoreToDo) {
  Qos want{.ring_rx = 4096, .ring_tx = 2048, .channels = 16, .fec = Fec{ETHTOOL_FEC_RS}};
  auto changes = bed.apply(want);
  EXPECT_EQ(test::keys_with(changes, Outcome::applied),
            (std::set<std::string>{"ring_rx", "ring_tx", "channels", "fec"}))
      << test::text(changes);
  EXPECT_EQ(settings(), (std::vector<std::string>{"setrings rx=4096 tx=2048", "setchannels 16", "setfec rs"}))
      << "both ring sizes in one message, one kind per message";
  EXPECT_EQ(of(changes, "ring_tx").from, "1024");
  EXPECT_TRUE(of(changes, "fec").disruptive);
  EXPECT_EQ(bed.nic.ethtool.fec, ETHTOOL_FEC_RS) << "a list: auto is off";
  test::expect_all(bed.apply(want), {Outcome::in_sync});
  EXPECT_EQ(settings().size(), 3u);
}

TEST_F(EthtoolFeature, WritesNoOtherSizeAlongThatMustNotBeWritten) {
  const Qos want{.ring_rx = 4096, .ring_tx = 4096};
  bed.terms.in_conflict = [](SettingId setting) { return setting == SettingId::ring_tx; };
  EXPECT_EQ(of(bed.apply(want), "ring_tx").outcome, Outcome::conflict);
  EXPECT_EQ(settings(), std::vector<std::string>{"setrings rx=4096 tx=1024"});
  bed.terms.in_conflict = nullptr;
  bed.nic.ethtool.ring_rx->now = 512;
  bed.apply({.ring_rx = 4096});
  EXPECT_EQ(settings().back(), "setrings rx=4096 tx=1024");
}

TEST_F(EthtoolFeature, OneSizesFaultIsNotTheOthers) {
  bed.nic.ethtool.ring_min = 64;
  auto changes = bed.apply({.ring_rx = 4096, .ring_tx = 32});
  EXPECT_EQ(of(changes, "ring_rx").outcome, Outcome::applied) << test::text(changes);
  EXPECT_TRUE(test::has_outcome(changes, "ring_tx", Outcome::refused, "minimum"));
  EXPECT_EQ(of(changes, "ring_tx").code, EINVAL);
}

TEST_F(EthtoolFeature, AboveTheMaximumIsImpossibleAndSaysTheMaximum) {
  auto changes = bed.apply({.ring_rx = 16384, .channels = 64});
  EXPECT_EQ(of(changes, "ring_rx").outcome, Outcome::unsupported);
  EXPECT_EQ(of(changes, "ring_rx").detail, "the driver's maximum is 8192");
  EXPECT_EQ(of(changes, "channels").detail, "the driver's maximum is 63");
  EXPECT_TRUE(settings().empty());
}

TEST_F(EthtoolFeature, RefusedModesAreNamed) {
  for (const int code : {EINVAL, EOPNOTSUPP}) {
    bed.nic.faults["setfec"] = {test::Fault::refuse, code};
    EXPECT_TRUE(test::has_outcome(bed.apply({.fec = Fec{ETHTOOL_FEC_BASER}}), "fec", Outcome::refused, "its cable"));
  }
}

TEST_F(EthtoolFeature, AutoIsInSyncWithTheModesItChoosesFrom) {
  bed.nic.ethtool.fec = ETHTOOL_FEC_AUTO | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER;  // bnxt
  const Qos automatic{.fec = Fec{ETHTOOL_FEC_AUTO}};
  test::expect_all(bed.apply(automatic), {Outcome::in_sync});
  EXPECT_EQ(of(bed.apply({.fec = Fec{ETHTOOL_FEC_RS}}), "fec").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.ethtool.fec, ETHTOOL_FEC_RS);
  bed.nic.ethtool.fec_chosen = ETHTOOL_FEC_RS;
  EXPECT_EQ(of(bed.apply(automatic), "fec").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.ethtool.fec, ETHTOOL_FEC_AUTO | ETHTOOL_FEC_RS);
}

// bnxt_get_fecparam() lists no mode where it is switched off, and shows off as the one in use.
TEST_F(EthtoolFeature, NoModeIsOffWhereOffIsInUse) {
  bed.nic.ethtool.fec_lists_off = false;
  bed.nic.ethtool.fec = ETHTOOL_FEC_RS;
  const Qos off{.fec = Fec{ETHTOOL_FEC_OFF}};
  EXPECT_EQ(of(bed.apply(off), "fec").outcome, Outcome::applied);
  EXPECT_EQ(of(bed.apply(off), "fec").outcome, Outcome::in_sync);
  EXPECT_EQ(bed.read().fec, Fec{ETHTOOL_FEC_OFF});
  EXPECT_EQ(of(bed.apply({.fec = Fec{ETHTOOL_FEC_RS}}), "fec").outcome, Outcome::applied);
}

// ice, ionic and qede list what the port can do (ice_get_fecparam(), ionic_get_fecparam(), qede_get_fecparam()).
TEST(FecInUse, IsReadWhereADriverListsItsAbilities) {
  for (const Personality personality : {Personality::ice, Personality::nodcb, Personality::qede}) {
    Bed bed(personality);
    bed.nic.ethtool.fec = ETHTOOL_FEC_OFF;
    bed.nic.ethtool.fec_abilities = ETHTOOL_FEC_OFF | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER;
    const auto outcome = [&](int modes) {
      return of(bed.apply({.fec = Fec{static_cast<uint8_t>(modes)}}), "fec").outcome;
    };
    const Qos original{.fec = bed.read().fec};
    EXPECT_EQ(original.fec, Fec{ETHTOOL_FEC_OFF});
    EXPECT_EQ(outcome(ETHTOOL_FEC_RS), Outcome::applied);
    EXPECT_EQ(bed.nic.ethtool.fec, ETHTOOL_FEC_RS);
    EXPECT_EQ(outcome(ETHTOOL_FEC_RS), Outcome::in_sync);
    EXPECT_EQ(of(bed.apply(original), "fec").outcome, Outcome::applied) << "what stood is one mode";
    // A list never reads back: each try would have the link train again for nothing (qede_set_fecparam() takes it).
    for (const int never : {ETHTOOL_FEC_AUTO, ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER})
      EXPECT_EQ(outcome(never), Outcome::unsupported);
    bed.nic.ethtool.fec = 0;  // no link
    EXPECT_EQ(of(bed.plan({.fec = Fec{ETHTOOL_FEC_RS}}), "fec").detail,
              "this driver reports only the FEC mode in use, and none is in use");
  }
}

// ice_set_fec_cfg() lets the link train again; ice_get_fecparam() shows the last link's mode until it has.
TEST(FecInUse, IsAwaitedWhileTheLinkTrains) {
  Bed bed(Personality::ice);
  bed.nic.ethtool.fec = ETHTOOL_FEC_OFF;
  bed.nic.ethtool.fec_abilities = ETHTOOL_FEC_OFF | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER;
  bed.nic.ethtool.fec_readings = 4;
  EXPECT_EQ(of(bed.apply({.fec = Fec{ETHTOOL_FEC_RS}}), "fec").outcome, Outcome::applied);
}

TEST_F(EthtoolFeature, WhatIsNotOfferedSaysSo) {
  bed.nic.ethtool = {};
  auto changes = bed.apply({.ring_rx = 4096, .channels = 4, .fec = Fec{ETHTOOL_FEC_RS}});
  test::expect_all(changes, {Outcome::unsupported});
  EXPECT_EQ(of(changes, "ring_rx").detail, "the driver has no ring sizes to set");
  EXPECT_EQ(of(changes, "fec").detail, "the driver has no FEC to set");
  Qos have = bed.read();
  EXPECT_FALSE(have.ring_rx || have.ring_tx || have.channels || have.fec) << "absent is not zero";
}

TEST_F(EthtoolFeature, IsReadOnlyWhenWanted) {
  const Qos now = bed.read(keys_of({.mtu = bed.nic.mtu}));
  EXPECT_FALSE(now.ring_rx || now.channels || now.fec);
}

TEST(Rings, RoundAsTheDriversDo) {
  Qos want{.ring_rx = 5000, .ring_tx = 513};
  for (const auto& [driver, rx, tx] : {std::tuple{"mlx5_core", 8192u, 1024u}, {"ice", 5024u, 544u}}) {
    const auto expected = driver_for(driver).expected;
    EXPECT_EQ(expected(want, {}).ring_rx, rx);
    EXPECT_EQ(expected(want, {}).ring_tx, tx);
    EXPECT_EQ(expected({.ring_rx = UINT32_MAX}, {}).ring_rx, UINT32_MAX) << "left for the limit to judge";
  }
}

TEST(Rings, OriginalOf511IsRestored) {
  Bed bed(Personality::bnxt);
  bed.nic.ethtool.ring_rx = bed.nic.ethtool.ring_tx = {512, 8191};
  EXPECT_EQ(of(bed.apply({.ring_rx = 511}), "ring_rx").outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.ethtool.ring_rx->now, 511U);
}

TEST(Rings, WhatADriverRoundsIsInSync) {
  for (auto [personality, rounding, shown] :
       {std::tuple{Personality::mlx5, test::SimEthtool::Rounding::power_of_two, 8192u},
        std::tuple{Personality::ice, test::SimEthtool::Rounding::up_to_32, 5024u},
        std::tuple{Personality::bnxt, test::SimEthtool::Rounding::none, 5000u}}) {
    Bed bed(personality);
    bed.nic.ethtool.rounding = rounding;
    bed.nic.ethtool.ring_rx = bed.nic.ethtool.ring_tx = {1024, 8192};
    Qos want{.ring_rx = 5000};
    EXPECT_EQ(of(bed.apply(want), "ring_rx").outcome, Outcome::applied);
    EXPECT_EQ(bed.nic.ethtool.ring_rx->now, shown);
    EXPECT_EQ(of(bed.apply(want), "ring_rx").outcome, Outcome::in_sync);
    EXPECT_EQ(bed.nic.calls["setrings"], 1u) << "queues are not rebuilt again and again";
    want.ring_rx = 4096;
    EXPECT_EQ(of(bed.plan(want), "ring_rx").outcome, Outcome::differs);
    want.ring_rx = shown + 1;
    EXPECT_NE(of(bed.plan(want), "ring_rx").outcome, Outcome::in_sync);
    want.ring_rx = 8193;
    EXPECT_EQ(of(bed.apply(want), "ring_rx").outcome, Outcome::unsupported);
  }
}

// veth has channels (drivers/net/veth.c), as many as it has queues, and no combined one.
TEST_F(Veth, ThisKernelTakesTheMessages) {
  ASSERT_TRUE(kernel.ethtool);
  EXPECT_EQ(get_rings(*kernel.generic, *kernel.ethtool, "veth0").error().code, EOPNOTSUPP);
  EXPECT_EQ(set_rings(*kernel.generic, *kernel.ethtool, id("veth0"), 512, {}).error().code, EOPNOTSUPP);
  EXPECT_EQ(get_fec(*kernel.generic, *kernel.ethtool, "veth0").error().code, EOPNOTSUPP);
  EXPECT_EQ(set_fec(*kernel.generic, *kernel.ethtool, id("veth0"), Fec{ETHTOOL_FEC_RS}).error().code, EOPNOTSUPP);
  EXPECT_EQ(set_private_flag(*kernel.generic, *kernel.ethtool, id("veth0"), "x", true).error().code, EOPNOTSUPP);
  auto channels = get_channels(*kernel.generic, *kernel.ethtool, "veth0");
  if (channels) EXPECT_FALSE(*channels);
  else EXPECT_EQ(channels.error().code, EOPNOTSUPP);
}

}  // namespace
}  // namespace fabric::ethtool
