// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"
#include "node/topology.h"
#include "support/machines.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::pci_function;

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
}

TEST(PciKind, DisplaysAndCompanionsAreNoGpus) {
  EXPECT_FALSE(is_gpu(chip(0x1a03, 0x2000, 0x030000))) << "ASPEED BMC";
  EXPECT_FALSE(is_gpu(chip(0x102b, 0x0522, 0x030000))) << "Matrox BMC";
  EXPECT_FALSE(is_gpu(chip(0x1002, 0x515e, 0x030000))) << "ATI ES1000";
  EXPECT_FALSE(is_gpu(chip(0x1002, 0x164e, 0x030000))) << "graphics of a Ryzen";
  EXPECT_FALSE(is_gpu(chip(0x8086, 0x3e98, 0x030000, "0000:00:02.0"))) << "graphics of a Core";
  EXPECT_FALSE(is_gpu(chip(0x1af4, 0x1050, 0x038000))) << "virtio-gpu";
  EXPECT_FALSE(is_gpu(chip(0x8086, 0x0b2b, 0x120000))) << "Stratix 10 FPGA";
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

}  // namespace
}  // namespace fabric
