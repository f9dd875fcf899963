// SPDX-License-Identifier: Apache-2.0
// A port's settings, as its driver reads them.
#pragma once

#include "nic/driver.h"
#include "node/node.h"

namespace fabric::qos {

PortIo port_io(Kernel& kernel, const Port& port);

// The port's settings as its driver reads them, the costly ones among `keys` only; `limits`, if given, gets what the
// port could be set to. ENODEV: no such device any more (a new one of the same name is another). On a captured tree,
// without netlink, only the MTU.
Result<Qos> read(Kernel& kernel, const Port& port, const Keys& keys = Keys().set(), Limits* limits = nullptr);

// True if the kernel still has this netdev. ethtool returns ENODEV also for one that its driver has detached: in a
// reset, or for good (ethnl_ops_begin() of Linux 6.12).
bool is_there(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
