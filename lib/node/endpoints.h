// SPDX-License-Identifier: Apache-2.0
// Where RDMA connections end on a NIC whose physical function has none: behind the uplink of an E-Switch in switchdev
// mode.
#pragma once

#include "node/node.h"

namespace fabric {

// The virtual functions and subfunctions of the port's function that have an RDMA device here.
std::vector<const Port*> functions_of(const Node& node, const Port& port);
// The port with the wire of a virtual function or a subfunction. Null: it is not here, or the port is neither.
const Port* physical_of(const Node& node, const Port& function);

// Whether jobs on this machine are expected to use the port, so that its GIDs, MTU and state must be in order: all
// endpoints but the virtual functions and subfunctions of a host, which may be waiting for a guest or a pod. Those
// count if the uplink of their E-Switch is no endpoint.
bool serves_jobs(const Node& node, const Port& port);

// The ports by which jobs use the NIC: its own endpoints; if it has none, those functions behind its uplink.
std::vector<const Port*> endpoints_of(const Node& node, const Nic& nic);

}  // namespace fabric
