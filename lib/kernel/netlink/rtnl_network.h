// SPDX-License-Identifier: Apache-2.0
// rtnetlink: addresses, routes, routing rules and neighbours (linux/rtnetlink.h, if_addr.h, fib_rules.h, neighbour.h;
// net/ipv4/devinet.c, fib_semantics.c, core/fib_rules.c, core/neighbour.c of Linux 6.12). Readable without privilege.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/netlink/netlink.h"
#include "model/network.h"

namespace fabric::rtnl {

struct IpAddress {
  int ifindex = 0;
  Address address;
};

struct NextHop {
  int ifindex = 0;
  std::optional<Ip> gateway;
};

struct IpRoute {
  Ip destination;
  unsigned prefix = 0;
  uint32_t table = 0;
  bool unicast = false;       // RTN_UNICAST, of another table than "local"
  std::vector<NextHop> hops;  // several: multipath
};

struct IpRule {
  RoutingRule rule;
  bool v6 = false;
  bool narrow = false;  // also asks for a mark, an incoming device or a protocol, is inverted, or names no table
};

struct IpNeighbour {
  int ifindex = 0;
  Ip ip;
  uint16_t state = 0;  // NUD_*
};

// Of RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWRULE, RTM_NEWNEIGH payloads. Nothing: another family than IPv4 and IPv6, a
// message without what makes it one (an address without its bytes), or what `ip route show cache` shows. EBADMSG:
// shorter than its header. Pure.
Result<std::optional<IpAddress>> parse_address(View8 payload);
Result<std::optional<IpRoute>> parse_route(View8 payload);
Result<std::optional<IpRule>> parse_rule(View8 payload);
Result<std::optional<IpNeighbour>> parse_neighbour(View8 payload);

// "REACHABLE", as ip-neighbour(8) says it; "state 3" of none or several states.
std::string neighbour_state_text(uint16_t state);

// Whole dumps, both families, all tables. E2BIG beyond 65,536 messages: a router, whose tables are not judged.
Result<std::vector<IpAddress>> addresses(Netlink& route);
Result<std::vector<IpRoute>> routes(Netlink& route);
Result<std::vector<IpRule>> rules(Netlink& route);
Result<std::vector<IpNeighbour>> neighbours(Netlink& route);

}  // namespace fabric::rtnl
