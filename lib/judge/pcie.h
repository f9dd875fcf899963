// SPDX-License-Identifier: Apache-2.0
// PCI Express links, and the path between a NIC and its GPUs.
#pragma once

#include "judge/port_context.h"

namespace fabric {

// AER errors of the function and the bridges above it that the check `aer` reports: "0000:24:00.0 correctable PCIe
// errors +12".
Lines aer_lines(const PortContext& ctx);
// The faults that the checks `pcie` and `acs` find between this NIC and the GPUs that use it, without the NIC's own
// link.
std::vector<Finding> faults_before_gpus(const PortContext& ctx);
// The fault that the check `pcie` finds at the link of this NIC. nullopt: none.
std::optional<Finding> link_fault(const PortContext& ctx);

}  // namespace fabric
