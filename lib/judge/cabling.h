// SPDX-License-Identifier: Apache-2.0
// The peer at the other end of the cable of a port.
#pragma once

#include "judge/view.h"
#include "topology/built.h"

namespace fabric {

// False for virtual functions, bonds (their members have cables) and InfiniBand.
bool has_cable(const Port& port);

// LLDP neighbors with a name, in order of arrival.
std::vector<const Neighbor*> named_neighbors(const Node& node, const Port& port);
// The neighbor that is the switch: the one in the plan, else one with a system name (which LLDP agents in a NIC's
// firmware lack), else the first by name. nullptr: no neighbor has a name.
const Neighbor* switch_of(const Node& node, const Policy* policy, const Port& port);
// The first LLDP neighbor with this member; nullptr: none.
template <class Value>
const Neighbor* first_with(const Node& node, const Port& port, Value Neighbor::*what) {
  for (const Neighbor& each : node.neighbors.heard)
    if (each.netdev == port.netdev && each.*what) return &each;
  return nullptr;
}

// The port's cables in the plan, by netdev, altname, RDMA device, PCI address or [cabling] ports; several for a
// breakout.
std::vector<const Cable*> planned_cables(const Policy* policy, const Port& port);

// The command that lets LLDP reach the host; empty: there is no sign that the NIC's firmware consumes it.
std::string lldp_agent_off(const Port& port);

// The switch port at the other end of the port's cable: from LLDP, else from the site's cable plan. nullopt: unknown.
std::optional<CableEnd> peer_of(const Node& node, const Policy* policy, const Port& port);

// Where the port belongs in the network. Each is empty if it is unknown.
struct RailPlace {
  std::string rail, plane, leaf;
};
// Rail and plane from [cabling] rails and planes, else from `rails` (rails_of()); the leaf switch by peer_of().
RailPlace rail_place(const Node& node, const Policy* policy, const Port& port,
                     const std::map<std::string, Rail>& rails = {});

// "leaf1 Ethernet3"
std::string peer_text(const Neighbor& neighbor);
std::string peer_text(const CableEnd& end);
// "leaf1 Ethernet3"; "the other end" without a name.
std::string peer_name(const Neighbor& neighbor);

}  // namespace fabric
