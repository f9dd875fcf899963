// SPDX-License-Identifier: Apache-2.0
// The module in this host's cage, as evidence for the cause of a link's symptoms.
#pragma once

#include "judge/port_context.h"

namespace fabric {

// The module is missing, not accepted by the NIC, or failing.
MaybeCause module_trouble(const PortContext& ctx);
// Some lanes receive too little light.
MaybeCause rx_power_low(const PortContext& ctx);
// No lane receives light.
MaybeCause no_light(const PortContext& ctx);

}  // namespace fabric
