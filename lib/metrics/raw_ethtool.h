// SPDX-License-Identifier: Apache-2.0
// Driver statistics of the netdev (`ethtool -S`) under the drivers' own names, for those who ask for them by name.
#pragma once

#include <span>
#include <string>

#include "metrics/family.h"
#include "model/node.h"

namespace fabric {

// What the globs ask for, whether it has a common name or not. Two statistics of one name on a port are added up:
// drivers cut names off at 31 letters (ETH_GSTRING_LEN, linux/ethtool.h).
void add_ethtool(FamilySet& families, const Node& node, std::span<const std::string> globs);

}  // namespace fabric
