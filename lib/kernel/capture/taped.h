// SPDX-License-Identifier: Apache-2.0
// Kernel interfaces with a tape between: recorded, or answered from it.
#pragma once

#include <memory>

#include "kernel/capture/tape.h"
#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/netlink.h"

namespace fabric {

// Records what `live` answers; a null `live` is a replay, where what is not on the tape fails with EOPNOTSUPP.
std::unique_ptr<Netlink> on_tape(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape);
std::unique_ptr<ethtool::Statistics> on_tape(std::unique_ptr<ethtool::Statistics> live, std::shared_ptr<Tape> tape);

}  // namespace fabric
