// SPDX-License-Identifier: Apache-2.0
// The addresses of a port, and the netdevs that have them.
#pragma once

#include "judge/view.h"

namespace fabric {

// The netdevs with addresses of a port: its own, those that its GIDs name (VLANs) and the bond above, if they were
// read.
struct NamedInterface {
  std::string netdev;
  const Interface* interface = nullptr;
};
std::vector<NamedInterface> interfaces_of(const Node& node, const Port& port);

// Global addresses of all netdevs of the port. nullopt: unknown.
struct PortAddress {
  std::string netdev;
  Address address;
};
std::optional<std::vector<PortAddress>> addresses_of(const Node& node, const Port& port);

// nullopt: unknown.
std::optional<bool> ipv6_disabled(const View& view, const Port& port);

// The netdev in the name of a variable of sysctl(8): a dot in a name is written as a slash.
std::string name_in_sysctl(std::string netdev);

// Whether the port is the machine's front end: the default route leaves by one of its netdevs. Tables of rules (those
// of a rail) do not count. Before a write, default_route_of() (node/netdev_use.h) asks the kernel, and counts more
// devices and tables.
bool is_front_end(const Node& node, const Port& port);
bool is_front_end(const Interface& interface);

// The default routing table, or in a VRF the table of the VRF.
uint32_t main_table(const Interface& interface);

// Text if none of the port's gateways answers, or empty.
std::string silent_gateway(const Node& node, const Port& port);

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

}  // namespace fabric
