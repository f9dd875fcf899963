// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "node/node.h"

namespace fabric {

// A device with another NUMA node than the devices in the same place.
struct OddNode {
  PciDevice device;
  std::string name;
  int expected = 0;
  std::string like;  // the devices with the expected node: "the other devices of pci0000:20"
};
// A device is on the node of the bridge above it, and the devices of one root bus are on one node. A device that is
// alone on its root bus is odd if the buses before and after it are on another node, and its model is evenly spread
// over the nodes only if the device is on that node.
std::vector<OddNode> odd_numa_nodes(const Topology& topology);

}  // namespace fabric
