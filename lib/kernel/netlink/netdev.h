// SPDX-License-Identifier: Apache-2.0
// A netdev as it was read: its name may belong to another device by the time of a write.
#pragma once

#include "kernel/netlink/netlink.h"

namespace fabric {

// The argument of every write of a netdev, in place of its name. rtnetlink and ethtool are addressed by the index
// (ifi_index of ifinfomsg, ETHTOOL_A_HEADER_DEV_INDEX); dcbnl has only a name (dcb_doit() of net/dcb/dcbnl.c, Linux
// 6.12), which is checked directly before the message.
struct NetdevId {
  std::string name;
  int ifindex = 0;
};

// Ok: the device with this index still has this name. ENODEV: it was renamed ("eth0: renamed to eth1 ...") or is gone.
// EINVAL: the index is 0.
Result<void> check_name(Netlink& route, const NetdevId& netdev);
// After a write that named the device. ESTALE: the device was renamed or removed since check_name(), and the write may
// have reached the device that has the name now, whose earlier settings are unknown here: the error names it. Ok also
// if it cannot be determined.
Result<void> check_name_kept(Netlink& route, const NetdevId& netdev);

}  // namespace fabric
