// SPDX-License-Identifier: Apache-2.0
#include "nic/driver.h"

#include "nic/generic/dscp.h"
#include "nic/generic/upstream.h"
#include "support/sim_nic.h"
#include "support/test.h"

namespace fabric {
namespace {

TEST(DriverFor, IsDecidedByTheKernelsNameAndUpstreamTakesTheRest) {
  EXPECT_EQ(driver_for("mlx5_core").name, "mlx5");
  EXPECT_EQ(driver_for("bnxt_en").name, "bnxt");
  EXPECT_EQ(driver_for("bng_en").name, "bnge");
  EXPECT_EQ(driver_for("ice").name, "ice");
  EXPECT_EQ(driver_for("rxe").name, "rxe");
  EXPECT_EQ(driver_for("siw").name, "rxe");
  EXPECT_EQ(driver_for("mlx4_core").name, "mlx4");
  for (const char* other : {"", "hns3", "mlx5"}) EXPECT_EQ(driver_for(other).name, "upstream") << other;
}

TEST(Dscp, AnyOtherSelectorIsNotOurs) {
  const std::vector<dcb_app> table{{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26},
                                   {IEEE_8021QAZ_APP_SEL_DGRAM, 3, 26},
                                   {IEEE_8021QAZ_APP_SEL_ETHERTYPE, 3, 0x8915}};
  EXPECT_EQ(dscp::map_of(table), (DscpMap{{26, 3}}));
  auto change = dscp::difference(table, {});
  ASSERT_EQ(change.stale.size(), 1u);
  EXPECT_EQ(change.stale[0].selector, IEEE_8021QAZ_APP_SEL_DSCP);
  EXPECT_TRUE(change.missing.empty());
}

TEST(Dscp, ADscpBeyondSixBitsIsIgnored) {
  EXPECT_TRUE(dscp::map_of({{IEEE_8021QAZ_APP_SEL_DSCP, 3, 64}, {IEEE_8021QAZ_APP_SEL_DSCP, 3, 65'535}}).empty());
}

TEST(Dscp, OfSeveralPrioritiesTheHighestCountsAndTheOthersAreStale) {
  const std::vector<dcb_app> table{{5, 6, 26}, {5, 3, 26}};
  EXPECT_EQ(dscp::map_of(table).at(26), 6);
  auto change = dscp::difference(table, {{26, 3}});
  ASSERT_EQ(change.stale.size(), 1u);
  EXPECT_EQ(change.stale[0].priority, 6);
  EXPECT_TRUE(change.missing.empty());
}

TEST(Dscp, CompleteKeepsWhatIsGiven) {
  auto map = dscp::complete({{26, 5}});
  EXPECT_EQ(map.size(), 64u);
  EXPECT_EQ(map.at(26), 5);
  EXPECT_EQ(map.at(25), 3);
  EXPECT_EQ(map.at(63), 7);
}

TEST(Mlx5, ExpectsTheWholeMapWhereAnyIsNamed) {
  const Driver& mlx5 = driver_for("mlx5_core");
  Qos want{.dscp_map = DscpMap{{26, 5}}};
  EXPECT_EQ(mlx5.expected(want, {}).dscp_map, dscp::complete({{26, 5}}));
  want.dscp_map = DscpMap{};
  EXPECT_EQ(mlx5.expected(want, {}).dscp_map, DscpMap{}) << "no entry: trust PCP";
  want.trust = Trust::dscp;
  EXPECT_EQ(mlx5.expected(want, {}).dscp_map, dscp::complete({}));
}

TEST(Upstream, KeepsWhatAProfileDoesNotOwn) {
  ieee_ets now{};
  now.willing = 1;
  now.cbs = 1;
  now.tc_reco_bw[2] = 9;
  Ets want;
  want.prio_tc[3] = 1;
  want.tsa[1] = Tsa::ets;
  want.bw = {70, 100};
  auto sent = upstream::wire(want, now);
  EXPECT_EQ(sent.willing, 1);
  EXPECT_EQ(sent.cbs, 1);
  EXPECT_EQ(sent.tc_reco_bw[2], 9);
  EXPECT_EQ(sent.prio_tc[3], 1);
  EXPECT_EQ(sent.tc_tsa[1], IEEE_8021QAZ_TSA_ETS);
  EXPECT_EQ(sent.tc_tx_bw[1], 100);
  EXPECT_EQ(sent.tc_tx_bw[0], 0) << "a strict class has no bandwidth";
}

struct Read : testing::Test {
  Qos read(test::SimNic& nic) {
    Kernel kernel = sim.kernel();
    auto reading = driver_for(nic.kernel_driver()).read({kernel, nic.name}, Keys().set());
    EXPECT_TRUE(reading.ok()) << reading.error().text();
    return reading.ok() ? reading->values : Qos{};
  }
  test::SimKernel sim;
};

TEST_F(Read, AGetterThatFailsLeavesItsSettingAbsent) {
  auto& nic = sim.add_nic("eth0", test::Personality::mlx5);
  nic.faults["getpfc"] = {.code = EIO};
  Qos qos = read(nic);
  EXPECT_FALSE(qos.pfc || qos.cable_length);
  EXPECT_TRUE(qos.ets && qos.trust && qos.mtu && qos.pause && qos.dcbx);
  nic.faults = {{"getpause", {.code = EOPNOTSUPP}}};
  EXPECT_FALSE(read(nic).pause);
}

TEST_F(Read, WithoutDcbnlOnlyTheNetdevIsKnown) {
  Qos qos = read(sim.add_nic("eth0", test::Personality::nodcb));
  EXPECT_FALSE(qos.dcbx || qos.trust || qos.dscp_map || qos.ets || qos.pfc || qos.cable_length);
  EXPECT_EQ(qos.mtu, 1500u);
  EXPECT_EQ(qos.pause, (Pause{true, true}));
}

TEST_F(Read, TheHostOwnsDcbxOnlyWithIeeeAndNoAgentBelow) {
  auto& nic = sim.add_nic("eth0", test::Personality::bnxt);
  const std::pair<int, Dcbx> modes[] = {{0x09, Dcbx::host},     {0x0d, Dcbx::host},     {0x08, Dcbx::firmware},
                                        {0x0b, Dcbx::firmware}, {0x05, Dcbx::firmware}, {0x00, Dcbx::firmware}};
  for (auto [mode, owner] : modes) {
    nic.dcbx = static_cast<uint8_t>(mode);
    EXPECT_EQ(read(nic).dcbx, owner) << mode;
  }
}

TEST_F(Read, TheCablesLengthIsMlx5sDelay) {
  auto& nic = sim.add_nic("eth0", test::Personality::mlx5);
  EXPECT_EQ(read(nic).cable_length, 7u);
  nic.pfc.delay = 0;
  EXPECT_FALSE(read(nic).cable_length) << "a card without port buffers";
  auto& other = sim.add_nic("eth1", test::Personality::full);
  other.pfc.delay = 30;
  EXPECT_FALSE(read(other).cable_length) << "bit times there";
}

TEST_F(Read, TrustFollowsTheTableOfTrustWhereThereIsOne) {
  auto& nic = sim.add_nic("eth0", test::Personality::full);
  nic.app.push_back({IEEE_8021QAZ_APP_SEL_DSCP, 3, 26});
  EXPECT_EQ(read(nic).trust, Trust::pcp);
  nic.trust = {IEEE_8021QAZ_APP_SEL_DSCP, dcbnl::kSelectorPcp};
  EXPECT_EQ(read(nic).trust, Trust::dscp);
  auto& other = sim.add_nic("eth1", test::Personality::bnxt);
  EXPECT_EQ(read(other).trust, Trust::pcp);
  other.app.push_back({IEEE_8021QAZ_APP_SEL_DSCP, 3, 26});
  EXPECT_EQ(read(other).trust, Trust::dscp);
}

TEST_F(Read, ADeviceThatIsGoneIsAnError) {
  auto& nic = sim.add_nic("eth0", test::Personality::mlx5);
  nic.present = false;
  Kernel kernel = sim.kernel();
  ASSERT_EQ(test::code_of(driver_for("mlx5_core").read({kernel, "eth0"}, Keys().set())), ENODEV);
}

}  // namespace
}  // namespace fabric
