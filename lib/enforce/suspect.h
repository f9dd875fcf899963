// SPDX-License-Identifier: Apache-2.0
// Finds the likely writer of a setting that has drifted. The kernel does not name it: dcbnl, ethtool and link
// notifications carry port id 0 (net/dcb/dcbnl.c, net/ethtool/netlink.c, net/core/rtnetlink.c of Linux 6.12). A process
// is suspect if, at the time of the notification, it has a netlink socket (/proc/net/netlink) and the netdev on its
// command line, or if it has a file of the setting open for writing. A daemon that merely runs is not suspect.
#pragma once

#include "kernel/capture/root.h"
#include "node/node.h"
#include "setting/setting_table.h"

namespace fabric::qos {

enum class Cause : uint8_t {
  driver,      // loaded or reset: the device is a new one
  link,        // retrained
  firmware,    // its DCBX
  process,     // another program
  unnotified,  // no notification came: firmware, the driver, or a writer of debugfs, configfs or sysfs
};
std::string_view to_text(Cause value);

struct SuspectProcess {
  int pid = 0;          // 0: unknown
  std::string started;  // start time from /proc/PID/stat, because a later process may have the same pid
  std::string name;     // "mlnx_qos (pid 812)", "tuned (pid 9, tuned.service)"
};
// True if the process still runs.
bool is_alive(const Root& root, const SuspectProcess& process);

// Observations since the setting was last in sync.
struct Evidence {
  bool new_device = false;
  bool carrier_lost = false;
  bool notified = false;       // a notification of the kind that announces the setting came
  SuspectProcess process{};    // find_writer() at that time
  bool firmware_dcbx = false;  // the NIC's firmware owns DCBX
};
struct Suspect {
  Cause cause = Cause::unnotified;
  std::string by;  // for people: "lldpad (pid 812)", "probably the NIC's firmware (DCBX)"
  SuspectProcess process{};
};
Suspect suspect_of(SettingId id, const Evidence& evidence);

// The process that is writing the netdev's settings now; pid 0: none was found.
SuspectProcess find_writer(const Root& root, NotificationKind how, std::string_view netdev);
// The process that has a file of the port's settings open for writing: debugfs of its function, sysfs of its netdev,
// configfs of its RDMA device. It does not see processes with more privileges than the caller has. A caller that has
// confined itself (kernel/host/sandbox.h) sees no process, because Landlock denies it /proc/PID/fd of others.
SuspectProcess find_holder(const Root& root, const Port& port);

}  // namespace fabric::qos
