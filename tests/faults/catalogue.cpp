// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "faults/fault.h"

namespace fabric::faults {

const std::vector<Area>& catalogue() {
  static const std::vector<Area> all{{"settings", settings_faults()}, {"topology", topology_faults()},
                                     {"host", host_faults()},         {"link", link_faults()},
                                     {"optics", optics_faults()},     {"congestion", congestion_faults()},
                                     {"software", software_faults()}};
  return all;
}

bool grow(Machine& machine, const std::vector<Grow>& all) {
  for (size_t i = 0; i < all.size(); ++i)
    if (!machine.raise(*all[i].metric, all[i].by, all[i].label) && i == 0) return false;
  return true;
}

Faults together(std::initializer_list<Faults> all) {
  Faults out;
  for (const Faults& each : all) out.insert(out.end(), each.begin(), each.end());
  return out;
}

}  // namespace fabric::faults
