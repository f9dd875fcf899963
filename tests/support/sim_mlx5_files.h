// SPDX-License-Identifier: Apache-2.0
// What mlx5 shows in files, names and text as the drivers have them, with the firmware's ranges behind.
#pragma once

#include <string>

#include "support/sim_files.h"

namespace fabric::test {

// sys/kernel/debug/mlx5/<pci>/cc_params: drivers/infiniband/hw/mlx5/cong.c of Linux 6.12.
void add_mlx5_cc_params(SimFiles& files, const std::string& pci);
// sys/class/net/<netdev>/ecn: OFED 25.10, mlx5/core/en_sysfs.c and en_ecn.c; on for all priorities, as shipped.
void add_ofed_ecn(SimFiles& files, const std::string& netdev);
// sys/class/infiniband/<rdma>/tc/<port>/traffic_class: OFED 25.10, infiniband/hw/mlx5/main_ext.c.
void add_ofed_traffic_class(SimFiles& files, const std::string& rdma, unsigned port);

}  // namespace fabric::test
