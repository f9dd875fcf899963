// SPDX-License-Identifier: Apache-2.0
// The machine as nested boxes, common to tree, graph and picture.
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

// A bridge with several devices below is a switch; other bridges (root ports, ports of a switch) are left out.
// Functions with an unknown NUMA node are in their own box. `nics`: the NICs to show.
Box topo_layout(const Topology& topology, const std::vector<size_t>& nics);

}  // namespace fabric::ctl
