// SPDX-License-Identifier: Apache-2.0
// The steps of one port's scan. Each fills its own members of Port, and adds a line to Port::unread for each subject
// that it could not read: "SUBJECT: file or request: reason (ERRNO)".
#pragma once

#include "kernel/kernel.h"
#include "kernel/pci/pci.h"
#include "kernel/rdma/nldev.h"
#include "kernel/rdma/verbs.h"
#include "node/scan.h"
#include "node/vnic_state.h"

namespace fabric::scanning {

// The data that all ports of a scan share.
struct Context {
  Kernel& kernel;
  const ScanOptions& options;
  std::map<std::string, nldev::Device> netlink;  // by name; empty without RDMA netlink
  std::map<std::string, verbs::DeviceAttributes>
      by_verbs;  // by name; devices that libibverbs could not open are missing
  pci::CpuNodes cpu_nodes;
  std::vector<std::string>& unseen;  // Node::unseen
  // The file of fabric-agentd, once a port needs it.
  std::optional<Result<std::optional<state::Vnic>>> vnic{};

  [[nodiscard]] const nldev::Device* device(const std::string& name) const;
  [[nodiscard]] const verbs::PortAttributes* attributes(const Port& port) const;  // null: unknown to libibverbs
  void note_unseen(const std::string& what);                                      // unless it is noted already
};

// The ids of the function in `folder`, "15b3:1021". Empty: unknown.
std::string pci_id_of(const Root& root, const std::string& folder);

// Adds a part of the port that could not be read to Port::unread.
void note_unread(Port& port, PortPart part, std::string_view subject, const Error& failure);

// Fills the hardware and names: pci, pci_id, kernel_driver, driver, firmware, board_id, hca_type, numa, link_layer,
// and role as far as the device shows it.
void read_identity(const Context& context, Port& port);
// Fills state, phys_state, netdev, bond, ifindex, carrier, speed, rate, active_mtu, counters.carrier_down, role.
void read_link(Context& context, Port& port);
// Fills Port::card from card_address or the serial number.
void read_card(Context& context, Port& port);
// Makes Port::card unique: a card in two slots (socket direct) has one serial number, and a bond is on the function of
// a member. Ports that share Port::card get their card_address.
void make_cards_unique(std::vector<Port>& ports);
// The serial number in a function's vital product data; empty: none.
std::string vpd_serial(std::string_view vpd);
// The members of the bond that the port's device sits on, each as a port of its own. Empty: the port is not a bond.
std::vector<Port> bond_members(Context& context, const Port& bond);
// Fills qos and capacity.
void read_settings(Context& context, Port& port);
void read_gids(const Context& context, Port& port);
// If requested, fills counters, link_status, fec, resources, reporters.
void read_counters(Context& context, Port& port);

}  // namespace fabric::scanning
