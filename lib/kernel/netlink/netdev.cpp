// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/netdev.h"

#include "kernel/netlink/rtnl.h"

namespace fabric {

Result<void> check_name(Netlink& route, const NetdevId& netdev) {
  if (netdev.ifindex == 0) return error(EINVAL, netdev.name + ": not written: its interface index is unknown");
  const auto link = rtnl::link_at(route, netdev.ifindex);
  if (!link && link.error().code == ENODEV) return error(ENODEV, netdev.name + ": the device is gone");
  if (!link) return error_about(netdev.name, link.error());
  if (link->name == netdev.name) return {};
  return error(ENODEV, netdev.name + ": renamed to " + link->name + " since it was read");
}

}  // namespace fabric
