// SPDX-License-Identifier: Apache-2.0
// What `topo` shows.
#pragma once

#include <string>

#include "base/json.h"
#include "model/node.h"

namespace fabric::ctl {

// nvidia-smi's `topo -mp` table (columns separated by tabs, as there), its legends, and the nearest NICs of each GPU.
// Columns are the NICs that carry RDMA; where none does, all NICs. "N/A" where a class cannot be known.
std::string topo_text(const Topology& topology);

// {"gpus":[{"pci","name","numa"}],"nics":[{"pci","netdevs":[],"rdma":[],"numa"}],"paths":[{"gpu","nic","class"}],
// "pairs":[{"gpu","nics":[]}]}: GPUs and NICs are referred to by PCI address, every GPU x NIC has its path, pairs are
// nearest_nics(). numa and class are null where unknown.
Json topo_json(const Topology& topology);

}  // namespace fabric::ctl
