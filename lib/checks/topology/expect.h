// SPDX-License-Identifier: Apache-2.0
// Pins of the site in [expect]. `expect` reports a missed pin; the checks of symmetry then do not.
#pragma once

#include "checks/topology/pairing.h"
#include "model/view.h"

namespace fabric {

// The speed differs from [expect] speed, which applies to ports that serve GPUs.
bool misses_speed(const View& view, const Port& port, const std::set<std::string>& for_gpus);
// The nearest NIC is farther away than [expect] class.
bool misses_class(const View& view, const Placement& placed, size_t gpu);

}  // namespace fabric
