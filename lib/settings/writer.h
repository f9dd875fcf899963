// SPDX-License-Identifier: Apache-2.0
// The likely writer of a drifted setting. The kernel does not name it: dcbnl, ethtool and link notifications carry
// port id 0 (net/dcb/dcbnl.c, net/ethtool/netlink.c, net/core/rtnetlink.c of Linux 6.12). The kernel only shows who has
// a netlink socket open at that moment (/proc/net/netlink).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernel/capture/root.h"
#include "model/qos.h"

namespace fabric::qos {

// driver: loaded or reset, the device is a new one. link: retrained. process: another program. unnotified: no
// notification came, so it was firmware, the driver, or a writer of debugfs, configfs or sysfs.
enum class Cause : uint8_t { driver, link, firmware, process, unnotified };
std::string_view to_text(Cause value);

// The notification that follows when a program writes the setting.
enum class NotificationKind : uint8_t { nothing, dcb, ethtool, link };
NotificationKind notification_of(SettingId setting);

// Observations since the setting was last in sync.
struct Evidence {
  bool new_device = false;
  bool carrier_lost = false;
  bool notified = false;       // by the notification of notification_of()
  std::string writer{};        // find_writer() when it came; empty: unknown
  std::string daemon{};        // find_daemon(), running now
  bool firmware_dcbx = false;  // the NIC's firmware owns DCBX
};
struct Suspect {
  Cause cause = Cause::unnotified;
  std::string by;  // in words: "lldpad (pid 812)", "the NIC's firmware (DCBX)"
};
Suspect suspect_of(SettingId setting, const Evidence& evidence);

// A program that is known to write such settings and has a netlink socket open now: "mlnx_qos (pid 812)"; empty: none.
std::string find_writer(const Root& root, NotificationKind how);
// A running daemon that is known to enforce such settings itself: "lldpad (pid 812)"; empty: none. Lists /proc.
std::string find_daemon(const Root& root, NotificationKind how);

}  // namespace fabric::qos
