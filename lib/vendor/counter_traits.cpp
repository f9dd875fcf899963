// SPDX-License-Identifier: Apache-2.0
#include "vendor/counter_traits.h"

namespace fabric {

CounterTraits counter_traits(std::string_view kernel_driver) {
  // The tick is not in sysfs. NVIDIA's devices count 8 bytes of the port since Quantum, 32 of a lane before
  // (ibdiagnet manual 2.13, "Congestion Assessment on InfiniBand Links"; its ib-traffic-monitor uses the same for
  // NICs).
  if (kernel_driver == "mlx5_core") return {.rdma_and_priority_bytes = true, .wait_tick_bytes = 8};
  if (kernel_driver == "bnxt_en") return {.rdma_and_priority_bytes = true, .storm_warning_stops_pause = true};
  if (kernel_driver == "efa") return {.multipath_transport = true};
  return {};
}

}  // namespace fabric
