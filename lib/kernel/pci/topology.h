// SPDX-License-Identifier: Apache-2.0
// GPUs, NICs and their PCI paths.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/capture/root.h"
#include "model/node.h"

namespace fabric {

// The running machine's or a captured tree's, from sysfs: the kernel's own PCI tree and NUMA nodes. (hwloc reads the
// same files; it drops functions in wide PCI domains, hides nodes outside the caller's cpuset, and takes a captured
// root from a variable of the process's environment.) Links are filled. ENOENT: `root` holds no sysfs. EOVERFLOW: more
// GPUs, or GPUs and NICs, than any machine has (kMostGpus, kMostPaths).
Result<Topology> load_topology(const Root& root);

// From an hwloc XML file (version 1 or 2, as lstopo writes it; "-" is standard input), at most 64 MiB. A message says
// what is wrong with it. Links are absent.
Result<Topology> load_topology_xml(const std::string& file);

// Answers grow with the paths between GPUs and NICs: these are no machine's any more.
inline constexpr size_t kMostGpus = 1'024, kMostPaths = size_t{1} << 20;
Result<Topology> bounded(Topology topology);

// Sorts what was found into GPUs and NICs in PCI order and names them. `found` holds every function that may be one: of
// a GPU, `name` is its model and `card` its UUID; of a NIC, `card` is its system image GUID; each may be empty.
Topology sort_topology(std::vector<Nic> found, std::map<int, std::string> numa_cpus);

}  // namespace fabric
