// SPDX-License-Identifier: Apache-2.0
// Which NIC each GPU should use: the best assignment that the machine's structure allows.
#pragma once

#include <span>

#include "node/node.h"
#include "node/topology.h"

namespace fabric {

struct Pair {
  std::vector<size_t> nics;       // indices into topology.nics, in PCI order; empty: no class is known
  std::optional<PathClass> path;  // to each of them
  unsigned shared_by = 0;         // GPUs that use the NIC, or the fullest of the NICs: 1: not shared
  bool operator==(const Pair&) const = default;
};

struct Pairing {
  std::vector<Pair> pairs;   // one for each GPU, in its order
  std::vector<size_t> idle;  // of the NICs that were offered
  bool operator==(const Pairing&) const = default;
};

// Gives each GPU NICs of its nearest class among `nics`, as many as leave every GPU with equally many of its own. Fair:
// no NIC serves two GPUs while one of the same class to one of them serves none; loads are as equal as can be. Among
// the fair ones that with the fewest ways between sockets, then the fewest bridges, then that which keeps the order of
// PCI addresses (rails). The same input gives the same answer. More than 64 x 128 are paired greedily, in bounded time.
Pairing best_pairing(const Topology& topology, const std::vector<size_t>& nics);

// compute_nics() and best_pairing() in one, with the NICs that are missing (of the inventory, else by symmetry): the
// other NICs stay with their GPUs. A GPU that would have none shares the nearest of them.
Pairing built_pairing(const Topology& topology, std::span<const Port> ports);
// As built_pairing(), over usable_nics(): a NIC whose port is down counts as missing.
Pairing best_pairing(const Topology& topology, std::span<const Port> ports);

struct Rail {
  size_t rail = 0;
  std::optional<size_t> plane{};  // among the NICs of the rail, in PCI order; nullopt: it is the only one
};

// By PCI address, of the compute NICs in use. The rail is the number of the GPU that the NIC serves. If GPUs share
// NICs, or there are none, the rails are counted in PCI order: without GPUs by card. NICs that are known to be missing
// keep their place.
std::map<std::string, Rail> rails_of(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
