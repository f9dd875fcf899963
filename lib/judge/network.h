// SPDX-License-Identifier: Apache-2.0
// Rails: the RoCE ports for collectives of the GPUs, and their addresses.
#pragma once

#include "judge/view.h"

namespace fabric {

// Active RoCE ports with a netdev that serve jobs and a GPU (serves_gpu()), in the order of the node. View::rails, or
// computed if it is absent.
std::shared_ptr<const std::vector<const Port*>> rails(const View& view);

// Bytes of a frame beside its payload: the Ethernet header. The Maximum Frame Size of LLDP (802.3bc clause 79.3.4)
// counts it and the FCS, but Junos announces 1514 if its port accepts 1500, and Cumulus Linux and NX-OS announce the
// MTU itself.
inline constexpr uint32_t kFrameHeader = 14;

// The largest frame that the switch announces by LLDP; of a bond the smallest of its members' switch ports.
std::optional<uint32_t> switch_frame(const Node& node, const Port& port);

// The netdevs with addresses of a port: its own, those that its GIDs name (VLANs) and the bond above, if they were
// read.
struct NamedInterface {
  std::string netdev;
  const Interface* interface = nullptr;
};
std::vector<NamedInterface> interfaces_of(const Node& node, const Port& port);

// Whether the port is the machine's front end: the default route leaves by one of its netdevs. Tables of rules (those
// of a rail) do not count. Before a write, default_route_of() (node/netdev_use.h) asks the kernel, and counts more
// devices and tables.
bool is_front_end(const Node& node, const Port& port);
bool is_front_end(const Interface& interface);

// The faults that the check `rails` found in the port's subnet; empty: none, or the port shares no subnet.
std::string rails_fault(const View& view, const Port& port);

// True if most equal rails have an address and this port has none. `address` reports it, `gid` does not.
bool lacks_address(const View& view, const Port& port);

// " IPv6 is disabled on net1 ..." for a port without an address; empty: IPv6 is enabled, or its state is unknown.
// `fix`: the command that enables IPv6.
struct Ipv6Note {
  std::string meaning{}, fix{};
};
Ipv6Note note_on_ipv6(const View& view, const Port& port);

// The program that gives the port its addresses: "On Oracle Cloud, ... "; in a pod, that of the pod's network. Empty:
// unknown.
std::string source_of_addresses(const Node& node, const Port& port);
// The command that gives the port an address: "Configure an IP address: ip address add ..."; where a program has to do
// it (source_of_addresses()), "By hand: ...".
std::string give_address(const Node& node, const Port& port, const std::string& what);

bool is_ipv4(const Gid& gid);
// The GID belongs to the port's netdev or a VLAN of it ("ens1.100", "vlan100"), not to a macvlan, which containers
// create and remove.
bool is_own_gid(const View& view, const Port& port, const Gid& gid);
// The indices of the routable RoCE v2 GIDs of the family; both ends of a connection use the same family.
std::set<unsigned> gid_indices(const Node& node, const Port& port, bool ipv4);

// "mlx5_0/1, mlx5_1/1 and mlx5_2/1"
std::string listed(const std::vector<std::string>& names);

// The virtual function or subfunction of the port, seen here, that has the largest MTU above that of the port. Null:
// none has.
const Port* function_above_mtu(const Node& node, const Port& port);

}  // namespace fabric
