// SPDX-License-Identifier: Apache-2.0
// The table of settings: complete, and known wherever an operator meets it.
#include "base/json.h"
#include "checks/check.h"
#include "model/qos.h"
#include "support/test.h"
#include "vendor/driver.h"

namespace fabric {
namespace {

// A member of Qos without a row here does not compile, and one without a row in kSettings is not found.
TEST(Setting, EveryMemberOfQosHasItsRow) {
  Qos qos;
  auto& [dcbx, fw_lldp, pause, mtu, ring_rx, ring_tx, channels, fec, trust, apptrust, dscp_map, ets, prio2buffer,
         buffer_size, pfc, cable_length, maxrate, ecn_rp, ecn_np, cnp_dscp, cnp_prio, min_time_between_cnps,
         clamp_tgt_rate, clamp_tgt_rate_after_time_inc, rpg_time_reset, rpg_byte_reset, rpg_threshold, rpg_max_rate,
         rpg_ai_rate, rpg_hai_rate, rpg_gd, rpg_min_dec_fac, rpg_min_rate, rate_to_set_on_first_cnp, dce_tcp_g,
         dce_tcp_rtt, rate_reduce_monitor_period, initial_alpha_value, rtt_resp_dscp, cc, cc_mode, cc_g, cc_phases,
         cc_init_cr, cc_init_tr, cc_rtt, cc_tcp_cp, cc_inactivity_cp, roce_dscp, roce_prio, roce_mode, roce_tos,
         traffic_class, optional_counters, mrrs] = qos;
  const auto addresses = [](const auto&... each) { return std::set<const void*>{&each...}; };
  const auto members =
      addresses(dcbx, fw_lldp, pause, mtu, ring_rx, ring_tx, channels, fec, trust, apptrust, dscp_map, ets, prio2buffer,
                buffer_size, pfc, cable_length, maxrate, ecn_rp, ecn_np, cnp_dscp, cnp_prio, min_time_between_cnps,
                clamp_tgt_rate, clamp_tgt_rate_after_time_inc, rpg_time_reset, rpg_byte_reset, rpg_threshold,
                rpg_max_rate, rpg_ai_rate, rpg_hai_rate, rpg_gd, rpg_min_dec_fac, rpg_min_rate,
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

TEST(Setting, EachSaysWhatADifferenceCosts) {
  for (const Setting& setting : kSettings) {
    const Check* check = find_check(setting.key);
    ASSERT_NE(check, nullptr) << setting.key;
    EXPECT_NE(check->meaning, "The port differs from the policy.") << setting.key << ": no row in kCosts";
  }
}

}  // namespace
}  // namespace fabric
