// SPDX-License-Identifier: Apache-2.0
// Host settings below /proc/sys that bear on RoCE: the `[sysctl]` table of the configuration.
// Sources: Documentation/networking/ip-sysctl.rst, Documentation/admin-guide/sysctl/{kernel,net,vm}.rst of Linux 6.12.
#pragma once

#include <span>

#include "base/result.h"
#include "kernel/capture/root.h"
#include "model/change.h"

namespace fabric::qos {

// A sysctl that the configuration may set. `*` in the name matches one network interface, "all" or "default".
struct Sysctl {
  std::string_view name;              // as sysctl(8) writes it: "net.ipv4.conf.*.arp_ignore"
  std::string_view example;           // a value that does no harm where an operator pastes it
  uint64_t min = 0, max = INT32_MAX;  // of each number
  unsigned numbers = 1;               // 3: minimum, default and maximum, ascending
  bool sys_admin = false;  // writing it requires CAP_SYS_ADMIN: fabric-agent-pci.service writes, agentd only compares
};
std::span<const Sysctl> known_sysctls();

// The row that has the name, or null. A dot in an interface's name is written as a slash, as sysctl(8) does:
// "net.ipv4.conf.eth0/100.arp_filter".
const Sysctl* find_sysctl(std::string_view name);
// Whether it is one of this network interface.
bool is_sysctl_of(std::string_view name, std::string netdev);
// Why the value may not be asked for ("expected a number from 0 to 5, not 7"); empty: it may. The name must be known.
std::string sysctl_problem(std::string_view name, std::string_view value);

// "net.ipv4.tcp_ecn" -> "1"; numbers are separated by one space, whatever the kernel prints between them.
using SysctlValues = std::map<std::string, std::string>;

struct SysctlOptions {
  bool dry_run = false;
  // Called before the first write of each name with its value: must make it durable; on failure it is not written.
  std::function<Result<void>(const std::string& name, const std::string& before)> save_original;
  // Names that are in conflict: reported, not written.
  std::function<bool(const std::string& name)> conflict{};
};

// One change per wanted name: read, written only where it differs, read back. Change::from is empty if it was not read.
Changes reconcile_sysctl(const Root& root, const SysctlValues& wanted, const SysctlOptions& options);

// The original value of each name, with the same care as state::Originals.
inline constexpr const char* kSysctlOriginalsFile = "var/lib/fabric-agent/sysctl.toml";
Result<SysctlValues> parse_sysctl_originals(std::string_view text, const std::string& file);
std::string sysctl_originals_toml(const SysctlValues& originals);
Result<SysctlValues> load_sysctl_originals(const std::string& directory);
// Writes the whole file, also where nothing is left.
Result<void> save_sysctl_originals(const std::string& directory, const SysctlValues& originals);
// Adds the name where it is not known yet, and makes it durable.
Result<void> save_sysctl_original(const std::string& directory, SysctlValues& originals, const std::string& name,
                                  const std::string& before);

}  // namespace fabric::qos
