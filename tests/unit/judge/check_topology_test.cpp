// SPDX-License-Identifier: Apache-2.0
// Defects that break a server's symmetry, one at a time; and no false finding on any machine of the corpus.
#include "node/topology.h"
#include "node/topology_xml.h"
#include "support/corpus.h"
#include "support/healthy_node.h"
#include "support/machines.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;
using test::Healthy;
using test::said;

std::vector<Finding> found_in(const Node& node) {
  return test::complaints_of({.now = node}, {"locality", "pairing", "pcie"});
}
std::string said(const Node& node) { return test::describe(found_in(node)); }

void remove_nic(Node& node, size_t index) {
  const std::string rdma = node.topology.nics[index].name;
  node.topology.nics.erase(node.topology.nics.begin() + static_cast<long>(index));
  std::erase_if(node.ports, [&](const Port& port) { return port.rdma == rdma; });
}

// Onto a root bus of its own at another NUMA node, where no GPU is.
void move_nic(Node& node, size_t index, int numa) {
  Nic& nic = node.topology.nics[index];
  nic.numa = numa;
  nic.root = "pci0000:ee";
  nic.bridges = {"0000:ee:01.0"};
}

TEST(Symmetry, HealthyServersAreSilent) {
  for (const Node& node : {test::snc_server(), test::mi300x_server(), test::grace_server(), test::cloud_guest()})
    EXPECT_EQ(said(node), "") << node.hostname;
}

struct Asymmetry {
  const char* name;
  std::function<Node()> make;
  std::function<void(Node&)> plant;
  std::string found;  // "check subject", the only one
  std::string words;  // part of the observation or its meaning
};

// Each NIC is behind the CPU, and reaches the switch of its GPU by a Data Direct function.
Node direct_server() {
  Node out = test::mi300x_server();
  for (size_t i = 0; i < out.topology.nics.size(); ++i) {
    Nic& nic = out.topology.nics[i];
    nic.direct = nic;
    nic.bridges = {"000" + std::to_string(i) + ":00:00.0"};
    nic.root = "pci000" + std::to_string(i) + ":00";
  }
  return out;
}

const std::vector<Asymmetry>& asymmetries() {
  static const std::vector<Asymmetry> all{
      {"gpu_behind_the_bridges_of_its_module", test::mi300x_server, [](Node& n) { remove_nic(n, 6); }, "locality GPU6",
       "NODE to bnxt_re4"},
      {"rail_missing_without_a_switch", test::grace_server, [](Node& n) { remove_nic(n, 2); }, "locality GPU2",
       "SYS to"},
      {"gpu_off_the_bus", test::snc_server, [](Node& n) { n.topology.gpus[2].link = {}; }, "pcie GPU2",
       "fallen off the bus"},
      {"nic_off_the_bus", test::mi300x_server, [](Node& n) { n.topology.nics[2].link = {}; }, "pcie bnxt_re2",
       "fallen off the bus"},
      {"the_only_nic_on_a_node_without_gpus", test::grace_server,
       [](Node& n) {
         while (n.topology.nics.size() > 1) remove_nic(n, 0);
         n.topology.gpus.resize(1);
       },
       "locality GPU0", "SYS to mlx5_3"},
      {"nic_without_its_rdma_driver", test::mi300x_server,
       [](Node& n) {
         n.topology.nics[2].rdma.clear();
         std::erase_if(n.ports, [](const Port& port) { return port.rdma == "bnxt_re2"; });
       },
       "locality GPU2", "has no RDMA device"},
      {"nic_without_its_data_direct_function", direct_server, [](Node& n) { n.topology.nics[2].direct.reset(); },
       "locality GPU2", "without a Data Direct function"},
  };
  return all;
}

// Without serial numbers it is unknown which of two NICs has the one function that is left.
TEST(Locality, AFunctionOfAnUnknownNicIsNotMissing) {
  Node node = direct_server();
  auto& nics = node.topology.nics;
  Nic function = nics[3];
  static_cast<PciDevice&>(function) = *nics[3].direct;
  function.pci = "0009:01:00.0";
  function.vendor = kNvidiaNetworking;
  function.device = 0x2100;
  function.role = FunctionRole::data_direct;
  function.rdma.clear();
  function.netdevs.clear();
  function.direct.reset();
  nics[2].direct.reset();
  nics[3].direct.reset();
  nics.push_back(function);
  const auto meaning_of = [&](const std::string& gpu) {
    for (const Finding& each : test::complaints_of({.now = node}, {"locality"}))
      if (each.subject == gpu) return each.meaning;
    return std::string();
  };
  EXPECT_TRUE(test::has(meaning_of("GPU2"), "serial numbers of the boards")) << meaning_of("GPU2");
  EXPECT_FALSE(test::has(meaning_of("GPU2"), "bnxt_re2, bnxt_re3 have none")) << meaning_of("GPU2");
}

// A NIC of a slower network is for storage: it is not the one that a GPU has lost.
TEST(Locality, ASlowerNicElsewhereIsNotTheLostOne) {
  Node node = test::mi300x_server();
  Nic other = node.topology.nics[6];
  Port port = *find_where(node.ports, [&](const Port& each) { return contains(other.rdma, each.rdma); });
  remove_nic(node, 6);
  other.pci = port.pci = "0000:f1:00.0";
  other.card = card_of(other.pci);
  other.name = port.rdma = "bnxt_re9";
  other.rdma = {"bnxt_re9"};
  other.bridges = {"0000:f0:00.0"};
  other.root = "pci0000:f0";
  node.topology.nics.push_back(other);
  node.ports.push_back(port);
  for (Port& each : node.ports) each.rate = each.rdma == "bnxt_re9" ? 2e11 : 4e11;
  const auto found = test::complaints_of({.now = node}, {"locality"});
  ASSERT_FALSE(found.empty());
  for (const Finding& each : found) EXPECT_FALSE(test::has(each.meaning, "wrong slot")) << each.meaning;
}

class SymmetryDefect : public ::testing::TestWithParam<Asymmetry> {};

TEST_P(SymmetryDefect, GivesItsFindingAlone) {
  Node node = GetParam().make();
  ASSERT_EQ(said(node), "") << "before";
  GetParam().plant(node);
  const auto found = found_in(node);
  ASSERT_EQ(found.size(), 1u) << test::describe(found);
  EXPECT_EQ(found[0].id + " " + found[0].subject, GetParam().found);
  EXPECT_TRUE(has(found[0].observed + " " + found[0].meaning, GetParam().words))
      << found[0].observed << " " << found[0].meaning;
  EXPECT_FALSE(found[0].remedy.empty());
  EXPECT_FALSE(has(GetParam().words, "Data Direct") && has(found[0].remedy, "slot")) << "a function is missing";
}

INSTANTIATE_TEST_SUITE_P(All, SymmetryDefect, ::testing::ValuesIn(asymmetries()), test::kByName);

// The kernel shows all ones in every register of a device that has lost its link.
TEST(Symmetry, ADeviceThatReadsAllOnesHasFallenOffTheBus) {
  Node node = test::snc_server();
  for (PciDevice* device :
       {static_cast<PciDevice*>(&node.topology.gpus[2]), static_cast<PciDevice*>(&node.topology.nics[5])}) {
    const PcieLink link = std::exchange(device->link, {});
    device->link.max_speed = 64;
    device->link.all_ones = true;
    const auto found = found_in(node);
    ASSERT_EQ(found.size(), 1u) << test::describe(found);
    EXPECT_EQ(found[0].status, Status::critical);
    EXPECT_TRUE(has(found[0].meaning, device->pci + " has fallen off the bus")) << found[0].meaning;
    node.platform.functions[device->pci].power_state = "D3cold";
    EXPECT_EQ(said(node), "") << "powered off, not lost";
    device->link = link;
  }
}

// Rubin uses x2 of x16 while it is idle.
TEST(Symmetry, LanesOfAnIdleGpuSleepAtGen6) {
  Node node = test::snc_server();
  for (Gpu& gpu : node.topology.gpus) gpu.link = {64, 64, 16, 16};
  PcieLink& idle = node.topology.gpus[2].link;
  idle.width = 2;
  EXPECT_EQ(said(node), "");
  idle.width = 8;
  EXPECT_TRUE(has(said(node), "pcie GPU2 warning: x8 at 64 GT/s")) << said(node);
  for (Gpu& gpu : node.topology.gpus) gpu.link.speed = 32;
  idle.width = 2;
  EXPECT_TRUE(has(said(node), "pcie GPU2 warning: x2 at 32 GT/s")) << "lanes do not sleep below Gen6: " << said(node);
}

TEST(Symmetry, TheOnlyGpuThatReadsAllOnesHasFallenOffTheBus) {
  Node node = test::grace_server();
  node.topology.gpus.resize(1);
  node.topology.gpus[0].link = {};
  EXPECT_EQ(said(node), "") << "no link is reported";
  node.topology.gpus[0].link.all_ones = true;
  EXPECT_EQ(said(node), "pcie GPU0 critical: no answer: its registers read all ones\n");
}

TEST(Symmetry, LinksOfASocketDirectNicCarryItsPortTogether) {
  Node node = test::snc_server();
  const auto narrow = [&](unsigned width) {
    for (size_t i = 0; i < 8; ++i) node.topology.nics[i].link.width = width;
  };
  narrow(8);
  EXPECT_EQ(found_in(node).size(), 8u) << "each is slower than its port";
  for (size_t i = 0; i < 4; ++i)
    node.topology.nics[i].card = node.topology.nics[i + 4].card = "5c25:7303:0000:000" + std::to_string(i);
  EXPECT_EQ(said(node), "");
  narrow(4);
  EXPECT_EQ(found_in(node).size(), 8u) << "both halves together are slower, too";
  narrow(8);
  node.topology.nics[1].link.width = 4;
  EXPECT_EQ(said(node),
            "pcie mlx5_1 critical: x4 at 32 GT/s, with the other slots of this NIC: at most 378 of 400 Gb/s\n")
      << "its other half, mlx5_5, is in order";
}

// Two GPUs on a switch with two NICs, four times.
Node two_on_a_switch() {
  Node node = test::snc_server();
  for (size_t i = 1; i < 8; i += 2) {
    for (PciDevice* device :
         {static_cast<PciDevice*>(&node.topology.gpus[i]), static_cast<PciDevice*>(&node.topology.nics[i])}) {
      const auto& neighbor = node.topology.gpus[i - 1];
      device->root = neighbor.root;
      device->bridges = {"port of " + device->pci, neighbor.bridges[1], neighbor.bridges[2]};
    }
  }
  return node;
}

// Each switch has a fast NIC for both GPUs and a slow one for other traffic.
TEST(Symmetry, GpusThatShareANicByDesignHideNoLoss) {
  Node node = two_on_a_switch();
  for (size_t i = 1; i < 8; i += 2) {
    node.topology.nics[i].device = 0x1015;
    node.ports[i].rate = 3.125e9;
  }
  const auto all = [&] { return test::said({.now = node}, {"locality", "pairing", "symmetry"}); };
  ASSERT_EQ(all(), "");
  node.topology.nics[5].rdma.clear();
  std::erase_if(node.ports, [&](const Port& port) { return port.rdma == "mlx5_5"; });
  EXPECT_EQ(all(), "symmetry mlx5_5 critical: no RDMA device\n");
  node.topology.nics.erase(node.topology.nics.begin() + 5);
  EXPECT_TRUE(has(all(), "symmetry ") && has(all(), "critical: no NIC function")) << all();
}

TEST(Symmetry, NicsOfSeveralVendorsAreComparedTogether) {
  Node node = test::snc_server();
  for (size_t i = 4; i < 8; ++i) {
    node.topology.nics[i].vendor = 0x14e4;
    node.topology.nics[i].device = 0x1760;
  }
  EXPECT_EQ(said(node), "");
  Node dark = node;
  for (size_t i = 4; i < 8; ++i) dark.ports[i].state = 1;
  EXPECT_EQ(said(dark), "") << "a switch is off; every card is present";
  for (Port& port : dark.ports) port.state = 1;
  EXPECT_EQ(said(dark), "") << "just booted";
  remove_nic(node, 6);
  EXPECT_EQ(said(node), "locality GPU6 critical: NODE to mlx5_7\n");
}

TEST(Symmetry, AGpuInOtherPartitionsIsNamed) {
  Node node = test::mi300x_server();
  const auto symmetry = [&] { return test::said({.now = node}, {"symmetry"}); };
  EXPECT_EQ(symmetry(), "");
  node.topology.gpus[2].partition = "SPX/NPS1";
  EXPECT_EQ(symmetry(), "symmetry GPU2 warning: partitions SPX/NPS1\n");
  for (size_t gpu = 0; gpu < 3; ++gpu) node.topology.gpus[gpu].partition = "SPX/NPS1";
  EXPECT_EQ(symmetry(), "") << "three of eight: for other jobs";
}

// The fix of a GPU whose NIC is not where it should be is that of the cause.
TEST(Symmetry, TheFixOfAFarNicIsThatOfItsCause) {
  const Node whole = test::snc_server();
  const auto said = [](const Node& node) {  // with the fix
    std::string out;
    for (const Finding& each : test::complaints_of({.now = node}, {"locality", "port-state"}))
      out += test::describe(each) + each.meaning + " " + each.remedy + "\n";
    return out;
  };
  Node node = whole;
  const std::string pci = node.topology.nics[2].pci;
  remove_nic(node, 2);
  EXPECT_TRUE(has(said(node), "locality GPU2 critical") && has(said(node), "reseat")) << said(node);

  PciDevice recovering = whole.topology.nics[2];
  recovering.device = 0x0218;
  recovering.class_code = 0x058000;
  EXPECT_TRUE(is_in_flash_recovery(recovering));
  node.topology.in_recovery = {recovering};
  EXPECT_TRUE(has(said(node), "locality GPU2 critical") && has(said(node), pci + " is in flash recovery") &&
              has(said(node), "port-state " + pci + " critical: in flash recovery") &&
              has(said(node), "mstflint -d " + pci + " -i FILE burn"))
      << said(node);
  EXPECT_FALSE(has(said(node), "reseat")) << said(node);

  node = whole;
  node.topology.hypervisor = "Amazon EC2";
  for (Nic& nic : node.topology.nics) nic.vendor = kAmazon, nic.device = 0xefa3;
  remove_nic(node, 2);
  EXPECT_TRUE(has(said(node), "locality GPU2 critical") && has(said(node), "attach an EFA interface")) << said(node);
  EXPECT_FALSE(has(said(node), "operator of the host")) << said(node);

  const auto without_rdma = [&](const char* driver) {
    node = whole;
    node.topology.nics[2].rdma.clear();
    node.topology.nics[2].netdevs.clear();
    node.platform.functions[pci].kernel_driver = driver;
    node.platform.functions[node.topology.nics[3].pci].kernel_driver = "mlx5_core";
    std::erase_if(node.ports, [&](const Port& port) { return port.pci == pci; });
    EXPECT_FALSE(has(said(node), "slot") || has(said(node), "reseat")) << said(node);
    return said(node);
  };
  std::string text = without_rdma("mlx5_core");
  EXPECT_TRUE(has(text, "locality GPU2 critical") && has(text, "the driver mlx5_core is bound") &&
              has(text, "/sys/bus/pci/drivers/mlx5_core/bind"))
      << text;
  text = without_rdma("");
  EXPECT_TRUE(has(text, "locality GPU2 critical") && has(text, "mlx5_core is not bound") &&
              has(text, "drivers_probe") && has(text, "If the probe fails again"))
      << text;
  text = without_rdma("vfio-pci");
  EXPECT_TRUE(has(text, "locality GPU2 warning") && has(text, "is bound to vfio-pci") &&
              has(text, "driverctl unset-override"))
      << text;

  node = whole;
  for (size_t i = 0; i < 8; ++i) node.ports[i].pci_id = "15b3:1021";  // not those of storage
  node.ports[2].link_layer = LinkLayer::infiniband;
  node.ports[2].state = 1;
  node.ports[2].phys_state = 2;
  text = said(node);
  EXPECT_TRUE(has(text, "port-state mlx5_2/1 critical") && has(text, "locality GPU2 warning") &&
              has(text, "LINK_TYPE_P1=2"))
      << text;
  EXPECT_FALSE(has(text, "cable") || has(text, "slot")) << text;
}

// Two cards with two ports each for storage. A port with another link layer than the rest of them gets no link.
TEST(Symmetry, ALinkLayerThatOnlyOnePortOfEqualCardsHasIsNoCable) {
  struct Case {
    size_t odd;       // of the ports .0 and .1 of the first card, then of the second
    size_t also = 4;  // another one with InfiniBand
    const char* fix;  // nullptr: the cable may be at fault
  };
  for (const auto& [odd, also, fix] : {Case{0, 4, "LINK_TYPE_P1=2"}, Case{1, 4, "LINK_TYPE_P2=2"},
                                       Case{3, 4, "LINK_TYPE_P2=2"}, Case{0, 2, nullptr}, Case{0, 1, nullptr}}) {
    Healthy node;
    for (size_t i = 0; i < 4; ++i) {
      Port port = node.now.ports[0];
      port.rdma = "mlx5_1" + std::to_string(i);
      port.netdev = "ens1" + std::to_string(i);
      port.pci = "0000:" + std::string(i < 2 ? "29" : "c9") + ":00." + std::to_string(i % 2);
      port.pci_id = "15b3:101d";
      port.board_id = "MT_0000000359";
      if (i == odd || i == also) port.link_layer = LinkLayer::infiniband;
      if (i == odd) port.state = 1, port.phys_state = 2;
      node.now.ports.push_back(port);
    }
    std::string text;
    for (const Finding& each : test::complaints_of(node.view(), {"port-state"}))
      text += test::describe(each) + " " + each.meaning + " " + each.remedy + "\n";
    EXPECT_TRUE(has(text, "port-state mlx5_1" + std::to_string(odd))) << text;
    EXPECT_EQ(has(text, "LINK_TYPE"), fix != nullptr) << odd << " " << also << " " << text;
    EXPECT_EQ(has(text, "cable"), fix == nullptr) << odd << " " << also << " " << text;
    if (fix != nullptr) EXPECT_TRUE(has(text, fix)) << text;
  }
}

TEST(Symmetry, AnotherNodeOfTheSocketIsByDesign) {
  Node node = test::snc_server();
  node.topology.gpus.resize(2);  // on NUMA node 0
  while (node.topology.nics.size() > 1) remove_nic(node, 1);
  move_nic(node, 0, 1);
  EXPECT_EQ(said(node), "") << "the other NUMA node of the same socket";
  node.topology.nics[0].numa = 2;
  EXPECT_EQ(said(node), "locality GPUs warning: SYS to mlx5_0: all GPUs are on NUMA node 0, the NICs on NUMA node 2\n")
      << "the GPUs of the other socket are missing, or the NIC is in a slot of the wrong one";
}

// The NICs of all GPUs, or of some, have lost their RDMA devices, and one for storage has not.
TEST(Symmetry, NicsOfGpusWithoutRdmaAreNamed) {
  for (const size_t lost : {1u, 3u, 4u, 7u, 8u}) {
    Healthy server(8);
    Node& node = server.now;
    Nic storage = node.topology.nics[7];
    storage.pci = "0000:ee:00.0", storage.root = "pci0000:ed", storage.bridges = {"0000:ed:01.0"};
    storage.device = 0x101b, storage.name = "mlx5_9", storage.rdma = {"mlx5_9"}, storage.card.clear();
    Port port = node.ports[7];
    port.rdma = "mlx5_9", port.pci = storage.pci;
    node.topology.nics.push_back(storage);
    node.ports.push_back(port);
    for (size_t i = 0; i < lost; ++i) {
      Nic& nic = node.topology.nics[i];
      node.platform.functions[nic.pci].kernel_driver = "mlx5_core";
      std::erase_if(node.ports, [&](const Port& each) { return each.pci == nic.pci; });
      nic.rdma.clear();
    }
    std::string text;
    for (const Finding& each : test::complaints_of({.now = node}, {"locality", "pairing", "symmetry", "port-state"}))
      text += test::describe(each) + each.meaning + " " + each.remedy + "\n";
    for (size_t i = 0; i < lost; ++i) EXPECT_TRUE(has(text, node.topology.nics[i].pci)) << lost << "\n" << text;
    EXPECT_TRUE(has(text, "critical")) << lost << "\n" << text;
    EXPECT_EQ(has(text, "port-state NICs critical: no RDMA device: 8 NICs have the driver mlx5_core"), lost == 8)
        << text;
    EXPECT_FALSE(has(text, "reseat") || has(text, "wrong slot") || has(text, "warning")) << lost << "\n" << text;
  }
}

// The true findings: on this machine no file has the distance of the second GPU from the NIC on another root bus.
const std::map<std::string, std::string> kTrue{{"psmgmt__j3c053", "locality GPU1 unknown: -\n"}};

using SymmetryCorpus = test::OfCorpus;
TEST_F(SymmetryCorpus, NoMachineHasAFalseFinding) {
  int machines = 0, silent = 0, findings = 0;
  for (const auto& [name, machine] : test::oracle_of(corpus, "hwloc-xml")) {
    Node node;
    const auto topology = load_topology_xml(corpus + "/" + machine["file"].get<std::string>());
    ASSERT_TRUE(topology) << name;
    node.topology = *topology;
    const auto found = found_in(node);
    const auto expected = kTrue.find(name);
    EXPECT_EQ(test::describe(found), expected == kTrue.end() ? "" : expected->second) << name;
    ++machines;
    silent += found.empty() ? 1 : 0;
    findings += static_cast<int>(found.size());
  }
  std::printf("topology score, check: %d of %d machines silent, %d true findings on the others\n", silent, machines,
              findings);
  EXPECT_GT(machines, 0);
}

}  // namespace
}  // namespace fabric
