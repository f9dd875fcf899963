// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/port.h"

#include <array>

namespace fabric {

// state_show() and phys_state_to_str() of drivers/infiniband/core/sysfs.c, Linux 6.12.
std::string_view port_state_text(unsigned state) {
  constexpr std::array<std::string_view, 6> kNames{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  if (state >= kNames.size()) return "UNKNOWN";
  return kNames[state];
}

std::string_view phys_state_text(unsigned phys_state) {
  constexpr std::array<std::string_view, 8> kNames{
      "", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"};
  if (phys_state == 0 || phys_state >= kNames.size()) return "<unknown>";
  return kNames[phys_state];
}

}  // namespace fabric
