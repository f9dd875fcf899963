// SPDX-License-Identifier: Apache-2.0
// The present parts of the node as an inventory.
#pragma once

#include "node/inventory.h"

namespace fabric {

// All GPUs and physical NIC functions, and the pairing. A port that was up in `before` stays up, and keeps the higher
// rate: an unplugged or bad cable does not change the parts. While such a port is down the pairing stays as well.
Inventory inventory_of(const Node& node, const Inventory* before = nullptr);

}  // namespace fabric
