// SPDX-License-Identifier: Apache-2.0
// The environment of jobs: variables of NCCL, UCX and NVSHMEM, and what must not be set without evidence.
#include <set>

#include "base/parse.h"
#include "ctl/topo/topo.h"
#include "node/topology.h"
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

std::string env_of(const char* format, const Healthy& node) {
  return ctl::find_topo_format(format)->print(ctl::topo_view(node.now, &node.policy, "eno1"));
}

// NAME of each line NAME=VALUE; each must have a comment above it.
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> out;
  bool explained = false;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty() && line.front() != '#') {
      EXPECT_TRUE(explained) << line;
      out.emplace(line.substr(0, line.find('=')));
    }
    explained = line.starts_with("#");
  }
  return out;
}

TEST(JobEnv, SetsNothingWithoutEvidence) {
  Healthy node;
  node.policy = {};
  using Names = std::set<std::string>;
  EXPECT_EQ(names_in(env_of("nccl", node)), (Names{"NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_SOCKET_IFNAME"}));
  EXPECT_EQ(names_in(env_of("ucx", node)), (Names{"UCX_NET_DEVICES", "UCX_IB_GID_INDEX"}));
  EXPECT_EQ(names_in(env_of("nvshmem", node)), (Names{"NVSHMEM_HCA_LIST", "NVSHMEM_IB_GID_INDEX"}));
  EXPECT_TRUE(has(env_of("ucx", node), "106 (DSCP 26)")) << "what UCX does by itself";
}

TEST(JobEnv, EveryLibraryHasTheSamePortsIndexAndClass) {
  Healthy node;
  for (PortPolicy& entry : node.policy.ports) entry.traffic = Mark{24, 3};
  const std::string ports = "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1\n";
  EXPECT_TRUE(has(env_of("nccl", node), "\nNCCL_IB_HCA==" + ports)) << env_of("nccl", node);
  EXPECT_TRUE(has(env_of("ucx", node), "\nUCX_NET_DEVICES=" + ports)) << env_of("ucx", node);
  EXPECT_TRUE(has(env_of("nvshmem", node), "\nNVSHMEM_HCA_LIST=" + ports)) << env_of("nvshmem", node);
  for (const auto& [format, prefix] :
       {std::pair("nccl", "NCCL_IB_TC="), {"ucx", "UCX_IB_TRAFFIC_CLASS="}, {"nvshmem", "NVSHMEM_IB_TRAFFIC_CLASS="}})
    EXPECT_EQ(names_in(env_of(format, node)).size(), format == std::string_view("nccl") ? 4u : 3u) << prefix;
}

TEST(JobEnv, PortsThatAreLeftOutAreOneLine) {
  Healthy node;
  for (size_t port = 1; port < 4; ++port) test::down(node, port, 2);
  EXPECT_TRUE(has(env_of("nccl", node), "# Left out, not active: mlx5_1:1, mlx5_2:1, mlx5_3:1.\n"))
      << env_of("nccl", node);
  EXPECT_TRUE(has(env_of("nccl", node), "\nNCCL_IB_HCA==mlx5_0:1\n")) << env_of("nccl", node);
}

// EFA is reached by libfabric: verbs' variables would do nothing, and a missing plugin is not an error of NCCL.
TEST(JobEnv, EfaHasNoVariablesOfVerbs) {
  Healthy node;
  for (Nic& nic : node.now.topology.nics) nic.vendor = kAmazon;
  for (Port& port : node.now.ports) {
    port.link_layer = LinkLayer::unknown;
    port.gids.clear();
  }
  using Names = std::set<std::string>;
  EXPECT_EQ(names_in(env_of("nccl", node)), (Names{"NCCL_NET_PLUGIN", "NCCL_SOCKET_IFNAME"}));
  EXPECT_TRUE(has(env_of("nccl", node), "\nNCCL_NET_PLUGIN=ofi\n")) << env_of("nccl", node);
  EXPECT_EQ(names_in(env_of("nvshmem", node)), (Names{"NVSHMEM_LIBFABRIC_PROVIDER", "NVSHMEM_REMOTE_TRANSPORT"}));
  EXPECT_TRUE(has(env_of("nvshmem", node), "\nNVSHMEM_LIBFABRIC_PROVIDER=efa\n")) << env_of("nvshmem", node);
}

// Only the policy knows how switches choose paths.
TEST(JobEnv, AdaptiveRoutingIsThePolicys) {
  Healthy node;
  EXPECT_FALSE(has(env_of("nccl", node), "\nNCCL_IB_ADAPTIVE_ROUTING="));
  for (PortPolicy& entry : node.policy.ports) entry.fabric.adaptive_routing = true;
  EXPECT_TRUE(has(env_of("nccl", node), "\nNCCL_IB_ADAPTIVE_ROUTING=1\n")) << env_of("nccl", node);
  EXPECT_TRUE(has(env_of("nccl", node), "\nNCCL_IB_SPLIT_DATA_ON_QPS=0\n")) << env_of("nccl", node);
  EXPECT_TRUE(has(env_of("ucx", node), "\nUCX_IB_AR_ENABLE=try\n")) << env_of("ucx", node);
}

// NCCL_IB_HCA is compared with the names of RDMA devices; NAME_dma would match none of them.
TEST(JobEnv, DataDirectIsNamedButNotInTheList) {
  Healthy node;
  for (Nic& nic : node.now.topology.nics) nic.direct = PciDevice{.pci = "0001:03:00.0"};
  EXPECT_TRUE(has(env_of("nccl", node), "\nNCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1\n"));
  EXPECT_TRUE(has(env_of("nccl", node), "NAME_dma")) << env_of("nccl", node);
  EXPECT_TRUE(has(env_of("ucx", node), "UCX_IB_DIRECT_NIC")) << env_of("ucx", node);
}

TEST(JobEnv, ABondNeedsAQueuePairForEachMember) {
  Healthy node;
  node.now.ports[0].role = PortRole::bond;
  node.now.ports[0].bond = node.now.ports[0].netdev;
  const std::string text = env_of("nccl", node);
  EXPECT_TRUE(has(text, "\nNCCL_IB_QPS_PER_CONNECTION=2\n")) << text;
  EXPECT_TRUE(has(text, "\nNCCL_IB_SPLIT_DATA_ON_QPS=0\n")) << text;
}

// Two GPUs and a card with a port for each below one switch; and one GPU with two NICs.
TEST(JobEnv, MergeLevelFollowsFromTheCardsAndPlanes) {
  Healthy node;
  auto& nics = node.now.topology.nics;
  const std::string card = nics[0].pci.substr(0, nics[0].pci.size() - 1);
  nics[1].pci = card + "1";
  node.now.ports[1].pci = nics[1].pci;
  EXPECT_TRUE(has(env_of("nccl", node), "\nNCCL_NET_MERGE_LEVEL=LOC\n")) << env_of("nccl", node);

  Healthy planes;
  auto& gpus = planes.now.topology.gpus;
  gpus.erase(gpus.begin() + 1, gpus.end());
  auto& two = planes.now.topology.nics;
  two.resize(2);
  two[1].bridges = two[0].bridges;
  two[1].root = two[0].root;
  two[1].numa = two[0].numa;
  planes.now.ports.resize(2);
  EXPECT_FALSE(has(env_of("nccl", planes), "\nNCCL_NET_MERGE_LEVEL=")) << "two cards, which nothing calls planes";
  EXPECT_TRUE(has(env_of("nccl", planes), "# NCCL_NET_MERGE_LEVEL is not set")) << env_of("nccl", planes);
  planes.policy.cabling.planes = {{"mlx5_0", "A"}, {"mlx5_1", "B"}};
  EXPECT_TRUE(has(env_of("nccl", planes), "\nNCCL_NET_MERGE_LEVEL=PIX\n")) << env_of("nccl", planes);
}

// The IBGDA transport skips devices without "mlx5" in their names.
TEST(JobEnv, NvshmemNeedsThePrefixOfRenamedDevices) {
  Healthy node;
  EXPECT_FALSE(has(env_of("nvshmem", node), "NVSHMEM_HCA_PREFIX="));
  for (size_t i = 0; i < node.now.ports.size(); ++i) {
    node.now.ports[i].rdma = "rocep" + std::to_string(i) + "s0";
    node.now.topology.nics[i].rdma = {node.now.ports[i].rdma};
  }
  EXPECT_TRUE(has(env_of("nvshmem", node), "\nNVSHMEM_HCA_PREFIX=rocep\n")) << env_of("nvshmem", node);
}

}  // namespace
}  // namespace fabric
