// SPDX-License-Identifier: Apache-2.0
#include "model/bond.h"

namespace fabric::qos {

Keys own_keys(const Port& port) {
  if (port.bond.empty()) return Keys().set();
  Keys of_bond;
  for (const std::string_view key : {"mtu", "roce_mode", "roce_tos", "traffic_class", "optional_counters"})
    of_bond.set(*setting_index(key));
  return port.bond == port.netdev ? of_bond : ~of_bond;
}

}  // namespace fabric::qos
