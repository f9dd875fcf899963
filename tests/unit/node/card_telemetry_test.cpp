// SPDX-License-Identifier: Apache-2.0
// Telemetry that newer kernels have, from the messages of simulated cards to metric and finding: FEC's histogram (Linux
// 6.18), mlx5's health reporter vnic, the reason of a lost link (bnxt_en: Linux 7.0), and the limits of RDMA objects
// (Linux 7.3).
#include <linux/ethtool.h>

#include "kernel/netlink/newer_uapi.h"
#include "metrics/telemetry.h"
#include "node/telemetry.h"
#include "support/healthy_node.h"
#include "support/series.h"
#include "support/sim_nic_bed.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"

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
    if (GetParam() == Personality::bnxt) bed.nic.devlink->reporters = {"fw", "hw"};
    auto socket = std::make_unique<SimRdma>();
    rdma = socket.get();
    rdma->devices[3] = {.name = bed.port.rdma};
    bed.kernel.rdma = std::move(socket);
    read(server.before.ports[0]), read(port());
  }
  Port& port() { return server.now.ports[0]; }
  // Reads the card anew, as a port of the healthy machine.
  void read(Port& out) {
    TelemetryReader reader(
        {.root = bed.kernel.root, .generic = bed.kernel.generic.get(), .ethtool = bed.kernel.ethtool, .rdma = rdma},
        bed.port);
    Port seen = bed.port;
    reader.read(seen);
    out.fec = seen.fec;
    out.reporters = seen.reporters;
    out.resources = seen.resources;
    out.link_status = seen.link_status;
  }
  [[nodiscard]] bool is_mlx5() const { return GetParam() == Personality::mlx5; }
  [[nodiscard]] std::string findings(const std::string& rule) const { return said(server.view(), {rule}); }
  [[nodiscard]] Series series() const {
    Node node;
    node.ports = {server.now.ports[0]};
    return series_of([&](FamilySet& set) { add_telemetry(set, node, kEverything); });
  }
  [[nodiscard]] std::optional<double> value(const std::string& name) const {
    for (const auto& [each, number] : series())
      if (each.starts_with(name)) return number;
    return std::nullopt;
  }

  Tree tree;
  Bed bed{GetParam(), tree.path()};
  SimRdma* rdma = nullptr;
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
  ASSERT_FALSE(port().reporters.empty());
  EXPECT_EQ(findings("device-health"), "");
  if (!is_mlx5()) {  // no vnic: nothing is asked of it
    EXPECT_EQ(bed.nic.devlink->diagnosed, 0);
    EXPECT_FALSE(value("fabric_device_queue_faults_total"));
    return;
  }
  EXPECT_EQ(port().reporters.back().diagnosis, bed.nic.devlink->vnic);
  EXPECT_EQ(value("fabric_device_queue_faults_total"), 0);
  bed.nic.devlink->vnic["cq_overrun"] = 3;
  bed.nic.devlink->vnic["handled_pkt_steering_fail"] = uint64_t{1} << 40;  // no fault of a queue
  read(port());
  EXPECT_EQ(value("fabric_device_queue_faults_total"), 3);
  // Jobs run on virtual functions: on this host, or in a guest or a pod.
  for (const PortRole role : {PortRole::physical, PortRole::virtual_function, PortRole::guest_function}) {
    server.before.ports[0].role = port().role = role;
    EXPECT_TRUE(
        has(findings("device-health"), "device-health " + port().id() + " warning: 3 completion queues overrun"))
        << to_text(role) << ": " << findings("device-health");
  }
  server.before.ports[0].role = port().role = PortRole::representor;
  EXPECT_EQ(findings("device-health"), "");
  bed.port.role = PortRole::subfunction;
  bed.port.owner = "mlx5_core.sf.4";
  read(port());
  EXPECT_TRUE(port().reporters.empty()) << "those of its function are not its own";
}

TEST_P(Cards, WithoutReporterPrivilegeOrFirmwareNothingIsCounted) {
  bed.nic.devlink->vnic["cq_overrun"] = 3;
  bed.nic.devlink->privileged = false;
  read(port());
  EXPECT_FALSE(value("fabric_device_queue_faults_total"));
  bed.nic.devlink->privileged = true;
  bed.nic.devlink->firmware_answers = false;
  read(port());
  EXPECT_FALSE(value("fabric_device_queue_faults_total")) << "the driver's zeros are no counts";
  EXPECT_FALSE(has(findings("device-health"), "overrun")) << findings("device-health");
  bed.nic.devlink->firmware_answers = true;
  bed.nic.devlink->reporters = {"fw", "fw_fatal"};
  read(port());
  EXPECT_FALSE(value("fabric_device_queue_faults_total")) << "an older kernel";
  EXPECT_EQ(port().reporters.size(), 2u);
  bed.nic.devlink.reset();
  read(port());
  EXPECT_TRUE(port().reporters.empty()) << "no devlink instance";
}

// bnxt_get_link_ext_state() of Linux 7.0, and a state of a newer kernel.
TEST_P(Cards, TheReasonOfALostLinkIsPublishedAndDecidesTheFix) {
  struct Row {
    SimEthtool::DownReason given;
    std::string reason, detail, fix;
  };
  const std::vector<Row> rows{
      {{ETHTOOL_LINK_EXT_STATE_NO_CABLE, 0}, "No cable", "", "Plug in or reseat"},
      {{ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE, ETHTOOL_LINK_EXT_SUBSTATE_LT_REMOTE_FAULT},
       "Link training failure",
       "Remote side is not ready yet",
       "receive power of the switch port"},
      {{uapi::kLinkExtStateModule, 0}, "Module", "", "Reseat the module"},
      {{uapi::kLinkExtStateOtpSpeedViolation, 0}, "OTP speed violation", "", "Choose a lower speed"},
      {{uapi::kLinkExtStateBmcRequestDown, 0}, "BMC request down", "", "settings of the BMC"},
      {{200, 7}, "reason 200", "detail 7", ""}};
  bed.nic.ethtool.down_reason = rows[0].given;
  read(port());
  EXPECT_FALSE(value("fabric_link_down_reason_info")) << "there is a link";
  bed.nic.carrier = false;
  bed.nic.carrier_downs = 1;
  down(server, 0, kPhysDisabled);
  for (const Row& row : rows) {
    bed.nic.ethtool.down_reason = row.given;
    read(port());
    EXPECT_EQ(series().count("fabric_link_down_reason_info,device=" + port().rdma + ",port=1,reason=" + row.reason +
                             ",detail=" + row.detail),
              1u)
        << row.reason;
    const auto found = complaints_of(server.view(), {"port-state"});
    ASSERT_EQ(found.size(), 1u) << describe(found);
    EXPECT_TRUE(has(found[0].observed, "the NIC says: " + row.reason)) << found[0].observed;
    EXPECT_TRUE(has(found[0].remedy, row.fix)) << row.reason << ": " << found[0].remedy;
  }
  EXPECT_EQ(value("fabric_phy_link_downs_total"), 1);
  bed.nic.ethtool.down_reason.reset();
  read(port());
  EXPECT_FALSE(value("fabric_link_down_reason_info")) << "an older driver";
  EXPECT_FALSE(has(findings("port-state"), "the NIC says")) << findings("port-state");
}

TEST_P(Cards, ObjectsAreComparedWithTheLimitsOfTheDevice) {
  rdma->devices[3].resources = {{"mr", 10}, {"qp", 120'800}};
  rdma->devices[3].resources_errno = 0;
  read(port());
  EXPECT_EQ(value("fabric_rdma_resources,"), 10);
  EXPECT_FALSE(value("fabric_rdma_resources_limit")) << "an older kernel";
  EXPECT_EQ(findings("rdma-resources"), "");
  rdma->devices[3].limits = {{"mr", 1'000'000}, {"qp", 131'072}};
  read(port());
  EXPECT_EQ(value("fabric_rdma_resources_limit,device=" + port().rdma + ",kind=qp"), 131'072);
  EXPECT_TRUE(has(findings("rdma-resources"),
                  "rdma-resources " + port().id() + " warning: queue pairs 92 % used (120800 of 131072)"))
      << findings("rdma-resources");
  rdma->devices[3].resources_errno = EMSGSIZE;
  read(port());
  EXPECT_FALSE(value("fabric_rdma_resources")) << "absent, not zero";
  EXPECT_EQ(findings("rdma-resources"), "");
}

}  // namespace
}  // namespace fabric::test
