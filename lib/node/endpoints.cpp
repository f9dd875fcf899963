// SPDX-License-Identifier: Apache-2.0
#include "node/endpoints.h"

#include <algorithm>

#include "base/find.h"
#include "base/ip.h"
#include "nic/capabilities.h"

namespace fabric {
namespace {

bool is_function_of(const Port& function, const Port& port) {
  if (port.pci.empty()) return false;
  if (function.role == PortRole::virtual_function)  // a bond's device is that of all functions of the NIC
    return function.owner == port.pci || (port.role == PortRole::bond && card_of(function.owner) == card_of(port.pci));
  return function.role == PortRole::subfunction && function.pci == port.pci;
}

// By the class folder of the function: Nic::netdev_elsewhere.
bool is_netdev_elsewhere(const Node& node, const Port& port) {
  const Nic* nic = nic_at(node.topology, port.pci);
  return nic != nullptr && nic->netdev_elsewhere && port.netdev.empty();
}

}  // namespace

bool is_routable_v2(const Gid& gid) { return gid.type == "RoCE v2" && !gid.gid.starts_with("fe80:"); }

bool is_here(const Node& node, const Port& port, const Gid& gid) {
  if (gid.overlay) return false;
  const bool is_port_elsewhere = is_netdev_elsewhere(node, port);
  if (gid.netdev.empty()) return !is_port_elsewhere;
  if (gid.netdev == port.netdev || gid.above) return true;
  const Interface* found = find_in(node.network.interfaces, gid.netdev);
  if (!port.netdev.empty()) {
    const Interface* own = find_in(node.network.interfaces, port.netdev);
    return found == nullptr || own == nullptr || !own->addresses || found->addresses;
  }
  if (found == nullptr) return !is_port_elsewhere;
  // A netdev of that name here may be another one: a container's eth0 is not the host's. Then it has other addresses.
  return !found->addresses ||
         std::ranges::any_of(*found->addresses, [&](const Address& each) { return gid_text(each.ip) == gid.gid; });
}

bool has_address_here(const Node& node, const Port& port) {
  return std::ranges::any_of(port.gids,
                             [&](const Gid& gid) { return is_routable_v2(gid) && is_here(node, port, gid); });
}

bool is_used_function(const Port& port) {
  return port.role == PortRole::virtual_function && is_active(port) && !port.netdev.empty() &&
         std::ranges::any_of(port.gids,
                             [&](const Gid& gid) { return is_routable_v2(gid) && gid.netdev == port.netdev; });
}

bool is_container(const Node& node) {
  if (node.has_container_processes) return true;
  const auto is_own_function = [](const Port& port) {
    return port.role == PortRole::guest_function && !port.owner.empty();
  };
  if (std::ranges::any_of(node.ports, is_own_function)) return true;
  const auto is_away = [&](const Nic& nic) {
    const PlatformFunction* function = find_in(node.platform.functions, nic.pci);
    return nic.netdev_elsewhere || (function != nullptr && is_given_away(*function));
  };
  return std::ranges::any_of(node.topology.nics, &Nic::netdev_elsewhere) &&
         std::ranges::all_of(node.topology.nics, is_away);
}

bool lacks_device_file(const Node& node, const Port& port) {
  return !node.verbs_files.empty() && !node.verbs_files.contains(port.rdma) && is_container(node);
}

bool belongs_elsewhere(const Node& node, const Port& port) {
  if (!is_roce(port)) return lacks_device_file(node, port);
  return is_netdev_elsewhere(node, port) &&
         std::ranges::none_of(port.gids, [&](const Gid& gid) { return is_here(node, port, gid); });
}

std::vector<const Port*> functions_of(const Node& node, const Port& port) {
  std::vector<const Port*> out;
  for (const Port& each : node.ports)
    if (is_function_of(each, port)) out.push_back(&each);
  return out;
}

const Port* physical_of(const Node& node, const Port& function) {
  return find_where(node.ports, [&](const Port& each) { return is_judged(each) && is_function_of(function, each); });
}

bool sends_by_its_netdev(const Node& node, const Port& port) {
  if (port.pci.empty() || capabilities_of(port.kernel_driver).sends_by_other_netdev) return true;
  const Nic* holder =
      find_where(node.topology.nics, [&](const Nic& nic) { return contains(nic.netdevs, port.netdev); });
  if (holder == nullptr || card_of(holder->pci) == card_of(port.pci)) return true;
  const Nic* own = nic_at(node.topology, port.pci);
  return own != nullptr && !own->card.empty() && own->card == holder->card;
}

bool serves_jobs(const Node& node, const Port& port) {
  if (!is_endpoint(port) || belongs_elsewhere(node, port)) return false;
  if (!is_virtual(port) || port.role == PortRole::guest_function || has_address_here(node, port)) return true;
  return std::ranges::any_of(node.ports,
                             [&](const Port& each) { return is_bare_uplink(each) && is_function_of(port, each); });
}

NicBoard board_of(const Nic& nic, std::span<const Port> ports) {
  const std::string slot = card_of(nic.pci);
  const Port* port = find_where(ports, [&](const Port& each) {
    const bool is_own = contains(nic.rdma, each.rdma) || (!each.pci.empty() && card_of(each.pci) == slot);
    return is_own && !each.board_id.empty();
  });
  return {model_of(nic), port == nullptr ? std::string_view() : port->board_id};
}

bool is_judged_for_addresses(const Node& node, const Port& port) { return is_judged(port) || serves_jobs(node, port); }

std::vector<const Port*> endpoints_of(const Node& node, const Nic& nic) {
  std::vector<const Port*> own, behind, others, elsewhere;
  for (const Port& port : node.ports) {
    if (port.role == PortRole::guest_function && port.owner == nic.pci && !belongs_elsewhere(node, port))
      behind.push_back(&port);
    if (!contains(nic.rdma, port.rdma)) continue;
    if (is_endpoint(port) && belongs_elsewhere(node, port)) elsewhere.push_back(&port);
    else if (is_endpoint(port)) (is_virtual(port) ? others : own).push_back(&port);
    if (is_bare_uplink(port))
      for (const Port* function : functions_of(node, port))
        if (!contains(behind, function)) behind.push_back(function);
  }
  // The host has given its addresses to virtual functions instead.
  const auto has_no_address = [&](const Port* port) {
    return is_roce(*port) && is_active(*port) && !is_unread(*port, PortPart::gids) && !has_address_here(node, *port);
  };
  if (!own.empty() && std::ranges::all_of(own, has_no_address)) {
    std::vector<const Port*> used;
    for (const Port* port : own)
      for (const Port* function : functions_of(node, *port))
        if (is_used_function(*function)) used.push_back(function);
    if (!used.empty()) return used;
  }
  if (!own.empty()) return own;
  if (!behind.empty()) return behind;
  if (!others.empty()) return others;
  return elsewhere;
}

}  // namespace fabric
