// SPDX-License-Identifier: Apache-2.0
// Where check.cpp gets its rows from.
#pragma once

#include <vector>

#include "checks/check.h"

namespace fabric {

std::vector<Check> checks_in_files();     // one per file (registry.cpp.in)
std::vector<Check> checks_of_settings();  // one per row of kSettings
std::span<const Check> checks_of_health_rules();

}  // namespace fabric
