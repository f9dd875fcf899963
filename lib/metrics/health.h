// SPDX-License-Identifier: Apache-2.0
// Metrics of health rules, and of findings that are acknowledged or suppressed.
#pragma once

#include "judge/health.h"
#include "judge/report.h"
#include "metrics/family.h"
#include "policy/rules.h"

namespace fabric {

// The number of findings that each rule has begun, so that increase() sees a fault that ends before the next scrape.
void add_events(FamilySet& families, const Health& health, const RulePolicy& rules);
// Value, phase and start of each rule that is not ok.
void add_health(FamilySet& families, const Health& health);
// 1 for each acknowledged finding.
void add_acknowledged(FamilySet& families, const Report& report);
// 1 for each suppressed finding, and the end of each suppression of the configuration.
void add_suppressed(FamilySet& families, const Report& report, const RulePolicy& rules);

}  // namespace fabric
