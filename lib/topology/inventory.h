// SPDX-License-Identifier: Apache-2.0
// The parts of the node now, and compared with the inventory.
#pragma once

#include "node/inventory.h"

namespace fabric {

// All GPUs and physical NIC functions. A port that was up in `before` stays so: a cable that is out is no other part.
Inventory inventory_of(const Node& node, const Inventory* before = nullptr);

// The NIC of an unreported pair: the inventory pairs this GPU with a NIC that is gone or has lost its RDMA device.
bool has_lost_nic(const Node& node, const Gpu& gpu);

}  // namespace fabric
