// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/device.h"
#include "support/sim_rdma.h"
#include "support/slow_nics.h"
#include "support/test.h"

namespace fabric::exporter {
namespace {

TEST(DeviceReader, TheKernelGoesThroughADevicesObjectsOnceForAllItsPortsAndBeyondARescan) {
  test::SlowNics nics;
  const std::string second = "sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0/infiniband/mlx5_0/ports/2";
  nics.tree.file(second + "/state", "4: ACTIVE\n")
      .file(second + "/phys_state", "5: LinkUp\n")
      .file(second + "/link_layer", "Ethernet\n");
  test::SimRdma rdma;
  rdma.devices[4] = {
      .name = "mlx5_0", .resources = {{"qp", 2}}, .resources_errno = 0, .owners = {{"qp", {.user = 1, .kernel = 1}}}};
  DeviceReader reader(nics.tree.path(), "mlx5_0", nullptr, [&](const std::string& root) {
    auto kernel = nics.open()(root);
    if (kernel) kernel->rdma = std::make_unique<test::BorrowedNetlink>(rdma);
    return kernel;
  });
  for (int scan = 0; scan < 2; ++scan) {
    reader.rescan();
    const DeviceReading reading = reader.read();
    ASSERT_EQ(reading.ports.size(), 2u);
    EXPECT_EQ(reading.ports[0].resources,
              (std::vector<ResourceCount>{{"qp", "", 2}, {"qp", "user", 1}, {"qp", "kernel", 1}}));
    EXPECT_EQ(reading.ports[1].resources, (std::vector<ResourceCount>{{"qp", "", 2}}));
  }
  EXPECT_EQ(rdma.owner_dumps, 1);
}

// Beyond the first 128 devices there are others that nobody reads: they are no business of each reader of those.
TEST(DeviceReader, NoOtherDeviceIsTouched) {
  struct Watch final : BehindFiles {
    explicit Watch(int& opened) : touched(opened) {}
    std::optional<Result<void>> act(Act, const std::string& file, std::string_view) override {
      touched += file.find("mlx5_1") != std::string::npos ? 1 : 0;
      return std::nullopt;
    }
    int& touched;
  };
  test::SlowNics nics;
  int touched = 0;
  DeviceReader reader(nics.tree.path(), "mlx5_0", nullptr, [&](const std::string& root) {
    auto kernel = nics.open()(root);
    if (kernel) kernel->root.set_behind(std::make_shared<Watch>(touched));
    return kernel;
  });
  reader.rescan();
  EXPECT_EQ(reader.read().ports.size(), 1u);
  EXPECT_EQ(touched, 0);
}

TEST(DeviceReader, WhatADeviceMadeAnewCountsHasNotWrapped) {
  test::SlowNics nics;
  const std::string function = "sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0";
  DeviceReader reader(nics.tree.path(), "mlx5_0", nullptr, nics.open());
  const auto read = [&](const std::string& value, const std::string& ifindex) {
    nics.tree.file(function + "/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", value + "\n");
    nics.tree.file(function + "/net/eth2/ifindex", ifindex + "\n");
    reader.rescan();
    const auto hw = reader.read().ports.at(0).counters.hw;
    const auto found = std::ranges::find(hw, "out_of_sequence", &Counter::name);
    return found == hw.end() ? std::nullopt : std::optional(found->value);
  };
  EXPECT_EQ(read("4294967290", "7"), 4294967290u);
  EXPECT_EQ(read("5", "7"), (uint64_t{1} << 32) + 5);
  EXPECT_EQ(read("4294967290", "7"), (uint64_t{1} << 33) - 6);
  EXPECT_EQ(read("5", "8"), 5u);
}

}  // namespace
}  // namespace fabric::exporter
