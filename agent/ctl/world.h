// SPDX-License-Identifier: Apache-2.0
// Names of machine.h until every verb uses the new ones.
#pragma once

#include "ctl/machine.h"

namespace fabric::ctl {

using World = Machine;
inline Result<Machine> open_world(const Options& options) { return open_machine(options); }
inline Result<Machine> open_configured_world(const Options& options) { return open_configured_machine(options); }
inline Node look(Machine& machine, ScanOptions what) { return scan_machine(machine, std::move(what)); }

}  // namespace fabric::ctl
