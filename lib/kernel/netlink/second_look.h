// SPDX-License-Identifier: Apache-2.0
// Settings by another interface than the one that writes them, for a self-test of the driver.
#pragma once

#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/fd.h"
#include "kernel/netlink/netlink.h"
#include "model/qos.h"

namespace fabric {

// PFC by the older CEE command (dcbnl_pfc_getcfg() of net/dcb/dcbnl.c), where the driver has it.
inline Result<PrioSet> cee_pfc(Netlink& route, const std::string& netdev) {
  dcbmsg header{};
  header.cmd = DCB_CMD_PFC_GCFG;
  AttrWriter all, out;
  all.flag(DCB_PFC_UP_ATTR_ALL);
  out.header(header).text(DCB_ATTR_IFNAME, netdev);
  out.bytes(DCB_ATTR_PFC_CFG, all.data());
  auto replies = route.talk(RTM_GETDCB, 0, out.data());
  if (!replies) return replies.error();
  for (const Message& reply : *replies) {
    const auto attributes = parse_attributes(reply.payload, sizeof(dcbmsg));
    const Attr* nest = find(attributes, DCB_ATTR_PFC_CFG);
    if (nest == nullptr) continue;
    PrioSet on;
    for (const Attr& each : parse_attributes(nest->value))
      if (each.type >= DCB_PFC_UP_ATTR_0 && each.type <= DCB_PFC_UP_ATTR_7 && each.u8().value_or(0) != 0)
        on.bits = static_cast<uint8_t>(on.bits | 1U << (each.type - DCB_PFC_UP_ATTR_0));
    return on;
  }
  return error(EPROTO, netdev + ": CEE PFC: not in the kernel's reply");
}

// Global pause by the SIOCETHTOOL ioctl (ethtool_get_pauseparam() of net/ethtool/ioctl.c).
inline Result<Pause> ioctl_pause(const std::string& netdev) {
  ifreq ifr{};
  ethtool_pauseparam pause{};
  pause.cmd = ETHTOOL_GPAUSEPARAM;
  if (netdev.size() >= sizeof ifr.ifr_name) return error(ENODEV, netdev + ": pause");
  std::copy(netdev.begin(), netdev.end(), ifr.ifr_name);
  ifr.ifr_data = reinterpret_cast<char*>(&pause);
  const Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd || ::ioctl(fd.get(), SIOCETHTOOL, &ifr) < 0) return error(errno, netdev + ": pause");
  return Pause{pause.rx_pause != 0, pause.tx_pause != 0};
}

}  // namespace fabric
