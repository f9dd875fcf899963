// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/dcbnl.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "base/parse.h"
#include "support/test.h"

namespace fabric::dcbnl {
namespace {

Bytes from_hex(std::string_view hex) {
  Bytes out;
  std::string digits;
  for (char c : hex) {
    if (c == ' ' || c == '|') continue;
    digits += c;
    if (digits.size() < 2) continue;
    out.push_back(static_cast<std::byte>(*parse_number<uint8_t>(digits, 16)));
    digits.clear();
  }
  return out;
}

const NetdevId kEth0{"eth0", 7};

// Keeps the requests and returns the prepared answers: the bytes of the messages are the subject here. A request for
// the name of interface 7 before a write gets eth0.
class Recorder final : public Netlink {
 public:
  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8 payload) override {
    if (type == RTM_GETLINK) {
      ifinfomsg header{};
      header.ifi_index = kEth0.ifindex;
      return std::vector<Message>{{RTM_NEWLINK, AttrWriter().header(header).text(IFLA_IFNAME, name).data()}};
    }
    sent_type = type;
    sent.assign(payload.begin(), payload.end());
    return answer;
  }

  std::string name = "eth0";
  uint16_t sent_type = 0;
  Bytes sent;
  Result<std::vector<Message>> answer = std::vector<Message>{};
};

// The reply to IEEE_SET, without its nlmsghdr: dcbmsg, then the verdict as a u8 attribute 13.
Message set_reply(uint8_t verdict) {
  Bytes payload = from_hex("00140000 05000d00");
  payload.push_back(static_cast<std::byte>(verdict));
  payload.resize(payload.size() + 3);
  return {RTM_SETDCB, payload};
}

// The requests below, nlmsghdr aside, were parsed by a 6.18 kernel.
TEST(Dcbnl, AsksForEverythingInOneRequest) {
  Recorder route;
  EXPECT_FALSE(get(route, "eth0").ok()) << "an ACK alone is no answer";
  EXPECT_EQ(route.sent_type, RTM_GETDCB);
  EXPECT_EQ(route.sent, from_hex("00150000 | 09000100 65746830 00000000"));
}

TEST(Dcbnl, SetsPfcAlone) {
  Recorder route;
  route.answer = std::vector<Message>{set_reply(0)};
  ieee_pfc pfc{};
  pfc.pfc_en = 0x08;
  pfc.delay = 30;
  EXPECT_TRUE(set_pfc(route, kEth0, pfc).ok());
  EXPECT_EQ(route.sent_type, RTM_SETDCB);
  Bytes expected = from_hex("00140000 | 09000100 65746830 00000000 | 90000d00 8c000200 00080000 1e000000");
  expected.resize(expected.size() + 128);
  EXPECT_EQ(route.sent, expected);
}

TEST(Dcbnl, SetsADscp) {
  Recorder route;
  route.answer = std::vector<Message>{set_reply(0)};
  EXPECT_TRUE(set_app(route, kEth0, {{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26}}).ok());
  EXPECT_EQ(route.sent, from_hex("00140000 | 09000100 65746830 00000000 | 10000d00 0c000300 08000100 05031a00"));
  EXPECT_TRUE(del_app(route, kEth0, {{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26}}).ok());
  EXPECT_EQ(route.sent.at(1), std::byte{0x1b});  // DCB_CMD_IEEE_DEL
}

TEST(Dcbnl, MarksPcpAsTheKernelsOwnSelector) {
  Recorder route;
  route.answer = std::vector<Message>{set_reply(0)};
  EXPECT_TRUE(set_trust(route, kEth0, {IEEE_8021QAZ_APP_SEL_DSCP, kSelectorPcp}).ok());
  EXPECT_EQ(Bytes(route.sent.begin() + 16, route.sent.end()),
            from_hex("18000d00 14000b80 05000100 05000000 05000200 ff000000"));
}

TEST(Dcbnl, SetsHostMode) {
  Recorder route;
  route.answer = std::vector<Message>{{RTM_SETDCB, from_hex("00170000 05000e00 00000000")}};
  EXPECT_TRUE(set_dcbx(route, kEth0, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE).ok());
  EXPECT_EQ(route.sent, from_hex("00170000 | 09000100 65746830 00000000 | 05000e00 09000000"));
  route.answer = std::vector<Message>{{RTM_SETDCB, from_hex("00170000 05000e00 01000000")}};
  auto refused = set_dcbx(route, kEth0, 0);
  ASSERT_EQ(test::code_of(refused), EINVAL);
}

TEST(Dcbnl, TheVerdictIsInTheByteNotInTheAck) {
  Recorder route;
  const std::pair<uint8_t, int> verdicts[] = {{0xea, EINVAL}, {0xa1, EOPNOTSUPP}, {0xf4, ENOMEM},
                                              {0xef, EEXIST}, {0xfe, ENOENT},     {0xfb, EIO}};
  for (auto [byte, code] : verdicts) {
    route.answer = std::vector<Message>{set_reply(byte)};
    auto set = set_ets(route, kEth0, {});
    ASSERT_EQ(test::code_of(set), code);
    EXPECT_TRUE(test::has(set.error().text(), "eth0: set ets"));
  }
  for (uint8_t fine : std::initializer_list<uint8_t>{0, 1, 2}) {  // 1 and 2: ice's "no change needed" and "changed"
    route.answer = std::vector<Message>{set_reply(fine)};
    EXPECT_TRUE(set_ets(route, kEth0, {}).ok());
  }
}

TEST(Dcbnl, WritesNothingByANameThatHasAnotherDevice) {
  Recorder route;
  route.name = "eth1";
  route.answer = std::vector<Message>{set_reply(0)};
  const dcb_app entry{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26};
  for (const Result<void>& refused :
       {set_ets(route, kEth0, {}), set_pfc(route, kEth0, {}), set_app(route, kEth0, {entry}),
        del_app(route, kEth0, {entry}), set_trust(route, kEth0, {5}), set_maxrate(route, kEth0, {}),
        set_buffer(route, kEth0, {}), set_all(route, kEth0), set_dcbx(route, kEth0, 0)}) {
    EXPECT_EQ(test::code_of(refused), ENODEV);
    EXPECT_TRUE(test::has(refused.error().what, "eth0: renamed to eth1"));
  }
  EXPECT_EQ(add_app(route, kEth0, entry).error().code, ENODEV);
  EXPECT_EQ(set_pfc(route, {"eth0", 0}, {}).error().code, EINVAL) << "by name alone";
  EXPECT_EQ(route.sent_type, 0);
}

TEST(Dcbnl, AnAckWithoutAVerdictIsNoSuccess) {
  Recorder route;
  EXPECT_FALSE(set_pfc(route, kEth0, {}).ok());
  route.answer = std::vector<Message>{{RTM_SETDCB, from_hex("0014")}};
  EXPECT_FALSE(set_pfc(route, kEth0, {}).ok());
}

TEST(Dcbnl, ANetlinkErrorKeepsItsErrno) {
  Recorder route;
  route.answer = error(ENODEV, "rtnetlink");
  EXPECT_EQ(get(route, "eth0").error().code, ENODEV);
  EXPECT_EQ(set_app(route, kEth0, {}).error().code, ENODEV);
}

Bytes notification() {
  ieee_ets ets{};
  ets.prio_tc[3] = 1;
  ieee_pfc pfc{};
  pfc.pfc_en = 8;
  AttrWriter table, trust, ieee, out;
  table.pod(DCB_ATTR_IEEE_APP, dcb_app{5, 3, 26}).pod(kAttrDcbApp, dcb_app{kSelectorPcp, 1, 1});
  trust.u8(DCB_ATTR_IEEE_APP, 5).u8(kAttrDcbApp, kSelectorPcp);
  ieee.pod(DCB_ATTR_IEEE_ETS, ets)
      .pod(DCB_ATTR_IEEE_PFC, pfc)
      .bytes(DCB_ATTR_IEEE_APP_TABLE, table.data())
      .nest(kAttrAppTrustTable, trust);
  dcbmsg header{};
  header.cmd = DCB_CMD_IEEE_SET;
  return out.header(header).text(DCB_ATTR_IFNAME, "eth0").bytes(DCB_ATTR_IEEE, ieee.data()).u8(DCB_ATTR_DCBX, 9).data();
}

TEST(Dcbnl, TakesASnapshotApart) {
  auto snapshot = parse_ieee_config(notification());
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(snapshot->ets->prio_tc[3], 1);
  EXPECT_EQ(snapshot->pfc->pfc_en, 8);
  ASSERT_EQ(snapshot->app->size(), 2u);
  EXPECT_EQ(snapshot->app->at(0).protocol, 26);
  EXPECT_EQ(snapshot->app->at(1).selector, kSelectorPcp);
  EXPECT_EQ(snapshot->trust, (std::vector<uint8_t>{5, kSelectorPcp}));
  EXPECT_EQ(snapshot->dcbx, 9);
  EXPECT_FALSE(snapshot->maxrate);
  EXPECT_FALSE(snapshot->buffer);
  EXPECT_EQ(message_netdev(notification()), "eth0");
}

TEST(Dcbnl, AnEmptyTableIsAKnownTable) {
  AttrWriter ieee, out;
  ieee.bytes(DCB_ATTR_IEEE_APP_TABLE, {});
  auto snapshot = parse_ieee_config(out.header(dcbmsg{}).bytes(DCB_ATTR_IEEE, ieee.data()).data());
  ASSERT_TRUE(snapshot.ok());
  ASSERT_TRUE(snapshot->app);
  EXPECT_TRUE(snapshot->app->empty());
}

TEST(Dcbnl, AStructCutShortIsAbsentNotZero) {
  Bytes whole = notification();
  for (size_t size = 0; size < whole.size(); ++size) {
    auto snapshot = parse_ieee_config(View8(whole).first(size));
    if (!snapshot) continue;
    if (snapshot->pfc) {
      EXPECT_EQ(snapshot->pfc->pfc_en, 8);
    }
  }
  EXPECT_FALSE(parse_ieee_config(View8(whole).first(3)).ok());
  EXPECT_EQ(message_netdev(View8(whole).first(2)), "");
}

}  // namespace
}  // namespace fabric::dcbnl
