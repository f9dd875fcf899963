// SPDX-License-Identifier: Apache-2.0
// IP addressing of the netdevs that RDMA ports sit on: it decides over which rail a packet leaves, and which rail
// answers.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "kernel/netlink/addressing.h"
#include "kernel/rdma/infiniband.h"
#include "node/functions.h"

namespace fabric {

struct Kernel;
struct Node;
struct Port;

// A setting of net.ipv4.conf for all interfaces and for this one; for the settings of Interface the greater of the two
// applies (Documentation/networking/ip-sysctl.rst).
struct ConfValue {
  std::optional<unsigned> all{}, own{};
  [[nodiscard]] std::optional<unsigned> effective() const;
  bool operator==(const ConfValue&) const = default;
};

struct Interface {
  int ifindex = 0;
  std::optional<uint32_t> mtu{};
  std::optional<std::vector<Address>> addresses{};  // absent: not known (a captured tree without netlink)
  std::vector<Route> routes{};                      // by this interface, of all tables except "local"
  std::vector<IpNeighbor> gateways{};               // of those routes, if the kernel has a neighbor entry for them
  ConfValue arp_ignore{}, arp_announce{}, arp_filter{}, rp_filter{};
  std::optional<bool> ipv6_disabled{};
  // Its own MAC address, "b8:3f:d2:00:00:01"; empty: unknown, or that of the bond, team or bridge above it.
  std::string mac{};
  std::string vrf{};                         // the VRF of the interface; empty: none
  uint32_t vrf_table = 0;                    // the VRF's main table; 0: unknown
  std::optional<uint32_t> peer_max_frame{};  // largest frame of the switch port, by LLDP
};

struct Network {
  std::map<std::string, Interface> interfaces;  // by netdev: of RDMA ports and of their GIDs
  // Rules that name a table for a source or a device, or another table than the kernel's for all or some destinations;
  // absent: not known.
  std::optional<std::vector<RoutingRule>> rules{};
  std::set<uint32_t> tables{};  // in use; empty: the routes are not known
  // The P_Keys of InfiniBand ports, by port id: the first places of the table that the subnet manager fills; 0: an
  // empty place.
  std::map<std::string, std::vector<uint16_t>> pkeys{};
  std::map<std::string, infiniband::Lids> lids{};  // of InfiniBand ports, by port id
  PhysicalFunctions physical_functions{};
};

// Whether a route to this prefix is the default route, or one of its parts: 0.0.0.0/1 and 128.0.0.0/1; 2000::/3, all
// global addresses.
bool is_default(const Ip& destination, unsigned prefix);

namespace scanning {

struct Context;

// Addresses, routes, ARP settings of the netdevs of these ports and of their GIDs, the P_Keys and LIDs of the ports,
// and the limits of their virtual functions. If a read fails for one port, its Port::unread says so.
void read_network(Context& context, std::vector<Port>& ports, Network& network);
// Fills Node::neighbors, the other ends of the cables of node.ports, and their largest frame in node.network.
void read_neighbors(Context& context, Node& node);

// Fills Node::network and Node::neighbors for the netdevs that node.ports and their GIDs name, without opening an RDMA
// device. Failures are named in node.unseen or Port::unread.
void read_network(Kernel& kernel, Node& node);

}  // namespace scanning

}  // namespace fabric
