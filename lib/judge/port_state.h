// SPDX-License-Identifier: Apache-2.0
// The state of a port: whether it is up, and whether it should be.
#pragma once

#include "judge/port_context.h"

namespace fabric {

// Why a port is down by design; nullopt: it is not down, or should be up. While another port is active, a port is down
// by design if it is
// - the second port of a card, and equal ports on other cards are down too;
// - an onboard port; or
// - administratively down or without a module, no equal port is active and it is not beside a GPU.
// A port that was up in `before` or has a planned cable should be up.
std::optional<std::string> why_unused(const View& view, const Port& port);

// The finding of the rule port-state about a port; nullopt: it is not judged, or in order.
std::optional<Finding> port_state_fault(const View& view, const Port& port);
// The fix for the state of the port or function; empty if it has no fault.
Fix fix_of_state(const View& view, const Port& port);

// How to give a port of an NVIDIA NIC the link layer.
Fix fix_of_link_layer(const std::string& pci, LinkLayer layer);

// The link of a guest's function is that of a physical function, which is on its host.
Fix fix_of_far_link();

// Where the physical function of a guest's function is, as the beginning of a fix there: "On the host"; in a virtual
// machine, and with a NIC that only clouds have, "Ask the operator of the host". Empty: it is here.
std::string place_of_physical(const View& view, const Port& function);

// The port is down and the NIC's reason contains one of the texts.
MaybeCause by_reason(const PortContext& ctx, std::initializer_list<std::string_view> reasons);

}  // namespace fabric
