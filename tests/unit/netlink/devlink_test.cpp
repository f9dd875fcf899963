// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/devlink.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "kernel/netlink/ethtool.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::devlink {
namespace {

// The format of devlink_nl_health_reporter_fill() of Linux 6.12: nests without NLA_F_NESTED, numbers of 64 bits behind
// a pad.
AttrWriter& put_u64(AttrWriter& out, uint16_t type, uint64_t value) {
  return out.bytes(DEVLINK_ATTR_PAD, {}).u64(type, value);
}

Bytes message(const Handle& of, const HealthReporter& reporter, bool of_port = false) {
  genlmsghdr header{};
  header.cmd = DEVLINK_CMD_HEALTH_REPORTER_GET;
  AttrWriter inner, out;
  inner.text(DEVLINK_ATTR_HEALTH_REPORTER_NAME, reporter.name)
      .u8(DEVLINK_ATTR_HEALTH_REPORTER_STATE, reporter.healthy ? 0 : 1);
  put_u64(inner, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, reporter.errors);
  put_u64(inner, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, reporter.recoveries);
  if (reporter.recovers)
    put_u64(inner, DEVLINK_ATTR_HEALTH_REPORTER_GRACEFUL_PERIOD, 60'000)
        .u8(DEVLINK_ATTR_HEALTH_REPORTER_AUTO_RECOVER, 1);
  out.header(header).text(DEVLINK_ATTR_BUS_NAME, of.bus).text(DEVLINK_ATTR_DEV_NAME, of.device);
  if (of_port) out.u32(DEVLINK_ATTR_PORT_INDEX, 65535);
  out.bytes(DEVLINK_ATTR_HEALTH_REPORTER, inner.data());
  return out.data();
}

constexpr uint16_t kDevlink = 21;
const Handle kPci{"pci", "0000:17:00.0"};

// The kernel's answer to a dump: all given replies, or an errno.
class Dump final : public Netlink {
 public:
  std::vector<Message> replies;
  int failure = 0;
  Bytes asked;
  uint16_t flags = 0;

  Result<std::vector<Message>> talk(uint16_t, uint16_t with, View8 payload) override {
    asked.assign(payload.begin(), payload.end());
    flags = with;
    if (failure != 0) return error(failure, "generic netlink");
    return replies;
  }
};

// The format of devlink_nl_eswitch_fill() of Linux 6.12.
TEST(Eswitch, ItsModeIsRead) {
  for (const uint16_t mode : {DEVLINK_ESWITCH_MODE_LEGACY, DEVLINK_ESWITCH_MODE_SWITCHDEV}) {
    genlmsghdr header{};
    header.cmd = DEVLINK_CMD_ESWITCH_GET;
    Dump dump;
    dump.replies = {{kDevlink, AttrWriter()
                                   .header(header)
                                   .text(DEVLINK_ATTR_BUS_NAME, kPci.bus)
                                   .text(DEVLINK_ATTR_DEV_NAME, kPci.device)
                                   .u16(DEVLINK_ATTR_ESWITCH_MODE, mode)
                                   .data()}};
    const auto answer = is_switchdev(dump, kDevlink, kPci);
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(*answer, mode == DEVLINK_ESWITCH_MODE_SWITCHDEV);
    EXPECT_EQ(std::to_integer<int>(dump.asked.at(0)), DEVLINK_CMD_ESWITCH_GET);
  }
  Dump refused;
  refused.failure = EPERM;
  EXPECT_EQ(is_switchdev(refused, kDevlink, kPci).error().code, EPERM);
}

TEST(ParseReporter, ReadsOneMessage) {
  const auto reported = parse_reporter(message(kPci, {"fw_fatal", false, 7, 5}));
  ASSERT_TRUE(reported);
  EXPECT_EQ(reported->of, kPci);
  EXPECT_EQ(reported->reporter, (HealthReporter{"fw_fatal", false, 7, 5}));
  EXPECT_EQ(parse_reporter(message(kPci, {"fw", false, 1, 0, false}))->reporter.recovers, false) << "mlx5's fw";
}

TEST(ParseReporter, WhatIsCutShortIsNone) {
  const Bytes whole = message(kPci, {"fw", true, 1, 0});
  EXPECT_FALSE(parse_reporter({}));
  EXPECT_FALSE(parse_reporter(View8(whole).first(12)));
  for (size_t size = 0; size < whole.size(); ++size) (void)parse_reporter(View8(whole).first(size));
  AttrWriter inner, out;
  inner.text(DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw").u8(DEVLINK_ATTR_HEALTH_REPORTER_STATE, 0);
  out.header(genlmsghdr{}).bytes(DEVLINK_ATTR_HEALTH_REPORTER, inner.data());
  EXPECT_FALSE(parse_reporter(out.data())) << "without counts: absent is not zero";
}

// The format of devlink_fmsg_prepare_skb() of Linux 6.12: a flat list, whose nests are flags. mlx5's reporter vnic has
// an object of counters, u32 but for the last.
AttrWriter diagnosis() {
  constexpr uint8_t kU32 = 3, kU64 = 4, kText = 10;
  AttrWriter list, out;
  const auto name = [&](const char* text, uint8_t type) {
    list.flag(DEVLINK_ATTR_FMSG_PAIR_NEST_START)
        .text(DEVLINK_ATTR_FMSG_OBJ_NAME, text)
        .u8(DEVLINK_ATTR_FMSG_OBJ_VALUE_TYPE, type);
  };
  list.flag(DEVLINK_ATTR_FMSG_OBJ_NEST_START)
      .flag(DEVLINK_ATTR_FMSG_PAIR_NEST_START)
      .text(DEVLINK_ATTR_FMSG_OBJ_NAME, "vNIC env counters")
      .flag(DEVLINK_ATTR_FMSG_OBJ_NEST_START);
  name("cq_overrun", kU32);
  list.u32(DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, 3).flag(DEVLINK_ATTR_FMSG_NEST_END);
  name("state", kText);
  list.text(DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, "bad").flag(DEVLINK_ATTR_FMSG_NEST_END);
  name("handled_pkt_steering_fail", kU64);
  put_u64(list, DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, uint64_t{1} << 40).flag(DEVLINK_ATTR_FMSG_NEST_END);
  list.flag(DEVLINK_ATTR_FMSG_NEST_END).flag(DEVLINK_ATTR_FMSG_NEST_END);
  out.header(genlmsghdr{}).bytes(DEVLINK_ATTR_FMSG, list.data());
  return out;
}

TEST(Diagnose, TakesTheNumbersByTheirNames) {
  const std::map<std::string, uint64_t> expected{{"cq_overrun", 3}, {"handled_pkt_steering_fail", uint64_t{1} << 40}};
  const Bytes whole = diagnosis().data();
  for (size_t size = 0; size < whole.size(); ++size) {
    Diagnosis cut;
    add_diagnosis(View8(whole).first(size), cut);
    for (const auto& [name, number] : cut.numbers) EXPECT_EQ(number, expected.at(name)) << size;
  }
  Dump kernel;
  kernel.replies = {{kDevlink, whole}};
  const auto found = read_diagnosis(kernel, kDevlink, kPci, "vnic");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(*found, expected);
  const auto asked = parse_attributes(kernel.asked, sizeof(genlmsghdr));
  EXPECT_EQ(text_of(asked, DEVLINK_ATTR_HEALTH_REPORTER_NAME), "vnic");
  EXPECT_EQ(text_of(asked, DEVLINK_ATTR_DEV_NAME), kPci.device);
  kernel.failure = EPERM;
  EXPECT_EQ(read_diagnosis(kernel, kDevlink, kPci, "vnic").error().code, EPERM);
}

// devlink_fmsg_snd() begins the next message with the item that did not fit; the type of a value whose data did not fit
// is in both.
TEST(Diagnose, ANameAndItsNumberMayBeInTwoMessages) {
  const Bytes whole = diagnosis().data();
  const auto items = parse_nested(parse_attributes(whole, sizeof(genlmsghdr)), DEVLINK_ATTR_FMSG);
  const auto message_with = [&](size_t from, size_t end) {
    AttrWriter list, out;
    for (size_t at = from; at < end; ++at) list.bytes(items[at].type, items[at].value);
    out.header(genlmsghdr{}).bytes(DEVLINK_ATTR_FMSG, list.data());
    return Message{kDevlink, out.data()};
  };
  ASSERT_GT(items.size(), 15u);
  for (size_t at = 1; at < items.size(); ++at) {
    const bool is_within_value = items[at - 1].type == DEVLINK_ATTR_FMSG_OBJ_VALUE_TYPE;
    Dump kernel;
    kernel.replies = {message_with(0, at), message_with(is_within_value ? at - 1 : at, items.size())};
    const auto found = read_diagnosis(kernel, kDevlink, kPci, "vnic");
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found->size(), 2u) << at;
    EXPECT_EQ(found->at("handled_pkt_steering_fail"), uint64_t{1} << 40) << at;
  }
}

TEST(HealthReporters, AsksForOneInstanceAndTakesItsOwn) {
  Dump kernel;  // one older than 6.6: it dumps everything
  kernel.replies = {{kDevlink, message(kPci, {"fw", true, 2, 1})},
                    {kDevlink, message({"pci", "0000:18:00.0"}, {"fw", false, 9, 0})},
                    {kDevlink, message(kPci, {"tx", true, 3, 3}, true)},
                    {kDevlink, message(kPci, {"tx", false, 1, 0}, true)}};
  const auto found = health_reporters(kernel, kDevlink, kPci);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(*found, (std::vector<HealthReporter>{{"fw", true, 2, 1}, {"tx", false, 4, 3}}));
  EXPECT_EQ(kernel.flags, NLM_F_DUMP);
  const auto asked = parse_attributes(kernel.asked, sizeof(genlmsghdr));
  ASSERT_NE(find(asked, DEVLINK_ATTR_BUS_NAME), nullptr);
  EXPECT_EQ(find(asked, DEVLINK_ATTR_BUS_NAME)->text(), "pci");
  EXPECT_EQ(find(asked, DEVLINK_ATTR_DEV_NAME)->text(), "0000:17:00.0");
  kernel.failure = ENODEV;
  EXPECT_EQ(health_reporters(kernel, kDevlink, kPci).error().code, ENODEV);
}

TEST(Handles, AreTheFunctionAndTheDevicesOfItsNetdev) {
  test::Tree tree;
  const std::string function = "sys/bus/pci/devices/0000:17:00.0";
  for (const char* name : {"/mlx5_core.eth.0", "/mlx5_core.rdma.0", "/net"}) tree.folder(function + name);
  auto root = Root::open(tree.path());
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(handles_of(*root, "0000:17:00.0"), (std::vector<Handle>{kPci, {"auxiliary", "mlx5_core.eth.0"}}));
  EXPECT_EQ(handles_of(*root, "0000:99:00.0"), (std::vector<Handle>{{"pci", "0000:99:00.0"}}));
  EXPECT_TRUE(handles_of(*root, "").empty());
  tree.folder("sys/bus/auxiliary/devices/mlx5_core.sf.4/mlx5_core.eth.2");
  EXPECT_EQ(handles_of(tree.root(), "mlx5_core.sf.4"),
            (std::vector<Handle>{{"auxiliary", "mlx5_core.sf.4"}, {"auxiliary", "mlx5_core.eth.2"}}));
}

TEST(Resolve, SaysWhatThisKernelHas) {
  auto generic = open_netlink(NETLINK_GENERIC);
  if (!generic) GTEST_SKIP() << generic.error().text();
  const auto family = ethtool::resolve(**generic, "devlink");
  if (!family) EXPECT_EQ(family.error().code, ENOENT) << family.error().text();
  else EXPECT_GE(family->id, uint16_t{GENL_MIN_ID});
}

}  // namespace
}  // namespace fabric::devlink
