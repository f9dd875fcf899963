// SPDX-License-Identifier: Apache-2.0
// The machine as boxes in boxes: what the tree, the graph and the picture have in common.
#pragma once

#include <string>
#include <vector>

#include "ctl/topo/topo.h"

namespace fabric::ctl {

struct Box {
  enum class Kind { machine, socket, numa, root, bridge };
  Kind kind = Kind::machine;
  std::string title;  // "socket 0", "NUMA node 1", "pci0000:10", "switch 0000:11:00.0"
  std::vector<Box> boxes;
  std::vector<size_t> gpus, nics;  // indices into the topology
};

// Bridges that lead to one thing only are left out (root ports, the ports of a switch); a bridge with several below is
// a switch. Functions whose NUMA node is unknown stand in a box of their own. `nics`: which to show.
Box topo_layout(const Topology& topology, const std::vector<size_t>& nics);

}  // namespace fabric::ctl
