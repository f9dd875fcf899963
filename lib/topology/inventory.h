// SPDX-License-Identifier: Apache-2.0
// The present parts of the node, and their comparison with the inventory.
#pragma once

#include "node/inventory.h"

namespace fabric {

// All GPUs and physical NIC functions. A port that was up in `before` stays up: an unplugged cable does not change the
// parts.
Inventory inventory_of(const Node& node, const Inventory* before = nullptr);

// Whether the inventory pairs this GPU with a NIC that is gone or has lost its RDMA device.
bool has_lost_nic(const Node& node, const Gpu& gpu);

}  // namespace fabric
