// SPDX-License-Identifier: Apache-2.0
// Host settings below /proc/sys that affect RoCE: the `[sysctl]` table of the configuration.
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
  std::string_view example;           // a value that is harmless if an operator copies it
  uint64_t min = 0, max = INT32_MAX;  // of each number
  unsigned numbers = 1;               // 3: minimum, default and maximum, ascending
  // Writing it requires CAP_SYS_ADMIN: fabric-agent-pci.service writes it, fabric-agentd only compares.
  bool sys_admin = false;
};
std::span<const Sysctl> known_sysctls();

// The row that has the name, or null. A dot in an interface's name is written as a slash, as sysctl(8) does:
// "net.ipv4.conf.eth0/100.arp_filter".
const Sysctl* find_sysctl(std::string_view name);
// Whether the sysctl belongs to this network interface.
bool is_sysctl_of(std::string_view name, std::string netdev);
// Why the value is rejected ("expected a number from 0 to 5, not 7"); empty: it is valid.
std::string sysctl_problem(std::string_view name, std::string_view value);

// "net.ipv4.tcp_ecn" -> "1". One space separates numbers, also if the kernel prints a tab.
using SysctlValues = std::map<std::string, std::string>;

}  // namespace fabric::qos
