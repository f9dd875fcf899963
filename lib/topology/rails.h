// SPDX-License-Identifier: Apache-2.0
// Which rail of the fabric a NIC belongs to, by its place beside the GPUs.
#pragma once

#include "topology/pairing.h"

namespace fabric {

struct Rail {
  size_t rail = 0;
  std::optional<size_t> plane{};  // among the NICs of the rail, in PCI order; nullopt: it is the only one
  bool operator==(const Rail&) const = default;
};

// By PCI address, of the compute NICs in use. The rail is the number of the GPU that the NIC serves. If GPUs share
// NICs, or there are none, the rails are counted in PCI order: without GPUs by card. NICs that are known to be missing
// keep their place.
std::map<std::string, Rail> rails_of(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
