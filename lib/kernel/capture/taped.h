// SPDX-License-Identifier: Apache-2.0
// Kernel interfaces with a tape between: recorded, or answered from it.
#pragma once

#include <memory>

#include "kernel/capture/tape.h"
#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/netlink.h"

namespace fabric {

// Records what `live` answers; a null `live` replays the tape, and questions that are not on it fail with EOPNOTSUPP.
std::unique_ptr<Netlink> on_tape(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape);
std::unique_ptr<ethtool::Statistics> on_tape(std::unique_ptr<ethtool::Statistics> live, std::shared_ptr<Tape> tape);

}  // namespace fabric
