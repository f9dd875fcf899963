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
  Told how;
  bool daemon;
};
constexpr std::array kWriters{Writer{"dcb", Told::dcb, false},
                              Writer{"mlnx_qos", Told::dcb, false},
                              Writer{"lldptool", Told::dcb, false},
                              Writer{"dcbtool", Told::dcb, false},
                              Writer{"niccli", Told::dcb, false},
                              Writer{"lldpad", Told::dcb, true},
                              Writer{"fcoemon", Told::dcb, true},
                              Writer{"dcbd", Told::dcb, true},
                              Writer{"ethtool", Told::ethtool, false},
                              Writer{"tuned", Told::ethtool, true},
                              Writer{"NetworkManager", Told::ethtool, true},
                              Writer{"ip", Told::link, false},
                              Writer{"ifconfig", Told::link, false},
                              Writer{"ifup", Told::link, false},
                              Writer{"NetworkManager", Told::link, true},
                              Writer{"systemd-network", Told::link, true},
                              Writer{"tuned", Told::link, true}};

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

Told told_by(SettingId setting) {
  if (has(kDcb, setting)) return Told::dcb;
  if (has(kEthtool, setting)) return Told::ethtool;
  return setting == SettingId::mtu ? Told::link : Told::nothing;
}

Suspect judge(SettingId setting, const Evidence& seen) {
  const bool is_dcb = told_by(setting) == Told::dcb || setting == SettingId::dcbx;
  if (seen.new_device) return {Cause::driver, "the driver (loaded or reset: the device is a new one)"};
  if (!seen.writer.empty()) return {Cause::process, seen.writer};
  if (is_dcb && seen.firmware_dcbx) return {Cause::firmware, "the NIC's firmware (DCBX)"};
  if (seen.heard) return {Cause::process, seen.daemon.empty() ? "another process" : seen.daemon};
  if (seen.carrier_lost) return {Cause::link, "the link's retraining"};
  if (!seen.daemon.empty()) return {Cause::process, seen.daemon};
  return {Cause::unnotified, told_by(setting) == Told::nothing
                                 ? "an unknown writer (writes of this setting are not notified)"
                                 : "no notification: firmware, the driver, or a writer of debugfs or sysfs"};
}

std::string find_writer(const Root& root, Told how) {
  const auto sockets = root.read("proc/net/netlink");  // sk Eth Pid Groups ... (net/netlink/af_netlink.c)
  if (!sockets || how == Told::nothing) return {};
  const int protocol = how == Told::ethtool ? 16 : 0;     // NETLINK_GENERIC, NETLINK_ROUTE of linux/netlink.h
  std::vector<std::pair<std::string, std::string>> open;  // comm, pid
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

std::string find_daemon(const Root& root, Told how) {
  const auto entries = root.list("proc");
  if (!entries || how == Told::nothing) return {};
  for (const std::string& entry : *entries) {
    if (!parse_number<int>(entry)) continue;
    const std::string comm = comm_of(root, entry);
    for (const Writer& writer : kWriters)
      if (writer.daemon && writer.how == how && writer.comm == comm) return named(comm, entry);
  }
  return {};
}

}  // namespace fabric::qos
