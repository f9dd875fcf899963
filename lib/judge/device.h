// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/view.h"

namespace fabric {

// The GID belongs to the port's netdev or a VLAN of it ("ens1.100", "vlan100"), not to a macvlan, which containers
// create and remove.
bool is_own_gid(const View& view, const Port& port, const Gid& gid);

}  // namespace fabric
