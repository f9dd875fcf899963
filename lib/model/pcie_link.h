// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace fabric {

// PCI Express link of one function, as sysfs names it: giga-transfers per second and lanes.
struct PcieLink {
  std::optional<double> speed, max_speed;  // GT/s
  std::optional<unsigned> width, max_width;
  bool operator==(const PcieLink&) const = default;
};

}  // namespace fabric
