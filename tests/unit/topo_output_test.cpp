// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ctl/topo.h"
#include "support/json_reader.h"

namespace fabric {
namespace {

PciDevice function(const char* pci, const char* root, std::vector<std::string> bridges, std::optional<int> numa) {
  PciDevice out;
  out.pci = pci;
  out.root = root;
  out.bridges = std::move(bridges);
  out.numa = numa;
  return out;
}

// GPU0 and mlx5_0 on one switch; GPU1 on another root bus, whose node is not known; eno1 without RDMA.
Topology server() {
  Topology out;
  out.numa_cpus = {{0, "0-15,32-47"}, {1, "16-31,48-63"}};
  out.gpus = {Gpu{function("0000:23:00.0", "pci0000:20", {"0000:22:00.0", "0000:21:00.0"}, 0), "GPU0", "NVIDIA H100"},
              Gpu{function("0000:63:00.0", "pci0000:60", {"0000:60:01.0"}, {}), "GPU1", ""}};
  out.nics = {Nic{function("0000:24:00.0", "pci0000:20", {"0000:22:01.0", "0000:21:00.0"}, 0), {"ens24np0"}, {"mlx5_0"}, "mlx5_0"},
              Nic{function("0000:a1:00.0", "pci0000:a0", {}, 1), {"eno1"}, {}, "eno1"}};
  return out;
}

TEST(TopoText, NvidiaSmisMatrix) {
  const std::string text = ctl::topo_text(server());
  EXPECT_EQ(text.substr(0, text.find("\nLegend")),
            "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
            "GPU0\t X \tN/A\tPIX\t0-15,32-47\t0\n"
            "GPU1\tN/A\t X \tN/A\tN/A\tN/A\n"
            "NIC0\tPIX\tN/A\t X \n");
  EXPECT_NE(text.find("  NIC0: mlx5_0 (ens24np0, 0000:24:00.0)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  GPU0: NVIDIA H100 (0000:23:00.0)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  GPU0: mlx5_0 (PIX)\n  GPU1: not known\n"), std::string::npos) << text;
  EXPECT_NE(text.find("NICs without RDMA, not shown: eno1\n"), std::string::npos) << text;
}

TEST(TopoText, WithoutRdmaEveryNicIsShown) {
  Topology topology = server();
  topology.nics[0].rdma.clear();
  const std::string text = ctl::topo_text(topology);
  EXPECT_NE(text.find("\tNIC0\tNIC1\t"), std::string::npos) << text;
  EXPECT_EQ(text.find("not shown"), std::string::npos) << text;
}

TEST(TopoText, NothingFound) { EXPECT_EQ(ctl::topo_text({}), "No GPU and no NIC found.\n"); }

TEST(TopoJson, KeepsTheContract) {
  const auto json = test::JsonValue::parse(ctl::topo_json(server()).dump());
  ASSERT_EQ(json["gpus"].array().size(), 2u);
  EXPECT_EQ(json["gpus"].array()[0]["pci"].text(), "0000:23:00.0");
  EXPECT_EQ(json["gpus"].array()[0]["name"].text(), "GPU0");
  EXPECT_EQ(json["gpus"].array()[0]["numa"].number(), 0);
  EXPECT_TRUE(json["gpus"].array()[1]["numa"].is_null());
  ASSERT_EQ(json["nics"].array().size(), 2u) << "those without RDMA, too";
  EXPECT_EQ(json["nics"].array()[0]["rdma"].array()[0].text(), "mlx5_0");
  EXPECT_EQ(json["nics"].array()[0]["netdevs"].array()[0].text(), "ens24np0");
  EXPECT_TRUE(json["nics"].array()[1]["rdma"].array().empty());
  ASSERT_EQ(json["paths"].array().size(), 4u) << "every GPU and NIC";
  const auto& first = json["paths"].array()[0];
  EXPECT_EQ(first["gpu"].text() + " " + first["nic"].text() + " " + first["class"].text(), "0000:23:00.0 0000:24:00.0 PIX");
  EXPECT_TRUE(json["paths"].array()[2]["class"].is_null());
  ASSERT_EQ(json["pairs"].array().size(), 2u);
  EXPECT_EQ(json["pairs"].array()[0]["nics"].array()[0].text(), "0000:24:00.0");
  EXPECT_TRUE(json["pairs"].array()[1]["nics"].array().empty());
}

TEST(TopoJson, EmptyListsAreLists) {
  const auto json = test::JsonValue::parse(ctl::topo_json({}).dump());
  for (const char* key : {"gpus", "nics", "paths", "pairs"}) EXPECT_TRUE(json[key].array().empty()) << key;
}

}  // namespace
}  // namespace fabric
