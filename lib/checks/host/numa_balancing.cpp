// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {
namespace {

std::optional<Finding> ask_host(const View& view) {
  const auto& host = view.now.host;
  if (!host || !host->numa_balancing || !has_gpus_and_rdma(view) || view.now.topology.numa_cpus.size() < 2)
    return std::nullopt;
  const unsigned mode = *host->numa_balancing;
  if (const auto* wanted = view.policy == nullptr ? nullptr : find_in(view.policy->sysctl, "kernel.numa_balancing"))
    return good(kHostSubject, std::to_string(mode), *wanted + " (the configuration's [sysctl])");
  if ((mode & 1) == 0)  // 2 alone moves pages between kinds of memory only
    return good(kHostSubject, mode == 0 ? "0 (off)" : std::to_string(mode) + " (memory tiering only)", "0");
  return bad(
      Status::warning, kHostSubject, std::to_string(mode) + " (on)", "0",
      "The kernel unmaps pages of processes to see which CPU uses them, and moves pages between NUMA nodes. Jobs bound "
      "to a NUMA node only pay for the page faults, which delay GPU work.",
      "sysctl -w kernel.numa_balancing=0; persistent: \"kernel.numa_balancing\" = 0 in [sysctl] of fabric-agent.toml");
}

}  // namespace

extern const Check kNumaBalancingCheck{
    .id = "numa-balancing",
    .group = group::host,
    .title = "Automatic NUMA balancing is on",
    .meaning =
        "With NUMA balancing the kernel unmaps pages to see which CPU uses them, and migrates them. GPU jobs are "
        "already bound to their NUMA node and only pay for the page faults. A value wanted by [sysctl] in "
        "fabric-agent.toml is not reported.",
    .inspect = "sysctl kernel.numa_balancing",
    .fix = "sysctl -w kernel.numa_balancing=0, and add \"kernel.numa_balancing\" = 0 to [sysctl] in fabric-agent.toml.",
    .ask_host = ask_host,
};

}  // namespace fabric
