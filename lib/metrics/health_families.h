// SPDX-License-Identifier: Apache-2.0
// Health states and acknowledgements -> families.
#pragma once

#include "metrics/family.h"
#include "model/health.h"
#include "model/report.h"

namespace fabric {

// How often each rule's findings have begun: increase() sees a fault that is over before the next scrape.
void add_events(FamilySet& families, const Health& health);
// Value, phase and start of each rule that is not ok.
void add_health(FamilySet& families, const Health& health);
// 1 for each acknowledged finding.
void add_acknowledged(FamilySet& families, const Report& report);

}  // namespace fabric
