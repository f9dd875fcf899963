// SPDX-License-Identifier: Apache-2.0
// rtnetlink: links and their MTU (linux/rtnetlink.h, net/core/rtnetlink.c of Linux 6.12).
#pragma once

#include <set>

#include "kernel/netlink/addressing.h"
#include "kernel/netlink/netdev.h"

namespace fabric::rtnl {

struct Link {
  int ifindex = 0;
  std::string name;
  std::optional<uint32_t> mtu, max_mtu;
  std::optional<bool> carrier;
  std::optional<uint32_t> carrier_down_count;
  std::optional<int> master;            // ifindex of the bond or bridge
  std::string parent;                   // PCI address or the like; empty: unknown
  std::vector<std::string> altnames{};  // other names (ip link property add)
  std::string kind;                     // IFLA_INFO_KIND: "bond", "veth"; empty for hardware
  bool is_ethernet = false;             // ARPHRD_ETHER; of kind "tun": a tap
  std::string permanent{};  // the hardware's address, "b8:3f:d2:00:00:01"; empty: none, or a kernel before 5.6
  uint32_t vrf_table = 0;   // the routing table of a VRF (IFLA_VRF_TABLE); 0: not a VRF
  // ifindex of the device below a VLAN, macvlan, ipvlan or tunnel (IFLA_LINK, IFLA_VXLAN_LINK); absent: none, one in
  // another network namespace, or the other end of a veth pair.
  std::optional<int> lower{};
  // The device below if it is in another network namespace: its ifindex there, and the id that the namespace of the
  // socket has of that namespace, also in the answers of links_in() (rtnl_fill_link_netnsid()).
  std::optional<int> lower_elsewhere{}, lower_namespace{};
  bool is_peer_elsewhere = false;  // a veth or netkit whose other end is in another network namespace
  // The ends of a tunnel that names no device (vxlan, geneve, gre, ipip, ip6tnl).
  std::optional<Ip> tunnel_local{}, tunnel_remote{};
};

// Parses an RTM_NEWLINK or RTM_DELLINK payload. No I/O.
Result<Link> parse_link(View8 payload);
Result<std::vector<Link>> links(Netlink& route);
// The network namespaces that this one has an id of: those with an end of a veth pair of this one, or with a device
// that was moved there (RTM_GETNSID; net/core/net_namespace.c).
Result<std::vector<int>> namespaces(Netlink& route);
// The id that this namespace has of itself; nullopt: none. It gets one when a list of links names it
// (IFLA_LINK_NETNSID), so ask after links_in().
Result<std::optional<int>> own_namespace(Netlink& route);
// links() of the namespace with this id (IFLA_TARGET_NETNSID; Linux 4.20). EACCES: requires CAP_NET_ADMIN there.
// EINVAL: it is gone.
Result<std::vector<Link>> links_in(Netlink& route, int id);
Result<Link> link(Netlink& route, const std::string& netdev);  // ENODEV
Result<Link> link_at(Netlink& route, int ifindex);             // ENODEV
// Refused with ENODEV if the device was renamed (check_name()), and addressed by its index.
Result<void> set_mtu(Netlink& route, const NetdevId& netdev, uint32_t mtu);

// rtnetlink: addresses, routes, routing rules and neighbors (linux/rtnetlink.h, if_addr.h, fib_rules.h, neighbour.h,
// nexthop.h; net/ipv4/devinet.c, fib_semantics.c, nexthop.c, core/fib_rules.c, core/neighbour.c of Linux 6.12).
// Readable without privilege.
struct IpAddress {
  int ifindex = 0;
  Address address;
};

struct NextHop {
  int ifindex = 0;
  std::optional<Ip> gateway;
  // The far end of the tunnel to which the route sends its packets (`encap ip dst ADDRESS`), over a device that has no
  // end of its own (`external`, bareudp); absent: the route names none.
  std::optional<Ip> tunnel_remote{};
};

struct IpRoute {
  Ip destination;
  unsigned prefix = 0;
  uint32_t table = 0;
  bool unicast = false;       // RTN_UNICAST, of another table than "local"
  std::vector<NextHop> hops;  // several: multipath
  // RTA_NH_ID: the route leaves by this next hop object; 0: none. With net.ipv4.nexthop_compat_mode=0 its message has
  // no hops; routes() takes them from the object.
  uint32_t next_hop_id = 0;
};

// `ip nexthop`: a next hop, or a group of other objects.
struct NextHopObject {
  uint32_t id = 0;
  std::optional<NextHop> hop{};  // absent: a group, or a blackhole
  std::vector<uint32_t> group{};
};

struct IpRule {
  RoutingRule rule;
  bool v6 = false;
  bool narrow = false;  // also matches a mark, an incoming device or a protocol, is inverted, or names no table
};

struct NeighborEntry {
  int ifindex = 0;
  Ip ip;
  uint16_t state = 0;  // NUD_*
};

// Parse RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWNEXTHOP, RTM_NEWRULE, RTM_NEWNEIGH payloads. nullopt: a family other than
// IPv4 and IPv6, an incomplete message (an address without its bytes), or an entry of `ip route show cache`. EBADMSG:
// shorter than its header. No I/O.
Result<std::optional<IpAddress>> parse_address(View8 payload);
Result<std::optional<IpRoute>> parse_route(View8 payload);
Result<std::optional<NextHopObject>> parse_next_hop(View8 payload);
Result<std::optional<IpRule>> parse_rule(View8 payload);
Result<std::optional<NeighborEntry>> parse_neighbor(View8 payload);

// The interface by which this host sends to the address (RTM_GETROUTE): from `source` if it is an address of this host,
// and by a socket that is bound to `device` unless that is 0.
Result<int> interface_to(Netlink& route, const Ip& destination, const std::optional<Ip>& source, int device);

// "REACHABLE", as in ip-neighbour(8); "state 3" for no state or several states.
std::string neighbor_state_text(uint16_t state);

// Whole dumps, both families, all tables. E2BIG: more than 65,536 messages, as on a router, whose tables are not
// checked.
Result<std::vector<IpAddress>> addresses(Netlink& route);
Result<std::vector<IpRoute>> routes(Netlink& route);
Result<std::vector<IpRule>> rules(Netlink& route);
Result<std::vector<NeighborEntry>> neighbors(Netlink& route);

// An entry of a vxlan's forwarding database: packets for a MAC address go to this far end.
struct ForwardingEntry {
  int ifindex = 0;
  Ip remote;
};
// Parses an RTM_NEWNEIGH payload of the family AF_BRIDGE. nullopt: an entry without a far end. No I/O.
Result<std::optional<ForwardingEntry>> parse_forwarding_entry(View8 payload);
// The far ends in the forwarding database of a vxlan (`bridge fdb show dev NAME`), each once (net/core/rtnetlink.c
// rtnl_fdb_dump(), drivers/net/vxlan/vxlan_core.c vxlan_fdb_info() of Linux 6.12).
Result<std::set<Ip>> vxlan_remotes(Netlink& route, int ifindex);

}  // namespace fabric::rtnl
