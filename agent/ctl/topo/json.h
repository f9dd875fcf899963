// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json_fwd.h"
#include "ctl/topo/view.h"

namespace fabric::ctl {

// {"gpus":[{"pci","name","numa"}],"nics":[{"pci","netdevs":[],"rdma":[],"numa"}],"paths":[{"gpu","nic","class"}],
// "pairs":[{"gpu","nics":[]}]}: GPUs and NICs are referred to by PCI address, every pair of a GPU and a NIC has its
// path, pairs are nearest_nics(). numa and class are null if unknown. Not part of this contract: names of the devices,
// "pairing", "problems", "notes".
Json topo_json(const TopoView& view);

}  // namespace fabric::ctl
