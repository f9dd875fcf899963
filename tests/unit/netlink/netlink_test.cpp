// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/netlink.h"

#include <linux/dcbnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/kernel.h"
#include "kernel/netlink/rtnl.h"
#include "support/netns.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::code_of;
using test::has;
using test::Veth;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes out;
  for (int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(AttrWriter, WritesAsTheKernelReads) {
  // The first attribute of an IEEE_GET of eth0, as a 6.18 kernel parsed it.
  EXPECT_EQ(AttrWriter().text(DCB_ATTR_IFNAME, "eth0").data(), bytes_of({9, 0, 1, 0, 'e', 't', 'h', '0', 0, 0, 0, 0}));
  EXPECT_EQ(AttrWriter().u8(14, 9).data(), bytes_of({5, 0, 14, 0, 9, 0, 0, 0}));
  EXPECT_EQ(AttrWriter().flag(2).data(), bytes_of({4, 0, 2, 0}));
  EXPECT_EQ(AttrWriter().nest(3, AttrWriter().u16(1, 0x1234)).data(),
            bytes_of({12, 0, 3, 0x80, 6, 0, 1, 0, 0x34, 0x12, 0, 0}));
}

TEST(AttrWriter, PadsAFamilyHeaderToFour) {
  struct Odd {
    uint8_t a = 1, b = 2, c = 3;
  };
  EXPECT_EQ(AttrWriter().header(Odd{}).flag(1).data(), bytes_of({1, 2, 3, 0, 4, 0, 1, 0}));
}

TEST(ParseAttributes, KeepsRepeatedAndZeroTypesAndMasksTheFlags) {
  auto raw = AttrWriter().u64(0, 7).u64(0, 8).nest(5, AttrWriter().u32(1, 42)).data();
  auto attributes = parse_attributes(raw);
  ASSERT_EQ(attributes.size(), 3u);
  EXPECT_EQ(attributes[0].u64(), 7u);
  EXPECT_EQ(attributes[1].u64(), 8u);
  EXPECT_EQ(attributes[2].type, 5);
  auto inner = parse_attributes(attributes[2].value);
  EXPECT_EQ(find(inner, 1)->u32(), 42u);
  EXPECT_EQ(find(inner, 2), nullptr);
}

TEST(ParseAttributes, ValuesByType) {
  const auto raw = AttrWriter().u32(1, 42).nest(2, AttrWriter().text(3, "name")).data();
  const auto attributes = parse_attributes(raw);
  EXPECT_EQ(value_of<uint32_t>(attributes, 1), 42u);
  EXPECT_FALSE(value_of<uint64_t>(attributes, 1)) << "too short";
  EXPECT_FALSE(value_of<uint32_t>(attributes, 4));
  EXPECT_EQ(text_of(parse_nested(attributes, 2), 3), "name");
  EXPECT_TRUE(parse_nested(attributes, 4).empty());
  EXPECT_EQ(text_of(attributes, 4), "");
}

TEST(ParseAttributes, DropsAMalformedRest) {
  auto good = AttrWriter().u32(1, 42).data();
  for (const Bytes& rest : {bytes_of({3, 0, 1, 0}),            // shorter than its own header
                            bytes_of({12, 0, 1, 0, 1, 2, 3}),  // longer than the rest of the message
                            bytes_of({0, 0, 0, 0}), bytes_of({8})}) {
    Bytes message = good;
    message.insert(message.end(), rest.begin(), rest.end());
    EXPECT_EQ(parse_attributes(message).size(), 1u);
  }
  EXPECT_TRUE(parse_attributes(good, 100).empty()) << "a header longer than the message";
}

TEST(ParseAttributes, TakesALastAttributeWithoutItsPadding) {
  const Bytes message = bytes_of({5, 0, 1, 0, 7});
  auto attributes = parse_attributes(message);
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].u8(), 7);
}

TEST(ParseAttributes, NeverReadsBeyondTheEnd) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    // A copy of its own, so that the sanitizer sees each byte too far.
    std::vector<std::byte> message(random() % 40);
    for (auto& byte : message) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : random() % 16);
    size_t total = 0;
    for (const Attr& attr : parse_attributes(message, random() % 8)) {
      total += attr.value.size() + NLA_HDRLEN;
      (void)attr.text();
      if (!attr.value.empty()) {
        EXPECT_GE(attr.value.data(), message.data());
        EXPECT_LE(attr.value.data() + attr.value.size(), message.data() + message.size());
      }
    }
    EXPECT_LE(total, message.size());
  }
}

TEST(Attr, GivesNothingWhereThereIsTooLittle) {
  auto raw = bytes_of({6, 0, 1, 0, 7, 0, 0, 0});
  const auto attributes = parse_attributes(raw);
  EXPECT_EQ(attributes[0].u16(), 7);
  EXPECT_FALSE(attributes[0].u32());
  EXPECT_FALSE(attributes[0].u64());
  EXPECT_FALSE(Attr{}.u8());
}

TEST(Attr, TextEndsAtTheFirstNulOrTheEnd) {
  auto raw = AttrWriter().bytes(1, bytes_of({'a', 'b'})).bytes(2, bytes_of({'a', 0, 'b', 0})).bytes(3, {}).data();
  auto attributes = parse_attributes(raw);
  EXPECT_EQ(attributes[0].text(), "ab");
  EXPECT_EQ(attributes[1].text(), "a");
  EXPECT_EQ(attributes[2].text(), "");
}

// From here on: this machine's kernel.

class LiveNetlink : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_netlink(NETLINK_ROUTE);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    route = std::move(*opened);
  }
  std::unique_ptr<Netlink> route;
};

TEST_F(LiveNetlink, DumpsLinks) {
  auto links = rtnl::links(*route);
  ASSERT_TRUE(links.ok()) << links.error().text();
  EXPECT_EQ(std::ranges::count(*links, "lo", &rtnl::Link::name), 1);
}

TEST_F(LiveNetlink, ARefusalIsAnErrorWithItsErrno) {
  auto link = rtnl::link(*route, "no-such-device");
  ASSERT_EQ(code_of(link), ENODEV);
  EXPECT_TRUE(has(link.error().text(), "no-such-device"));
  EXPECT_TRUE(rtnl::link(*route, "lo").ok()) << "the socket goes on working";
}

TEST_F(LiveNetlink, ADumpIsHandedOverAsItComes) {
  const Bytes request = AttrWriter().header(ifinfomsg{}).data();
  size_t links = 0;
  const Netlink::Take count = [&](uint16_t type, View8 payload) {
    links += type == RTM_NEWLINK && rtnl::parse_link(payload).ok() ? 1 : 0;
    return true;
  };
  ASSERT_TRUE(route->dump(RTM_GETLINK, request, std::chrono::seconds(2), count).ok());
  EXPECT_EQ(links, rtnl::links(*route)->size());
  const auto enough = [](uint16_t, View8) { return false; };
  EXPECT_EQ(code_of(route->dump(RTM_GETLINK, request, std::chrono::seconds(2), enough)), ECANCELED);
  EXPECT_FALSE(route->dump(0x7ff0, {}, std::chrono::seconds(2), count).ok());
  EXPECT_EQ(code_of(route->dump(RTM_GETLINK, request, std::chrono::milliseconds(0), count)), ETIMEDOUT);
  EXPECT_TRUE(rtnl::links(*route).ok()) << "a dump given up must not be in the way of the next";
}

TEST_F(LiveNetlink, WaitsForAnAnswerAsLongAsItWasTold) {
  const auto start = std::chrono::steady_clock::now();
  const auto more = [](uint16_t, View8) { return true; };
  EXPECT_EQ(code_of(route->dump(NLMSG_NOOP, {}, std::chrono::milliseconds(30), more)), ETIMEDOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(29));
}

TEST_F(Veth, TakesAnAnswerThatIsLargerThanADumpsDatagram) {
  constexpr uint16_t kNewLinkProperty = 108, kDeleteLinkProperty = 109, kPropertyList = 52,
                     kAlternativeName = 53;  // linux/rtnetlink.h, linux/if_link.h: since 5.5
  constexpr size_t kNames = 400;
  AttrWriter names;
  for (size_t i = 0; i < kNames; ++i) names.text(kAlternativeName, std::to_string(i) + std::string(100, 'x'));
  const auto request = AttrWriter().header(ifinfomsg{}).text(IFLA_IFNAME, "veth0").nest(kPropertyList, names).data();
  const auto named = kernel.route->talk(kNewLinkProperty, NLM_F_CREATE | NLM_F_EXCL | NLM_F_APPEND, request);
  ASSERT_TRUE(named.ok()) << named.error().text();
  const auto link = rtnl::link(*kernel.route, "veth0");
  ASSERT_TRUE(link.ok()) << link.error().text();
  EXPECT_EQ(link->altnames.size(), kNames);
  EXPECT_TRUE(rtnl::set_mtu(*kernel.route, id("veth0"), 1450).ok());
  EXPECT_TRUE(kernel.route->talk(kDeleteLinkProperty, 0, request).ok());  // no dump has room for such a link
}

TEST_F(LiveNetlink, AProtocolThatIsNotThereIsAnError) { EXPECT_NE(code_of(open_netlink(MAX_LINKS - 1)), 0); }

TEST_F(LiveNetlink, AnErrnoThatTheLibraryHasNoCodeForIsKept) {
  const auto nobody = open_netlink(NETLINK_USERSOCK);  // between processes: no kernel answers here
  ASSERT_TRUE(nobody.ok()) << nobody.error().text();
  EXPECT_EQ(code_of((*nobody)->talk(NLMSG_MIN_TYPE, 0, {})), ECONNREFUSED);
}

bool readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

TEST(NotificationSocket, DropsWhatIsNotTheKernels) {
  auto socket = NotificationSocket::open(NETLINK_USERSOCK, {});
  ASSERT_TRUE(socket.ok()) << socket.error().text();
  sockaddr_nl address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(socket->fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  Fd stranger(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK));
  nlmsghdr message{};
  message.nlmsg_len = sizeof message;
  message.nlmsg_type = RTM_NEWLINK;
  ASSERT_EQ(::sendto(stranger.get(), &message, sizeof message, 0, reinterpret_cast<sockaddr*>(&address), size),
            static_cast<ssize_t>(sizeof message));
  EXPECT_TRUE(readable(socket->fd()));
  auto batch = socket->drain();
  EXPECT_TRUE(batch.messages.empty());
  EXPECT_FALSE(batch.lost);
  EXPECT_FALSE(readable(socket->fd()));
}

TEST(NotificationSocket, AGroupThatIsNotThereIsAnError) {
  EXPECT_FALSE(NotificationSocket::open(NETLINK_ROUTE, {100'000}).ok());
}

TEST(NotificationSocket, TellsWhatItHeardAndThatItLostSome) {
  if (auto failure = test::enter_netns_with_veth(); !failure.empty()) GTEST_SKIP() << failure;
  auto route = open_netlink(NETLINK_ROUTE);
  auto socket = NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_LINK});
  ASSERT_TRUE(route.ok() && socket.ok());
  ASSERT_TRUE(rtnl::set_mtu(**route, test::id_of(**route, "veth0"), 1400).ok());
  auto batch = socket->drain();
  EXPECT_FALSE(batch.lost);
  EXPECT_TRUE(std::any_of(batch.messages.begin(), batch.messages.end(), [](const Message& message) {
    auto link = rtnl::parse_link(message.payload);
    return message.type == RTM_NEWLINK && link.ok() && link->name == "veth0" && link->mtu == 1400u;
  }));
  const int least = 1;  // the kernel makes its minimum of it: room for a message or two
  ASSERT_EQ(::setsockopt(socket->fd(), SOL_SOCKET, SO_RCVBUF, &least, sizeof least), 0);
  for (uint32_t mtu = 1401; mtu < 1420; ++mtu)
    ASSERT_TRUE(rtnl::set_mtu(**route, test::id_of(**route, "veth0"), mtu).ok());
  EXPECT_TRUE(socket->drain().lost);
  EXPECT_FALSE(socket->drain().lost) << "reported once";
}

TEST(OpenKernel, TheRunningMachineHasSocketsAndATreeHasNone) {
  auto host = open_kernel("/");
  ASSERT_TRUE(host.ok()) << host.error().text();
  EXPECT_TRUE(host->route);
  EXPECT_TRUE(host->generic);
  EXPECT_TRUE(host->statistics);
  EXPECT_TRUE(host->verbs);
  auto tree = open_kernel("/tmp");
  ASSERT_TRUE(tree.ok());
  EXPECT_FALSE(tree->route || tree->generic || tree->rdma || tree->ethtool || tree->statistics || tree->verbs);
  EXPECT_FALSE(open_kernel("/nonexistent-directory").ok());
}

}  // namespace
}  // namespace fabric
