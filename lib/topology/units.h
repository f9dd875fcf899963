// SPDX-License-Identifier: Apache-2.0
// GPUs and NICs as what a machine has several of: devices of a model, which can be counted and compared.
#pragma once

#include <span>

#include "model/node.h"

namespace fabric {

// GPUs by their ids; NICs also by their board, since one chip is sold with one port and with two.
struct Model {
  bool gpu = false;
  uint16_t vendor = 0, device = 0;
  std::string_view board{};  // of a port
  auto operator<=>(const Model&) const = default;
};

struct Unit {
  PciDevice device;
  std::string name;
  Model model;
  size_t index = 0;   // into topology.gpus or topology.nics
  bool rdma = false;  // carries RDMA; a GPU counts in every comparison
  bool there = true;  // false: missing, and already found
};
using Units = std::vector<Unit>;

// GPUs, and physical NICs of models that carry RDMA. `ports` tell boards apart, and must outlive the result.
Units units_of(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
