// SPDX-License-Identifier: Apache-2.0
#include "node/endpoints.h"

#include <algorithm>

#include "base/find.h"

namespace fabric {
namespace {

bool is_function_of(const Port& function, const Port& port) {
  if (port.pci.empty()) return false;
  if (function.role == PortRole::virtual_function)  // a bond's device is that of all functions of the NIC
    return function.owner == port.pci || (port.role == PortRole::bond && card_of(function.owner) == card_of(port.pci));
  return function.role == PortRole::subfunction && function.pci == port.pci;
}

// The wire's port of an E-Switch in switchdev mode, without GIDs of its own.
bool is_bare_uplink(const Port& port) { return port.switchdev && is_judged(port) && !is_endpoint(port); }

}  // namespace

std::vector<const Port*> functions_of(const Node& node, const Port& port) {
  std::vector<const Port*> out;
  for (const Port& each : node.ports)
    if (is_function_of(each, port)) out.push_back(&each);
  return out;
}

const Port* physical_of(const Node& node, const Port& function) {
  return find_where(node.ports, [&](const Port& each) { return is_judged(each) && is_function_of(function, each); });
}

bool serves_jobs(const Node& node, const Port& port) {
  if (!is_endpoint(port)) return false;
  if (!is_virtual(port) || port.role == PortRole::guest_function) return true;
  return std::ranges::any_of(node.ports,
                             [&](const Port& each) { return is_bare_uplink(each) && is_function_of(port, each); });
}

std::vector<const Port*> endpoints_of(const Node& node, const Nic& nic) {
  std::vector<const Port*> own, behind, others;
  for (const Port& port : node.ports) {
    if (!contains(nic.rdma, port.rdma)) continue;
    if (is_endpoint(port)) (is_virtual(port) ? others : own).push_back(&port);
    if (is_bare_uplink(port))
      for (const Port* function : functions_of(node, port))
        if (!contains(behind, function)) behind.push_back(function);
  }
  if (!own.empty()) return own;
  if (!behind.empty()) return behind;
  return others;
}

}  // namespace fabric
