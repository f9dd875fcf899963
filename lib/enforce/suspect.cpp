// SPDX-License-Identifier: Apache-2.0
#include "enforce/suspect.h"

#include <unistd.h>

#include <algorithm>

#include "base/parse.h"

namespace fabric::qos {
namespace {

// Words of a command that only reads.
constexpr std::array<std::string_view, 5> kReads{"show", "list", "get", "monitor", "-S"};

// The start time of the process: field 22 of its stat file, counted after the command in parentheses
// (proc_pid_stat(5)).
std::string start_of(const Root& root, const std::string& pid) {
  const std::string stat = root.line_of("proc/" + pid + "/stat");
  const auto fields = words(std::string_view(stat).substr(std::min(stat.rfind(')') + 1, stat.size())));
  if (fields.size() <= 19) return {};
  return std::string(fields[19]);
}

SuspectProcess process_of(const Root& root, const std::string& pid) {
  const auto comm = root.read_line("proc/" + pid + "/comm");
  const auto number = parse_number<int>(pid);
  if (!comm || !number) return {};
  std::string name = *comm + " (pid " + pid;
  // "lldpad.service" from "0::/system.slice/lldpad.service"
  const std::string unit = base_name(root.line_of("proc/" + pid + "/cgroup"));
  if (unit.ends_with(".service")) name += ", " + unit;
  return {*number, start_of(root, pid), name + ")"};
}

// True if the open file is one of the port's settings: parameters of mlx5 and bnxt_re (debugfs), rdma_cm and irdma
// (configfs), files of OFED (sysfs).
bool is_setting_file(std::string_view file, const Port& port) {
  std::string part;
  if (file.starts_with("sys/kernel/debug/") && !port.pci.empty()) part = "/" + port.pci + "/";
  if (file.starts_with("sys/kernel/config/") && !port.rdma.empty()) part = "/" + port.rdma + "/";
  if (file.starts_with("sys/devices/") && !port.netdev.empty()) part = "/net/" + port.netdev + "/";
  return !part.empty() && file.find(part) != std::string_view::npos;
}

// By the octal "flags:" of /proc/PID/fdinfo/FD.
bool is_open_for_writing(const Root& root, const std::string& process, const std::string& fd) {
  const std::string info = root.text_of(process + "/fdinfo/" + fd);
  for (std::string_view line : split(info, '\n'))
    if (const auto cells = words(line); cells.size() == 2 && cells[0] == "flags:" && !cells[1].empty())
      return (cells[1].back() - '0') % 4 != 0;  // O_ACCMODE
  return false;
}

}  // namespace

std::string_view to_text(Cause value) {
  constexpr std::array<std::string_view, 5> kTexts{"driver", "link", "firmware", "process", "unnotified"};
  return kTexts[static_cast<size_t>(value)];
}

Suspect suspect_of(SettingId id, const Evidence& seen) {
  const Setting& setting = setting_of(id);
  if (seen.new_device) return {Cause::driver, "the driver (loaded or reset: the device is a new one)"};
  if (seen.process.pid != 0) return {Cause::process, seen.process.name, seen.process};
  if (seen.notified) return {Cause::process, "another process"};
  if (setting.group == SettingGroup::dcb && seen.firmware_dcbx)
    return {Cause::firmware, "probably the NIC's firmware (DCBX), or a DCB agent in CEE mode (lldpad)"};
  if (seen.carrier_lost) return {Cause::link, "probably the link's retraining"};
  if (setting.announced == NotificationKind::nothing)
    return {Cause::unnotified, "an unknown writer (writes of this setting are not notified)"};
  return {Cause::unnotified, "no notification: firmware, the driver, or a writer of debugfs or sysfs"};
}

bool is_alive(const Root& root, const SuspectProcess& process) {
  return process.pid != 0 && !process.started.empty() && start_of(root, std::to_string(process.pid)) == process.started;
}

SuspectProcess find_writer(const Root& root, NotificationKind how, std::string_view netdev) {
  if (how == NotificationKind::nothing) return {};
  const std::string sockets = root.text_of("proc/net/netlink");    // sk Eth Pid Groups ... (net/netlink/af_netlink.c)
  const int protocol = how == NotificationKind::ethtool ? 16 : 0;  // NETLINK_GENERIC, NETLINK_ROUTE of linux/netlink.h
  for (std::string_view line : split(sockets, '\n')) {
    const auto columns = words(line);
    if (columns.size() < 4 || parse_number<int>(columns[1]) != protocol) continue;
    const auto port = parse_number<uint32_t>(columns[2]);
    if (!port || *port == 0) continue;
    const std::string pid = std::to_string(*port & 0x3fffff);  // libnl numbers a process's further sockets above bit 22
    const auto command = root.read("proc/" + pid + "/cmdline");
    if (!command) continue;
    const auto arguments = split(*command, '\0');
    const bool only_reads =
        std::ranges::any_of(arguments, [](std::string_view word) { return contains(kReads, word); });
    if (!only_reads && contains(arguments, netdev)) return process_of(root, pid);
  }
  return {};
}

SuspectProcess find_holder(const Root& root, const Port& port) {
  for (const std::string& pid : root.names_in("proc")) {
    const std::string process = "proc/" + pid;
    if (!parse_number<int>(pid) || *parse_number<int>(pid) == ::getpid()) continue;
    for (const std::string& fd : root.names_in(process + "/fd")) {
      const auto file = root.resolve(process + "/fd/" + fd);
      if (file && is_setting_file(*file, port) && is_open_for_writing(root, process, fd)) return process_of(root, pid);
    }
  }
  return {};
}

}  // namespace fabric::qos
