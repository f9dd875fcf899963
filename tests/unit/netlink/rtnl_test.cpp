// SPDX-License-Identifier: Apache-2.0
// Links, addresses, routes, rules and neighbors: bytes as the kernel sent them, cut anywhere, and this kernel in a
// namespace.
#include "kernel/netlink/rtnl.h"

#include <linux/if_link.h>
#include <linux/lwtunnel.h>
#include <linux/neighbour.h>
#include <linux/net_namespace.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforce/reconcile.h"
#include "exporter/uevent.h"
#include "kernel/kernel.h"
#include "kernel/netlink/dcbnl.h"
#include "kernel/netlink/vf_limits.h"
#include "node/port_reader.h"
#include "support/netns.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::rtnl {
namespace {

using Names = std::set<std::string>;

// -- Links

constexpr uint8_t kAddress[] = {0xb8, 0x3f, 0xd2, 0, 0, 0x0a};

Bytes link_message() {
  ifinfomsg header{};
  header.ifi_index = 7;
  AttrWriter info, out;
  info.text(IFLA_INFO_KIND, "veth");
  out.header(header).text(IFLA_IFNAME, "ens1f0np0").u32(IFLA_MTU, 4200).u32(IFLA_MIN_MTU, 68).u32(IFLA_MAX_MTU, 9978);
  out.u8(IFLA_CARRIER, 1)
      .u32(IFLA_CARRIER_DOWN_COUNT, 5)
      .u32(IFLA_MASTER, 3)
      .text(56, "0000:17:00.0")
      .bytes(54, std::as_bytes(std::span(kAddress)))
      .nest(IFLA_LINKINFO, info);
  return out.data();
}

TEST(ParseLink, TakesWhatIsThere) {
  auto link = parse_link(link_message());
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->ifindex, 7);
  EXPECT_EQ(link->name, "ens1f0np0");
  EXPECT_EQ(link->mtu, 4200u);
  EXPECT_EQ(link->max_mtu, 9978u);
  EXPECT_EQ(link->carrier, true);
  EXPECT_EQ(link->carrier_down_count, 5u);
  EXPECT_EQ(link->master, 3);
  EXPECT_EQ(link->parent, "0000:17:00.0");
  EXPECT_EQ(link->kind, "veth");
  EXPECT_EQ(link->permanent, "b8:3f:d2:00:00:0a");
}

// A container's macvlan over a netdev of the host. The other end of a veth pair is below nothing.
TEST(ParseLink, KnowsTheDeviceBelowInAnotherNamespace) {
  const auto parsed = [](const char* kind, bool is_elsewhere) {
    AttrWriter info, out;
    info.text(IFLA_INFO_KIND, kind);
    out.header(ifinfomsg{}).text(IFLA_IFNAME, "net1").u32(IFLA_LINK, 7).nest(IFLA_LINKINFO, info);
    if (is_elsewhere) out.u32(IFLA_LINK_NETNSID, 1);
    return *parse_link(out.data());
  };
  EXPECT_EQ(parsed("macvlan", true).lower_elsewhere, 7);
  EXPECT_EQ(parsed("macvlan", true).lower_namespace, 1);
  EXPECT_FALSE(parsed("macvlan", true).lower);
  EXPECT_EQ(parsed("macvlan", false).lower, 7);
  EXPECT_FALSE(parsed("macvlan", false).lower_elsewhere);
  EXPECT_FALSE(parsed("macvlan", false).lower_namespace);
  for (const char* kind : {"veth", "netkit"}) EXPECT_FALSE(parsed(kind, true).lower_elsewhere) << kind;
}

// Their IFLA_LINK is their own ifindex, and comes last: Linux 6.18, `ip -n other -d link show`.
TEST(ParseLink, KnowsTheDeviceBelowATunnelInAnotherNamespace) {
  const auto parsed = [](const char* kind) {
    AttrWriter info, out;
    info.text(IFLA_INFO_KIND, kind).nest(IFLA_INFO_DATA, AttrWriter().u32(IFLA_VXLAN_LINK, 3));
    ifinfomsg header{};
    header.ifi_index = 4;
    out.header(header).text(IFLA_IFNAME, "net1").nest(IFLA_LINKINFO, info).u32(IFLA_LINK_NETNSID, 1).u32(IFLA_LINK, 4);
    return *parse_link(out.data());
  };
  EXPECT_EQ(parsed("vxlan").lower_elsewhere, 3);
  EXPECT_EQ(parsed("geneve").lower_elsewhere, std::nullopt) << "another netdev of the host may have the index 4";
  EXPECT_EQ(parsed("macvlan").lower_elsewhere, 4) << "the index of the device below may be its own, too";
}

// Network namespaces with ids 0 and 4: id 4 is gone when its links are listed.
TEST(Namespaces, AreListedAndTheirLinksToo) {
  class Kernel final : public Netlink {
   public:
    Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
      if (flags != NLM_F_DUMP) return error(EINVAL, "simulated");
      if (type == RTM_GETNSID) {
        std::vector<Message> ids;
        for (const uint32_t id : {0u, 4u})
          ids.push_back({RTM_NEWNSID, AttrWriter().header(rtgenmsg{}).u32(NETNSA_NSID, id).data()});
        return ids;
      }
      if (value_of<uint32_t>(parse_attributes(payload, sizeof(ifinfomsg)), IFLA_TARGET_NETNSID) != 0u)
        return error(EINVAL, "simulated");
      return std::vector{Message{RTM_NEWLINK, link_message()}};
    }
  } kernel;
  const auto ids = namespaces(kernel);
  ASSERT_TRUE(ids.ok()) << ids.error().text();
  EXPECT_EQ(*ids, (std::vector<int>{0, 4}));
  EXPECT_EQ(links_in(kernel, 0)->at(0).name, "ens1f0np0");
  EXPECT_EQ(links_in(kernel, 4).error().code, EINVAL);
}

// rtnl_net_getid(): NETNSA_NSID_NOT_ASSIGNED (-1) without an id.
TEST(Namespaces, TheOwnOneHasAnIdOfItselfOrNone) {
  class Kernel final : public Netlink {
   public:
    std::optional<uint32_t> id;
    Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
      const auto pid = value_of<uint32_t>(parse_attributes(payload, NLMSG_ALIGN(sizeof(rtgenmsg))), NETNSA_PID);
      if (type != RTM_GETNSID || (flags & NLM_F_DUMP) == NLM_F_DUMP || !pid) return error(EINVAL, "simulated");
      if (!id) return error(EACCES, "simulated");
      return std::vector{Message{RTM_NEWNSID, AttrWriter().header(rtgenmsg{}).u32(NETNSA_NSID, *id).data()}};
    }
  } kernel;
  EXPECT_EQ(own_namespace(kernel).error().code, EACCES);
  kernel.id = 3;
  EXPECT_EQ(*own_namespace(kernel), 3);
  kernel.id = UINT32_MAX;
  EXPECT_EQ(*own_namespace(kernel), std::nullopt);
}

TEST(ParseLink, LeavesAbsentWhatIsNot) {
  auto link = parse_link(AttrWriter().header(ifinfomsg{}).text(IFLA_IFNAME, "lo").data());
  ASSERT_TRUE(link.ok());
  EXPECT_FALSE(link->mtu || link->carrier || link->carrier_down_count || link->master);
  EXPECT_EQ(link->kind, "");
}

TEST(ParseLink, RefusesLessThanAHeaderAndSurvivesAnyCut) {
  const Bytes whole = link_message();
  for (size_t size = 0; size <= whole.size(); ++size)
    EXPECT_EQ(parse_link(View8(whole).first(size)).ok(), size >= sizeof(ifinfomsg));
}

class RxeOnVeth : public test::Veth {
 protected:
  void SetUp() override {
    Veth::SetUp();
    if (IsSkipped()) return;
    const auto found = link(*kernel.route, "veth0");
    ASSERT_TRUE(found.ok());
    port = {.rdma = "rxe0", .netdev = "veth0", .ifindex = found->ifindex, .kernel_driver = "rxe"};
  }
  Port port;
};

TEST_F(RxeOnVeth, IsListedWithItsKind) {
  auto all = links(*kernel.route);
  ASSERT_TRUE(all.ok());
  auto veth = std::ranges::find(*all, "veth0", &Link::name);
  ASSERT_NE(veth, all->end());
  EXPECT_EQ(veth->kind, "veth");
  EXPECT_TRUE(veth->carrier_down_count.has_value());
  EXPECT_GT(veth->max_mtu.value_or(0), 1500u);
}

TEST_F(RxeOnVeth, TakesAnMtu) {
  ASSERT_TRUE(set_mtu(*kernel.route, id("veth0"), 4200).ok());
  EXPECT_EQ(link(*kernel.route, "veth0")->mtu, 4200u);
}

TEST_F(RxeOnVeth, RefusesAnMtuInTheKernelsWords) {
  auto refused = set_mtu(*kernel.route, id("veth0"), 12);
  ASSERT_EQ(test::code_of(refused), EINVAL);
  EXPECT_TRUE(test::has(refused.error().what, "mtu less than device minimum")) << refused.error().text();
  EXPECT_EQ(set_mtu(*kernel.route, {"nosuch", 4711}, 4200).error().code, ENODEV);
}

TEST_F(RxeOnVeth, HasNoDcbnl) {
  EXPECT_EQ(dcbnl::get(*kernel.route, "veth0").error().code, EOPNOTSUPP);
  EXPECT_EQ(dcbnl::set_pfc(*kernel.route, id("veth0"), {}).error().code, EOPNOTSUPP);
  EXPECT_EQ(dcbnl::get(*kernel.route, "nosuch").error().code, ENODEV);
}

TEST_F(RxeOnVeth, IsReconciledAsFarAsItGoes) {
  ASSERT_TRUE(set_mtu(*kernel.route, id("veth0"), 1500).ok());
  Qos want{.mtu = 4200, .pfc = PrioSet{8}};
  auto changes = test::reconcile(kernel, port, want, test::free_terms(), test::kSaveNowhere);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].outcome, Outcome::applied);
  EXPECT_EQ(changes[1].outcome, Outcome::unsupported);
  EXPECT_EQ(link(*kernel.route, "veth0")->mtu, 4200u);

  want.mtu = 1'000'000;
  const auto too_large = test::reconcile(kernel, port, want, test::free_terms(), test::kSaveNowhere);
  EXPECT_EQ(too_large[0].outcome, Outcome::unsupported)
      << "the kernel is not asked for what it has refused by its maximum";
  EXPECT_TRUE(test::has(too_large[0].detail, "65535"));
  port.ifindex += 1000;  // the name belongs to another device now
  EXPECT_EQ(test::reconcile(kernel, port, want, test::free_terms(), test::kSaveNowhere)[0].code, ENODEV);
}

// -- Addresses, routes, rules and neighbors

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

TEST(ParseNextHop, OneOrAGroup) {
  nhmsg header{};
  header.nh_family = AF_INET;
  const auto gateway = ip("10.9.0.254");
  const Bytes one = AttrWriter()
                        .header(header)
                        .u32(NHA_ID, 77)
                        .u32(NHA_OIF, 3)
                        .bytes(NHA_GATEWAY, std::as_bytes(std::span(gateway.bytes).first(4)))
                        .data();
  const nexthop_grp members[2]{{.id = 76}, {.id = 77}};
  const Bytes group = AttrWriter().header(nhmsg{}).u32(NHA_ID, 78).pod(NHA_GROUP, members).data();
  const auto hop = parse_next_hop(one), both = parse_next_hop(group);
  ASSERT_TRUE(hop.ok() && *hop && (*hop)->hop && both.ok() && *both);
  EXPECT_EQ((*hop)->id, 77u);
  EXPECT_EQ((*hop)->hop->ifindex, 3);
  EXPECT_EQ((*hop)->hop->gateway, gateway);
  EXPECT_FALSE((*both)->hop);
  EXPECT_EQ((*both)->group, (std::vector<uint32_t>{76, 77}));
  for (const Bytes& whole : {one, group}) expect_bounded(whole, parse_next_hop, 8);
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

// `ip route add default encap ip id 100 dst 10.78.0.7 via 10.9.0.254 dev vxlan0`, over a vxlan without ends.
TEST(ParseRoute, NamesTheFarEndOfATunnel) {
  rtmsg header{};
  header.rtm_family = AF_INET;
  const uint8_t v4[] = {10, 78, 0, 7};
  const auto far = ip("fd00::7");
  const auto parsed = [&](bool v6) {
    AttrWriter tunnel, out;
    if (v6) tunnel.bytes(LWTUNNEL_IP6_DST, std::as_bytes(std::span(far.bytes)));
    else tunnel.bytes(LWTUNNEL_IP_DST, std::as_bytes(std::span(v4)));
    out.header(header).u32(RTA_OIF, 7).nest(RTA_ENCAP, tunnel);
    out.u16(RTA_ENCAP_TYPE, v6 ? LWTUNNEL_ENCAP_IP6 : LWTUNNEL_ENCAP_IP);
    return (*parse_route(out.data()))->hops.at(0).tunnel_remote;
  };
  EXPECT_EQ(parsed(false), ip("10.78.0.7"));
  EXPECT_EQ(parsed(true), far);
  const auto mpls = parse_route(AttrWriter().header(header).u32(RTA_OIF, 7).u16(RTA_ENCAP_TYPE, 1).data());
  EXPECT_FALSE((*mpls)->hops.at(0).tunnel_remote) << "LWTUNNEL_ENCAP_MPLS";
}

// Linux 6.18: `bridge fdb append 00:00:00:00:00:00 dev vx dst 10.78.0.9`; the device's own entry has no far end.
TEST(ParseForwardingEntry, NamesTheFarEnd) {
  ndmsg header{};
  header.ndm_family = AF_BRIDGE;
  header.ndm_ifindex = 5;
  const uint8_t mac[6] = {}, v4[] = {10, 78, 0, 9}, any[4] = {};
  const auto parsed = [&](View8 to) {
    AttrWriter out;
    out.header(header).bytes(NDA_LLADDR, std::as_bytes(std::span(mac)));
    if (!to.empty()) out.bytes(NDA_DST, to);
    return *parse_forwarding_entry(out.data());
  };
  ASSERT_TRUE(parsed(std::as_bytes(std::span(v4))));
  EXPECT_EQ(parsed(std::as_bytes(std::span(v4)))->remote, ip("10.78.0.9"));
  EXPECT_EQ(parsed(std::as_bytes(std::span(v4)))->ifindex, 5);
  const auto far = ip("fd00::9");
  EXPECT_EQ(parsed(std::as_bytes(std::span(far.bytes)))->remote, far);
  EXPECT_FALSE(parsed({}));
  EXPECT_FALSE(parsed(std::as_bytes(std::span(any))));
  EXPECT_FALSE(parse_forwarding_entry(View8{}).ok());
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

// Values that ip(8) sets are read back.
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
      "ip rule add oif veth0 lookup 4712 pref 78; ip rule add from 10.9.0.1 fwmark 5 lookup 4713 pref 79;"
      "ip rule add to 10.40.0.0/16 lookup 4714 pref 80");
  const auto interface = scanned();
  EXPECT_EQ(std::ranges::count(interface.routes, Route{ip("10.20.0.0"), 16, 4711, ip("10.9.0.254")}), 1);
  EXPECT_EQ(std::ranges::count(interface.routes, Route{ip("10.9.0.0"), 24, 254}), 1);
  ASSERT_TRUE(network.rules);
  EXPECT_EQ(*network.rules,
            (std::vector<RoutingRule>{
                {77, 4711, ip("10.9.0.1"), 32, {}}, {78, 4712, {}, 0, "veth0"}, {80, 4714, {}, 0, {}}}));
  EXPECT_TRUE(network.tables.contains(4711) && network.tables.contains(4713));
  set("for pref in 77 78 79 80; do ip rule del pref $pref; done");
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
  EXPECT_EQ(scanned().gateways, (std::vector<fabric::IpNeighbor>{{ip("10.9.0.254"), NUD_FAILED}}));
  set("ip neighbor replace 10.9.0.254 lladdr 02:00:00:00:00:08 dev veth0 nud permanent");
  EXPECT_EQ(scanned().gateways, (std::vector<fabric::IpNeighbor>{{ip("10.9.0.254"), NUD_PERMANENT}}));
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

// Refused while it is read; the next request is answered.
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
  std::vector<std::string> unseen;
  const ScanOptions options;
  scanning::Context context{kernel, options, {}, {}, {}, unseen};
  network = {};
  scanning::read_network(context, ports, network);
  EXPECT_EQ(unseen.size(), 1u);
  EXPECT_TRUE(network.tables.empty()) << "the routes are not known, though the rules are";
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

// -- Notifications of addresses

// The names that were announced until `command` is done and `expected` has come: IPv6 sends notifications from a work
// queue, after the request's answer.
Names after(exporter::AddressWatch& watch, const std::string& command, const Names& expected) {
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  Names heard = watch.drain();
  pollfd waiting{watch.fd(), POLLIN, 0};
  while (!std::ranges::includes(heard, expected) && ::poll(&waiting, 1, 10000) > 0) heard.merge(watch.drain());
  return heard;
}

TEST(Addresses, ComeAndGoAndAreRenewed) {
  if (const std::string why = test::enter_netns_with_veth(); !why.empty()) GTEST_SKIP() << why;
  // Down and up, for the link-local addresses that the pair was born with: their DAD would end at any time.
  ASSERT_EQ(std::system("for i in veth0 veth1; do ip address flush dev $i && ip link set $i down && ip link set $i "
                        "addrgenmode none; done"),
            0);
  ASSERT_EQ(std::system("ip link set veth0 up && ip link set veth1 up"), 0);
  auto watch = exporter::AddressWatch::open();
  ASSERT_TRUE(watch) << watch.error().text();
  watch->drain();
  const auto says = [&watch](const std::string& command, const Names& expected, const char* what = "") {
    EXPECT_EQ(after(*watch, command, expected), expected) << command << ": " << what;
  };
  says("ip address add 10.9.0.1/24 dev veth0", {"veth0"});
  says("ip address change 10.9.0.1/24 dev veth0 valid_lft 900 preferred_lft 900", {}, "a lease renewed");
  says("ip address add 10.9.1.1/24 dev veth1 && ip -6 address add fd00::1/64 dev veth0 nodad", {"veth0", "veth1"});
  says("ip address del 10.9.0.1/24 dev veth0", {"veth0"});
  says("ip address add 10.9.0.1/24 dev veth0", {"veth0"}, "the same once more");
  pollfd waiting{watch->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0) << "all has been read";
}

// -- Virtual functions

AttrWriter vf_info(uint32_t number, uint32_t state, uint32_t most, uint32_t vlan, uint32_t priority) {
  AttrWriter out;
  out.pod(IFLA_VF_MAC, ifla_vf_mac{number, {0x02, 0xfa}})
      .pod(IFLA_VF_VLAN, ifla_vf_vlan{number, vlan, priority})
      .pod(IFLA_VF_RATE, ifla_vf_rate{number, 100, most})
      .pod(IFLA_VF_LINK_STATE, ifla_vf_link_state{number, state});
  return out;
}

Bytes vf_message() {
  AttrWriter list, out;
  list.nest(IFLA_VF_INFO, vf_info(0, IFLA_VF_LINK_STATE_AUTO, 0, 0, 0))
      .nest(IFLA_VF_INFO, vf_info(1, IFLA_VF_LINK_STATE_DISABLE, 25'000, 100, 3))
      .nest(IFLA_VF_INFO, vf_info(2, IFLA_VF_LINK_STATE_ENABLE, 0, 0, 0));
  out.header(ifinfomsg{}).text(IFLA_IFNAME, "eth0").u32(IFLA_NUM_VF, 3).nest(IFLA_VFINFO_LIST, list);
  return out.data();
}

TEST(VfLimits, AreReadForEachFunction) {
  const auto limits = parse_vf_limits(vf_message());
  ASSERT_EQ(limits.size(), 3U);
  EXPECT_EQ(limits[0], (VfLimits{.number = 0, .min_tx_rate = 100}));
  EXPECT_EQ(limits[1], (VfLimits{.number = 1,
                                 .link_state = VfLinkState::disable,
                                 .min_tx_rate = 100,
                                 .max_tx_rate = 25'000,
                                 .vlan = 100,
                                 .vlan_priority = 3}));
  EXPECT_EQ(limits[2].link_state, VfLinkState::enable);
  EXPECT_TRUE(parse_vf_limits(link_message()).empty()) << "not requested, or a driver without them";
}

TEST(VfLimits, SurviveACutAnywhere) {
  const Bytes whole = vf_message();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_LE(parse_vf_limits(View8(whole).first(size)).size(), 3U) << size;
}

// Without statistics, which cost mlx5 a firmware command for each function.
TEST(VfLimits, AreRequestedWithoutStatistics) {
  struct Recorder final : Netlink {
    Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
      EXPECT_EQ(type, RTM_GETLINK);
      EXPECT_EQ(flags & NLM_F_DUMP, 0);
      const auto attributes = parse_attributes(payload, sizeof(ifinfomsg));
      EXPECT_EQ(text_of(attributes, IFLA_IFNAME), "eth0");
      EXPECT_EQ(value_of<uint32_t>(attributes, IFLA_EXT_MASK), RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
      return std::vector<Message>{{RTM_NEWLINK, vf_message()}};
    }
  } route;
  const auto limits = vf_limits(route, "eth0");
  ASSERT_TRUE(limits.ok());
  EXPECT_EQ(limits->size(), 3U);
}

}  // namespace
}  // namespace fabric::rtnl
