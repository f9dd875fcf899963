// SPDX-License-Identifier: Apache-2.0
// The way of a PCI function to the root complex, link by link.
#pragma once

#include "model/node.h"

namespace fabric {

// One link: its end away from the root complex (a device, or a switch's upstream port), and the port above it (a root
// port, or a switch's downstream port).
struct PcieHop {
  std::string lower, upper;
  bool operator==(const PcieHop&) const = default;
};

// Every link above the function, nearest first. A switch is two bridges with no link between them, so that from the
// function up links and switches alternate (PCI Express base specification 6.0, chapter 1.3).
std::vector<PcieHop> hops_above(const PciDevice& function);

// The bridges between two functions that share one: those below the first shared bridge, on both sides. Data from one
// to the other crosses them. Empty where none is shared.
std::vector<std::string> bridges_between(const PciDevice& a, const PciDevice& b);

}  // namespace fabric
