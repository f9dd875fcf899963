// SPDX-License-Identifier: Apache-2.0
// Machines as literals, after real kinds of GPU server: for what is shown of a machine.
#pragma once

#include "node/node.h"

namespace fabric::test {

// A PCI function there, of no vendor.
inline PciDevice pci_function(const std::string& pci, const std::string& root, std::vector<std::string> bridges,
                              std::optional<int> numa = {}) {
  return {.pci = pci, .numa = numa, .bridges = std::move(bridges), .root = root};
}

// Two sockets of two NUMA nodes each (SNC); a switch with a GPU and a 400G NIC, eight of these; two storage NICs in a
// bond.
Node snc_server();
// The same with three defects: a NIC at x8, a NIC that is gone, and one that is down.
Node broken_server();
// AMD MI300X in CPX mode behind bridges of their own modules, an eight-rail NIC each, NPS1.
Node mi300x_server();
// Four Grace-Hopper modules: a CPU and a GPU each, no switch; the GPUs' memory is NUMA nodes without CPUs.
Node grace_server();
// A cloud guest: eight GPUs and four NICs on root buses, no switch in sight.
Node cloud_guest();

}  // namespace fabric::test
