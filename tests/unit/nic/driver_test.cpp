// SPDX-License-Identifier: Apache-2.0
// The drivers: the driver of a port, the settings that it reads and completes, those that it offers, and the reasons
// for the others; and features of every driver: the PFC watchdog, rdma_cm's defaults. The table of driver operations in
// fabric-concepts(7) is generated from the operations' rows.
#include "nic/driver.h"

#include "base/parse.h"
#include "enforce/suspect.h"
#include "judge/engine.h"
#include "nic/capabilities.h"
#include "nic/generic/dscp.h"
#include "nic/generic/upstream.h"
#include "support/golden.h"
#include "support/healthy_node.h"
#include "support/protection.h"
#include "support/sim_nic.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

// -- Drivers

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
  Qos read(SimNic& nic) {
    Kernel kernel = sim.kernel();
    auto reading = driver_for(nic.kernel_driver()).read({kernel, nic.name}, Keys().set());
    EXPECT_TRUE(reading.ok()) << reading.error().text();
    return reading.ok() ? reading->values : Qos{};
  }
  SimKernel sim;
};

TEST_F(Read, AGetterThatFailsLeavesItsSettingAbsent) {
  auto& nic = sim.add_nic("eth0", Personality::mlx5);
  nic.faults["getpfc"] = {.code = EIO};
  Qos qos = read(nic);
  EXPECT_FALSE(qos.pfc || qos.cable_length);
  EXPECT_TRUE(qos.ets && qos.trust && qos.mtu && qos.pause && qos.dcbx);
  nic.faults = {{"getpause", {.code = EOPNOTSUPP}}};
  EXPECT_FALSE(read(nic).pause);
}

TEST_F(Read, WithoutDcbnlOnlyTheNetdevIsKnown) {
  Qos qos = read(sim.add_nic("eth0", Personality::nodcb));
  EXPECT_FALSE(qos.dcbx || qos.trust || qos.dscp_map || qos.ets || qos.pfc || qos.cable_length);
  EXPECT_EQ(qos.mtu, 1500u);
  EXPECT_EQ(qos.pause, (Pause{true, true}));
}

TEST_F(Read, TheHostOwnsDcbxOnlyWithIeeeAndNoAgentBelow) {
  auto& nic = sim.add_nic("eth0", Personality::bnxt);
  const std::pair<int, Dcbx> modes[] = {{0x09, Dcbx::host},     {0x0d, Dcbx::host},     {0x08, Dcbx::firmware},
                                        {0x0b, Dcbx::firmware}, {0x05, Dcbx::firmware}, {0x00, Dcbx::firmware}};
  for (auto [mode, owner] : modes) {
    nic.dcbx = static_cast<uint8_t>(mode);
    EXPECT_EQ(read(nic).dcbx, owner) << mode;
  }
}

TEST_F(Read, TheCablesLengthIsMlx5sDelay) {
  auto& nic = sim.add_nic("eth0", Personality::mlx5);
  EXPECT_EQ(read(nic).cable_length, 7u);
  nic.pfc.delay = 0;
  EXPECT_FALSE(read(nic).cable_length) << "a card without port buffers";
  auto& other = sim.add_nic("eth1", Personality::full);
  other.pfc.delay = 30;
  EXPECT_FALSE(read(other).cable_length) << "bit times there";
}

TEST_F(Read, TrustFollowsTheTableOfTrustWhereThereIsOne) {
  auto& nic = sim.add_nic("eth0", Personality::full);
  nic.app.push_back({IEEE_8021QAZ_APP_SEL_DSCP, 3, 26});
  EXPECT_EQ(read(nic).trust, Trust::pcp);
  nic.trust = {IEEE_8021QAZ_APP_SEL_DSCP, dcbnl::kSelectorPcp};
  EXPECT_EQ(read(nic).trust, Trust::dscp);
  auto& other = sim.add_nic("eth1", Personality::bnxt);
  EXPECT_EQ(read(other).trust, Trust::pcp);
  other.app.push_back({IEEE_8021QAZ_APP_SEL_DSCP, 3, 26});
  EXPECT_EQ(read(other).trust, Trust::dscp);
}

TEST_F(Read, ADeviceThatIsGoneIsAnError) {
  auto& nic = sim.add_nic("eth0", Personality::mlx5);
  nic.present = false;
  Kernel kernel = sim.kernel();
  ASSERT_EQ(test::code_of(driver_for("mlx5_core").read({kernel, "eth0"}, Keys().set())), ENODEV);
}

// -- Why a driver does not offer a setting; and i40e, ionic, qede and an unknown driver

struct Reason {
  std::string_view keys, says;
};
struct Offer {
  std::string_view kernel_name;
  std::vector<Reason> reasons;
};

const Offer kOffers[] = {
    {"bnxt_en",
     {{"fw_lldp", "niccli"},
      {"ecn_rp", "one switch for all priorities: cc"},
      {"ecn_np", "cc"},
      {"cc", "Linux 6.12"},
      {"rpg_gd", "NVIDIA"},
      {"maxrate", "no rate limit"},
      {"cable_length", "mlx5"},
      {"apptrust", "APP trust table"}}},
    {"bng_en",
     {{"mtu", "only when the netdev comes up"},
      {"pfc ets trust dscp_map dcbx roce_prio", "no dcbnl"},
      {"cc cc_mode cnp_dscp roce_dscp", "bng_re has no files"},
      {"rpg_gd", "NVIDIA"},
      {"fw_lldp", "ice and i40e"},
      {"cable_length", "mlx5"}}},
    {"ice", {{"cc", "irdma"}, {"ecn_np", "OFED"}, {"cc_mode roce_prio", "Broadcom"}, {"cnp_dscp", "CNPs"}}},
    {"i40e", {{"trust", "VLAN tag"}, {"dscp_map", "E810"}, {"cc", "iWARP"}, {"rpg_threshold", "NVIDIA"}}},
    {"ionic",
     {{"pause", "would replace it"},
      {"pfc", "nicctl update qos"},
      {"dscp_map ets trust dcbx", "nicctl"},
      {"cc ecn_rp cnp_dscp", "DCQCN profile"}}},
    {"mlx4_core", {{"dscp_map", "VLAN tag"}, {"trust", "ConnectX-3"}, {"cc", "no DCQCN"}}},
    {"qede",
     {{"pfc", "not operational in IEEE mode"},
      {"ets cc", "qaucli"},
      {"dscp_map", "no DSCPs"},
      {"trust", "VLAN tag"},
      {"roce_prio", "dcb app add dev eth0 dgram-port-prio 4791"}}},
    {"rxe", {{"pfc", "no priorities in hardware"}, {"fw_lldp", "no firmware"}, {"cc rpg_gd", "congestion control"}}},
    {"hns3",
     {{"fw_lldp", "ice and i40e"},
      {"traffic_class", "OFED"},
      {"cc", "the kernel has no switch"},
      {"maxrate", "rate limit"},
      {"buffer_size", "sizes its buffers itself"},
      {"roce_dscp", "Broadcom"},
      {"cable_length", "mlx5"}}},
};

// A port with dcbnl: each missing setting has a reason of its own.
Qos with_dcbnl() { return {.dcbx = Dcbx::host, .trust = Trust::pcp}; }

TEST(Offers, WhatIsMissingHasItsReason) {
  for (const Offer& offer : kOffers) {
    SCOPED_TRACE(offer.kernel_name);
    const Driver& driver = driver_for(offer.kernel_name);
    for (const Reason& reason : offer.reasons)
      for (const std::string_view key : words(reason.keys)) {
        const Setting& setting = setting_of(*parse_setting(key));
        EXPECT_TRUE(has(remedy_of(driver, setting, with_dcbnl(), "eth0", 0), reason.says)) << key;
      }
  }
}

TEST(Offers, NoReasonIsAnEmptyPhrase) {
  for (const Driver* driver : drivers())
    for (const Setting& setting : kSettings) {
      if (op_of(*driver, setting.id).write != nullptr) continue;
      EXPECT_FALSE(has(remedy_of(*driver, setting, with_dcbnl(), "eth0", 0), "does not offer it"))
          << driver->name << " " << setting.key << ": add a row to kMissing (lib/nic/generic/upstream.cpp)";
    }
}

TEST(Offers, AVirtualFunctionIsSentToItsPhysicalFunctionForDcbAlone) {
  const Driver& upstream = driver_for("hns3");
  EXPECT_TRUE(has(remedy_of(upstream, setting_of(SettingId::pfc), Qos{}, "eth0", 0), "physical function"));
  EXPECT_FALSE(has(remedy_of(upstream, setting_of(SettingId::cc), Qos{}, "eth0", 0), "physical function"));
}

TEST(Bnge, ARefusedPauseSaysWhatToDo) {
  const Driver& bnge = driver_for("bng_en");
  const Setting& pause = setting_of(SettingId::pause);
  EXPECT_TRUE(has(remedy_of(bnge, pause, Qos{}, "eth0", EINVAL), "ethtool -s eth0 autoneg on"));
  EXPECT_TRUE(has(remedy_of(bnge, pause, Qos{}, "eth0", EOPNOTSUPP), "firmware"));
  EXPECT_EQ(remedy_of(bnge, pause, Qos{}, "eth0", EIO), "");
}

// No operation of dcbnl: pause is set, all else is refused before anything is sent.
TEST(Bnge, WritesPauseAndNothingElse) {
  Bed bed(Personality::nodcb);
  bed.port.kernel_driver = "bng_en";
  const auto changes = bed.apply({.pause = Pause{}, .mtu = 4200, .pfc = PrioSet{0x08}});
  EXPECT_EQ(of(changes, "pause").outcome, Outcome::applied) << text(changes);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::unsupported);
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::unsupported);
  EXPECT_EQ(bed.nic.mtu, 1500u);
  EXPECT_EQ(bed.nic.writes(), 1u);
}

Qos i40e_profile() {
  return {.dcbx = Dcbx::host,
          .fw_lldp = false,
          .pause = Pause{},
          .ets = shares({0, 0, 0, 1, 0, 0, 0, 0}, {50, 50}),
          .pfc = PrioSet{0x08}};
}

using I40e = On<Personality::i40e>;
using Qede = On<Personality::qede>;

TEST_F(I40e, TheAgentIsStoppedByItsInvertedFlagBeforeTheRest) {
  bed.nic.firmware_agent = true;
  EXPECT_EQ(bed.read().fw_lldp, true);
  auto plan = bed.plan(i40e_profile());
  auto changes = bed.settle_to(i40e_profile());
  expect_all(changes, {Outcome::applied});
  EXPECT_EQ(keys_with(plan, Outcome::differs), keys_with(changes, Outcome::applied)) << text(plan);
  EXPECT_EQ(bed.nic.log.front(), "setprivflag disable-fw-lldp on");
  EXPECT_EQ(bed.read().fw_lldp, false);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
}

// The switch had given the NIC the same settings as the policy.
TEST_F(I40e, WhatTheStoppedAgentHadSetIsGivenToTheNicAgain) {
  Qos want = i40e_profile();
  bed.settle_to(want);
  bed.nic.firmware_agent = true;
  ASSERT_NE(protection_of(bed.nic, 3), 0U);
  const Changes changes = bed.settle_to(want);
  EXPECT_EQ(of(changes, "fw_lldp").outcome, Outcome::applied);
  EXPECT_NE(protection_of(bed.nic, 3), 0U) << "the reading alone shows PFC\n" << text(changes);
}

// i40e_dcb_get_num_tc(): the driver takes and shows a gap, and gives the NIC one class.
TEST_F(I40e, ClassesWithAGapAreNotWritten) {
  EXPECT_TRUE(has_outcome(bed.apply({.ets = shares({0, 0, 0, 2, 0, 0, 0, 0}, {50, 0, 50})}), "ets",
                          Outcome::unsupported, "without a gap"));
  EXPECT_EQ(bed.nic.calls["setets"], 0u);
}

TEST_F(I40e, WithoutAWordOfItNothingOfDcbIsWrittenAndBothWaysAreNamed) {
  bed.nic.firmware_agent = true;
  Qos want = i40e_profile();
  want.fw_lldp.reset();
  for (const Changes& changes : {bed.plan(want), bed.apply(want)})
    for (const char* key : {"dcbx", "ets", "pfc"}) {
      EXPECT_TRUE(has_outcome(changes, key, Outcome::pending, "fw_lldp = false"));
      EXPECT_TRUE(has(of(changes, key).detail, "ethtool --set-priv-flags eth0 disable-fw-lldp on"));
    }
  EXPECT_EQ(bed.nic.calls["setpfc"] + bed.nic.calls["setets"], 0u);
}

TEST_F(I40e, PauseIsShownAsOffBesidePfcAndThenUnverified) {
  bed.nic.pfc.pfc_en = 0x08;
  auto changes = bed.apply({.pause = Pause{}, .pfc = PrioSet{0x08}});
  EXPECT_EQ(of(changes, "pause").outcome, Outcome::unverified) << text(changes);
  EXPECT_EQ(bed.nic.writes(), 0u);
}

TEST(Ionic, PauseOffIsNotWrittenOverThePfcThatItMayBe) {
  Bed bed(Personality::nodcb);
  Qos want{.pause = Pause{}};
  EXPECT_EQ(of(bed.apply(want), "pause").outcome, Outcome::unsupported);
  EXPECT_EQ(bed.nic.calls["setpause"], 0u);
  bed.nic.pause = Pause{};
  EXPECT_EQ(of(bed.apply(want), "pause").outcome, Outcome::in_sync);
}

// The commands of AMD UG1813, with the port's own UUID and values: nicctl is not run, so they must be right as they
// are.
TEST(Ionic, EachSettingOfNicctlHasItsCommand) {
  const Qos want{.trust = Trust::dscp,
                 .dscp_map = DscpMap{{24, 3}, {26, 3}, {46, 6}},
                 .ets = Ets{{0, 0, 0, 1, 0, 0, 2, 0}, {Tsa::ets, Tsa::ets, Tsa::strict}, {40, 60, 0}},
                 .pfc = PrioSet{0x08},
                 .cnp_dscp = 46,
                 .cnp_prio = OrNone{6}};
  const auto command = [&](SettingId id) {
    return kIonic.vendor_command(setting_of(id), want, "ionic_3", "04:90:81:30:A7:a0");
  };
  const std::string port = " -p \"$(nicctl show port | awk 'tolower($3) ~ /^04908130-a7a0-/ {print $3}')\"";
  EXPECT_EQ(command(SettingId::trust), "nicctl update qos --classification-type dscp");
  EXPECT_EQ(command(SettingId::dscp_map), "nicctl update qos dscp-to-priority" + port +
                                              " --dscp 24,26 --priority 3 && nicctl update qos dscp-to-priority" +
                                              port + " --dscp 46 --priority 6");
  EXPECT_EQ(command(SettingId::pfc),
            "nicctl update port" + port +
                " --pause-type pfc --rx-pause enable --tx-pause enable && nicctl update qos pfc" + port +
                " --priority 3 --no-drop enable");
  EXPECT_EQ(command(SettingId::cnp_dscp), "nicctl update dcqcn -r ionic_3 -i 1 --cnp-dscp 46");
  EXPECT_EQ(command(SettingId::cnp_prio), "nicctl update qos dscp-to-priority" + port + " --dscp 46 --priority 6");
  EXPECT_EQ(command(SettingId::ets),
            "nicctl update qos scheduling" + port + " --priority 0,3,6 --dwrr 40,60,0 --rate-limit 0,0,0");
  EXPECT_EQ(command(SettingId::mtu), "") << "the kernel sets it";
  EXPECT_TRUE(has(kIonic.vendor_command(setting_of(SettingId::pfc), want, "ionic_3", ""), " -p PORT "))
      << "MAC unknown";
}

// nicctl has a weight for each priority, and a class may have several.
TEST(Ionic, WeightsOfPrioritiesFollowFromTheClasses) {
  Qos want{.dscp_map = DscpMap{{24, 3}, {34, 4}, {46, 6}},
           .ets = Ets{{0, 0, 0, 1, 1, 0, 2, 0}, {Tsa::ets, Tsa::ets, Tsa::strict}, {49, 51, 0}}};
  const auto command = [&] { return kIonic.vendor_command(setting_of(SettingId::ets), want, "", ""); };
  EXPECT_TRUE(has(command(), " --priority 0,3,4,6 --dwrr 49,25,26,0 --rate-limit 0,0,0,0")) << command();
  want.cnp_dscp = 48;
  want.cnp_prio = OrNone{7};
  want.ets->prio_tc[7] = 2;
  EXPECT_TRUE(has(command(), " --priority 0,3,4,6,7 --dwrr 49,25,26,0,0 --rate-limit 0,0,0,0,0")) << command();
  want.ets->bw = {99, 1, 0};
  EXPECT_EQ(command(), "") << "one of two priorities would have the weight 0: strict priority";
  want.ets->prio_tc[5] = 3;
  want.ets->tsa[3] = Tsa::ets;
  want.ets->bw = {40, 40, 0, 20};
  EXPECT_EQ(command(), "") << "no DSCP reaches the third class";
  want.ets = Ets{{0, 0, 0, 1, 0, 0, 2, 0}, {Tsa::ets, Tsa::cb_shaper, Tsa::strict}, {100, 0, 0}};
  EXPECT_EQ(command(), "") << "a shaper by credits";
}

// A plan says what to run and that nothing was set; the agent never calls it a success.
TEST(Ionic, PlanNamesTheCommandAndWritesNothing) {
  Bed bed(Personality::nodcb);
  const auto changes = bed.apply({.pfc = PrioSet{0x08}});
  EXPECT_TRUE(has_outcome(changes, "pfc", Outcome::unsupported, "nicctl update qos pfc -p ")) << text(changes);
  EXPECT_TRUE(has(of(changes, "pfc").detail, "not enforced")) << text(changes);
  EXPECT_EQ(bed.nic.writes(), 0u);
}

TEST_F(Qede, WhatIsSetIsPutToUseAndTheNumbersOfClassesStay) {
  bed.nic.pfc.pfc_cap = 4;
  Qos want = i40e_profile();
  want.fw_lldp.reset(), want.dcbx.reset(), want.pause.reset();
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.nic.calls["setall"], 2u);
  EXPECT_EQ(bed.nic.pfc.pfc_cap, 4);
  EXPECT_EQ(bed.nic.ets.ets_cap, 8);
}

TEST_F(Qede, ItsFirmwareKeepsDcbx) {
  EXPECT_TRUE(has_outcome(bed.apply({.dcbx = Dcbx::host}), "dcbx", Outcome::unsupported, "always runs DCBX"));
  EXPECT_EQ(bed.nic.writes(), 0u);
}

TEST_F(Qede, WithoutIeeeModeNothingCanBeReadAndTheReasonSaysSo) {
  for (const char* op : {"getets", "getpfc", "setets", "setpfc"}) bed.nic.faults[op] = {.code = EINVAL};
  Qos want = i40e_profile();
  auto changes = bed.apply(want);
  for (const char* key : {"ets", "pfc"}) {
    EXPECT_TRUE(has_outcome(changes, key, Outcome::unsupported, "IEEE mode"));
  }
}

TEST_F(Qede, ARefusedSetAllIsARefusal) {
  bed.nic.faults["setall"] = {.code = EINVAL};
  auto changes = bed.apply({.pfc = PrioSet{0x08}});
  EXPECT_EQ(of(changes, "pfc").outcome, Outcome::refused);
  EXPECT_EQ(of(changes, "pfc").code, EINVAL);
}

TEST(Mlx4, RatesAreRoundedUpAndPfcAndPauseExcludeEachOther) {
  const Driver& mlx4 = driver_for("mlx4_core");
  Qos want, have;
  want.maxrate = Rates{.kbit = {0, 1, 100'000, 250'000}};
  EXPECT_EQ(mlx4.expected(want, {}).maxrate->kbit, (std::array<uint64_t, 8>{0, 100'000, 100'000, 300'000}));
  want.pfc = PrioSet{0x08};
  have.pause = Pause{true, true};
  mlx4.effect(setting_of(SettingId::pfc), want, have);
  EXPECT_EQ(have.pause, Pause{});
  want.pfc = PrioSet{};
  mlx4.effect(setting_of(SettingId::pfc), want, have);
  EXPECT_EQ(have.pause, Pause{}) << "PFC off leaves pause as it is";
  have.pfc = PrioSet{0x08};
  want.pause = Pause{true, false};
  mlx4.effect(setting_of(SettingId::pause), want, have);
  EXPECT_EQ(have.pfc, PrioSet{});
  want.ets = Ets{};
  want.ets->tsa[0] = want.ets->tsa[1] = Tsa::ets;
  want.ets->bw = {50, 40};
  EXPECT_FALSE(mlx4.never(setting_of(SettingId::ets), want).empty());
  want.ets->bw = {50, 50};
  EXPECT_TRUE(mlx4.never(setting_of(SettingId::ets), want).empty());
}

using Mlx4Card = On<Personality::mlx4>;

Qos mlx4_profile() {
  return {.dcbx = Dcbx::host,
          .pause = Pause{},
          .mtu = 4200,
          .ets = shares({0, 0, 0, 1, 0, 0, 0, 0}, {50, 50}),
          .pfc = PrioSet{0x08},
          .maxrate = Rates{.kbit = {0, 1, 100'000, 250'000}}};
}

TEST_F(Mlx4Card, EverySettingIsWrittenAndReadsBack) {
  const Qos before = bed.read(Keys().set(index(SettingId::maxrate)) | keys_of(mlx4_profile()));
  EXPECT_EQ(before.dcbx, Dcbx::host) << "the driver starts with CEE and IEEE";
  EXPECT_EQ(before.ets->tsa[0], Tsa::vendor);
  EXPECT_EQ(before.trust, Trust::pcp);
  EXPECT_FALSE(before.dscp_map);
  const Changes changes = bed.settle_to(mlx4_profile());
  expect_all(changes, {Outcome::in_sync, Outcome::applied});
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
  EXPECT_EQ(bed.nic.pause, Pause{});
  EXPECT_EQ(bed.nic.maxrate.tc_maxrate[3], 300'000u) << "rounded up to 100 Mb/s";
  expect_settled(bed, mlx4_profile());
}

TEST_F(Mlx4Card, TheOriginalClassesOfTheVendorAreRestored) {
  const Qos before = bed.read(keys_of(mlx4_profile()));
  bed.settle_to(mlx4_profile());
  const Qos original{.pause = before.pause, .ets = before.ets, .pfc = before.pfc};
  bed.settle_to(original);
  EXPECT_EQ(bed.read(keys_of(original)).ets, before.ets);
  EXPECT_EQ(bed.nic.pause, (Pause{true, true}));
  expect_settled(bed, original);
}

TEST_F(Mlx4Card, PauseIsNotSwitchedOnBesidePfcThatStays) {
  bed.settle_to(mlx4_profile());
  const Changes changes = bed.apply({.pause = Pause{true, true}, .pfc = PrioSet{0x08}});
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08) << text(changes);
}

// Any other mode is refused, and a change of the mode resets ETS and PFC.
TEST_F(Mlx4Card, DcbxCannotBeGivenToTheFirmware) {
  bed.settle_to(mlx4_profile());
  const Changes changes = bed.apply({.dcbx = Dcbx::firmware});
  EXPECT_EQ(of(changes, "dcbx").outcome, Outcome::refused) << text(changes);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
  bed.nic.dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE;
  EXPECT_EQ(bed.read().dcbx, Dcbx::firmware) << "IEEE is off";
  bed.settle_to(mlx4_profile());
  expect_settled(bed, mlx4_profile());
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
}

TEST(Orders, OwnerOfDcbxFirstAndBroadcomsCnpsAfterItsSwitch) {
  for (const Driver* driver : drivers()) {
    SCOPED_TRACE(driver->name);
    auto at = [&](SettingId setting) {
      return std::find(driver->order.begin(), driver->order.end(), setting) - driver->order.begin();
    };
    EXPECT_EQ(at(SettingId::fw_lldp), 0);
    EXPECT_EQ(at(SettingId::dcbx), 1);
    EXPECT_LT(at(SettingId::ets), at(SettingId::pfc));
    if (driver->name == "bnxt") {
      EXPECT_LT(at(SettingId::cc), at(SettingId::cnp_dscp));
      EXPECT_LT(at(SettingId::pfc), at(SettingId::cc));
    }
  }
}

// -- The PFC watchdog: read, set and read back from simulated NICs; and judged

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
  Bed mlx4{Personality::mlx4};
  EXPECT_TRUE(has_outcome(mlx4.apply({.pfc_watchdog = 100}), kKey, Outcome::unsupported, "has no PFC watchdog"));
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

// Firmware of other drivers refuses mlx5's longest time, and ethtool --set-tunable refuses words ("auto").
TEST(PfcWatchdog, TheFixHasAValueThatTheDriverAccepts) {
  for (const auto& [driver, value] : {std::pair("mlx5_core", "tout 8000,"), std::pair("bnxt_en", "tout 65535,")}) {
    Healthy healthy;
    Port& port = healthy.now.ports[0];
    port.kernel_driver = driver;
    port.qos.pfc_watchdog = 0;
    port.qos.pfc = PrioSet{0x08};
    for (const Finding& finding : run_rules(healthy.view()).findings)
      if (finding.id == "pfc-watchdog" && finding.subject == port.id())
        EXPECT_TRUE(has(finding.fix.at(0).text(), value)) << driver;
  }
}

// -- rdma_cm's defaults in configfs, with cma_configfs.c's rules behind the files

constexpr const char* kFolder = "sys/kernel/config/rdma_cm";

class RdmaCm : public testing::Test {
 protected:
  RdmaCm() {
    bed.tree.folder(kFolder);
    bed.files->on_make_directory(std::string(kFolder) + "/*",
                                 [this](SimFiles&, const std::string& folder, std::string_view) {
                                   if (!bed.tree.root().exists(kFolder)) return ENOENT;
                                   if (folder != device()) return ENODEV;
                                   stand();
                                   return 0;
                                 });
    bed.files->on_remove_directory(device(), [this](SimFiles&, const std::string&, std::string_view) {
      bed.tree.remove(device());
      if (stale) bed.files->heal();
      stale = false;
      return 0;
    });
    bed.files->on_write("*/default_roce_mode", [this](SimFiles&, const std::string& file, std::string_view text) {
      if (stale) return ENODEV;
      if (text.ends_with('\n')) text.remove_suffix(1);
      if (text != "RoCE v2" && text != "IB/RoCE v1") return EINVAL;
      mode = text;
      bed.tree.file(file, mode + "\n");
      return 0;
    });
    bed.files->on_write("*/default_roce_tos", [this](SimFiles&, const std::string& file, std::string_view text) {
      if (stale) return ENODEV;
      auto value = kernel_number(text);
      if (!value || *value > 255) return EINVAL;
      tos = *value;
      bed.tree.file(file, std::to_string(tos) + "\n");
      return 0;
    });
  }

  std::string device() const { return std::string(kFolder) + "/" + bed.port.rdma; }
  // A new directory shows the kernel's values: they are the device's, not the directory's.
  void stand() {
    bed.tree.file(device() + "/ports/1/default_roce_mode", mode + "\n")
        .file(device() + "/ports/1/default_roce_tos", std::to_string(tos) + "\n");
  }
  // The device was registered again while the directory existed.
  void outlive() {
    stand();
    stale = true;
    mode = "IB/RoCE v1";
    tos = 0;
    bed.files->unreadable("*/default_roce_*", ENODEV);
  }

  FileBed bed{Personality::full};
  const Qos want{.roce_mode = RoceMode::v2, .roce_tos = 106};
  std::string mode = "IB/RoCE v1";
  uint32_t tos = 0;
  bool stale = false;
};

TEST_F(RdmaCm, SetsBothAndLeavesNothingBehind) {
  auto changes = bed.apply(want);
  EXPECT_EQ(keys_with(changes, Outcome::applied), (std::set<std::string>{"roce_mode", "roce_tos"})) << text(changes);
  EXPECT_EQ(of(changes, "roce_mode").from, "v1");
  EXPECT_EQ(mode, "RoCE v2");
  EXPECT_EQ(tos, 106u);
  EXPECT_FALSE(bed.tree.root().exists(device())) << "rmdir of what we made: the module can be unloaded";
  const auto written = bed.files->changes();
  expect_all(bed.apply(want), {Outcome::in_sync});
  for (size_t i = written; i < bed.files->log.size(); ++i) EXPECT_FALSE(has(bed.files->log[i], " = "));
}

// Its files are there (cma_configfs.c), but every write of v2 would be refused.
TEST_F(RdmaCm, AnIwarpDeviceHasNoRoceVersion) {
  bed.tree.file("sys/class/infiniband/" + bed.port.rdma + "/node_type", "4: RNIC\n");
  EXPECT_TRUE(has_outcome(bed.apply(want), "roce_mode", Outcome::unsupported, "speaks iWARP"));
  bed.terms.derived = keys_of(want);
  EXPECT_TRUE(bed.apply(want).empty());
  EXPECT_TRUE(bed.files->log.empty());
}

TEST_F(RdmaCm, ADirectoryOfSomebodyElseStays) {
  stand();
  bed.apply(want);
  EXPECT_TRUE(bed.tree.root().exists(device()));
  for (const std::string& line : bed.files->log)
    EXPECT_FALSE(line.starts_with("mkdir") || line.starts_with("rmdir")) << line;
}

TEST_F(RdmaCm, ADirectoryThatOutlivedItsDeviceIsMadeAnew) {
  outlive();
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.files->log[0], "rmdir " + device());
  EXPECT_EQ(bed.files->log[1], "mkdir " + device());
  EXPECT_TRUE(bed.tree.root().exists(device())) << "it existed before";
  EXPECT_EQ(tos, 106u);
}

// The agent and fabric-agentctl look at the same moment: the other had made the folder, and is done with it.
TEST_F(RdmaCm, AFolderThatAnotherTakesAwayIsMadeAnew) {
  int others = 1;
  bed.files->on_make_directory(std::string(kFolder) + "/*", [&](SimFiles&, const std::string&, std::string_view) {
    if (others-- > 0) return EEXIST;
    stand();
    return 0;
  });
  const Qos have = bed.read(keys_of(want));
  EXPECT_EQ(have.roce_mode, RoceMode::v1);
  EXPECT_EQ(have.roce_tos, 0U);
  others = 1'000;
  EXPECT_FALSE(bed.read(keys_of(want)).roce_mode) << "not for ever";
}

TEST_F(RdmaCm, IsNotTouchedUnlessWanted) {
  bed.apply({.mtu = bed.nic.mtu});
  EXPECT_TRUE(bed.files->log.empty());
}

TEST_F(RdmaCm, APlanWritesNothing) {
  expect_all(bed.plan(want), {Outcome::differs});
  for (const std::string& line : bed.files->log)
    EXPECT_TRUE(line == "mkdir " + device() || line == "rmdir " + device()) << line;
}

TEST_F(RdmaCm, ReasonsWhyItIsNotOffered) {
  const auto because = [this](const std::string& key, const std::string& reason) {
    EXPECT_TRUE(has_outcome(bed.apply(want), key, Outcome::unsupported, reason));
  };
  bed.files->fault({.code = EACCES});
  because("roce_tos", "only root may create");
  bed.files->heal();
  bed.files->fault({.code = EROFS});
  because("roce_mode", "read-only");
  bed.files->heal();
  bed.files->fault({.code = ENODEV});
  because("roce_mode", "rdma_cm does not know the device " + bed.port.rdma);
  bed.files->heal();
  bed.tree.remove(kFolder);
  because("roce_tos", "the module rdma_cm is not loaded: modprobe rdma_cm");
  bed.port.rdma.clear();
  because("roce_tos", "no RDMA device on this port");
}

TEST_F(RdmaCm, ARefusedVersionIsNamed) {
  bed.files->fault({.code = EINVAL, .glob = "*/default_roce_mode"});
  auto changes = bed.apply(want);
  EXPECT_TRUE(has_outcome(changes, "roce_mode", Outcome::refused, "does not offer this RoCE version"));
  EXPECT_EQ(of(changes, "roce_tos").outcome, Outcome::applied);
}

// -- fabric-concepts(7): the table of driver operations

std::string_view read_back_by(SettingId setting) {
  using Kind = NotificationKind;
  switch (setting) {
    case SettingId::dcbx:
    case SettingId::roce_prio: return "dcbnl";
    case SettingId::pfc_watchdog: return "ethtool ioctl";
    case SettingId::mrrs: return "PCI configuration space";
    case SettingId::optional_counters: return "RDMA netlink";
    default: break;
  }
  switch (setting_of(setting).announced) {
    case Kind::dcb: return "dcbnl";
    case Kind::ethtool: return "ethtool netlink";
    case Kind::link: return "rtnetlink";
    case Kind::nothing: break;
  }
  return "the file written";
}

std::string row_text(SettingId setting, const Op& op) {
  std::string source(op.source);
  if (source.starts_with('/')) source = "drivers" + source;
  return std::string(op.disruptive ? "Disruptive" : "Harmless") + "; read back by " +
         std::string(read_back_by(setting)) + ".\n.br\n" + source + "\n";
}

// Settings with the same text are one item.
std::string table_text(std::span<const SettingOp> ops) {
  std::vector<std::pair<std::string, std::string>> items;
  for (const SettingOp& each : ops) {
    const std::string text = row_text(each.setting, each.op), name = "Cm " + std::string(key_text(each.setting));
    const auto same = std::ranges::find(items, text, &std::pair<std::string, std::string>::second);
    if (same == items.end()) items.emplace_back(name, text);
    else same->first += " , " + name;
  }
  std::string out = ".Bl -tag -width Ds\n";
  for (const auto& [names, text] : items) out += ".It " + names + "\n" + text;
  return out + ".El\n";
}

std::string section() {
  std::string out;
  for (const Driver* driver : drivers())
    out += ".Ss " + std::string(driver->name) + "\n" +
           (driver->source.empty() ? "" : std::string(driver->source) + "\n") + table_text(driver->ops);
  out += ".Ss Every driver\n";
  std::vector<SettingOp> shared;
  for (const Feature* feature : features()) shared.insert(shared.end(), feature->ops.begin(), feature->ops.end());
  return out + table_text(shared);
}

TEST(DriverManual, IsWhatTheRowsMake) {
  expect_golden_between("agent/ctl/fabric-concepts.7", ".\\\" Generated from lib/nic: tests/regenerate driver\n",
                        ".\\\" Generated: end\n", section());
}

// A write whose source was not read is not offered, and none is harmless by default.
TEST(DriverManual, EveryOperationNamesItsSource) {
  for (const Driver* driver : drivers())
    for (const SettingOp& each : driver->ops) {
      EXPECT_FALSE(each.op.source.empty()) << driver->name << " " << key_text(each.setting);
      EXPECT_NE(each.op.write, nullptr);
    }
  for (const Feature* feature : features())
    for (const SettingOp& each : feature->ops) EXPECT_FALSE(each.op.source.empty()) << key_text(each.setting);
  for (const SettingOp& each : drivers().back()->ops)
    EXPECT_TRUE(each.op.disruptive) << key_text(each.setting) << ": nothing is known of such a driver";
}

TEST(Capabilities, OnlySomeModelsOfADriverHaveRdma) {
  const auto has_rdma = [](const char* driver, uint16_t vendor, uint16_t device) {
    return rdma_modules_of(driver, vendor, device) != nullptr;
  };
  EXPECT_TRUE(has_rdma("i40e", 0x8086, 0x37d0) && has_rdma("hns3", 0x19e5, 0xa222));
  EXPECT_FALSE(has_rdma("i40e", 0x8086, 0x1572) || has_rdma("hns3", 0x19e5, 0xa221));
  EXPECT_TRUE(has_rdma("mlx5_core", 0x15b3, 0x1000)) << "a model that is not known yet";
  EXPECT_FALSE(has_rdma("", 0x15b3, 0x1000));
}

TEST(Capabilities, NamesOfRdmaDevices) {
  for (const char* name : {"mlx5_0", "mlx5_bond_0", "bnxt_re1", "rocep23s0", "ibp24s0", "erdma_1", "hfi1_0", "rxe0"})
    EXPECT_TRUE(is_like_rdma_name(name) && mentions_rdma_device("no " + std::string(name) + ":1")) << name;
  for (const char* word : {"mlx5_core", "efa", "mana_ib", ""}) EXPECT_FALSE(is_like_rdma_name(word)) << word;
  for (const char* line : {"mlx5_core 0000:3b:00.0", "libefa-rdmav34.so", "[bnxt_en]", "device hns_0", "libmlx5: no"})
    EXPECT_TRUE(mentions_rdma_device(line)) << line;
  for (const char* line : {"the default device", "the manager of devices", "a rdmapper", ""})
    EXPECT_FALSE(mentions_rdma_device(line)) << line;
}

}  // namespace
}  // namespace fabric::test
