// SPDX-License-Identifier: Apache-2.0
// NCCL_IB_GID_INDEX, by the GID tables of all rails.
#include "ctl/topo/topo.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;
using test::Healthy;

Ip ip(const char* text) { return *parse_ip(text); }
TEST(NcclGidIndex, IsOfOneFamilyAndAsPinned) {
  Healthy node;
  const auto printed = [&] {
    return ctl::find_topo_format("nccl")->print(ctl::topo_view(node.now, &node.policy, "eno1"));
  };
  EXPECT_TRUE(has(printed(), "\nNCCL_IB_GID_INDEX=3\n")) << printed();
  for (Port& port : node.now.ports) port.gids.push_back({1, gid_text(ip("10.9.0.1")), "RoCE v2", "v" + port.netdev});
  EXPECT_TRUE(has(printed(), "\nNCCL_IB_GID_INDEX=1\n")) << printed();
  node.policy.expect.gid_index = 3;
  EXPECT_TRUE(has(printed(), "\nNCCL_IB_GID_INDEX=3\n")) << printed();
  node.now.ports[1].gids = {{3, gid_text(ip("fd00::1")), "RoCE v2", "ens1"}};  // same index, other family
  EXPECT_FALSE(has(printed(), "\nNCCL_IB_GID_INDEX=")) << printed();
  EXPECT_TRUE(has(printed(), "(IPv4) on all ports (mlx5_0:1 1/3, mlx5_1:1 none")) << printed();
}

}  // namespace
}  // namespace fabric
