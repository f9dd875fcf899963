// SPDX-License-Identifier: Apache-2.0
// The ports of a NIC: its board, and the endpoints of RDMA connections. If the physical function of a NIC has no
// endpoint, its endpoints are behind the uplink of an E-Switch in switchdev mode.
#pragma once

#include <span>

#include "node/node.h"

namespace fabric {

// The virtual functions and subfunctions of the port's function that have an RDMA device here.
std::vector<const Port*> functions_of(const Node& node, const Port& port);
// The port with the wire of a virtual function or a subfunction. Null: it is not here, or the port is neither.
const Port* physical_of(const Node& node, const Port& function);

bool is_routable_v2(const Gid& gid);
// Whether programs of this network namespace can use the GID: its netdev is here. In the shared mode of RDMA (rdma
// system; the default) every namespace sees all devices and their GID tables, with the netdevs' names alone
// (show_gid_attr() and _show_port_gid_attr_ndev() in drivers/infiniband/core/sysfs.c, Linux 6.12). A macvlan or ipvlan
// above the netdev of another namespace is here. True if nothing shows where it is. False for a tunnel (Gid::overlay).
bool is_here(const Node& node, const Port& port, const Gid& gid);
// Whether the port has a routable GID that is here: of its own netdev, or of one above it (macvlan).
bool has_address_here(const Node& node, const Port& port);
// Whether this host itself uses the virtual function: it is ACTIVE, with a routable GID of its own netdev. One that
// waits for a guest or a pod has link-local GIDs alone.
bool is_used_function(const Port& port);
// Whether this is a container: /proc shows its processes; or it has virtual functions of its own, and their physical
// functions are the host's; or no NIC has its netdev here, while on the host at least the one for management has.
bool is_container(const Node& node);
// Whether no program of this container can open the device, while it can others: /sys shows a container the devices of
// the whole host, and /dev/infiniband has the files of those that it was given. False if no file could be seen.
bool lacks_device_file(const Node& node, const Port& port);
// Whether a container or the host has the port: of RoCE, its netdev and those of all its GIDs are in other network
// namespaces; of InfiniBand and EFA, which need no netdev, its device file is not in this container.
bool belongs_elsewhere(const Node& node, const Port& port);

// Whether the packets of the RDMA device leave by the netdev that its GIDs name, so that the MTU of this netdev is the
// device's. False if the netdev is of another card, unless the driver is known to send by it: a driver may name any
// netdev for the addresses of its GIDs, and send over a cable of its own (verbs over USB4).
bool sends_by_its_netdev(const Node& node, const Port& port);

// Whether jobs on this machine are expected to use the port, so that its GIDs, MTU and state must be in order: all
// endpoints but the virtual functions and subfunctions of a host, which may be waiting for a guest or a pod. Such a
// function counts if the uplink of its E-Switch is no endpoint, or if it has a routable RoCE v2 GID here. No port
// counts that belongs to another network namespace.
bool serves_jobs(const Node& node, const Port& port);

// The board of a NIC: cards of one board have the same number of ports, and reach the same rate.
struct NicBoard {
  PciModel model{};
  std::string_view id{};  // board id of a port of the card; empty: unknown, as with bnxt_re, irdma and ionic
  auto operator<=>(const NicBoard&) const = default;
};
// `ports` must outlive the result.
NicBoard board_of(const Nic& nic, std::span<const Port> ports);

// Whether the port's addresses and MTU are judged: of every port with a wire, also the uplink of an E-Switch in
// switchdev mode, which may have an address of its host, and of those that serve jobs.
bool is_judged_for_addresses(const Node& node, const Port& port);

// The ports by which jobs use the NIC: its own endpoints, or the virtual functions that have addresses if those have
// none; if it has no endpoint here, the functions behind its uplink, and in a pod those of its virtual functions that
// are the pod's.
std::vector<const Port*> endpoints_of(const Node& node, const Nic& nic);

}  // namespace fabric
