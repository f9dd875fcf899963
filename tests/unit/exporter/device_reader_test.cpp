// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/device_reader.h"

#include <rdma/rdma_netlink.h>

#include "support/sim_qp.h"
#include "support/slow_nics.h"
#include "support/test.h"

namespace fabric::exporter {
namespace {

// RDMA netlink of a kernel that knows two queue pairs on mlx5_0; counts in `dumps` how often it went through them.
class TwoQueuePairs final : public Netlink {
 public:
  explicit TwoQueuePairs(std::shared_ptr<int> dumps) : dumps_(std::move(dumps)) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8) override {
    AttrWriter out, table;
    out.u32(RDMA_NLDEV_ATTR_DEV_INDEX, 4).text(RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
    switch (type & 0xff) {
      case RDMA_NLDEV_CMD_GET: return std::vector{Message{type, out.data()}};
      case RDMA_NLDEV_CMD_RES_GET:
        table.nest(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, AttrWriter()
                                                          .text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "qp")
                                                          .u64(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, 2));
        return std::vector{Message{type, out.nest(RDMA_NLDEV_ATTR_RES_SUMMARY, table).data()}};
      case RDMA_NLDEV_CMD_RES_QP_GET:
        ++*dumps_;
        table.nest(RDMA_NLDEV_ATTR_RES_QP_ENTRY, AttrWriter().text(RDMA_NLDEV_ATTR_RES_KERN_NAME, "ib_core"))
            .nest(RDMA_NLDEV_ATTR_RES_QP_ENTRY, AttrWriter().u32(RDMA_NLDEV_ATTR_RES_PID, 7));
        return std::vector{Message{type, out.nest(RDMA_NLDEV_ATTR_RES_QP, table).data()}};
      default: return error(EOPNOTSUPP, "simulated");
    }
  }

 private:
  std::shared_ptr<int> dumps_;
};

TEST(DeviceReader, TheKernelGoesThroughADevicesObjectsOnceForAllItsPortsAndBeyondARescan) {
  test::SlowNics nics;
  const std::string second = "sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0/infiniband/mlx5_0/ports/2";
  nics.tree.file(second + "/state", "4: ACTIVE\n")
      .file(second + "/phys_state", "5: LinkUp\n")
      .file(second + "/link_layer", "Ethernet\n");
  const auto dumps = std::make_shared<int>(0);
  DeviceReader reader(nics.tree.path(), "mlx5_0", nullptr, [&](const std::string& root) {
    auto kernel = nics.open()(root);
    if (kernel) kernel->rdma = std::make_unique<TwoQueuePairs>(dumps);
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
  EXPECT_EQ(*dumps, 1);
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

TEST(DeviceReader, CountersOfQueuePairsAreReadOnlyWhereTheConfigurationAsksForThem) {
  struct Borrowed final : test::SimQp {
    explicit Borrowed(int& asked) : asked_(asked) { sets = {{.type = uint8_t{2}, .counters = {{"out_of_buffer", 7}}}}; }
    ~Borrowed() override { asked_ += modes + dumps; }
    int& asked_;
  };
  test::SlowNics nics;
  int asked = 0;
  const auto read = [&](std::vector<Compat> compat) {
    auto policy = std::make_shared<Policy>();
    policy->compat = std::move(compat);
    DeviceReader reader(nics.tree.path(), "mlx5_0", policy, [&](const std::string& root) {
      auto kernel = nics.open()(root);
      if (kernel) kernel->rdma = std::make_unique<Borrowed>(asked);
      return kernel;
    });
    reader.rescan();
    return reader.read().ports.at(0).qp_statistics;
  };
  EXPECT_FALSE(read({Compat::node_exporter, Compat::rdma_exporter}));
  EXPECT_EQ(asked, 0);
  const auto told = read({Compat::rdma_exporter_qp});
  EXPECT_EQ(asked, 2);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->dump, QpStatistics::Dump::ok);
  EXPECT_EQ(told->kinds.at("RC"), (std::vector<Counter>{{"out_of_buffer", 7}}));
}

}  // namespace
}  // namespace fabric::exporter
