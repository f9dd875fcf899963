// SPDX-License-Identifier: Apache-2.0
// How GPUs and compute NICs stand to each other on this machine, for the checks that look for what breaks its symmetry.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/check.h"
#include "topology/pairing.h"

namespace fabric {

struct Placement {
  std::vector<size_t> compute;                      // compute_nics(), whether up or not: port-state tells of those
  Pairing pairing;                                  // over them
  std::vector<std::optional<PathClass>> yardstick;  // of each GPU: the class that it should have
  size_t cards = 0;                                 // that the compute NICs are on
  // The one function of their model whose RDMA driver did not take it.
  std::optional<size_t> without_rdma;

  [[nodiscard]] std::optional<PathClass> path(size_t gpu) const { return pairing.pairs[gpu].path; }
  // Farther from a NIC than GPUs like it. With one card for all, some GPU must be far: that is how it was built.
  [[nodiscard]] bool is_odd(size_t gpu) const { return cards > 1 && path(gpu) > yardstick[gpu]; }
};

// With as many cards as GPUs, every GPU can be placed like the best of its model; with fewer, what more than half of
// them have is the rule, and a machine whose GPUs are one half near and one half far was built so.
Placement placement(const Node& node);

// The RDMA devices that serve a GPU, by the best pairing. NICs that do and NICs that do not were built in for different
// things: they need not be alike.
std::set<std::string> devices_for_gpus(const Node& node);

}  // namespace fabric
