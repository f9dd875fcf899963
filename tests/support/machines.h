// SPDX-License-Identifier: Apache-2.0
// Machines as literals, modeled on real kinds of GPU server, for tests of output.
#pragma once

#include "node/node.h"

namespace fabric::test {

// A PCI function at this position, without a vendor.
inline PciDevice pci_function(const std::string& pci, const std::string& root, std::vector<std::string> bridges,
                              std::optional<int> numa = {}) {
  return {.pci = pci, .numa = numa, .bridges = std::move(bridges), .root = root};
}

// Two sockets with two NUMA nodes each (SNC), eight switches with a GPU and a 400G NIC each, and two storage NICs in a
// bond.
Node snc_server();
// snc_server() with three defects: a NIC at x8, a missing NIC, and a NIC whose link is down.
Node broken_server();
// AMD MI300X in CPX mode behind the bridges of their modules, with a NIC for each of the eight rails, NPS1.
Node mi300x_server();
// Four Grace-Hopper modules with a CPU and a GPU each, and no switch; the GPUs' memory forms NUMA nodes without CPUs.
Node grace_server();
// A cloud guest with eight GPUs and four NICs on root buses, which shows no switch.
Node cloud_guest();

}  // namespace fabric::test
