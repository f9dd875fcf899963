// SPDX-License-Identifier: Apache-2.0
// PCI Express links, and the path between a NIC and its GPUs.
#pragma once

#include "judge/port_context.h"

namespace fabric {

// AER errors of the function and the bridges above it: "0000:24:00.0 correctable PCIe errors +12". A few correctable
// errors are omitted.
Lines aer_lines(const PortContext& ctx);
// The faults that the checks `pcie` and `acs` find between this NIC and the GPUs that use it, without the NIC's own
// link.
std::vector<Finding> faults_before_gpus(const PortContext& ctx);
// Text if the PCIe link is narrower or slower than it could be, and not by the platform's design; or empty.
std::string degraded_link(const PortContext& ctx);

}  // namespace fabric
