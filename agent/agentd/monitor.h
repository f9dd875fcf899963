// SPDX-License-Identifier: Apache-2.0
// Kernel notifications: links and DCB (rtnetlink), ethtool settings (generic netlink).
#pragma once

#include "enforce/suspect.h"
#include "kernel/netlink/rtnl.h"

namespace fabric::agentd {

// The part of a notification that concerns settings.
struct Notification {
  NotificationKind how = NotificationKind::nothing;
  bool gone = false;  // the link was removed
  rtnl::Link link{};  // a notification of a setting has only its ifindex (0: unknown) and name
};

// Pure. `type` and `payload` of one message from RTNLGRP_LINK or RTNLGRP_DCB.
Notification parse_rtnetlink(uint16_t type, View8 payload);
// Pure. From the ethtool family's "monitor" group: every message has its device in the nest ETHTOOL_A_*_HEADER = 1
// (linux/ethtool_netlink.h).
Notification parse_ethtool(View8 payload);

}  // namespace fabric::agentd
