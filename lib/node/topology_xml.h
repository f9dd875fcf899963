// SPDX-License-Identifier: Apache-2.0
// hwloc's XML: discovered on the running machine, loaded into a Topology, read from files.
#pragma once

#include "base/result.h"
#include "node/topology.h"

namespace fabric {

// hwloc is configured by environment variables and can crash on damaged input, so each discovery and each trial load of
// an unknown file runs in a child process; discovery returns XML.
inline constexpr size_t kMaxHwlocXml = size_t{64} << 20;

// hwloc's XML (format 2) of the running machine ("/") or of a raw sysfs tree, of which hwloc sees only what Root reads
// (show_only()), within 10 s. Leaves out serial numbers, the host name and addresses, and OS devices, whose names are
// read from sysfs.
Result<std::string> discover_hwloc_xml(const std::string& root);

// The XML with what parse_hwloc_xml() reads: objects with their numbers, CPUs and addresses, the names of OS devices,
// and the model and the identity of GPUs and NICs. No other information, comments and texts.
std::string kept_hwloc_xml(std::string_view xml);

// All PCI functions, and the machine around them. `machine` has numa_cpus, numa_socket, memory_nodes, cores and
// hypervisor.
struct HwlocView {
  std::vector<Nic> functions;  // a GPU has its model in `name` and its UUID in `card`, if hwloc knows them
  Topology machine;
};
// `name` is for messages. `trusted`: the text is of discover_hwloc_xml(); other text is tried in a child first.
Result<HwlocView> parse_hwloc_xml(const std::string& text, const std::string& name, bool trusted = false);

// The file of a captured tree with hwloc's XML.
inline constexpr const char* kHwlocFile = "fabric-agent/hwloc.xml";
// The question on the tape whose answer is hwloc's XML.
inline constexpr const char* kHwlocQuestion = "hwloc topology";

// The topology of an hwloc XML file (version 1 or 2, as lstopo writes it; "-": standard input) of at most 64 MiB. An
// Error has the reason for refusal. PCIe links are absent.
Result<Topology> load_topology_xml(const std::string& file);

}  // namespace fabric
