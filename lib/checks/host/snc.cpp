// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {
namespace {

// The firmware's name for this number of NUMA nodes per package. AMD has up to NPS4.
std::string firmware_name(const std::string& vendor, unsigned nodes) {
  if (vendor == "GenuineIntel") return " (SNC" + std::to_string(nodes) + ")";
  if (vendor != "AuthenticAMD" && vendor != "HygonGenuine") return {};
  return nodes <= 4 ? " (NPS" + std::to_string(nodes) + ")" : " (L3 cache as NUMA domain)";
}

// NODE and SYS have a different meaning with SNC.
std::optional<Finding> ask_host(const View& view) {
  const Topology& topology = view.now.topology;
  if (!view.now.host || topology.numa_socket.empty()) return std::nullopt;
  std::map<int, unsigned> nodes;  // by package
  for (const auto& [node, socket] : topology.numa_socket) ++nodes[socket];
  unsigned most = 0;
  for (const auto& [socket, count] : nodes) most = std::max(most, count);
  std::string observed = std::to_string(most) + " NUMA node" + (most == 1 ? "" : "s") + " per package";
  if (most > 1)
    observed += firmware_name(view.now.host->cpu.vendor, most) +
                ": NODE is within one node, SYS includes the other nodes of the same package, so a SYS pair can be as "
                "close as a NODE pair without clustering";
  return good(kHostSubject, std::move(observed), "any");
}

}  // namespace

extern const Check kSncCheck{
    .id = "snc",
    .group = group::host,
    .title = "NUMA nodes per CPU package",
    .meaning =
        "Sub-NUMA clustering (Intel SNC, AMD NPS) divides a package into several NUMA nodes. Listed only. A GPU and a "
        "NIC on one package can then be SYS, and a process bound to the node of its GPU has only that part of the "
        "package's CPUs and memory bandwidth.",
    .inspect = "lscpu; numactl -H",
    .ask_host = ask_host,
};

}  // namespace fabric
