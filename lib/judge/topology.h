// SPDX-License-Identifier: Apache-2.0
// The parts of the machine: the inventory, and the devices that serve GPUs.
#pragma once

#include "judge/finding.h"
#include "node/inventory.h"
#include "topology/built.h"

namespace fabric {

// The findings about parts that the machine had when its inventory was accepted: these are intended. Empty: it was not
// accepted.
Findings accepted_findings(const View& view);
// The faults that the rules about parts report of the machine, for its inventory: "locality GPU2: SYS to mlx5_0;
// expected PIX".
std::vector<std::string> odd_parts(const Node& node);
// Losses since the inventory was recorded, and what became worse, without NICs that are farther from their GPUs. Empty:
// nothing, or no inventory.
std::vector<InventoryChange> losses_since(const Node& node);
// Whether a NIC is farther from its GPU than the inventory has it, because one of the two is in another slot.
bool has_farther_nics(const Node& node);
// Whether a finding of the same rule about the same subject is among them.
inline bool is_among(const Findings& accepted, const Finding& finding) {
  return std::ranges::any_of(
      accepted, [&](const Finding& each) { return each.id == finding.id && each.subject == finding.subject; });
}

// The RDMA devices that serve a GPU: Built::serves_gpu() of their NIC. A function serves as its NIC does. Other NICs
// need not be equal. View::gpu_devices, or computed if it is absent.
std::shared_ptr<const std::set<std::string>> gpu_devices(const View& view);
// Whether the device of a port of the reading is one of them.
bool serves_gpu(const View& view, const Port& port);

// The port is for storage or management: other ports serve the GPUs.
bool has_other_purpose(const View& view, const Port& port);

// How a NIC in flash recovery (Topology::in_recovery) gets its firmware back.
Fix fix_of_flash_recovery(const std::string& pci);

// The speed differs from [expect] speed, which applies to ports that serve GPUs.
bool misses_speed(const View& view, const Port& port);

}  // namespace fabric
