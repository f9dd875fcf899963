// SPDX-License-Identifier: Apache-2.0
#include "vendor/capabilities.h"

namespace fabric {

constinit const DriverFacts kBnxtFacts{"bnxt_en",
                                       {.priority_bytes = true,
                                        .storm_warning_stops_pause = true,
                                        .lldp_agent_off = "niccli: LLDP nearest bridge agent off in the NIC's NVM"}};

constinit const DriverFacts kBngeFacts{"bng_en", {.priority_bytes = true}};

}  // namespace fabric
