// SPDX-License-Identifier: Apache-2.0
// The description of a machine in /sys, or in an hwloc XML file: PCI devices, links and NUMA nodes; GPUs by their
// drivers; cards and CPUs. Broken and impossible trees cost themselves only.
#include "node/topology.h"

#include "kernel/kernel.h"
#include "kernel/pci/pci.h"
#include "node/gpu.h"
#include "node/machine.h"
#include "node/topology_xml.h"
#include "support/test.h"
#include "support/tree.h"

// hwloc 2.9 does not free the objects of a file that ends early; the program reads one file and ends.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhwloc"; }

namespace fabric {
namespace {

using test::add_pci;
using test::has;
using test::topology_of;
using test::Tree;

TEST(PciAddress, Parses) {
  EXPECT_EQ(pci::parse_address("0000:17:1f.7"), (pci::FunctionAddress{0, 0x17, 0x1f, 7}));
  EXPECT_EQ(pci::parse_address("10000:e1:00.0"), (pci::FunctionAddress{0x10000, 0xe1, 0, 0})) << "VMD";
  for (const char* text :
       {"", "0000:17:00", "17:00.0", "0000:17:00.0x", "0000:1g:00.0", "000000000:17:00.0", "0x00:17:00.0", "mlx5_0"})
    EXPECT_FALSE(pci::parse_address(text)) << text;
}

TEST(PciAddress, OrdersByNumber) {
  EXPECT_TRUE(pci::address_less("0000:9f:00.0", "0000:a1:00.0"));
  EXPECT_TRUE(pci::address_less("fffe:00:00.0", "10000:00:00.0"));
  EXPECT_TRUE(pci::address_less("0000:00:00.0", "no address"));
  EXPECT_FALSE(pci::address_less("0000:00:00.0", "0000:00:00.0"));
}

TEST(PciPlace, FromResolvedPath) {
  const auto place = pci::parse_location("sys/devices/pci0000:20/0000:20:01.0/0000:21:00.0/net/eth0");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->pci, "0000:21:00.0");
  EXPECT_EQ(place->root, "pci0000:20");
  EXPECT_EQ(place->folder, "sys/devices/pci0000:20/0000:20:01.0/0000:21:00.0");
  EXPECT_EQ(place->bridges, (std::vector<std::string>{"0000:20:01.0"}));
  EXPECT_EQ(place->below, 2u);
}

TEST(PciPlace, NestedAndUnusualRoots) {
  const auto vmd = pci::parse_location("sys/devices/pci0000:00/0000:00:0e.0/pci10000:00/10000:00:02.0/10000:01:00.0");
  ASSERT_TRUE(vmd);
  EXPECT_EQ(vmd->root, "pci10000:00");
  EXPECT_EQ(vmd->bridges, (std::vector<std::string>{"10000:00:02.0"}));
  const auto hyperv =
      pci::parse_location("sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/guid/pci0001:00/0001:00:00.0");
  ASSERT_TRUE(hyperv);
  EXPECT_EQ(hyperv->root, "pci0001:00");
  EXPECT_TRUE(hyperv->bridges.empty());
  EXPECT_FALSE(pci::parse_location("sys/devices/virtual/net/lo"));
  EXPECT_FALSE(pci::parse_location("sys/devices/pci0000:00"));
  EXPECT_FALSE(pci::parse_location("sys/devices/0000:00:01.0")) << "no root bus, no place in a tree";
}

TEST(PciLink, WordsOfSysfs) {
  EXPECT_EQ(pci::parse_link_speed("32.0 GT/s PCIe\n"), 32.0);
  EXPECT_EQ(pci::parse_link_speed("2.5 GT/s"), 2.5);
  for (const char* text : {"Unknown", "Unknown speed", "", "32.0", "-1 GT/s PCIe", "inf GT/s PCIe"})
    EXPECT_FALSE(pci::parse_link_speed(text)) << text;
  EXPECT_EQ(pci::parse_link_width("16\n"), 16u);
  for (const char* text : {"0", "63", "255", "", "x16"}) EXPECT_FALSE(pci::parse_link_width(text)) << text;
}

TEST(PciLink, AllOnesIsADeviceThatDoesNotAnswer) {
  Tree tree;
  tree.file("f/max_link_speed", "64.0 GT/s PCIe\n").file("f/current_link_speed", "Unknown\n");
  tree.file("f/current_link_width", "63\n");
  EXPECT_TRUE(pci::read_link(tree.root(), "f").all_ones);
  tree.file("f/current_link_width", "0\n");
  EXPECT_FALSE(pci::read_link(tree.root(), "f").all_ones) << "a virtual function";
}

// Two nodes; a GPU and an RDMA NIC on one switch below pci0000:20, a GPU and a plain NIC on pci0000:60.
void two_socket_server(Tree& tree) {
  tree.file("sys/devices/system/node/node0/cpulist", "0-3\n").file("sys/devices/system/node/node1/cpulist", "4-7\n");
  const std::string switched = "pci0000:20/0000:20:01.0/0000:21:00.0";
  const auto gpu = add_pci(tree, {switched + "/0000:22:00.0", "0000:23:00.0", "0x10de", "0x2330", "0x030200", "0"});
  tree.file(gpu + "/current_link_speed", "32.0 GT/s PCIe\n").file(gpu + "/current_link_width", "16\n");
  tree.file(gpu + "/max_link_speed", "Unknown\n").file(gpu + "/max_link_width", "255\n");
  tree.file("proc/driver/nvidia/gpus/0000:23:00.0/information", "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 1\n");
  const auto nic = add_pci(tree, {switched + "/0000:22:01.0", "0000:24:00.0"});
  tree.link("sys/class/infiniband/mlx5_0/device", "../../../" + nic.substr(4));
  tree.link("sys/class/net/ens24np0/device", "../../../" + nic.substr(4));
  add_pci(tree, {"pci0000:60/0000:60:01.0", "0000:61:00.0", "0x1002", "0x74a1", "0x120000", "1"});
  const auto plain = add_pci(tree, {"pci0000:60/0000:60:02.0", "0000:62:00.0", "0x8086", "0x1521", "0x020000", "1"});
  tree.link("sys/class/net/eno1/device", "../../../" + plain.substr(4));
  add_pci(tree, {"pci0000:00/0000:00:1c.0", "0000:04:00.0", "0x1a03", "0x2000", "0x030000", "0"});
}

TEST(Topology, FromSysfs) {
  Tree tree;
  two_socket_server(tree);
  const Topology topology = topology_of(tree);
  ASSERT_EQ(topology.gpus.size(), 2u);
  ASSERT_EQ(topology.nics.size(), 2u);
  const Gpu& gpu = topology.gpus[0];
  EXPECT_EQ(gpu.name, "GPU0");
  EXPECT_EQ(gpu.model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.numa, 0);
  EXPECT_EQ(gpu.link.speed, 32.0);
  EXPECT_EQ(gpu.link.width, 16u);
  EXPECT_FALSE(gpu.link.max_speed || gpu.link.max_width);
  const Nic& nic = topology.nics[0];
  EXPECT_EQ(nic.name, "mlx5_0");
  EXPECT_EQ(nic.netdevs, (std::vector<std::string>{"ens24np0"}));
  EXPECT_EQ(path_class(gpu, nic), PathClass::PIX);
  EXPECT_EQ(path_class(topology.gpus[1], nic), PathClass::SYS);
  EXPECT_EQ(path_class(topology.gpus[1], topology.nics[1]), PathClass::PHB);
  EXPECT_EQ(topology.numa_cpus, (std::map<int, std::string>{{0, "0-3"}, {1, "4-7"}}));
}

TEST(Topology, NumaNodeOnlyWhereItIsKnown) {
  Tree tree;
  bool assumed = false;
  const auto numa_of = [&](const char* file) {
    add_pci(tree, {"pci0000:00", "0000:00:01.0", "0x15b3", "0x1021", "0x020000", file});
    const Nic nic = topology_of(tree).nics.at(0);
    assumed = nic.numa_assumed;
    return nic.numa;
  };
  EXPECT_EQ(numa_of("-1"), 0) << "a kernel without NUMA has one node";
  tree.file("sys/devices/system/node/node3/cpulist", "0-3\n");
  EXPECT_EQ(numa_of("3"), 3);
  EXPECT_FALSE(assumed);
  EXPECT_EQ(numa_of("-1"), 3) << "the only node";
  EXPECT_TRUE(assumed);
  tree.file("sys/devices/system/node/node4/cpulist", "4-7\n").file("sys/devices/system/node/node252/cpulist", "\n");
  EXPECT_EQ(numa_of("-1"), std::nullopt);
  EXPECT_FALSE(assumed);
  EXPECT_EQ(numa_of("4"), 4);
  EXPECT_EQ(numa_of("252"), std::nullopt) << "memory of a GPU";
}

TEST(Topology, ClassDevicesBelowOtherBuses) {
  Tree tree;
  const auto virtio = add_pci(tree, {"pci0000:00", "0000:00:03.0", "0x1af4", "0x1000", "0x020000", "-1"});
  tree.folder(virtio + "/virtio1").link("sys/class/net/ens3/device", "../../../" + virtio.substr(4) + "/virtio1");
  const auto usb = add_pci(tree, {"pci0000:00", "0000:00:14.0", "0x8086", "0xa36d", "0x0c0330", "-1"});
  tree.folder(usb + "/usb1/1-4/1-4:2.0")
      .link("sys/class/net/idrac/device", "../../../" + usb.substr(4) + "/usb1/1-4/1-4:2.0");
  tree.folder("sys/devices/virtual/net/lo").link("sys/class/net/lo", "../../devices/virtual/net/lo");
  const Topology topology = topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 1u) << "a USB NIC does not make its controller a NIC";
  EXPECT_EQ(topology.nics[0].name, "ens3");
}

TEST(Topology, FunctionsThatOnlyAClassDeviceNames) {
  Tree tree;
  tree.folder("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0");
  tree.link("sys/class/infiniband/mlx5_0/device", "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0");
  const Topology topology = topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 1u);
  EXPECT_EQ(topology.nics[0].bridges, (std::vector<std::string>{"0000:40:01.0"}));
}

TEST(Topology, TheFunctionsOfACardAreOneCard) {
  Nic nic;
  nic.pci = "0000:17:00.1";
  EXPECT_EQ(card_of(nic), "0000:17:00");
  nic.card = "b83f:d203:0012:3450";
  EXPECT_EQ(card_of(nic), nic.card);
  Nic missing;
  missing.pci = "pci0000:20~";
  EXPECT_EQ(card_of(missing), missing.pci) << "two missing cards are not one";
}

TEST(Topology, VirtualFunctionsOfGpusBelongToGuests) {
  Tree tree;
  two_socket_server(tree);
  const auto vf = add_pci(
      tree, {"pci0000:20/0000:20:01.0/0000:21:00.0/0000:22:00.0", "0000:23:00.4", "0x10de", "0x2330", "0x030200", "0"});
  tree.link(vf + "/physfn", "../0000:23:00.0");
  EXPECT_EQ(topology_of(tree).gpus.size(), 2u);
}

TEST(Topology, BrokenTreesCostThemselvesOnly) {
  Tree tree;
  two_socket_server(tree);
  tree.link("sys/bus/pci/devices/0000:99:00.0", "0000:99:00.0").link("sys/bus/pci/devices/0000:98:00.0", "../nowhere");
  tree.link("sys/class/net/loop/device", "../loop/device").link("sys/class/infiniband/gone/device", "../../none");
  tree.file("sys/bus/pci/devices/garbage/class", "0x02zzzz").file("sys/bus/pci/devices/0000:97:00.0/class", "0x020000");
  tree.file("sys/devices/system/node/nodeX/cpulist", "9");
  const Topology topology = topology_of(tree);
  EXPECT_EQ(topology.gpus.size(), 2u);
  EXPECT_EQ(topology.nics.size(), 2u);
}

// A captured tree may be anybody's: a bridge below itself, a path through a loop of links, a class link that leaves the
// tree.
TEST(Topology, ImpossibleTreesEnd) {
  Tree tree;
  two_socket_server(tree);
  const std::string twice = "sys/devices/pci0000:90/0000:90:01.0/0000:90:01.0/0000:90:01.0/0000:92:00.0";
  tree.file(twice + "/class", "0x020000\n").file(twice + "/vendor", "0x15b3\n").file(twice + "/device", "0x1021\n");
  tree.link("sys/bus/pci/devices/0000:92:00.0", "../../../../" + twice);
  tree.link("sys/devices/pci0000:90/0000:90:02.0", "../pci0000:90")
      .link("sys/bus/pci/devices/0000:93:00.0",
            "../../../devices/pci0000:90/0000:90:02.0/0000:90:02.0/0000:90:02.0/0000:93:00.0");
  tree.link("sys/class/net/away/device", "../../../../../../../../../../etc")
      .link("sys/class/infiniband/one", "two")
      .link("sys/class/infiniband/two", "one");
  std::string deep = "sys/devices/pci0000:a0";
  for (int i = 0; i < 80; ++i) deep += "/0000:a1:" + std::string(i % 2 == 0 ? "00" : "01") + ".0";
  tree.file(deep + "/class", "0x030200\n")
      .file(deep + "/vendor", "0x10de\n")
      .link("sys/bus/pci/devices/0000:a1:01.0", "../../../../" + deep);
  const Topology topology = topology_of(tree);
  EXPECT_EQ(topology.gpus.size(), 3u);
  for (const Gpu& gpu : topology.gpus) EXPECT_LE(gpu.bridges.size(), 80u);
  for (const Nic& nic : topology.nics) {
    EXPECT_NE(nic.name, "away");
    for (const Gpu& gpu : topology.gpus) path_class(gpu, nic);
  }
}

TEST(Topology, MoreThanAnyMachineHasIsOneClearError) {
  Topology topology;
  topology.gpus.resize(kMostGpus + 1);
  const auto gpus = bounded(topology);
  ASSERT_FALSE(gpus);
  EXPECT_EQ(gpus.error().text(), "1025 GPUs and 0 NICs: Value too large for defined data type (EOVERFLOW)");
  topology.gpus.resize(16);
  topology.nics.resize(10'000);
  EXPECT_TRUE(bounded(topology)) << "virtual functions for guests";
  topology.gpus.resize(200);
  EXPECT_EQ(bounded(topology).error().code, EOVERFLOW);
}

TEST(Topology, FunctionsForGuestsAndMembersOfBonds) {
  Tree tree;
  const auto pf = add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:21:00.0"});
  const auto vf = add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:21:00.2", "0x15b3", "0x101e"});
  tree.link(vf + "/physfn", "../0000:21:00.0");
  tree.folder("sys/devices/virtual/net/bond0/bonding").folder("sys/devices/virtual/net/br0/bridge");
  const auto add = [&](const std::string& name, const std::string& folder, const char* master) {
    tree.folder("sys/class/net/" + name).link("sys/class/net/" + name + "/device", "../../../../" + folder);
    tree.link("sys/class/net/" + name + "/master", "../../../devices/virtual/net/" + std::string(master));
  };
  add("ens1f0", pf, "bond0");
  add("ens1v0", vf, "br0");
  const Topology topology = topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 2u);
  EXPECT_EQ(topology.nics[0].bond, "bond0");
  EXPECT_FALSE(topology.nics[0].is_virtual_function());
  EXPECT_EQ(topology.nics[1].bond, "") << "a bridge is no bond";
  EXPECT_TRUE(topology.nics[1].is_virtual_function());
  EXPECT_EQ(topology.nics[0].card, topology.nics[1].card);
}

// The files of devlink port function and mlx5's sf/dev: an auxiliary device below the function (mlx5/core/sf/dev/dev.c
// of Linux 6.12).
TEST(Topology, SubfunctionsAreKnownWhoeverHasTheirDevices) {
  Tree tree;
  const auto with = add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:21:00.0"});
  const auto without = add_pci(tree, {"pci0000:20/0000:20:02.0", "0000:22:00.0"});
  const auto add = [&](const std::string& function, const std::string& name) {
    tree.folder(function + "/" + name)
        .link("sys/bus/auxiliary/devices/" + name, "../../../../" + function + "/" + name);
  };
  add(with, "mlx5_core.eth.0");
  add(with, "mlx5_core.sf.4");
  add(without, "mlx5_core.eth.1");
  tree.folder("sys/devices/virtual/broken")
      .link("sys/bus/auxiliary/devices/mlx5_core.sf.9", "../../../devices/virtual/broken");
  const Topology topology = topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 2u) << "a container has their netdevs and RDMA devices";
  EXPECT_TRUE(topology.nics[0].subfunctions);
  EXPECT_FALSE(topology.nics[1].subfunctions);
}

// rdma-core names a function's device by its place, and leaves a subfunction's the kernel's name.
TEST(Topology, ANicIsNamedByItsFunctionsDevice) {
  Tree tree;
  const auto nic = add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:21:00.0"});
  tree.folder(nic + "/mlx5_core.sf.4").link("sys/class/infiniband/rocep33s0/device", "../../../../" + nic);
  tree.link("sys/class/infiniband/mlx5_0/device", "../../../../" + nic + "/mlx5_core.sf.4");
  const Topology topology = topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 1u);
  EXPECT_EQ(topology.nics[0].name, "rocep33s0");
  EXPECT_EQ(topology.nics[0].rdma, (std::vector<std::string>{"rocep33s0", "mlx5_0"}));
}

// The folder of a class goes with its last device, and shows those of its own network namespace only.
TEST(Topology, AnRdmaDeviceInAContainerLeavesAnEmptyFolder) {
  Tree tree;
  for (const char* bus : {"1", "2", "3"})
    add_pci(tree, {std::string("pci0000:20/0000:20:0") + bus + ".0", std::string("0000:2") + bus + ":00.0"});
  const std::string folder = "sys/bus/pci/devices/0000:2";
  tree.link("sys/class/infiniband/mlx5_0/device", "../../../bus/pci/devices/0000:21:00.0");
  tree.folder(folder + "1:00.0/infiniband/mlx5_0").folder(folder + "2:00.0/infiniband");
  const Topology topology = topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 3u);
  EXPECT_FALSE(topology.nics[0].rdma_elsewhere);
  EXPECT_TRUE(topology.nics[1].rdma_elsewhere);
  EXPECT_FALSE(topology.nics[2].rdma_elsewhere) << "it has none";
  EXPECT_EQ(std::ranges::count_if(topology.nics, carries_rdma), 2);
}

// rdma system set netns exclusive: the class infiniband shows the devices of this namespace, infiniband_verbs all.
TEST(Topology, RdmaDevicesOfOtherNamespacesAreNamed) {
  Tree tree;
  std::vector<std::string> nics;
  for (const char* bus : {"1", "2", "3", "4"})
    nics.push_back(
        add_pci(tree, {std::string("pci0000:20/0000:20:0") + bus + ".0", std::string("0000:2") + bus + ":00.0"}));
  tree.link("sys/class/infiniband/mlx5_0/device", "../../../../" + nics[0]).folder(nics[0] + "/infiniband/mlx5_0");
  const auto verbs = [&](const std::string& name, const std::string& device, const std::string& parent) {
    tree.file("sys/class/infiniband_verbs/" + name + "/ibdev", device + "\n");
    tree.link("sys/class/infiniband_verbs/" + name + "/device", "../../../../" + parent);
  };
  tree.file("sys/class/infiniband_verbs/abi_version", "6\n");
  verbs("uverbs0", "mlx5_0", nics[0]);
  verbs("uverbs1", "mlx5_7", nics[1]);
  tree.folder(nics[1] + "/infiniband").folder(nics[1] + "/net");
  tree.folder(nics[2] + "/infiniband");  // a device without verbs for processes
  const std::string subfunction = nics[3] + "/mlx5_core.sf.4";
  tree.folder(subfunction + "/infiniband");
  tree.link("sys/bus/auxiliary/devices/mlx5_core.sf.4", "../../../../" + subfunction);
  const Topology topology = topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 4u);
  EXPECT_TRUE(topology.nics[0].elsewhere.empty());
  EXPECT_EQ(topology.nics[1].elsewhere, std::vector<std::string>{"mlx5_7"});
  EXPECT_TRUE(topology.nics[1].rdma_elsewhere && topology.nics[1].netdev_elsewhere);
  EXPECT_EQ(topology.nics[2].elsewhere, std::vector<std::string>{"0000:23:00.0"});
  EXPECT_FALSE(topology.nics[2].netdev_elsewhere) << "it has none";
  EXPECT_EQ(topology.nics[3].elsewhere, std::vector<std::string>{"mlx5_core.sf.4"});
  EXPECT_FALSE(topology.nics[3].rdma_elsewhere) << "its subfunction's";
}

// hwloc gives memory without CPUs those of the nodes near it.
TEST(Topology, MemoryOfCxlIsANodeWithoutCpus) {
  Tree tree;
  const std::string nodes = "sys/devices/system/node/node", cpus = "sys/devices/system/cpu/";
  tree.file(cpus + "online", "0-3\n").file(cpus + "possible", "0-3\n").file(cpus + "present", "0-3\n");
  tree.file("sys/devices/system/node/online", "0-2\n").file("sys/devices/system/node/possible", "0-2\n");
  const struct {
    int node;
    const char *list, *map;
  } cpus_of_nodes[]{{0, "0-1\n", "3\n"}, {1, "2-3\n", "c\n"}, {2, "\n", "0\n"}};
  for (const auto& [node, list, map] : cpus_of_nodes) {
    const std::string folder = nodes + std::to_string(node) + "/";
    tree.file(folder + "cpulist", list);
    tree.file(folder + "cpumap", map);
    tree.file(folder + "meminfo", "Node 0 MemTotal: 1000000 kB\n")
        .folder(folder + "access0/initiators/node" + std::to_string(node % 2));
  }
  for (const int cpu : {0, 1, 2, 3}) {
    const std::string topology = cpus + "cpu" + std::to_string(cpu) + "/topology/";
    tree.file(topology + "physical_package_id", std::to_string(cpu / 2) + "\n");
    tree.file(topology + "core_id", std::to_string(cpu) + "\n");
    for (const char* file : {"core_cpus", "thread_siblings"})
      tree.file(topology + file, std::to_string(1 << cpu) + "\n");
    for (const char* file : {"package_cpus", "core_siblings"}) tree.file(topology + file, cpu < 2 ? "3\n" : "c\n");
  }
  add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:21:00.0"});
  const Topology topology = topology_of(tree);
  EXPECT_TRUE(topology.differences.empty()) << topology.differences.front();
  EXPECT_EQ(topology.memory_nodes, std::vector<int>{2});
  EXPECT_EQ(topology.cores.size(), 4u);
  EXPECT_EQ(topology.numa_socket, (std::map<int, int>{{0, 0}, {1, 1}}));
}

TEST(Topology, HundredsOfFunctions) {
  Tree tree;
  char text[32];
  for (int i = 0; i < 400; ++i) {
    std::snprintf(text, sizeof text, "0000:%02x:%02x.%x", i / 256, i / 8 % 32, i % 8);
    add_pci(tree, {"pci0000:00", text, "0x15b3", "0x1021", i % 2 == 0 ? "0x020000" : "0x060400", "0"});
  }
  const Topology topology = topology_of(tree);
  EXPECT_EQ(topology.nics.size(), 200u);
  EXPECT_TRUE(std::is_sorted(topology.nics.begin(), topology.nics.end(),
                             [](const Nic& a, const Nic& b) { return pci::address_less(a.pci, b.pci); }));
}

TEST(Topology, NoSysfsIsAnErrorAnEmptyOneIsNot) {
  Tree tree;
  EXPECT_EQ(load_topology({.root = tree.root()}).error().code, ENOENT);
  tree.folder("sys/class/net");
  const Topology topology = topology_of(tree);
  EXPECT_TRUE(topology.gpus.empty() && topology.nics.empty());
}

// hwloc 2: one package, one node, a GPU and a NIC on one root port each of one host bridge.
constexpr std::string_view kXml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1024"/>
    <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3"/>
    <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
    <object type="Bridge" gp_index="5" bridge_type="0-1" depth="0" bridge_pci="0003:[00-09]">
      <object type="Bridge" gp_index="6" bridge_type="1-1" depth="1" bridge_pci="0003:[01-01]" pci_busid="0003:00:01.0" pci_type="0604 [8086:2030] [0000:0000] 04" pci_link_speed="0.0">
        <object type="PCIDev" gp_index="7" pci_busid="0003:01:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.0">
          <info name="PCIDevice" value="GH100"/>
        </object>
      </object>
      <object type="Bridge" gp_index="8" bridge_type="1-1" depth="1" bridge_pci="0003:[02-02]" pci_busid="0003:00:02.0" pci_type="0604 [8086:2031] [0000:0000] 04" pci_link_speed="0.0">
        <object type="PCIDev" gp_index="9" pci_busid="0003:02:00.0" pci_type="0200 [15b3:1021] [15b3:0023] 00" pci_link_speed="63.0">
          <object type="OSDev" gp_index="10" name="ens2np0" osdev_type="2"/>
          <object type="OSDev" gp_index="11" name="mlx5_0" osdev_type="3"/>
        </object>
      </object>
    </object>
  </object>
</topology>
)";

// Recorded by `capture`; sysfs is right where the two differ, and the difference is reported.
TEST(Topology, HwlocXmlOfACaptureThatIsDamagedOrOfAnotherMachine) {
  Tree tree;
  two_socket_server(tree);
  tree.file(kHwlocFile, "<topology");
  Topology topology = topology_of(tree);
  ASSERT_EQ(topology.differences.size(), 1u);
  EXPECT_EQ(topology.gpus.size(), 2u);
  EXPECT_TRUE(has(topology.differences[0], kHwlocFile)) << topology.differences[0];

  const auto function = add_pci(tree, {"pci0003:00/0003:00:01.0", "0003:02:00.0", "0x15b3", "0x1021"});
  tree.file("sys/devices/system/cpu/cpu0/topology/core_id", "0\n").file(kHwlocFile, kXml);
  topology = topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 3u);
  EXPECT_EQ(topology.nics[2].bridges, (std::vector<std::string>{"0003:00:01.0"}));
  EXPECT_EQ(topology.differences,
            (std::vector<std::string>{"NUMA nodes with CPUs: 1 by hwloc, 2 in /sys/devices/system/node",
                                      "0003:02:00.0: bridges 0003:00:02.0 by hwloc, 0003:00:01.0 in /sys"}));
  EXPECT_EQ(topology.nics[0].name, "mlx5_0") << "a function that hwloc lacks";
}

TEST(TopologyXml, FromHwloc) {
  Tree tree;
  tree.file("node.xml", kXml);
  const auto topology = load_topology_xml(tree.path() + "/node.xml");
  ASSERT_TRUE(topology) << topology.error().text();
  ASSERT_EQ(topology->gpus.size(), 1u);
  ASSERT_EQ(topology->nics.size(), 1u);
  const Nic& nic = topology->nics[0];
  EXPECT_EQ(topology->gpus[0].model, "GH100");
  EXPECT_EQ(nic.pci, "0003:02:00.0");
  EXPECT_EQ(nic.root, "pci0003:00");
  EXPECT_EQ(nic.bridges, (std::vector<std::string>{"0003:00:02.0"}));
  EXPECT_EQ(nic.name, "mlx5_0");
  EXPECT_EQ(nic.netdevs, (std::vector<std::string>{"ens2np0"}));
  EXPECT_EQ(nic.numa, 0);
  EXPECT_EQ(path_class(topology->gpus[0], nic), PathClass::PHB);
  EXPECT_EQ(topology->numa_cpus, (std::map<int, std::string>{{0, "0-1"}}));
}

TEST(TopologyXml, AnythingElseIsOneClearError) {
  Tree tree;
  const std::string file = tree.path() + "/x.xml";
  for (const std::string& text :
       {std::string(), std::string("not xml"), std::string("<topology"), std::string("<!-- open"),
        std::string("<topology version=\"2.0\"></topology>"), std::string("\0\xff<", 3)}) {
    tree.file("x.xml", text);
    const auto topology = load_topology_xml(file);
    ASSERT_FALSE(topology) << text;
    EXPECT_TRUE(has(topology.error().what, file));
  }
  EXPECT_EQ(load_topology_xml(tree.path() + "/none.xml").error().code, ENOENT);
  EXPECT_EQ(load_topology_xml(tree.path()).error().code, EISDIR);
}

TEST(TopologyXml, CutAnywhereItIsAnErrorAndNeverWorse) {
  Tree tree;
  const size_t whole = kXml.find("</topology>");
  for (size_t size = 0; size < whole; size += 23) {
    tree.file("cut.xml", kXml.substr(0, size));
    EXPECT_FALSE(load_topology_xml(tree.path() + "/cut.xml")) << size;
  }
}

// hwloc 2.9 is killed by it.
TEST(TopologyXml, WithoutASetItIsAnErrorAndNeverWorse) {
  Tree tree;
  for (const std::string_view set :
       {" cpuset=\"0x3\"", " complete_cpuset=\"0x3\"", " nodeset=\"0x1\"", " complete_nodeset=\"0x1\""}) {
    std::string text(kXml);
    text.erase(text.find(set, text.find("NUMANode")), set.size());
    tree.file("x.xml", text);
    const auto topology = load_topology_xml(tree.path() + "/x.xml");
    EXPECT_TRUE(topology || topology.error().what.find("/x.xml: ") != std::string::npos);
  }
}

// -- GPUs, cards and CPUs

TEST(GpuInformation, AsNvidiasDriverPrintsIt) {
  const auto said = gpu::parse_information(
      "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 18\nGPU UUID: \t GPU-8a1f2c3d-0000-1111-2222-333344445555\n"
      "Bus Location: \t 0000:18:00.0\nDevice Minor: \t 3\nGPU Excluded:\t No\n");
  EXPECT_EQ(said.model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(said.uuid, "GPU-8a1f2c3d-0000-1111-2222-333344445555");
  EXPECT_EQ(said.minor, 3u);
  EXPECT_FALSE(said.excluded);
  EXPECT_EQ(gpu::parse_information("GPU UUID: \t GPU-" + std::string(8, '?') + "-" + std::string(4, '?') + "\n").uuid,
            "")
      << "never opened";
  EXPECT_TRUE(gpu::parse_information("GPU Excluded: Yes").excluded);
  EXPECT_FALSE(gpu::parse_information("Device Minor: x\n:\n\n").minor);
}

TEST(GpuKfd, NodesOfOneFunctionHaveItsAddress) {
  // location_id: node 2 in bits 28-31, bus 0x0c, device 0, function 0
  const auto node = gpu::parse_kfd_properties(
      "cpu_cores_count 0\nsimd_count 304\nlocation_id 536874 x\nlocation_id 536873984\ndomain 1\ndrm_render_minor "
      "130\nunique_id 255\n");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->pci, "0001:0c:00.0");
  EXPECT_EQ(node->render_minor, 130u);
  EXPECT_EQ(node->unique_id, "00000000000000ff");
  EXPECT_FALSE(gpu::parse_kfd_properties("cpu_cores_count 64\nsimd_count 0\n")) << "a CPU";
}

std::string add_gpu_function(test::Tree& tree, const char* bus, const char* vendor, const char* device) {
  const std::string address = "0000:" + std::string(bus) + ":00.0";
  return test::add_pci(tree, {"pci0000:00/0000:00:01.0", address, vendor, device, "0x030200", "0"});
}

// The /sys of a container lacks a GPU that the driver of the host has.
TEST(GpuIdentify, AGpuThatTheDriverAloneHasIsHidden) {
  test::Tree tree;
  const auto inform = [&](const std::string& bus) {
    tree.file("proc/driver/nvidia/gpus/0000:" + bus + ":00.0/information", "Model: H100\nDevice Minor: 0\n");
  };
  for (const char* bus : {"17", "65"}) {
    add_gpu_function(tree, bus, "0x10de", "0x2330");
    inform(bus);
  }
  EXPECT_TRUE(test::topology_of(tree).hidden_gpus.empty());
  inform("b3");
  tree.file("proc/driver/nvidia/gpus/unknown/information", "");
  const Topology topology = test::topology_of(tree);
  EXPECT_EQ(topology.hidden_gpus, (std::vector<std::string>{"0000:b3:00.0"}));
  EXPECT_EQ(topology.gpus.size(), 2u);
  tree.remove("proc/driver/nvidia/gpus/0000:65:00.0");
  EXPECT_EQ(test::topology_of(tree).hidden_gpus.size(), 1u) << "a GPU without a driver is on the bus";
}

// It has neither the class of a network controller nor the ids of its model.
TEST(Topology, ANicThatDidNotStartItsFirmwareIsKnown) {
  test::Tree tree;
  test::add_pci(tree, {"pci0000:00/0000:00:01.0", "0000:34:00.0", "0x15b3", "0x0218", "0x058000", "0"});
  test::add_pci(tree, {"pci0000:00/0000:00:02.0", "0000:35:00.0", "0x15b3", "0x1021", "0x020000", "0"});
  test::add_pci(tree, {"pci0000:00/0000:00:03.0", "0000:36:00.0", "0x8086", "0x0218", "0x058000", "0"});
  const Topology topology = test::topology_of(tree);
  ASSERT_EQ(topology.in_recovery.size(), 1u);
  EXPECT_EQ(topology.in_recovery[0].pci, "0000:34:00.0");
  EXPECT_EQ(topology.in_recovery[0].bridges.front(), "0000:00:01.0");
  EXPECT_EQ(topology.nics.size(), 1u);
}

TEST(GpuIdentify, NvidiaInOrderOfAddressesWithoutTheExcluded) {
  test::Tree tree;
  for (const char* bus : {"17", "65", "b3"}) {
    add_gpu_function(tree, bus, "0x10de", "0x2330");
    tree.file("proc/driver/nvidia/gpus/0000:" + std::string(bus) + ":00.0/information",
              "Model: H100\nGPU UUID: GPU-" + std::string(bus) +
                  "\nDevice Minor: 0\nGPU Excluded: " + (std::string(bus) == "65" ? "Yes\n" : "No\n"));
  }
  const Topology topology = test::topology_of(tree);
  ASSERT_EQ(topology.gpus.size(), 3u);
  EXPECT_EQ(topology.gpus[0].vendor_index, std::vector<unsigned>{0});
  EXPECT_TRUE(topology.gpus[1].vendor_index.empty());
  EXPECT_EQ(topology.gpus[2].vendor_index, std::vector<unsigned>{1});
  EXPECT_EQ(topology.gpus[2].uuid, "GPU-b3");
}

// CDI gives a container the device files of its GPUs alone, and the folders of all.
TEST(GpuIdentify, InAContainerTheDeviceFilesCount) {
  test::Tree tree;
  unsigned minor = 0;
  for (const char* bus : {"17", "65", "b3"}) {
    add_gpu_function(tree, bus, "0x10de", "0x2330");
    tree.file("proc/driver/nvidia/gpus/0000:" + std::string(bus) + ":00.0/information",
              "Model: H100\nDevice Minor: " + std::to_string(minor++) + "\n");
  }
  tree.file("proc/1/comm", "sleep\n");
  EXPECT_EQ(test::topology_of(tree).gpus[2].vendor_index, std::vector<unsigned>{2}) << "no device file is known";
  tree.file("dev/nvidia1", "").file("dev/nvidiactl", "");
  const Topology topology = test::topology_of(tree);
  EXPECT_TRUE(topology.gpus[0].vendor_index.empty() && topology.gpus[2].vendor_index.empty());
  EXPECT_EQ(topology.gpus[1].vendor_index, std::vector<unsigned>{0});
  EXPECT_FALSE(topology.gpus[0].minor);
  EXPECT_EQ(topology.gpus[0].model, "H100");
  tree.file("proc/1/comm", "systemd\n");
  EXPECT_EQ(test::topology_of(tree).gpus[0].minor, 0u) << "a host, whose files a driver may make late";
}

TEST(GpuIdentify, AmdPartitionsAreSeveralNodesOfOneFunction) {
  test::Tree tree;
  const std::string folder = add_gpu_function(tree, "0c", "0x1002", "0x74a1");
  tree.file(folder + "/product_name", "AMD Instinct MI300X\n").file(folder + "/unique_id", "deadbeef00112233\n");
  tree.file(folder + "/current_compute_partition", "DPX\n").file(folder + "/current_memory_partition", "NPS1\n");
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
  tree.file(nodes + "0/properties", "cpu_cores_count 96\nsimd_count 0\n");
  tree.file(nodes + "1/properties", "simd_count 152\ndomain 0\nlocation_id 3072\ndrm_render_minor 128\n");
  tree.file(nodes + "2/properties", "simd_count 152\ndomain 0\nlocation_id 268438528\ndrm_render_minor 129\n");
  const Topology topology = test::topology_of(tree);
  ASSERT_EQ(topology.gpus.size(), 1u);
  const Gpu& found = topology.gpus[0];
  EXPECT_EQ(found.model, "AMD Instinct MI300X");
  EXPECT_EQ(found.uuid, "GPU-deadbeef00112233");
  EXPECT_EQ(found.partition, "DPX/NPS1");
  EXPECT_EQ(found.vendor_index, (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(found.render_minors, (std::vector<unsigned>{128, 129}));
}

// amdgpu's files decide whether a link is idle or stuck, without a library, and in a captured tree too.
TEST(GpuIdentify, AmdLoadOfALinkSlowerThanThatOfItsEquals) {
  test::Tree tree;
  std::string slow;
  for (const char* bus : {"0c", "0d"}) {
    const std::string folder = add_gpu_function(tree, bus, "0x1002", "0x74a1");
    const bool is_slow = std::string(bus) == "0d";
    if (is_slow) slow = folder;
    tree.file(folder + "/current_link_speed", is_slow ? "2.5 GT/s PCIe\n" : "32.0 GT/s PCIe\n");
    tree.file(folder + "/gpu_busy_percent", "97\n").file(folder + "/mem_busy_percent", "12\n");
  }
  const auto load = [&](size_t gpu) { return test::topology_of(tree).gpus.at(gpu).load; };
  EXPECT_FALSE(load(0)) << "nothing is asked of a GPU with the full speed";
  EXPECT_EQ(load(1), (GpuLoad{.busy = 97, .link_generation = 1}));
  tree.file(slow + "/power_dpm_force_performance_level", "auto\n");
  EXPECT_TRUE(load(1));
  tree.file(slow + "/power_dpm_force_performance_level", "low\n");
  EXPECT_FALSE(load(1)) << "someone keeps its clocks low";
  tree.file(slow + "/power/runtime_status", "suspended\n");
  EXPECT_EQ(load(1), GpuLoad{}) << "reading its load would wake it";
  tree.file(slow + "/power/runtime_status", "active\n").file(slow + "/power_dpm_force_performance_level", "auto\n");
  for (const char* file : {"/gpu_busy_percent", "/mem_busy_percent"}) {
    for (const char* wrong : {"65535\n", "-1\n", "\n"}) {
      tree.file(slow + file, wrong);
      EXPECT_FALSE(load(1)) << file << wrong;
    }
    tree.file(slow + file, "100\n");
    EXPECT_TRUE(load(1)) << file;
  }
  tree.file(slow + "/mem_busy_percent", "0\n");
  EXPECT_FALSE(load(1)) << "a process waits, and the firmware says 100 %";
  tree.file(slow + "/gpu_busy_percent", "0\n");
  EXPECT_EQ(load(1), (GpuLoad{.busy = 0, .link_generation = 1}));
}

TEST(GpuIdentify, IntelByItsId) {
  test::Tree tree;
  const std::string folder = add_gpu_function(tree, "3a", "0x8086", "0x0bd5");
  tree.folder(folder + "/drm/renderD128").folder(folder + "/drm/card0");
  const Topology topology = test::topology_of(tree);
  ASSERT_EQ(topology.gpus.size(), 1u);
  EXPECT_EQ(topology.gpus[0].model, "Intel Data Center GPU Max 1550");
  EXPECT_EQ(topology.gpus[0].render_minors, std::vector<unsigned>{128});
}

TEST(Cards, OneGuidIsOneCardOnTwoSockets) {
  test::Tree tree;
  const auto add = [&](const char* root, const char* pci, const char* rdma, const char* guid) {
    const std::string folder = test::add_pci(tree, {std::string("pci0000:") + root, pci});
    if (*rdma == '\0') return;
    tree.file(folder + "/infiniband/" + rdma + "/sys_image_guid", guid);
    tree.link(folder + "/infiniband/" + rdma + "/device", "../../../" + std::string(pci));
    tree.link("sys/class/infiniband/" + std::string(rdma), "../../../" + folder + "/infiniband/" + rdma);
  };
  add("10", "0000:11:00.0", "mlx5_0", "506b:4b03:003c:eee8\n");
  add("10", "0000:11:00.1", "", "");
  add("80", "0000:81:00.0", "mlx5_1", "506b:4b03:003c:eee8\n");
  add("90", "0000:91:00.0", "efa_0", "0000:0000:0000:0000\n");
  const Topology topology = test::topology_of(tree);
  ASSERT_EQ(topology.nics.size(), 4u);
  EXPECT_EQ(topology.nics[0].card, topology.nics[2].card);
  EXPECT_EQ(topology.nics[0].card, topology.nics[1].card) << "the other function in its slot";
  EXPECT_EQ(topology.nics[3].card, "0000:91:00") << "zeros are no GUID";
}

TEST(Machine, CpuLists) {
  EXPECT_EQ(machine::parse_cpus("0-2,8\n"), (std::vector<unsigned>{0, 1, 2, 8}));
  for (const char* bad : {"", "a", "3-1", "0-70000", "1,,2"}) EXPECT_FALSE(machine::parse_cpus(bad)) << bad;
  EXPECT_EQ(machine::cpus_text({8, 2, 1, 0}), "0-2,8");
  EXPECT_EQ(machine::cpus_text({}), "");
}

TEST(Machine, ListsOfCpusThatLieCostTheCores) {
  test::Tree tree;
  tree.folder("sys/bus/pci/devices")
      .file("sys/devices/system/node/node0/cpulist", "0-4095\n")
      .file("sys/devices/system/node/node1/cpulist", "0-9999999\n");
  tree.file("sys/devices/system/cpu/cpu7/topology/core_cpus_list", "0-4294967295\n")
      .file("sys/devices/system/cpu/cpu8/topology/core_cpus_list", "9-10\n");
  const Topology topology = test::topology_of(tree);
  EXPECT_EQ(topology.numa_cpus.size(), 2u);
  EXPECT_TRUE(topology.cores.empty());
}

TEST(Machine, SocketsCoresMemoryAndHypervisor) {
  test::Tree tree;
  const std::string node = "sys/devices/system/node/", cpu = "sys/devices/system/cpu/cpu";
  tree.folder("sys/bus/pci/devices")
      .file("sys/class/dmi/id/sys_vendor", "Amazon EC2\n")
      .file("sys/class/dmi/id/product_name", "p5.48xlarge\n");
  const char* const lists[] = {"0,2\n", "1,3\n", "\n"};
  const char* const masks[] = {"5\n", "a\n", "0\n"};
  for (size_t i = 0; i < 3; ++i) {
    tree.file(node + "node" + std::to_string(i) + "/cpulist", lists[i]);
    tree.file(node + "node" + std::to_string(i) + "/cpumap", masks[i]);
  }
  tree.file(node + "has_memory", "0-2\n").file("sys/devices/system/cpu/possible", "0-3\n");
  tree.file("sys/devices/system/cpu/online", "0-3\n");
  for (size_t i = 0; i < 4; ++i) {
    const std::string folder = cpu + std::to_string(i) + "/topology/";
    tree.file(folder + "physical_package_id", std::to_string(i % 2) + "\n").file(folder + "core_id", "0\n");
    tree.file(folder + "core_cpus", masks[i % 2]).file(folder + "package_cpus", masks[i % 2]);
    tree.file(folder + "thread_siblings", masks[i % 2]).file(folder + "core_siblings", masks[i % 2]);
  }
  Topology topology = test::topology_of(tree);
  EXPECT_EQ(topology.numa_socket, (std::map<int, int>{{0, 0}, {1, 1}}));
  EXPECT_EQ(topology.memory_nodes, std::vector<int>{2});
  EXPECT_EQ(topology.hypervisor, "Amazon EC2");
  EXPECT_EQ(topology.cores, (std::vector<Core>{{{0, 2}, 0}, {{1, 3}, 1}}));
  EXPECT_EQ(machine::hypervisor_name("Amazon EC2", "g4dn.metal"), "");
  EXPECT_EQ(machine::hypervisor_name("Dell Inc.", "PowerEdge XE9680"), "");
  EXPECT_EQ(machine::hypervisor_name("QEMU", "Standard PC (Q35 + ICH9, 2009)"), "QEMU");
}

}  // namespace
}  // namespace fabric
