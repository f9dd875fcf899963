// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/port.h"

#include <array>

namespace fabric {

// state_show() and phys_state_to_str() of drivers/infiniband/core/sysfs.c, Linux 6.12.
std::string_view port_state_text(unsigned state) {
  constexpr std::array<std::string_view, 6> kNames{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return state < kNames.size() ? kNames[state] : "UNKNOWN";
}

std::string_view phys_state_text(unsigned phys_state) {
  constexpr std::array<std::string_view, 8> kNames{
      "", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"};
  return phys_state > 0 && phys_state < kNames.size() ? kNames[phys_state] : "<unknown>";
}

}  // namespace fabric
