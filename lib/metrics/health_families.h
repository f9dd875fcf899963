// SPDX-License-Identifier: Apache-2.0
// Health states and acknowledgements -> families.
#pragma once

#include "metrics/family.h"
#include "model/health.h"
#include "model/report.h"

namespace fabric {

// What is not ok only: how bad it is measured to be, since when it is raised.
void add_health(FamilySet& families, const Health& health);
// 1 for each finding that an operator knows of.
void add_acknowledged(FamilySet& families, const Report& report);

}  // namespace fabric
