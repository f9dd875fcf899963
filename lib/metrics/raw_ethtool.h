// SPDX-License-Identifier: Apache-2.0
// Driver statistics of the netdev (`ethtool -S`) under the drivers' own names, selected by [exporter] ethtool.
#pragma once

#include <span>
#include <string>

#include "metrics/family.h"
#include "model/node.h"

namespace fabric {

// Statistics that match the globs, with or without a common name. Adds up two statistics of one name on a port: drivers
// truncate names to 31 characters (ETH_GSTRING_LEN, linux/ethtool.h).
void add_ethtool(FamilySet& families, const Node& node, std::span<const std::string> globs);

}  // namespace fabric
