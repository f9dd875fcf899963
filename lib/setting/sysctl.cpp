// SPDX-License-Identifier: Apache-2.0
#include "setting/sysctl.h"

#include <array>

#include "base/find.h"
#include "base/parse.h"

namespace fabric::qos {
namespace {

constexpr std::array kSysctls{
    // sysctl_numa_balancing() of kernel/sched/core.c requires CAP_SYS_ADMIN.
    Sysctl{"kernel.numa_balancing", "0", 0, 3, 1, true},
    Sysctl{"net.core.netdev_budget", "600", 1},
    Sysctl{"net.core.netdev_max_backlog", "250000"},
    Sysctl{"net.core.optmem_max", "131072"},
    Sysctl{"net.core.rmem_default", "212992", 256},
    Sysctl{"net.core.rmem_max", "67108864", 256},
    Sysctl{"net.core.wmem_default", "212992", 256},
    Sysctl{"net.core.wmem_max", "67108864", 256},
    // With several ports in one subnet each must answer ARP for its own address only, and use it as the source:
    // arp_ignore 1, arp_announce 2, rp_filter 2 (loose) or 0.
    Sysctl{"net.ipv4.conf.*.accept_local", "0", 0, 1},
    Sysctl{"net.ipv4.conf.*.arp_announce", "2", 0, 2},
    Sysctl{"net.ipv4.conf.*.arp_filter", "1", 0, 1},
    Sysctl{"net.ipv4.conf.*.arp_ignore", "1", 0, 8},
    Sysctl{"net.ipv4.conf.*.rp_filter", "2", 0, 2},
    // gc_thresh3 must exceed the number of hosts in the fabric's subnet.
    Sysctl{"net.ipv4.neigh.default.gc_thresh1", "8192"},
    Sysctl{"net.ipv4.neigh.default.gc_thresh2", "32768"},
    Sysctl{"net.ipv4.neigh.default.gc_thresh3", "65536"},
    Sysctl{"net.ipv4.tcp_ecn", "2", 0, 5},
    Sysctl{"net.ipv4.tcp_mtu_probing", "1", 0, 2},
    Sysctl{"net.ipv4.tcp_rmem", "4096 131072 67108864", 1, INT32_MAX, 3},
    Sysctl{"net.ipv4.tcp_timestamps", "1", 0, 2},
    Sysctl{"net.ipv4.tcp_wmem", "4096 16384 67108864", 1, INT32_MAX, 3},
    Sysctl{"vm.zone_reclaim_mode", "0", 0, 7},
};

bool has_name(const Sysctl& row, std::string_view name) {
  const size_t star = row.name.find('*');
  if (star == std::string_view::npos) return row.name == name;
  const std::string_view head = row.name.substr(0, star), tail = row.name.substr(star + 1);
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return false;
  constexpr size_t kMostInterface = 15;  // IFNAMSIZ without the NUL
  const std::string_view interface = name.substr(head.size(), name.size() - head.size() - tail.size());
  // "/" and "//" stand for "." and "..", which lead out of the folder of the interfaces.
  return interface.size() <= kMostInterface && interface.find('.') == std::string_view::npos && interface != "/" &&
         interface != "//";
}

}  // namespace

std::span<const Sysctl> known_sysctls() { return kSysctls; }

const Sysctl* find_sysctl(std::string_view name) {
  return find_where(kSysctls, [&](const Sysctl& each) { return has_name(each, name); });
}

bool is_sysctl_of(std::string_view name, std::string netdev) {
  std::ranges::replace(netdev, '.', '/');
  return name.starts_with("net.ipv4.conf." + netdev + ".");
}

std::string sysctl_problem(std::string_view name, std::string_view value) {
  const Sysctl* row = find_sysctl(name);
  if (row == nullptr) return "not a host setting that fabric-agent knows";
  const auto parts = words(value);
  const std::string range = "from " + std::to_string(row->min) + " to " + std::to_string(row->max);
  const std::string found = ", not \"" + std::string(value) + "\"";
  if (parts.size() != row->numbers && row->numbers == 1) return "expected a number " + range + found;
  if (parts.size() != row->numbers) return "expected " + std::to_string(row->numbers) + " numbers " + range + found;
  uint64_t last = 0;
  for (std::string_view part : parts) {
    const auto number = parse_number<uint64_t>(part);
    if (!number || *number < row->min || *number > row->max) return "expected a number " + range + found;
    if (*number < last) return "expected minimum, default and maximum in this order" + found;
    last = *number;
  }
  return {};
}

}  // namespace fabric::qos
