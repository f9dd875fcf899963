// SPDX-License-Identifier: Apache-2.0
// A port's settings, as its driver reads them.
#pragma once

#include "nic/driver.h"
#include "node/node.h"

namespace fabric::qos {

PortIo port_io(Kernel& kernel, const Port& port);

// Settings that every reading has.
Keys always_read();
// The port's settings: always_read(), and the settings of `keys`, which cost a file or a firmware command each. ENODEV:
// the device is gone (a new device of the same name is another one), or was renamed before or during the reading.
// EAGAIN: the scan could not read the netdev.
// Without netlink (a captured tree) only the MTU.
Result<Reading> read(Kernel& kernel, const Port& port, const Keys& keys = Keys().set());
// Updates only `keys` in `have`.
Result<void> read_again(Kernel& kernel, const Port& port, const Keys& keys, Reading& have);

// The other ports of a bond (mlx5 RoCE LAG), as far as their settings can be read: of a member the bond, of a bond its
// members. Empty: the port is neither.
std::vector<Port> others_of_bond(const Root& root, const Port& port);

// The bond that the port's netdev is a member of, also one for IP only, whose members have RDMA devices of their own
// (Port::bond is empty then). Empty: none, or the port is a bond itself.
std::string bond_above(const Root& root, const Port& port);

// Driver::vendor_command of the port's driver, for a setting of `want`; empty: the driver can write the setting, or no
// command is known.
std::string vendor_command(const Port& port, const Setting& setting, const Qos& want);

// True if the kernel still has this netdev. ethtool returns ENODEV also for a netdev that its driver has detached,
// during a reset or for good (ethnl_ops_begin() of Linux 6.12).
bool is_there(Kernel& kernel, const Port& port);
// The new name of the port's netdev; empty: it has its name, or is gone.
std::string renamed_to(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
