// SPDX-License-Identifier: Apache-2.0
// Finds the likely writer of a setting that has drifted. The kernel does not name it: dcbnl, ethtool and link
// notifications carry port id 0 (net/dcb/dcbnl.c, net/ethtool/netlink.c, net/core/rtnetlink.c of Linux 6.12). A process
// is suspect if, at the time of the notification, it has a netlink socket through which the change can have come and
// the netdev on its command line and CAP_NET_ADMIN, and if it is not a program that is known to change other settings
// only. A daemon that merely runs is not suspect. A writer that used an ioctl or a file leaves no such trace: its
// socket is not listed anywhere, and Landlock denies agentd the open files of others (/proc/PID/fd).
#pragma once

#include "kernel/capture/root.h"
#include "setting/setting_table.h"

namespace fabric::qos {

enum class DriftCause : uint8_t {
  driver,      // loaded or reset: the device is a new one
  link,        // retrained
  firmware,    // its DCBX
  process,     // another program
  unnotified,  // no notification came: firmware, the driver, or a writer of debugfs, configfs or sysfs
};
std::string_view to_text(DriftCause value);

struct SuspectProcess {
  int pid = 0;          // 0: unknown
  std::string started;  // start time from /proc/PID/stat, because a later process may have the same pid
  std::string name;     // "mlnx_qos (pid 812)", "possibly tuned (pid 9, tuned.service)" if nothing says what it writes
};
// True if the process still runs.
bool is_alive(const Root& root, const SuspectProcess& process);

// A process that could write a netdev's settings of one kind when a notification came.
struct Candidate {
  SuspectProcess process;
  std::string program;                 // "mlnx_qos"; of a script, its own name
  std::vector<std::string> arguments;  // its command line
};
// The processes with a socket of the protocol of `how`, the netdev on their command line and CAP_NET_ADMIN. A socket
// that is subscribed to notifications (column Groups of /proc/net/netlink) belongs to a listener, and does not count.
std::vector<Candidate> find_candidates(const Root& root, NotificationKind how, std::string_view netdev);
// The one candidate that can have changed the setting. pid 0: there is none, or more than one.
SuspectProcess writer_of(SettingId id, const std::vector<Candidate>& candidates);

// Observations since the setting was last in sync.
struct Evidence {
  bool new_device = false;
  bool carrier_lost = false;
  bool notified = false;       // a notification of the kind that announces the setting came
  SuspectProcess process{};    // writer_of() the setting at that time
  bool firmware_dcbx = false;  // the NIC's firmware owns DCBX
};
struct Suspect {
  DriftCause cause = DriftCause::unnotified;
  std::string by;  // for people: "mlnx_qos (pid 812)", "an unknown writer", "probably the NIC's firmware (DCBX)"
  SuspectProcess process{};
};
inline constexpr std::string_view kUnknownWriter = "an unknown writer";
Suspect suspect_of(SettingId id, const Evidence& evidence);

}  // namespace fabric::qos
