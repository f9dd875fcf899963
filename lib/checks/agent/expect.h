// SPDX-License-Identifier: Apache-2.0
// What the site pins in [expect]. Where a pin is missed, `expect` says so and the check that judges by symmetry does
// not.
#pragma once

#include "checks/check.h"
#include "checks/topology/pairing.h"

namespace fabric {

// Its link is of another speed than [expect] speed, which is for ports that serve GPUs.
bool misses_speed(const View& view, const Port& port, const std::set<std::string>& for_gpus);
// Its nearest NIC is farther away than [expect] class.
bool misses_class(const View& view, const Placement& placed, size_t gpu);

}  // namespace fabric
