// SPDX-License-Identifier: Apache-2.0
// The host around the healthy node: a bare-metal server with two packages that runs Slurm and containers.
#pragma once

#include "model/node.h"

namespace fabric::test {

// Fills host and what of the topology the group "host" looks at; ports must stand.
void add_healthy_host(Node& node);

}  // namespace fabric::test
