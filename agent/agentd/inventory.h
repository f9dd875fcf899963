// SPDX-License-Identifier: Apache-2.0
// The inventory of the last good state.
#pragma once

#include "base/result.h"
#include "kernel/kernel.h"

namespace fabric::agentd {

// Scans, and writes the inventory if it is new or has grown, no check of the node's parts complains, and nothing in it
// is gone. Returns a line for the journal; empty: there was nothing to write. A file that cannot be read is kept: the
// check `inventory` reports it.
Result<std::string> record_inventory(Kernel& kernel, const std::string& directory);

}  // namespace fabric::agentd
