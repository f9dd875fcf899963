// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ctl/topo/view.h"

namespace fabric::ctl {

// Sockets side by side, with NUMA nodes, root buses and switches as boxes in them, GPUs above their NICs, a line from
// each GPU to the NICs that it is paired with, problems in red. Plain SVG 1.1 without external resources: shapes and
// text.
std::string topo_svg(const TopoView& view);

}  // namespace fabric::ctl
