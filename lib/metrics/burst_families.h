// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "counters/burst.h"
#include "metrics/family.h"

namespace fabric {

// Histograms and peaks of the samples of one port.
void add_bursts(FamilySet& families, const PortBursts& port, BurstRecord::Clock::time_point now);

}  // namespace fabric
