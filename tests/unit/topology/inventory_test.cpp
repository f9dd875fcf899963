// SPDX-License-Identifier: Apache-2.0
// Parts that a machine lacks: by the inventory of its last good state (its file, differences from it, and its writers),
// and by the machine's own symmetry, on eight GPUs with two NIC functions each.
#include "topology/inventory.h"

#include "agentd/inventory.h"
#include "base/json.h"
#include "judge/inventory.h"
#include "judge/topology.h"
#include "node/inventory.h"
#include "node/pci_state.h"
#include "node/scan.h"
#include "support/corpus.h"
#include "support/ctl.h"
#include "support/healthy_node.h"
#include "support/machines.h"
#include "support/test.h"
#include "support/tree.h"
#include "topology/built.h"
#include "topology/compute_nics.h"
#include "topology/symmetry.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;
using test::has;
using test::Healthy;

// -- Inventory

Inventory recorded(const Node& node) {
  Inventory out = inventory_of(node);
  out.taken = "2026-01-01T00:00:00Z";
  return out;
}

// The check's text for a node with the inventory of a healthy one.
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

TEST(Inventory, OfANewerReleaseIsNotWrittenOver) {
  test::Tree tree;
  const Inventory now{.parts = {{.pci = "0000:18:00.0"}}};
  const std::string newer = R"({"format":2,"sections":[]})";
  tree.file(kInventoryFile, newer);
  EXPECT_EQ(test::code_of(save_inventory(tree.path(), now)), kNewerFormat);
  EXPECT_EQ(tree.content(kInventoryFile), newer);
  tree.file(kInventoryFile, "nonsense");
  EXPECT_TRUE(save_inventory(tree.path(), now).ok());
  EXPECT_TRUE(load_inventory(tree.root()).ok());
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
  EXPECT_EQ(changes_said(rdma), "inventory 0000:34:00.0 critical: RDMA devices none: mlx5_2 (0000:34:00.0)\n")
      << "lost for its GPU, as if the NIC were gone";
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

// The effect of an added card or other firmware: bus 0000:23 is 0000:26 now.
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

// Equal root buses have other numbers, also those that others had. Their cards show which they are.
TEST(Inventory, RenumberedRootBusesAreThoseOfTheirCards) {
  const auto with_guids = [] {
    Healthy node(8);
    for (size_t i = 0; i < node.now.topology.nics.size(); ++i)
      node.now.topology.nics[i].card = "a088c203000102" + std::to_string(10 + i);
    return node;
  };
  for (const int by : {0, 1})  // digits of the root bus
    for (size_t lost = 0; lost < 8; ++lost) {
      Healthy node = with_guids();
      Topology& topology = node.now.topology;
      const std::string name = topology.gpus[lost].name;
      topology.gpus.erase(topology.gpus.begin() + static_cast<long>(lost));
      const auto move = [by](PciDevice& device) {
        const auto moved = [by](std::string pci) {
          pci[5] = static_cast<char>(pci[5] + by);
          if (by == 0) pci[6] = static_cast<char>(pci[6] + 5);
          return pci;
        };
        device.root = "pci" + moved(device.root.substr(3) + ":").substr(0, 7);
        device.pci = moved(device.pci);
        for (std::string& bridge : device.bridges) bridge = moved(bridge);
      };
      for (Gpu& gpu : topology.gpus) move(gpu);
      for (Nic& nic : topology.nics) move(nic);
      const auto changes = changes_since(recorded(with_guids().now), node.now);
      for (const InventoryChange& each : changes) {
        if (each.kind == InventoryChange::Kind::moved) continue;
        EXPECT_EQ(each.kind, InventoryChange::Kind::gone) << each.name << ": " << each.was << ", " << each.is;
        EXPECT_EQ(each.name, name);
      }
      EXPECT_EQ(std::ranges::count(changes, InventoryChange::Kind::gone, &InventoryChange::kind), 1);
    }
}

// Two cards that were exchanged are below the buses that they had exchanged.
TEST(Inventory, ExchangedCardsRenumberNoRootBus) {
  Healthy whole(8), node(8);
  for (Healthy* each : {&whole, &node})
    for (size_t i = 0; i < 8; ++i) each->now.topology.nics[i].card = "a088c203000102" + std::to_string(10 + i);
  std::swap(node.now.topology.nics[1].card, node.now.topology.nics[6].card);
  EXPECT_TRUE(changes_since(recorded(whole.now), node.now).empty());
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
  EXPECT_EQ(said_of([](Node& node) { node.platform.functions[node.topology.gpus[2].pci].kernel_driver = "nouveau"; }),
            "inventory 0000:33:00.0 critical: kernel driver nouveau: GPU2 (0000:33:00.0)\n")
      << "it runs no jobs";
  Healthy taken;
  taken.now.inventory = recorded(taken.now);
  taken.now.platform.functions[taken.now.topology.gpus[2].pci].kernel_driver = "nouveau";
  const auto found = test::complaints_of(taken.view(), {"inventory"});
  ASSERT_EQ(found.size(), 1u) << test::describe(found);
  EXPECT_TRUE(has(found[0].remedy, "echo 0000:33:00.0 > /sys/bus/pci/drivers/nouveau/unbind")) << found[0].remedy;
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

  // A NIC without netdev and RDMA device has its address as its name, as bridges have, whose links are not recorded.
  node.now = built;
  Nic& unnamed = node.now.topology.nics[1];
  unnamed.name = unnamed.pci;
  unnamed.link.width = 8;
  node.now.platform.functions[unnamed.pci];
  node.now.inventory = recorded(node.now);
  node.now.inventory->accepted = true;
  const auto accepted = accepted_findings(node.view());
  EXPECT_TRUE(std::ranges::any_of(accepted, [&](const Finding& each) { return each.subject == unnamed.pci; }))
      << test::describe(accepted);
}

// Before the agent has recorded it.
TEST(Inventory, ANicThatIsAddedForAGpuServesIt) {
  Healthy node;
  const Node whole = node.now;
  node.now.topology.nics.erase(node.now.topology.nics.begin() + 2);
  node.now.ports.erase(node.now.ports.begin() + 2);
  for (const bool accepted : {false, true}) {
    Inventory inventory = recorded(node.now);
    inventory.accepted = accepted;
    Healthy repaired;
    repaired.now.inventory = inventory;
    EXPECT_EQ(test::said(repaired.view(), {"topology"}), "") << "accepted " << accepted;
    EXPECT_EQ(built_of(repaired.now).present_pairing, built_of(whole).present_pairing) << "accepted " << accepted;

    Nic& storage = repaired.now.topology.nics[2];  // of another model: for another purpose
    storage.device = 0x101d;
    EXPECT_TRUE(built_of(repaired.now).present_pairing.pairs[2].path > PathClass::PIX) << "accepted " << accepted;
  }
}

// The uplink of a switch: the inventory has no links between bridges.
TEST(Inventory, AnAcceptedBridgeIsSilentUntilItsLinkChanges) {
  Healthy node;
  const auto set_uplink = [&](double speed) {
    const std::vector<std::string>& bridges = node.now.topology.nics[1].bridges;
    for (const size_t i : {1, 2}) node.now.platform.functions.at(bridges[i]).link = {speed, 32, 16, 16};
  };
  const auto said = [&] { return test::said(node.view(), {"topology"}); };
  set_uplink(8);
  EXPECT_TRUE(has(said(), "pcie 0000:21:00.0")) << said();
  Inventory inventory = recorded(node.now);
  inventory.accepted = true;
  inventory.odd = odd_parts(node.now);
  node.now.inventory = inventory;
  EXPECT_EQ(said(), "");
  set_uplink(5);
  EXPECT_TRUE(has(said(), "pcie 0000:21:00.0")) << said();
}

// In a slot of the CPU, or in the place of another GPU's NIC.
TEST(Inventory, ANicInAnotherSlotIsNamedIfItIsFartherFromItsGpu) {
  const auto said_of = [](std::initializer_list<size_t> moved, bool accepted, int numa) {
    Healthy node;
    node.now.inventory = recorded(node.now);
    node.now.inventory->accepted = accepted;
    for (const size_t i : moved) {
      Nic& nic = node.now.topology.nics[i];
      const std::string bus = "0000:" + std::string(1, static_cast<char>('a' + i));
      nic.root = "pci" + bus + "0";
      nic.bridges = {bus + "0:01.0"};
      nic.pci = node.now.ports[i].pci = bus + "1:00.0";
      nic.numa = nic.numa_above = numa;
    }
    EXPECT_TRUE(has_farther_nics(node.now)) << "the agent does not record it";
    return test::said(node.view(), {"topology"});
  };
  EXPECT_FALSE(has_farther_nics(Healthy().now));
  for (const bool accepted : {false, true}) {
    const std::string one = said_of({0}, accepted, 0);
    EXPECT_TRUE(has(one, "locality GPU0 warning: NODE to ")) << "accepted " << accepted << ": " << one;
    EXPECT_FALSE(has(one, "inventory")) << "named once: " << one;
    const std::string all = said_of({0, 1, 2, 3}, accepted, 0);
    for (const char* nic : {"0", "1"})
      EXPECT_TRUE(has(all, "inventory mlx5_" + std::string(nic) + " warning: NODE to GPU" + nic)) << all;
    const std::string far = said_of({0, 1, 2, 3}, accepted, 1);
    EXPECT_TRUE(has(far, "SYS to ")) << far;
    EXPECT_FALSE(has(far, "NUMA node")) << "the node of the slot, not of the firmware: " << far;
  }
}

// Its NIC is in its place, so that it is known which of the two was moved.
TEST(Inventory, AGpuInAnotherSlotIsNamed) {
  Healthy node;
  node.now.inventory = recorded(node.now);
  for (size_t i = 0; i < node.now.topology.gpus.size(); ++i) {
    Gpu& gpu = node.now.topology.gpus[i];
    const std::string bus = "0000:" + std::string(1, static_cast<char>('a' + i));
    gpu.root = "pci" + bus + "0";
    gpu.bridges = {bus + "0:01.0"};
    gpu.pci = bus + "1:00.0";
  }
  const auto found = test::complaints_of(node.view(), {"inventory"});
  const Finding* first = find_where(found, [](const Finding& each) { return each.subject == "mlx5_0"; });
  ASSERT_NE(first, nullptr) << test::describe(found);
  EXPECT_TRUE(first->meaning.starts_with("GPU0 is in another slot than recorded (0000:13:00.0)")) << first->meaning;
}

// The agent records it; with a loss that no check reports it would record nothing any more.
TEST(Inventory, TheNodeOfAnotherSlotIsNoLoss) {
  Healthy node;
  Nic storage = node.now.topology.nics[0];
  storage.name = "storage";
  storage.device = 0x101d;
  storage.rdma.clear();
  storage.netdevs.clear();
  storage.pci = "0000:15:00.0";  // another port of the switch of GPU0
  node.now.topology.nics.push_back(storage);
  node.now.inventory = recorded(node.now);
  storage.root = "pci0000:b0";
  storage.bridges = {"0000:b0:01.0"};
  storage.pci = "0000:b1:00.0";
  storage.numa = storage.numa_above = 1;
  node.now.topology.nics.back() = storage;
  EXPECT_TRUE(
      contains(changes_since(*node.now.inventory, node.now), InventoryChange::Kind::numa, &InventoryChange::kind));
  EXPECT_TRUE(losses_since(node.now).empty());
  EXPECT_EQ(test::said(node.view(), {"inventory"}), "");
}

using RecordedInventory = test::OfCorpus;
// The agent writes it while nothing is missing, and never without a part that was there.
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

// -- Symmetry

// The second function of each card: mlx5_0f1 at .1.
Topology dual(int rails = 8) {
  Topology out = Healthy(rails).now.topology;
  std::vector<Nic> nics;
  for (const Nic& nic : out.nics) {
    nics.push_back(nic);
    Nic second = nic;
    second.pci.back() = '1';
    second.name += "f1";
    second.rdma = {second.name};
    nics.push_back(std::move(second));
  }
  out.nics = std::move(nics);
  return out;
}

// Two cards at each GPU, in place of two functions of one: 0000:94:00.1 becomes 0000:95:00.0.
Topology with_cards_of_their_own(Topology topology) {
  for (Nic& nic : topology.nics)
    if (nic.pci.back() == '1') nic.pci[6] = '5', nic.pci.back() = '0';
  return topology;
}

std::vector<std::string> places(const Topology& topology) {
  std::vector<std::string> out;
  for (const MissingPart& part : missing_parts(topology, {})) out.push_back(place_text(part));
  return out;
}

using Texts = std::vector<std::string>;

TEST(Symmetry, WholeMachinesLackNothing) {
  for (const int rails : {1, 2, 4, 8}) {
    EXPECT_EQ(places(dual(rails)), Texts{}) << rails;
    EXPECT_EQ(places(Healthy(rails).now.topology), Texts{}) << rails;
  }
}

TEST(Symmetry, AFunctionIsNamedByItsAddress) {
  Topology topology = dual();
  topology.nics.erase(topology.nics.begin() + 3);
  EXPECT_EQ(places(topology), Texts{"at 0000:24:00.1, beside mlx5_1"});
  const Pairing pairing = built_of(topology, {}).present_pairing;
  for (size_t gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(pairing.pairs[gpu].nics.size(), gpu == 1 ? 1 : 2) << gpu;
}

TEST(Symmetry, AGpuIsNamedByWhatIsBesideIt) {
  Topology topology = dual();
  topology.gpus.erase(topology.gpus.begin() + 2);
  const auto found = missing_parts(topology, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, MissingPart::Kind::gpu);
  EXPECT_EQ(place_text(found[0]), "at 0000:33:00.0, beside mlx5_2 and mlx5_2f1");
}

// One to four GPUs of either socket.
TEST(Symmetry, SeveralGpusOfASocketAreNamedByTheirNics) {
  const Topology whole = Healthy(8).now.topology;
  for (const size_t first : {0u, 4u})
    for (unsigned gone = 1; gone < 16; ++gone) {
      Topology topology = whole;
      std::vector<std::string> expected;
      for (size_t i = 4; i-- > 0;) {
        if ((gone >> i & 1U) == 0) continue;
        expected.insert(expected.begin(), whole.gpus[first + i].pci);
        topology.gpus.erase(topology.gpus.begin() + static_cast<long>(first + i));
      }
      std::vector<std::string> found;
      for (const MissingPart& part : missing_parts(topology, {})) {
        EXPECT_EQ(part.kind, MissingPart::Kind::gpu);
        EXPECT_EQ(part.certain, expected.size() <= 2) << "at most a third of the others";
        found.push_back(part.place.pci);
      }
      std::ranges::sort(found);
      EXPECT_EQ(found, expected) << first << " " << gone;
      Node node;
      node.topology = topology;
      const auto said = test::complaints_of({.now = node}, {"locality", "pairing", "pcie", "symmetry"});
      EXPECT_EQ(said.size(), expected.size() <= 2 ? expected.size() : 1u) << test::describe(said);
      for (const Finding& each : said) {
        EXPECT_EQ(each.id, "symmetry") << "nothing that is there is at fault: " << test::describe(each);
        EXPECT_EQ(each.status, expected.size() <= 2 ? Status::critical : Status::warning);
      }
      for (const std::string& pci : expected)
        EXPECT_TRUE(std::ranges::any_of(said, [&](const Finding& each) { return has(each.meaning, pci); })) << pci;
    }
}

TEST(Symmetry, MachinesThatAreSoldWithFewerGpusLackNone) {
  Topology topology = Healthy(8).now.topology;
  for (const long gpu : {7, 6, 1, 0}) topology.gpus.erase(topology.gpus.begin() + gpu);
  EXPECT_EQ(places(topology), Texts{}) << "two on each socket, and eight NICs";
  topology = Healthy(2).now.topology;
  topology.gpus.pop_back();
  EXPECT_EQ(places(topology), Texts{}) << "one GPU, and a NIC on each socket";
  topology = Healthy(8).now.topology;
  topology.gpus.erase(topology.gpus.begin() + 4, topology.gpus.end());
  for (size_t nic = 4; nic < 8; ++nic) topology.nics[nic].bridges = {topology.nics[nic].root + ":01.0"};
  EXPECT_EQ(places(topology), Texts{}) << "NICs in slots of the other socket";
}

// The NIC beside one GPU was replaced by one of another model.
TEST(Symmetry, NicsOfSeveralModelsCountAsEqualBesideGpus) {
  const Topology whole = Healthy(8).now.topology;
  for (size_t other = 0; other < 8; ++other)
    for (size_t gpu = 0; gpu < 7; ++gpu) {
      Topology topology = whole;
      topology.nics[other].device = 0x101d;
      topology.gpus.erase(topology.gpus.begin() + static_cast<long>(gpu),
                          topology.gpus.begin() + static_cast<long>(gpu) + 2);
      const bool is_alone = other == gpu || other == gpu + 1;  // then it may be a NIC for something else
      const auto found = missing_parts(topology, {});
      if (is_alone) continue;
      ASSERT_EQ(found.size(), 2u) << other << " " << gpu;
      EXPECT_EQ(found[0].place.pci, whole.gpus[gpu].pci);
      EXPECT_EQ(found[1].place.pci, whole.gpus[gpu + 1].pci);
      const Built built = built_of(topology, {});
      EXPECT_EQ(built.compute.size(), 8u);
      for (size_t i = 0; i < built.gpus; ++i) {
        const size_t was = i < gpu ? i : i + 2;
        EXPECT_EQ(built.present_pairing.pairs[i].nics, std::vector<size_t>{was}) << other << " " << gpu;
      }
    }
}

// The two incomplete places complete each other, but not to a machine with eight GPUs.
TEST(Symmetry, AGpuOfOnePlaceAndTheNicOfAnotherAreBothMissing) {
  const Topology whole = Healthy(8).now.topology;
  for (size_t gpu = 0; gpu < 8; ++gpu)
    for (size_t nic = 0; nic < 8; ++nic) {
      if (gpu == nic) continue;
      Topology topology = whole;
      topology.gpus.erase(topology.gpus.begin() + static_cast<long>(gpu));
      topology.nics.erase(topology.nics.begin() + static_cast<long>(nic));
      std::set<std::string> found;
      for (const MissingPart& part : missing_parts(topology, {})) found.insert(part.place.pci);
      EXPECT_EQ(found, (std::set<std::string>{whole.gpus[gpu].pci, whole.nics[nic].pci})) << gpu << " " << nic;
    }
}

// The switch above a GPU and its NIC did not come up.
TEST(FewPlaces, AGpuThatIsGoneWithItsNic) {
  for (size_t place = 0; place < 8; ++place) {
    Node node;
    node.topology = Healthy(8).now.topology;
    node.topology.gpus.erase(node.topology.gpus.begin() + static_cast<long>(place));
    node.topology.nics.erase(node.topology.nics.begin() + static_cast<long>(place));
    auto said = test::complaints_of({.now = node}, {"locality", "pairing", "pcie", "symmetry"});
    ASSERT_EQ(said.size(), 1u) << test::describe(said);
    EXPECT_TRUE(has(said[0].meaning, "A GPU and its NIC seem to be missing on socket " + std::to_string(place / 4)))
        << said[0].meaning;
    if (place % 4 == 3) continue;
    node.topology.gpus.erase(node.topology.gpus.begin() + static_cast<long>(place));
    node.topology.nics.erase(node.topology.nics.begin() + static_cast<long>(place));
    said = test::complaints_of({.now = node}, {"locality", "pairing", "pcie", "symmetry"});
    ASSERT_EQ(said.size(), 1u) << test::describe(said);
    EXPECT_TRUE(has(said[0].meaning, "2 GPUs and their NICs seem to be missing on socket ")) << said[0].meaning;
  }
}

// Eight root ports, each with a switch, a GPU and a NIC below it, except `empty`. Port 9 is another one for a slot.
void add_ports(test::Tree& tree, int empty) {
  for (const char* node : {"0", "1"})
    tree.file(std::string("sys/devices/system/node/node") + node + "/cpulist", std::string(node) + "\n");
  for (int i = 1; i <= 9; ++i) {
    const std::string digit = std::to_string(i), bus = "0000:" + digit, numa = i <= 4 ? "0" : "1";
    const std::string root = "pci" + bus + "0", port = bus + "0:01.0";
    const std::string above =
        test::add_pci(tree, {root, port, "0x8086", i == 9 ? "0x352b" : "0x352a", "0x060400", numa});
    tree.file(above + "/power_state", "D0\n");
    if (i == empty || i == 9) continue;
    const std::string upper = root + "/" + port + "/" + bus + "1:00.0/" + bus;
    test::add_pci(tree, {upper + "2:00.0", bus + "3:00.0", "0x10de", "0x2330", "0x030200", numa});
    const std::string nic =
        test::add_pci(tree, {upper + "2:01.0", bus + "4:00.0", "0x15b3", "0x1021", "0x020000", numa});
    const std::string rdma = "mlx5_" + digit;
    tree.link(nic + "/infiniband/" + rdma + "/device", "../..");
    tree.link("sys/class/infiniband/" + rdma, "../../" + nic.substr(4) + "/infiniband/" + rdma);
  }
}

TEST(FewPlaces, APortWithNothingBelowItIsNamed) {
  for (int empty = 0; empty <= 8; ++empty) {
    test::Tree tree;
    add_ports(tree, empty);
    auto kernel = open_kernel(tree.path());
    ASSERT_TRUE(kernel);
    const Node node = scan(*kernel);
    ASSERT_EQ(node.topology.gpus.size(), empty == 0 ? 8u : 7u);
    const auto said = test::complaints_of({.now = node}, {"symmetry", "locality", "pairing"});
    ASSERT_EQ(said.size(), empty == 0 ? 0u : 1u) << test::describe(said);
    if (empty == 0) continue;
    EXPECT_EQ(said[0].subject, "0000:" + std::to_string(empty) + "0:01.0");
    EXPECT_EQ(said[0].status, Status::critical);
  }
}

// Two switches on two sockets, each with two GPUs, except those in `lost`; `nics`: and with a NIC.
Node two_switches(const std::set<std::string>& lost, bool nics) {
  test::Tree tree;
  for (const std::string digit : {"1", "2"}) {
    const std::string node = digit == "1" ? "0" : "1", bus = "0000:" + digit;
    tree.file("sys/devices/system/node/node" + node + "/cpulist", node + "\n");
    const std::string root = "pci" + bus + "0", port = bus + "0:01.0", upper = bus + "1:00.0";
    test::add_pci(tree, {root, port, "0x1014", "0x04c1", "0x060400", node});
    test::add_pci(tree, {root + "/" + port, upper, "0x10b5", "0x8725", "0x060400", node});
    const std::string above = root + "/" + port + "/" + upper;
    for (const std::string place : {"3", "4"}) {
      const std::string lower = bus + "2:0" + place + ".0", gpu = bus + place + ":00.0";
      test::add_pci(tree, {above, lower, "0x10b5", "0x8725", "0x060400", node});
      if (!lost.contains(gpu)) test::add_pci(tree, {above + "/" + lower, gpu, "0x10de", "0x1db1", "0x030200", node});
    }
    if (!nics) continue;
    test::add_pci(tree, {above, bus + "2:05.0", "0x10b5", "0x8725", "0x060400", node});
    test::add_pci(tree, {above + "/" + bus + "2:05.0", bus + "5:00.0", "0x15b3", "0x1019", "0x020700", node});
  }
  auto kernel = open_kernel(tree.path());
  EXPECT_TRUE(kernel);
  return scan(*kernel);
}

TEST(FewPlaces, AnEmptyPortOfASwitchIsThatOfAGpu) {
  const auto said = [](const std::set<std::string>& lost, bool nics = false) {
    return test::said({.now = two_switches(lost, nics)}, {"symmetry"});
  };
  EXPECT_EQ(said({}), "");
  EXPECT_EQ(said({"0000:14:00.0"}), "symmetry GPUs warning: 3 GPUs, and nothing below 0000:12:04.0\n");
  EXPECT_EQ(said({"0000:23:00.0"}, true), "symmetry GPUs warning: 3 GPUs, and nothing below 0000:22:03.0\n");
  EXPECT_EQ(said({"0000:13:00.0", "0000:23:00.0"}), "") << "two GPUs in four slots";
  EXPECT_EQ(said({"0000:13:00.0", "0000:14:00.0"}), "") << "one socket";
}

// "It was GPU5" counts the GPUs that are missing, too.
TEST(Symmetry, AMissingGpuHasTheNumberThatItHad) {
  for (size_t first = 0; first < 8; ++first)
    for (size_t second = first + 1; second < 8; ++second) {
      Node node;
      node.topology = Healthy(8).now.topology;
      std::map<std::string, std::string> expected;
      for (const size_t gpu : {second, first}) {
        expected[node.topology.gpus[gpu].pci] = "It was GPU" + std::to_string(gpu) + ";";
        node.topology.gpus.erase(node.topology.gpus.begin() + static_cast<long>(gpu));
      }
      const auto said = test::complaints_of({.now = node}, {"symmetry"});
      ASSERT_EQ(said.size(), 2u) << test::describe(said);
      for (const Finding& each : said) EXPECT_TRUE(has(each.meaning, expected.at(each.subject))) << each.meaning;
    }
}

// The driver of NVIDIA has GPUs that the /sys of a container does not show: they are not missing, and another one is.
TEST(Symmetry, AHiddenGpuHidesNoMissingOne) {
  Node node;
  node.topology = Healthy(8).now.topology;
  const std::string hidden = node.topology.gpus[5].pci, missing = node.topology.gpus[1].pci;
  node.topology.gpus.erase(node.topology.gpus.begin() + 5);
  node.topology.hidden_gpus = {hidden};
  auto said = test::complaints_of({.now = node}, {"symmetry"});
  ASSERT_EQ(said.size(), 1u) << test::describe(said);
  EXPECT_TRUE(said[0].subject == "GPUs" && has(said[0].observed, hidden)) << test::describe(said);
  node.topology.gpus.erase(node.topology.gpus.begin() + 1);
  said = test::complaints_of({.now = node}, {"symmetry"});
  ASSERT_EQ(said.size(), 2u) << test::describe(said);
  EXPECT_TRUE(contains(said, missing, &Finding::subject)) << test::describe(said);
}

TEST(Symmetry, TwoFaultsAreBothNamed) {
  Topology topology = dual();
  topology.nics.erase(topology.nics.begin() + 9);
  topology.gpus.erase(topology.gpus.begin());
  EXPECT_EQ(places(topology), (Texts{"at 0000:54:00.1, beside mlx5_4", "at 0000:13:00.0, beside mlx5_0 and mlx5_0f1"}));
}

// Four switches, each with two GPUs and four NICs: with a fault on each of two, two are whole.
TEST(Symmetry, TwoOfFourPlacesMayLackDifferentParts) {
  Topology whole;
  for (int place = 0; place < 4; ++place)
    for (int slot = 1; slot <= 6; ++slot) {
      const std::string bus = "0000:" + std::to_string(place + 1);
      PciDevice device{.pci = bus + std::to_string(slot + 2) + ":00.0",
                       .numa = place / 2,
                       .bridges = {bus + "2:0" + std::to_string(slot) + ".0", bus + "1:00.0", bus + "0:01.0"},
                       .root = "pci" + bus + "0",
                       .link = {}};
      device.vendor = slot <= 2 ? 0x10de : 0x1d0f;
      device.device = slot <= 2 ? 0x2335 : 0xefa2;
      if (slot <= 2) whole.gpus.push_back(Gpu{device, "GPU" + std::to_string(whole.gpus.size()), {}});
      else whole.nics.push_back(Nic{device, {}, {"efa" + device.pci}, "efa" + device.pci});
    }
  EXPECT_EQ(places(whole), Texts{});
  Topology topology = whole;
  topology.gpus.erase(topology.gpus.begin() + 5);
  topology.nics.erase(topology.nics.begin() + 1);
  EXPECT_EQ(missing_parts(topology, {}).size(), 2u);
  topology.nics.erase(topology.nics.begin() + 6);
  EXPECT_EQ(missing_parts(topology, {}).size(), 0u) << "one of four places is whole: nothing is known";
}

TEST(Symmetry, AGpuThatLosesAllItsNicsTakesNoneFromTheOthers) {
  Topology lost = dual();
  lost.nics.erase(lost.nics.begin() + 6, lost.nics.begin() + 8);
  const Pairing pairing = built_of(lost, {}).present_pairing;
  for (size_t gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(pairing.pairs[gpu].nics.size(), gpu == 3 ? 1u : 2u);
  EXPECT_EQ(pairing.pairs[3].shared_by, 2u);
  Node node;
  node.topology = lost;
  const auto found = test::complaints_of({.now = node}, {"locality", "pairing", "symmetry"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject, "GPU3");
  for (const std::string& place : places(lost)) EXPECT_TRUE(has(found[0].meaning, place)) << found[0].meaning;
  EXPECT_EQ(places(lost).size(), 2u);
}

TEST(Symmetry, AnRdmaDeviceIsMissed) {
  Topology topology = dual();
  topology.nics[5].rdma.clear();
  const auto found = missing_parts(topology, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, MissingPart::Kind::rdma);
  EXPECT_EQ(found[0].nic, 5u);
}

TEST(Symmetry, EvenLossesAreMissed) {
  Topology topology = dual();
  for (const size_t nic : {3u, 13u}) topology.nics[nic].rdma.clear();  // one on each socket
  EXPECT_EQ(missing_parts(topology, {}).size(), 2u);
  Topology alone = Healthy(8).now.topology;
  for (Nic& nic : alone.nics) nic.bridges.resize(1), nic.bridges[0] = nic.root + "n", nic.root += "n";
  for (const size_t nic : {1u, 5u}) alone.nics[nic].rdma.clear();
  EXPECT_EQ(missing_parts(alone, {}).size(), 2u) << "six of eight, for eight GPUs";
  alone.nics.push_back(alone.nics[1]);
  alone.nics.push_back(alone.nics[5]);
  alone.nics[8].pci = "0000:e4:00.0", alone.nics[9].pci = "0000:f4:00.0";
  for (const size_t nic : {1u, 5u}) alone.nics[nic].rdma = {"mlx5_" + std::to_string(nic)};
  EXPECT_TRUE(missing_parts(alone, {}).empty()) << "eight of ten: two are for storage";
  for (const size_t lost : {3u, 4u, 7u}) {
    Topology beside = Healthy(8).now.topology;
    for (size_t i = 0; i < lost; ++i) beside.nics[i].rdma.clear();
    EXPECT_EQ(missing_parts(beside, {}).size(), lost) << "each GPU has a NIC on its switch";
  }
}

// Half of the NICs have lost their RDMA devices.
TEST(Symmetry, TheRdmaDevicesOfHalfOfTheNicsAreMissed) {
  Topology flat = Healthy(4).now.topology;  // each NIC below a root port of its own
  for (size_t i = 0; i < 4; ++i) {
    flat.nics[i].root += "n";
    flat.nics[i].bridges = {"0000:9" + std::to_string(i) + ":01.0"};
  }
  EXPECT_TRUE(missing_parts(flat, {}).empty());
  flat.nics[0].rdma.clear(), flat.nics[2].rdma.clear();
  EXPECT_EQ(missing_parts(flat, {}).size(), 2u);
  flat.gpus.pop_back();
  EXPECT_EQ(std::ranges::count(missing_parts(flat, {}), MissingPart::Kind::rdma, &MissingPart::kind), 0)
      << "a node has more NICs than GPUs";

  Topology shared = Healthy(8).now.topology;  // two GPUs and a NIC on each switch
  for (size_t i = 7; i < 8; i -= 2) {
    Gpu& gpu = shared.gpus[i];
    gpu.bridges = shared.gpus[i - 1].bridges;
    gpu.bridges.front().back() = '1';
    gpu.root = shared.gpus[i - 1].root;
    gpu.numa = shared.gpus[i - 1].numa;
    shared.nics.erase(shared.nics.begin() + static_cast<long>(i));
  }
  EXPECT_TRUE(missing_parts(shared, {}).empty());
  shared.nics[0].rdma.clear(), shared.nics[2].rdma.clear();
  EXPECT_EQ(missing_parts(shared, {}).size(), 2u);
}

TEST(Symmetry, ADataDirectFunctionProvesACard) {
  Topology topology = test::grace_server().topology;
  const auto add = [&](size_t i) {
    Nic direct = topology.nics[i];
    direct.device = 0x2100;
    direct.rdma.clear();
    direct.name = direct.pci = topology.gpus[i].pci.substr(0, 5) + "02:00.0";
    direct.bridges = topology.gpus[i].bridges;
    direct.root = topology.gpus[i].root;
    topology.nics[i].device = 0x1023;
    topology.nics[i].direct = direct;
    topology.nics.push_back(direct);
  };
  for (size_t i = 0; i < 4; ++i) add(i);
  EXPECT_EQ(places(topology), Texts{});
  topology.nics.erase(topology.nics.begin() + 1);
  const auto found = missing_parts(topology, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].below, topology.gpus[1].pci.substr(0, 5) + "02:00.0");
  const Pairing pairing = built_of(topology, {}).present_pairing;
  EXPECT_EQ(pairing.pairs[2].nics, std::vector<size_t>{1}) << "that of GPU2";
}

// As GB300 with ConnectX-8 at 2 x 400 Gb/s.
TEST(Symmetry, ALostFunctionLeavesTheOtherCardsTheirFunctions) {
  Topology topology = test::grace_server().topology;
  const std::vector<Nic> cards = std::exchange(topology.nics, {});
  for (size_t i = 0; i < 4; ++i) {
    PciDevice direct = topology.gpus[i];
    direct.vendor = cards[i].vendor;
    direct.device = 0x2100;
    direct.pci = topology.gpus[i].pci.substr(0, 5) + "02:00.0";
    for (const char* number : {"0", "1"}) {
      Nic& nic = topology.nics.emplace_back(cards[i]);
      nic.device = 0x1023;
      nic.pci.back() = *number;
      nic.rdma = {nic.name = cards[i].name + number};
      nic.direct = direct;
    }
  }
  for (const size_t lost : {0u, 2u, 6u}) {
    Topology now = topology;
    now.nics.erase(now.nics.begin() + static_cast<long>(lost));
    const auto found = missing_parts(now, {});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].place.pci, topology.nics[lost].pci);
    const Pairing pairing = built_of(now, {}).present_pairing;
    for (size_t gpu = 0; gpu < 4; ++gpu)
      EXPECT_EQ(pairing.pairs[gpu].nics.size(), gpu == lost / 2 ? 1u : 2u) << "GPU" << gpu << " without NIC " << lost;
  }
}

TEST(Symmetry, ADataDirectFunctionProvesAGpu) {
  Topology whole = test::grace_server().topology;
  for (size_t i = 0; i < 4; ++i) {
    PciDevice direct = whole.gpus[i];
    direct.vendor = whole.nics[i].vendor;
    direct.device = 0x2100;
    direct.pci = whole.gpus[i].pci.substr(0, 5) + "02:00.0";
    whole.nics[i].device = 0x1023;
    whole.nics[i].direct = direct;
  }
  EXPECT_EQ(places(whole), Texts{});
  for (const std::vector<size_t>& lost : {std::vector<size_t>{1}, {1, 3}, {0, 1}, {0, 1, 3}}) {
    Topology topology = whole;
    for (auto gpu = lost.rbegin(); gpu != lost.rend(); ++gpu)
      topology.gpus.erase(topology.gpus.begin() + static_cast<long>(*gpu));
    const auto found = missing_parts(topology, {});
    ASSERT_EQ(found.size(), lost.size());
    for (size_t i = 0; i < lost.size(); ++i) EXPECT_EQ(found[i].below, whole.gpus[lost[i]].root);
  }
}

TEST(Symmetry, AWholeRootOnAnotherNodeIsNamed) {
  for (const size_t root : {0u, 3u, 4u, 7u})
    for (const std::optional<int> numa : {std::optional<int>(root < 4 ? 1 : 0), std::optional<int>()}) {
      Topology topology = Healthy(8).now.topology;
      topology.gpus[root].numa = topology.nics[root].numa = numa;
      const auto odd = odd_numa_nodes(topology);
      ASSERT_EQ(odd.size(), 2u) << root;
      for (const OddNode& each : odd) {
        EXPECT_TRUE(each.whole_root);
        EXPECT_EQ(each.device.root, topology.gpus[root].root);
        if (numa) EXPECT_EQ(each.expected, 1 - *numa);
      }
    }
}

// A bus with a single device: a root port without a switch.
TEST(Symmetry, ASingleDeviceOnNoNodeIsNamed) {
  Topology topology = Healthy(4).now.topology;
  for (size_t i = 0; i < 4; ++i) topology.nics[i].root += "n";  // each on a bus of its own
  EXPECT_TRUE(odd_numa_nodes(topology).empty());
  topology.nics[1].numa.reset();
  const auto odd = odd_numa_nodes(topology);
  ASSERT_EQ(odd.size(), 1u);
  EXPECT_EQ(odd[0].name, topology.nics[1].name);
  EXPECT_FALSE(odd[0].expected);
  topology.nics[2].numa.reset();
  EXPECT_TRUE(odd_numa_nodes(topology).empty()) << "half of the NICs: the firmware may not report their nodes";
}

void add_storage_nic(Topology& topology) {
  topology.nics.push_back(topology.nics.front());
  Nic& nic = topology.nics.back();
  nic.name = nic.pci = "0000:a4:00.0";
  nic.root = "pci0000:a0";
  nic.bridges = {"0000:a0:01.0"};
}

// A NIC of the same model for storage, in a slot without a GPU.
TEST(Symmetry, StorageNicsLackNoGpu) {
  Topology topology = Healthy(8).now.topology;
  for (const char* digit : {"a", "b"}) {
    Nic nic = topology.nics.back();
    nic.name = nic.pci = std::string("0000:") + digit + "4:00.0";
    nic.rdma = {"storage"};
    nic.root = std::string("pci0000:") + digit + "0";
    nic.bridges = {std::string("0000:") + digit + "0:01.0"};
    topology.nics.push_back(nic);
  }
  EXPECT_EQ(places(topology), Texts{});
  topology = dual();
  add_storage_nic(topology);
  EXPECT_EQ(places(topology), Texts{}) << "nor a second port, if the boards are unknown";
  topology = with_cards_of_their_own(dual());
  add_storage_nic(topology);
  EXPECT_EQ(places(topology), Texts{}) << "nor the second NIC of a GPU's place";
}

// One on each NUMA node: they are no NICs of GPUs that are missing, and none of them is a lost NIC in the wrong slot.
TEST(Symmetry, StorageNicsOfEachNodeAreNoLostOnes) {
  Healthy node(8);
  Topology& topology = node.now.topology;
  for (const int numa : {0, 1}) {
    const std::string root = numa == 0 ? "a0" : "b0";
    Nic nic = topology.nics.back();
    nic.name = nic.pci = "0000:" + root.substr(0, 1) + "4:00.0";
    nic.rdma = {"storage" + std::to_string(numa)};
    nic.numa = nic.numa_above = numa;
    nic.root = "pci0000:" + root;
    nic.bridges = {"0000:" + root + ":01.0"};
    topology.nics.push_back(nic);
  }
  EXPECT_EQ(places(topology), Texts{});
  EXPECT_FALSE(built_of(topology, {}).odd_gpus);
  topology.nics.erase(topology.nics.begin() + 1);
  EXPECT_EQ(places(topology), Texts{"at 0000:24:00.0, beside GPU1"});
  const Built built = built_of(topology, {});
  EXPECT_EQ(built.pairing.pairs[1].nics, std::vector<size_t>{topology.nics.size()}) << "the lost one";
  for (const Pair& pair : built.present_pairing.pairs)
    for (const size_t nic : pair.nics)
      EXPECT_FALSE(topology.nics[nic].rdma[0].starts_with("storage")) << "no NIC for storage takes its place";
}

TEST(Symmetry, ADeviceInTheWrongSlotIsNotMissing) {
  Topology topology = Healthy(8).now.topology;
  topology.nics[1].bridges = {"0000:f7:01.0"};
  topology.nics[1].root = "pci0000:f7";
  EXPECT_EQ(places(topology), Texts{});
}

TEST(Symmetry, ANodeThatDoesNotFitIsNamed) {
  Topology topology = Healthy(8).now.topology;
  EXPECT_TRUE(odd_numa_nodes(topology).empty());
  topology.nics[2].numa = 1;
  auto odd = odd_numa_nodes(topology);
  ASSERT_EQ(odd.size(), 1u);
  EXPECT_EQ(odd[0].name, "mlx5_2");
  EXPECT_EQ(odd[0].expected, 0);
  for (size_t i = 0; i < 8; ++i) topology.nics[i].root += "n";  // each on a bus of its own
  odd = odd_numa_nodes(topology);
  ASSERT_EQ(odd.size(), 1u);
  EXPECT_EQ(odd[0].name, "mlx5_2");
}

// A hypervisor puts devices of several nodes onto one bus. The node of a bridge still counts.
TEST(Symmetry, TheNodesOnAFlatBusOfAGuestAreItsHosts) {
  Topology topology = test::cloud_guest().topology;
  for (Gpu& gpu : topology.gpus) gpu.root = "pci0000:00";
  for (Nic& nic : topology.nics) nic.root = "pci0000:00";
  EXPECT_TRUE(odd_numa_nodes(topology).empty());
  for (Nic& nic : topology.nics) nic.numa.reset();
  EXPECT_TRUE(odd_numa_nodes(topology).empty()) << "nor a NIC on no node";
  topology.gpus[7].bridges = {"0000:00:05.0"};
  topology.gpus[7].numa_above = 0;
  ASSERT_EQ(odd_numa_nodes(topology).size(), 1U);
  topology = test::cloud_guest().topology;
  for (Gpu& gpu : topology.gpus) gpu.root = "pci0000:00", gpu.numa = 0;
  for (Nic& nic : topology.nics) nic.root = "pci0000:00", nic.numa = 0;
  topology.gpus[7].numa = 1;
  EXPECT_TRUE(odd_numa_nodes(topology).empty());
  topology.hypervisor.clear();
  EXPECT_FALSE(odd_numa_nodes(topology).empty()) << "real hardware";
}

// Two devices below one root port do not show which of them is wrong; the bridge above them does.
TEST(Symmetry, ADeviceIsOnTheNodeOfTheBridgeAboveIt) {
  Topology topology = Healthy(2).now.topology;
  for (Gpu& gpu : topology.gpus) gpu.numa_above = gpu.numa;
  for (Nic& nic : topology.nics) nic.numa_above = nic.numa;
  EXPECT_TRUE(odd_numa_nodes(topology).empty());
  topology.gpus[0].numa = 1 - *topology.gpus[0].numa;
  const auto odd = odd_numa_nodes(topology);
  ASSERT_EQ(odd.size(), 1u);
  EXPECT_EQ(odd[0].name, "GPU0");
  EXPECT_EQ(odd[0].expected, *topology.gpus[0].numa_above);
}

// The buses of one switch are numbered the other way round: the address that the others suggest is the NIC's.
TEST(Symmetry, AnAddressInUseIsNotThatOfAMissingPart) {
  Topology topology = Healthy(4).now.topology;
  std::swap(topology.gpus[0].pci, topology.nics[0].pci);
  topology.gpus.erase(topology.gpus.begin());
  ASSERT_EQ(places(topology).size(), 1u);
  EXPECT_TRUE(places(topology)[0].starts_with("below ")) << places(topology)[0];
}

TEST(FewPlaces, TheOnlyFunctionWithoutAnRdmaDevice) {
  Topology topology = dual(1);
  const auto found = [&] { return only_without_rdma(topology, topology.nics[0]); };
  EXPECT_EQ(found(), std::nullopt);
  topology.nics[1].rdma.clear();
  topology.nics[1].netdevs = {"eth1"};
  EXPECT_EQ(found(), 1u);
  EXPECT_EQ(places(topology).size(), 1u);
  topology.nics[0].bond = "bond0";
  EXPECT_EQ(found(), std::nullopt) << "a bond has one RDMA device";
  topology.nics[0].bond.clear();
  topology.nics[0].rdma = {"mlx5_bond_0"};
  EXPECT_EQ(found(), std::nullopt) << "a bond in a container";
  topology.nics[0].rdma = {"mlx5_0"};
  topology.nics[1].netdevs.clear();
  EXPECT_EQ(found(), std::nullopt) << "the other half of a multi-PF netdev";
}

TEST(FewPlaces, ACardHasFunctionZero) {
  Topology topology = dual(2);
  Topology second = topology;
  topology.nics.erase(topology.nics.begin() + 2);
  EXPECT_EQ(places(topology), Texts{"at 0000:24:00.0, beside mlx5_1f1"});
  second.nics.erase(second.nics.begin() + 3);
  EXPECT_EQ(places(second), Texts{}) << "one chip is sold with one port and with two";
}

TEST(FewPlaces, SevenGpusAreOneOfEightShort) {
  Topology topology = Healthy(8).now.topology;
  EXPECT_FALSE(odd_gpus(topology, compute_nics(topology, {})));
  topology.gpus.pop_back();
  const auto odd = odd_gpus(topology, compute_nics(topology, {}));
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->whole, 8u);
  EXPECT_TRUE(has(odd->where, "beside GPU4, GPU5, GPU6")) << odd->where;
  topology.gpus[4].numa = topology.gpus[0].numa;
  EXPECT_EQ(odd_gpus(topology, compute_nics(topology, {}))->where, "in this machine")
      << "five and two: either may lack one";
  topology.gpus.resize(3);
  EXPECT_FALSE(odd_gpus(topology, compute_nics(topology, {}))) << "servers with three are sold";
}

TEST(FewPlaces, ThreeGpusBesideFourCardsAreOneOfFourShort) {
  Topology topology = Healthy(4).now.topology;
  EXPECT_FALSE(odd_gpus(topology, compute_nics(topology, {})));
  topology.gpus.pop_back();
  const auto odd = odd_gpus(topology, compute_nics(topology, {}));
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->whole, 4u);
  EXPECT_EQ(odd->observed + " " + odd->where, "3 GPUs: 2 on socket 0, 1 on socket 1 on socket 1, beside GPU2");
  Topology four_sockets = test::grace_server().topology;
  four_sockets.gpus.pop_back();
  EXPECT_TRUE(odd_gpus(four_sockets, compute_nics(four_sockets, {})));
  for (Nic& nic : topology.nics) nic.numa = 1;
  EXPECT_FALSE(odd_gpus(topology, compute_nics(topology, {}))) << "all slots for NICs are on one socket";
  Topology eight = Healthy(8).now.topology;
  eight.gpus.erase(eight.gpus.begin() + 6);
  eight.gpus.erase(eight.gpus.begin() + 1);
  ASSERT_TRUE(odd_gpus(eight, compute_nics(eight, {}))) << "one on each socket";
  EXPECT_EQ(odd_gpus(eight, compute_nics(eight, {}))->whole, 8u);
  for (const size_t gpu : {4u, 0u}) eight.gpus.erase(eight.gpus.begin() + static_cast<long>(gpu));
  EXPECT_FALSE(odd_gpus(eight, compute_nics(eight, {}))) << "four with two cards each";
  Topology two = Healthy(2).now.topology;
  two.gpus.pop_back();
  EXPECT_FALSE(odd_gpus(two, compute_nics(two, {}))) << "one GPU and a NIC on each socket";
}

// "0000:17:00.0" -> "rail/plane", in PCI order.
std::string rails(const Topology& topology) {
  std::string out;
  for (const auto& [pci, at] : rails_of(topology, {}))
    out += (out.empty() ? "" : " ") + std::to_string(at.rail) + (at.plane ? "/" + std::to_string(*at.plane) : "");
  return out;
}

TEST(Rails, AreTheGpusOfTheNics) {
  EXPECT_EQ(rails(Healthy(8).now.topology), "0 1 2 3 4 5 6 7");
  EXPECT_EQ(rails(dual(4)), "0/0 0/1 1/0 1/1 2/0 2/1 3/0 3/1");
  Topology lost = dual(4);
  lost.nics.erase(lost.nics.begin() + 2, lost.nics.begin() + 4);
  EXPECT_TRUE(rails(lost).starts_with("0/0 0/1 ") && rails(lost).ends_with(" 2/0 2/1 3/0 3/1"))
      << "the others keep their numbers: " << rails(lost);
}

TEST(Rails, AreCountedWhereGpusShareNicsOrThereAreNone) {
  Topology shared = Healthy(8).now.topology;
  for (size_t nic = 8; nic-- > 0;)
    if (nic % 2 == 1) shared.nics.erase(shared.nics.begin() + static_cast<long>(nic));
  EXPECT_EQ(rails(shared), "0 1 2 3");
  Topology alone = dual(4);
  alone.gpus.clear();
  for (Nic& nic : alone.nics) nic.card = nic.pci.substr(0, 10);
  EXPECT_EQ(rails(alone), "0/0 0/1 1/0 1/1 2/0 2/1 3/0 3/1");
  EXPECT_EQ(rails({}), "");
}

}  // namespace
}  // namespace fabric
