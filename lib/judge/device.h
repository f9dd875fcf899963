// SPDX-License-Identifier: Apache-2.0
// The NIC as a device: its transport, counters that do not count, GIDs that change, devlink health reporters.
#pragma once

#include <span>

namespace fabric {

struct Rule;

std::span<const Rule> device_rules();

}  // namespace fabric
