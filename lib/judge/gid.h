// SPDX-License-Identifier: Apache-2.0
// The GIDs of a port.
#pragma once

#include "judge/view.h"

namespace fabric {

// The indices of the routable RoCE v2 GIDs of the family; both ends of a connection use the same family.
std::set<unsigned> gid_indices(const Node& node, const Port& port, bool ipv4);

}  // namespace fabric
