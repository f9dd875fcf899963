// SPDX-License-Identifier: Apache-2.0
// The GIDs of a port.
#pragma once

#include "judge/view.h"

namespace fabric {

struct PortContext;

// The indices of the routable RoCE v2 GIDs of the family; both ends of a connection use the same family.
std::set<unsigned> gid_indices(const Node& node, const Port& port, bool ipv4);

// The port's own GIDs that were removed between the readings.
size_t gids_gone(const PortContext& ctx);

}  // namespace fabric
