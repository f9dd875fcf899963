// SPDX-License-Identifier: Apache-2.0
#include "agentd/monitor.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>

#include "kernel/netlink/dcbnl.h"

namespace fabric::agentd {

Notification parse_rtnetlink(uint16_t type, View8 payload) {
  Notification note;
  if (type == RTM_SETDCB || type == RTM_GETDCB) {
    note.link.name = dcbnl::message_netdev(payload);
    if (!note.link.name.empty()) note.how = NotificationKind::dcb;
  } else if (type == RTM_NEWLINK || type == RTM_DELLINK) {
    auto link = rtnl::parse_link(payload);
    // Ignores a bridge's messages about its port: they lack the carrier, and say "gone" when the port leaves the bridge
    // (net/bridge/br_netlink.c, br_ifinfo_notify).
    if (!link || payload[0] == std::byte{AF_BRIDGE}) return note;
    note.link = std::move(*link);
    note.how = NotificationKind::link;
    note.gone = type == RTM_DELLINK;
  }
  return note;
}

Notification parse_ethtool(View8 payload) {
  constexpr uint16_t kHeaderNest = 1;  // ETHTOOL_A_LINKINFO_HEADER, ETHTOOL_A_PAUSE_HEADER, ...: 1 in every message
  Notification note;
  if (payload.size() < sizeof(genlmsghdr)) return note;
  const auto device = parse_nested(parse_attributes(payload, sizeof(genlmsghdr)), kHeaderNest);
  note.link.ifindex = static_cast<int>(value_of<uint32_t>(device, ETHTOOL_A_HEADER_DEV_INDEX).value_or(0));
  note.link.name = text_of(device, ETHTOOL_A_HEADER_DEV_NAME);
  if (note.link.ifindex == 0 && note.link.name.empty()) return note;
  genlmsghdr header{};
  std::memcpy(&header, payload.data(), sizeof header);
  switch (header.cmd) {
    case ETHTOOL_MSG_PRIVFLAGS_NTF:
    case ETHTOOL_MSG_RINGS_NTF:
    case ETHTOOL_MSG_CHANNELS_NTF:
    case ETHTOOL_MSG_PAUSE_NTF:
    case ETHTOOL_MSG_FEC_NTF: note.how = NotificationKind::ethtool; break;
    default: break;  // not of a setting of the agent
  }
  return note;
}

}  // namespace fabric::agentd
