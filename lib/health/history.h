// SPDX-License-Identifier: Apache-2.0
// The findings of health rules in the past: for a log line, what the counters of its port showed at its time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/health.h"

namespace fabric {

// Adds what the states show after an update. `gap`: the seconds since the last one were not watched.
void follow_history(HealthHistory& history, const Health& health, bool gap);

// Findings of one of the subjects that lasted at `time` (seconds since boot) or ended in the two minutes before it: a
// connection breaks some time after its first packet is lost. One minute of readings after it counts, too.
std::vector<PastFinding> findings_at(const HealthHistory& history, const std::vector<std::string>& subjects,
                                     double time);

// The same moment in seconds since 1970.
int64_t wall_of(const Health& health, double time);

}  // namespace fabric
