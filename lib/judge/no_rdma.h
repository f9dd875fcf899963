// SPDX-License-Identifier: Apache-2.0
// NICs that have no RDMA device, and accelerators with ports of their own.
#pragma once

#include "judge/finding.h"

namespace fabric {

// Adds to the findings about ports (`port-state`) those about NICs without a port: no RDMA device at all, or none of
// the NICs beside the GPUs; functions that were not given back as a whole, or have no driver.
void add_nics_without_rdma(const View& view, Findings& findings);

// A NIC that has no RDMA device while equal ones have. `like`: the NICs that have one.
Finding no_rdma_finding(const Node& node, const Nic& nic, const std::string& like);
// "the driver mlx5_core is bound": the state of such a NIC. Empty: unknown.
std::string driver_text(const Node& node, const Nic& nic);
// How such a NIC gets its RDMA device: the modules are loaded.
Fix fix_of_no_rdma(const Node& node, const Nic& nic);

}  // namespace fabric
