// SPDX-License-Identifier: Apache-2.0
#include "checks/network/network.h"

#include "checks/topology/pairing.h"
#include "judge/finding.h"

namespace fabric {

std::vector<const Port*> rails(const View& view) {
  std::vector<const Port*> out;
  const std::set<std::string> devices = devices_for_gpus(view);
  for (const Port& port : view.now.ports)
    if (is_judged(port) && is_active(port) && is_roce(port) && !port.netdev.empty() && devices.contains(port.rdma))
      out.push_back(&port);
  return out;
}

std::optional<uint32_t> switch_frame(const Node& node, const Port& port) {
  std::optional<uint32_t> least;
  for (const Port& each : node.ports) {  // the port, or a member
    const bool is_of_it = each.rdma == port.rdma && each.number == port.number;
    const Interface* interface = is_of_it ? find_in(node.network.interfaces, each.netdev) : nullptr;
    if (interface != nullptr && interface->peer_max_frame)
      least = std::min(least.value_or(UINT32_MAX), *interface->peer_max_frame);
  }
  return least;
}

std::vector<NamedInterface> interfaces_of(const Node& node, const Port& port) {
  std::set<std::string> names;
  if (!port.netdev.empty()) names.insert(port.netdev);
  for (const Gid& gid : port.gids)
    if (!gid.netdev.empty()) names.insert(gid.netdev);
  const auto* nic = find_where(node.topology.nics, [&](const Nic& each) { return each.pci == port.pci; });
  if (nic != nullptr && !port.pci.empty()) names.insert(nic->bond);
  std::vector<NamedInterface> out;
  for (const std::string& name : names)
    if (const Interface* found = find_in(node.network.interfaces, name)) out.push_back({name, found});
  return out;
}

std::optional<std::vector<PortAddress>> addresses_of(const Node& node, const Port& port) {
  std::optional<std::vector<PortAddress>> out;
  for (const NamedInterface& each : interfaces_of(node, port)) {
    if (!each.interface->addresses) continue;
    if (!out) out.emplace();
    for (const Address& address : *each.interface->addresses)
      if (address.global && !address.dad_failed) out->push_back({each.netdev, address});
  }
  return out;
}

bool lacks_address(const View& view, const Port& port) {
  const auto is_without = [&](const Port& each) {
    const auto addresses = addresses_of(view.now, each);
    return addresses && addresses->empty();
  };
  if (!is_without(port)) return false;
  size_t twins = 0, without = 0;
  for (const Port* each : rails(view)) {
    if (!are_twins(port, *each)) continue;
    ++twins;
    if (is_without(*each)) ++without;
  }
  // At least two and at least half of them: by design.
  return twins > without && (without == 1 || without * 2 < twins);
}

bool is_ipv4(const Gid& gid) { return gid.gid.starts_with("0000:0000:0000:0000:0000:ffff:"); }
bool is_routable_v2(const Gid& gid) { return gid.type == "RoCE v2" && !gid.gid.starts_with("fe80:"); }

std::set<unsigned> gid_indices(const Port& port, bool ipv4) {
  std::set<unsigned> out;
  for (const Gid& gid : port.gids)
    if (is_routable_v2(gid) && is_ipv4(gid) == ipv4) out.insert(gid.index);
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return out;
}

}  // namespace fabric
