// SPDX-License-Identifier: Apache-2.0
// Finds missing parts of machines that have too few equal places for symmetry.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "node/node.h"
#include "topology/symmetry.h"

namespace fabric {

// The only physical function of the model without an RDMA device, as an index into topology.nics. Several such
// functions are intended (RDMA disabled on storage ports), and so are members of a bond, which has one RDMA device for
// them. A function that has no netdev either may be the other half of its card (multi-PF) or in a container: it counts
// only if there are three cards.
std::optional<size_t> only_without_rdma(const Topology& topology, const PciDevice& model);

// Functions that one card lacks and the others of its model have: function 0, which every PCI device has, or any
// function if the cards have the same board id.
std::vector<MissingPart> missing_functions(const Topology& topology, std::span<const Port> ports);

// One GPU of a model fewer than 8 or 16, or than the cards of compute NICs if all sockets have equally many of them.
// Other numbers prove nothing: servers with three GPUs are sold.
struct OddGpus {
  size_t whole = 8;
  std::string observed;  // "7 GPUs: 4 on socket 0, 3 on socket 1"
  std::string where;     // "on socket 1, beside GPU4, GPU5, GPU6"; "in this machine"
};
std::optional<OddGpus> odd_gpus(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
