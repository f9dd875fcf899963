// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metrics/family.h"
#include "node/node.h"
#include "policy/policy.h"

namespace fabric {

// Telemetry other than counters of every port and device of the node, in order of importance. Call it after
// add_counters(): a sum that add_counters() has added (link downs, FEC words) is not added again.
void add_telemetry(FamilySet& families, const Node& node, const Published& published);

}  // namespace fabric
