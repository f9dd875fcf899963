// SPDX-License-Identifier: Apache-2.0
// Limits of the classes of `topo`, and differences from nvidia-smi's table.

#include "base/parse.h"
#include "ctl/topo/topo.h"
#include "judge/finding.h"
#include "nic/capabilities.h"

namespace fabric::ctl {
namespace {

std::string hidden_switches(const TopoView& view) {
  if (!is_flattened(view.topology)) return {};
  const std::string& name = view.topology.hypervisor;
  return (name.empty()
              ? "The PCIe switches are hidden, by a hypervisor or because this topology was recorded without them"
              : "This is a virtual machine of " + name + ", which hides the PCIe switches") +
         ": devices of the same class may differ in distance. Use the provider's topology file (NCCL_TOPO_FILE).";
}

bool has_node_path(const TopoView& view) {
  for (const Gpu& gpu : view.topology.gpus) {
    for (const Gpu& other : view.topology.gpus)
      if (&other != &gpu && path_class(gpu, other) == PathClass::NODE) return true;
    for (const size_t nic : shown_nics(view.topology))
      if (path_class(gpu, view.topology.nics[nic]) == PathClass::NODE) return true;
  }
  return false;
}

// numa_node is -1: nvidia-smi prints SYS.
std::string unknown_nodes(const TopoView& view) {
  std::vector<std::string> unknown, assumed;
  const auto add = [&](const PciDevice& device, const std::string& name) {
    if (!device.numa) unknown.push_back(name);
    else if (device.numa_assumed) assumed.push_back(name);
  };
  for (const Gpu& gpu : view.topology.gpus) add(gpu, gpu.name);
  for (const size_t nic : shown_nics(view.topology)) add(view.topology.nics[nic], view.topology.nics[nic].name);
  if (view.topology.gpus.empty()) return {};
  if (!unknown.empty())
    return "NUMA node of " + joined(unknown) +
           " unknown (numa_node -1): N/A without a shared bridge; nvidia-smi prints SYS.";
  if (!assumed.empty() && has_node_path(view))
    return "NUMA nodes of PCI devices unknown (numa_node -1), but the machine has only one: NODE, while nvidia-smi "
           "prints SYS.";
  return {};
}

// Several nodes in a socket: SYS between them does not cross sockets.
std::string split_sockets(const TopoView& view) {
  std::map<int, size_t> nodes;  // by socket
  for (const auto& [node, socket] : view.topology.numa_socket) ++nodes[socket];
  for (const auto& [socket, count] : nodes)
    if (count > 1)
      return "Each socket is split into " + std::to_string(count) +
             " NUMA nodes (SNC, NPS): SYS between two nodes of one socket does not leave the socket.";
  return {};
}

// Bridges above this device only: its slot's port, and bridges on its own board.
size_t own_bridges(const Topology& topology, const PciDevice& device) {
  size_t own = 0;
  for (const std::string& bridge : device.bridges) {
    const auto shares = [&](const PciDevice& other) {
      return card_of(other.pci) != card_of(device.pci) && contains(other.bridges, bridge);
    };
    if (std::ranges::any_of(topology.gpus, shares) || std::ranges::any_of(topology.nics, shares)) break;
    ++own;
  }
  return own;
}

// PXB although there is one switch: bridges on the GPU module or NIC count as well.
std::string bridges_on_boards(const TopoView& view) {
  std::set<std::string> names;
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g) {
    const Pair& pair = view.pairing.pairs[g];
    if (pair.path != PathClass::PXB) continue;
    const auto add = [&](const PciDevice& device, const std::string& name) {
      if (own_bridges(view.topology, device) > 1) names.insert(name);
    };
    add(view.topology.gpus[g], view.topology.gpus[g].name);
    for (const size_t nic : pair.nics) add(view.topology.nics[nic], view.topology.nics[nic].name);
  }
  if (names.empty()) return {};
  std::vector<std::string> sorted(names.begin(), names.end());
  std::ranges::sort(sorted, natural_less);
  return "PXB of " + names_text(sorted) +
         " counts bridges above this device only (on its own board, or one more switch); no other GPU or NIC shares "
         "them.";
}

// Grace, Power9, and cards in slots of their own.
std::string no_shared_bridge(const TopoView& view) {
  if (view.topology.gpus.empty() || view.compute.empty() || is_flattened(view.topology)) return {};
  for (const Gpu& gpu : view.topology.gpus)
    for (const size_t nic : view.compute)
      if (const auto path = path_class(gpu, view.topology.nics[nic]); !path || *path < PathClass::NODE) return {};
  return "No GPU shares a PCIe switch or host bridge with a NIC: every path is NODE or SYS, and NICs of the same class "
         "are equally near.";
}

std::vector<std::string> split_cards(const Topology& topology) {
  std::map<std::string, std::vector<const Nic*>> cards;
  for (const Nic& nic : topology.nics)
    if (!nic.rdma.empty() && !nic.virtual_function) cards[nic.card].push_back(&nic);
  std::vector<std::string> out;
  for (const auto& [card, nics] : cards) {
    const auto other_root = [&first = *nics.front()](const Nic* nic) { return nic->root != first.root; };
    if (!card.empty() && std::ranges::any_of(nics, other_root))
      out.push_back(joined(nics, ", ", [](const Nic* nic) { return nic->name; }) +
                    " are one NIC on several PCI trees (socket direct, multi-host): they share its ports.");
  }
  return out;
}

std::string memory_nodes(const TopoView& view) {
  const std::string nodes = joined(view.topology.memory_nodes, ", ", [](int node) { return std::to_string(node); });
  return nodes.empty() ? nodes : "NUMA nodes without CPUs (memory of GPUs, HBM, CXL): " + nodes + ".";
}

std::string soft_iwarp(const TopoView& view) {
  const bool nvidia = contains(view.topology.gpus, kNvidia, &Gpu::vendor);
  for (const Port& port : view.node.ports)
    if (nvidia && capabilities_of(port.kernel_driver).breaks_nvidia_smi_topo)
      return "nvidia-smi topo -m fails while the soft-iWARP device " + port.rdma + " exists.";
  return {};
}

}  // namespace

std::vector<std::string> topo_notes(const TopoView& view) {
  std::vector<std::string> notes;
  for (const auto& note :
       {hidden_switches, unknown_nodes, split_sockets, bridges_on_boards, no_shared_bridge, memory_nodes, soft_iwarp})
    if (std::string text = note(view); !text.empty()) notes.push_back(std::move(text));
  for (const std::string& difference : view.topology.differences)
    notes.push_back("hwloc and sysfs differ (sysfs is used): " + difference);
  for (std::string& note : split_cards(view.topology)) notes.push_back(std::move(note));
  for (const Nic& nic : view.topology.nics)
    if (!nic.bond.empty())
      notes.push_back((nic.netdevs.empty() ? nic.name : joined(nic.netdevs)) + " is a member of " + nic.bond + ".");
  for (const Nic& nic : view.topology.nics)
    if (nic.direct)
      notes.push_back(nic.name + " reaches its GPU through its Data Direct function " + nic.direct->pci +
                      "; the matrix shows the NIC's own function, as nvidia-smi does.");
  return notes;
}

}  // namespace fabric::ctl
