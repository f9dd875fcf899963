// SPDX-License-Identifier: Apache-2.0
// The inventory of the last good state: its file, what differs from it, and who writes it.
#include "topology/inventory.h"

#include "agentd/inventory.h"
#include "base/json.h"
#include "judge/topology.h"
#include "node/inventory.h"
#include "node/pci_state.h"
#include "node/scan.h"
#include "support/corpus.h"
#include "support/ctl.h"
#include "support/healthy_node.h"
#include "support/test.h"
#include "support/tree.h"
#include "topology/built.h"

namespace fabric {
namespace {

using test::has;
using test::Healthy;
namespace fs = std::filesystem;

Inventory recorded(const Node& node) {
  Inventory out = inventory_of(node);
  out.taken = "2026-01-01T00:00:00Z";
  return out;
}

// What the check says of a node with the inventory of a healthy one.
std::string changes_said(Healthy& node) {
  node.now.inventory = recorded(Healthy().now);
  return test::said(node.view(), {"topology"});
}

TEST(Inventory, IsReadBackAsItWasWritten) {
  const Inventory before = recorded(Healthy().now);
  const auto after = parse_inventory(inventory_text(before), "inventory.json");
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(after->parts, before.parts);
  EXPECT_EQ(after->taken, before.taken);
  EXPECT_EQ(before.parts.size(), 8u);
  EXPECT_EQ(before.parts[1].nics, std::vector<std::string>{"0000:24:00.0"});
  EXPECT_EQ(before.parts[5].up, std::vector<std::string>{"mlx5_1/1"});
}

TEST(Inventory, ADamagedFileIsAnError) {
  const std::string whole = inventory_text(recorded(Healthy().now));
  for (size_t size = 0; size + 1 < whole.size(); size += 64)
    EXPECT_FALSE(parse_inventory(whole.substr(0, size), "inventory.json")) << size;
  for (const char* text : {"", "nonsense", R"({"format":1,"parts":[{"name":"GPU0"}]})", R"({"format":1,"parts":3})",
                           R"({"format":1,"parts":[]})", R"({"format":1,"taken":"x"})"}) {
    const auto parsed = parse_inventory(text, "inventory.json");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, EBADMSG) << text;
  }
}

TEST(Inventory, ADamagedFileIsAFinding) {
  test::Tree tree;
  tree.file("sys/class/infiniband/.keep", "");
  tree.file(kInventoryFile, "nonsense");
  auto kernel = open_kernel(tree.path());
  ASSERT_TRUE(kernel);
  const Node node = scan(*kernel);
  const auto found = test::complaints_of({.now = node}, {"inventory"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, Status::warning);
  EXPECT_TRUE(has(found[0].meaning, "inventory.json: ")) << found[0].meaning;
}

TEST(Inventory, WhatIsGoneIsNamedOnceByItsPlace) {
  Healthy node;
  EXPECT_EQ(changes_said(node), "");
  node.now.topology.gpus.erase(node.now.topology.gpus.begin() + 1);
  EXPECT_EQ(changes_said(node), "inventory 0000:23:00.0 critical: gone: GPU1 (0000:23:00.0)\n");
  Healthy nic;
  nic.now.topology.nics.erase(nic.now.topology.nics.begin() + 1);
  nic.now.ports.erase(nic.now.ports.begin() + 1);
  EXPECT_EQ(changes_said(nic), "inventory 0000:24:00.0 critical: gone: mlx5_1 (0000:24:00.0)\n");
}

TEST(Inventory, WhatHasChangedIsNamed) {
  Healthy rdma;
  rdma.now.topology.nics[2].rdma.clear();
  EXPECT_EQ(changes_said(rdma), "inventory 0000:34:00.0 warning: RDMA devices none: mlx5_2 (0000:34:00.0)\n");
  Healthy numa;
  numa.now.topology.gpus[3].numa = 0;
  EXPECT_EQ(changes_said(numa), "inventory 0000:43:00.0 warning: NUMA node 0: GPU3 (0000:43:00.0)\n");
  Healthy all;  // no equal is better, and they claim to have no more lanes: `pcie` has nothing to compare with
  for (Nic& nic : all.now.topology.nics) nic.link.width = nic.link.max_width = 8;
  EXPECT_TRUE(has(changes_said(all), "inventory 0000:14:00.0 warning: PCIe link x8 at 32 GT/s: mlx5_0"))
      << changes_said(all);
  Healthy other;
  other.now.topology.nics[0].device = 0x101d;
  EXPECT_TRUE(has(changes_said(other), "model 15b3:101d")) << changes_said(other);
}

// As after a card more, or other firmware: bus 0000:23 is 0000:26 now.
void renumber(Node& node) {
  const auto move = [](std::string& pci) { pci[6] = static_cast<char>(pci[6] + 3); };
  for (Gpu& gpu : node.topology.gpus) move(gpu.pci);
  for (Nic& nic : node.topology.nics) move(nic.pci);
  for (Port& port : node.ports) move(port.pci);
}

TEST(Inventory, PartsAtOtherAddressesAreNotMissing) {
  Healthy node;
  renumber(node.now);
  EXPECT_EQ(changes_said(node), "");
  const auto changes = changes_since(*node.now.inventory, node.now);
  ASSERT_EQ(changes.size(), 8u);
  EXPECT_EQ(changes[1].was + " " + changes[1].is, "0000:23:00.0 0000:26:00.0");
  EXPECT_TRUE(std::ranges::none_of(changes, &InventoryChange::is_loss));
  node.now.topology.gpus.erase(node.now.topology.gpus.begin() + 1);
  EXPECT_EQ(changes_said(node), "inventory 0000:23:00.0 critical: gone: GPU1 (0000:23:00.0)\n") << "one of them is";
}

TEST(Inventory, AnRdmaDeviceInAContainerIsNotLost) {
  Healthy node;
  const Inventory before = recorded(node.now);
  Nic& nic = node.now.topology.nics[2];
  nic.rdma.clear();
  nic.rdma_elsewhere = true;
  std::erase_if(node.now.ports, [&](const Port& port) { return port.pci == nic.pci; });
  EXPECT_EQ(changes_said(node), "");
  EXPECT_EQ(inventory_of(node.now, &before).parts, before.parts);
}

TEST(Inventory, WhatAGuestHasIsNotLost) {
  Healthy node;
  const std::string pci = node.now.topology.nics[2].pci;
  node.now.topology.nics[2].rdma.clear();
  std::erase_if(node.now.ports, [&](const Port& port) { return port.pci == pci; });
  node.now.platform.functions[pci].kernel_driver = "vfio-pci";
  EXPECT_EQ(changes_said(node), "");
  EXPECT_EQ(test::said(node.view(), {"port-state"}), "");
}

TEST(Inventory, LanesThatSleepAreNotLost) {
  Healthy node;
  PcieLink& link = node.now.topology.gpus[1].link;
  link = {64, 64, 16, 16};
  const Inventory before = recorded(node.now);
  link.width = 2;
  EXPECT_TRUE(changes_since(before, node.now).empty());
  link.width = 8;
  EXPECT_EQ(changes_since(before, node.now).size(), 1u);
}

TEST(Inventory, ThePortsThatWereUpStayInIt) {
  Healthy node;
  const Inventory before = recorded(node.now);
  test::down(node, 1, 2);
  EXPECT_EQ(inventory_of(node.now, &before).parts, before.parts);
  EXPECT_NE(inventory_of(node.now).parts, before.parts);
}

// Every root bus has another number, as after an update of the firmware, and one part is lost.
TEST(Inventory, RootBusesMayBeRenumberedAsWell) {
  for (size_t lost = 0; lost < 4; ++lost) {
    Healthy node;
    const std::string pci = node.now.topology.gpus[lost].pci, name = node.now.topology.gpus[lost].name;
    node.now.topology.gpus.erase(node.now.topology.gpus.begin() + static_cast<long>(lost));
    const auto move = [](PciDevice& device) {
      device.root = "pci0000:" + device.pci.substr(5, 1) + "8";
      for (std::string& bridge : device.bridges) bridge.replace(0, 7, device.pci.substr(0, 6) + "9");
    };
    for (Gpu& gpu : node.now.topology.gpus) move(gpu);
    for (Nic& nic : node.now.topology.nics) move(nic);
    for (size_t i = 0; i < node.now.ports.size(); ++i) node.now.ports[i].pci = node.now.topology.nics[i].pci;
    const std::string said = changes_said(node);
    EXPECT_TRUE(has(said, "gone: GPU")) << said;
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  }
}

TEST(Inventory, ADriverARateAndARootsNodeAreCompared) {
  const auto said_of = [](auto&& change) {
    Healthy whole, node;
    for (Gpu& gpu : whole.now.topology.gpus) whole.now.platform.functions[gpu.pci].kernel_driver = "nvidia";
    node.now = whole.now;
    change(node.now);
    node.now.inventory = recorded(whole.now);
    return test::said(node.view(), {"inventory", "symmetry", "rate"});
  };
  EXPECT_EQ(said_of([](Node&) {}), "");
  EXPECT_TRUE(has(said_of([](Node& node) { node.platform.functions[node.topology.gpus[2].pci].kernel_driver.clear(); }),
                  "kernel driver none: GPU2"));
  EXPECT_EQ(said_of([](Node& node) { node.platform.functions[node.topology.gpus[2].pci].kernel_driver = "vfio-pci"; }),
            "")
      << "a guest has it";
  const std::string slow = said_of([](Node& node) {
    for (Port& port : node.ports) port.rate = 25e9;
  });
  for (const char* port : {"mlx5_0/1", "mlx5_3/1"})
    EXPECT_TRUE(has(slow, std::string("inventory ") + port + " warning: 200 Gb/s")) << slow;
  for (const std::optional<int> numa : {std::optional<int>(1), std::optional<int>()}) {
    const std::string odd =
        said_of([&](Node& node) { node.topology.gpus[0].numa = node.topology.nics[0].numa = numa; });
    EXPECT_EQ(odd, "inventory pci0000:10 warning: NUMA node " + std::string(numa ? "1" : "-1") +
                       ": GPU0 (0000:13:00.0), mlx5_0 (0000:14:00.0)\n");
  }
}

// Three NICs for four GPUs: warned of until it is accepted, and then only a change is.
TEST(Inventory, AnAcceptedMachineIsSilent) {
  Healthy node;
  node.now.topology.nics.erase(node.now.topology.nics.begin() + 2);
  node.now.ports.erase(node.now.ports.begin() + 2);
  const Node built = node.now;
  const auto said = [&] { return test::said(node.view(), {"topology", "rate"}); };
  EXPECT_TRUE(has(said(), "locality GPU2")) << said();
  EXPECT_FALSE(odd_parts(node.now).empty());
  node.now.inventory = recorded(built);
  EXPECT_TRUE(has(said(), "locality GPU2")) << "recorded by the agent, and still odd: " << said();
  node.now.inventory->accepted = true;
  EXPECT_EQ(said(), "");
  node.now.topology.nics.erase(node.now.topology.nics.begin());
  node.now.ports.erase(node.now.ports.begin());
  EXPECT_EQ(said(), "inventory 0000:14:00.0 critical: gone: mlx5_0 (0000:14:00.0)\n");
  node.now = built;
  node.now.topology.nics[1].link.width = 8;
  node.now.inventory = recorded(node.now);
  EXPECT_TRUE(has(said(), "pcie")) << said();
  node.now.inventory->accepted = true;
  EXPECT_EQ(said(), "");
  node.now.topology.nics[1].link.width = 4;
  EXPECT_TRUE(has(said(), "x4")) << said();
}

using RecordedInventory = test::OfCorpus;
// The agent writes it while nothing is missing, and never without what was there.
TEST_F(RecordedInventory, IsOfAGoodStateOnly) {
  const test::Unpacked tree(corpus + "/repro/oci16.tgz");
  const std::string root = tree.root(), function = "0000:2a:00.1";
  const auto keep = [&] {
    auto kernel = open_kernel(root);
    return agentd::record_inventory(*kernel, root).value();
  };
  EXPECT_EQ(keep(), "inventory recorded: 8 GPUs, 16 NIC functions");
  EXPECT_EQ(keep(), "");
  const fs::path link = fs::path(root) / "sys/bus/pci/devices" / function;
  fs::remove_all(fs::canonical(link));
  fs::remove(link);
  for (const char* folder : {"sys/class/infiniband", "sys/class/net"})
    for (const auto& entry : fs::directory_iterator(fs::path(root) / folder))
      if (entry.is_symlink() && !fs::exists(entry.path())) fs::remove(entry.path());
  EXPECT_EQ(keep(), "");
  const test::Ran shown = test::ran({"inventory", "--root", root});
  EXPECT_EQ(shown.code, ctl::kChanges);
  EXPECT_TRUE(has(shown.text, "gone")) << shown.text;
  EXPECT_EQ(test::ran({"inventory", "accept", "--root", root}).code, ctl::kFailure);
  auto kernel = open_kernel(root);
  const Node node = scan(*kernel);
  ASSERT_TRUE(node.inventory);
  EXPECT_EQ(node.inventory->parts.size(), 24u);
  EXPECT_EQ(built_of(node).lost_since.size(), 1u);
  ctl::Options accept;
  accept.verb = "inventory";
  accept.arguments = {"accept"};
  accept.root = accept.host = root;
  accept.json = true;
  ctl::Output output;
  EXPECT_EQ(ctl::find_verb("inventory")->run(accept, output), ctl::kDone) << output.errors;
  EXPECT_EQ(Json::parse(output.text)["parts"].size(), 23u) << output.text;
}

}  // namespace
}  // namespace fabric
