// SPDX-License-Identifier: Apache-2.0
// Machines as sites build them, on which earlier versions would have been wrong.
#include "ctl/output/report_text.h"
#include "ctl/topo/topo.h"
#include "judge/engine.h"
#include "judge/platform_view.h"
#include "metrics/families.h"
#include "metrics/text.h"
#include "node/topology.h"
#include "support/counters.h"
#include "support/healthy_node.h"
#include "support/machines.h"
#include "support/ports.h"
#include "support/test.h"
#include "support/tree.h"
#include "topology/built.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

using test::has;

std::vector<Finding> found_of(const Node& node, const Policy* policy = nullptr) {
  return test::complaints_of({.now = node, .policy = policy}, {"locality", "pairing", "pcie", "expect"});
}
std::string said_of(const Node& node) { return test::describe(found_of(node)); }
// The text if the site expects so many NICs for GPUs.
std::string said_of(const Node& node, size_t compute_nics) {
  Policy policy;
  policy.expect.compute_nics = static_cast<unsigned>(compute_nics);
  return test::describe(found_of(node, &policy));
}

std::string print_as(const char* format, const Node& node) {
  return ctl::find_topo_format(format)->print(ctl::topo_view(node));
}

std::vector<std::string> names(const Topology& topology, const std::vector<size_t>& nics) {
  std::vector<std::string> out;
  for (const size_t nic : nics) out.push_back(topology.nics[nic].name);
  return out;
}

void take_down(Port& port) {
  port.state = 1;
  port.phys_state = 3;
  port.carrier = false;
  port.rate.reset();
}

// Eight GPUs, each with the two ports of a NIC on its switch.
Node sixteen_ports() {
  Node node = test::snc_server();
  node.topology.nics.resize(8);
  node.ports.resize(8);
  for (size_t i = 0; i < 8; ++i) {
    Nic second = node.topology.nics[2 * i];
    second.pci.back() = '1';
    second.rdma = {"mlx5_" + std::to_string(10 + i)};
    second.name = second.rdma[0];
    Port port = node.ports[2 * i];
    port.rdma = second.name;
    port.pci = second.pci;
    node.topology.nics.insert(node.topology.nics.begin() + static_cast<long>(2 * i + 1), second);
    node.ports.insert(node.ports.begin() + static_cast<long>(2 * i + 1), port);
  }
  return node;
}

TEST(UnseenMachines, PortsWithoutALinkAreStillComputeNics) {
  Node node = sixteen_ports();
  ASSERT_EQ(compute_nics(node.topology, node.ports).size(), 16u);
  take_down(node.ports[3]);
  take_down(node.ports[8]);
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 16u);
  EXPECT_EQ(said_of(node, 16), "") << "nothing has fallen off the bus";
}

TEST(UnseenMachines, SecondPortsThatNobodyUsesAreNoComputeNics) {
  Node node = sixteen_ports();
  for (size_t i = 1; i < 16; i += 2) take_down(node.ports[i]);
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
  EXPECT_EQ(said_of(node, 8), "");
  take_down(node.ports[4]);
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u) << "the first port of a card is one, up or not";
}

// Both ports of each card are used, each on a switch of its own.
TEST(UnseenMachines, ASwitchThatIsOffTakesNoDeviceFromTheBus) {
  Node node = sixteen_ports();
  for (const size_t first : {1u, 0u}) {
    node = sixteen_ports();
    for (size_t i = first; i < 16; i += 2) take_down(node.ports[i]);
    EXPECT_EQ(said_of(node, 16), "") << "ports " << first;
  }
  node = sixteen_ports();
  for (Port& port : node.ports) take_down(port);
  EXPECT_EQ(said_of(node, 16), "") << "just booted";
}

TEST(UnseenMachines, AMissingCardIsMissedAlthoughStorageNicsOfItsModelStandIn) {
  Node node = test::snc_server();
  for (size_t i = 8; i < 10; ++i) node.topology.nics[i].device = 0x1021;
  ASSERT_EQ(said_of(node, 8), "");
  node.topology.nics.erase(node.topology.nics.begin() + 6);
  node.ports.erase(node.ports.begin() + 6);
  EXPECT_TRUE(has(said_of(node, 8), "expect node critical: 7 compute NICs")) << said_of(node, 8);
  EXPECT_EQ(built_of(node).present_compute().size(), 7u) << "jobs do not reach the other GPUs by those";
  const auto found = found_of(node);
  ASSERT_EQ(found.size(), 1u) << said_of(node);
  EXPECT_TRUE(found[0].meaning.ends_with("Missing: a NIC function at 0000:a4:00.0, beside GPU6.")) << found[0].meaning;
}

TEST(UnseenMachines, PortsThatServeNoGpuNeedNeitherMtuNorAddressForRoce) {
  Node node = test::snc_server();
  for (Port& port : node.ports) port.qos.mtu = 9000;
  const auto said = [&] { return test::describe(test::complaints_of({.now = node}, {"roce-mtu", "gid"})); };
  const auto leave_as_installed = [&](Port& port) {
    port.qos.mtu = 1500;
    port.gids = {{0, "fe80:0000:0000:0000:0000:00ff:fe00:0001", "RoCE v2", port.netdev}};
  };
  leave_as_installed(node.ports[8]);
  EXPECT_EQ(said(), "") << "storage, or the management network";
  leave_as_installed(node.ports[7]);
  EXPECT_TRUE(has(said(), "gid mlx5_7/1 critical: only link-local") && has(said(), "roce-mtu mlx5_7/1 warning"))
      << said();
  take_down(node.ports[7]);
  EXPECT_EQ(said(), "") << "port-state reports it";
  node.topology.gpus.clear();
  EXPECT_TRUE(has(said(), "gid mlx5_8/1") && has(said(), "roce-mtu mlx5_8/1")) << "none serves a GPU: " << said();
}

// Only the links of the card without a link would show which of them it is.
TEST(UnseenMachines, ACardWithoutAnyLinkIsNoDeviceTooMany) {
  Node node = test::snc_server();
  for (size_t i = 0; i < 10; ++i) node.topology.nics[i].vendor = 0x14e4, node.topology.nics[i].device = 0x1760;
  node.topology.nics[9].card = node.topology.nics[8].card = "0000:d4:00";
  ASSERT_EQ(said_of(node, 8), "");
  for (const size_t i : {7u, 8u, 9u}) take_down(node.ports[i]);
  EXPECT_EQ(said_of(node, 8), "");
}

// Ports without a link are not taken for cards that have fallen off the bus; a lost card is found. The parameter: how
// many random choices of ports without a link are tried for each machine.
class LinksOfCards : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(UnseenMachines, LinksOfCards, testing::Values(14));
INSTANTIATE_TEST_SUITE_P(UnseenMachinesHarder, LinksOfCards, testing::Values(100));

TEST_P(LinksOfCards, TellNothing) {
  Node no_boards = test::snc_server(), slow_seconds = sixteen_ports(), unused_seconds = sixteen_ports();
  for (size_t i = 0; i < 10; ++i)
    no_boards.topology.nics[i].vendor = 0x14e4, no_boards.topology.nics[i].device = 0x1760;
  for (size_t i = 0; i < 16; ++i) slow_seconds.topology.nics[i].card = slow_seconds.topology.nics[i].pci.substr(0, 10);
  for (size_t i = 1; i < 16; i += 2) slow_seconds.ports[i].rate = 3.125e9, take_down(unused_seconds.ports[i]);
  std::mt19937 random(3);
  for (const Node& whole : {test::snc_server(), no_boards, sixteen_ports(), slow_seconds, unused_seconds,
                            test::mi300x_server(), test::grace_server()}) {
    const auto compute = compute_nics(whole.topology, whole.ports);
    for (int round = 0; round < GetParam(); ++round) {
      Node node = whole;
      for (Port& port : node.ports)
        if (random() % (2 + round % 7) == 0) take_down(port);
      ASSERT_EQ(said_of(node, compute.size()), "") << whole.hostname << " " << round;
    }
    for (const size_t nic : compute) {
      Node node = whole;
      const std::string card = whole.topology.nics[nic].pci.substr(0, whole.topology.nics[nic].pci.rfind('.'));
      std::erase_if(node.topology.nics, [&](const Nic& each) { return each.pci.starts_with(card); });
      std::erase_if(node.ports, [&](const Port& each) { return each.pci.starts_with(card); });
      EXPECT_TRUE(has(said_of(node, compute.size()), "expect node critical")) << whole.hostname << " " << card;
    }
  }
}

TEST(UnseenMachines, AMissingCardIsMissedWhoeverUsesItsSecondPort) {
  for (const unsigned wanted : {8u, 16u}) {
    Node node = sixteen_ports();
    if (wanted == 8)
      for (size_t i = 1; i < 16; i += 2) take_down(node.ports[i]);
    ASSERT_EQ(said_of(node, wanted), "");
    node.topology.nics.erase(node.topology.nics.begin() + 6, node.topology.nics.begin() + 8);
    node.ports.erase(node.ports.begin() + 6, node.ports.begin() + 8);
    EXPECT_TRUE(has(said_of(node, wanted), "expect node critical: " + std::to_string(wanted * 7 / 8) + " compute NICs"))
        << said_of(node, wanted);
  }
}

// First ports at 400 Gb/s for the GPUs, second ones at 25 Gb/s for storage.
TEST(UnseenMachines, APortWithoutALinkIsNotWhatTheSlowPortOfItsCardIs) {
  Node node = sixteen_ports();
  for (size_t i = 0; i < 16; ++i) {
    node.topology.nics[i].card = node.topology.nics[i].pci.substr(0, node.topology.nics[i].pci.find('.'));
    if (i % 2 == 1) node.ports[i].rate = 3.125e9;
  }
  ASSERT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
  take_down(node.ports[6]);
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
}

// One NIC for two GPUs, and cards for storage in slots as good beside them.
TEST(UnseenMachines, StorageCardsWithoutALinkAreNoComputeNics) {
  Node node = test::snc_server();
  for (size_t i = 0; i < 10; ++i) {
    node.topology.nics[i].link = {32, 32, 16, 16};
    if (i % 2 == 0) continue;
    node.topology.nics[i].device = 0xa2dc;
    node.ports[i].rate = 25e9;
    node.ports[i].hca_type = "MT41692";
  }
  node.topology.nics.erase(node.topology.nics.begin() + 4, node.topology.nics.end());
  node.ports.erase(node.ports.begin() + 4, node.ports.end());
  const auto compute = compute_nics(node.topology, node.ports);
  take_down(node.ports[1]);
  take_down(node.ports[3]);
  EXPECT_EQ(compute_nics(node.topology, node.ports), compute) << "the storage switch is off";
}

TEST(UnseenMachines, APortWithoutALinkDoesNotMakeStorageNicsServeGpus) {
  Node node = test::snc_server();
  for (size_t i = 8; i < 10; ++i) node.topology.nics[i].device = 0x1021;
  for (size_t i = 0; i < 10; ++i) node.ports[i].board_id = i < 8 ? "MT_0000000838" : "MT_0000000833";
  ASSERT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
  take_down(node.ports[5]);
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
  node.ports[5].rate = 5e9;  // the rate of an InfiniBand port without a link
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
  take_down(node.ports[8]);
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u)
      << "a storage port is none of theirs because it is down";
  node = test::snc_server();
  for (size_t i = 8; i < 10; ++i) node.topology.nics[i].device = 0x1021;
  for (size_t i = 0; i < 10; ++i) node.ports[i].board_id = i < 8 ? "MT_0000000838" : "MT_0000000833";
  node.ports[5].rate = 25e9;
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u) << "a bad cable makes no difference either";
}

// bnxt_re, irdma and ionic have no board_id: the other port of its card shows the kind of a port that is down.
TEST(UnseenMachines, AStoragePortWithoutALinkIsNoComputeNicWhereBoardsAreNotTold) {
  Node node = test::snc_server();
  for (size_t i = 0; i < 10; ++i) {
    node.topology.nics[i].vendor = 0x14e4, node.topology.nics[i].device = 0x1760;
    node.ports[i].board_id.clear();
  }
  node.topology.nics[9].card = node.topology.nics[8].card = "0000:f1:00";
  ASSERT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
  take_down(node.ports[5]);
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
  take_down(node.ports[8]);
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
}

TEST(UnseenMachines, OneDeadPortLeavesTheOthersTheirNics) {
  Node node = sixteen_ports();
  take_down(node.ports[3]);
  const Pairing pairing = best_pairing(node.topology, node.ports);
  EXPECT_EQ(names(node.topology, pairing.pairs[0].nics), (std::vector<std::string>{"mlx5_0", "mlx5_10"}));
  EXPECT_EQ(names(node.topology, pairing.pairs[1].nics), (std::vector<std::string>{"mlx5_1"}));
  EXPECT_TRUE(pairing.idle.empty());
  const std::string nccl = print_as("nccl", node);
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(nccl.find(node.ports[i].rdma + ":1,") != std::string::npos ||
                  nccl.find(node.ports[i].rdma + ":1\n") != std::string::npos,
              i != 3)
        << nccl;
  take_down(node.ports[2]);
  const Pairing shared = best_pairing(node.topology, node.ports);
  for (size_t gpu = 0; gpu < 8; ++gpu)
    EXPECT_EQ(shared.pairs[gpu].nics.size(), gpu == 1 ? 1u : 2u) << "with none of its own it shares another's";
}

// GPUs on one NUMA node of a socket and NICs on the other: all of it is SYS, and half of it stays in the socket.
TEST(UnseenMachines, WithinTheSocketIsNearerThanTheOtherSocket) {
  Node node = test::grace_server();
  node.topology.numa_socket = {{0, 0}, {1, 0}, {2, 1}, {3, 1}};
  for (size_t i = 0; i < 4; ++i) {
    node.topology.gpus[i].numa = i < 2 ? 0 : 2;
    node.topology.nics[i].numa = i < 2 ? 3 : 1;
  }
  const Pairing pairing = best_pairing(node.topology, node.ports);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(pairing.pairs[i].path, PathClass::SYS);
    EXPECT_EQ(node.topology.nics[pairing.pairs[i].nics.at(0)].numa, i < 2 ? 1 : 3) << "GPU" << i;
  }
}

TEST(UnseenMachines, AContainerHasThePortsOfAnAccelerator) {
  test::Tree tree;
  const auto first =
      test::add_pci(tree, {"pci0000:10/0000:10:01.0", "0000:11:00.0", "0x1da3", "0x1060", "0x120000", "0"});
  test::add_pci(tree, {"pci0000:10/0000:10:02.0", "0000:12:00.0", "0x1da3", "0x1060", "0x120000", "0"});
  tree.folder(first + "/net");
  const Topology topology = test::topology_of(tree);
  ASSERT_EQ(topology.gpus.size(), 2u);
  EXPECT_TRUE(topology.gpus[0].ports_elsewhere);
  EXPECT_FALSE(topology.gpus[1].ports_elsewhere) << "its driver has made no netdev";
}

TEST(UnseenMachines, AnAcceleratorWithPortsOfItsOwnIsItsNearestNic) {
  test::Tree tree;
  const auto gaudi =
      test::add_pci(tree, {"pci0000:10/0000:10:01.0", "0000:11:00.0", "0x1da3", "0x1060", "0x120000", "0"});
  tree.link("sys/class/infiniband/hbl_0/device", "../../../" + gaudi.substr(4));
  const auto nic = test::add_pci(tree, {"pci0000:10/0000:10:02.0", "0000:12:00.0"});
  tree.link("sys/class/infiniband/mlx5_0/device", "../../../" + nic.substr(4));
  const Topology topology = test::topology_of(tree);
  ASSERT_EQ(topology.gpus.size(), 1u);
  ASSERT_EQ(topology.nics.size(), 2u);
  EXPECT_EQ(topology.gpus[0].model, "Intel Gaudi 3");
  const Pairing pairing = best_pairing(topology, std::span<const Port>{});
  EXPECT_EQ(names(topology, pairing.pairs[0].nics), (std::vector<std::string>{"hbl_0"}));
  EXPECT_EQ(pairing.pairs[0].path, PathClass::PIX);
}

// Broadcom's and Intel's drivers make a GUID for each port.
TEST(UnseenMachines, TwoPortsInASlotAreOneCardWhateverTheirGuids) {
  test::Tree tree;
  tree.file("sys/devices/system/node/node0/cpulist", "0-3\n").file("sys/devices/system/node/node1/cpulist", "4-7\n");
  for (const char* port : {"0", "1"}) {
    const std::string pci = std::string("0000:41:00.") + port, rdma = std::string("bnxt_re") + port;
    const auto nic = test::add_pci(tree, {"pci0000:40/0000:40:01.0", pci, "0x14e4", "0x1760", "0x020000", "0"});
    tree.link(nic + "/infiniband/" + rdma + "/device", "../..")
        .file(nic + "/infiniband/" + rdma + "/sys_image_guid", "be97:e1ff:fe00:001" + std::string(port) + "\n");
    tree.link("sys/class/infiniband/" + rdma, "../../" + nic.substr(4) + "/infiniband/" + rdma);
    test::add_pci(tree, {std::string("pci0000:") + port + "0", std::string("0000:") + port + "1:00.0", "0x10de",
                         "0x2330", "0x030200", port});
  }
  Node node;
  node.topology = test::topology_of(tree);
  ASSERT_EQ(node.topology.nics.size(), 2u);
  EXPECT_EQ(node.topology.nics[0].card, node.topology.nics[1].card);
  EXPECT_EQ(said_of(node), "") << "one card cannot be near to GPUs on both sockets";
}

TEST(UnseenMachines, SubfunctionsAreNoNicsOfCollectives) {
  Node node = sixteen_ports();
  node.topology.nics[0].rdma.emplace_back("mlx5_99");
  Port sub = node.ports[0];
  sub.rdma = "mlx5_99";
  test::make_virtual(sub);
  node.ports.push_back(sub);
  EXPECT_FALSE(has(print_as("nccl", node), "mlx5_99")) << print_as("nccl", node);
  node.topology.nics[0].rdma = {"mlx5_99"};
  node.ports.erase(node.ports.begin());
  EXPECT_TRUE(has(print_as("nccl", node), "mlx5_99:1")) << "in its container it is all there is";
}

// In switchdev mode the representors are further ports of the device.
TEST(UnseenMachines, APhysicalFunctionIsJudgedWhateverPortsOfGuestsItHas) {
  Node node = test::snc_server();
  Port representor = node.ports[0];
  representor.number = 2;
  test::make_virtual(representor);
  node.ports.push_back(representor);
  EXPECT_EQ(said_of(node), "");
  node.topology.nics[0].link.width = 8;
  EXPECT_EQ(found_of(node).size(), 1u) << said_of(node);
}

TEST(UnseenMachines, WhatIsGivenToAGuestIsJudgedThere) {
  Node node = test::snc_server();
  node.topology.nics.resize(8);
  node.ports.resize(8);
  Nic ninth = node.topology.nics[7];
  ninth.pci = "0000:f1:00.0";
  ninth.card = "0000:f1:00";
  ninth.root = "pci0000:f0";
  ninth.bridges = {"0000:f0:01.0"};
  ninth.rdma.clear();
  ninth.netdevs.clear();
  ninth.name = ninth.pci;
  node.topology.nics.push_back(ninth);
  EXPECT_EQ(found_of(node).size(), 1u) << said_of(node);
  node.platform.functions[ninth.pci].kernel_driver = "vfio-pci";
  EXPECT_EQ(said_of(node), "");
  node.topology.nics.erase(node.topology.nics.begin() + 3);
  node.ports.erase(node.ports.begin() + 3);
  EXPECT_EQ(said_of(node), "locality GPU3 warning: NODE to mlx5_2\n");
  node.platform.functions[node.topology.gpus[3].pci].kernel_driver = "vfio-pci";
  EXPECT_EQ(said_of(node), "") << "a guest's GPU, with its NIC";
}

void give_to_container(Node& node, size_t index) {
  Nic& nic = node.topology.nics[index];
  std::erase_if(node.ports, [&](const Port& port) { return port.pci == nic.pci; });
  nic.rdma.clear();
  nic.netdevs.clear();
  nic.name = nic.pci;
  nic.rdma_elsewhere = true;
}

TEST(UnseenMachines, ANicThatAContainerHasIsNotMissing) {
  Node node = test::snc_server();
  node.topology.nics.resize(8);
  node.ports.resize(8);
  const Node before = node;
  give_to_container(node, 3);
  EXPECT_EQ(said_of(node, 8), "");
  EXPECT_EQ(test::describe(test::complaints_of({.now = node, .before = &before}, {"port-state"})), "");
  EXPECT_FALSE(has(print_as("nccl", node), node.topology.nics[3].pci)) << "the container's own";
  node = sixteen_ports();
  for (const size_t nic : {2u, 3u, 9u}) give_to_container(node, nic);
  EXPECT_EQ(said_of(node, 16), "");
}

TEST(UnseenMachines, ANicForManagementDoesNotStandInForThoseOfContainers) {
  Node node = test::snc_server();
  for (size_t nic = 0; nic < 8; ++nic) {
    node.topology.nics[nic].link = {32, 32, 16, 16};
    give_to_container(node, nic);
  }
  ASSERT_EQ(node.ports.size(), 2u);
  for (size_t nic = 8; nic < 10; ++nic) {
    node.topology.nics[nic].device = 0x101f;
    node.topology.nics[nic].link = {16, 16, 8, 8};
    node.ports[nic - 8].rate = 25e9 / 8;
    node.ports[nic - 8].qos.mtu = 1500;
  }
  EXPECT_EQ(compute_nics(node.topology, node.ports).size(), 8u);
  EXPECT_EQ(test::describe(test::complaints_of({.now = node}, {"roce-mtu", "locality", "pairing"})), "");
}

// In the container itself the physical functions are elsewhere.
TEST(UnseenMachines, AContainersVirtualFunctionIsItsNic) {
  Node node = test::snc_server();
  node.topology.nics.resize(8);
  Nic function = node.topology.nics[2];
  Port port = node.ports[2];
  for (size_t i = 0; i < 8; ++i) give_to_container(node, i);
  function.role = FunctionRole::virtual_function;
  function.pci = port.pci = "0000:44:00.2";
  node.topology.nics.push_back(function);
  node.ports = {port};
  EXPECT_EQ(names(node.topology, compute_nics(node.topology, node.ports)), std::vector<std::string>{"mlx5_2"});
  EXPECT_TRUE(has(print_as("nccl", node), "NCCL_IB_HCA==mlx5_2:1\n")) << print_as("nccl", node);
}

// A virtual function reports no current link; the hypervisor invents the slots and bridges that a guest sees.
TEST(UnseenMachines, LinksOfGuestsAreComparedWithTheirEqualsOnly) {
  Node node = test::cloud_guest();
  for (Nic& nic : node.topology.nics) nic.link = {{}, 32, {}, 16};
  EXPECT_EQ(said_of(node), "");
  node.topology.nics.resize(1);
  node.topology.gpus.resize(1);
  node.topology.nics[0].link = {2.5, 16, 1, 16};
  node.topology.gpus[0].link = {8, 32, 8, 16};
  EXPECT_EQ(said_of(node), "");
  node = test::cloud_guest();
  node.topology.gpus[3].link.width = 8;
  EXPECT_EQ(found_of(node).size(), 1u) << "unlike the others of its model";
}

// Nothing is to be reseated where the slot can do no more.
TEST(UnseenMachines, ASlotThatIsTooSmallIsSaidToBe) {
  Node node = test::snc_server();
  for (Nic& nic : node.topology.nics) {
    nic.link.speed = 16;
    node.platform.functions[nic.bridges[0]].link = {16, 16, 16, 16};
  }
  const auto found = found_of(node);
  ASSERT_EQ(found.size(), 8u) << test::describe(found);
  EXPECT_EQ(found[0].status, Status::critical);
  EXPECT_TRUE(has(found[0].meaning, "The slot (port ")) << found[0].meaning;
  EXPECT_FALSE(has(found[0].remedy, "eseat")) << found[0].remedy;
}

// Functions of the NICs' model that manage NVLink switches, by two lanes, and have RDMA devices (DGX B200). The NIC of
// a missing GPU is none of them.
TEST(UnseenMachines, FunctionsThatManageNvlinkAreComparedWithEachOther) {
  Node node = test::snc_server();
  node.topology.nics.resize(8);
  node.ports.resize(8);
  for (Nic& nic : node.topology.nics) nic.link = {32, 32, 16, 16};
  for (size_t i = 0; i < 4; ++i) {
    Nic& nic = node.topology.nics.emplace_back(node.topology.nics[i]);
    nic.pci = "0000:0" + std::to_string(i + 1) + ":00.0";
    nic.card = card_of(nic.pci);
    nic.root = "pci0000:00";
    nic.bridges = {"0000:00:0" + std::to_string(i + 1) + ".0"};
    nic.name = "mlx5_" + std::to_string(20 + i);
    nic.rdma = {nic.name};
    nic.netdevs.clear();
    nic.link = {32, 32, 2, 2};
    nic.role = FunctionRole::nvlink_management;
  }
  ASSERT_EQ(said_of(node), "");
  for (size_t gpu = 0; gpu < 8; ++gpu) {
    Node now = node;
    now.topology.gpus.erase(now.topology.gpus.begin() + static_cast<long>(gpu));
    EXPECT_EQ(said_of(now), "") << "`symmetry` reports GPU" << gpu;
    now.topology.nics[gpu].link.width = 8;
    EXPECT_EQ(found_of(now).size(), 1u) << "as with its GPU: " << said_of(now);
  }
  node.topology.nics[9].link.width = 1;
  EXPECT_EQ(said_of(node), "pcie mlx5_21 warning: x1 at 32 GT/s\n");
}

// The link trained as it should, and the slot of one NIC is smaller than those of the others.
TEST(UnseenMachines, ASlotThatIsSmallerThanThoseOfEqualNics) {
  Node node = test::snc_server();
  for (Nic& nic : node.topology.nics) {
    nic.link = {32, 32, 16, 16};
    node.platform.functions[nic.bridges[0]].link = nic.link;
  }
  ASSERT_EQ(said_of(node), "");
  const Nic& nic = node.topology.nics[7];
  node.topology.nics[7].link.speed = 16;
  node.platform.functions[nic.bridges[0]].link = {16, 16, 16, 16};
  auto found = found_of(node);
  ASSERT_EQ(found.size(), 1u) << test::describe(found);
  EXPECT_EQ(found[0].status, Status::critical);
  EXPECT_TRUE(has(found[0].meaning, "The slot (port " + nic.bridges[0])) << found[0].meaning;
  EXPECT_FALSE(has(found[0].remedy, "eseat")) << found[0].remedy;
  node.platform.functions[nic.bridges[0]].link.max_speed = 32;
  found = found_of(node);
  ASSERT_EQ(found.size(), 1u) << test::describe(found);
  EXPECT_TRUE(has(found[0].remedy, "Reseat the device")) << "both ends can do more: " << found[0].remedy;
}

TEST(UnseenMachines, SlotsForStorageMayDiffer) {
  Node node = test::snc_server();
  Nic& nic = node.topology.nics[9];
  nic.pci = node.ports[9].pci = "0000:d8:00.0";
  nic.bridges = {"0000:d2:02.0"};
  nic.link.width = 8;
  node.platform.functions["0000:d2:02.0"].link = {32, 32, 8, 8};
  EXPECT_EQ(said_of(node), "") << "an x8 slot, and enough for the port";
  node.platform.functions["0000:d2:02.0"].link.max_width = 16;
  EXPECT_EQ(said_of(node), "pcie mlx5_9 warning: x8 at 32 GT/s\n") << "lanes are lost";
}

// A card with bridges of its own: the link above them is slow.
TEST(UnseenMachines, ASlotThatIsTooSmallForACardWithASwitch) {
  Node node = test::snc_server();
  Nic& nic = node.topology.nics[8];
  Nic& second = node.topology.nics[9];
  nic.bridges = second.bridges = {"0000:d4:00.0", "0000:d3:00.0", "0000:d2:01.0"};
  nic.pci = node.ports[8].pci = "0000:d5:00.0";
  second.pci = node.ports[9].pci = "0000:d5:00.1";
  node.ports[8].rate = 50e9;
  const auto slot = [&](const PcieLink& link) {
    for (const char* end : {"0000:d3:00.0", "0000:d2:01.0"}) node.platform.functions[end].link = link;
  };
  slot({32, 32, 16, 16});
  EXPECT_EQ(said_of(node), "");
  slot({16, 16, 8, 8});
  ASSERT_EQ(said_of(node), "pcie 0000:d3:00.0 critical: x8 at 16 GT/s below 0000:d2:01.0: at most 126 of 400 Gb/s\n");
  EXPECT_TRUE(has(found_of(node)[0].meaning, "slower than its network port (400 Gb/s)")) << found_of(node)[0].meaning;
  node.topology.hypervisor = "QEMU";
  EXPECT_EQ(said_of(node), "") << "a virtual bridge has no lanes";
  node.topology.hypervisor.clear();
  Gpu& gpu = node.topology.gpus[7];
  gpu.root = nic.root;
  gpu.bridges = {"0000:d4:01.0", "0000:d3:00.0", "0000:d2:01.0"};
  for (const Finding& finding : found_of(node))
    EXPECT_NE(finding.subject, "0000:d3:00.0") << "what GPU and NIC exchange does not pass here";
}

// The secondary function of a multi-PF netdev has no netdev, and without mlx5_ib no RDMA device.
TEST(UnseenMachines, ASilentHalfCarriesItsShare) {
  Node node = test::snc_server();
  node.topology.gpus.resize(1);
  node.topology.nics.resize(2);
  node.ports.resize(1);
  for (Nic& nic : node.topology.nics) nic.link.width = 8;
  Nic& half = node.topology.nics[1];
  half.role = FunctionRole::multi_pf_secondary;
  half.primary = node.topology.nics[0].pci;
  half.rdma.clear();
  half.netdevs.clear();
  half.name = half.pci;
  half.root = "pci0000:ee";
  half.bridges = {"0000:ee:01.0"};
  for (const Nic& nic : node.topology.nics) node.platform.functions[nic.bridges[0]].link = {32, 32, 8, 8};
  EXPECT_EQ(said_of(node), "");
  half.link.width = 4;
  EXPECT_EQ(found_of(node).size(), 1u) << "the slot of the half is not checked: the finding is that of its NIC";
  half.link.width = 8;
  half.role = FunctionRole::physical;
  half.primary.clear();
  EXPECT_EQ(found_of(node).size(), 1u) << "a card without a netdev here carries nothing of another's";
}

// Sixteen functions for guests behind each NIC, in the order in which udev names them.
TEST(UnseenMachines, CountersOfGuestsGoBeforeThoseOfTheMachinesOwnPorts) {
  Node node = test::Healthy().now;
  for (size_t i = 0; i < 4; ++i) {
    Port& port = node.ports[17 * i];
    port.counters.hw.clear();
    for (const char* name : {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "np_cnp_sent"})
      port.counters.hw.push_back({CounterName(name), 7});
    test::resolve(port);
    Port function = port;
    test::make_virtual(function);
    for (int number = 0; number < 16; ++number) {
      function.rdma = node.ports[17 * i].rdma + "v" + std::to_string(number);
      node.ports.insert(node.ports.begin() + static_cast<long>(17 * i + 1), function);
    }
  }
  FamilySet all;
  add_node(all, node, {});
  FamilySet page(all.series() - 150);
  add_node(page, node, {});
  EXPECT_GT(page.dropped_by_limit(), 100u);
  const std::string text = serialize(page);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(has(text, "{device=\"" + node.ports[17 * i].rdma + "\",port=\"1\"} 7")) << node.ports[17 * i].rdma;
}

// In a guest there is no physical function that identifies a virtual one.
TEST(UnseenMachines, WhatAGuestsVirtualFunctionCannotDoIsTheHosts) {
  test::Healthy node;
  Change& change = node.change("mlx5_1/1", "pfc");
  change.outcome = Outcome::unsupported;
  change.from.clear();
  node.now.ports[1].pci_id = "15b3:1021";
  EXPECT_EQ(test::complaints_of(node.view(), {"pfc"}).size(), 1u) << "a card that should be able to";
  for (const char* id : {"15b3:101e", "14e4:1819", "1dd8:1003", "8086:1889", "19e5:a22f"}) {
    node.now.ports[1].pci_id = id;
    EXPECT_EQ(test::said(node.view(), {"pfc"}), "") << id;
  }
}

// Each check of a heading is about each subject behind it, and no finding is printed twice.
TEST(UnseenMachines, AHeadingClaimsNothingOfOtherPorts) {
  Report report;
  const auto add = [&](const char* id, const char* subject) {
    report.findings.push_back({id, subject, Status::unknown, "-", "3", "It could not be read.", "Look."});
  };
  for (const char* port : {"mlx5_0/1", "mlx5_1/1", "mlx5_2/1"}) add("pfc", port);
  for (const char* port : {"mlx5_0/1", "mlx5_1/1", "mlx5_2/1"}) add("ecn_rp", port);
  add("ecn_np", "mlx5_1/1");
  const std::string text = ctl::report_text(report, "", false, {});
  EXPECT_TRUE(has(text, "\nUNKNOWN  pfc, ecn_rp  mlx5_0..2\n")) << text;
  EXPECT_TRUE(has(text, "\nUNKNOWN  ecn_np  mlx5_1/1\n")) << text;
  EXPECT_EQ(text.find("ecn_rp"), text.rfind("ecn_rp")) << text;
}

}  // namespace
}  // namespace fabric
