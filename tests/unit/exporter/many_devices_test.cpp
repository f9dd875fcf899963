// SPDX-License-Identifier: Apache-2.0
// A tree that claims more than any machine has: every program comes to an end with it, and says so or gives a bounded
// answer.
#include "judge/engine.h"
#include "judge/report.h"
#include "judge/view.h"
#include "node/scan.h"
#include "support/running_collector.h"

namespace fabric {
namespace {

using test::Tree;

constexpr unsigned kDevices = 10'000;

// Tens of thousands of files: in memory, where there is such a place.
const bool kInMemory = std::filesystem::is_directory("/dev/shm") && ::setenv("TMPDIR", "/dev/shm", 0) == 0;

std::string address_of(unsigned number) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", number >> 16, number >> 8 & 255, number >> 3 & 31, number & 7);
  return text;
}

// Functions of one kind below one root, and nothing else of them.
void add_functions(Tree& tree, unsigned count, const char* vendor, const char* class_code) {
  for (unsigned i = 0; i < count; ++i) {
    const std::string address = address_of(i), folder = "sys/devices/pci0000:00/" + address;
    tree.file(folder + "/class", class_code).file(folder + "/vendor", vendor).file(folder + "/device", "0x1021\n");
    tree.link("sys/bus/pci/devices/" + address, "../../../devices/pci0000:00/" + address);
  }
}

void add_rdma_devices(Tree& tree, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const std::string name = "mlx5_" + std::to_string(i),
                      folder = "sys/devices/pci0000:00/" + address_of(i) + "/infiniband/" + name;
    tree.file(folder + "/ports/1/state", "4: ACTIVE\n");
    tree.link(folder + "/device", "../..")
        .link("sys/class/infiniband/" + name, "../../devices/pci0000:00/" + address_of(i) + "/infiniband/" + name);
  }
}

Node scanned(const Tree& tree) {
  auto kernel = open_kernel(tree.path());
  EXPECT_TRUE(kernel.ok());
  ScanOptions options;
  options.host = options.neighbors = true;
  return scan(*kernel, options);
}

TEST(ManyDevices, TenThousandNicsAreListedAndJudged) {
  RecordProperty("in_memory", kInMemory ? "yes" : "no");
  Tree tree;
  add_functions(tree, kDevices, "0x15b3\n", "0x020000\n");
  add_rdma_devices(tree, 200);
  const Node node = scanned(tree);
  EXPECT_EQ(node.topology.nics.size(), kDevices);
  EXPECT_EQ(node.ports.size(), 200u);
  EXPECT_LE(node.platform.functions.size(), 4096u);
  EXPECT_LT(run_rules({.now = node}).findings.size(), 10u * node.ports.size());
}

TEST(ManyDevices, MoreGpusThanAnyMachineHasAreOneClearError) {
  Tree tree;
  add_functions(tree, 2'000, "0x10de\n", "0x030200\n");
  const Node node = scanned(tree);
  EXPECT_TRUE(node.topology.gpus.empty());
  ASSERT_FALSE(node.unseen.empty());
  EXPECT_TRUE(test::has(node.unseen.front(), "2000 GPUs and 0 NICs")) << node.unseen.front();
}

// The exporter has a thread for each, and its service a limit of threads.
TEST(ManyDevices, TheExporterReadsTheFirst) {
  Tree tree;
  add_functions(tree, 140, "0x15b3\n", "0x020000\n");
  add_rdma_devices(tree, 140);
  for (unsigned i = 2; i < 14; ++i)
    tree.link("sys/devices/pci0000:00/" + address_of(i) + "/physfn", "../" + address_of(0));
  const exporter::Snapshot snapshot = test::RunningCollector(test::collector_options(tree.path()))->snapshot();
  EXPECT_EQ(snapshot.node.ports.size(), 128u);
  EXPECT_EQ(snapshot.node.ports.back().rdma, "mlx5_139")
      << "functions for guests are left out first, then in natural order";
  for (const Port& port : snapshot.node.ports) EXPECT_EQ(port.role, PortRole::physical) << port.rdma;
  EXPECT_TRUE(std::ranges::any_of(snapshot.runs, [](const exporter::CollectorRun& run) {
    return run.collector == "devices" && !run.success && run.error.starts_with("12 RDMA devices");
  }));
}

}  // namespace
}  // namespace fabric
