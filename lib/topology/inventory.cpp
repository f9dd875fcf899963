// SPDX-License-Identifier: Apache-2.0
#include "topology/inventory.h"

#include <cstdio>

#include "base/parse.h"
#include "model/finding.h"
#include "topology/pairing.h"

namespace fabric {
namespace {

// GPUs, then physical NIC functions.
std::vector<InventoryPart> parts_of(const Topology& topology) {
  std::vector<InventoryPart> out;
  const auto add = [&](const PciDevice& device, const std::string& name, bool gpu,
                       const std::vector<std::string>& rdma) {
    out.push_back({.gpu = gpu,
                   .pci = device.pci,
                   .name = name,
                   .vendor = device.vendor,
                   .device = device.device,
                   .numa = device.numa_assumed ? std::nullopt : device.numa,
                   .root = device.root,
                   .bridges = device.bridges,
                   .width = device.link.width,
                   .speed = gpu ? std::nullopt : device.link.speed,
                   .rdma = rdma});
  };
  for (const Gpu& gpu : topology.gpus) add(gpu, gpu.name, true, {});
  for (const Nic& nic : topology.nics)
    if (!nic.virtual_function && !nic.pci.empty()) add(nic, nic.name, false, nic.rdma);
  return out;
}

void add_ports(const Node& node, const Inventory* before, InventoryPart& part) {
  for (const Port& port : node.ports)
    if (port.pci == part.pci && is_active(port) && !port.is_member()) part.up.push_back(port.id());
  if (const InventoryPart* old = before == nullptr ? nullptr : before->find(part.pci))
    for (const std::string& port : old->up)
      if (!contains(part.up, port)) part.up.push_back(port);
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
  Inventory out{.parts = parts_of(node.topology)};
  const Pairing pairing = built_pairing(node.topology, node.ports);
  for (size_t i = 0; i < out.parts.size(); ++i)
    if (out.parts[i].gpu)
      for (const size_t nic : pairing.pairs[i].nics) out.parts[i].nics.push_back(node.topology.nics[nic].pci);
    else add_ports(node, before, out.parts[i]);
  return out;
}

std::vector<InventoryChange> changes_since(const Inventory& inventory, const Topology& now) {
  using Kind = InventoryChange::Kind;
  std::vector<InventoryChange> out;
  for (const InventoryPart& was : inventory.parts)
    if (!is_there(now, was))
      out.push_back({Kind::gone, was.pci, was.name, ids_text(was.vendor, was.device), "", was.gpu});
  for (const InventoryPart& is : parts_of(now)) {
    const auto is_it = [&](const InventoryPart& was) { return was.pci == is.pci && was.gpu == is.gpu; };
    if (const InventoryPart* was = find_where(inventory.parts, is_it)) compare(*was, is, out);
    else out.push_back({Kind::added, is.pci, is.name, "", ids_text(is.vendor, is.device), is.gpu});
  }
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
