// SPDX-License-Identifier: Apache-2.0
#include "topology/inventory.h"

#include "node/port.h"
#include "topology/built.h"

namespace fabric {

Inventory inventory_of(const Node& node, const Inventory* before) {
  Inventory out{.parts = inventory_parts(node.topology)};
  if (before != nullptr) {
    out.accepted = before->accepted;
    out.odd = before->odd;
  }
  std::map<size_t, const InventoryPart*> old;  // index in out.parts -> the part in `before`
  if (before != nullptr)
    for (const auto& [was, is] : match_parts(*before, out.parts)) old.emplace(is, &before->parts[was]);

  bool all_up = true;  // every port that was up is up
  for (size_t i = 0; i < out.parts.size(); ++i) {
    InventoryPart& part = out.parts[i];
    const InventoryPart* was = old.contains(i) ? old.at(i) : nullptr;
    if (part.gpu) {
      const auto* function = find_in(node.platform.functions, part.pci);
      if (function != nullptr && !is_given_away(*function)) part.driver = function->kernel_driver;
      if (was != nullptr && part.driver.empty()) part.driver = was->driver;
      continue;
    }
    for (const Port& port : node.ports) {
      if (port.pci != part.pci || !is_active(port) || port.is_member()) continue;
      part.up.push_back(port.id());
      if (is_judged(port) && port.rate) part.rates[std::to_string(port.number)] = *port.rate;
    }
    if (was != nullptr) {
      const Nic* nic = nic_at(node.topology, part.pci);
      const bool is_elsewhere = nic != nullptr && nic->rdma_elsewhere;
      if (is_elsewhere) part.rdma = was->rdma;
      for (const std::string& port : was->up)
        if (!contains(part.up, port)) {
          part.up.push_back(port);
          all_up = all_up && is_elsewhere;
        }
      for (const auto& [port, rate] : was->rates) part.rates[port] = std::max(part.rates[port], rate);
      if (!was->direct.empty() && part.direct.empty()) part.direct = was->direct;
    }
    std::ranges::sort(part.up);
  }

  const Built built = built_of(node.topology, node.ports, all_up ? nullptr : before);
  const Pairing& pairing = built.present_pairing;
  for (size_t gpu = 0; gpu < node.topology.gpus.size(); ++gpu)  // GPUs are the first parts, in their order
    for (const size_t nic : pairing.pairs[gpu].nics) out.parts[gpu].nics.push_back(node.topology.nics[nic].pci);
  std::set<std::string> compute;
  for (const size_t nic : built.present_compute()) compute.insert(node.topology.nics[nic].pci);
  for (InventoryPart& part : out.parts) part.compute = !part.gpu && compute.contains(part.pci);
  return out;
}

}  // namespace fabric
