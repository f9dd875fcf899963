// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/node.h"

namespace fabric::test {

// What a real server's platform says when all is well, of every GPU, NIC and bridge of the topology.
void add_healthy_platform(Node& node);

}  // namespace fabric::test
