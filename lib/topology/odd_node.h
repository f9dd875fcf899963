// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "node/node.h"

namespace fabric {

// A device whose NUMA node differs from that of its equals in the same place.
struct OddNode {
  PciDevice device;
  std::string name;
  int expected = 0;
  std::string like;  // whose node is expected: "the devices of pci0000:20"
};
// A device is on the node of the bridge above it, and devices of one root bus are on one node. A device alone on its
// root bus is odd if the buses before and after it are on another node, and its model is spread evenly over the nodes
// only with it on that one.
std::vector<OddNode> odd_numa_nodes(const Topology& topology);

}  // namespace fabric
