// SPDX-License-Identifier: Apache-2.0
// PCI Express links, and the path between a NIC and its GPUs.
#pragma once

#include "judge/port_context.h"

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

// AER errors of the function and the bridges above it: "0000:24:00.0 correctable +12". Few corrected ones are omitted.
Lines aer_lines(const PortContext& ctx);
// What the checks `pcie` and `acs` find between this NIC and the GPUs that use it; the NIC's own link is not among it.
std::vector<Finding> faults_before_gpus(const PortContext& ctx);
std::string fault_text(const Finding& fault);  // "pcie GPU1: x8 at 32 GT/s; expected x16 at 32 GT/s"
// The PCIe link is narrower or slower than it could be, and not by the platform's design. Text, or empty.
std::string degraded_link(const PortContext& ctx);

}  // namespace fabric
