// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "counters/burst.h"
#include "metrics/family.h"
#include "model/policy.h"

namespace fabric {

// Of the samples of one port: the histogram of pause, and peaks. The group "bursts": also the histogram of load, and
// events.
void add_bursts(FamilySet& families, const PortBursts& port, BurstRecord::Clock::time_point now,
                const Published& published = {});

}  // namespace fabric
