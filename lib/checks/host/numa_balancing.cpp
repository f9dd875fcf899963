// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {

void ask_numa_balancing(const View& view, Findings& findings) {
  const auto& host = view.now.host;
  if (!host || !host->numa_balancing || !has_gpus_and_rdma(view) || view.now.topology.numa_cpus.size() < 2) return;
  const unsigned mode = *host->numa_balancing;
  if (const std::string* wanted = wanted_sysctl(view, "kernel.numa_balancing"))
    return findings.push_back(good(kHostSubject, std::to_string(mode), *wanted + " (the configuration's [sysctl])"));
  if ((mode & 1) == 0)  // 2 alone moves pages between kinds of memory only
    return findings.push_back(
        good(kHostSubject, mode == 0 ? "0 (off)" : std::to_string(mode) + " (memory tiering only)", "0"));
  findings.push_back(bad(Status::warning, kHostSubject, std::to_string(mode) + " (on)", "0",
                         "The kernel takes away the mapping of processes' pages now and then to see who uses them, and "
                         "moves pages between NUMA nodes: "
                         "jobs that are bound already only pay the page faults, and GPU work is held up by them.",
                         "Now: sysctl -w kernel.numa_balancing=0. For good: \"kernel.numa_balancing\" = 0 below "
                         "[sysctl] in fabric-agent.toml, or a "
                         "line in /etc/sysctl.d."));
}

}  // namespace fabric
