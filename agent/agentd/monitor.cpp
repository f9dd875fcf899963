// SPDX-License-Identifier: Apache-2.0
#include "agentd/monitor.h"

#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "kernel/netlink/dcbnl.h"

namespace fabric::agentd {
Notification parse_route(uint16_t type, View8 payload) {
  Notification note;
  if (type == RTM_SETDCB || type == RTM_GETDCB) {
    note.netdev = dcbnl::message_netdev(payload);
    note.how = qos::NotificationKind::dcb;
    note.kind = note.netdev.empty() ? Notification::Kind::other : Notification::Kind::settings;
  } else if (type == RTM_NEWLINK || type == RTM_DELLINK) {
    auto link = rtnl::parse_link(payload);
    // A bridge about its port: without its carrier, and "gone" when it leaves the bridge (net/bridge/br_netlink.c,
    // br_ifinfo_notify).
    if (!link || payload[0] == std::byte{AF_BRIDGE}) return note;
    note.link = std::move(*link);
    note.how = qos::NotificationKind::link;
    note.kind = type == RTM_NEWLINK ? Notification::Kind::link : Notification::Kind::link_gone;
  }
  return note;
}

Notification parse_ethtool(View8 payload) {
  constexpr uint16_t kHeaderNest = 1;  // ETHTOOL_A_LINKINFO_HEADER, ETHTOOL_A_PAUSE_HEADER, ...: 1 in every message
  Notification note;
  if (payload.size() < sizeof(genlmsghdr)) return note;
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const Attr* header = find(attributes, kHeaderNest);
  if (header == nullptr) return note;
  auto device = parse_attributes(header->value);
  if (const Attr* index = find(device, ETHTOOL_A_HEADER_DEV_INDEX))
    note.ifindex = static_cast<int>(index->u32().value_or(0));
  if (const Attr* name = find(device, ETHTOOL_A_HEADER_DEV_NAME)) note.netdev = name->text();
  if (note.ifindex != 0 || !note.netdev.empty()) note.kind = Notification::Kind::settings;
  note.how = qos::NotificationKind::ethtool;
  return note;
}

}  // namespace fabric::agentd
