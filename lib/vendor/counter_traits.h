// SPDX-License-Identifier: Apache-2.0
// How a driver's counters differ in meaning from others of the same name.
#pragma once

#include <string_view>

namespace fabric {

struct CounterTraits {
  // The transport retransmits over other paths in normal operation: its timeouts and duplicates are not losses.
  bool multipath_transport = false;
  // RDMA bytes and bytes per priority are both counted, so that one can be compared with the other.
  bool rdma_and_priority_bytes = false;
  // A PFC storm warning means that the NIC stops sending pause (Broadcom: PFC of the RoCE queue is turned off).
  bool storm_warning_stops_pause = false;
  // Bytes of the port's rate per tick of port_xmit_wait, at least. 0: unknown.
  double wait_tick_bytes = 0;
};
CounterTraits counter_traits(std::string_view kernel_driver);

}  // namespace fabric
