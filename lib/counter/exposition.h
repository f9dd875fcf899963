// SPDX-License-Identifier: Apache-2.0
// Families as text, in the Prometheus exposition format 0.0.4.
#pragma once

#include <string>

#include "counter/family.h"

namespace fabric {

// Sample for sample what prometheus-cpp's TextSerializer says, which prints with 16 digits; here a value is the shortest
// text that reads back as the same double, so integers up to 2^53 stand in full.
std::string to_exposition(const std::vector<Family>& families);

}  // namespace fabric
