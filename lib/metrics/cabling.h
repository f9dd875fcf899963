// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metrics/family.h"
#include "node/node.h"
#include "policy/policy.h"
#include "topology/built.h"

namespace fabric {

// The switch port at the other end of the cable (peer_of()), and rail, plane and leaf switch (rail_place()).
void add_neighbors(FamilySet& families, const Node& node, const Policy* policy,
                   const std::map<std::string, Rail>& rails = {});

}  // namespace fabric
