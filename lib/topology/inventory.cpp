// SPDX-License-Identifier: Apache-2.0
#include "topology/inventory.h"

#include <cstdio>

#include "base/parse.h"
#include "model/finding.h"
#include "topology/pairing.h"

namespace fabric {
namespace {

InventoryPart part_of(const PciDevice& device, const std::string& name, bool gpu) {
  return {.gpu = gpu,
          .pci = device.pci,
          .name = name,
          .vendor = device.vendor,
          .device = device.device,
          .numa = device.numa_assumed ? std::nullopt : device.numa,
          .root = device.root,
          .bridges = device.bridges,
          .width = device.link.width,
          .speed = gpu ? std::nullopt : device.link.speed};
}

void add_ports(const Node& node, const Inventory* before, const Nic& nic, InventoryPart& part) {
  part.rdma = nic.rdma;
  for (const Port& port : node.ports)
    if (port.pci == nic.pci && port.state == kPortActive && !port.is_member()) part.up.push_back(port.id());
  const InventoryPart* old = before == nullptr ? nullptr : before->find(nic.pci);
  for (size_t i = 0; old != nullptr && i < old->up.size(); ++i)
    if (!contains(part.up, old->up[i])) part.up.push_back(old->up[i]);
  std::ranges::sort(part.up);
}

std::string link_text(const std::optional<unsigned>& width, const std::optional<double>& speed) {
  std::string out = width ? "x" + std::to_string(*width) : "x?";
  return speed ? out + " at " + number_text(*speed) + " GT/s" : out;
}

void compare(const InventoryPart& was, const InventoryPart& is, std::vector<InventoryChange>& out) {
  using Kind = InventoryChange::Kind;
  const auto add = [&](Kind kind, std::string before, std::string now) {
    out.push_back({kind, was.pci, was.name, std::move(before), std::move(now), was.gpu});
  };
  if (was.vendor != is.vendor || was.device != is.device)
    return add(Kind::replaced, ids_text(was.vendor, was.device), ids_text(is.vendor, is.device));
  // RDMA devices are renamed; one of several that is gone is a loss.
  if (is.rdma.size() < was.rdma.size()) add(Kind::rdma, joined(was.rdma), is.rdma.empty() ? "none" : joined(is.rdma));
  if (was.numa && is.numa && was.numa != is.numa) add(Kind::numa, std::to_string(*was.numa), std::to_string(*is.numa));
  const bool narrow = is.width && was.width && *is.width < *was.width;
  const bool slow = is.speed && was.speed && *is.speed < *was.speed;
  if (narrow || slow) add(Kind::link, link_text(was.width, was.speed), link_text(is.width, is.speed));
}

bool is_there(const Topology& now, const InventoryPart& part) {
  return part.gpu ? contains(now.gpus, part.pci, &Gpu::pci) : contains(now.nics, part.pci, &Nic::pci);
}

}  // namespace

std::string ids_text(uint16_t vendor, uint16_t device) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x:%04x", vendor, device);
  return text;
}

Inventory inventory_of(const Node& node, const Inventory* before) {
  Inventory out;
  const Topology& topology = node.topology;
  const Pairing pairing = built_pairing(topology, node.ports);
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    out.parts.push_back(part_of(topology.gpus[gpu], topology.gpus[gpu].name, true));
    for (const size_t nic : pairing.pairs[gpu].nics) out.parts.back().nics.push_back(topology.nics[nic].pci);
  }
  for (const Nic& nic : topology.nics) {
    if (nic.virtual_function || nic.pci.empty()) continue;
    out.parts.push_back(part_of(nic, nic.name, false));
    add_ports(node, before, nic, out.parts.back());
  }
  return out;
}

std::vector<InventoryChange> changes_since(const Inventory& inventory, const Topology& now) {
  std::vector<InventoryChange> out;
  const auto compare_with = [&](const PciDevice& device, const std::string& name, bool gpu,
                                const std::vector<std::string>& rdma) {
    InventoryPart is = part_of(device, name, gpu);
    is.rdma = rdma;
    const auto was = std::ranges::find_if(
        inventory.parts, [&](const InventoryPart& part) { return part.pci == device.pci && part.gpu == gpu; });
    if (was != inventory.parts.end()) compare(*was, is, out);
    else
      out.push_back({InventoryChange::Kind::added, device.pci, name, "", ids_text(device.vendor, device.device), gpu});
  };
  for (const InventoryPart& part : inventory.parts)
    if (!is_there(now, part))
      out.push_back(
          {InventoryChange::Kind::gone, part.pci, part.name, ids_text(part.vendor, part.device), "", part.gpu});
  for (const Gpu& gpu : now.gpus) compare_with(gpu, gpu.name, true, {});
  for (const Nic& nic : now.nics)
    if (!nic.virtual_function && !nic.pci.empty()) compare_with(nic, nic.name, false, nic.rdma);
  return out;
}

std::vector<Nic> gone_nics(const Inventory& inventory, const Topology& now) {
  std::vector<Nic> out;
  for (const InventoryPart& part : inventory.parts) {
    if (part.gpu || is_there(now, part)) continue;
    const PciDevice place{.pci = part.pci,
                          .vendor = part.vendor,
                          .device = part.device,
                          .numa = part.numa,
                          .bridges = part.bridges,
                          .root = part.root,
                          .link = {}};
    out.push_back({place, {}, part.rdma, part.name});
  }
  return out;
}

std::string part_text(const InventoryChange& change) {
  return change.name == change.pci || change.name.empty() ? change.pci : change.name + " (" + change.pci + ")";
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
