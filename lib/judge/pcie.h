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

// The slot of the NIC carries less into host memory than the NIC's ports receive at full rate. The check `pcie` is
// silent if that is the design: the NIC has no faster link, several ports, or a Data Direct function for GPU memory.
struct NarrowSlot {
  bool is_full = false;     // nearly as much was received as the slot carries
  bool has_direct = false;  // data of GPU memory may have a way of its own
  std::string line;
};
// nullopt: the slot is wide enough, or unknown.
std::optional<NarrowSlot> narrow_slot(const PortContext& ctx);

}  // namespace fabric
