// SPDX-License-Identifier: Apache-2.0
// Who changed a setting that has drifted, as far as there is evidence. The kernel does not name it: dcbnl, ethtool and
// link notifications carry port id 0 (net/dcb/dcbnl.c, net/ethtool/netlink.c, net/core/rtnetlink.c of Linux 6.12). A
// process that has a netlink socket open at that moment (/proc/net/netlink) and the netdev on its command line is one,
// and so is one that has a file of the setting open for writing; a daemon that merely runs is not.
#pragma once

#include "kernel/capture/root.h"
#include "node/node.h"
#include "setting/setting_table.h"

namespace fabric::qos {

// driver: loaded or reset, the device is a new one. link: retrained. process: another program. unnotified: no
// notification came, so it was firmware, the driver, or a writer of debugfs, configfs or sysfs.
enum class Cause : uint8_t { driver, link, firmware, process, unnotified };
std::string_view to_text(Cause value);

struct SuspectProcess {
  int pid = 0;          // 0: not known
  std::string started;  // /proc/PID/stat: a later process may have its number
  std::string name;     // "mlnx_qos (pid 812)", "tuned (pid 9, tuned.service)"
};
// Whether it still runs.
bool is_alive(const Root& root, const SuspectProcess& process);

// Observations since the setting was last in sync.
struct Evidence {
  bool new_device = false;
  bool carrier_lost = false;
  bool notified = false;       // by the notification that announces the setting
  SuspectProcess process{};    // find_writer() when it came
  bool firmware_dcbx = false;  // the NIC's firmware owns DCBX
};
struct Suspect {
  Cause cause = Cause::unnotified;
  std::string by;  // in words: "lldpad (pid 812)", "probably the NIC's firmware (DCBX)"
  SuspectProcess process{};
};
Suspect suspect_of(SettingId setting, const Evidence& evidence);

// The process that writes the netdev's settings now.
SuspectProcess find_writer(const Root& root, NotificationKind how, std::string_view netdev);
// The process that has a file of the port's settings open for writing: debugfs and sysfs of its function and netdev,
// configfs of its RDMA device. Processes with more privileges than the caller's are not seen, nor
// are any where the caller has confined itself (kernel/host/sandbox.h): Landlock closes /proc/PID/fd of others.
SuspectProcess find_holder(const Root& root, const Port& port);

}  // namespace fabric::qos
