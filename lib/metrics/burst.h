// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metrics/family.h"
#include "node/burst.h"
#include "policy/policy.h"

namespace fabric {

// The samples of one port: the histogram of pause, and peaks; in the group "bursts" also load and events.
void add_bursts(FamilySet& families, const PortBursts& port, BurstRecord::Clock::time_point now,
                const Published& published);

}  // namespace fabric
