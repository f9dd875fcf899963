// SPDX-License-Identifier: Apache-2.0
#include "enforce/suspect.h"

#include <algorithm>
#include <array>

#include "base/find.h"
#include "base/parse.h"

namespace fabric::qos {
namespace {

// Words of a command that only reads.
constexpr std::array<std::string_view, 5> kReads{"show", "list", "get", "monitor", "-S"};

// The settings that a well-known program can change, and words of which such a command has one on its command line. A
// program of this table changes nothing else. Sources: dcb(8), ip-link(8), ethtool(8), `mlnx_qos --help`.
struct Ability {
  std::string_view program;
  SettingId setting;
  std::string_view words;
};
constexpr Ability kAbilities[] = {
    {"dcb", SettingId::pfc, "pfc"},
    {"dcb", SettingId::ets, "ets"},
    {"dcb", SettingId::dscp_map, "app"},
    {"dcb", SettingId::trust, "app"},  // mlx5 trusts DSCP as long as there is an APP entry of a DSCP
    {"dcb", SettingId::roce_prio, "app"},
    {"dcb", SettingId::apptrust, "apptrust"},
    {"dcb", SettingId::prio2buffer, "buffer"},
    {"dcb", SettingId::buffer_size, "buffer"},
    {"dcb", SettingId::maxrate, "maxrate"},
    {"ip", SettingId::mtu, "mtu"},
    {"ethtool", SettingId::pause, "-A --pause"},
    {"ethtool", SettingId::ring_rx, "-G --set-ring"},
    {"ethtool", SettingId::ring_tx, "-G --set-ring"},
    {"ethtool", SettingId::channels, "-L --set-channels"},
    {"ethtool", SettingId::fec, "--set-fec"},
    {"ethtool", SettingId::fw_lldp, "--set-priv-flags"},
    {"mlnx_qos", SettingId::pfc, "-f --pfc"},
    {"mlnx_qos", SettingId::ets, "-p --prio_tc -s --tsa -t --tcbw"},
    {"mlnx_qos", SettingId::dscp_map, "--dscp2prio --trust"},
    {"mlnx_qos", SettingId::trust, "--trust"},
    {"mlnx_qos", SettingId::prio2buffer, "--prio2buffer"},
    {"mlnx_qos", SettingId::buffer_size, "--buffer_size"},
    {"mlnx_qos", SettingId::cable_length, "--cable_len"},
    {"mlnx_qos", SettingId::maxrate, "-r --ratelimit"},
};
// Programs that have such sockets and change none of our settings.
constexpr std::array<std::string_view, 5> kUnable{"tc", "bridge", "rdma", "devlink", "tcpdump"};

// The start time of the process: field 22 of its stat file, counted after the command in parentheses
// (proc_pid_stat(5)).
std::string start_of(const Root& root, const std::string& pid) {
  const std::string stat = root.line_of("proc/" + pid + "/stat");
  const auto fields = words(std::string_view(stat).substr(std::min(stat.rfind(')') + 1, stat.size())));
  if (fields.size() <= 19) return {};
  return std::string(fields[19]);
}

// "-i eth0", "--interface=eth0"
bool has_argument(const std::vector<std::string>& arguments, std::string_view value) {
  return std::ranges::any_of(arguments, [&](const std::string& word) {
    return word == value || (word.starts_with("--") && word.ends_with("=" + std::string(value)));
  });
}

bool is_known(std::string_view program) {
  return contains(kUnable, program) || contains(kAbilities, program, &Ability::program);
}

bool can_write(const Candidate& candidate, SettingId id) {
  for (const Ability& ability : kAbilities) {
    if (ability.program != candidate.program || ability.setting != id) continue;
    for (const std::string_view word : words(ability.words))
      for (const std::string& argument : candidate.arguments)
        if (argument == word || argument.starts_with(std::string(word) + "=")) return true;
  }
  return !is_known(candidate.program);
}

// Whether the process can change settings of this network namespace: dcbnl, rtnetlink and ethtool require CAP_NET_ADMIN
// in the user namespace that owns it (net/dcb/dcbnl.c dcb_doit(), net/core/rtnetlink.c rtnetlink_rcv_msg(),
// net/ethtool/netlink.c of Linux 6.12). Capabilities in another user namespace, which maps users otherwise, are not
// that. False if the capabilities cannot be read.
bool has_net_admin(const Root& root, const std::string& pid) {
  constexpr uint64_t kNetAdmin = 1U << 12;  // CAP_NET_ADMIN of linux/capability.h
  const std::string own = root.text_of("proc/self/uid_map"), users = root.text_of("proc/" + pid + "/uid_map");
  if (!own.empty() && !users.empty() && own != users) return false;
  const std::string status = root.text_of("proc/" + pid + "/status");
  for (const std::string_view line : split(status, '\n'))
    if (line.starts_with("CapEff:"))
      return (parse_number<uint64_t>(trim(line.substr(line.find(':') + 1)), 16).value_or(0) & kNetAdmin) != 0;
  return false;
}

// The name of the program, "python3 /usr/bin/mlnx_qos": of the script. comm has 15 characters at most.
std::string program_of(const std::string& comm, const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < std::min<size_t>(arguments.size(), 2); ++i) {
    std::string name(base_name(arguments[i]));
    if (is_known(name)) return name;
  }
  return comm;
}

}  // namespace

std::string_view to_text(DriftCause value) {
  constexpr std::array<std::string_view, 5> kTexts{"driver", "link", "firmware", "process", "unnotified"};
  return kTexts[static_cast<size_t>(value)];
}

Suspect suspect_of(SettingId id, const Evidence& seen) {
  const Setting& setting = setting_of(id);
  const std::string unknown(kUnknownWriter);
  if (seen.new_device) return {DriftCause::driver, "the driver (loaded or reset: the device is a new one)"};
  if (seen.process.pid != 0) return {DriftCause::process, seen.process.name, seen.process};
  if (seen.notified) return {DriftCause::process, unknown};
  if (setting.group == SettingGroup::dcb && seen.firmware_dcbx)
    return {DriftCause::firmware, "probably the NIC's firmware (DCBX), or a DCB agent in CEE mode (lldpad)"};
  if (seen.carrier_lost) return {DriftCause::link, "probably the link's retraining"};
  if (setting.announced == NotificationKind::nothing)
    return {DriftCause::unnotified, unknown + " (writes of this setting are not notified)"};
  return {DriftCause::unnotified, unknown + " (no notification: firmware, the driver, debugfs or sysfs)"};
}

bool is_alive(const Root& root, const SuspectProcess& process) {
  return process.pid != 0 && !process.started.empty() && start_of(root, std::to_string(process.pid)) == process.started;
}

std::vector<Candidate> find_candidates(const Root& root, NotificationKind how, std::string_view netdev) {
  if (how == NotificationKind::nothing || netdev.empty()) return {};
  std::vector<Candidate> found;
  const std::string sockets = root.text_of("proc/net/netlink");    // sk Eth Pid Groups ... (net/netlink/af_netlink.c)
  const int protocol = how == NotificationKind::ethtool ? 16 : 0;  // NETLINK_GENERIC, NETLINK_ROUTE of linux/netlink.h
  for (std::string_view line : split(sockets, '\n')) {
    const auto columns = words(line);
    if (columns.size() < 4 || parse_number<int>(columns[1]) != protocol) continue;
    if (columns[3].find_first_not_of('0') != std::string_view::npos) continue;  // a listener
    const auto port = parse_number<uint32_t>(columns[2]);
    if (!port || *port == 0) continue;
    const int number = static_cast<int>(*port & 0x3fffff);  // libnl numbers a process's further sockets above bit 22
    const std::string pid = std::to_string(number);
    if (contains(found, number, [](const Candidate& each) { return each.process.pid; })) continue;
    const auto comm = root.read_line("proc/" + pid + "/comm");
    const auto command = root.read("proc/" + pid + "/cmdline");
    if (!comm || !command) continue;
    std::vector<std::string> arguments;
    for (const std::string_view word : split(*command, '\0'))
      if (!word.empty()) arguments.emplace_back(word);
    const bool only_reads =
        std::ranges::any_of(arguments, [](const std::string& word) { return contains(kReads, word); });
    if (only_reads || !has_argument(arguments, netdev) || !has_net_admin(root, pid)) continue;
    std::string program = program_of(*comm, arguments), name = program + " (pid " + pid;
    // "lldpad.service" from "0::/system.slice/lldpad.service"
    const std::string unit = base_name(root.line_of("proc/" + pid + "/cgroup"));
    if (unit.ends_with(".service")) name += ", " + unit;
    found.push_back({{number, start_of(root, pid), name + ")"}, std::move(program), std::move(arguments)});
  }
  return found;
}

SuspectProcess writer_of(SettingId id, const std::vector<Candidate>& candidates) {
  const Candidate* writer = nullptr;
  for (const Candidate& each : candidates) {
    if (!can_write(each, id)) continue;
    if (writer != nullptr) return {};
    writer = &each;
  }
  if (writer == nullptr) return {};
  SuspectProcess process = writer->process;
  // The process has a socket for rtnetlink, or for generic netlink, and its writes there are not known.
  if (!is_known(writer->program)) process.name.insert(0, "possibly ");
  return process;
}

}  // namespace fabric::qos
