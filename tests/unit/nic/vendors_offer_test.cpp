// SPDX-License-Identifier: Apache-2.0
// Why a driver does not offer a setting (what it offers: driver_manual_test.cpp), and what holds on i40e, ionic, qede
// and an unknown driver.
#include "base/parse.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

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

// A port with dcbnl: what is missing is missing for a reason of its own.
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

TEST_F(I40e, WithoutAWordOfItEveryDcbWriteIsRefusedWithBothWays) {
  bed.nic.firmware_agent = true;
  Qos want = i40e_profile();
  want.fw_lldp.reset();
  auto changes = bed.apply(want);
  for (const char* key : {"dcbx", "ets", "pfc"}) {
    EXPECT_TRUE(has_outcome(changes, key, Outcome::refused, "fw_lldp = false"));
    EXPECT_TRUE(has(of(changes, key).detail, "disable-fw-lldp on"));
  }
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
  EXPECT_EQ(command(SettingId::mtu), "") << "the kernel sets it";
  EXPECT_TRUE(has(kIonic.vendor_command(setting_of(SettingId::pfc), want, "ionic_3", ""), " -p PORT "))
      << "MAC unknown";
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
  EXPECT_FALSE(mlx4.impossible(setting_of(SettingId::ets), want, {.values = have}).empty());
  want.ets->bw = {50, 50};
  EXPECT_TRUE(mlx4.impossible(setting_of(SettingId::ets), want, {.values = have}).empty());
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

}  // namespace
}  // namespace fabric::test
