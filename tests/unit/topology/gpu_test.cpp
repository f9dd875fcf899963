// SPDX-License-Identifier: Apache-2.0
#include "node/gpu.h"

#include "node/machine.h"
#include "node/topology.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

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
