// SPDX-License-Identifier: Apache-2.0
// Users of a netdev besides RDMA: real devices, routes and TCP sessions of this kernel, in network namespaces.
#include "node/netdev_use.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>

#include "kernel/netlink/sock_diag.h"
#include "support/netns.h"
#include "support/test.h"

namespace fabric::test {
namespace {

bool ip(const std::string& arguments) { return std::system(("ip " + arguments + " 2>/dev/null").c_str()) == 0; }

// "use0" is the port. Its other end is in a namespace of a process that accepts TCP sessions.
class NetdevUse : public Veth {
 protected:
  void SetUp() override {
    Veth::SetUp();
    if (IsSkipped()) return;
    int ready[2], go[2];
    ASSERT_EQ(::pipe(ready) + ::pipe(go), 0);
    peer_ = ::fork();
    if (peer_ == 0) serve(ready[1], go[0]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ASSERT_TRUE(ip("link add use0 type veth peer name use1"));
    ASSERT_TRUE(ip("link set use1 netns " + std::to_string(peer_)));
    ASSERT_TRUE(ip("link set use0 up"));
    ASSERT_EQ(::write(go[1], "g", 1), 1);
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    for (int fd : {ready[0], ready[1], go[0], go[1]}) ::close(fd);
    port_.netdev = "use0";
  }
  void TearDown() override {
    if (peer_ > 0) {
      ::kill(peer_, SIGKILL);
      ::waitpid(peer_, nullptr, 0);
    }
    for (const char* device : {"use0", "useb", "usem", "usex", "useg"}) ip(std::string("link del ") + device);
    for (const char* table : {"100", "101"}) {
      ip(std::string("route flush table ") + table);
      ip(std::string("-6 route flush table ") + table);
    }
    while (ip("rule del pref 77")) {
    }
  }

  // The peer: brings its end up, listens on port 4711 of any address, and accepts until it is killed.
  [[noreturn]] static void serve(int ready, int go) {
    char byte = 0;
    if (::unshare(CLONE_NEWNET) != 0 || ::write(ready, "r", 1) != 1 || ::read(go, &byte, 1) != 1) ::_exit(1);
    ip("link set lo up");
    ip("link set use1 up");
    ip("addr add 10.77.0.2/24 dev use1");
    ip("addr add 10.78.0.2/24 dev use1");
    ip("addr add fd77::2/64 dev use1 nodad");
    const int listener = ::socket(AF_INET6, SOCK_STREAM, 0);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(4711);
    if (::bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any) != 0 || ::listen(listener, 8) != 0) ::_exit(2);
    if (::write(ready, "r", 1) != 1) ::_exit(3);
    for (;;) ::accept(listener, nullptr, nullptr);
  }

  // False also without nsenter(1).
  [[nodiscard]] bool ip_in_peer(const std::string& arguments) const {
    return std::system(("nsenter -t " + std::to_string(peer_) + " -n ip " + arguments).c_str()) == 0;
  }

  // A session with the peer, or with an address of this host; -1: it cannot be made.
  static int session(const std::string& to) {
    sockaddr_storage address{};
    socklen_t size = sizeof(sockaddr_in);
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(4711);
    if (::inet_pton(AF_INET, to.c_str(), &v4->sin_addr) != 1) {
      v6->sin6_family = AF_INET6;
      size = sizeof(sockaddr_in6);
      ::inet_pton(AF_INET6, to.c_str(), &v6->sin6_addr);
    }
    const int fd = ::socket(address.ss_family, SOCK_STREAM, 0);
    const timeval patience{5, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), size) == 0) return fd;
    ::close(fd);
    return -1;
  }

  using User = fabric::NetdevUse::User;
  std::string route() { return default_route_of(kernel, port_).why; }
  std::string use() { return use(port_, User::session); }
  std::string use(const Port& port, User user) {
    const auto found = use_of_netdev(kernel, port);
    return found.user == user ? found.why : "";
  }
  std::string forwarding() { return use(port_, User::forwarding); }
  static bool sysctl(const std::string& name, const char* value) {
    return std::system(("echo " + std::string(value) + " 2>/dev/null > /proc/sys/net/" + name).c_str()) == 0;
  }

  // A session whose source address, 10.55.0.9, is that of veth0.
  void expect_session_of_another_address() {
    // The peer answers by the link: its neighbor entry is enough.
    if (!ip_in_peer("route add 10.55.0.9/32 dev use1")) GTEST_SKIP() << "requires nsenter";
    const int fd = session("10.78.0.2");
    ASSERT_GE(fd, 0);
    EXPECT_EQ(use(), "a TCP session of this host (10.55.0.9) uses use0");
    ::close(fd);
  }

  pid_t peer_ = -1;
  Port port_{.rdma = "mlx5_0"};
};

TEST_F(NetdevUse, ADefaultRouteOfAnyTableAndFamily) {
  ASSERT_TRUE(ip("addr add 10.77.0.1/24 dev use0") && ip("addr add fd77::1/64 dev use0 nodad"));
  EXPECT_EQ(route(), "") << "an address alone";
  for (const char* each : {"default via 10.77.0.2 dev use0", "default via 10.77.0.2 dev use0 table 100",
                           "0.0.0.0/1 via 10.77.0.2 dev use0", "default nexthop via 10.77.0.2 dev use0"}) {
    ASSERT_TRUE(ip(std::string("route add ") + each));
    EXPECT_EQ(route(), "the default route leaves by use0") << each;
    ASSERT_TRUE(ip(std::string("route del ") + each));
  }
  for (const char* each : {"default via fd77::2 dev use0", "2000::/3 via fd77::2 dev use0 table 101"}) {
    ASSERT_TRUE(ip(std::string("-6 route add ") + each));
    EXPECT_EQ(route(), "the default route leaves by use0") << each;
    ASSERT_TRUE(ip(std::string("-6 route del ") + each));
  }
  ASSERT_TRUE(ip("route add 10.99.0.0/16 via 10.77.0.2 dev use0"));
  ASSERT_TRUE(ip("addr add 10.55.0.1/24 dev veth0") && ip("route add default via 10.55.0.2 dev veth0"));
  EXPECT_EQ(route(), "") << "by another interface";
  ip("route del default");
  ip("addr flush dev veth0");
}

// The routing of a rail: a table for packets from the address of the port itself.
TEST_F(NetdevUse, ATableOfThePortsOwnAddressIsNotTheMachinesDefaultRoute) {
  ASSERT_TRUE(ip("addr add 10.77.0.1/24 dev use0") && ip("route add default via 10.77.0.2 dev use0 table 100"));
  EXPECT_NE(route(), "");
  ASSERT_TRUE(ip("rule add pref 77 from 10.77.0.1 lookup 100"));
  EXPECT_EQ(route(), "");
  ASSERT_TRUE(ip("rule add pref 77 from 10.0.0.0/8 fwmark 5 lookup 100"));
  EXPECT_NE(route(), "") << "other packets use the table as well";
}

TEST_F(NetdevUse, ADeviceAboveThePort) {
  unsigned made = 0;
  // Kinds that this kernel lacks are left out.
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"useb", "type bridge"},
      {"usem", "link use0 type macvlan"},
      {"usem", "link use0 type vlan id 7"},
      {"usem", "link use0 type ipvlan"},
      {"usex", "type vxlan id 42 dstport 4789 dev use0"},
      {"usex", "type vxlan id 42 dstport 4789 local 10.78.0.1 remote 10.78.0.2"},
      {"usex", "type vxlan id 42 dstport 4789 remote 10.78.0.2"},
      {"useg", "type geneve id 42 remote 10.78.0.2"},
      {"useg", "type gretap remote 10.78.0.2"},
      {"usem", "type vrf table 100"}};
  ASSERT_TRUE(ip("addr add 10.78.0.1/24 dev use0"));
  for (const auto& [name, kind] : kinds) {
    if (!ip("link add " + name + " " + kind)) continue;
    SCOPED_TRACE(kind);
    ++made;
    if (kind == "type bridge" || kind == "type vrf table 100") ASSERT_TRUE(ip("link set use0 master " + name));
    ASSERT_TRUE(ip("link set " + name + " up"));
    EXPECT_EQ(route(), "");
    ASSERT_TRUE(ip("addr add 10.79.0.1/24 dev " + name) && ip("route add default via 10.79.0.2 dev " + name));
    EXPECT_EQ(route(), "the default route leaves by " + name + ", on the link of use0");
    ASSERT_TRUE(ip("link del " + name));
    EXPECT_EQ(route(), "");
  }
  EXPECT_GE(made, 1U);
}

// EVPN: the near end is an address of another interface (lo), and the far ends are in the forwarding database. With
// `external` it has no end at all: the routes over it name them.
TEST_F(NetdevUse, ATunnelWhoseFarEndIsBehindThePort) {
  ASSERT_TRUE(ip("addr add 10.78.0.1/24 dev use0") && ip("addr add 10.55.0.1/32 dev veth0"));
  if (!ip("link add usex type vxlan id 42 dstport 4789 local 10.55.0.1 nolearning")) GTEST_SKIP() << "no vxlan";
  const auto bridge = [](const std::string& arguments) {
    return std::system(("bridge fdb " + arguments + " dev usex 2>/dev/null").c_str()) == 0;
  };
  const std::string by = "the default route leaves by usex, on the link of use0";
  ASSERT_TRUE(ip("link set usex up") && ip("addr add 10.79.0.1/24 dev usex"));
  ASSERT_TRUE(ip("route add default via 10.79.0.2 dev usex"));
  EXPECT_EQ(route(), "") << "no far end";
  ASSERT_TRUE(bridge("append 00:00:00:00:00:00 dst 10.78.0.2"));
  EXPECT_EQ(route(), by);
  Port other;
  other.netdev = "veth1";
  EXPECT_EQ(default_route_of(kernel, other).why, "");
  ASSERT_TRUE(bridge("del 00:00:00:00:00:00 dst 10.78.0.2"));
  EXPECT_EQ(route(), "");
  ASSERT_TRUE(ip("link del usex") && ip("link add usex type vxlan dstport 4790 external") && ip("link set usex up"));
  ASSERT_TRUE(ip("addr add 10.79.0.1/24 dev usex"));
  for (const auto& [route_to, is_above] : {std::pair("10.56.0.2", false), {"10.78.0.2", true}}) {
    if (!ip(std::string("route add default encap ip id 100 dst ") + route_to + " via 10.79.0.2 dev usex"))
      GTEST_SKIP() << "no lightweight tunnels";
    EXPECT_EQ(route(), is_above ? by : "");
    ASSERT_TRUE(ip("route del default"));
  }
}

// Loses every answer about a single route.
class LossyRoute final : public Netlink {
 public:
  explicit LossyRoute(std::unique_ptr<Netlink> behind) : behind_(std::move(behind)) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    if (type == RTM_GETROUTE && (flags & NLM_F_DUMP) == 0) return error(ENOBUFS, "lost");
    return behind_->talk(type, flags, payload);
  }

 private:
  std::unique_ptr<Netlink> behind_;
};

TEST_F(NetdevUse, ATunnelWhoseWayIsNotAnsweredMayBeAboveThePort) {
  ASSERT_TRUE(ip("addr add 10.78.0.1/24 dev use0") && ip("addr add 10.55.0.1/24 dev veth0"));
  ASSERT_TRUE(ip("route add default via 10.55.0.2 dev veth0"));
  if (!ip("link add usex type vxlan id 42 dstport 4789 remote 10.78.0.2")) GTEST_SKIP() << "no vxlan";
  EXPECT_EQ(route(), "");
  kernel.route = std::make_unique<LossyRoute>(std::move(kernel.route));
  EXPECT_TRUE(has(route(), "cannot be determined")) << route();
  ip("route del default");
  ip("addr flush dev veth0");
}

// No device of this namespace shows it, and its TCP sessions cannot be listed from here.
TEST_F(NetdevUse, ADeviceAboveThePortInAnotherNamespace) {
  if (!ip_in_peer("link set use1 up")) GTEST_SKIP() << "requires nsenter";
  unsigned made = 0;
  for (const char* kind : {"macvlan", "vlan id 7", "ipvlan", "vxlan id 43 dstport 4789 dev use0"}) {
    if (!ip(std::string("link add usem link use0 type ") + kind)) continue;  // this kernel lacks it
    SCOPED_TRACE(kind);
    ++made;
    EXPECT_EQ(use(), "") << "the host's own, without a session";
    ASSERT_TRUE(ip("link set usem netns " + std::to_string(peer_)));
    ASSERT_TRUE(ip_in_peer("link set usem up"));
    EXPECT_EQ(use(), "a container (usem in another network namespace) uses use0");
    Port other;
    other.netdev = "veth0";
    EXPECT_EQ(use(other, User::session), "");
    ASSERT_TRUE(ip_in_peer("link del usem"));
    EXPECT_EQ(use(), "");
  }
  if (made == 0) GTEST_SKIP() << "this kernel has neither macvlan, VLANs, ipvlan nor vxlan";
}

// A container's overlay above a device of a third namespace that has the port's ifindex there.
TEST_F(NetdevUse, ADeviceAboveTheSameIndexOfAThirdNamespaceIsNoUser) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const std::string index = std::to_string(id("use0").ifindex);
  const pid_t third = ::fork();
  if (third == 0) {
    const bool made = ::unshare(CLONE_NEWNET) == 0 && ip("link add low index " + index + " type bridge") &&
                      ip("link set low up") && ip("link add usem type vxlan id 44 dstport 4789 dev low") &&
                      ip("link set usem netns " + std::to_string(peer_)) && ip_in_peer("link set usem up");
    (void)!::write(ready[1], made ? "m" : "-", 1);
    ::pause();
    ::_exit(0);
  }
  char made = '-';
  EXPECT_EQ(::read(ready[0], &made, 1), 1);
  if (made == 'm') {
    EXPECT_EQ(use(), "");
    // The list has given this namespace an id of itself, so that its own devices are listed, too.
    EXPECT_EQ(use(), "");
  }
  ::kill(third, SIGKILL);
  ::waitpid(third, nullptr, 0);
  for (int fd : ready) ::close(fd);
  if (made != 'm') GTEST_SKIP() << "requires nsenter, and a kernel with bridges and vxlan";
}

TEST_F(NetdevUse, ATcpSessionOfTheHost) {
  ASSERT_TRUE(ip("addr add 10.77.0.1/24 dev use0") && ip("addr add fd77::1/64 dev use0 nodad"));
  EXPECT_EQ(use(), "") << "an address without a session";
  for (const char* to : {"10.77.0.2", "fd77::2", "::ffff:10.77.0.2"}) {
    const int fd = session(to);
    ASSERT_GE(fd, 0) << to;
    EXPECT_TRUE(has(use(), "a TCP session of this host (")) << to;
    ::close(fd);
  }
  const int session_over_route = session("10.77.0.2");
  EXPECT_FALSE(use_of_netdev(kernel, port_).has_default_route);
  ASSERT_TRUE(ip("route add default via 10.77.0.2 table 100"));
  EXPECT_TRUE(has(use(), "a TCP session of this host ("));
  EXPECT_TRUE(use_of_netdev(kernel, port_).has_default_route) << "also if a session comes first";
  ::close(session_over_route);
  ASSERT_TRUE(ip("route flush table 100"));
  Port other;
  other.netdev = "veth0";
  const int fd = session("10.77.0.2");
  EXPECT_EQ(use(other, User::session), "");
  ::close(fd);
}

// The source address of a session may be that of another interface.
TEST_F(NetdevUse, ASessionThatIsRoutedOverThePort) {
  ASSERT_TRUE(ip("addr add 10.55.0.9/32 dev veth0") && ip("route add 10.78.0.0/24 dev use0 src 10.55.0.9"));
  expect_session_of_another_address();
  ip("addr flush dev veth0");
}

// FRR routes by next hop objects. With net.ipv4.nexthop_compat_mode=0 such a route names no interface.
TEST_F(NetdevUse, ASessionThatANextHopObjectRoutesOverThePort) {
  if (!sysctl("ipv4/nexthop_compat_mode", "0")) GTEST_SKIP() << "/proc/sys is read-only";
  ASSERT_TRUE(ip("addr add 10.55.0.9/32 dev veth0") && ip("nexthop add id 77 dev use0"));
  ASSERT_TRUE(ip("route add 10.78.0.0/24 nhid 77 src 10.55.0.9"));
  expect_session_of_another_address();
  ip("nexthop del id 77");
  ip("addr flush dev veth0");
  sysctl("ipv4/nexthop_compat_mode", "1");
}

// The same for the default route, and for packets that this host forwards; also if a group has the next hop.
TEST_F(NetdevUse, RoutesOfNextHopObjects) {
  if (!sysctl("ipv4/nexthop_compat_mode", "0") || !sysctl("ipv4/conf/use0/forwarding", "1"))
    GTEST_SKIP() << "/proc/sys is read-only";
  ASSERT_TRUE(ip("addr add 10.77.0.1/31 dev use0") && ip("addr add 10.55.0.1/24 dev veth0"));
  ASSERT_TRUE(ip("nexthop add id 76 via 10.55.0.2 dev veth0") && ip("nexthop add id 77 via 10.77.0.0 dev use0") &&
              ip("nexthop add id 78 group 76/77"));
  ASSERT_TRUE(ip("link add useg type veth peer name useg1") && ip("link set useg1 netns " + std::to_string(peer_)));
  ASSERT_TRUE(ip("link set useg up"));
  if (!ip_in_peer("link set useg1 up")) GTEST_SKIP() << "requires nsenter";
  for (const auto& [id, is_of_port] : {std::pair("76", false), {"77", true}, {"78", true}}) {
    SCOPED_TRACE(id);
    ASSERT_TRUE(ip(std::string("route add default nhid ") + id + " table 100"));
    EXPECT_EQ(route(), is_of_port ? "the default route leaves by use0" : "");
    ASSERT_TRUE(ip("route flush table 100") && ip(std::string("route add 10.99.0.0/16 nhid ") + id));
    EXPECT_EQ(has(forwarding(), "may reach 10.99.0.0/16 over use0"), is_of_port) << forwarding();
    ASSERT_TRUE(ip("route del 10.99.0.0/16"));
  }
  for (const char* id : {"78", "77", "76"}) ip(std::string("nexthop del id ") + id);
  ip("addr flush dev veth0");
  sysctl("ipv4/nexthop_compat_mode", "1");
}

TEST_F(NetdevUse, ASessionInsideTheHostDoesNotUseThePort) {
  ASSERT_TRUE(ip("addr add 10.77.0.1/24 dev use0"));
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(4711);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any) + ::listen(listener, 1), 0);
  const int fd = session("10.77.0.1");
  ASSERT_GE(fd, 0);
  EXPECT_EQ(use(), "");
  ::close(fd);
  ::close(listener);
}

TEST_F(NetdevUse, ABridgeWithAGuest) {
  if (!ip("link add useb type bridge")) GTEST_SKIP() << "no bridge in this kernel";
  ASSERT_TRUE(ip("link set use0 master useb") && ip("link set useb up"));
  ASSERT_TRUE(ip("addr add 10.77.0.1/24 dev useb"));
  EXPECT_EQ(use(), "");
  const int fd = session("10.77.0.2");
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(has(use(), "10.77.0.1")) << "of the bridge's address";
  ::close(fd);
  ASSERT_TRUE(ip("link set veth0 master useb"));
  EXPECT_EQ(use(), "a guest or a container (veth0) uses useb, on the link of use0");
  ip("link set veth0 nomaster");
}

// libvirt's "direct" interface: qemu has /dev/tapN open, and no session of the guest is one of this host.
TEST_F(NetdevUse, AGuestWithAMacvtap) {
  if (!ip("link add usem link use0 type macvtap")) GTEST_SKIP() << "no macvtap in this kernel";
  ASSERT_TRUE(ip("link set usem up"));
  EXPECT_EQ(use(), "a guest (usem) uses use0");
  Port other;
  other.netdev = "veth0";
  EXPECT_EQ(use(other, User::session), "");
}

// Calico and others: the host routes the packets of pods; nothing is above the port. A rail that has its own prefix and
// a table for its own address is not used, although IP forwarding is on everywhere.
TEST_F(NetdevUse, ThePacketsOfContainersThatTheHostRoutes) {
  ASSERT_TRUE(ip("addr add 10.77.0.1/31 dev use0"));
  if (!sysctl("ipv4/conf/use0/forwarding", "1")) GTEST_SKIP() << "/proc/sys is read-only";
  ASSERT_TRUE(ip("link add useg type veth peer name useg1") && ip("link set useg1 netns " + std::to_string(peer_)));
  ASSERT_TRUE(ip("link set useg up"));
  if (!ip_in_peer("link set useg1 up")) GTEST_SKIP() << "requires nsenter";
  ASSERT_TRUE(ip("route add 10.244.1.5/32 dev useg"));
  EXPECT_EQ(forwarding(), "") << "a connected prefix";
  for (const char* route : {"169.254.0.0/16 dev use0", "224.0.0.0/4 dev use0"}) {
    ASSERT_TRUE(ip(std::string("route add ") + route));
    EXPECT_EQ(forwarding(), "") << route << " is not forwarded";
    ASSERT_TRUE(ip(std::string("route del ") + route));
  }
  ASSERT_TRUE(ip("rule add pref 77 from 10.77.0.1 lookup 100") &&
              ip("route add 10.0.0.0/8 via 10.77.0.0 dev use0 table 100"));
  EXPECT_EQ(forwarding(), "") << "a table for the port's own packets";
  ASSERT_TRUE(ip("rule add pref 77 from 10.244.0.0/16 lookup 101") &&
              ip("route add 10.99.0.0/16 via 10.77.0.0 dev use0 table 101"));
  EXPECT_TRUE(has(forwarding(), "may reach 10.99.0.0/16 over use0")) << "a policy route of the pods";
  ASSERT_TRUE(ip("route flush table 101"));
  for (const char* route : {"10.244.3.0/26 via 10.77.0.0 dev use0 proto 12", "10.244.4.0/24 dev use0"}) {
    ASSERT_TRUE(ip(std::string("route add ") + route));
    EXPECT_TRUE(has(forwarding(), "front_end = true")) << route << ": " << forwarding();
    ASSERT_TRUE(sysctl("ipv4/conf/use0/forwarding", "0"));
    EXPECT_EQ(forwarding(), "") << "this host drops them";
    ASSERT_TRUE(sysctl("ipv4/conf/use0/forwarding", "1"));
    ASSERT_TRUE(ip("link set useg down"));
    EXPECT_EQ(forwarding(), "") << "no pod runs";
    ASSERT_TRUE(ip("link set useg up") && ip("route replace 10.244.1.5/32 dev useg"));
    ASSERT_TRUE(ip(std::string("route del ") + route));
  }
}

// Linux 6.17: an interface forwards IPv6 although the switch of all is off.
TEST_F(NetdevUse, Ipv6PacketsThatOneInterfaceForwards) {
  if (!sysctl("ipv6/conf/use0/force_forwarding", "1")) GTEST_SKIP() << "an older kernel, or /proc/sys is read-only";
  ASSERT_TRUE(sysctl("ipv6/conf/all/forwarding", "0") && sysctl("ipv6/conf/use0/force_forwarding", "1"));
  ASSERT_TRUE(ip("link add useg type veth peer name useg1") && ip("link set useg1 netns " + std::to_string(peer_)));
  ASSERT_TRUE(ip("link set useg up"));
  if (!ip_in_peer("link set useg1 up")) GTEST_SKIP() << "requires nsenter";
  ASSERT_TRUE(ip("addr add fd77::1/64 dev use0 nodad") && ip("-6 route add fd99::/64 via fd77::2 dev use0"));
  EXPECT_TRUE(has(forwarding(), "may reach fd99::/64 over use0")) << forwarding();
  ASSERT_TRUE(sysctl("ipv6/conf/use0/force_forwarding", "0"));
  EXPECT_EQ(forwarding(), "");
}

// A guest has a tap; a tun is the interface of a VPN.
TEST_F(NetdevUse, ATapLeadsToAGuestAndATunDoesNot) {
  ASSERT_TRUE(ip("addr add 10.77.0.1/31 dev use0"));
  ASSERT_TRUE(ip("route add 10.99.0.0/16 via 10.77.0.0 dev use0"));
  if (!sysctl("ipv4/conf/use0/forwarding", "1")) GTEST_SKIP() << "/proc/sys is read-only";
  for (const int kind : {IFF_TUN, IFF_TAP}) {
    const int fd = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    ifreq request{};
    request.ifr_flags = static_cast<short>(kind | IFF_NO_PI);
    std::strcpy(request.ifr_name, "useg");
    if (fd < 0 || ::ioctl(fd, TUNSETIFF, &request) != 0) GTEST_SKIP() << "this machine has no tun";
    ASSERT_TRUE(ip("link set useg up"));
    EXPECT_EQ(forwarding().empty(), kind == IFF_TUN) << forwarding();
    ::close(fd);
  }
}

// The output of `cat /proc/net/tcp` and tcp6 on a little-endian machine.
TEST(SockDiag, ParsesTheFilesOfOlderKernels) {
  const auto sessions = sock_diag::parse_proc_tcp(
      "  sl  local_address rem_address   st tx_queue\n"
      "   0: 0100007F:0016 00000000:0000 0A 00000000:00000000\n"
      "   1: 01004D0A:C350 02004D0A:1267 01 00000000:00000000\n"
      "   2: 0000000000000000FFFF000001004D0A:C350 0000000000000000FFFF000002004D0A:1267 01 00000000:00000000\n"
      "   3: XY 02004D0A:1267 01\n   4:\n");
  ASSERT_EQ(sessions.size(), 2U);
  for (const auto& each : sessions) {
    EXPECT_EQ(to_text(each.local), "10.77.0.1");
    EXPECT_EQ(to_text(each.remote), "10.77.0.2");
  }
  EXPECT_EQ(sock_diag::parse_session({}).error().code, EBADMSG);
}

}  // namespace
}  // namespace fabric::test
