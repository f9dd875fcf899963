// SPDX-License-Identifier: Apache-2.0
// NCCL_IB_GID_INDEX, by the GID tables of all rails.
#include "ctl/topo/topo.h"
#include "support/ctl.h"
#include "support/healthy_node.h"

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

TEST(NcclSocket, IsTheInterfaceOfTheDefaultRouteOfEitherFamily) {
  test::Tree tree;
  test::add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:21:00.0"});
  const std::string none(32, '0'), rest = " 00 " + none + " 00 fe800000000000000000000000000001 ";
  const std::string last = " 00000001 00000000 00450003 ";
  tree.file("proc/net/ipv6_route", none + rest + "00000400" + last + "    eno2\n" + none + rest + "00000064" + last +
                                       "    eno1\n" + none + rest + "00000001" + last + "      lo\n");
  const auto printed = [&] { return test::ran_on(tree, {"topo", "--format", "nccl"}).text; };
  EXPECT_TRUE(has(printed(), "\nNCCL_SOCKET_IFNAME==eno1\n")) << printed();
  tree.file("proc/net/route",
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
            "*\t00000000\t00000000\t0201\t0\t0\t1\t00000000\n"
            "eno3\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\n");
  EXPECT_TRUE(has(printed(), "\nNCCL_SOCKET_IFNAME==eno3\n")) << printed();
}

}  // namespace
}  // namespace fabric
