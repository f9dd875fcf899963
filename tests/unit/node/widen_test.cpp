// SPDX-License-Identifier: Apache-2.0

#include "support/counters.h"
#include "support/test.h"

namespace fabric {
namespace {

constexpr uint64_t kRange = uint64_t{1} << 32;

PortCounters of(std::vector<Counter> hw) {
  PortCounters out;
  out.hw = std::move(hw);
  return out;
}

// The readings of one counter, as a port of the driver publishes them.
std::vector<uint64_t> widened(const std::string& driver, const std::string& counter,
                              const std::vector<uint64_t>& readings) {
  Widener widener;
  std::vector<uint64_t> out;
  for (const uint64_t value : readings) {
    PortCounters counters = of({{counter, value}});
    test::resolve(counters, driver);
    widener.widen(counters);
    out.push_back(counters.hw.front().value);
  }
  return out;
}

TEST(Widener, ExtendsAWrap) {
  EXPECT_EQ(
      widened("mlx5_core", "out_of_sequence", {kRange - 10, 5, 6, kRange / 2, kRange - 1, 0}),
      (std::vector<uint64_t>{kRange - 10, kRange + 5, kRange + 6, kRange + kRange / 2, 2 * kRange - 1, 2 * kRange}));
}

TEST(Widener, ExtendsTheWrapOfAVport) {
  EXPECT_EQ(widened("mlx5_core", "vport_out_of_sequence", {kRange - 10, 5}),
            (std::vector<uint64_t>{kRange - 10, kRange + 5}));
  EXPECT_EQ(widened("mlx5_core", "vport_of_another_kind", {kRange - 10, 5}), (std::vector<uint64_t>{kRange - 10, 5}));
}

TEST(Widener, ExtendsStatisticsOfTheNetdev) {
  Widener widener;
  PortCounters first, second;
  first.hw = {{"out_of_buffer", kRange - 1}};
  first.ethtool = {{"rx_bytes_phy", 7},
                   {"rx_out_of_buffer", kRange - 10},
                   {"outbound_pci_stalled_rd", 95},
                   {"rx_prio3_pause", kRange - 10}};
  second.hw = {{"out_of_buffer", 3}};
  second.ethtool = {
      {"rx_bytes_phy", 9}, {"rx_out_of_buffer", 5}, {"outbound_pci_stalled_rd", 0}, {"rx_prio3_pause", 5}};
  for (PortCounters* reading : {&first, &second}) {
    test::resolve(*reading, "mlx5_core");
    widener.widen(*reading);
  }
  EXPECT_EQ(second.hw, (std::vector<Counter>{{"out_of_buffer", kRange + 3}}));
  EXPECT_EQ(second.ethtool, (std::vector<Counter>{{"rx_bytes_phy", 9},
                                                  {"rx_out_of_buffer", kRange + 5},
                                                  {"outbound_pci_stalled_rd", 0},
                                                  {"rx_prio3_pause", 5}}));
}

TEST(Widener, AReloadedDriverIsAReset) {
  EXPECT_EQ(widened("mlx5_core", "rx_write_requests", {1000, 0, 7}), (std::vector<uint64_t>{1000, 0, 7}));
  EXPECT_EQ(widened("mlx5_core", "rx_write_requests", {kRange / 2, 3}), (std::vector<uint64_t>{kRange / 2, 3}))
      << "half of the range cannot be passed between two readings";
  EXPECT_EQ(widened("mlx5_core", "rx_write_requests", {kRange - 1, 1, 0}),
            (std::vector<uint64_t>{kRange - 1, kRange + 1, 0}))
      << "the reset drops earlier wraps";
}

TEST(Widener, LeavesWideCountersUnchanged) {
  const std::vector<uint64_t> readings{kRange - 1, 1, kRange + 5, 2};
  EXPECT_EQ(widened("mlx5_core", "np_cnp_sent", readings), readings) << "a congestion counter";
  EXPECT_EQ(widened("bnxt_en", "out_of_sequence", readings), readings);
  EXPECT_EQ(widened("mlx5_core", "out_of_sequence", {kRange + 5, 2}), (std::vector<uint64_t>{kRange + 5, 2}))
      << "a driver that has widened it itself";
  EXPECT_EQ(widened("mlx5_core", "out_of_sequence", {2 * kRange - 1, 2}), (std::vector<uint64_t>{2 * kRange - 1, 2}))
      << "a wide reading is not one of the low 32 bits";
}

TEST(Widener, EachCounterIsExtendedInAnyOrder) {
  Widener widener;
  PortCounters first = of({{"out_of_buffer", kRange - 1}}),
               second = of({{"packet_seq_err", 4}, {"out_of_buffer", kRange - 1}}), third = of({{"packet_seq_err", 5}}),
               fourth = of({{"packet_seq_err", 6}, {"out_of_buffer", 1}});
  for (PortCounters* reading : {&first, &second, &third, &fourth}) {
    test::resolve(*reading, "mlx5_core");
    widener.widen(*reading);
  }
  EXPECT_EQ(third.hw, (std::vector<Counter>{{"packet_seq_err", 5}}));
  EXPECT_EQ(fourth.hw, (std::vector<Counter>{{"packet_seq_err", 6}, {"out_of_buffer", kRange + 1}}))
      << "absent for one reading";
}

TEST(Widener, QueueCountersAre32BitsWide) {
  size_t wrapping = 0;
  for (const CounterRow& row : kMlx5Counters.rows)
    wrapping += row.source == CounterSource::hw && row.bits == 32 ? 1 : 0;
  EXPECT_EQ(wrapping, 26u);
}

}  // namespace
}  // namespace fabric
