// SPDX-License-Identifier: Apache-2.0
#include "settings/writer.h"

#include <algorithm>
#include <array>

#include "base/parse.h"

namespace fabric::qos {
namespace {

// By their comm. Tools before daemons: a tool that is there at the moment of the write is the writer.
struct Writer {
  std::string_view comm;
  NotificationKind how;
  bool daemon;
};
constexpr std::array kWriters{Writer{"dcb", NotificationKind::dcb, false},
                              Writer{"mlnx_qos", NotificationKind::dcb, false},
                              Writer{"lldptool", NotificationKind::dcb, false},
                              Writer{"dcbtool", NotificationKind::dcb, false},
                              Writer{"niccli", NotificationKind::dcb, false},
                              Writer{"lldpad", NotificationKind::dcb, true},
                              Writer{"fcoemon", NotificationKind::dcb, true},
                              Writer{"dcbd", NotificationKind::dcb, true},
                              Writer{"ethtool", NotificationKind::ethtool, false},
                              Writer{"tuned", NotificationKind::ethtool, true},
                              Writer{"NetworkManager", NotificationKind::ethtool, true},
                              Writer{"ip", NotificationKind::link, false},
                              Writer{"ifconfig", NotificationKind::link, false},
                              Writer{"ifup", NotificationKind::link, false},
                              Writer{"NetworkManager", NotificationKind::link, true},
                              Writer{"systemd-network", NotificationKind::link, true},
                              Writer{"tuned", NotificationKind::link, true}};

std::string comm_of(const Root& root, const std::string& pid) {
  auto comm = root.read_line("proc/" + pid + "/comm");
  return comm ? *comm : std::string();
}

std::string named(std::string_view comm, const std::string& pid) { return std::string(comm) + " (pid " + pid + ")"; }

constexpr std::array kDcb{SettingId::trust, SettingId::apptrust,     SettingId::dscp_map,
                          SettingId::ets,   SettingId::prio2buffer,  SettingId::buffer_size,
                          SettingId::pfc,   SettingId::cable_length, SettingId::maxrate};
constexpr std::array kEthtool{SettingId::fw_lldp, SettingId::pause,    SettingId::ring_rx,
                              SettingId::ring_tx, SettingId::channels, SettingId::fec};

template <class List>
bool has(const List& list, SettingId setting) {
  return std::find(list.begin(), list.end(), setting) != list.end();
}

}  // namespace

std::string_view to_text(Cause value) {
  switch (value) {
    case Cause::driver: return "driver";
    case Cause::link: return "link";
    case Cause::firmware: return "firmware";
    case Cause::process: return "process";
    case Cause::unnotified: break;
  }
  return "unnotified";
}

NotificationKind notification_of(SettingId setting) {
  if (has(kDcb, setting)) return NotificationKind::dcb;
  if (has(kEthtool, setting)) return NotificationKind::ethtool;
  return setting == SettingId::mtu ? NotificationKind::link : NotificationKind::nothing;
}

Suspect suspect_of(SettingId setting, const Evidence& seen) {
  const bool is_dcb = notification_of(setting) == NotificationKind::dcb || setting == SettingId::dcbx;
  if (seen.new_device) return {Cause::driver, "the driver (loaded or reset: the device is a new one)"};
  if (!seen.writer.empty()) return {Cause::process, seen.writer};
  if (is_dcb && seen.firmware_dcbx) return {Cause::firmware, "the NIC's firmware (DCBX)"};
  if (seen.notified) return {Cause::process, seen.daemon.empty() ? "another process" : seen.daemon};
  if (seen.carrier_lost) return {Cause::link, "the link's retraining"};
  if (!seen.daemon.empty()) return {Cause::process, seen.daemon};
  return {Cause::unnotified, notification_of(setting) == NotificationKind::nothing
                                 ? "an unknown writer (writes of this setting are not notified)"
                                 : "no notification: firmware, the driver, or a writer of debugfs or sysfs"};
}

std::string find_writer(const Root& root, NotificationKind how) {
  const auto sockets = root.read("proc/net/netlink");  // sk Eth Pid Groups ... (net/netlink/af_netlink.c)
  if (!sockets || how == NotificationKind::nothing) return {};
  const int protocol = how == NotificationKind::ethtool ? 16 : 0;  // NETLINK_GENERIC, NETLINK_ROUTE of linux/netlink.h
  std::vector<std::pair<std::string, std::string>> open;           // comm, pid
  for (std::string_view line : split(*sockets, '\n')) {
    const auto columns = words(line);
    if (columns.size() < 4 || parse_number<int>(columns[1]) != protocol) continue;
    const auto port = parse_number<uint32_t>(columns[2]);
    if (!port || *port == 0) continue;
    const std::string pid = std::to_string(*port & 0x3fffff);  // libnl numbers a process's further sockets above bit 22
    if (std::string comm = comm_of(root, pid); !comm.empty()) open.emplace_back(std::move(comm), pid);
  }
  for (const Writer& writer : kWriters)
    for (const auto& [comm, pid] : open)
      if (writer.how == how && writer.comm == comm) return named(comm, pid);
  return {};
}

std::string find_daemon(const Root& root, NotificationKind how) {
  const auto entries = root.list("proc");
  if (!entries || how == NotificationKind::nothing) return {};
  for (const std::string& entry : *entries) {
    if (!parse_number<int>(entry)) continue;
    const std::string comm = comm_of(root, entry);
    for (const Writer& writer : kWriters)
      if (writer.daemon && writer.how == how && writer.comm == comm) return named(comm, entry);
  }
  return {};
}

}  // namespace fabric::qos
