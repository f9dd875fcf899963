// SPDX-License-Identifier: Apache-2.0
// Where check.cpp gets its rows from.
#pragma once

#include <vector>

#include "checks/check.h"

namespace fabric {

std::vector<Check> checks_in_files();     // the rows that CMake finds (registry.cpp.in)
std::vector<Check> checks_of_settings();  // one per row of kSettings

}  // namespace fabric
