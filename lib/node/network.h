// SPDX-License-Identifier: Apache-2.0
// IP addressing of the netdevs that RDMA ports sit on: what decides over which rail a packet leaves, and which rail
// answers.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "kernel/netlink/addressing.h"

namespace fabric {

// One setting of net.ipv4.conf, of all interfaces and of this one; the greater of the two counts for those below
// (Documentation/networking/ip-sysctl.rst).
struct ConfValue {
  std::optional<unsigned> all{}, own{};
  [[nodiscard]] std::optional<unsigned> effective() const;
  bool operator==(const ConfValue&) const = default;
};

struct Interface {
  int ifindex = 0;
  std::optional<std::vector<Address>> addresses{};  // absent: not known (a captured tree without netlink)
  std::vector<Route> routes{};                      // that leave by it, of all tables but "local"
  std::vector<IpNeighbor> gateways{};               // of those routes, as far as the kernel has an entry for them
  ConfValue arp_ignore{}, arp_announce{}, arp_filter{}, rp_filter{};
  std::optional<bool> ipv6_disabled{};
  std::string vrf{};                         // that it is in; empty: none
  uint32_t vrf_table = 0;                    // and the table that is the VRF's main one; 0: unknown
  std::optional<uint32_t> peer_max_frame{};  // largest frame of the switch port, by LLDP
};

struct Network {
  std::map<std::string, Interface> interfaces;      // by netdev: those of RDMA ports, and those that their GIDs name
  std::optional<std::vector<RoutingRule>> rules{};  // that name a table for a source or a device; absent: not known
  std::set<uint32_t> tables{};                      // in use
};

}  // namespace fabric
