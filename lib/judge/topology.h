// SPDX-License-Identifier: Apache-2.0
// Pairing of GPUs and compute NICs, for checks of the symmetry of the machine.
#pragma once

#include "judge/finding.h"
#include "node/inventory.h"
#include "topology/built.h"

namespace fabric {

struct Placement {
  std::shared_ptr<const Built> built;
  std::vector<size_t> compute;                           // Built::present_compute(), up or down
  Pairing pairing;                                       // over them
  std::vector<std::optional<PathClass>> expected_paths;  // the expected class of each GPU
  size_t cards = 0;                                      // number of cards with compute NICs
  // The only function of their model without an RDMA device.
  std::optional<size_t> without_rdma;

  [[nodiscard]] std::optional<PathClass> path(size_t gpu) const { return pairing.pairs[gpu].path; }
  // Farther from a NIC than equal GPUs, or than with the NICs that are lost. With one card for all GPUs, some are far
  // by design.
  [[nodiscard]] bool is_too_far(size_t gpu) const {
    return path(gpu) > expected_paths[gpu] && (cards > 1 || path(gpu) > built->pairing.pairs[gpu].path);
  }
};

// With as many cards as GPUs, each GPU should have the best path of its model; with fewer cards, the path of more than
// half of the GPUs. A machine with one half of its GPUs near and one half far has this by design. No GPU should have a
// longer path than with the NICs that are lost.
Placement placement(const View& view);

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

// The speed differs from [expect] speed, which applies to ports that serve GPUs.
bool misses_speed(const View& view, const Port& port);

}  // namespace fabric
