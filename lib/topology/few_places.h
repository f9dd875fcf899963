// SPDX-License-Identifier: Apache-2.0
// What is missing by the symmetry of a machine with too few equal places to compare.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "node/node.h"
#include "topology/symmetry.h"

namespace fabric {

// The only physical function of the model that has no RDMA device, into topology.nics. Several are by design (RDMA
// disabled on storage ports), and so is a bond, which has one RDMA device for its members. One without a netdev either
// may be the other half of its card (multi-PF) or in a container: it must be one of three cards.
std::optional<size_t> only_without_rdma(const Topology& topology, const PciDevice& model);

// Functions that one card lacks and the others of its model have: function 0, which every PCI device has, or any of
// cards with one board id.
std::vector<MissingPart> missing_functions(const Topology& topology, std::span<const Port> ports);

// One GPU fewer than 8 or 16 of a model, or than the cards of compute NICs, of which each socket has as many. Other
// numbers prove nothing: servers with three GPUs are sold.
struct OddGpus {
  size_t whole = 8;
  std::string observed;  // "7 GPUs: 4 on socket 0, 3 on socket 1"
  std::string where;     // "on socket 1, beside GPU4, GPU5, GPU6"; "in this machine"
};
std::optional<OddGpus> odd_gpus(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
