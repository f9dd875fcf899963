// SPDX-License-Identifier: Apache-2.0
// GPUs and their NICs: the devices that serve GPUs, and where they should be.
#pragma once

#include "judge/finding.h"
#include "topology/built.h"

namespace fabric {

// The RDMA devices that serve a GPU: Built::serves_gpu() of their NIC. A function serves as its NIC does. Other NICs
// need not be equal. View::gpu_devices, or computed if it is absent.
std::shared_ptr<const std::set<std::string>> gpu_devices(const View& view);
// Whether the device of a port of the reading is one of them.
bool serves_gpu(const View& view, const Port& port);

// The port is for storage or management: other ports serve the GPUs.
bool has_other_purpose(const View& view, const Port& port);

// The speed differs from [expect] speed, which applies to ports that serve GPUs.
bool misses_speed(const View& view, const Port& port);

// The pairing of GPUs and compute NICs as it should be and as it is.
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

// "mlx5_2 (0000:4d:00.0)"
std::string name_and_address(const Nic& nic);

}  // namespace fabric
