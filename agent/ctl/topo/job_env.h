// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ctl/topo/view.h"

namespace fabric::ctl {

// Environment variables of the libraries by which jobs use RDMA, from the topology, the GID tables and the policy. Each
// is a line NAME=VALUE below a comment with its reason and the source of the advice; a variable without evidence on
// this machine or in the policy is not set.

// NCCL and RCCL, for nccl.conf (NVIDIA "NCCL User Guide", Environment Variables; docs/userguide/source/env.rst of
// 2.30). Some values begin with "=".
std::string topo_nccl(const TopoView& view);

// UCX (its options are in src/uct/ib/base/ib_iface.c and ib_md.c of 1.23, as `ucx_info -cf` prints them).
std::string topo_ucx(const TopoView& view);

// NVSHMEM (NVIDIA "NVSHMEM API", Environment Variables; src/modules/transport/common/env_defs.h of 3.6).
std::string topo_nvshmem(const TopoView& view);

}  // namespace fabric::ctl
