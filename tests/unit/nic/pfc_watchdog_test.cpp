// SPDX-License-Identifier: Apache-2.0
// The NIC's PFC watchdog: read, set and read back from simulated NICs; and judged.
#include "judge/engine.h"
#include "support/healthy_node.h"
#include "support/sim_nic_bed.h"

namespace fabric {
namespace {

using namespace test;

constexpr std::string_view kKey = "pfc_watchdog";

std::vector<std::string> tunables_set(const SimNic& nic) {
  std::vector<std::string> out;
  for (const std::string& line : nic.log)
    if (line.starts_with("settunable")) out.push_back(line);
  return out;
}

TEST(PfcWatchdog, IsSetWhileThePortIsInUseAndReadBack) {
  Bed bed{Personality::mlx5};
  bed.terms.in_use = kInUse;
  EXPECT_EQ(bed.read().pfc_watchdog, 8000u) << "the firmware's default";
  const Qos want{.pfc_watchdog = 100};
  EXPECT_EQ(of(bed.apply(want), kKey).outcome, Outcome::applied);
  EXPECT_EQ(bed.nic.ethtool.pfc_prevention, 100);
  EXPECT_EQ(of(bed.apply(want), kKey).outcome, Outcome::in_sync);
  EXPECT_EQ(of(bed.apply({.pfc_watchdog = 0}), kKey).outcome, Outcome::applied) << "off";
  EXPECT_EQ(tunables_set(bed.nic),
            (std::vector<std::string>{"settunable pfc-prevention-tout 100", "settunable pfc-prevention-tout 0"}));
}

TEST(PfcWatchdog, HasTheRangeOfItsDriver) {
  Bed mlx5{Personality::mlx5};
  for (const uint32_t beyond : {1U, 79U, 8001U})
    EXPECT_TRUE(has_outcome(mlx5.apply({.pfc_watchdog = beyond}), kKey, Outcome::unsupported, "80 to 8000"));
  EXPECT_TRUE(tunables_set(mlx5.nic).empty());
  Bed bnxt{Personality::bnxt};
  EXPECT_TRUE(has_outcome(bnxt.apply({.pfc_watchdog = 100}), kKey, Outcome::unsupported, "has no PFC watchdog"))
      << "before Linux 6.18";
  bnxt.nic.ethtool.pfc_prevention = 500;
  EXPECT_EQ(of(bnxt.apply({.pfc_watchdog = 50}), kKey).outcome, Outcome::applied);
  EXPECT_TRUE(has_outcome(bnxt.apply({.pfc_watchdog = 8000}), kKey, Outcome::refused, "firmware"));
}

TEST(PfcWatchdog, IsNotWrittenToANetdevThatWasRenamed) {
  Bed bed{Personality::mlx5};
  bed.nic.name = "eth9";
  bed.sim.add_nic("eth0", Personality::mlx5);
  bed.apply({.pfc_watchdog = 100});
  for (const SimNic& nic : bed.sim.nics()) EXPECT_TRUE(tunables_set(nic).empty()) << nic.name;
}

// Only a port with PFC, and only if the policy does not decide.
TEST(PfcWatchdog, IsReportedIfItIsOffBesidePfc) {
  const auto status = [](std::optional<uint32_t> now, std::optional<uint32_t> wanted, uint8_t pfc) {
    Healthy healthy;
    healthy.now.ports[0].qos.pfc_watchdog = now;
    healthy.now.ports[0].qos.pfc = PrioSet{pfc};
    healthy.policy.ports[0].want.pfc_watchdog = wanted;
    std::optional<Status> out;
    for (const Finding& finding : run_rules(healthy.view()).findings)
      if (finding.id == "pfc-watchdog" && finding.subject == healthy.now.ports[0].id()) out = finding.status;
    return out;
  };
  EXPECT_EQ(status(0, {}, 0x08), Status::warning);
  EXPECT_EQ(status(8000, {}, 0x08), Status::ok);
  EXPECT_FALSE(status(0, {}, 0)) << "no PFC: no pause without end";
  EXPECT_FALSE(status(0, 0, 0x08)) << "the policy's own value";
  EXPECT_FALSE(status({}, {}, 0x08)) << "a driver without it";
}

}  // namespace
}  // namespace fabric
