// SPDX-License-Identifier: Apache-2.0
#include "settings/writer.h"

#include <algorithm>
#include <array>

#include "base/parse.h"

namespace fabric::qos {
namespace {

// Words of a command that only reads.
constexpr std::array<std::string_view, 5> kReads{"show", "list", "get", "monitor", "-S"};

// "mlnx_qos (pid 812)" if the process was called for the netdev.
std::string named(const Root& root, const std::string& pid, std::string_view netdev) {
  const auto line = root.read("proc/" + pid + "/cmdline");
  const auto comm = root.read_line("proc/" + pid + "/comm");
  if (!line || !comm) return {};
  const auto words = split(*line, '\0');
  const bool reads = std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return std::find(kReads.begin(), kReads.end(), word) != kReads.end();
  });
  if (reads || std::find(words.begin(), words.end(), netdev) == words.end()) return {};
  return *comm + " (pid " + pid + ")";
}

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
  if (seen.notified) return {Cause::process, "another process"};
  if (is_dcb && seen.firmware_dcbx) return {Cause::firmware, "the NIC's firmware (DCBX)"};
  if (seen.carrier_lost) return {Cause::link, "the link's retraining"};
  return {Cause::unnotified, notification_of(setting) == NotificationKind::nothing
                                 ? "an unknown writer (writes of this setting are not notified)"
                                 : "no notification: firmware, the driver, or a writer of debugfs or sysfs"};
}

std::string find_writer(const Root& root, NotificationKind how, std::string_view netdev) {
  const auto sockets = root.read_text("proc/net/netlink");  // sk Eth Pid Groups ... (net/netlink/af_netlink.c)
  if (!sockets || how == NotificationKind::nothing) return {};
  const int protocol = how == NotificationKind::ethtool ? 16 : 0;  // NETLINK_GENERIC, NETLINK_ROUTE of linux/netlink.h
  for (std::string_view line : split(*sockets, '\n')) {
    const auto columns = words(line);
    if (columns.size() < 4 || parse_number<int>(columns[1]) != protocol) continue;
    const auto port = parse_number<uint32_t>(columns[2]);
    if (!port || *port == 0) continue;
    const std::string pid = std::to_string(*port & 0x3fffff);  // libnl numbers a process's further sockets above bit 22
    if (std::string writer = named(root, pid, netdev); !writer.empty()) return writer;
  }
  return {};
}

}  // namespace fabric::qos
