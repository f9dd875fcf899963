// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/node.h"

namespace fabric::test {

// Each rail in a /31 of its own, the switch at its other end: address, route, gateway, GID, firmware, all as they
// should be.
void add_healthy_network(Node& node);

// The rails in one subnet, 10.1.0.1/24 and on, each with a rule and a table of its own and ARP set for it.
void share_subnet(Node& node);

}  // namespace fabric::test
