// SPDX-License-Identifier: Apache-2.0
// The users of a netdev besides RDMA: the machine's default route, its TCP sessions, guests and containers behind a
// bridge; also through a device above it (bond, team, bridge, VLAN, VRF, vxlan, geneve, Open vSwitch, macvlan, ipvlan),
// and over a virtual function or subfunction on the same link.
#pragma once

#include "kernel/kernel.h"
#include "node/port.h"

namespace fabric {

// Why the port carries the machine's default route: "the default route leaves by br0, on the link of eth0". Any table
// counts, IPv4 and IPv6, except a table that the routing rules limit to sources or devices of this port (a rail of its
// own). Empty: it does not. A failure to read counts as a default route.
std::string default_route_of(Kernel& kernel, const Port& port);

// Another user of the port's netdev: "a TCP session of this host (10.0.0.1) uses eth0"; empty: none. Sessions of other
// network namespaces cannot be seen: a device of theirs above the netdev that has a carrier counts as a user. A failure
// to read counts as a user. A captured tree has no sessions.
std::string sessions_over(Kernel& kernel, const Port& port);

// Whether a VLAN is above the netdev, or above a bond or bridge that it is in: its packets have a priority in their
// tag. `depth`: so many devices above each other are followed.
bool has_vlan(const Root& root, const std::string& netdev, unsigned depth = 4);

}  // namespace fabric
