// SPDX-License-Identifier: Apache-2.0
// The module in this host's cage, as evidence for the cause of a link's symptoms.
#pragma once

#include "judge/port_context.h"

namespace fabric {

// Some lanes receive too little light.
MaybeCause rx_power_low(const PortContext& ctx);
// No lane receives light.
MaybeCause no_light(const PortContext& ctx);

// Without a link: some lanes receive light and others do not. So the far end is on, and the fault is of single lanes.
bool is_partly_lit(const Port& port);

// More of the packets that this port sends are lost than of those it receives, and its link has no errors: they are
// counted at the far end.
bool is_unheard(const PortContext& ctx);

// Damaged bits per bit, before FEC, that arrive at the module from the cable and from the NIC, as the module itself
// measures them (CMIS VDM): of the worst data path of this port; of both ports if the module serves two that are lit.
// Absent if it does not measure, or without a link.
struct InputErrors {
  std::optional<double> from_cable{}, from_nic{};
};
InputErrors input_errors(const Port& port);

}  // namespace fabric
