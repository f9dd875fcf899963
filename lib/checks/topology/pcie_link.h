// SPDX-License-Identifier: Apache-2.0
// PCI Express links, for the `pcie` check.
#pragma once

#include "judge/finding.h"

namespace fabric {

// Payload of a link in bytes per second: 8b/10b coding up to 5 GT/s, 128b/130b up to 32 GT/s, FLIT mode above (PCI
// Express base specification 6.0, chapter 4.2). Without packet headers, so this is an upper limit.
double bytes_per_second(double speed, unsigned width);

std::string link_text(std::optional<double> speed, std::optional<unsigned> width);  // "x16 at 32 GT/s"

// The fix for a slot that is too small, with the port above it.
std::string larger_slot(const std::string& port);

// The current link, with the common maximum of both ends. nullopt: an end does not report it, or the two report
// different links (a hypervisor's bridge above a real device).
std::optional<PcieLink> link_between(const PcieLink& lower, const PcieLink& upper);

// What a NIC's other slots carry, in bytes per second, by its system image GUID; else its half without a netdev.
struct Beside {
  double sum = 0;                 // 0: it has one slot
  std::optional<double> least{};  // of the other slots; not of a half without a netdev
};
Beside carried_beside(const Node& node, const Nic& nic);

// Adds findings for links between bridges, up to the root port.
void check_hops(const View& view, std::vector<Finding>& findings);

}  // namespace fabric
