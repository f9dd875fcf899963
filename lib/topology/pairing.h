// SPDX-License-Identifier: Apache-2.0
// The NICs that each GPU should use: the best assignment that the machine's structure allows.
#pragma once

#include <optional>
#include <vector>

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
// as equal as possible. A NIC that is nearest to no GPU counts as near to the GPUs on its switches that would share
// theirs. Among the fair pairings, this one has the fewest paths between sockets, then the fewest bridges, then keeps
// the order of PCI addresses among GPUs with the same NICs (rails). The same input gives the same result. More than 64
// x 128 are paired greedily, in bounded time.
Pairing best_pairing(const Topology& topology, const std::vector<size_t>& nics);

// NICs in slots of the CPU, paired with GPUs that have none on their switch, where two thirds of the GPUs or more have.
// Each is such a GPU's own NIC in the wrong slot, or has another purpose (storage) while the GPU's own is lost: only an
// inventory decides which.
std::vector<size_t> doubtful_nics(const Topology& topology, const Pairing& pairing);

// The pairing with only the NICs in `usable`: a GPU keeps its other NICs, and one that has lost all of its own shares
// the nearest of those that serve a GPU in `built`. The NICs of the other GPUs do not change, and a NIC that was not
// built in for GPUs is never taken.
Pairing without_lost(const Topology& topology, const Pairing& pairing, const std::vector<size_t>& usable,
                     const Pairing& built);

}  // namespace fabric
