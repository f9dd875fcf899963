// SPDX-License-Identifier: Apache-2.0
#include "vendor/capabilities.h"

namespace fabric {

// PortXmitWait: sysfs does not name its tick. NVIDIA devices count eight bytes of the port since Quantum, 32 of a lane
// before (ibdiagnet manual 2.13, "Congestion Assessment on InfiniBand Links"; ib-traffic-monitor uses the same for
// NICs).
constinit const DriverFacts kMlx5Facts{"mlx5_core",
                                       {.priority_bytes = true,
                                        .multi_pf_netdev = true,
                                        .transmit_wait_bytes = 8,
                                        .lldp_agent_off = "mlxconfig -d ADDRESS set LLDP_NB_RX_MODE_P1=0 "
                                                          "LLDP_NB_DCBX_P1=0, then mlxfwreset -d ADDRESS reset"}};

}  // namespace fabric
