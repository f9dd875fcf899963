// SPDX-License-Identifier: Apache-2.0
// The data of every format of `topo`: the machine, the best pairing, problems and notes.
#pragma once

#include <string>
#include <vector>

#include "judge/report.h"
#include "node/node.h"
#include "policy/policy.h"
#include "topology/pairing.h"

namespace fabric::ctl {

struct TopoView {
  const Node& node;
  const Topology& topology;        // the node's
  const Policy* policy = nullptr;  // null: no configuration
  std::vector<size_t> compute;     // Built::present_compute()
  Pairing pairing;                 // of the compute NICs that are up
  std::vector<Finding> problems;   // of the parts and their paths, without suppressed ones
  std::string bootstrap;           // netdev of the default route; empty: unknown
  unsigned width = 0;              // of the output; 0: no limit
  std::string topology_file{};     // provider_topology_file()
};
// `node` and `policy` must outlive the view. `wall`: seconds since 1970, by which suppressions end; 0: unknown.
TopoView topo_view(const Node& node, const Policy* policy = nullptr, std::string bootstrap = {}, int64_t wall = 0);

// Whether the PCIe switches above the GPUs are hidden: is_flattened(), if the GPUs are below switches at all. The
// switches of a Grace module are beside their CPU, and the NICs of the CPU are the nearest.
bool hides_switches(const Topology& topology);

// Whether this container sees the NIC, as all devices of its host, and no program here can open one of its ports.
bool is_closed(const Node& node, const Nic& nic);

// Limits of the classes and differences from nvidia-smi: a hypervisor that hides the PCIe tree, unknown NUMA nodes,
// several NUMA nodes in a socket, bridges on a GPU module or NIC, no shared bridge, NICs on two sockets.
std::vector<std::string> topo_notes(const TopoView& view);

// The problems of the device or one of its ports.
std::vector<const Finding*> problems_of(const TopoView& view, const std::string& device);

// "mlx5_1/1, mlx5_2/1: 100 Gb/s; expected 200 Gb/s": equal problems in one line.
std::vector<std::string> problem_lines(const std::vector<Finding>& problems);

std::string host_title(const TopoView& view);  // the host name, or "this machine"

}  // namespace fabric::ctl
