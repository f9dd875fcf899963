// SPDX-License-Identifier: Apache-2.0
// The other end of each port's cable, for the checks that look there.
#pragma once

#include <string>
#include <vector>

#include "checks/check.h"

namespace fabric {

// Has the port a cable of its own? Not a virtual function, not a bond as a whole (its members have), not InfiniBand.
bool has_cable(const Port& port);

// Who was heard on it and tells a name, in the order in which they were heard.
std::vector<const Neighbor*> named_neighbors(const Node& node, const Port& port);
// The first who was heard on it and told this; null: nobody.
template <class Value>
const Neighbor* who_told(const Node& node, const Port& port, Value Neighbor::*what) {
  for (const Neighbor& each : node.neighbors.heard)
    if (each.netdev == port.netdev && each.*what) return &each;
  return nullptr;
}

// The port's cables in the site's plan: by netdev, its other names, RDMA device, PCI address, or as [cabling] ports
// says. Several: a breakout, or a plan that says it twice.
std::vector<const Cable*> planned_cables(const Policy* policy, const Port& port);

// "leaf1 Ethernet3"
std::string peer_text(const Neighbor& neighbor);
std::string peer_text(const CableEnd& end);
// "leaf1 Ethernet3", or "the other end" where it told no name.
std::string peer_name(const Neighbor& neighbor);

}  // namespace fabric
