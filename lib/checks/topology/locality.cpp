// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/topology/pairing.h"
#include "judge/platform_view.h"
#include "topology/inventory.h"

namespace fabric {
namespace {

// With several NUMA nodes per socket (SNC, NPS), SYS within the same socket costs nanoseconds and is by design.
bool stays_in_socket(const Topology& topology, const Placement& placed, const Gpu& gpu) {
  const auto mine = socket_of(topology, gpu);
  return mine && std::ranges::any_of(placed.compute,
                                     [&](size_t nic) { return socket_of(topology, topology.nics[nic]) == mine; });
}

// One card cannot be close to GPUs on both sockets.
bool any_near(const Topology& topology, const Placement& placed) {
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
    if (placed.path(gpu) < PathClass::SYS && placed.path(gpu)) return true;
  return std::ranges::any_of(topology.gpus, [&](const Gpu& gpu) { return stays_in_socket(topology, placed, gpu); });
}

// The missing NIC may be present without RDMA or in another slot.
std::string strays(const Topology& topology, const Placement& placed) {
  if (placed.without_rdma) {
    const Nic& nic = topology.nics[*placed.without_rdma];
    return " " + (nic.name == nic.pci ? nic.pci : nic.name + " (" + nic.pci + ")") +
           " is of the same model and has no RDMA device: journalctl -k -g " + nic.pci;
  }
  std::string names;
  for (const size_t nic : placed.pairing.idle) {
    names.append(names.empty() ? " " : ", ").append(topology.nics[nic].name);
    if (topology.nics[nic].numa) names += " on NUMA node " + std::to_string(*topology.nics[nic].numa);
  }
  return names.empty() ? names : names + " serves no GPU and may be in the wrong slot.";
}

Finding finding_for(const Node& node, const Placement& placed, size_t index) {
  const Topology& topology = node.topology;
  const Gpu& gpu = topology.gpus[index];
  const auto path = placed.path(index);
  if (!path)
    return bad(Status::unknown, gpu.name, "-", "a NIC on the same PCIe switch or NUMA node",
               "The distance of this GPU (" + gpu.pci +
                   ") to any NIC is unknown: they share no bridge, and a NUMA node is unknown.",
               "Enable NUMA information of PCI devices in the firmware setup, or a PCI topology in the hypervisor.");
  std::string observed = std::string(to_text(*path)) + " to";
  for (const size_t nic : placed.compute)
    if (path_class(gpu, topology.nics[nic]) == path) observed += " " + topology.nics[nic].name;
  const std::string remedy =
      "fabric-agentctl topo; then restore the missing NIC, or move the NIC to the slot next to this GPU.";
  const std::string expected(to_text(placed.yardstick[index].value_or(*path)));
  if (placed.is_odd(index)) {
    const std::string missing = missing_text(node, index);
    return bad(Status::warning, gpu.name, observed, expected + ", like the other GPUs",
               "The nearest NIC of this GPU is farther away than that of the other GPUs. The slowest pair sets the "
               "pace of a collective." +
                   (missing.empty() ? strays(topology, placed) : missing),
               remedy);
  }
  if (path > placed.yardstick[index]) return good(gpu.name, observed + ", the only one", expected + " or farther");
  if (path == PathClass::SYS && !stays_in_socket(topology, placed, gpu) &&
      (placed.cards > 1 || !any_near(topology, placed)))
    return bad(Status::warning, gpu.name, observed, "NODE or nearer",
               "All traffic between this GPU and its nearest NIC crosses NUMA nodes, usually over the link between CPU "
               "sockets.",
               remedy);
  return good(gpu.name, observed, expected);
}

// The reference is the path of the other GPUs, not a list of models.
void ask(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  const bool has_rdma = std::ranges::any_of(topology.nics, [](const Nic& nic) { return !nic.rdma.empty(); });
  if (!has_rdma) return;  // port-state reports it
  const Placement placed = placement(view);
  for (size_t i = 0; i < topology.gpus.size(); ++i)
    if (!misses_class(view, placed, i) && !is_given_away(view.now, topology.gpus[i].pci) &&
        !has_lost_nic(view.now, topology.gpus[i]))  // reported by `inventory`
      findings.push_back(finding_for(view.now, placed, i));
}

}  // namespace

extern const Check kLocalityCheck{
    .id = "locality",
    .group = group::topology,
    .title = "A GPU is farther from its NIC than the other GPUs are",
    .meaning =
        "Compares the path from each GPU to its nearest NIC with that of the other GPUs, in nvidia-smi's classes (PIX "
        "PXB PHB NODE SYS). A GPU with a longer path has lost its NIC, or a NIC is in the wrong slot. GPUs passed to "
        "guests (vfio-pci) are left to the guest.",
    .inspect = "fabric-agentctl topo; lspci -tv",
    .fix = "Restore the missing NIC, or move the NIC to the slot next to its GPU.",
    .ask = ask,
};

}  // namespace fabric
