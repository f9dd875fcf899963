// SPDX-License-Identifier: Apache-2.0
#include "enforce/suspect.h"

#include <unistd.h>

#include <algorithm>

#include "base/parse.h"

namespace fabric::qos {
namespace {

// Words of a command that only reads.
constexpr std::array<std::string_view, 5> kReads{"show", "list", "get", "monitor", "-S"};

// Its field 22, behind the command in parentheses (proc_pid_stat(5)).
std::string start_of(const Root& root, const std::string& pid) {
  const std::string stat = root.line_of("proc/" + pid + "/stat");
  const auto fields = words(std::string_view(stat).substr(std::min(stat.rfind(')') + 1, stat.size())));
  if (fields.size() <= 19) return {};
  return std::string(fields[19]);
}

// "lldpad.service" of "0::/system.slice/lldpad.service"; empty: of no unit.
std::string unit_of(const Root& root, const std::string& pid) {
  const std::string unit = base_name(root.line_of("proc/" + pid + "/cgroup"));
  if (!unit.ends_with(".service")) return {};
  return unit;
}

SuspectProcess process_of(const Root& root, const std::string& pid) {
  const auto comm = root.read_line("proc/" + pid + "/comm");
  const auto number = parse_number<int>(pid);
  if (!comm || !number) return {};
  const std::string unit = unit_of(root, pid);
  std::string name = *comm + " (pid " + pid;
  if (!unit.empty()) name += ", " + unit;
  return {*number, start_of(root, pid), name + ")"};
}

// Whether the process was called for the netdev, and not to read.
bool is_called_for(const Root& root, const std::string& pid, std::string_view netdev) {
  const auto line = root.read("proc/" + pid + "/cmdline");
  if (!line) return false;
  const auto words = split(*line, '\0');
  const bool reads = std::ranges::any_of(words, [](std::string_view word) { return contains(kReads, word); });
  return !reads && contains(words, netdev);
}

// flags of /proc/PID/fdinfo/FD, octal.
bool is_open_for_writing(const Root& root, const std::string& process, const std::string& fd) {
  const std::string info = root.text_of(process + "/fdinfo/" + fd);
  for (std::string_view line : split(info, '\n'))
    if (const auto cells = words(line); cells.size() == 2 && cells[0] == "flags:" && !cells[1].empty())
      return (cells[1].back() - '0') % 4 != 0;  // O_ACCMODE
  return false;
}

// The folders of a port's settings in files: mlx5's and bnxt_re's parameters, OFED's files, rdma_cm's and irdma's.
bool is_file_of(std::string_view file, const Port& port) {
  const auto has = [&](const std::string& part) { return file.find(part) != std::string_view::npos; };
  const bool debugfs = file.starts_with("sys/kernel/debug/"), configfs = file.starts_with("sys/kernel/config/");
  if (debugfs) return !port.pci.empty() && has("/" + port.pci + "/");
  if (configfs) return !port.rdma.empty() && has("/" + port.rdma + "/");
  return file.starts_with("sys/devices/") && !port.netdev.empty() && has("/net/" + port.netdev + "/");
}

}  // namespace

std::string_view to_text(Cause value) {
  constexpr std::array<std::string_view, 5> kTexts{"driver", "link", "firmware", "process", "unnotified"};
  return kTexts[static_cast<size_t>(value)];
}

Suspect suspect_of(SettingId setting, const Evidence& seen) {
  const Setting& row = setting_of(setting);
  if (seen.new_device) return {Cause::driver, "the driver (loaded or reset: the device is a new one)"};
  if (seen.process.pid != 0) return {Cause::process, seen.process.name, seen.process};
  if (seen.notified) return {Cause::process, "another process"};
  if (row.group == SettingGroup::dcb && seen.firmware_dcbx)
    return {Cause::firmware, "probably the NIC's firmware (DCBX), or a DCB agent in CEE mode (lldpad)"};
  if (seen.carrier_lost) return {Cause::link, "probably the link's retraining"};
  if (row.announced == NotificationKind::nothing)
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
    if (is_called_for(root, pid, netdev)) return process_of(root, pid);
  }
  return {};
}

SuspectProcess find_holder(const Root& root, const Port& port) {
  for (const std::string& pid : root.names_in("proc")) {
    const std::string process = "proc/" + pid;
    if (!parse_number<int>(pid) || *parse_number<int>(pid) == ::getpid()) continue;
    for (const std::string& fd : root.names_in(process + "/fd")) {
      const auto file = root.resolve(process + "/fd/" + fd);
      if (file && is_file_of(*file, port) && is_open_for_writing(root, process, fd)) return process_of(root, pid);
    }
  }
  return {};
}

}  // namespace fabric::qos
