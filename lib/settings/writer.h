// SPDX-License-Identifier: Apache-2.0
// Who moved a setting, as far as it can be known. The kernel does not say: dcbnl, ethtool and link notifications carry
// port id 0 (net/dcb/dcbnl.c, net/ethtool/netlink.c, net/core/rtnetlink.c of Linux 6.12). What it shows is who has a
// netlink socket open at that moment (/proc/net/netlink).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernel/capture/root.h"
#include "model/qos.h"

namespace fabric::qos {

// driver: loaded or reset, the device is a new one. link: trained anew. process: another program. unnotified: no
// notification came, so it was firmware, the driver, or a writer of debugfs, configfs or sysfs.
enum class Cause : uint8_t { driver, link, firmware, process, unnotified };
std::string_view to_text(Cause value);

// Which notification follows a write of the setting by a program.
enum class Told : uint8_t { nothing, dcb, ethtool, link };
Told told_by(SettingId setting);

// What was seen since the setting was last as wanted.
struct Evidence {
  bool new_device = false;
  bool carrier_lost = false;
  bool heard = false;          // the notification that told_by() names
  std::string writer{};        // find_writer() when it came; empty: nobody known
  std::string daemon{};        // find_daemon(), running now
  bool firmware_dcbx = false;  // the NIC's firmware owns DCBX
};
struct Suspect {
  Cause cause = Cause::unnotified;
  std::string by;  // in words: "lldpad (pid 812)", "the NIC's firmware (DCBX)"
};
Suspect judge(SettingId setting, const Evidence& evidence);

// A program that is known to write such settings and has a netlink socket open now: "mlnx_qos (pid 812)"; empty: none.
std::string find_writer(const Root& root, Told how);
// A daemon that is known to keep such settings its own way and runs: "lldpad (pid 812)"; empty: none. Lists /proc.
std::string find_daemon(const Root& root, Told how);

}  // namespace fabric::qos
