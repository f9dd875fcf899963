// SPDX-License-Identifier: Apache-2.0
#include "model/bond.h"

namespace fabric::qos {

Keys own_keys(const Port& port) {
  if (port.bond.empty()) return Keys().set();
  Keys of_bond;
  for (const SettingId setting : {SettingId::mtu, SettingId::roce_mode, SettingId::roce_tos, SettingId::traffic_class,
                                  SettingId::optional_counters})
    of_bond.set(index(setting));
  return port.bond == port.netdev ? of_bond : ~of_bond;
}

}  // namespace fabric::qos
