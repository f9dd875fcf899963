// SPDX-License-Identifier: Apache-2.0
// GPU-NIC and GPU-GPU distance by nvidia-smi's definitions, from the PCI tree alone.
#pragma once

#include "model/node.h"

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

// Whether the hypervisor hides the PCIe switches above GPUs, which makes every class wrong: no two devices share a
// bridge, and a GPU sits on a root bus itself (never so in a real slot) or the machine is known to be virtual.
bool is_flattened(const Topology& topology);

}  // namespace fabric
