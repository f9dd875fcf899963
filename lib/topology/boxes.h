// SPDX-License-Identifier: Apache-2.0
// The machine as nested boxes, which tree, graph and pictures share.
#pragma once

#include "node/node.h"

namespace fabric {

struct TopologyBox {
  enum class Kind { machine, socket, numa, root, bridge };
  Kind kind = Kind::machine;
  std::string title;  // "socket 0", "NUMA node 1", "pci0000:10", "switch 0000:11:00.0"
  std::vector<TopologyBox> boxes;
  std::vector<size_t> gpus, nics;  // indices into the topology
};

// A bridge with several devices below it is shown as a switch; other bridges (root ports, ports of a switch) are
// omitted. Functions with an unknown NUMA node are in a box of their own. `nics`: the NICs to show.
TopologyBox topology_boxes(const Topology& topology, const std::vector<size_t>& nics);

// The NICs to show: those that carry RDMA, or all if none does. At most 256: omits virtual functions first.
std::vector<size_t> shown_nics(const Topology& topology);

}  // namespace fabric
