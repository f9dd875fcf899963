// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/view.h"

namespace fabric {

// Every Threshold of checks and diagnosis rules, sorted by key: [thresholds] of the configuration.
std::span<const Threshold* const> thresholds();

}  // namespace fabric
