// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ctl/topo/view.h"

namespace fabric::ctl {

// The table of nvidia-smi topo -mp in blocks of columns that fit the width, its legends, the nearest NICs of each GPU,
// the best pairing, and notes. The columns are the NICs with RDMA; if there is none, all NICs. "N/A": class unknown.
std::string topo_text(const TopoView& view);

}  // namespace fabric::ctl
