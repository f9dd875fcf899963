// SPDX-License-Identifier: Apache-2.0
// The writer of a drifted setting, as far as there is evidence. The kernel does not name it: dcbnl, ethtool and link
// notifications carry port id 0 (net/dcb/dcbnl.c, net/ethtool/netlink.c, net/core/rtnetlink.c of Linux 6.12). A process
// that has a netlink socket open at that moment (/proc/net/netlink) and the netdev on its command line is one; a daemon
// that merely runs is not.
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
  bool firmware_dcbx = false;  // the NIC's firmware owns DCBX
};
struct Suspect {
  Cause cause = Cause::unnotified;
  std::string by;  // in words: "lldpad (pid 812)", "the NIC's firmware (DCBX)"
};
Suspect suspect_of(SettingId setting, const Evidence& evidence);

// The process that writes the netdev's settings now: "mlnx_qos (pid 812)"; empty: not known.
std::string find_writer(const Root& root, NotificationKind how, std::string_view netdev);

}  // namespace fabric::qos
