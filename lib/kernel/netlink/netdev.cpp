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

Result<void> check_name_kept(Netlink& route, const NetdevId& netdev) {
  const auto now = rtnl::link_at(route, netdev.ifindex);
  if (now && now->name == netdev.name) return {};
  if (!now && now.error().code != ENODEV) return {};
  const auto other = rtnl::link(route, netdev.name);
  // No device has got the write instead; or the device has the name as an alternative one.
  if (!other || other->ifindex == netdev.ifindex) return {};
  return error(ESTALE, netdev.name + ": renamed or removed during the write, which interface " +
                           std::to_string(other->ifindex) + ", named " + netdev.name +
                           " now, may have got instead: compare its settings");
}

}  // namespace fabric
