// SPDX-License-Identifier: Apache-2.0
// The users of a netdev besides RDMA: the machine's default route, its TCP sessions, guests and containers behind a
// bridge; also through a device above it (bond, team, bridge, VLAN, VRF, vxlan, geneve, Open vSwitch, macvlan, ipvlan),
// and over a virtual function, subfunction or partition (NPAR) on the same link.
#pragma once

#include "kernel/kernel.h"
#include "node/port.h"

namespace fabric {

// Whether the port carries the machine's default route.
struct DefaultRoute {
  std::string why{};        // "the default route leaves by br0, on the link of eth0"; empty: it does not
  bool is_unknown = false;  // a read failed, as `why` says: the port may carry it
  explicit operator bool() const { return !why.empty(); }
};
// Any table counts, IPv4 and IPv6, except a table that the routing rules limit to sources or devices of this port (a
// rail of its own).
DefaultRoute default_route_of(Kernel& kernel, const Port& port);

struct NetdevUse {
  enum class User : uint8_t { none, session, default_route, forwarding };
  User user = User::none;
  std::string why{};               // for people; empty: no user
  bool has_default_route = false;  // also if another user comes first
};

// The first user of the port's netdev, in this order:
// - a session: "a TCP session of this host (10.0.0.1) uses eth0", or a guest or container behind a bridge, or a guest
//   with a macvtap or ipvtap. Sessions of
//   other network namespaces cannot be seen: a device of theirs above the netdev that has a carrier counts as a user. A
//   captured tree has no sessions.
// - the default route, as default_route_of() defines it,
// - forwarding: containers or guests may send packets over the port although no device of theirs is above it. Calico,
//   Cilium and the VPC CNIs route the packets of a veth instead of bridging them. Nothing shows their sessions to the
//   host, so this is decided by what the host would forward.
// A failure to read counts as a user.
//
// The conditions for forwarding, all of which must be the case:
// - IP forwarding is on for the interface that the route leaves by, because the answers arrive there
//   (ip_route_input_slow(), IN_DEV_FORWARD; IPv6 has one switch for all interfaces and, since Linux 6.17,
//   force_forwarding for one, ip6_forward()). A machine with docker or Kubernetes has it on everywhere, so this alone
//   proves nothing.
// - A device outside the port's own stack leads to a container or guest, and has a carrier: a veth or netkit whose
//   other end is in another network namespace, or a tap; also if it is in a bridge of its own (docker0).
// - A route over the port leads beyond its own prefixes, in a table that packets of others can use. So a rail that has
//   its connected prefix, and a table for packets from its own address, is not used. The default route is left out.
// Whether a container really sends there cannot be determined, so that the port counts as used. Packets that only
// arrive over the port, and leave by another one, are not noticed.
NetdevUse use_of_netdev(Kernel& kernel, const Port& port);

// The PCI functions that, or whose virtual functions and subfunctions, send over the port's link: its own; the others
// of the same physical port, as far as the drivers tell (NPAR, Socket Direct); with RoCE LAG those of all members of
// the bond, because the packets of such a function leave by any of them (VF LAG).
Result<std::vector<std::string>> functions_on_link(const Root& root, const Port& port);

// Whether packets over the port may have a VLAN tag, and with it a priority: has_vlan(); a virtual function or
// subfunction, whose tags its guest, its container or `ip link set NETDEV vf N vlan V qos Q` decides; a device above
// the netdev in another network namespace. True also if that cannot be determined; without route netlink, which every
// write requires, only the host's own VLANs and the functions count.
bool may_have_tags(Kernel& kernel, const Port& port);

// Whether a VLAN is above the netdev, or above a bond or bridge that it is in: its packets have a priority in their
// tag. `depth`: so many devices above each other are followed.
bool has_vlan(const Root& root, const std::string& netdev, unsigned depth = 4);

}  // namespace fabric
