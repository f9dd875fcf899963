// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/nldev.h"
#include "nic/counter_row.h"
#include "support/counters.h"
#include "support/sim_nic_bed.h"
#include "support/sim_rdma.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::Bed;
using test::of;
using test::Personality;

class OptionalCounters : public testing::Test {
 protected:
  OptionalCounters() {
    auto socket = std::make_unique<test::SimRdma>();
    rdma = socket.get();
    auto& other = rdma->devices[3];
    other.name = "other";
    other.ports[1].optional = {{"never", false}};
    auto& device = rdma->devices[7];
    device.name = bed.port.rdma;
    device.ports[1].counters = {{"out_of_buffer", 1}, {"out_of_sequence", 2}};
    device.ports[1].optional = {{"cc_rx_ce_pkts", false}, {"cc_rx_cnp_pkts", true}, {"cc_tx_cnp_pkts", false}};
    bed.kernel.rdma = std::move(socket);
  }
  test::SimRdmaPort& port() { return rdma->devices[7].ports[1]; }
  static Qos want(std::set<std::string> names) {
    Qos out;
    out.optional_counters.emplace().names = std::move(names);
    return out;
  }
  Bed bed{Personality::mlx5};
  test::SimRdma* rdma = nullptr;
};

TEST_F(OptionalCounters, StatusTellsOptionalOnesFromTheOthers) {
  auto status = nldev::counter_status(*rdma, 7, 1);
  ASSERT_TRUE(status.ok());
  const std::vector<nldev::CounterStatus> expected{{0, "out_of_buffer", {}},
                                                   {1, "out_of_sequence", {}},
                                                   {2, "cc_rx_ce_pkts", false},
                                                   {3, "cc_rx_cnp_pkts", true},
                                                   {4, "cc_tx_cnp_pkts", false}};
  EXPECT_EQ(*status, expected);
  EXPECT_TRUE(nldev::parse_counter_status({}).empty());
}

// mlx5 of Linux 6.15: its traffic counters are switched on by the policy, and then published by direction.
TEST_F(OptionalCounters, TrafficCountersAreSwitchedOnAndHaveMetrics) {
  const std::set<std::string> all{"rdma_rx_bytes", "rdma_rx_packets", "rdma_tx_bytes", "rdma_tx_packets"};
  for (const std::string& name : all) port().optional[name] = false;
  const auto change = of(bed.apply(want(all)), "optional_counters");
  EXPECT_EQ(change.outcome, Outcome::applied) << change.detail;
  Port reading = bed.port;
  for (const std::string& name : all) reading.counters.hw.push_back({name, 7});
  test::resolve(reading);
  for (const Counter& counter : reading.counters.hw) {
    const std::string_view name = counter.name;
    ASSERT_NE(counter.row, nullptr) << name;
    EXPECT_EQ(counter.row->metric, name.ends_with("bytes") ? &metrics::kOptionalBytes : &metrics::kOptionalPackets);
    EXPECT_EQ(counter.row->label.value, name.substr(5, 2)) << name;
  }
}

TEST_F(OptionalCounters, ExactlyTheWantedOnesAreOn) {
  auto change = of(bed.apply(want({"cc_rx_ce_pkts", "cc_tx_cnp_pkts"})), "optional_counters");
  EXPECT_EQ(change.outcome, Outcome::applied) << change.detail;
  EXPECT_EQ(change.from, "cc_rx_cnp_pkts");
  EXPECT_FALSE(change.disruptive);
  EXPECT_EQ(port().optional_log, std::vector<std::string>{"cc_rx_ce_pkts,cc_tx_cnp_pkts"});
  EXPECT_FALSE(port().optional["cc_rx_cnp_pkts"]);
  EXPECT_FALSE(rdma->devices[3].ports[1].optional["never"]);
  EXPECT_EQ(of(bed.apply(want({"cc_rx_ce_pkts", "cc_tx_cnp_pkts"})), "optional_counters").outcome, Outcome::in_sync);
  EXPECT_EQ(of(bed.apply(want({})), "optional_counters").outcome, Outcome::applied) << "none at all";
  EXPECT_EQ(port().optional_log.back(), "");
}

TEST_F(OptionalCounters, AllAreThoseThatTheDeviceHas) {
  EXPECT_EQ(of(bed.plan(want({"*"})), "optional_counters").to, "cc_rx_ce_pkts,cc_rx_cnp_pkts,cc_tx_cnp_pkts");
  EXPECT_TRUE(port().optional_log.empty());
  EXPECT_EQ(of(bed.apply(want({"*"})), "optional_counters").outcome, Outcome::applied);
  EXPECT_EQ(of(bed.apply(want({"*"})), "optional_counters").outcome, Outcome::in_sync);
  port().optional["cc_rx_ce_pkts"] = false;  // a driver's reload
  EXPECT_EQ(of(bed.apply(want({"*"})), "optional_counters").outcome, Outcome::applied);
}

TEST_F(OptionalCounters, UnknownNamesAreToldThoseThatExist) {
  auto change = of(bed.apply(want({"cc_rx_ce_pkts", "rdma_tx_bytes"})), "optional_counters");
  EXPECT_EQ(change.outcome, Outcome::unsupported);
  EXPECT_EQ(change.detail,
            "the driver has no optional counter \"rdma_tx_bytes\"; it has cc_rx_ce_pkts,cc_rx_cnp_pkts,cc_tx_cnp_pkts");
  EXPECT_TRUE(port().optional_log.empty());
}

TEST_F(OptionalCounters, ReasonsWhyThereAreNone) {
  auto detail = [&] { return of(bed.apply(want({"*"})), "optional_counters").detail; };
  port().optional.clear();
  EXPECT_EQ(detail(), "the driver has no optional counters");
  port().statistics_errno = EINVAL;
  EXPECT_NE(detail().find("older than 5.16"), std::string::npos) << detail();
  rdma->devices[7].name = "renamed";
  EXPECT_NE(detail().find("no device sim"), std::string::npos) << detail();
  bed.kernel.rdma = nullptr;
  EXPECT_NE(detail().find("ib_core"), std::string::npos) << detail();
  EXPECT_EQ(of(bed.apply(want({"*"})), "optional_counters").outcome, Outcome::unsupported);
}

TEST_F(OptionalCounters, AFirmwareThatCannotCountIsNamed) {
  port().optional_errno = EOPNOTSUPP;
  auto change = of(bed.apply(want({"*"})), "optional_counters");
  EXPECT_EQ(change.outcome, Outcome::refused);
  EXPECT_EQ(change.code, EOPNOTSUPP);
  EXPECT_NE(change.detail.find("firmware"), std::string::npos);
}

TEST_F(OptionalCounters, AreReadOnlyWhenWanted) {
  Qos mtu;
  mtu.mtu = 1500;
  const auto before = rdma->requests;
  ASSERT_TRUE(qos::read(bed.kernel, bed.port, keys_of(mtu)).ok());
  EXPECT_EQ(rdma->requests, before);
}

}  // namespace
}  // namespace fabric
