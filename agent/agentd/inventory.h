// SPDX-License-Identifier: Apache-2.0
// The inventory of the last good state.
#pragma once

#include "base/result.h"
#include "kernel/kernel.h"

namespace fabric::agentd {

// Scans the machine and writes the inventory if it is new or has grown and none of its parts is missing or degraded,
// with what the checks find odd about the parts. Returns a line for the journal; empty: nothing was written. An
// unreadable file is kept, and the check `inventory` reports it.
Result<std::string> record_inventory(Kernel& kernel, const std::string& directory);

}  // namespace fabric::agentd
