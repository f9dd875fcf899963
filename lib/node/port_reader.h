// SPDX-License-Identifier: Apache-2.0
// The steps of one port's scan. Each fills its own members of Port and names in Port::unread what it could not read, as
// "SUBJECT: file or request: reason (ERRNO)".
#pragma once

#include "kernel/kernel.h"
#include "kernel/pci/pci.h"
#include "kernel/rdma/nldev.h"
#include "kernel/rdma/verbs.h"
#include "node/scan.h"

namespace fabric::scanning {

// What all ports of a scan share.
struct Context {
  Kernel& kernel;
  const ScanOptions& options;
  std::map<std::string, nldev::Device> netlink;   // by name; empty without RDMA netlink
  std::map<std::string, verbs::Device> by_verbs;  // by name; devices that libibverbs could not open are missing
  pci::CpuNodes cpu_nodes;
  std::vector<std::string>& unseen;  // Node::unseen

  [[nodiscard]] const nldev::Device* device(const std::string& name) const;
  [[nodiscard]] const verbs::PortAttributes* attributes(const Port& port) const;  // null: not known by libibverbs
  void note_unseen(const std::string& what);                                      // once
};

// The file's line. A missing file is silently absent; any other failure is noted under `subject`.
std::optional<std::string> read_noted(const Root& root, const std::string& file, const char* subject, Port& port);
void note(Port& port, const char* subject, const Error& failure);

// The driver of the function in `folder`, "mlx5_core"; its ids, "15b3:1021". Empty when unknown.
std::string driver_of(const Root& root, const std::string& folder);
std::string pci_id_of(const Root& root, const std::string& folder);

// Hardware and names: pci, pci_id, kernel_driver, driver, firmware, board_id, hca_type, numa, role, link_layer.
void read_identity(const Context& context, Port& port);
// state, phys_state, netdev, bond, ifindex, carrier, speed, rate, active_mtu, counters.carrier_down, role.
void read_link(Context& context, Port& port);
// Port::card, from card_address or the serial number.
void read_card(Context& context, Port& port);
void tell_cards_apart(std::vector<Port>& ports);
// The serial number in a function's vital product data; empty: none.
std::string vpd_serial(std::string_view vpd);
// The members of the bond on which the port's device sits, each as a port of its own; none where it sits on no bond.
std::vector<Port> bond_members(Context& context, const Port& bond);
// Addresses, routes, ARP settings of the netdevs of these ports and of their GIDs.
void read_network(Context& context, const std::vector<Port>& ports, Network& network);
// Who is at the other end of the cables of node.ports; the largest frame they take, into node.network.
void read_neighbors(Context& context, Node& node);
// qos and limits.
void read_settings(Context& context, Port& port);
void read_gids(const Context& context, Port& port);
// If asked for: counters, link_status, fec, resources, reporters.
void read_counters(Context& context, Port& port);

}  // namespace fabric::scanning
