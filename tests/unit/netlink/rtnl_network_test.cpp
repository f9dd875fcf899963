// SPDX-License-Identifier: Apache-2.0
// Addresses, routes, rules and neighbors: bytes as the kernel sent them, cut anywhere, and this kernel in a namespace.
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/kernel.h"
#include "kernel/netlink/rtnl.h"
#include "node/port_reader.h"
#include "support/netns.h"
#include "support/test.h"

namespace fabric::rtnl {
namespace {

Bytes bytes(const std::string& hex) {
  Bytes out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return out;
}

Ip ip(const std::string& text) { return *parse_ip(text); }

// Every cut of a message is refused or bounded, and only a whole header is a message.
template <class Parsed>
void expect_bounded(const Bytes& whole, Result<std::optional<Parsed>> (*parse)(View8), size_t header) {
  for (size_t size = 0; size <= whole.size(); ++size)
    EXPECT_EQ(parse(View8(whole).first(size)).ok(), size >= header) << size;
}

// Captured of Linux 6.18: "ip address add 10.9.0.1/24", "fd00::1/64" (and one that a neighbor had), "ip route add
// 10.20.0.0/16 via 10.9.0.254 table 4711", a multipath route, one "via inet6", "ip rule add from 10.9.0.1 lookup 4711",
// the same with fwmark, rule 0, a neighbor that failed.
const Bytes kIpv4 = bytes(
    "0218800003000000080001000a090001080002000a0900010a0003007665746830000000080008008000000014000600ffffffffffffffffc0"
    "701900c0701900");
const Bytes kIpv6 = bytes(
    "0a40c0000300000014000100fd00000000000000000000000000000114000600ffffffffffffffffc0701900c070190008000800c0000000");
const Bytes kTaken = bytes(
    "0a40c8000300000014000100fd00000000000000000000000000007714000600ffffffffffffffffb4831900b483190008000800c8000000");
const Bytes kRoute = bytes("02100000fc0300010000000008000f0067120000080001000a140000080005000a0900fe0800040003000000");
const Bytes kMultipath = bytes(
    "02100000fe0300010000000008000f00fe000000080001000a1e0000240009001000000003000000080005000a0900fd100000000200000008"
    "0005000a0800fd");
const Bytes kVia = bytes(
    "02100000fe0300010000000008000f00fe000000080001000a280000160012000a00fe80000000000000000000000000000100000800040003"
    "000000");
// A path MTU that was learnt from a router: "ip route show cache".
const Bytes kLearnt = bytes(
    "02200000fe0000010002000008000f00fe000000080001000a0902020800040002000000080005000a0901010c00080008000200dc05000024"
    "000c00010000005500000000"
    "ea00000000000000000000000000000000000000000000");
const Bytes kRule =
    bytes("02002000fc0000010000000008000f006712000008000e00ffffffff0500150000000000080006004d000000080002000a090001");
const Bytes kMarked = bytes(
    "02002000fc0000010000000008000f006912000008000e00ffffffff0500150000000000080006004f00000008000a000500000008001000ff"
    "ffffff080002000a090001");
const Bytes kLocalRule = bytes("02000000ff0000010000000008000f00ff00000008000e00ffffffff0500150002000000");
const Bytes kMulticastRule =
    bytes("80000000fd0000010000000008000f00fd00000008000e00ffffffff050015000200000008000600ff7f0000");
const Bytes kFailed =
    bytes("020000000300000020000001080001000a0900fe08000400000000001400030070170000000000000000000000000000");

TEST(ParseAddress, OfBothFamilies) {
  const auto four = parse_address(kIpv4), six = parse_address(kIpv6), taken = parse_address(kTaken);
  ASSERT_TRUE(four.ok() && *four && six.ok() && *six && taken.ok() && *taken);
  EXPECT_EQ((*four)->ifindex, 3);
  EXPECT_EQ((*four)->address, (Address{ip("10.9.0.1"), 24}));
  EXPECT_EQ((*six)->address, (Address{ip("fd00::1"), 64}));
  EXPECT_EQ((*taken)->address, (Address{ip("fd00::77"), 64, true, true}));
  for (const Bytes& whole : {kIpv4, kIpv6, kTaken}) expect_bounded(whole, parse_address, 8);
}

TEST(ParseRoute, GatewaysOfEveryKind) {
  const auto plain = parse_route(kRoute), several = parse_route(kMultipath), via = parse_route(kVia);
  ASSERT_TRUE(plain.ok() && *plain && several.ok() && *several && via.ok() && *via);
  EXPECT_EQ((*plain)->destination, ip("10.20.0.0"));
  EXPECT_EQ((*plain)->prefix, 16u);
  EXPECT_EQ((*plain)->table, 4711u) << "more than a byte: RTA_TABLE";
  ASSERT_EQ((*plain)->hops.size(), 1u);
  EXPECT_EQ((*plain)->hops[0].gateway, ip("10.9.0.254"));
  ASSERT_EQ((*several)->hops.size(), 2u);
  EXPECT_EQ((*several)->hops[0].ifindex, 3);
  EXPECT_EQ((*several)->hops[1].ifindex, 2);
  EXPECT_EQ((*several)->hops[1].gateway, ip("10.8.0.253"));
  EXPECT_EQ((*via)->hops.at(0).gateway, ip("fe80::1"));
  for (const Bytes& whole : {kRoute, kMultipath, kVia}) expect_bounded(whole, parse_route, 12);
}

TEST(ParseRoute, WhatWasLearntIsNoRoute) {
  const auto learnt = parse_route(kLearnt);
  ASSERT_TRUE(learnt.ok());
  EXPECT_FALSE(*learnt);
  expect_bounded(kLearnt, parse_route, 12);
}

TEST(ParseRule, WhatItAsksFor) {
  const auto plain = parse_rule(kRule), marked = parse_rule(kMarked), local = parse_rule(kLocalRule),
             other = parse_rule(kMulticastRule);
  ASSERT_TRUE(plain.ok() && *plain && marked.ok() && *marked && local.ok() && *local && other.ok());
  EXPECT_EQ((*plain)->rule, (RoutingRule{77, 4711, ip("10.9.0.1"), 32, {}}));
  EXPECT_FALSE((*plain)->narrow);
  EXPECT_TRUE((*marked)->narrow);
  EXPECT_EQ((*local)->rule, (RoutingRule{0, 255, {}, 0, {}}));
  EXPECT_FALSE(other->has_value()) << "a rule of multicast routing";
  for (const Bytes& whole : {kRule, kMarked, kLocalRule}) expect_bounded(whole, parse_rule, 12);
}

TEST(ParseNeighbor, StateInWords) {
  const auto failed = parse_neighbor(kFailed);
  ASSERT_TRUE(failed.ok() && *failed);
  EXPECT_EQ((*failed)->ip, ip("10.9.0.254"));
  EXPECT_EQ(neighbor_state_text((*failed)->state), "FAILED");
  EXPECT_EQ(neighbor_state_text(NUD_REACHABLE), "REACHABLE");
  EXPECT_EQ(neighbor_state_text(NUD_REACHABLE | NUD_STALE), "state 6");
  expect_bounded(kFailed, parse_neighbor, 12);
}

TEST(ParseRoute, LiesAboutLengthsEndTheList) {
  rtmsg header{};
  header.rtm_family = AF_INET;
  rtnexthop hop{};
  for (const uint16_t length : {uint16_t{0}, uint16_t{4}, uint16_t{200}, uint16_t{65535}}) {
    hop.rtnh_len = length;
    const auto route = parse_route(AttrWriter().header(header).pod(RTA_MULTIPATH, hop).data());
    ASSERT_TRUE(route.ok() && *route);
    EXPECT_TRUE((*route)->hops.empty()) << length;
  }
  rtvia via{};
  via.rtvia_family = AF_INET6;  // and no address behind it
  const auto route = parse_route(AttrWriter().header(header).pod(RTA_VIA, via.rtvia_family).u32(RTA_OIF, 7).data());
  ASSERT_TRUE(route.ok() && *route);
  ASSERT_EQ((*route)->hops.size(), 1u);
  EXPECT_FALSE((*route)->hops[0].gateway);
}

// More messages than any host has.
class Flood final : public Netlink {
 public:
  Result<std::vector<Message>> talk(uint16_t, uint16_t, View8) override {
    return std::vector<Message>(70'000, Message{RTM_NEWROUTE, AttrWriter().header(rtmsg{}).data()});
  }
};

TEST(Dumps, AreBounded) {
  Flood flood;
  const auto routes_ = routes(flood);
  ASSERT_EQ(test::code_of(routes_), E2BIG);
}

// What ip(8) sets is what is read back.
class Namespace : public test::Veth {
 protected:
  void SetUp() override {
    Veth::SetUp();
    if (IsSkipped()) return;
    set("ip address flush dev veth0; ip address add 10.9.0.1/24 dev veth0");
    ports = {{.rdma = "rxe0", .netdev = "veth0"}};
  }
  static void set(const std::string& commands) {
    ASSERT_EQ(std::system(("set -e; " + commands).c_str()), 0) << commands;
  }
  Interface scanned() {
    std::vector<std::string> unseen;
    const ScanOptions options;
    scanning::Context context{kernel, options, {}, {}, {}, unseen};
    network = {};
    scanning::read_network(context, ports, network);
    EXPECT_TRUE(unseen.empty()) << unseen.front();
    return network.interfaces.at("veth0");
  }
  std::vector<Port> ports;
  Network network;
};

TEST_F(Namespace, AddressesOfTheNetdev) {
  set("ip address add 10.9.1.1/31 dev veth0; ip -6 address add fd00::1/64 dev veth0 nodad || true");
  const auto interface = scanned();
  ASSERT_TRUE(interface.addresses);
  const auto& all = *interface.addresses;
  EXPECT_EQ(std::ranges::count(all, Address{ip("10.9.0.1"), 24}), 1);
  EXPECT_EQ(std::ranges::count(all, Address{ip("10.9.1.1"), 31}), 1);
  EXPECT_EQ(std::ranges::count(all, ip("127.0.0.1"), &Address::ip), 0);
}

TEST_F(Namespace, RoutesRulesAndTables) {
  set("ip route replace 10.20.0.0/16 via 10.9.0.254 dev veth0 table 4711; ip rule add from 10.9.0.1 lookup 4711 pref "
      "77;"
      "ip rule add oif veth0 lookup 4712 pref 78; ip rule add from 10.9.0.1 fwmark 5 lookup 4713 pref 79");
  const auto interface = scanned();
  EXPECT_EQ(std::ranges::count(interface.routes, Route{ip("10.20.0.0"), 16, 4711, ip("10.9.0.254")}), 1);
  EXPECT_EQ(std::ranges::count(interface.routes, Route{ip("10.9.0.0"), 24, 254}), 1);
  ASSERT_TRUE(network.rules);
  EXPECT_EQ(*network.rules, (std::vector<RoutingRule>{{77, 4711, ip("10.9.0.1"), 32, {}}, {78, 4712, {}, 0, "veth0"}}));
  EXPECT_TRUE(network.tables.contains(4711) && network.tables.contains(4713));
  set("for pref in 77 78 79; do ip rule del pref $pref; done");
}

TEST_F(Namespace, GatewayOfBothHopsOfAMultipathRoute) {
  set("ip address flush dev veth1; ip address add 10.8.0.1/24 dev veth1;"
      "ip route replace 10.30.0.0/16 nexthop via 10.9.0.253 dev veth0 nexthop via 10.8.0.253 dev veth1");
  const auto interface = scanned();
  EXPECT_EQ(std::ranges::count(interface.routes, Route{ip("10.30.0.0"), 16, 254, ip("10.9.0.253")}), 1);
}

TEST_F(Namespace, NeighborsThatAreGateways) {
  set("ip route replace 10.20.0.0/16 via 10.9.0.254 dev veth0;"
      "ip neighbor replace 10.9.0.254 dev veth0 nud failed; ip neighbor replace 10.9.0.7 lladdr 02:00:00:00:00:07 "
      "dev veth0 nud reachable");
  EXPECT_EQ(scanned().gateways, (std::vector<fabric::IpNeighbor>{{ip("10.9.0.254"), "FAILED"}}));
  set("ip neighbor replace 10.9.0.254 lladdr 02:00:00:00:00:08 dev veth0 nud permanent");
  EXPECT_EQ(scanned().gateways, (std::vector<fabric::IpNeighbor>{{ip("10.9.0.254"), "PERMANENT"}}));
}

TEST_F(Namespace, SettingsOfAllAndOfTheNetdev) {
  const Root& root = kernel.root;
  ASSERT_TRUE(root.write("proc/sys/net/ipv4/conf/veth0/arp_ignore", "2").ok());
  ASSERT_TRUE(root.write("proc/sys/net/ipv4/conf/all/rp_filter", "1").ok());
  ASSERT_TRUE(root.write("proc/sys/net/ipv4/conf/veth0/rp_filter", "2").ok());
  const auto interface = scanned();
  EXPECT_EQ(interface.arp_ignore, (ConfValue{0, 2}));
  EXPECT_EQ(interface.rp_filter.effective(), 2u);
  EXPECT_EQ(interface.arp_announce.effective(), 0u);
}

// Refused while it is read; what is asked next is answered.
TEST_F(Namespace, ARoutersTableIsRefused) {
  const std::string batch = testing::TempDir() + "fabric-routes-" + std::to_string(::getpid());
  {
    std::ofstream out(batch);
    for (unsigned i = 0; i < 65'600; ++i)
      out << "route add 100." << (i >> 16) << '.' << (i >> 8 & 255) << '.' << (i & 255) << "/32 dev veth0\n";
  }
  set("ip -batch " + batch);
  ::unlink(batch.c_str());
  const auto answer = routes(*kernel.route);
  ASSERT_EQ(test::code_of(answer), E2BIG);
  const auto after = rules(*kernel.route);
  EXPECT_TRUE(after) << after.error().text();
  set("ip route flush 100.0.0.0/8 || ip route flush root 100.0.0.0/8");
}

TEST_F(Namespace, VrfIsNamedWhereTheKernelHasIt) {
  if (std::system("ip link add rail0 type vrf table 900 2>/dev/null && ip link set rail0 up && ip link set veth0 "
                  "master rail0") != 0)
    GTEST_SKIP() << "no VRF in this kernel";
  const auto interface = scanned();
  EXPECT_EQ(interface.vrf, "rail0");
  EXPECT_EQ(interface.vrf_table, 900u);
  EXPECT_TRUE(network.tables.contains(900));
  EXPECT_EQ(std::ranges::count(interface.routes, Route{ip("10.9.0.0"), 24, 900}), 1) << "the VRF's main table";
  set("ip link set veth0 nomaster; ip link del rail0");
}

TEST_F(Namespace, NetdevOfAnotherNamespaceIsUnknown) {
  ports[0].netdev = "nosuch";
  ports[0].gids = {{0, "fe80::", "RoCE v2", "veth0"}};
  (void)scanned();
  EXPECT_FALSE(network.interfaces.at("nosuch").addresses);
  EXPECT_TRUE(network.interfaces.at("veth0").addresses);
}

}  // namespace
}  // namespace fabric::rtnl
