// SPDX-License-Identifier: Apache-2.0
// The parts that the machine lost since its inventory was recorded, and the findings that were accepted then.
#pragma once

#include "judge/finding.h"
#include "node/inventory.h"

namespace fabric {

// The findings about parts that the machine had when its inventory was accepted: these are intended. Empty: it was not
// accepted.
Findings accepted_findings(const View& view);
// The faults that the rules about parts report of the machine, for its inventory: "locality GPU2: SYS to mlx5_0;
// expected PIX".
std::vector<std::string> odd_parts(const Node& node);
// Losses and degradations since the inventory was recorded, without NICs that are farther from their GPUs. Empty: there
// are none, or there is no inventory.
std::vector<InventoryChange> losses_since(const Node& node);
// Whether a NIC is farther from its GPU than the inventory has it, because one of the two is in another slot.
bool has_farther_nics(const Node& node);
// Whether a finding of the same rule about the same subject is among them.
inline bool is_among(const Findings& accepted, const Finding& finding) {
  return std::ranges::any_of(
      accepted, [&](const Finding& each) { return each.id == finding.id && each.subject == finding.subject; });
}

// How a NIC in flash recovery (Topology::in_recovery) gets its firmware back.
Fix fix_of_flash_recovery(const std::string& pci);
// How to bring a device back that is not on the PCI bus. If another function of its card is there, slot and power are
// in order: the kernel or the firmware does not offer the function. `journal`: the command that shows the log.
Fix fix_of_missing(const Topology& topology, const std::string& pci, const std::string& journal);

}  // namespace fabric
