// SPDX-License-Identifier: Apache-2.0
// The boxes of the machine: sockets, NUMA nodes, root buses, switches and the devices in them.
#pragma once

#include <string>

#include "ctl/topo/view.h"

namespace fabric::ctl {

std::string topo_tree(const TopoView& view);  // as a tree of lines
std::string topo_dot(const TopoView& view);   // as a graph for Graphviz

}  // namespace fabric::ctl
