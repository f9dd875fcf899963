// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/infiniband.h"

#include "kernel/rdma/verbs.h"
#include "support/corpus.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::Tree;

TEST(Infiniband, RatesAreBytesPerSecond) {
  EXPECT_EQ(infiniband::parse_rate("400 Gb/sec (4X NDR)\n"), 50e9);
  EXPECT_EQ(infiniband::parse_rate("2.5 Gb/sec (1X SDR)"), 312.5e6);
  for (const char* text : {"", "0 Gb/sec", "400", "400 Mb/sec", "fast Gb/sec", "-1 Gb/sec", "inf Gb/sec", "nan Gb/sec"})
    EXPECT_FALSE(infiniband::parse_rate(text)) << text;
}

TEST(Infiniband, StatesAreTheirNumbers) {
  EXPECT_EQ(infiniband::parse_state("4: ACTIVE\n"), 4u);
  EXPECT_EQ(infiniband::parse_state("5: LinkUp"), 5u);
  EXPECT_FALSE(infiniband::parse_state("ACTIVE"));
  EXPECT_FALSE(infiniband::parse_state(""));
}

TEST(Infiniband, DevicesAndPortsInNaturalOrder) {
  Tree tree;
  EXPECT_TRUE(infiniband::devices(tree.root())->empty());
  for (const char* port : {"mlx5_10/ports/1", "mlx5_2/ports/2", "mlx5_2/ports/1", "mlx5_2/ports/x"})
    tree.folder(std::string("sys/class/infiniband/") + port);
  EXPECT_EQ(*infiniband::devices(tree.root()), (std::vector<std::string>{"mlx5_2", "mlx5_10"}));
  EXPECT_EQ(*infiniband::ports(tree.root(), "mlx5_2"), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(infiniband::ports(tree.root(), "none").error().code, ENOENT);
}

void gid(Tree& tree, unsigned index, const std::string& text) {
  const std::string slot = "/" + std::to_string(index);
  const std::string port = "sys/class/infiniband/rxe0/ports/1";
  tree.file(port + "/gids" + slot, text + "\n");
  if (text.find_first_not_of("0:") == std::string::npos) return;  // the kernel refuses the attributes of an empty slot
  tree.file(port + "/gid_attrs/types" + slot, "RoCE v2\n").file(port + "/gid_attrs/ndevs" + slot, "eth0\n");
}

TEST(Infiniband, GidsInUse) {
  Tree tree;
  const std::string zero = "0000:0000:0000:0000:0000:0000:0000:0000",
                    mapped = "0000:0000:0000:0000:0000:ffff:0a01:0001";
  gid(tree, 0, "fe80:0000:0000:0000:5054:00ff:fe12:3456");
  gid(tree, 1, zero);
  gid(tree, 2, mapped);
  for (unsigned i = 3; i < 80; ++i) gid(tree, i, zero);
  gid(tree, 80, mapped);
  const auto gids = infiniband::gids(tree.root(), "rxe0", 1);
  ASSERT_TRUE(gids);
  ASSERT_EQ(gids->size(), 2u) << "64 empty slots in a row end the search";
  EXPECT_EQ((*gids)[1].index, 2u);
  EXPECT_EQ((*gids)[1].gid, mapped);
  EXPECT_EQ((*gids)[1].type, "RoCE v2");
  EXPECT_EQ((*gids)[1].netdev, "eth0");
  EXPECT_EQ(infiniband::gids(tree.root(), "none", 1).error().code, ENOENT) << "no table is not an empty one";
}

TEST(Infiniband, CapturedMachines) {
  const auto corpus = test::corpus_directory();
  if (!corpus) GTEST_SKIP() << "no corpus: set FABRIC_CORPUS";
  const test::Unpacked tree(*corpus + "/ib-sysfs/procfs-fixtures-sys.tar.gz");
  const Root root = *Root::open(tree.root());
  EXPECT_EQ(*infiniband::devices(root), (std::vector<std::string>{"hfi1_0", "mlx4_0", "mlx5_0"}));
  EXPECT_EQ(infiniband::ports(root, "mlx4_0")->size(), 2u);
}

TEST(Verbs, AttributesAsRecorded) {
  const auto device = verbs::parse_device(
      "firmware 28.39.1002\ngids\nport 1 4 5 4096 Ethernet\nspeed 1 8000\n"
      "gid 1 0 fe80:0000:0000:0000:0a00:27ff:fe00:0001 v1 ens1\ngid 1 3 0000:0000:0000:0000:0000:ffff:0a01:0001 v2 \n"
      "port 2 1 3 0 unknown\n");
  ASSERT_TRUE(device && device->has_gid_table && device->ports.size() == 2 && device->ports.at(1).gids.size() == 2);
  EXPECT_EQ(device->firmware, "28.39.1002");
  const verbs::PortAttributes& port = device->ports.at(1);
  EXPECT_EQ(std::tuple(port.state, port.phys_state, port.active_mtu, port.link_layer),
            std::tuple(4U, 5U, 4096U, LinkLayer::ethernet));
  EXPECT_EQ(port.gids[0].type + " " + port.gids[0].netdev, "IB/RoCE v1 ens1");
  EXPECT_EQ(port.gids[1].type + " " + port.gids[1].netdev, "RoCE v2 ");
  EXPECT_EQ(device->ports.at(2).link_layer, LinkLayer::unknown);
  EXPECT_EQ(port.rate, 100e9) << "800 Gb/s";
  EXPECT_FALSE(device->ports.at(2).rate);
  EXPECT_TRUE(verbs::parse_device("")->ports.empty());
  for (const char* bad : {"port 1 4 5", "port x 4 5 4096 Ethernet", "gid 1 0 fe80:: v2 eth0", "firmware", "4096",
                          "speed 1 8000", "port 1 4 5 4096 Ethernet\nspeed 1 0"})
    EXPECT_FALSE(verbs::parse_device(bad)) << bad;
  EXPECT_FALSE(verbs::query("no-such-device0"));
}

}  // namespace
}  // namespace fabric
