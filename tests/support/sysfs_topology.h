// SPDX-License-Identifier: Apache-2.0
// The reference for load_topology(): reads the topology from sysfs only, without hwloc.
#pragma once

#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric::test {

Result<Topology> sysfs_topology(const Root& root);

}  // namespace fabric::test
