// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/ethtool_link.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "kernel/kernel.h"
#include "kernel/netlink/newer_uapi.h"
#include "support/netns.h"
#include "support/sim_cage.h"
#include "support/test.h"

namespace fabric::ethtool {
namespace {

using test::has;
using test::SimCage;
using test::Veth;

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
  EXPECT_EQ(fec.active, "rs");
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

TEST(ParseFecStatus, NamesEveryMode) {
  auto mode = [](uint32_t bit) { return parse_fec_status(link_reply().u32(ETHTOOL_A_FEC_ACTIVE, bit).data()).active; };
  EXPECT_EQ(mode(ETHTOOL_LINK_MODE_FEC_NONE_BIT), "off");
  EXPECT_EQ(mode(ETHTOOL_LINK_MODE_FEC_BASER_BIT), "baser");
  EXPECT_EQ(mode(ETHTOOL_LINK_MODE_FEC_LLRS_BIT), "llrs");
  EXPECT_EQ(mode(1), "link mode 1");
  EXPECT_EQ(parse_fec_status(link_reply().data()), FecStatus{}) << "no link, no mode";
}

// ---- the requests

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

// What came short, damaged or before the module had filled its memory is not what the module says until it is pulled.
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

// ---- this kernel

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

}  // namespace
}  // namespace fabric::ethtool
