// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/datagrams.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/syscall.h>

#include <string>
#include <thread>

#include "base/fd.h"
#include "kernel/netlink/netlink.h"
#include "kernel/netlink/rtnl.h"
#include "support/netns.h"
#include "support/socket_calls.h"

namespace fabric {
namespace {

// Two sockets between processes: what one sends, this kernel hands to the other.
struct Pair {
  Fd to{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK)};
  Fd from{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK)};
  sockaddr_nl address{};

  Pair() {
    address.nl_family = AF_NETLINK;
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(to.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(to.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  }
  void send(const std::string& text) const {
    EXPECT_EQ(
        ::sendto(from.get(), text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&address), sizeof address),
        static_cast<ssize_t>(text.size()));
  }
};

std::string text_of(const Datagram& datagram) {
  return {reinterpret_cast<const char*>(datagram.bytes.data()), datagram.bytes.size()};
}

TEST(Datagrams, ComeInTheirOrderSeveralAtATime) {
  Pair pair;
  Datagrams datagrams;
  EXPECT_EQ(datagrams.receive(pair.to.get()).error().code, EAGAIN) << "waits for nothing";
  for (const char* text : {"a", "bc", "def", "ghij", "klmno"}) pair.send(text);
  const auto first = datagrams.receive(pair.to.get());
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first->size(), 4u);
  EXPECT_EQ(text_of((*first)[0]) + text_of((*first)[1]) + text_of((*first)[2]) + text_of((*first)[3]), "abcdefghij");
  EXPECT_FALSE((*first)[0].from_kernel);
  const auto rest = datagrams.receive(pair.to.get());
  ASSERT_TRUE(rest.ok());
  ASSERT_EQ(rest->size(), 1u);
  EXPECT_EQ(text_of(rest->front()), "klmno");
  EXPECT_EQ(datagrams.receive(-1).error().code, EBADF);
}

TEST(Datagrams, OneThatIsLongerThanItsRoomIsSaidToBeCut) {
  Pair pair;
  Datagrams datagrams(8);
  pair.send("12345678");
  pair.send("123456789");
  pair.send("123");
  const auto received = datagrams.receive(pair.to.get());
  ASSERT_TRUE(received.ok());
  ASSERT_EQ(received->size(), 3u);
  EXPECT_TRUE((*received)[0].whole);
  EXPECT_FALSE((*received)[1].whole);
  EXPECT_TRUE((*received)[2].whole);
  EXPECT_EQ(text_of((*received)[0]), "12345678");
  EXPECT_EQ(text_of((*received)[1]), "12345678");
  EXPECT_EQ(text_of((*received)[2]), "123");
}

TEST(Datagrams, WhoAsksWithinAnAnswerDoesNotOverwriteIt) {
  Pair pair;
  pair.send("outer");
  const Datagrams::OfThread outer;
  const auto received = outer->receive(pair.to.get());
  ASSERT_TRUE(received.ok());
  for (int i = 0; i < 2; ++i) {
    pair.send("inner");
    const Datagrams::OfThread inner;
    ASSERT_EQ(inner->receive(pair.to.get())->size(), 1u);
    EXPECT_EQ(text_of(received->front()), "outer");
  }
}

const Bytes kLoopback = AttrWriter().header(ifinfomsg{}).text(IFLA_IFNAME, "lo").data();

TEST(LiveNetlink, ARequestIsTwoSystemCallsAndItWaitsOnlyForWhatIsNotThere) {
  auto route = open_netlink(NETLINK_ROUTE);
  ASSERT_TRUE(route.ok()) << route.error().text();
  const auto calls = test::socket_calls([&] { (void)(*route)->talk(RTM_GETLINK, 0, kLoopback); });
  if (!calls) GTEST_SKIP() << "ptrace(2) is not allowed here";
  EXPECT_EQ(*calls, (std::vector<long>{SYS_sendmsg, SYS_recvmmsg})) << "the answer and its ACK";
  const Netlink::Take any = [](uint16_t, View8) { return true; };
  // The kernel passes over a NOOP (net/netlink/af_netlink.c, netlink_rcv_skb).
  const auto waits =
      test::socket_calls([&] { (void)(*route)->dump(NLMSG_NOOP, {}, std::chrono::milliseconds(20), any); });
  ASSERT_EQ(waits->size(), 3u);
  EXPECT_EQ((*waits)[0], SYS_sendmsg);
  EXPECT_EQ((*waits)[1], SYS_recvmmsg);
}

TEST(LiveNetlink, WaitsForAnAnswerAsLongAsItWasTold) {
  auto route = open_netlink(NETLINK_ROUTE);
  ASSERT_TRUE(route.ok()) << route.error().text();
  const auto start = std::chrono::steady_clock::now();
  const auto none = (*route)->dump(NLMSG_NOOP, {}, std::chrono::milliseconds(30), [](uint16_t, View8) { return true; });
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ETIMEDOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(29));
}

TEST(LiveNetlink, AnAnswerIsNeverCutInSilence) {
  auto route = open_netlink(NETLINK_ROUTE);
  ASSERT_TRUE(route.ok()) << route.error().text();
  std::thread([&] {
    { const Datagrams::OfThread small(64); }  // is this thread's from now on
    const auto answer = (*route)->talk(RTM_GETLINK, 0, kLoopback);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, EMSGSIZE);
    EXPECT_EQ(rtnl::links(**route).error().code, EMSGSIZE);
  }).join();
  EXPECT_TRUE(rtnl::link(**route, "lo").ok()) << "its ACK must not be taken for that of the next";
  EXPECT_TRUE(rtnl::links(**route).ok());
}

TEST(NotificationSocket, ANotificationThatIsCutIsLost) {
  if (auto failure = test::enter_netns_with_veth(); !failure.empty()) GTEST_SKIP() << failure;
  auto route = open_netlink(NETLINK_ROUTE);
  auto socket = NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_LINK});
  ASSERT_TRUE(route.ok() && socket.ok());
  ASSERT_TRUE(rtnl::set_mtu(**route, "veth0", 1300).ok());
  std::thread([&] {
    { const Datagrams::OfThread small(64); }
    EXPECT_TRUE(socket->drain().lost);
  }).join();
  ASSERT_TRUE(rtnl::set_mtu(**route, "veth0", 1301).ok());
  EXPECT_FALSE(socket->drain().lost);
}

TEST(LiveNetlink, TakesAnAnswerThatIsLargerThanADumpsDatagram) {
  if (auto failure = test::enter_netns_with_veth(); !failure.empty()) GTEST_SKIP() << failure;
  auto route = open_netlink(NETLINK_ROUTE);
  ASSERT_TRUE(route.ok()) << route.error().text();
  constexpr uint16_t kNewLinkProperty = 108, kPropertyList = 52,
                     kAlternativeName = 53;  // linux/rtnetlink.h, linux/if_link.h: since 5.5
  constexpr size_t kNames = 400;
  AttrWriter names;
  for (size_t i = 0; i < kNames; ++i) names.text(kAlternativeName, std::to_string(i) + std::string(100, 'x'));
  const auto request = AttrWriter().header(ifinfomsg{}).text(IFLA_IFNAME, "veth0").nest(kPropertyList, names).data();
  const auto named = (*route)->talk(kNewLinkProperty, NLM_F_CREATE | NLM_F_EXCL | NLM_F_APPEND, request);
  ASSERT_TRUE(named.ok()) << named.error().text();
  const auto link = rtnl::link(**route, "veth0");
  ASSERT_TRUE(link.ok()) << link.error().text();
  EXPECT_EQ(link->altnames.size(), kNames);
  EXPECT_TRUE(rtnl::set_mtu(**route, "veth0", 1400).ok());
}

}  // namespace
}  // namespace fabric
