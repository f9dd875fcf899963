// SPDX-License-Identifier: Apache-2.0
#include "checks/cabling/peer.h"

#include "nic/capabilities.h"

namespace fabric {
bool has_cable(const Port& port) {
  return !port.virtual_function && port.link_layer != LinkLayer::infiniband && !port.netdev.empty() &&
         port.bond != port.netdev;
}

std::vector<const Neighbor*> named_neighbors(const Node& node, const Port& port) {
  std::vector<const Neighbor*> out;
  for (const Neighbor& each : node.neighbors.heard)
    if (each.netdev == port.netdev && !each.chassis_id.empty()) out.push_back(&each);
  return out;
}

const Neighbor* switch_of(const Node& node, const Policy* policy, const Port& port) {
  const auto named = named_neighbors(node, port);
  const auto cables = planned_cables(policy, port);
  const auto rank = [&](const Neighbor* each) {
    const bool planned = std::ranges::any_of(cables, [&](const Cable* cable) { return is_device(*each, cable->peer); });
    return std::tuple(!planned, each->system_name.empty(), each->system(), each->port());
  };
  return named.empty() ? nullptr : *std::ranges::min_element(named, {}, rank);
}

std::vector<const Cable*> planned_cables(const Policy* policy, const Port& port) {
  std::vector<const Cable*> out;
  if (policy == nullptr) return out;
  for (const Cable& cable : policy->cabling.cables) {
    const std::string* renamed = find_in(policy->cabling.ports, cable.port);
    const std::string& name = renamed != nullptr ? *renamed : cable.port;
    const auto is_it = [&](const std::string& other) { return same_port(name, other); };
    if (is_it(port.netdev) || is_it(port.rdma) || name == port.id() || name == port.pci ||
        std::ranges::any_of(port.altnames, is_it))
      out.push_back(&cable);
  }
  return out;
}

// DCBX in the firmware is a part of its LLDP agent.
std::string lldp_agent_off(const Port& port) {
  if (port.qos.fw_lldp.value_or(port.qos.dcbx == Dcbx::firmware) == false) return {};
  std::string text(capabilities_of(port.kernel_driver).lldp_agent_off);
  for (const auto& [word, name] : {std::pair("NETDEV", &port.netdev), std::pair("ADDRESS", &port.pci)})
    for (size_t at = 0; (at = text.find(word)) != std::string::npos;)
      text.replace(at, std::string_view(word).size(), *name);
  return text;
}

std::string peer_text(const Neighbor& neighbor) { return neighbor.system() + " " + neighbor.port(); }
std::string peer_text(const CableEnd& end) { return end.device + " " + end.port; }
std::string peer_name(const Neighbor& neighbor) {
  return neighbor.chassis_id.empty() ? "the other end" : peer_text(neighbor);
}

}  // namespace fabric
