// SPDX-License-Identifier: Apache-2.0
// GPUs, NICs and their PCI paths.
#pragma once

#include "base/result.h"
#include "kernel/kernel.h"
#include "node/node.h"

namespace fabric {

// hwloc is configured by environment variables and can crash on damaged input, so each discovery and each trial load of
// an unknown file runs in a child process, which sends XML back.
inline constexpr size_t kMaxHwlocXml = size_t{64} << 20;

// hwloc's XML (format 2) of the running machine ("/") or of a raw sysfs tree (HWLOC_FSROOT). Serial numbers, host
// name and addresses are left out, and so are OS devices: their names are read from sysfs.
Result<std::string> discover_hwloc_xml(const std::string& root);

// Every PCI function, and the machine around them. `machine` has numa_cpus, numa_socket, memory_nodes, cores and
// hypervisor.
struct HwlocView {
  std::vector<Nic> functions;  // of a GPU, `name` is its model and `card` its UUID, where hwloc knows them
  Topology machine;
};
// `name` is for the message. `trusted`: written by discover_hwloc_xml(); other text is tried in a child first.
Result<HwlocView> parse_hwloc_xml(const std::string& text, const std::string& name, bool trusted = false);

// Where a captured tree keeps hwloc's XML.
inline constexpr const char* kHwlocFile = "fabric-agent/hwloc.xml";
// The question on the tape whose answer it is.
inline constexpr const char* kHwlocQuestion = "hwloc topology";

// The running machine's or a captured tree's, as hwloc sees it: by discovery, from the capture's kHwlocFile, or with
// the tree as HWLOC_FSROOT. sysfs adds by PCI address what hwloc lacks: link width and speed, netdevs and RDMA devices,
// NUMA nodes, functions in domains wider than 16 bits, and all of a tree that hwloc cannot read. If the
// two differ, sysfs is used and Topology::differences reports it.
// ENOENT: `kernel.root` holds no sysfs. EOVERFLOW: more GPUs, or GPUs and NICs, than any machine has (kMostGpus,
// kMostPaths).
Result<Topology> load_topology(const Kernel& kernel);

// From an hwloc XML file (version 1 or 2, as lstopo writes it; "-" is standard input), at most 64 MiB. A message says
// why it was refused. Links are absent.
Result<Topology> load_topology_xml(const std::string& file);

// The number of paths between GPUs and NICs, and with it the size of every output, has a limit.
inline constexpr size_t kMostGpus = 1'024, kMostPaths = size_t{1} << 20;
Result<Topology> bounded(Topology topology);

// Sorts functions into GPUs and NICs of `machine` in PCI order and names them. `found` holds every function that may be
// one: of a GPU, `name` is its model and `card` its UUID; of a NIC, `card` is its system image GUID; each may be empty.
Topology sort_topology(std::vector<Nic> found, Topology machine);

}  // namespace fabric
