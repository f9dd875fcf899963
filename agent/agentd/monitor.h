// SPDX-License-Identifier: Apache-2.0
// Kernel notifications: links and DCB (rtnetlink), ethtool settings (generic netlink).
#pragma once

#include "kernel/netlink/netlink.h"
#include "kernel/netlink/rtnl.h"
#include "settings/writer.h"

namespace fabric::agentd {

// One notification, as far as it concerns settings.
struct Notification {
  enum class Kind : uint8_t { other, link, link_gone, settings };
  Kind kind = Kind::other;
  rtnl::Link link;                                             // link, link_gone
  int ifindex = 0;                                             // settings: 0 when only the name is known
  std::string netdev;                                          // settings
  qos::NotificationKind how = qos::NotificationKind::nothing;  // which notification it was
};

// Pure. `type` and `payload` of one message from RTNLGRP_LINK or RTNLGRP_DCB.
Notification parse_route(uint16_t type, View8 payload);
// Pure. From the ethtool family's "monitor" group: every message has its device in the nest ETHTOOL_A_*_HEADER = 1
// (linux/ethtool_netlink.h).
Notification parse_ethtool(View8 payload);

}  // namespace fabric::agentd
