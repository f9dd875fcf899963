// SPDX-License-Identifier: Apache-2.0
// Which lane of a link damages bits.
#pragma once

#include <cstddef>
#include <optional>

#include "model/node.h"

namespace fabric {

struct BadLane {
  size_t lane = 0;
  double share = 0;  // of the errors of all lanes
};

// The lane with at least 90 % of the errors between two readings: by FEC's own counters (uncorrectable words, else
// corrected bits), else by the driver's counters of raw errors (kPhyLaneErrors). A bad reference clock or a bad switch
// port would damage all lanes.
std::optional<BadLane> bad_lane(const Port& before, const Port& now);

}  // namespace fabric
