// SPDX-License-Identifier: Apache-2.0
// Node::network and Node::neighbors alone, for who has read the ports elsewhere.
#pragma once

#include "kernel/kernel.h"
#include "model/node.h"

namespace fabric::scanning {

// Fills them for the netdevs that node.ports and their GIDs name; opens no RDMA device. Failures are named in
// node.unseen.
void read_network(Kernel& kernel, Node& node);

}  // namespace fabric::scanning
