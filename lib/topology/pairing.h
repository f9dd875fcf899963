// SPDX-License-Identifier: Apache-2.0
// The NICs that each GPU should use: the best assignment that the machine's structure allows.
#pragma once

#include <span>

#include "node/node.h"
#include "node/topology.h"

namespace fabric {

struct Pair {
  std::vector<size_t> nics;       // indices into topology.nics, in PCI order; empty: no class is known
  std::optional<PathClass> path;  // class of the path to each of the NICs
  unsigned shared_by = 0;         // number of GPUs that use the NIC, or the busiest of the NICs; 1: not shared
  bool operator==(const Pair&) const = default;
};

struct Pairing {
  std::vector<Pair> pairs;   // one for each GPU, in its order
  std::vector<size_t> idle;  // the NICs without a GPU
  bool operator==(const Pairing&) const = default;
};

// Gives each GPU NICs of its nearest class among `nics`, as many as possible if every GPU gets equally many of its own.
// The pairing is fair: no NIC serves two GPUs while a NIC of the same class to one of them serves none, and loads are
// as equal as possible. Of the fair pairings, it has the fewest paths between sockets, then the fewest bridges, then
// keeps the order of PCI addresses (rails). The same input gives the same result. More than 64 x 128 are paired
// greedily, in bounded time.
Pairing best_pairing(const Topology& topology, const std::vector<size_t>& nics);

// The best pairing of compute_nics() as the machine was built: missing NICs (by the inventory, else by symmetry) take
// part, so that the other NICs stay with their GPUs. A GPU that has lost its NICs shares the nearest of the others.
Pairing built_pairing(const Topology& topology, std::span<const Port> ports);
// built_pairing() with usable_nics() only: a NIC whose port is down counts as missing.
Pairing best_pairing(const Topology& topology, std::span<const Port> ports);

struct Rail {
  size_t rail = 0;
  std::optional<size_t> plane{};  // number among the NICs of the rail, in PCI order; nullopt: it is the only one
};

// The rails of the compute NICs in use, by PCI address. The rail is the number of the GPU that the NIC serves. If GPUs
// share NICs, or there are no GPUs, rails are counted in PCI order; without GPUs, each card is a rail. NICs that are
// known to be missing keep their place.
std::map<std::string, Rail> rails_of(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
