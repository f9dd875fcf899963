// SPDX-License-Identifier: Apache-2.0
// A port's settings, as its driver reads them.
#pragma once

#include "nic/driver.h"
#include "node/node.h"

namespace fabric::qos {

PortIo port_io(Kernel& kernel, const Port& port);

// Settings that every reading has.
Keys always_read();
// The port's settings: those that cost a file or a firmware command of their own only if they are among `keys`, the
// others always. ENODEV: no such device any more (a new one of the same name is another). On a captured tree, without
// netlink, only the MTU.
Result<Reading> read(Kernel& kernel, const Port& port, const Keys& keys = Keys().set());
// Reads `keys` again, and nothing else.
Result<void> read_again(Kernel& kernel, const Port& port, const Keys& keys, Reading& have);

// True if the kernel still has this netdev. ethtool returns ENODEV also for one that its driver has detached: in a
// reset, or for good (ethnl_ops_begin() of Linux 6.12).
bool is_there(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
