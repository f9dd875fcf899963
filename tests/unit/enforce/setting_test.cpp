// SPDX-License-Identifier: Apache-2.0
// The table of settings: complete, and known wherever an operator meets it; and their values.
#include "base/json.h"
#include "judge/engine.h"
#include "nic/driver.h"
#include "setting/setting_table.h"
#include "setting/value.h"
#include "support/test.h"

namespace fabric {
namespace {

// A member of Qos without a row here does not compile, and one without a row in kSettings is not found.
TEST(Setting, EveryMemberOfQosHasItsRow) {
  Qos qos;
  auto& [dcbx, fw_lldp, pause, mtu, ring_rx, ring_tx, channels, fec, trust, apptrust, dscp_map, ets, prio2buffer,
         buffer_size, pfc, pfc_watchdog, cable_length, maxrate, ecn_rp, ecn_np, cnp_dscp, cnp_prio,
         min_time_between_cnps, clamp_tgt_rate, clamp_tgt_rate_after_time_inc, rpg_time_reset, rpg_byte_reset,
         rpg_threshold, rpg_max_rate, rpg_ai_rate, rpg_hai_rate, rpg_gd, rpg_min_dec_fac, rpg_min_rate,
         rate_to_set_on_first_cnp, dce_tcp_g, dce_tcp_rtt, rate_reduce_monitor_period, initial_alpha_value,
         rtt_resp_dscp, cc, cc_mode, cc_g, cc_phases, cc_init_cr, cc_init_tr, cc_rtt, cc_tcp_cp, cc_inactivity_cp,
         roce_dscp, roce_prio, roce_mode, roce_tos, traffic_class, optional_counters, mrrs] = qos;
  const auto addresses = [](const auto&... each) { return std::set<const void*>{&each...}; };
  const auto members =
      addresses(dcbx, fw_lldp, pause, mtu, ring_rx, ring_tx, channels, fec, trust, apptrust, dscp_map, ets, prio2buffer,
                buffer_size, pfc, pfc_watchdog, cable_length, maxrate, ecn_rp, ecn_np, cnp_dscp, cnp_prio,
                min_time_between_cnps, clamp_tgt_rate, clamp_tgt_rate_after_time_inc, rpg_time_reset, rpg_byte_reset,
                rpg_threshold, rpg_max_rate, rpg_ai_rate, rpg_hai_rate, rpg_gd, rpg_min_dec_fac, rpg_min_rate,
                rate_to_set_on_first_cnp, dce_tcp_g, dce_tcp_rtt, rate_reduce_monitor_period, initial_alpha_value,
                rtt_resp_dscp, cc, cc_mode, cc_g, cc_phases, cc_init_cr, cc_init_tr, cc_rtt, cc_tcp_cp,
                cc_inactivity_cp, roce_dscp, roce_prio, roce_mode, roce_tos, traffic_class, optional_counters, mrrs);
  std::set<const void*> rows;
  for (const Setting& setting : kSettings)
    visit_member(setting, qos, [&](auto& value) {
      rows.insert(&value);
      return 0;
    });
  EXPECT_EQ(rows, members);
  EXPECT_EQ(kSettings.size(), members.size()) << "no member twice";
}

TEST(Setting, KeysAreUniqueAndFound) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < kSettingCount; ++i) {
    keys.insert(kSettings[i].key);
    EXPECT_EQ(parse_setting(kSettings[i].key), kSettings[i].id);
    EXPECT_FALSE(kSettings[i].help.empty());
  }
  EXPECT_EQ(keys.size(), kSettingCount);
  EXPECT_FALSE(parse_setting("nosuch"));
}

TEST(Setting, AbsentIsNotZero) {
  const Qos none, zero{.pfc = PrioSet{}};
  const Setting& pfc = setting_of(SettingId::pfc);
  EXPECT_FALSE(has_value(pfc, none));
  EXPECT_TRUE(has_value(pfc, zero));
  EXPECT_EQ(value_text(pfc, none), "-");
  EXPECT_EQ(value_text(pfc, zero), "none");
  EXPECT_EQ(value_json(pfc, none).dump(), "null");
  EXPECT_EQ(value_json(pfc, zero).dump(), "[]");
  EXPECT_FALSE(same_value(pfc, none, zero));
  EXPECT_FALSE(same_value(pfc, none, none)) << "what is not known is not equal";
  EXPECT_TRUE(same_value(pfc, zero, zero));
}

TEST(Setting, CopiesAlsoWhatIsAbsent) {
  const Qos from{.mtu = 4200};
  Qos to{.pfc = PrioSet{8}};
  for (const Setting& setting : kSettings) copy_value(setting, from, to);
  EXPECT_EQ(from, to);
}

TEST(Setting, EveryDriverAnswersForEveryKey) {
  for (const Driver* driver : drivers()) {
    SCOPED_TRACE(driver->name);
    std::set<SettingId> ordered(driver->order.begin(), driver->order.end());
    for (const Setting& setting : kSettings) {
      EXPECT_TRUE(ordered.contains(setting.id)) << setting.key << " is never written";
      if (op_of(*driver, setting.id).write != nullptr) continue;
      EXPECT_FALSE(remedy_of(*driver, setting, Qos{}, "eth0", 0).empty())
          << setting.key << ": unsupported without a reason";
    }
    EXPECT_EQ(ordered.size(), kSettingCount);
  }
}

// A wrong kind would blame drift on an unknown writer. The kernel announces what it sets by a netlink message of dcbnl,
// ethtool or rtnetlink: net/dcb/dcbnl.c, net/ethtool/netlink.c, net/core/rtnetlink.c. It does not announce a tunable
// that ethtool's ioctl sets (ethtool_set_tunable()).
TEST(Setting, IsAnnouncedByTheKernelsFunctionThatWritesIt) {
  const auto expect = [](const SettingOp& each) {
    NotificationKind kind = NotificationKind::nothing;
    if (each.op.source.starts_with("net/dcb/dcbnl.c dcbnl_ieee_set()")) kind = NotificationKind::dcb;
    if (each.op.source.starts_with("net/ethtool/") && !each.op.source.starts_with("net/ethtool/ioctl.c"))
      kind = NotificationKind::ethtool;
    if (each.op.source.starts_with("net/core/dev.c dev_set_mtu()")) kind = NotificationKind::link;
    EXPECT_EQ(setting_of(each.setting).announced, kind) << key_text(each.setting);
  };
  for (const SettingOp& each : kUpstream.ops) expect(each);
  for (const Feature* feature : features())
    for (const SettingOp& each : feature->ops) expect(each);
}

TEST(Setting, EachSaysWhatADifferenceCosts) {
  for (const Setting& setting : kSettings) {
    const Rule* check = find_rule(setting.key);
    ASSERT_NE(check, nullptr) << setting.key;
    EXPECT_NE(check->meaning, "The port differs from the policy.") << setting.key << ": no row in kCosts";
  }
}

// Four classes: 0 and 1 share by ETS, 2 strict, 3 vendor's own; priority 7 on class 3.
Ets four_classes() {
  return {.prio_tc = {0, 1, 2, 0, 0, 0, 0, 3}, .tsa = {Tsa::ets, Tsa::ets, Tsa::strict, Tsa::vendor}, .bw = {60, 40}};
}

TEST(PrioSet, ReadsAsTheOperatorWritesIt) {
  EXPECT_EQ(to_text(PrioSet{}), "none");
  EXPECT_EQ(to_text(PrioSet{0x08}), "3");
  EXPECT_EQ(to_text(PrioSet{0x81}), "0,7");
  EXPECT_TRUE(PrioSet{0x80}.has(7));
  EXPECT_FALSE(PrioSet{0x80}.has(0));
}

TEST(Pause, NamesEachDirection) {
  EXPECT_EQ(to_text(Pause{}), "off");
  EXPECT_EQ(to_text(Pause{true, false}), "rx");
  EXPECT_EQ(to_text(Pause{false, true}), "tx");
  EXPECT_EQ(to_text(Pause{true, true}), "rx,tx");
}

TEST(DscpMap, FoldsNeighborsOfOnePriority) {
  EXPECT_EQ(to_text(DscpMap{}), "none");
  EXPECT_EQ(to_text(DscpMap{{26, 3}, {48, 6}}), "26:3 48:6");
  EXPECT_EQ(to_text(DscpMap{{0, 0}, {1, 0}, {2, 0}, {3, 1}}), "0-2:0 3:1");
  EXPECT_EQ(to_text(DscpMap{{0, 0}, {2, 0}}), "0:0 2:0") << "a gap is no range";
  DscpMap all;
  for (uint8_t dscp = 0; dscp < 64; ++dscp) all[dscp] = static_cast<uint8_t>(dscp >> 3);
  EXPECT_EQ(to_text(all), "0-7:0 8-15:1 16-23:2 24-31:3 32-39:4 40-47:5 48-55:6 56-63:7");
}

TEST(Ets, IsTheSameWhereNothingThatMattersDiffers) {
  Ets a = four_classes(), b = a;
  b.bw[2] = 100;  // of a strict class: drivers show 0 or 100
  b.bw[3] = 100;
  b.tsa[5] = Tsa::ets;  // of a class that no priority maps to
  b.bw[5] = 17;
  EXPECT_EQ(a, b);
  EXPECT_EQ(to_text(a), to_text(b));
}

TEST(Ets, DiffersByMapAlgorithmAndBandwidthOfAClassInUse) {
  const Ets a = four_classes();
  Ets map = a, algorithm = a, bandwidth = a;
  map.prio_tc[6] = 1;
  algorithm.tsa[2] = Tsa::ets;
  bandwidth.bw[0] = 50, bandwidth.bw[1] = 50;
  for (const Ets& other : {map, algorithm, bandwidth}) {
    EXPECT_FALSE(a == other);
    EXPECT_NE(to_text(a), to_text(other));
  }
}

TEST(Ets, SpeaksTheWordsOfDcb) {
  EXPECT_EQ(to_text(four_classes()),
            "prio-tc 0:0 1:1 2:2 3:0 4:0 5:0 6:0 7:3 tsa 0:ets 1:ets 2:strict 3:vendor bw 0:60 1:40");
}

// A class beyond the eight, as a broken reply may hold it, is shown and compared, not indexed with.
TEST(Ets, SurvivesAClassThatDoesNotExist) {
  Ets odd = four_classes();
  odd.prio_tc[0] = 200;
  EXPECT_EQ(odd, odd);
  EXPECT_TRUE(test::has(to_text(odd), "0:200"));
}

TEST(Json, GivesNumbersAsNumbersAndMapsAsObjects) {
  const Qos qos{.dcbx = Dcbx::firmware,
                .pause = Pause{true, false},
                .mtu = 4200,
                .trust = Trust::dscp,
                .dscp_map = DscpMap{{26, 3}},
                .ets = four_classes(),
                .pfc = PrioSet{0x18}};
  const auto json = [&](SettingId id) { return value_json(setting_of(id), qos).dump(); };
  EXPECT_EQ(json(SettingId::mtu), "4200");
  EXPECT_EQ(json(SettingId::trust), "\"dscp\"");
  EXPECT_EQ(json(SettingId::dcbx), "\"firmware\"");
  EXPECT_EQ(json(SettingId::pfc), "[3,4]");
  EXPECT_EQ(json(SettingId::pause), R"({"rx":true,"tx":false})");
  EXPECT_EQ(json(SettingId::dscp_map), R"({"26":3})");
  EXPECT_EQ(json(SettingId::ets),
            R"({"prio_tc":[0,1,2,0,0,0,0,3],"tsa":["ets","ets","strict","vendor","strict","strict","strict","strict"],)"
            R"("bw":[60,40,0,0,0,0,0,0]})");
}

TEST(Outcome, EachHasItsOwnWord) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(Outcome::conflict); ++i) words.insert(to_text(static_cast<Outcome>(i)));
  EXPECT_EQ(words, (std::set<std::string_view>{"in_sync", "applied", "differs", "pending", "unsupported", "refused",
                                               "ignored", "conflict", "unsaved", "unverified"}));
}

}  // namespace
}  // namespace fabric
