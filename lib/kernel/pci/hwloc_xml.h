// SPDX-License-Identifier: Apache-2.0
// A machine's topology as hwloc sees it. hwloc is configured by environment variables and can crash on damaged input,
// so each discovery and each trial load of an unknown file runs in a child process, which sends XML back.
#pragma once

#include "base/result.h"
#include "model/node.h"

namespace fabric {

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

}  // namespace fabric
