// SPDX-License-Identifier: Apache-2.0
// PCI Express links, for the `pcie` check.
#pragma once

#include <optional>
#include <string>

#include "checks/check.h"

namespace fabric {

// Payload of a link in bytes per second: 8b/10b coding up to 5 GT/s, 128b/130b up to 32 GT/s, FLIT mode above (PCI
// Express base specification 6.0, chapter 4.2). Packet headers are left out, so this is an upper limit.
double bytes_per_second(double speed, unsigned width);

std::string link_text(std::optional<double> speed, std::optional<unsigned> width);  // "x16 at 32 GT/s"

// The link as it is, with what both its ends can do as its maximum. Nothing where an end does not tell, or the two do
// not tell of the same link (a hypervisor's bridge above a real device).
std::optional<PcieLink> link_between(const PcieLink& lower, const PcieLink& upper);

// One NIC in several slots shares its ports' traffic out among their links; its system image GUID tells that it is one,
// or that it has a half without a netdev. What the others carry in bytes per second; 0: it has one slot.
double carried_beside(const Node& node, const Nic& nic);

// The links between bridges: a switch's, or a riser's, up to the root port.
void judge_hops(const View& view, std::vector<Finding>& findings);

}  // namespace fabric
