// SPDX-License-Identifier: Apache-2.0
// Telemetry of newer kernels alone, from the messages of simulated cards to metric and finding: FEC's histogram (Linux
// 6.18) and mlx5's health reporter vnic.
#include <linux/ethtool.h>

#include "metrics/telemetry.h"
#include "node/telemetry.h"
#include "support/healthy_node.h"
#include "support/series.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

constexpr uint64_t kManyWords = 4'000'000'000'000;

// One bin for each number of corrected symbols, as mlx5's firmware and bnxt_en have them for RS(544,514).
std::vector<FecBin> bins(uint64_t clean, uint64_t near_limit) {
  std::vector<FecBin> out;
  for (uint32_t symbols = 0; symbols <= 15; ++symbols) out.push_back({symbols, symbols, 0});
  out[0].words = clean;
  out[12].words = near_limit;
  return out;
}

class Cards : public testing::TestWithParam<Personality> {
 protected:
  Cards() {
    bed.nic.ethtool.fec = ETHTOOL_FEC_RS;
    bed.nic.devlink.emplace().vnic = {{"cq_overrun", 0}, {"total_error_queues", 0}, {"handled_pkt_steering_fail", 0}};
    read(server.before.ports[0]), read(port());
  }
  Port& port() { return server.now.ports[0]; }
  // Reads the card anew, as a port of the healthy machine.
  void read(Port& out) {
    TelemetryReader reader(
        {.root = bed.kernel.root, .generic = bed.kernel.generic.get(), .ethtool = bed.kernel.ethtool}, bed.port);
    Port seen = bed.port;
    reader.read(seen);
    out.fec = seen.fec;
    out.reporters = seen.reporters;
  }
  [[nodiscard]] std::string findings(const std::string& rule) const { return said(server.view(), {rule}); }
  [[nodiscard]] Series series() const {
    Node node;
    node.ports = {server.now.ports[0]};
    return series_of([&](FamilySet& set) { add_telemetry(set, node, {}); });
  }
  [[nodiscard]] std::optional<double> value(const std::string& name) const {
    for (const auto& [each, number] : series())
      if (each.starts_with(name)) return number;
    return std::nullopt;
  }

  Bed bed{GetParam()};
  Healthy server;
};
INSTANTIATE_TEST_SUITE_P(All, Cards, testing::Values(Personality::mlx5, Personality::bnxt), personality_name);

TEST_P(Cards, CodeWordsNearTheLimitAreCountedAndFound) {
  bed.nic.ethtool.fec_histogram = bins(0, 0);
  read(server.before.ports[0]);
  bed.nic.ethtool.fec_histogram = bins(kManyWords, 0);
  bed.nic.ethtool.fec_corrected = 70;
  read(port());
  ASSERT_TRUE(port().fec);
  EXPECT_EQ(port().fec->active, FecCode::rs);
  EXPECT_EQ(port().fec->corrected_blocks.total, 70u);
  EXPECT_EQ(port().fec->histogram, bins(kManyWords, 0)) << "large counts have 64 bits, small ones 32";
  EXPECT_EQ(findings("pre-fec-ber"), "");
  EXPECT_EQ(value("fabric_phy_fec_near_limit_words_total"), 0);
  bed.nic.ethtool.fec_histogram = bins(kManyWords, 60'000);
  read(port());
  EXPECT_EQ(value("fabric_phy_fec_near_limit_words_total"), 60'000);
  EXPECT_TRUE(has(findings("pre-fec-ber"), "pre-fec-ber " + port().id() + " warning")) << findings("pre-fec-ber");
}

TEST_P(Cards, WithoutAHistogramNothingIsSaid) {
  read(port());
  ASSERT_TRUE(port().fec);
  EXPECT_TRUE(port().fec->histogram.empty()) << "an older kernel";
  EXPECT_EQ(findings("pre-fec-ber"), "");
  EXPECT_FALSE(value("fabric_phy_fec_near_limit_words_total"));
  bed.nic.ethtool.fec = ETHTOOL_FEC_BASER;
  bed.nic.ethtool.fec_histogram = bins(1, 0);
  read(port());
  EXPECT_EQ(port().fec->histogram.empty(), GetParam() == Personality::mlx5);
}

TEST_P(Cards, QueuesInErrorAreCountedAndFound) {
  ASSERT_EQ(port().reporters.size(), 3u);
  EXPECT_EQ(port().reporters.back().diagnosis, bed.nic.devlink->vnic);
  EXPECT_EQ(value("fabric_device_queue_faults_total"), 0);
  EXPECT_EQ(findings("device-health"), "");
  bed.nic.devlink->vnic["cq_overrun"] = 3;
  bed.nic.devlink->vnic["handled_pkt_steering_fail"] = uint64_t{1} << 40;  // no fault of a queue
  read(port());
  EXPECT_EQ(value("fabric_device_queue_faults_total"), 3);
  EXPECT_TRUE(has(findings("device-health"), "device-health " + port().id() + " warning")) << findings("device-health");
}

TEST_P(Cards, WithoutThePrivilegeOrTheFirmwareNothingIsCounted) {
  bed.nic.devlink->vnic["cq_overrun"] = 3;
  bed.nic.devlink->privileged = false;
  read(port());
  EXPECT_FALSE(value("fabric_device_queue_faults_total"));
  bed.nic.devlink->privileged = true;
  bed.nic.devlink->firmware_answers = false;
  read(port());
  EXPECT_FALSE(value("fabric_device_queue_faults_total")) << "the driver's zeros are no counts";
  EXPECT_FALSE(has(findings("device-health"), "overrun")) << findings("device-health");
}

}  // namespace
}  // namespace fabric::test
