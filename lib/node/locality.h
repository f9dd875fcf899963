// SPDX-License-Identifier: Apache-2.0
// GPU-NIC and GPU-GPU distance by nvidia-smi's definitions, from the PCI tree alone.
#pragma once

#include "node/node.h"

namespace fabric {

// The class of the path between two PCI functions:
//   PIX   at most one bridge between each and their first common bridge (one switch)
//   PXB   a common bridge, more than that
//   PHB   no common bridge, same root bus
//   NODE  different root buses, same NUMA node
//   SYS   different NUMA nodes
// Absent when they share no bridge and no root bus, and a NUMA node is unknown.
std::optional<PathClass> path_class(const PciDevice& a, const PciDevice& b);

// The function by which the NIC reaches the GPU: its own, or its Data Direct function where that is nearer.
const PciDevice& nearer_function(const Gpu& gpu, const Nic& nic);
// The class of the path from the GPU to that function.
std::optional<PathClass> path_class(const Gpu& gpu, const Nic& nic);

// The NICs with an RDMA device that are nearest to the GPU (all of the best class), as indices into topology.nics.
// Without RDMA NICs, the nearest of all NICs. Empty: no NICs, or their classes are unknown.
std::vector<size_t> nearest_nics(const Topology& topology, const Gpu& gpu);

// Whether the PCIe switches above GPUs are hidden (by a hypervisor, or not recorded), which makes every class wrong: no
// two devices share a bridge, and a GPU sits on a root bus itself (never so in a real slot) or the machine is known to
// be virtual.
bool is_flattened(const Topology& topology);

// The package of the device's NUMA node, if the kernel reports it.
std::optional<int> socket_of(const Topology& topology, const PciDevice& device);

// How many bridges each of two functions has below the first bridge that they share; nullopt: they share none.
std::optional<std::pair<size_t, size_t>> below_shared(const PciDevice& a, const PciDevice& b);

// One link: its end away from the root complex (a device, or a switch's upstream port), and the port above it (a root
// port, or a switch's downstream port).
struct PcieHop {
  std::string lower, upper;
  bool operator==(const PcieHop&) const = default;
};

// Every link above the function, nearest first. A switch is two bridges with no link between them, so that from the
// function up links and switches alternate (PCI Express base specification 6.0, chapter 1.3).
std::vector<PcieHop> hops_above(const PciDevice& function);

// The ports of the first shared switch towards each of the two: data from one to the other turns around between them,
// and passes any other bridge straight up or down. Empty: no bridge is shared.
std::vector<std::string> turning_ports(const PciDevice& a, const PciDevice& b);

}  // namespace fabric
