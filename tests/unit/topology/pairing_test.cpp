// SPDX-License-Identifier: Apache-2.0
// How near a GPU and a NIC are, which NICs are for jobs, and which NIC serves which GPU.
#include "topology/pairing.h"

#include "judge/engine.h"
#include "node/endpoints.h"
#include "node/node.h"
#include "node/topology.h"
#include "node/topology_xml.h"
#include "support/corpus.h"
#include "support/healthy_node.h"
#include "support/machines.h"
#include "support/test.h"
#include "topology/built.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

using test::has;
using test::pci_function;

// -- Classes of paths, and kinds of devices

// One switch: upstream port 01:00.0 below root port 00:01.0, downstream ports 02:00.0 and 02:01.0.
const PciDevice kGpu = pci_function("0000:03:00.0", "pci0000:00", {"0000:02:00.0", "0000:01:00.0", "0000:00:01.0"}, 0);

TEST(PathClass, OneSwitchIsPix) {
  EXPECT_EQ(
      path_class(kGpu, pci_function("0000:04:00.0", "pci0000:00", {"0000:02:01.0", "0000:01:00.0", "0000:00:01.0"}, 0)),
      PathClass::PIX);
  EXPECT_EQ(path_class(kGpu, pci_function("0000:03:00.1", "pci0000:00", kGpu.bridges, 0)), PathClass::PIX)
      << "one card";
}

TEST(PathClass, MoreThanOneSwitchIsPxb) {
  const auto nic = pci_function("0000:08:00.0", "pci0000:00",
                                {"0000:07:00.0", "0000:06:00.0", "0000:02:01.0", "0000:01:00.0", "0000:00:01.0"}, 0);
  EXPECT_EQ(path_class(kGpu, nic), PathClass::PXB);
  EXPECT_EQ(path_class(nic, kGpu), PathClass::PXB) << "the same both ways";
}

TEST(PathClass, OneRootBusIsPhbEvenWithoutNuma) {
  EXPECT_EQ(path_class(pci_function("0000:00:1e.0", "pci0000:00", {}), pci_function("0000:00:05.0", "pci0000:00", {})),
            PathClass::PHB);
}

TEST(PathClass, DifferentRootBuses) {
  EXPECT_EQ(path_class(kGpu, pci_function("0000:81:00.0", "pci0000:80", {"0000:80:01.0"}, 0)), PathClass::NODE);
  EXPECT_EQ(path_class(kGpu, pci_function("0000:81:00.0", "pci0000:80", {"0000:80:01.0"}, 1)), PathClass::SYS);
  EXPECT_FALSE(path_class(kGpu, pci_function("0000:81:00.0", "pci0000:80", {"0000:80:01.0"})));
}

TEST(PathClass, NoRootKnownIsNotTheSameRoot) {
  EXPECT_FALSE(path_class(pci_function("0000:01:00.0", "", {}), pci_function("0000:02:00.0", "", {})));
}

Nic nic(const PciDevice& at, std::vector<std::string> rdma) {
  Nic out{at, {}, std::move(rdma), {}};
  out.class_code = 0x020000;
  return out;
}

TEST(NearestNics, AllOfTheBestClassAmongThoseWithRdma) {
  const Gpu gpu{kGpu, "GPU0", ""};
  Topology topology;
  topology.gpus = {gpu};
  const auto phb = pci_function("0000:05:00.0", "pci0000:00", {"0000:00:02.0"}, 0);
  const auto pix = pci_function("0000:04:00.0", "pci0000:00", {"0000:02:01.0", "0000:01:00.0", "0000:00:01.0"}, 0);
  topology.nics = {nic(phb, {"mlx5_0"}), nic(pix, {}), nic(phb, {"mlx5_1"})};
  EXPECT_EQ(nearest_nics(topology, gpu), (std::vector<size_t>{0, 2})) << "the nearer NIC has no RDMA";
  topology.nics[1].rdma = {"mlx5_2"};
  EXPECT_EQ(nearest_nics(topology, gpu), (std::vector<size_t>{1}));
}

TEST(NearestNics, WithoutRdmaAnyNic) {
  const Gpu gpu{kGpu, "GPU0", ""};
  Topology topology;
  topology.nics = {nic(pci_function("0000:81:00.0", "pci0000:80", {}, 1), {}),
                   nic(pci_function("0000:61:00.0", "pci0000:60", {}, 0), {})};
  EXPECT_EQ(nearest_nics(topology, gpu), (std::vector<size_t>{1}));
}

TEST(NearestNics, NoneWhereNothingIsKnown) {
  const Gpu gpu{kGpu, "GPU0", ""};
  Topology topology;
  EXPECT_TRUE(nearest_nics(topology, gpu).empty());
  topology.nics = {nic(pci_function("0000:81:00.0", "pci0000:80", {}), {"mlx5_0"})};
  EXPECT_TRUE(nearest_nics(topology, gpu).empty());
}

PciDevice chip(uint16_t vendor, uint16_t device, uint32_t class_code, const char* pci = "0000:17:00.0") {
  PciDevice out;
  out.pci = pci;
  out.vendor = vendor;
  out.device = device;
  out.class_code = class_code;
  return out;
}

TEST(PciKind, Gpus) {
  EXPECT_TRUE(is_gpu(chip(0x10de, 0x2330, 0x030200))) << "H100";
  EXPECT_TRUE(is_gpu(chip(0x10de, 0x1b81, 0x030000))) << "GTX 1070";
  EXPECT_TRUE(is_gpu(chip(0x1002, 0x74a1, 0x120000))) << "MI300X";
  EXPECT_TRUE(is_gpu(chip(0x1002, 0x740f, 0x038000))) << "MI210";
  EXPECT_TRUE(is_gpu(chip(0x1002, 0x6860, 0x030000))) << "MI25";
  EXPECT_TRUE(is_gpu(chip(0x8086, 0x0bd5, 0x038000))) << "Data Center GPU Max";
  EXPECT_TRUE(is_gpu(chip(0x1da3, 0x1020, 0x120000))) << "Gaudi 2";
  EXPECT_TRUE(is_gpu(chip(0x1d94, 0x55b7, 0x038000))) << "Hygon DCU";
  EXPECT_TRUE(is_gpu(chip(0x1d0f, 0x7364, 0x088000))) << "Trainium 2";
  EXPECT_TRUE(is_gpu(chip(0x1d0f, 0x7065, 0x088000))) << "Inferentia";
  EXPECT_TRUE(is_gpu(chip(0x19e5, 0xd802, 0x120000))) << "Ascend 910B";
}

TEST(PciKind, DisplaysAndCompanionsAreNoGpus) {
  EXPECT_FALSE(is_gpu(chip(0x1a03, 0x2000, 0x030000))) << "ASPEED BMC";
  EXPECT_FALSE(is_gpu(chip(0x102b, 0x0522, 0x030000))) << "Matrox BMC";
  EXPECT_FALSE(is_gpu(chip(0x1002, 0x515e, 0x030000))) << "ATI ES1000";
  EXPECT_FALSE(is_gpu(chip(0x1002, 0x164e, 0x030000))) << "graphics of a Ryzen";
  EXPECT_FALSE(is_gpu(chip(0x8086, 0x3e98, 0x030000, "0000:00:02.0"))) << "graphics of a Core";
  EXPECT_FALSE(is_gpu(chip(0x1af4, 0x1050, 0x038000))) << "virtio-gpu";
  EXPECT_FALSE(is_gpu(chip(0x8086, 0x0b2b, 0x120000))) << "Stratix 10 FPGA";
  EXPECT_FALSE(is_gpu(chip(0x19e5, 0xa250, 0x120000))) << "HiSilicon ZIP";
  EXPECT_FALSE(is_gpu(chip(0x8086, 0x0998, 0x088000))) << "a system peripheral";
  EXPECT_FALSE(is_gpu(chip(0x1d0f, 0xefa2, 0x020000))) << "EFA";
  EXPECT_FALSE(is_gpu(chip(0x10de, 0x22a3, 0x068000))) << "NVSwitch";
  EXPECT_FALSE(is_gpu(chip(0x10de, 0x10f0, 0x040300))) << "a GPU's audio";
}

TEST(PciKind, Networks) {
  EXPECT_TRUE(is_network(chip(0x15b3, 0x1021, 0x020000)));
  EXPECT_TRUE(is_network(chip(0x15b3, 0x1021, 0x020700)));
  EXPECT_TRUE(is_network(chip(0x1077, 0x7322, 0x0c0600)));
  EXPECT_FALSE(is_network(chip(0x8086, 0xa2af, 0x0c0330))) << "USB";
  Nic slingshot{chip(0x17db, 0x0501, 0x020000), {"hsi0"}, {}, "hsi0"};
  EXPECT_TRUE(carries_rdma(slingshot));
  Nic plain{chip(0x8086, 0x1521, 0x020000), {"eno1"}, {}, "eno1"};
  EXPECT_FALSE(carries_rdma(plain));
}

TEST(NodeText, WordsOfSysfs) {
  EXPECT_EQ(port_state_text(4), "ACTIVE");
  EXPECT_EQ(port_state_text(17), "UNKNOWN");
  EXPECT_EQ(phys_state_text(5), "LinkUp");
  EXPECT_EQ(phys_state_text(0), "<unknown>");
  EXPECT_EQ(to_text(LinkLayer::ethernet), "Ethernet");
  Port port;
  port.rdma = "mlx5_0";
  EXPECT_EQ(port.id(), "mlx5_0/1");
}

// -- Pairing

PciDevice at(int root, int switch_number, int port, int numa, bool gpu) {
  PciDevice out;
  const auto hex = [](int number) { return std::string(1, "0123456789abcdef"[number & 15]); };
  const std::string bus = "0000:" + hex(root);
  out.root = "pci" + bus + "0";
  out.bridges = {bus + hex(switch_number + 1) + ":0" + hex(port) + ".0", bus + "0:0" + hex(switch_number) + ".0"};
  out.pci = bus + hex(port) + ":" + (gpu ? "00" : "01") + "." + hex(switch_number);
  out.vendor = gpu ? 0x10de : 0x15b3;
  out.device = gpu ? 0x2330 : 0x1021;
  out.class_code = gpu ? 0x030200 : 0x020000;
  out.numa = numa;
  return out;
}

void add_gpu(Topology& topology, const PciDevice& where) {
  topology.gpus.push_back(Gpu{where, "GPU" + std::to_string(topology.gpus.size()), ""});
}

void add_nic(Topology& topology, const PciDevice& where) {
  const std::string name = "mlx5_" + std::to_string(topology.nics.size());
  topology.nics.push_back(Nic{where, {}, {name}, name, where.pci});
}

Topology random_machine(std::mt19937& random, size_t gpus, size_t nics) {
  Topology out;
  const auto place = [&](bool gpu, int port) {
    const int root = static_cast<int>(random() % 3);
    return at(root, static_cast<int>(random() % 2), port, root % 2, gpu);
  };
  for (size_t i = 0; i < gpus; ++i) add_gpu(out, place(true, static_cast<int>(i)));
  for (size_t i = 0; i < nics; ++i) add_nic(out, place(false, static_cast<int>(i + 8)));
  return out;
}

std::vector<size_t> all_nics(const Topology& topology) {
  std::vector<size_t> out;
  for (size_t i = 0; i < topology.nics.size(); ++i) out.push_back(i);
  return out;
}

long squares(const std::vector<size_t>& choice, size_t nics) {
  std::vector<long> load(nics, 0);
  for (const size_t nic : choice) ++load[nic];
  long sum = 0;
  for (const long each : load) sum += each * each;
  return sum;
}

// Least sum of squared loads over every way to give each GPU one of its nearest NICs.
long least_by_trying_all(const Topology& topology) {
  long least = -1;
  std::vector<size_t> choice;
  const std::function<void()> go_on = [&] {
    if (choice.size() == topology.gpus.size()) {
      const long cost = squares(choice, topology.nics.size());
      least = least < 0 ? cost : std::min(least, cost);
      return;
    }
    for (const size_t nic : nearest_nics(topology, topology.gpus[choice.size()])) {
      choice.push_back(nic);
      go_on();
      choice.pop_back();
    }
  };
  go_on();
  return least;
}

// No NIC serves two GPUs while one of the same class to one of them serves none.
void expect_fair(const Topology& topology, const Pairing& pairing) {
  for (size_t g = 0; g < pairing.pairs.size(); ++g) {
    const Pair& pair = pairing.pairs[g];
    for (const size_t nic : pair.nics) EXPECT_EQ(path_class(topology.gpus[g], topology.nics[nic]), pair.path);
    if (pair.shared_by < 2) continue;
    for (const size_t idle : pairing.idle)
      EXPECT_NE(path_class(topology.gpus[g], topology.nics[idle]), pair.path)
          << topology.gpus[g].name << " shares while " << topology.nics[idle].name << " idles";
  }
}

TEST(Pairing, IsAsGoodAsTryingEverything) {
  std::mt19937 random(4);
  for (int round = 0; round < 400; ++round) {
    const size_t gpus = 2 + random() % 4, nics = 1 + random() % (2 * gpus - 1);
    const Topology topology = random_machine(random, gpus, nics);
    const Pairing pairing = best_pairing(topology, all_nics(topology));
    std::vector<size_t> choice;
    for (const Pair& pair : pairing.pairs) {
      ASSERT_EQ(pair.nics.size(), 1u);
      choice.push_back(pair.nics.front());
    }
    EXPECT_EQ(squares(choice, nics), least_by_trying_all(topology)) << "round " << round;
    expect_fair(topology, pairing);
    EXPECT_EQ(pairing, best_pairing(topology, all_nics(topology))) << "the same input, the same answer";
  }
}

TEST(Pairing, GivesEveryGpuEquallyManyOfItsOwn) {
  Topology topology;
  for (int i = 0; i < 4; ++i) {
    add_gpu(topology, at(i, 0, 1, i / 2, true));
    for (int n = 0; n < 4; ++n) add_nic(topology, at(i, 0, 2 + n, i / 2, false));
  }
  const Pairing pairing = best_pairing(topology, all_nics(topology));
  for (size_t g = 0; g < 4; ++g)
    EXPECT_EQ(pairing.pairs[g].nics, (std::vector<size_t>{4 * g, 4 * g + 1, 4 * g + 2, 4 * g + 3}));
  EXPECT_TRUE(pairing.idle.empty());
}

TEST(Pairing, KeepsTheOrderOfAddressesAmongEquals) {
  Topology topology;
  for (int i = 0; i < 8; ++i) add_gpu(topology, at(i, 0, 1, 0, true));
  for (int i = 8; i < 16; ++i) add_nic(topology, at(i, 0, 1, 0, false));
  const Pairing pairing = best_pairing(topology, all_nics(topology));
  for (size_t g = 0; g < 8; ++g) EXPECT_EQ(pairing.pairs[g].nics, std::vector<size_t>{g}) << "all are NODE";
}

TEST(Pairing, FewerBridgesWinWithinAClass) {
  // AMD's GPUs are behind bridges of their own, so that every NIC below the root port is PXB.
  Topology topology;
  const auto deep = [](const char* pci, std::vector<std::string> bridges) {
    PciDevice out = at(0, 0, 0, 0, pci[9] == '0');
    out.pci = pci;
    out.bridges = std::move(bridges);
    return out;
  };
  add_gpu(topology, deep("0000:05:00.0", {"g2", "g1", "down0", "sub0", "top"}));
  add_gpu(topology, deep("0000:15:00.0", {"h2", "h1", "down1", "sub1", "top"}));
  add_nic(topology, deep("0000:16:01.0", {"n1", "sub1", "top"}));
  add_nic(topology, deep("0000:17:01.0", {"n0", "sub0", "top"}));
  const Pairing pairing = best_pairing(topology, all_nics(topology));
  EXPECT_EQ(pairing.pairs[0].path, PathClass::PXB);
  EXPECT_EQ(pairing.pairs[0].nics, std::vector<size_t>{1}) << "against the order of addresses";
  EXPECT_EQ(pairing.pairs[1].nics, std::vector<size_t>{0});
}

// A second level of one switch (PEX88096) is above the NIC of GPU0, so that only the other NIC is PIX to both GPUs.
TEST(Pairing, ANicThatIsNearestToNoGpuIsForThoseThatWouldShare) {
  Topology topology;
  const auto below = [](const char* pci, std::vector<std::string> bridges, bool gpu) {
    PciDevice out = at(0, 0, 0, 0, gpu);
    out.pci = pci;
    out.bridges = std::move(bridges);
    return out;
  };
  add_gpu(topology, below("0000:24:00.0", {"down0", "up", "root"}, true));
  add_gpu(topology, below("0000:25:00.0", {"down1", "up", "root"}, true));
  add_nic(topology, below("0000:2a:00.0", {"inner1", "inner0", "down2", "up", "root"}, false));
  add_nic(topology, below("0000:2b:00.0", {"down3", "up", "root"}, false));
  Pairing pairing = best_pairing(topology, all_nics(topology));
  EXPECT_EQ(pairing.pairs[0], (Pair{std::vector<size_t>{0}, PathClass::PXB, 1}));
  EXPECT_EQ(pairing.pairs[1], (Pair{std::vector<size_t>{1}, PathClass::PIX, 1}));
  EXPECT_TRUE(pairing.idle.empty());
  topology.gpus.pop_back();
  EXPECT_EQ(best_pairing(topology, all_nics(topology)).pairs[0].nics, std::vector<size_t>{1}) << "it need not share";

  Topology elsewhere;
  add_gpu(elsewhere, below("0000:24:00.0", {"down0", "up", "root"}, true));
  add_gpu(elsewhere, below("0000:25:00.0", {"down1", "up", "root"}, true));
  add_nic(elsewhere, below("0000:2a:00.0", {"down2", "up", "other root"}, false));
  elsewhere.nics[0].bridges = {"other root"};
  add_nic(elsewhere, below("0000:2b:00.0", {"down3", "up", "root"}, false));
  EXPECT_EQ(best_pairing(elsewhere, all_nics(elsewhere)).pairs[0].shared_by, 2u) << "not behind their switch";
}

TEST(Pairing, AGpuWhoseNicIsDownSharesThatOfAnotherAndTheOthersStay) {
  Topology topology;
  std::vector<Port> ports;
  const auto below = [](const std::string& bridge, int number) {
    PciDevice out = at(0, 0, number, 0, number < 2);
    out.bridges = {bridge + std::to_string(number), bridge, "top"};
    return out;
  };
  add_gpu(topology, below("near", 0));
  add_gpu(topology, below("far", 1));
  for (const auto& [bridge, number] : {std::pair("near", 2), {"near", 3}, {"other", 4}}) {
    add_nic(topology, below(bridge, number));
    ports.push_back({.rdma = topology.nics.back().rdma[0], .pci = topology.nics.back().pci, .state = kPortActive});
  }
  const auto nics = [&] {
    std::vector<std::vector<size_t>> out;
    for (const Pair& pair : best_pairing(topology, ports).pairs) out.push_back(pair.nics);
    return out;
  };
  EXPECT_EQ(nics(), (std::vector<std::vector<size_t>>{{0}, {1}}));
  ports[0].state = 1;
  EXPECT_EQ(nics(), (std::vector<std::vector<size_t>>{{1}, {1}})) << "the second GPU keeps its own";
  ports[0].state = kPortActive;
  ports[1].state = 1;
  EXPECT_EQ(nics(), (std::vector<std::vector<size_t>>{{0}, {0}})) << "the third was not built in for a GPU";
}

TEST(Pairing, LargeMachinesAreAnswered) {
  Topology topology;
  for (int i = 0; i < 64; ++i) {
    add_gpu(topology, at(i % 16, i / 32, i, 0, true));
    add_nic(topology, at((i + 3) % 16, i / 32, i, 0, false));
  }
  expect_fair(topology, best_pairing(topology, all_nics(topology)));
  for (int i = 0; i < 200; ++i) {
    add_nic(topology, at(1, 0, i, 0, false));
    add_gpu(topology, at(1, 0, i, 0, true));
  }
  const Pairing greedy = best_pairing(topology, all_nics(topology));
  ASSERT_EQ(greedy.pairs.size(), 264u);
  EXPECT_TRUE(
      std::none_of(greedy.pairs.begin(), greedy.pairs.end(), [](const Pair& pair) { return pair.nics.empty(); }));
}

TEST(Pairing, UnknownClassesStayUnpaired) {
  Topology topology;
  add_gpu(topology, at(0, 0, 1, 0, true));
  add_nic(topology, at(1, 0, 1, 0, false));
  topology.nics[0].numa.reset();
  const Pairing pairing = best_pairing(topology, all_nics(topology));
  EXPECT_TRUE(pairing.pairs[0].nics.empty());
  EXPECT_EQ(pairing.idle, std::vector<size_t>{0});
  EXPECT_TRUE(best_pairing({}, std::vector<size_t>{}).pairs.empty());
}

Port port_of(const Nic& nic, double rate, LinkLayer layer = LinkLayer::ethernet, unsigned state = 4) {
  Port out;
  out.rdma = nic.name;
  out.link_layer = layer;
  out.rate = rate;
  out.state = state;
  return out;
}

// Four GPUs, each on a switch with a NIC of its own; beside them two storage NICs.
struct Server {
  Server() {
    for (int i = 0; i < 4; ++i) {
      add_gpu(node, at(i, 0, 1, i / 2, true));
      add_nic(node, at(i, 0, 2, i / 2, false));
    }
    for (int i = 4; i < 6; ++i) add_nic(node, at(i, 0, 2, i - 4, false));
    for (size_t i = 0; i < 6; ++i) ports.push_back(port_of(node.nics[i], i < 4 ? 50e9 : 25e9));
  }
  Topology node;
  std::vector<Port> ports;
};

TEST(ComputeNics, TheKindThatIsNearestToTheGpus) {
  Server server;
  server.node.nics[4].device = server.node.nics[5].device = 0xa2dc;
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1, 2, 3}));
  for (size_t i = 4; i < 6; ++i) server.node.nics[i].device = 0x1021;
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1, 2, 3}))
      << "the two slower ones are not needed";
  server.ports[2].rate = 25e9;
  EXPECT_EQ(compute_nics(server.node, server.ports).size(), 6u) << "a slow one among those that serve GPUs";
  for (Port& port : server.ports) port.rate = 50e9;
  for (size_t i = 0; i < 4; ++i) server.ports[i].link_layer = LinkLayer::infiniband;
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1, 2, 3})) << "storage is on Ethernet";
}

// The driver of one function has failed. The other function shows the board of the card.
TEST(NicBoard, IsThatOfTheCard) {
  Topology topology;
  for (const char* pci : {"0000:17:00.0", "0000:17:00.1", "0000:18:00.0"}) {
    topology.nics.push_back(nic(pci_function(pci, "pci0000:16", {}, 0), {}));
    topology.nics.back().vendor = 0x15b3;
  }
  Port port;
  port.pci = "0000:17:00.0";
  port.board_id = "MT_0000000838";
  EXPECT_EQ(board_of(topology.nics[1], {&port, 1}), board_of(topology.nics[0], {&port, 1}));
  EXPECT_EQ(board_of(topology.nics[1], {&port, 1}).id, "MT_0000000838");
  EXPECT_NE(board_of(topology.nics[2], {&port, 1}), board_of(topology.nics[0], {&port, 1}));
}

// The GPUs on the first two switches have a NIC of another make than those on the last two.
TEST(ComputeNics, SeveralMakesServeTogetherWhereOneAloneWouldBeShared) {
  Server server;
  server.node.nics.resize(4);
  for (size_t i = 2; i < 4; ++i) {
    server.node.nics[i].vendor = 0x14e4;
    server.node.nics[i].device = 0x1760;
    server.node.nics[i].name = "bnxt_re" + std::to_string(i - 2);
  }
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1, 2, 3}));
  for (const Pair& pair : best_pairing(server.node, server.ports).pairs)
    EXPECT_TRUE(pair.path == PathClass::PIX && pair.shared_by == 1) << pair.nics.size();
  for (size_t i = 2; i < 4; ++i) server.ports[i].rate = 12.5e9;
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1}))
      << "slower ones were built in for something else";
  for (size_t i = 2; i < 4; ++i) server.ports[i].rate = 100e9;
  server.node.gpus.pop_back();  // the first make is nearest to two GPUs, the faster one to one
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1, 2, 3})) << "faster ones help";
  for (size_t i = 2; i < 4; ++i) server.ports[i].link_layer = LinkLayer::infiniband;
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1})) << "two networks are no rails of one";
}

TEST(ComputeNics, OtherMakesThatAreFartherFromEveryGpuStayOut) {
  Server server;  // four GPUs and four NICs; the last two NICs are of another make, on root buses without a GPU
  server.node.nics.erase(server.node.nics.begin());
  server.ports.erase(server.ports.begin());
  for (size_t i = 3; i < 5; ++i) {
    server.node.nics[i].device = 0xa2dc;
    server.ports[i].rate = 50e9;
  }
  EXPECT_EQ(built_of(server.node, server.ports).present_compute(), (std::vector<size_t>{0, 1, 2}))
      << "GPU0 has lost its own, and none of them was built in for it";
  for (size_t i = 3; i < 5; ++i) server.node.nics[i].numa = 2;
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1, 2}));
}

// Four GPUs and two NICs on root complexes of their own on each socket, and a storage card of another make on the
// first.
TEST(ComputeNics, OtherMakesThatMakeThemUnevenStayOut) {
  Server server;
  server.node = {};
  for (int i = 0; i < 8; ++i) add_gpu(server.node, at(i, 0, 1, i / 4, true));
  for (int i = 8; i < 12; ++i) add_nic(server.node, at(i, 0, 2, i / 10, false));
  add_nic(server.node, at(12, 0, 2, 0, false));
  server.node.nics[4].device = 0xa2dc;
  server.ports.clear();
  for (const Nic& nic : server.node.nics) server.ports.push_back(port_of(nic, 50e9));
  EXPECT_EQ(compute_nics(server.node, server.ports), (std::vector<size_t>{0, 1, 2, 3}));
  server.node.nics[2].device = server.node.nics[3].device = 0xa2dc;
  EXPECT_EQ(compute_nics(server.node, server.ports).size(), 5u) << "one make alone is uneven, too";
}

// Four GPUs on root complexes of their own. The board's 25G ports are on the root complex of one of them by chance.
TEST(ComputeNics, WithoutASwitchTheFastestMake) {
  Topology node;
  for (int i = 0; i < 4; ++i) add_gpu(node, at(i, 0, 1, i / 2, true));
  add_nic(node, at(1, 1, 2, 0, false));
  add_nic(node, at(4, 0, 2, 0, false));
  node.nics[0].device = 0x1015;
  node.nics[1].device = 0x101b;
  const std::vector<Port> ports{port_of(node.nics[0], 3.125e9), port_of(node.nics[1], 25e9, LinkLayer::infiniband)};
  EXPECT_EQ(compute_nics(node, ports), std::vector<size_t>{1});
  node.nics[1].numa = node.nics[0].numa = 1;
  EXPECT_EQ(compute_nics(node, ports), std::vector<size_t>{1});
}

TEST(ComputeNics, VirtualFunctionsAndDeadPortsAreLeftOut) {
  Server server;
  server.node.nics[5].role = FunctionRole::virtual_function;
  const auto compute = compute_nics(server.node, server.ports);
  EXPECT_EQ(compute, (std::vector<size_t>{0, 1, 2, 3, 4})) << "one slower NIC is no group";
  server.ports[1].state = 1;
  EXPECT_EQ(usable_nics(server.node, server.ports, compute), (std::vector<size_t>{0, 2, 3, 4}));
  const Pairing pairing = best_pairing(server.node, server.ports);
  EXPECT_EQ(pairing.pairs[1].path, PathClass::NODE) << "its own is down";
  for (Port& port : server.ports) port.state = 1;
  EXPECT_EQ(usable_nics(server.node, server.ports, compute), compute) << "all down: as it was built";
  for (Nic& nic : server.node.nics) nic.role = FunctionRole::virtual_function;
  EXPECT_EQ(compute_nics(server.node, {}).size(), 6u) << "nothing but virtual functions: they are for us";
}

// This host uses a virtual function in place of a NIC whose own port is off.
TEST(ComputeNics, AFunctionThatIsUsedStandsForItsNic) {
  Server server;
  for (size_t i = 0; i < 4; ++i) {
    Nic function = server.node.nics[i];
    function.pci += "1";
    function.name = "vf" + std::to_string(i);
    function.rdma = {function.name};
    function.role = FunctionRole::virtual_function;
    function.device = 0x101e;
    Port port = port_of(function, 50e9);
    port.role = PortRole::virtual_function;
    port.owner = server.node.nics[i].pci;
    port.netdev = "eth" + std::to_string(i);
    port.gids = {{1, "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2", port.netdev}};
    server.node.nics.push_back(function);
    server.ports.push_back(port);
    server.ports[i].state = 1;
  }
  const auto compute = [&] { return compute_nics(server.node, server.ports); };
  EXPECT_EQ(compute(), (std::vector<size_t>{6, 7, 8, 9}));
  EXPECT_EQ(best_pairing(server.node, server.ports).pairs[2].nics, std::vector<size_t>{8});
  server.node.nics[9].netdev_elsewhere = true;
  EXPECT_FALSE(contains(compute(), 9U)) << "it is a container's";
  server.node.nics[9].netdev_elsewhere = false;
  server.ports[6].gids[0].gid = "fe80:0000:0000:0000:5aa2:e1ff:fe00:0001";
  EXPECT_FALSE(contains(compute(), 6U)) << "it waits for a guest";
  for (size_t i = 0; i < 4; ++i) server.ports[i].state = kPortActive;
  EXPECT_EQ(compute(), (std::vector<size_t>{0, 1, 2, 3})) << "their own ports have a link";
}

TEST(Flattened, AGpuOnARootBusOrAKnownHypervisor) {
  Topology topology;
  add_gpu(topology, at(0, 0, 1, 0, true));
  add_nic(topology, at(1, 0, 1, 0, false));
  EXPECT_FALSE(is_flattened(topology)) << "a root port for each, on real hardware";
  topology.hypervisor = "QEMU";
  EXPECT_TRUE(is_flattened(topology));
  add_nic(topology, at(0, 0, 2, 0, false));
  EXPECT_FALSE(is_flattened(topology)) << "a switch is passed through";
  topology.nics.clear();
  topology.hypervisor.clear();
  topology.gpus[0].bridges.clear();
  EXPECT_TRUE(is_flattened(topology));
}

// The check's text for a machine, without the findings that are ok.
std::string said(const Node& node) { return test::said({.now = node}, {"locality", "pairing"}); }

Node eight_by_eight() {
  Node node;
  for (int i = 0; i < 8; ++i) {
    add_gpu(node.topology, at(i / 2, i % 2, 1, i / 4, true));
    add_nic(node.topology, at(i / 2, i % 2, 2, i / 4, false));
    node.ports.push_back(port_of(node.topology.nics.back(), 50e9));
  }
  return node;
}

Node two_gpus_on_a_switch() {
  Node node;
  for (int i = 0; i < 8; ++i) {
    add_gpu(node.topology, at(i / 2, 0, 1 + i % 2, i / 4, true));
    add_nic(node.topology, at(i / 2, 0, 3 + i % 2, i / 4, false));
  }
  return node;
}

void remove(Node& node, size_t nic) { node.topology.nics.erase(node.topology.nics.begin() + static_cast<long>(nic)); }

TEST(PairingCheck, SymmetricMachinesAreSilent) {
  EXPECT_EQ(said(eight_by_eight()), "");
  EXPECT_EQ(said(two_gpus_on_a_switch()), "");
  EXPECT_EQ(said(test::Healthy().now), "");
  Node with_storage = eight_by_eight();
  for (int i = 4; i < 6; ++i) add_nic(with_storage.topology, at(i, 0, 2, i - 4, false));
  EXPECT_EQ(said(with_storage), "") << "eight and two";
  Node storage_elsewhere = two_gpus_on_a_switch();
  for (Gpu& gpu : storage_elsewhere.topology.gpus) gpu.numa = 0;
  for (Nic& nic : storage_elsewhere.topology.nics) nic.numa = 0;
  add_nic(storage_elsewhere.topology, at(6, 0, 2, 1, false));
  EXPECT_EQ(said(storage_elsewhere), "") << "one more than GPUs, on the other socket";
}

TEST(PairingCheck, HalfNearAndHalfFarIsHowItWasBuilt) {
  Node node = eight_by_eight();
  for (const size_t nic : {7, 5, 3, 1}) remove(node, nic);
  EXPECT_EQ(said(node), "") << "a NIC on every second switch";
}

TEST(PairingCheck, AGpuOfAnotherModelNeedsNoNicOfItsOwn) {
  Node node = eight_by_eight();
  Gpu other = node.topology.gpus.back();
  static_cast<PciDevice&>(other) = at(9, 0, 2, 1, true);
  other.device = 0x1eb8;  // T4
  other.numa = node.topology.gpus.back().numa;
  node.topology.gpus.push_back(other);
  EXPECT_EQ(said(node), "");
  node.topology.gpus.back().device = node.topology.gpus.front().device;
  EXPECT_NE(said(node), "");
}

TEST(PairingCheck, TheNicInTheWrongSlot) {
  Node node = two_gpus_on_a_switch();
  for (Gpu& gpu : node.topology.gpus) gpu.numa = 0;
  for (Nic& nic : node.topology.nics) nic.numa = 0;
  static_cast<PciDevice&>(node.topology.nics[5]) = at(7, 0, 2, 1, false);
  EXPECT_EQ(said(node), "pairing mlx5_5 warning: alone on NUMA node 1\n");
}

TEST(PairingCheck, TheNicWithoutRdma) {
  Node shared = two_gpus_on_a_switch();
  Nic& lost = shared.topology.nics[6];
  lost.rdma.clear();
  EXPECT_EQ(said(shared), "pairing mlx5_6 critical: no RDMA device\n");
  lost.bond = "bond0";
  EXPECT_EQ(said(shared), "pairing mlx5_7 warning: serves GPU6 and GPU7\n")
      << "a bond's second leg has no device of its own";
}

TEST(PcieCheck, StorageSlotsMayBeSmallerAndAGpusMayNot) {
  const auto narrow = [](const Node& node) { return test::said({.now = node}, {"pcie"}); };
  Node node = eight_by_eight();
  for (int i = 4; i < 6; ++i) add_nic(node.topology, at(i, 0, 2, i - 4, false));
  for (size_t i = 0; i < node.topology.nics.size(); ++i) {
    node.topology.nics[i].pci = "0000:" + std::to_string(10 + i) + ":00.0";
    node.topology.nics[i].link = {32, 32, i < 8 ? 16U : 8U, 16};
  }
  EXPECT_EQ(narrow(node), "") << "eight at x16, two at x8";
  node.topology.nics[6].link.width = 8;
  EXPECT_EQ(narrow(node), "pcie mlx5_6 warning: x8 at 32 GT/s\n");
}

// Only a load shows whether a slow link of a GPU is idle or stuck.
TEST(PcieCheck, AGpuSlowerThanItsEqualsIsNotSaidToBeIdle) {
  test::Healthy server;
  const auto listed = [&](size_t gpu) {
    const std::vector<std::string> rules{"pcie"};
    for (const Finding& each : run_rules(server.view(), rules).findings)
      if (each.subject == server.now.topology.gpus[gpu].name) return each.observed;
    return std::string();
  };
  server.now.topology.gpus[1].link = {5, 32, 16, 16};
  EXPECT_TRUE(has(listed(1), "slower than others of its model: idle, or stuck") && has(listed(1), "nvidia-smi"))
      << listed(1);
  // NVML at hand decides it.
  Gpu& gpu = server.now.topology.gpus[1];
  const auto complaints = [&] { return test::said(server.view(), {"pcie"}); };
  gpu.load = GpuLoad{.busy = 0, .performance_state = 8, .link_generation = 2};
  EXPECT_TRUE(has(listed(1), "idle by NVML: 0 % busy, performance state P8")) << listed(1);
  gpu.load = GpuLoad{.busy = 97, .performance_state = 0, .link_generation = 5};
  EXPECT_TRUE(has(listed(1), "it was idle: 32 GT/s a moment later")) << listed(1);
  EXPECT_EQ(complaints(), "");
  gpu.load->link_generation = 2;
  EXPECT_TRUE(has(complaints(), "pcie GPU1 warning: ")) << complaints();
  gpu.load->link_generation.reset();
  EXPECT_TRUE(has(complaints(), "pcie GPU1 warning: ")) << complaints();
  gpu.load = GpuLoad{.busy = 2, .performance_state = 8, .link_generation = 2};
  EXPECT_EQ(complaints(), "") << "a display or a monitor wakes no GPU";
  EXPECT_TRUE(has(listed(1), "works little by NVML: 2 % busy, performance state P8")) << listed(1);
  gpu.load = GpuLoad{.busy = 2, .link_generation = 2};
  EXPECT_EQ(complaints(), "") << "the state is unknown";
  gpu.load->busy = 50;
  EXPECT_TRUE(has(complaints(), "pcie GPU1 warning: ")) << complaints();
  for (Gpu& each : server.now.topology.gpus) each.vendor = kAmd;
  EXPECT_TRUE(has(complaints(), "pcie GPU1 warning: ")) << complaints();
  gpu.load->busy = 3;
  EXPECT_TRUE(has(listed(1), "works little by amdgpu: 3 % busy")) << listed(1);
  gpu.load->busy = 0;
  EXPECT_TRUE(has(listed(1), "idle by amdgpu: 0 % busy")) << listed(1);
  for (Gpu& each : server.now.topology.gpus) each.vendor = kNvidia;
  // Nor is a GPU that works in a slower slot, or a slower GPU, stuck.
  gpu.load = GpuLoad{.busy = 97, .performance_state = 0, .link_generation = 2};
  PcieLink& slot = server.now.platform.functions.at(gpu.bridges.front()).link;
  for (PcieLink* limited : {&slot, &gpu.link}) {
    limited->max_speed = 5;
    EXPECT_EQ(complaints(), "");
    EXPECT_TRUE(has(listed(1), "limit of the slot, or of the GPU")) << listed(1);
    limited->max_speed = 32;
  }
  for (Gpu& each : server.now.topology.gpus) each.link.speed = 5;
  EXPECT_TRUE(has(listed(1), "like others of its model")) << listed(1);
}

// A GPU without a driver while equal ones have one; not one that a guest has.
TEST(SymmetryCheck, AGpuWithoutADriverIsNamed) {
  test::Healthy server;
  Node& node = server.now;
  const auto driver = [&](size_t gpu) -> std::string& {
    return node.platform.functions[node.topology.gpus[gpu].pci].kernel_driver;
  };
  const auto symmetry = [&] { return test::said(server.view(), {"symmetry"}); };
  for (size_t gpu = 0; gpu < 4; ++gpu) driver(gpu) = "nvidia";
  EXPECT_EQ(symmetry(), "");
  driver(2).clear();
  EXPECT_EQ(symmetry(), "symmetry GPU2 critical: no kernel driver: 0000:33:00.0\n");
  driver(2) = "nouveau";  // runs no jobs
  EXPECT_EQ(symmetry(), "symmetry GPU2 critical: kernel driver nouveau: 0000:33:00.0\n");
  driver(2) = "vfio-pci";
  EXPECT_EQ(symmetry(), "");
  for (size_t gpu = 0; gpu < 4; ++gpu) driver(gpu).clear();
  for (const Nic& nic : node.topology.nics) node.platform.functions[nic.pci].kernel_driver = "mlx5_core";
  for (const Gpu& gpu : node.topology.gpus) {
    node.platform.functions[gpu.pci].power_control.clear();
    for (const std::string& bridge : gpu.bridges) node.platform.functions[bridge].kernel_driver.clear();
  }
  EXPECT_EQ(symmetry(), "") << "a captured tree without these links";
  for (const Gpu& gpu : node.topology.gpus) node.platform.functions[gpu.bridges.back()].kernel_driver = "pcieport";
  EXPECT_EQ(symmetry(), "symmetry GPUs warning: no kernel driver: 4 GPUs, the first at 0000:13:00.0\n")
      << "one with the links of bridges";
  for (const Gpu& gpu : node.topology.gpus) node.platform.functions[gpu.bridges.back()].kernel_driver.clear();
  for (const Gpu& gpu : node.topology.gpus) node.platform.functions[gpu.pci].power_control = "on";
  EXPECT_EQ(symmetry(), "symmetry GPUs warning: no kernel driver: 4 GPUs, the first at 0000:13:00.0\n");
  const auto fault = [&] { return test::complaints_of(server.view(), {"symmetry"}).at(0); };
  std::vector<ModuleRule>& rules = node.host->software.modules;
  rules = {{"nvidia", "", {"/lib/modules/6.14.0", 0}, true}};
  EXPECT_TRUE(has(fault().meaning, "has no module nvidia (/lib/modules/6.14.0)") && has(fault().remedy, "dkms"))
      << fault().meaning << fault().remedy;
  rules = {{"nvidia", "blacklist nvidia", {"/etc/modprobe.d/x.conf", 3}, false}};
  EXPECT_TRUE(has(fault().meaning, "blacklist nvidia") && has(fault().remedy, "/etc/modprobe.d/x.conf:3"))
      << fault().meaning << fault().remedy;
  rules.clear();
  for (size_t gpu = 0; gpu < 4; ++gpu) driver(gpu) = "nouveau";
  EXPECT_EQ(symmetry(), "symmetry GPUs warning: nouveau: 4 GPUs, the first at 0000:13:00.0\n");
  const auto found = test::complaints_of(server.view(), {"symmetry"});
  EXPECT_TRUE(test::has(found.at(0).remedy, "modprobe -r nouveau && modprobe nvidia")) << found.at(0).remedy;
}

// No equal GPU shows whether it is a mistake: the jobs and the virtual machines of the host do.
TEST(SymmetryCheck, TheOnlyGpuOfItsKindForGuestsIsJudgedByItsHost) {
  test::Healthy server;
  Node& node = server.now;
  const auto symmetry = [&] { return test::said(server.view(), {"symmetry"}); };
  const auto note = [&]() -> std::string {
    for (const Finding& each : run_rules(server.view()).findings)
      if (each.id == "symmetry" && each.subject == node.topology.gpus[0].name && each.status == Status::ok)
        return each.observed;
    return {};
  };
  node.topology.gpus.resize(1);
  node.topology.nics.resize(1);
  const Gpu gpu = node.topology.gpus[0];
  node.platform.functions[gpu.pci].kernel_driver = "vfio-pci";
  const auto found = test::complaints_of(server.view(), {"symmetry"});
  ASSERT_FALSE(found.empty());
  const Finding* fault = find_where(found, [&](const Finding& each) { return each.subject == gpu.name; });
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->status, Status::warning);
  EXPECT_EQ(fault->observed, "vfio-pci: 1 GPU at " + gpu.pci);
  EXPECT_TRUE(has(fault->meaning, "slurmd.service starts jobs here")) << fault->meaning;
  EXPECT_TRUE(has(fault->remedy, "driverctl unset-override " + gpu.pci)) << fault->remedy;
  const auto is_silent = [&] { return !has(symmetry(), "symmetry " + gpu.name); };

  // A host of virtual machines: a program, another device for them, or the kernel's option.
  const Node jobs = node;
  node.host->vm_program = "qemu-kvm";
  EXPECT_TRUE(is_silent()) << symmetry();
  EXPECT_TRUE(has(note(), "for virtual machines (qemu-kvm runs)")) << note();
  node = jobs;
  node.platform.functions[node.topology.nics[0].pci].kernel_driver = "vfio-pci";
  EXPECT_TRUE(is_silent()) << symmetry();
  node = jobs;
  char ids[64];
  std::snprintf(ids, sizeof ids, "vfio-pci.ids=1234:5678,%04x:%04x", gpu.vendor, gpu.device);
  node.host->kernel_options.emplace_back(ids);
  EXPECT_TRUE(is_silent()) << symmetry();
  // Nothing shows that jobs need it, or other users' processes are hidden.
  node = jobs;
  node.host->services.clear();
  EXPECT_TRUE(is_silent()) << symmetry();
  EXPECT_TRUE(has(note(), "not for jobs of this host")) << note();
  node = jobs;
  node.host->processes_hidden = true;
  EXPECT_TRUE(is_silent()) << symmetry();
}

// Linux knows no NUMA node for a device whose node has no CPU online.
TEST(SymmetryCheck, CpusThatAreOfflineOnSomeNodesAreNamed) {
  test::Healthy server;
  Node& node = server.now;
  const auto symmetry = [&] { return test::said(server.view(), {"symmetry"}); };
  node.host->offline_cpus = {{1, "36-63", 28}};
  node.topology.numa_cpus = {{0, "0-31"}, {1, "32-35"}};
  EXPECT_EQ(symmetry(), "symmetry NUMA node 1 warning: 4 of 32 CPUs online\n");
  // SMT is off everywhere; one CPU more is no difference.
  node.host->offline_cpus = {{0, "16-31", 16}, {1, "47-63", 17}};
  node.topology.numa_cpus = {{0, "0-15"}, {1, "32-46"}};
  EXPECT_EQ(symmetry(), "");
  // All of one node, with its devices.
  node.topology.numa_cpus = {{0, "0-31"}};
  OfflineCpus all{1, "32-63", 32};
  const auto take = [&](PciDevice& device) {
    if (device.numa != 1) return;
    device.numa.reset();
    all.devices.push_back(device.pci);
  };
  for (Gpu& gpu : node.topology.gpus) take(gpu);
  for (Nic& nic : node.topology.nics) take(nic);
  ASSERT_FALSE(all.devices.empty());
  node.host->offline_cpus = {all};
  const auto found = test::complaints_of(server.view(), {"symmetry"});
  const Finding* fault = find_where(found, [](const Finding& each) { return each.subject == "NUMA node 1"; });
  ASSERT_NE(fault, nullptr) << symmetry();
  EXPECT_EQ(fault->status, Status::critical);
  EXPECT_EQ(fault->observed, "0 of 32 CPUs online");
  EXPECT_TRUE(has(fault->remedy, "chcpu -e 32-63")) << fault->remedy;
  EXPECT_TRUE(has(fault->meaning, node.topology.gpus.back().name)) << fault->meaning;
  EXPECT_FALSE(has(symmetry(), "NUMA node -1")) << "the firmware is right: " << symmetry();
}

// A GPU that may be there for a display needs a driver only if jobs need it.
TEST(SymmetryCheck, TheOnlyGpuOfItsKindHasADriverIfJobsNeedIt) {
  test::Healthy server;
  Node& node = server.now;
  node.topology.gpus.resize(1);
  node.topology.nics.resize(1);
  node.topology.gpus[0].class_code = 0x030000;
  node.platform.functions[node.topology.gpus[0].pci].kernel_driver.clear();
  const auto symmetry = [&] { return test::said(server.view(), {"symmetry"}); };
  EXPECT_TRUE(has(symmetry(), "symmetry GPUs warning: no kernel driver: 1 GPU")) << symmetry();
  const Node jobs = node;
  node.topology.gpus[0].bridges.clear();
  EXPECT_FALSE(has(symmetry(), "no kernel driver")) << "a GPU of the board: " << symmetry();
  node = jobs;
  node.host->services.clear();
  EXPECT_FALSE(has(symmetry(), "no kernel driver")) << symmetry();
}

TEST(RateCheck, GroupsOnPurposeAreSilentAndTheOddOneIsNot) {
  const auto slow = [](const Node& node) { return test::said({.now = node}, {"rate"}); };
  Node node = eight_by_eight();
  for (int i = 4; i < 6; ++i) {
    add_nic(node.topology, at(i, 0, 2, i - 4, false));
    node.ports.push_back(port_of(node.topology.nics.back(), 25e9));
  }
  EXPECT_EQ(slow(node), "") << "eight at 400G, two at 200G";
  node.ports[3].rate = 25e9;
  EXPECT_EQ(slow(node), "rate mlx5_3/1 critical: 200 Gb/s\n");
  Node halves = eight_by_eight();
  for (size_t i = 0; i < 8; i += 2) halves.ports[i].rate = 25e9;
  EXPECT_EQ(slow(halves),
            "rate mlx5_0/1 warning: 200 Gb/s\nrate mlx5_2/1 warning: 200 Gb/s\n"
            "rate mlx5_4/1 warning: 200 Gb/s\nrate mlx5_6/1 warning: 200 Gb/s\n")
      << "half of them reach 400";
  halves.ports[1].state = 1;
  EXPECT_EQ(slow(halves),
            "rate mlx5_0/1 warning: 200 Gb/s\nrate mlx5_2/1 warning: 200 Gb/s\n"
            "rate mlx5_4/1 warning: 200 Gb/s\nrate mlx5_6/1 warning: 200 Gb/s\n")
      << "one of the others is down";
  halves.ports[1].state = kPortActive;
  halves.ports[1].rate = 25e9;
  EXPECT_EQ(slow(halves), "") << "five at one rate, three at another";
}

// A card of another model replaced the NIC of one GPU.
TEST(RateCheck, ASlowerCardInThePairingIsNamed) {
  Node node = eight_by_eight();
  node.topology.nics[5].device = 0x101b;
  node.ports[5].hca_type = "MT4123";
  node.ports[5].rate = 25e9;
  EXPECT_EQ(test::said({.now = node}, {"locality", "pairing", "rate"}), "pairing mlx5_5 warning: 200 Gb/s\n");
}

// Two boards with the same chip.
TEST(RateCheck, ASlowerBoardInThePairingIsNamed) {
  Node node = eight_by_eight();
  for (Port& port : node.ports) port.board_id = "MT_0000001070";
  node.ports[5].rate = 25e9;
  EXPECT_EQ(test::said({.now = node}, {"pairing", "rate"}), "rate mlx5_5/1 critical: 200 Gb/s\n");
  node.ports[5].board_id = "MT_0000000884";
  const auto found = test::complaints_of({.now = node}, {"locality", "pairing", "rate"});
  ASSERT_EQ(found.size(), 1u) << test::describe(found);
  EXPECT_EQ(found[0].id + " " + found[0].subject, "pairing mlx5_5");
  EXPECT_TRUE(has(found[0].meaning, "board MT_0000000884) serves GPU5")) << found[0].meaning;
}

// As XE9680: each GPU has a NIC on its switch, some a second one, or two ports at 200 Gb/s, for storage.
Node with_spares() {
  Node node = eight_by_eight();
  for (const int i : {0, 6}) {
    add_nic(node.topology, at(i / 2, i % 2, 3, i / 4, false));
    node.ports.push_back(port_of(node.topology.nics.back(), 50e9));
  }
  for (Port& port : node.ports) port.board_id = "MT_0000001070";
  for (const int i : {3, 5}) {
    add_nic(node.topology, at(i / 2, i % 2, 3, i / 4, false));
    node.ports.push_back(port_of(node.topology.nics.back(), 25e9));
    node.ports.back().board_id = "MT_0000000884";
  }
  return node;
}

TEST(SymmetryCheck, SpareNicsBesideAGpuAreNoPlacesOfGpus) {
  Node node = with_spares();
  EXPECT_EQ(test::said({.now = node}, {"symmetry"}), "");
  node.topology.nics[1].rdma.clear();
  node.ports.erase(node.ports.begin() + 1);
  EXPECT_FALSE(has(test::said({.now = node}, {"symmetry"}), "GPUs")) << test::said({.now = node}, {"symmetry"});
  // Each switch has two GPUs and two NICs: a GPU that is gone leaves a NIC.
  Node four = two_gpus_on_a_switch();
  std::erase_if(four.topology.gpus,
                [](const Gpu& gpu) { return gpu.root != "pci0000:00" && gpu.root != "pci0000:20"; });
  std::erase_if(four.topology.nics,
                [](const Nic& nic) { return nic.root != "pci0000:00" && nic.root != "pci0000:20"; });
  four.ports.clear();
  EXPECT_EQ(test::said({.now = four}, {"symmetry"}), "");
  four.topology.gpus.pop_back();
  EXPECT_TRUE(has(test::said({.now = four}, {"symmetry"}), "symmetry GPUs")) << test::said({.now = four}, {"symmetry"});
}

// The only port of its board with a slower link is not a NIC for something else: its GPU keeps it.
TEST(Pairing, ASlowLinkChangesNoNic) {
  const Node healthy = with_spares();
  const Pairing before = built_of(healthy.topology, healthy.ports).present_pairing;
  for (size_t gpu = 0; gpu < 8; ++gpu) {
    Node node = healthy;
    node.ports[gpu].rate = 25e9;
    EXPECT_EQ(built_of(node.topology, node.ports).present_pairing.pairs, before.pairs) << gpu;
  }
}

using PairingCorpus = test::OfCorpus;

// Every machine of the corpus: fair, stable, and each GPU at the class that the oracle calls its nearest.
TEST_F(PairingCorpus, EveryMachineIsPairedFairly) {
  int machines = 0;
  for (auto& [name, machine] : test::oracle_of(corpus, "hwloc-xml")) {
    SCOPED_TRACE(name);
    const auto topology = load_topology_xml(corpus + "/" + machine["file"].get<std::string>());
    ASSERT_TRUE(topology);
    const Pairing pairing = best_pairing(*topology, std::span<const Port>{});
    expect_fair(*topology, pairing);
    EXPECT_EQ(pairing, best_pairing(*topology, std::span<const Port>{}));
    for (size_t g = 0; g < topology->gpus.size(); ++g) {
      Json& nearest = machine["nearest"][topology->gpus[g].pci]["rdma"];
      if (nearest.is_null() || pairing.pairs[g].nics.empty()) continue;
      EXPECT_EQ(nearest["class"], to_text(*pairing.pairs[g].path)) << topology->gpus[g].name;
    }
    ++machines;
  }
  EXPECT_GT(machines, 20);
}

TEST_F(PairingCorpus, KnownMachines) {
  const auto p5 = load_topology_xml(corpus + "/hwloc-xml/nixl__p5.48xl.xml");
  for (const Pair& pair : best_pairing(*p5, std::span<const Port>{}).pairs)
    EXPECT_EQ(pair.nics.size(), 4u) << "32 for 8";
  const auto p4 = load_topology_xml(corpus + "/hwloc-xml/nixl__p4d.24xl.xml");
  EXPECT_TRUE(is_flattened(*p4));
  EXPECT_FALSE(is_flattened(*p5));
  for (const Pair& pair : best_pairing(*p4, std::span<const Port>{}).pairs) EXPECT_EQ(pair.shared_by, 2u) << "4 for 8";
  const auto lassen = load_topology_xml(corpus + "/hwloc-xml/mpibind__coral-lassen.xml");
  std::vector<std::string> cards;
  for (const Nic& nic : lassen->nics)
    if (!nic.rdma.empty()) cards.push_back(nic.card);
  EXPECT_EQ(cards, std::vector<std::string>(4, "506b:4b03:003c:eee8")) << "one card on two sockets";
}

}  // namespace
}  // namespace fabric
