// SPDX-License-Identifier: Apache-2.0
// The queue counters of mlx5's firmware, by the names of the devlink health reporter "vnic"
// (Documentation/networking/devlink/mlx5.rst, mlx5/core/diag/reporter_vnic.c of Linux 6.12).
#pragma once

#include <string_view>

namespace fabric {

inline constexpr std::string_view kVnicReporter = "vnic";

// A counter of faults. The reporter's other counters do not count faults: discarded packets are those that no rule of
// the netdev wants, and some count work.
struct VnicFault {
  std::string_view counter;
  std::string_view text;  // the counted objects or events, in the plural
  bool is_level = false;  // the number of queues in this state, which may fall
};
// The kernel describes the first one only as "number of queues in an error state": firmware may count them as they
// leave it.
inline constexpr VnicFault kVnicFaults[]{{"total_error_queues", "queues in error", true},
                                         {"cq_overrun", "completion queues overrun"},
                                         {"comp_eq_overrun", "completion event queues overrun"},
                                         {"async_eq_overrun", "asynchronous event queues overrun"},
                                         {"quota_exceeded_command", "commands beyond the quota"}};

}  // namespace fabric
