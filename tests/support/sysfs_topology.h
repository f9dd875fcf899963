// SPDX-License-Identifier: Apache-2.0
// The oracle that load_topology() is compared with: a walk of sysfs alone, without hwloc.
#pragma once

#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric::test {

Result<Topology> sysfs_topology(const Root& root);

}  // namespace fabric::test
