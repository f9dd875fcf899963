// SPDX-License-Identifier: Apache-2.0
// ethtool: messages as the kernel sends them, answers of simulated NICs, and this kernel on a veth pair.
#include "kernel/netlink/ethtool.h"

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/kernel.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/netlink/ethtool_link.h"
#include "kernel/netlink/newer_uapi.h"
#include "support/netns.h"
#include "support/sim_cage.h"
#include "support/sim_nic.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::ethtool {
namespace {

using test::Bed;
using test::has;
using test::of;
using test::Personality;
using test::SimCage;
using test::Veth;

// -- Pause, private flags and statistics

AttrWriter reply() { return AttrWriter().header(genlmsghdr{}); }

TEST(ParseFamily, FindsTheMonitorGroupAmongOthers) {
  AttrWriter other, monitor, groups;
  other.u32(CTRL_ATTR_MCAST_GRP_ID, 5).text(CTRL_ATTR_MCAST_GRP_NAME, "other");
  monitor.text(CTRL_ATTR_MCAST_GRP_NAME, "monitor").u32(CTRL_ATTR_MCAST_GRP_ID, 6);
  groups.nest(1, other).nest(2, monitor);
  auto family = parse_family(reply().u16(CTRL_ATTR_FAMILY_ID, 21).nest(CTRL_ATTR_MCAST_GROUPS, groups).data());
  ASSERT_TRUE(family.ok());
  EXPECT_EQ(family->id, 21);
  EXPECT_EQ(family->monitor_group, 6u);
  EXPECT_FALSE(parse_family(reply().data()).ok());
}

TEST(ParsePause, WantsBothDirections) {
  EXPECT_EQ(parse_pause(reply().u8(ETHTOOL_A_PAUSE_RX, 1).u8(ETHTOOL_A_PAUSE_TX, 0).data()), (Pause{true, false}));
  EXPECT_FALSE(parse_pause(reply().u8(ETHTOOL_A_PAUSE_RX, 1).data())) << "absent is not off";
  EXPECT_FALSE(parse_pause({}));
}

TEST(ParsePrivateFlags, ReadsTheVerboseBitset) {
  AttrWriter on, off, bits, bitset;
  on.u32(ETHTOOL_A_BITSET_BIT_INDEX, 0)
      .text(ETHTOOL_A_BITSET_BIT_NAME, "fw-lldp-agent")
      .flag(ETHTOOL_A_BITSET_BIT_VALUE);
  off.u32(ETHTOOL_A_BITSET_BIT_INDEX, 1).text(ETHTOOL_A_BITSET_BIT_NAME, "legacy-rx");
  bits.nest(ETHTOOL_A_BITSET_BITS_BIT, on).nest(ETHTOOL_A_BITSET_BITS_BIT, off);
  bitset.u32(ETHTOOL_A_BITSET_SIZE, 2).nest(ETHTOOL_A_BITSET_BITS, bits);
  const std::vector<std::pair<std::string, bool>> expected{{"fw-lldp-agent", true}, {"legacy-rx", false}};
  EXPECT_EQ(parse_private_flags(reply().nest(ETHTOOL_A_PRIVFLAGS_FLAGS, bitset).data()), expected);
  EXPECT_TRUE(parse_private_flags(reply().data()).empty());
}

TEST(Pause, IsSetWithoutAutonegAndReadBack) {
  test::SimKernel sim;
  auto& nic = sim.add_nic("eth0", test::Personality::mlx5);  // refuses an autoneg of 1
  Kernel kernel = sim.kernel();
  ASSERT_TRUE(kernel.ethtool);
  ASSERT_TRUE(set_pause(*kernel.generic, *kernel.ethtool, {"eth0", nic.ifindex}, Pause{false, true}).ok());
  EXPECT_EQ(nic.pause, (Pause{false, true}));
  EXPECT_EQ(*get_pause(*kernel.generic, *kernel.ethtool, "eth0"), (Pause{false, true}));
  EXPECT_EQ(get_pause(*kernel.generic, *kernel.ethtool, "nosuch").error().code, ENODEV);
}

TEST(PrivateFlag, IsSetAloneAndByName) {
  test::SimKernel sim;
  auto& nic = sim.add_nic("eth0", test::Personality::ice);
  nic.firmware_agent = true;
  nic.ethtool.private_flags["legacy-rx"] = true;
  Kernel kernel = sim.kernel();
  auto set = [&](const char* name, bool on) {
    return set_private_flag(*kernel.generic, *kernel.ethtool, {"eth0", nic.ifindex}, name, on);
  };
  ASSERT_TRUE(set("fw-lldp-agent", false).ok());
  EXPECT_FALSE(nic.firmware_agent);
  const std::vector<std::pair<std::string, bool>> expected{{"fw-lldp-agent", false}, {"legacy-rx", true}};
  EXPECT_EQ(*get_private_flags(*kernel.generic, *kernel.ethtool, "eth0"), expected);
  ASSERT_TRUE(set("fw-lldp-agent", false).ok());
  EXPECT_EQ(nic.calls["setprivflag"], 1u) << "the kernel asks the driver only where something changes";
  auto unknown = set("no-such-flag", true);
  EXPECT_EQ(unknown.error().code, EOPNOTSUPP);
  EXPECT_TRUE(test::has(unknown.error().what, "eth0: set private flag no-such-flag"));
}

TEST(PairStatistics, TakesNamesOf32BytesWithAndWithoutTheirNul) {
  Bytes names(3 * ETH_GSTRING_LEN);
  const std::string full(ETH_GSTRING_LEN, 'x');
  std::memcpy(names.data(), "rx_prio3_pause", 14);
  std::memcpy(names.data() + ETH_GSTRING_LEN, full.data(), full.size());
  const std::array<uint64_t, 3> values{11, 22, 33};
  auto counters = pair_statistics(names, values);
  ASSERT_EQ(counters.size(), 3u);
  EXPECT_EQ(counters[0], (Counter{"rx_prio3_pause", 11}));
  EXPECT_EQ(counters[1], (Counter{full, 22}));
  EXPECT_EQ(counters[2], (Counter{"", 33}));
  EXPECT_EQ(pair_statistics(names, std::span(values).first(1)).size(), 1u);
  EXPECT_EQ(pair_statistics(View8(names).first(40), values).size(), 1u) << "half a name is none";
}

Bytes names_of(const std::vector<std::string>& names) {
  Bytes out(names.size() * ETH_GSTRING_LEN);
  for (size_t i = 0; i < names.size(); ++i)
    std::memcpy(out.data() + i * ETH_GSTRING_LEN, names[i].data(), names[i].size());
  return out;
}

TEST(Selection, LooksAtTheNamesOnlyWhenTheyAreOthers) {
  unsigned looked = 0;
  Selection selection([&](Counter& each) { return ++looked, each.name.text().starts_with("rx"); });
  const std::array<uint64_t, 3> first{1, 2, 3}, second{4, 5, 6};
  const Bytes names = names_of({"rx_a", "tx_a", "rx_b"});
  EXPECT_EQ(selection.of(names, first), (std::vector<Counter>{{"rx_a", 1}, {"rx_b", 3}}));
  EXPECT_EQ(looked, 3u);
  EXPECT_EQ(selection.of(names, second), (std::vector<Counter>{{"rx_a", 4}, {"rx_b", 6}}));
  EXPECT_EQ(looked, 3u);
  EXPECT_EQ(selection.total(), 3u);
  ASSERT_EQ(selection.positions().size(), 2u);
  EXPECT_EQ(selection.positions()[1].at, 2u);
  EXPECT_EQ(selection.of(names_of({"rx_a", "rx_c", "rx_b"}), second).size(), 3u)
      << "another name at the same number of them";
  EXPECT_EQ(looked, 6u);
  EXPECT_EQ(selection.of(names_of({"tx_a", "rx_b"}), std::span(second).first(2)), (std::vector<Counter>{{"rx_b", 5}}));
  EXPECT_EQ(selection.of({}, {}), std::vector<Counter>{});
  EXPECT_EQ(selection.total(), 0u);
}

TEST(Selection, OfAReadingThatHasItsNamesAlready) {
  Selection selection([](Counter& each) { return each.name != "b"; });
  EXPECT_EQ(selection.of(std::vector<Counter>{{"a", 1}, {"b", 2}, {"c", 3}}),
            (std::vector<Counter>{{"a", 1}, {"c", 3}}));
  EXPECT_EQ(selection.total(), 3u);
  ASSERT_EQ(selection.positions().size(), 2u);
  EXPECT_EQ(selection.positions()[1].at, 2u);
  const std::array<uint64_t, 3> values{7, 8, 9};
  EXPECT_EQ(selection.of(names_of({"a", "c", "b"}), values), (std::vector<Counter>{{"a", 7}, {"c", 8}}))
      << "another order";
}

TEST(Guarded, EndsWhereTheKernelCannotWrite) {
  const Fd zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(zeros);
  for (size_t size : {size_t{1}, size_t{8}, size_t{4096}, size_t{32 * 1500}, size_t{24}}) {
    const Guarded<ethtool_stats> room(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(room.get()) % alignof(uint64_t), 0u);
    auto* data = const_cast<std::byte*>(room.trailing());
    EXPECT_EQ(::read(zeros.get(), data, size), static_cast<ssize_t>(size));
    EXPECT_EQ(::read(zeros.get(), data + (size + 7) / 8 * 8, 1), -1);
    EXPECT_EQ(errno, EFAULT);
  }
}

TEST_F(Veth, ThisKernelsFamilyIsFound) {
  ASSERT_TRUE(kernel.ethtool) << "no ethtool family: a kernel before 5.6?";
  EXPECT_GE(kernel.ethtool->id, GENL_MIN_ID);
  EXPECT_NE(kernel.ethtool->monitor_group, 0u);
}

TEST_F(Veth, OffersNoPauseAndNoPrivateFlags) {
  ASSERT_TRUE(kernel.ethtool);
  EXPECT_EQ(get_pause(*kernel.generic, *kernel.ethtool, "veth0").error().code, EOPNOTSUPP);
  EXPECT_EQ(set_pause(*kernel.generic, *kernel.ethtool, id("veth0"), {}).error().code, EOPNOTSUPP);
  EXPECT_EQ(get_private_flags(*kernel.generic, *kernel.ethtool, "veth0").error().code, EOPNOTSUPP);
}

TEST_F(Veth, HasNoTunables) {
  EXPECT_EQ(kernel.tunables->pfc_prevention("veth0").error().code, EOPNOTSUPP);
  EXPECT_EQ(kernel.tunables->set_pfc_prevention("veth0", 100).error().code, EOPNOTSUPP);
  EXPECT_EQ(kernel.tunables->pfc_prevention("nosuch").error().code, ENODEV);
}

TEST_F(Veth, HasStatisticsForThoseWhoWantSome) {
  auto all = kernel.statistics->read("veth0");
  ASSERT_TRUE(all.ok()) << all.error().text();
  unsigned looked = 0;
  Selection selection([&](Counter& each) { return ++looked, each.name == "peer_ifindex"; });
  for (int reading = 0; reading < 3; ++reading) {
    auto some = kernel.statistics->read("veth0", selection);
    ASSERT_TRUE(some.ok()) << some.error().text();
    ASSERT_EQ(some->size(), 1u);
    EXPECT_EQ(some->front(), (*all)[selection.positions()[0].at]);
    EXPECT_EQ(selection.total(), all->size());
  }
  EXPECT_EQ(looked, all->size());
  EXPECT_EQ(kernel.statistics->read("lo", selection).error().code, EOPNOTSUPP);
}

TEST_F(Veth, HasStatisticsByName) {
  auto counters = kernel.statistics->read("veth0");
  ASSERT_TRUE(counters.ok()) << counters.error().text();
  auto peer = std::ranges::find(*counters, "peer_ifindex", &Counter::name);
  ASSERT_NE(peer, counters->end());
  EXPECT_NE(peer->value, 0u);
  auto values = kernel.statistics->values("veth0", counters->size());
  ASSERT_TRUE(values.ok()) << values.error().text();
  ASSERT_EQ(values->size(), counters->size());
  EXPECT_EQ((*values)[static_cast<size_t>(peer - counters->begin())], peer->value) << "in the order of the names";
  for (size_t wrong : {counters->size() - 1, counters->size() + 1, size_t{1'000'000}})
    EXPECT_EQ(kernel.statistics->values("veth0", wrong).error().code, EAGAIN) << wrong;
  EXPECT_EQ(kernel.statistics->values("nosuch", 3).error().code, ENODEV);
  EXPECT_EQ(kernel.statistics->read("lo").error().code, EOPNOTSUPP);
  EXPECT_EQ(kernel.statistics->read("nosuch").error().code, ENODEV);
  EXPECT_EQ(kernel.statistics->read("a-name-longer-than-any-netdev").error().code, ENODEV);
}

// -- Link, FEC and module

constexpr Family kFamily{.id = 21};

AttrWriter link_reply() {
  genlmsghdr header{};
  header.version = ETHTOOL_GENL_VERSION;
  AttrWriter device, out;
  device.u32(ETHTOOL_A_HEADER_DEV_INDEX, 4).text(ETHTOOL_A_HEADER_DEV_NAME, "eth0");
  out.header(header).nest(ETHTOOL_A_LINKSTATE_HEADER, device);
  return out;
}

// net/ethtool/linkstate.c, linkstate_fill_reply: bytes as they come over the wire.
TEST(ParseLinkStatus, ReadsTheReplyOfALinkWithoutCable) {
  const std::array<uint8_t, 52> wire = {
      6,  1, 0, 0,  // genlmsghdr: reply, version 1
      24, 0, 1, 0x80, 8,    0,    1, 0, 4, 0, 0, 0, 9, 0, 2, 0, 'e', 't', 'h', '0', 0, 0, 0, 0,  // header
      5,  0, 2, 0,    0,    0,    0, 0,                                                          // LINK 0
      5,  0, 5, 0,    4,    0,    0, 0,                                                          // EXT_STATE no cable
      8,  0, 7, 0,    0x03, 0x02, 0, 0,                                                          // EXT_DOWN_CNT 515
  };
  EXPECT_EQ(parse_link_status(std::as_bytes(std::span(wire))),
            (LinkStatus{.up = false, .reason = "No cable", .downs = 515}));
}

TEST(ParseLinkStatus, NamesReasonAndDetailInEthtoolsWords) {
  auto words = [](uint8_t state, uint8_t substate) {
    const auto message =
        link_reply().u8(ETHTOOL_A_LINKSTATE_EXT_STATE, state).u8(ETHTOOL_A_LINKSTATE_EXT_SUBSTATE, substate);
    const LinkStatus status = parse_link_status(message.data());
    return status.reason + ": " + status.detail;
  };
  EXPECT_EQ(words(ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_HCD), "Autoneg: No HCD");
  EXPECT_EQ(
      words(ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE, ETHTOOL_LINK_EXT_SUBSTATE_LT_KR_FRAME_LOCK_NOT_ACQUIRED),
      "Link training failure: KR frame lock not acquired");
  EXPECT_EQ(words(ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH, ETHTOOL_LINK_EXT_SUBSTATE_LLM_RS_FEC_IS_NOT_LOCKED),
            "Logical mismatch: RS FEC is not locked");
  EXPECT_EQ(words(ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY, ETHTOOL_LINK_EXT_SUBSTATE_BSI_SERDES_ALOS),
            "Bad signal integrity: Serdes ALOS");
  EXPECT_EQ(words(ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE, ETHTOOL_LINK_EXT_SUBSTATE_CI_CABLE_TEST_FAILURE),
            "Cable issue: Cable test failure");
  EXPECT_EQ(words(uapi::kLinkExtStateModule, uapi::kLinkExtSubstateCmisNotReady),
            "Module: CMIS module is not in ModuleReady state");
  EXPECT_EQ(words(uapi::kLinkExtStateOtpSpeedViolation, 1), "OTP speed violation: detail 1");
  EXPECT_EQ(words(uapi::kLinkExtStateBmcRequestDown, 1), "BMC request down: detail 1");
  EXPECT_EQ(words(ETHTOOL_LINK_EXT_STATE_OVERHEAT, 3), "Overheat: detail 3") << "a newer kernel's";
  EXPECT_EQ(words(ETHTOOL_LINK_EXT_STATE_AUTONEG, 0), "Autoneg: detail 0") << "substates count from 1";
  EXPECT_EQ(words(99, 1), "reason 99: detail 1");
}

TEST(ParseLinkStatus, WhatTheDriverDoesNotSayIsAbsent) {
  EXPECT_EQ(parse_link_status(link_reply().u8(ETHTOOL_A_LINKSTATE_LINK, 1).data()), LinkStatus{.up = true});
  EXPECT_EQ(parse_link_status({}), LinkStatus{});
}

template <size_t count>
AttrWriter& put_counts(AttrWriter& out, uint16_t type, const std::array<uint64_t, count>& values) {
  return out.bytes(ETHTOOL_A_FEC_STAT_PAD, {}).bytes(type, std::as_bytes(std::span(values)));  // nla_put_64bit
}

TEST(ParseFecStatus, ReadsTheModeTheSumsAndTheLanes) {
  AttrWriter statistics;
  put_counts(statistics, ETHTOOL_A_FEC_STAT_CORRECTED, std::array<uint64_t, 5>{1000, 100, 200, 300, 400});
  put_counts(statistics, ETHTOOL_A_FEC_STAT_UNCORR, std::array<uint64_t, 1>{7});
  const auto message = link_reply()
                           .u8(ETHTOOL_A_FEC_AUTO, 1)
                           .u32(ETHTOOL_A_FEC_ACTIVE, ETHTOOL_LINK_MODE_FEC_RS_BIT)
                           .nest(ETHTOOL_A_FEC_STATS, statistics);
  const FecStatus fec = parse_fec_status(message.data());
  EXPECT_EQ(fec.active, FecCode::rs);
  EXPECT_EQ(fec.automatic, true);
  EXPECT_EQ(fec.corrected_blocks, (FecCount{1000, {100, 200, 300, 400}}));
  EXPECT_EQ(fec.uncorrectable_blocks, (FecCount{7, {}}));
  EXPECT_EQ(fec.corrected_bits, FecCount{}) << "absent is not zero";
}

// A small count is a u32 (nla_put_uint), a large one a u64; a bin has a count for each lane if the driver has it.
TEST(ParseFecStatus, ReadsTheHistogram) {
  const auto bin = [](uint32_t low, uint32_t high) {
    return AttrWriter().u32(uapi::kFecHistBinLow, low).u32(uapi::kFecHistBinHigh, high);
  };
  AttrWriter statistics;
  const std::array<uint64_t, 2> lanes{3, 4};
  statistics.nest(uapi::kFecStatHist, bin(0, 0).u64(uapi::kFecHistBinVal, uint64_t{1} << 40))
      .nest(uapi::kFecStatHist, bin(1, 4).u32(uapi::kFecHistBinVal, 7).bytes(5, std::as_bytes(std::span(lanes))))
      .nest(uapi::kFecStatHist, bin(5, 15).u32(uapi::kFecHistBinVal, 0))
      .nest(uapi::kFecStatHist, bin(9, 5).u32(uapi::kFecHistBinVal, 1))
      .nest(uapi::kFecStatHist, AttrWriter().u32(uapi::kFecHistBinLow, 6));
  const FecStatus fec = parse_fec_status(link_reply().nest(ETHTOOL_A_FEC_STATS, statistics).data());
  EXPECT_EQ(fec.histogram, (std::vector<FecBin>{{0, 0, uint64_t{1} << 40}, {1, 4, 7}, {5, 15, 0}}));
}

TEST(ParseFecStatus, KnowsEveryCode) {
  const auto status = [](uint32_t bit) { return parse_fec_status(link_reply().u32(ETHTOOL_A_FEC_ACTIVE, bit).data()); };
  EXPECT_EQ(status(ETHTOOL_LINK_MODE_FEC_NONE_BIT).active, FecCode::off);
  EXPECT_EQ(status(ETHTOOL_LINK_MODE_FEC_BASER_BIT).active, FecCode::baser);
  EXPECT_EQ(status(ETHTOOL_LINK_MODE_FEC_LLRS_BIT).active, FecCode::llrs);
  EXPECT_EQ(status(1).active, FecCode::other);
  EXPECT_EQ(status(1).link_mode, 1U) << "for the label";
  EXPECT_EQ(parse_fec_status(link_reply().data()), FecStatus{}) << "no link, no mode";
}

// -- Link, FEC and module: the requests

// A kernel before 6.2: LINKSTATE_GET takes no flags (net/ethtool/netlink.c: ethnl_parse_header_dev_get).
class OldKernel : public Netlink {
 public:
  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8 payload) override {
    ++asked;
    const auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
    const auto header = parse_attributes(find(attributes, ETHTOOL_A_LINKSTATE_HEADER)->value);
    if (find(header, ETHTOOL_A_HEADER_DEV_NAME)->text() != "eth0") return error(ENODEV, "fake");
    if (find(header, ETHTOOL_A_HEADER_FLAGS) != nullptr) return error(EOPNOTSUPP, "fake: unrecognized request flags");
    return std::vector<Message>{{type, link_reply().u8(ETHTOOL_A_LINKSTATE_LINK, 1).data()}};
  }
  int asked = 0;
};

TEST(GetLinkStatus, AsksAgainWithoutTheCountWhereTheKernelRefusesIt) {
  OldKernel kernel;
  auto status = get_link_status(kernel, kFamily, "eth0");
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(status->up, true);
  EXPECT_FALSE(status->downs);
  EXPECT_EQ(kernel.asked, 2);
  auto missing = get_link_status(kernel, kFamily, "eth9");
  EXPECT_EQ(missing.error().code, ENODEV);
  EXPECT_TRUE(has(missing.error().what, "eth9: read link state"));
  EXPECT_EQ(kernel.asked, 3) << "a missing netdev is not asked about twice";
}

void plug_osfp(SimCage& cage, char serial) {
  cage.module.at(0, 0) = 0x19;
  cage.module.at(0, 1) = 0x50;
  cage.module.at(0, 16) = 0x81;  // 33024 x 100 uV
  cage.module.at(0, 166) = static_cast<uint8_t>(serial);
  cage.module.at(1, 159) = 3;
  cage.module.at(2, 136) = 0x90;
  cage.module.at(0x11, 147) = 0;
  cage.module.seal(0, 128, 221);
  cage.module.seal(1, 130, 254);
  cage.module.seal(2, 128, 254);
}

struct ModuleReading : testing::Test {
  ModuleReading() { plug_osfp(cage, 'A'); }
  Result<Transceiver> read() { return reader.read(cage, kFamily, "eth0"); }
  // In volts; 0: not known.
  double most_voltage() { return read()->voltage_limits.high_alarm.value_or(0); }
  SimCage cage;
  ModuleReader reader{eeprom::decode};
};

TEST_F(ModuleReading, ReadsFixedPagesOncePerModule) {
  auto module = read();
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_EQ(module->serial_number, "A");
  EXPECT_DOUBLE_EQ(module->voltage.value.value_or(0), 3.3024);
  EXPECT_DOUBLE_EQ(module->voltage_limits.high_alarm.value_or(0), 3.6864);
  EXPECT_EQ(cage.reads.size(), 5u) << "lower, 00h, 01h, 02h, 11h";

  cage.reads.clear();
  cage.module.at(0, 16) = 0x80;
  module = read();
  EXPECT_DOUBLE_EQ(module->voltage.value.value_or(0), 3.2768);
  EXPECT_DOUBLE_EQ(module->voltage_limits.high_alarm.value_or(0), 3.6864) << "held";
  EXPECT_EQ(cage.reads.size(), 3u) << "lower, 00h, 11h";

  cage.reads.clear();
  plug_osfp(cage, 'B');
  cage.module.at(2, 136) = cage.module.at(2, 255) = 0x88;
  module = read();
  EXPECT_EQ(module->serial_number, "B");
  EXPECT_DOUBLE_EQ(module->voltage_limits.high_alarm.value_or(0), 3.4816) << "another module, other limits";
  EXPECT_EQ(cage.reads.size(), 5u);
}

// Versatile Diagnostics Monitoring: one reading more each time, of the samples.
TEST_F(ModuleReading, ReadsWhatArrivesAtTheModuleEachTime) {
  cage.module.at(1, 142) = 1 << 6;
  cage.module.seal(1, 130, 254);
  cage.module.put16(0x2f, 129, 10'000);
  cage.module.put16(0x20, 128, 15);  // damaged bits at the side of the medium, lane 1
  cage.module.put16(0x24, 128, 17 << 11 | 320);
  const auto ratio = [&] {
    const auto module = read();
    return module && module->inputs.size() == 1 ? module->inputs[0].error_ratio.value_or(-1) : -1;
  };
  EXPECT_DOUBLE_EQ(ratio(), 3.2e-5);
  EXPECT_EQ(cage.reads.size(), 8u) << "lower, 00h, 01h, 02h, 11h, 2Fh, 20h, 24h";
  cage.reads.clear();
  cage.module.put16(0x24, 128, 16 << 11 | 320);
  EXPECT_DOUBLE_EQ(ratio(), 3.2e-6);
  EXPECT_EQ(cage.reads.size(), 4u) << "lower, 00h, 11h, 24h";
  cage.broken = eeprom::PageRequest{.page = 0x24, .offset = 128};
  EXPECT_TRUE(read()->inputs.empty());
  EXPECT_DOUBLE_EQ(read()->voltage_limits.high_alarm.value_or(0), 3.6864) << "the rest stays";
}

TEST_F(ModuleReading, APulledModuleIsForgotten) {
  ASSERT_TRUE(read().ok());
  cage.failure = EIO;
  const auto pulled = read();
  EXPECT_EQ(pulled.error().code, EIO);
  EXPECT_TRUE(has(pulled.error().what, "eth0: read module memory"));
  cage.failure = 0;
  cage.reads.clear();
  ASSERT_TRUE(read().ok());
  EXPECT_EQ(cage.reads.size(), 5u);
}

TEST_F(ModuleReading, APageThatCannotBeReadCostsItsOwnValues) {
  cage.broken = eeprom::PageRequest{.page = 2, .offset = 128};
  const auto module = read();
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_TRUE(module->voltage.value);
  EXPECT_FALSE(module->voltage_limits.high_alarm);
  cage.broken.reset();
  EXPECT_TRUE(read()->voltage_limits.high_alarm) << "tried again";
}

// A page that came short, damaged or before the module had filled its memory is not kept until the module is pulled.
TEST_F(ModuleReading, APageThatCameBadlyIsReadAgain) {
  const std::vector<std::pair<const char*, std::function<void(SimCage&)>>> faults{
      {"short", [](SimCage& at) { at.cut = 8; }},
      {"damaged", [](SimCage& at) { at.module.at(2, 136) = 0x10; }},
      {"starting", [](SimCage& at) { at.module.at(1, 159) = at.module.at(1, 255) = 0; }}};
  for (const auto& [name, plant] : faults) {
    SCOPED_TRACE(name);
    reader = ModuleReader(eeprom::decode);
    plant(cage);
    (void)most_voltage();
    cage.cut.reset();
    plug_osfp(cage, 'A');
    EXPECT_DOUBLE_EQ(most_voltage(), 3.6864);
    cage.reads.clear();
    EXPECT_DOUBLE_EQ(most_voltage(), 3.6864);
    EXPECT_EQ(cage.reads.size(), 3u) << "and now it is held";
  }
}

TEST_F(ModuleReading, AModuleOfAnotherKindIsReadNoFurther) {
  cage.module.at(0, 0) = 0x06;
  EXPECT_EQ(read().error().code, EOPNOTSUPP);
  EXPECT_EQ(cage.reads.size(), 1u);
}

// -- Link, FEC and module: this kernel

TEST_F(Veth, TheLinkIsUpAndDownAsItIs) {
  ASSERT_TRUE(kernel.ethtool) << "no ethtool family: a kernel before 5.6?";
  auto up = get_link_status(*kernel.generic, *kernel.ethtool, "veth0");
  ASSERT_TRUE(up.ok()) << up.error().text();
  EXPECT_EQ(up->up, true);
  EXPECT_EQ(up->reason, "");
  EXPECT_FALSE(up->downs) << "veth does not count";
  ASSERT_EQ(std::system("ip link set veth1 down"), 0);
  auto down = get_link_status(*kernel.generic, *kernel.ethtool, "veth0");
  ASSERT_EQ(std::system("ip link set veth1 up"), 0);
  ASSERT_TRUE(down.ok()) << down.error().text();
  EXPECT_EQ(down->up, false);
  EXPECT_EQ(get_link_status(*kernel.generic, *kernel.ethtool, "nosuch").error().code, ENODEV);
}

TEST_F(Veth, HasNoFecAndNoModule) {
  EXPECT_EQ(get_fec_status(*kernel.generic, *kernel.ethtool, "veth0").error().code, EOPNOTSUPP);
  ModuleReader reader(eeprom::decode);
  EXPECT_EQ(reader.read(*kernel.generic, *kernel.ethtool, "veth0").error().code, EOPNOTSUPP);
}

// -- Rings, channels, FEC and features

TEST(ParseRings, LeavesOutWhatTheDriverHasNot) {
  auto both = reply()
                  .u32(ETHTOOL_A_RINGS_RX_MAX, 8192)
                  .u32(ETHTOOL_A_RINGS_RX, 1024)
                  .u32(ETHTOOL_A_RINGS_TX_MAX, 4096)
                  .u32(ETHTOOL_A_RINGS_TX, 512);
  EXPECT_EQ(parse_rings(both.data()), (Rings{Amount{1024, 8192}, Amount{512, 4096}}));
  auto rx = reply().u32(ETHTOOL_A_RINGS_RX_MAX, 8192).u32(ETHTOOL_A_RINGS_RX, 1024);
  EXPECT_EQ(parse_rings(rx.data()), (Rings{Amount{1024, 8192}, {}}));
  EXPECT_EQ(parse_rings({}), Rings{});
}

TEST(ParseChannels, AreTheCombinedOnes) {
  auto separate = reply().u32(ETHTOOL_A_CHANNELS_RX_MAX, 8).u32(ETHTOOL_A_CHANNELS_RX_COUNT, 8);
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
  EXPECT_EQ(parse_fec(reply().nest(ETHTOOL_A_FEC_MODES, modes).u8(ETHTOOL_A_FEC_AUTO, 1).data()),
            Fec{ETHTOOL_FEC_AUTO | ETHTOOL_FEC_RS | ETHTOOL_FEC_OFF});
  EXPECT_EQ(parse_fec(reply().nest(ETHTOOL_A_FEC_MODES, AttrWriter()).data()), Fec{});
  EXPECT_FALSE(parse_fec(reply().u8(ETHTOOL_A_FEC_AUTO, 1).data()));
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
    EXPECT_EQ(of(bed.apply(original), "fec").outcome, Outcome::applied) << "the original is one mode";
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
