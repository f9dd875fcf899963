// SPDX-License-Identifier: Apache-2.0
// The module in this host's cage, as evidence for the cause of a link's symptoms.
#pragma once

#include "judge/port_context.h"

namespace fabric {

// It is missing, not accepted by the NIC, or failing; low light on some lanes; none on all of them.
MaybeCause module_trouble(const PortContext& ctx);
MaybeCause rx_power_low(const PortContext& ctx);
MaybeCause no_light(const PortContext& ctx);

}  // namespace fabric
