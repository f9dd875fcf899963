// SPDX-License-Identifier: Apache-2.0
// Host settings below /proc/sys that bear on RoCE: the `[sysctl]` table of the configuration.
// Sources: Documentation/networking/ip-sysctl.rst, Documentation/admin-guide/sysctl/{kernel,net,vm}.rst of Linux 6.12.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

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

}  // namespace fabric::qos
