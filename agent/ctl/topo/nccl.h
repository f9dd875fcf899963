// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ctl/topo/view.h"

namespace fabric::ctl {

// Variables of NCCL and RCCL for nccl.conf, with comments, from the topology, the GID tables and the policy (NVIDIA
// "NCCL User Guide", Environment Variables). A line is NAME=VALUE; some values begin with "=".
std::string topo_nccl(const TopoView& view);

}  // namespace fabric::ctl
