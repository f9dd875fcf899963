// SPDX-License-Identifier: Apache-2.0
// How a rule's state follows its readings: a window, a wait before it is raised, a wait before it clears. Pure.
#pragma once

#include "health/rule.h"

namespace fabric {

// nullptr: no reading, which neither confirms nor clears. A clock that goes back restarts the waits.
void advance(HealthState& state, const HealthRule& rule, const HealthLimits& limits, const HealthReading* reading,
             double now);

// Not read for so long that the state is dropped.
bool is_forgotten(const HealthState& state, const HealthLimits& limits, double now);

// One reading without a memory: its own window, no confirmation.
Status status_of_reading(const HealthRule& rule, const HealthLimits& limits, const HealthReading& reading);

}  // namespace fabric
