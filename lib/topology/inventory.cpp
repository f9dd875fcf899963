// SPDX-License-Identifier: Apache-2.0
#include "topology/inventory.h"

#include "base/parse.h"
#include "node/port.h"
#include "topology/pairing.h"

namespace fabric {
namespace {

bool is_elsewhere(const Topology& topology, const std::string& pci) {
  return std::ranges::any_of(topology.nics, [&](const Nic& nic) { return nic.pci == pci && nic.rdma_elsewhere; });
}

// Keeps the ports that were up before: their cable may be unplugged, or they may be in a container now.
void add_ports(const Node& node, const InventoryPart* before, InventoryPart& part) {
  for (const Port& port : node.ports)
    if (port.pci == part.pci && is_active(port) && !port.is_member()) part.up.push_back(port.id());
  if (before != nullptr) {
    if (is_elsewhere(node.topology, part.pci)) part.rdma = before->rdma;
    for (const std::string& port : before->up)
      if (!contains(part.up, port)) part.up.push_back(port);
  }
  std::ranges::sort(part.up);
}

const InventoryPart* twin_of(const std::vector<InventoryPart>& parts, const InventoryPart& part) {
  return find_where(parts, [&](const InventoryPart& each) { return each.pci == part.pci && each.gpu == part.gpu; });
}

}  // namespace

Inventory inventory_of(const Node& node, const Inventory* before) {
  Inventory out{.parts = inventory_parts(node.topology)};
  const Pairing pairing = built_pairing(node.topology, node.ports);
  for (size_t i = 0; i < out.parts.size(); ++i)
    if (out.parts[i].gpu)
      for (const size_t nic : pairing.pairs[i].nics) out.parts[i].nics.push_back(node.topology.nics[nic].pci);
    else add_ports(node, before == nullptr ? nullptr : twin_of(before->parts, out.parts[i]), out.parts[i]);
  return out;
}

bool has_lost_nic(const Node& node, const Gpu& gpu) {
  const InventoryPart* part = node.inventory ? node.inventory->find(gpu.pci) : nullptr;
  if (part == nullptr) return false;
  const auto changes = changes_since(*node.inventory, node.topology);
  return std::ranges::any_of(changes, [&](const InventoryChange& change) {
    const bool lost = change.kind == InventoryChange::Kind::gone || change.kind == InventoryChange::Kind::rdma;
    return lost && contains(part->nics, change.pci);
  });
}

}  // namespace fabric
