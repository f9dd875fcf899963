// SPDX-License-Identifier: Apache-2.0
// The RoCE settings of a port. The wanted settings and the reading use the same struct.
#pragma once

#include <bitset>
#include <functional>
#include <variant>

#include "base/status.h"
#include "setting/value.h"

namespace fabric {

// Absent means: not wanted (policy), or not offered by this port (reading). Absent is never zero.
// Members are in the order of kSettings; a member without a row does not compile
// (tests/unit/settings/setting_test.cpp).
struct Qos {
  std::optional<Dcbx> dcbx;
  std::optional<bool> fw_lldp;  // the firmware's own LLDP agent
  std::optional<Pause> pause;
  std::optional<uint32_t> mtu;               // bytes, netdev MTU
  std::optional<uint32_t> ring_rx, ring_tx;  // descriptors
  std::optional<uint32_t> channels;          // combined
  std::optional<Fec> fec;
  std::optional<Trust> trust;
  std::optional<AppTrust> apptrust;
  std::optional<DscpMap> dscp_map;
  std::optional<Ets> ets;
  std::optional<Eight> prio2buffer;
  std::optional<Buffers> buffer_size;
  std::optional<PrioSet> pfc;
  std::optional<uint32_t> cable_length;  // meters
  std::optional<Rates> maxrate;
  // Congestion control. Names and units of the DCQCN parameters are those of the vendors (OFED's sysfs, NVIDIA "DCQCN
  // CC Parameters"; bnxt_re's debugfs).
  std::optional<PrioSet> ecn_rp, ecn_np;
  std::optional<uint32_t> cnp_dscp;
  std::optional<OrNone> cnp_prio;  // none: the adapter chooses
  std::optional<uint32_t> min_time_between_cnps, clamp_tgt_rate, clamp_tgt_rate_after_time_inc;
  std::optional<uint32_t> rpg_time_reset, rpg_byte_reset, rpg_threshold;
  std::optional<uint32_t> rpg_max_rate, rpg_ai_rate, rpg_hai_rate;
  std::optional<uint32_t> rpg_gd, rpg_min_dec_fac, rpg_min_rate;
  std::optional<uint32_t> rate_to_set_on_first_cnp, dce_tcp_g, dce_tcp_rtt;
  std::optional<uint32_t> rate_reduce_monitor_period, initial_alpha_value;
  std::optional<OrNone> rtt_resp_dscp;  // none: the adapter chooses
  std::optional<bool> cc;
  std::optional<uint32_t> cc_mode, cc_g, cc_phases, cc_init_cr, cc_init_tr;
  std::optional<uint32_t> cc_rtt, cc_tcp_cp, cc_inactivity_cp, roce_dscp, roce_prio;
  // What connections and queue pairs are given.
  std::optional<RoceMode> roce_mode;
  std::optional<uint32_t> roce_tos;
  std::optional<OrNone> traffic_class;  // none: each queue pair keeps its own
  std::optional<Names> optional_counters;
  std::optional<uint32_t> mrrs;  // bytes
  bool operator==(const Qos&) const = default;
};

// The row of kSettings, in its order.
enum class SettingId : uint8_t {
  dcbx,
  fw_lldp,
  pause,
  mtu,
  ring_rx,
  ring_tx,
  channels,
  fec,
  trust,
  apptrust,
  dscp_map,
  ets,
  prio2buffer,
  buffer_size,
  pfc,
  cable_length,
  maxrate,
  ecn_rp,
  ecn_np,
  cnp_dscp,
  cnp_prio,
  min_time_between_cnps,
  clamp_tgt_rate,
  clamp_tgt_rate_after_time_inc,
  rpg_time_reset,
  rpg_byte_reset,
  rpg_threshold,
  rpg_max_rate,
  rpg_ai_rate,
  rpg_hai_rate,
  rpg_gd,
  rpg_min_dec_fac,
  rpg_min_rate,
  rate_to_set_on_first_cnp,
  dce_tcp_g,
  dce_tcp_rtt,
  rate_reduce_monitor_period,
  initial_alpha_value,
  rtt_resp_dscp,
  cc,
  cc_mode,
  cc_g,
  cc_phases,
  cc_init_cr,
  cc_init_tr,
  cc_rtt,
  cc_tcp_cp,
  cc_inactivity_cp,
  roce_dscp,
  roce_prio,
  roce_mode,
  roce_tos,
  traffic_class,
  optional_counters,
  mrrs
};

// One setting = one row. The TOML key, the unknown-key error, plan, apply, read-back, text, JSON, the
// metric's label and the journal field all follow from the row and the member's kind.
struct Setting {
  template <class... Kinds>
  using AnyOf = std::variant<std::optional<Kinds> Qos::*...>;
  using Member = AnyOf<Dcbx, bool, Pause, uint32_t, Fec, Trust, AppTrust, DscpMap, Ets, Eight, Buffers, PrioSet, Rates,
                       RoceMode, OrNone, Names>;
  SettingId id;
  std::string_view key;
  std::string_view help;  // one line, as in fabric-agent.toml(5)
  Member member;
  // When a port differs. Critical: packets are lost or misdirected at once. Warning: lower speed or less margin.
  Status severity;
  std::string_view meaning;
  // The range of a number that an operator may set, and its unit. Ranges of the DCQCN parameters: NVIDIA "DCQCN CC
  // Parameters" where it gives one, else the width of the field in mstflint's tools_open_roce_cc_ecn.
  uint32_t min = 0, max = UINT32_MAX;
  std::string_view unit{};
  uint32_t example = 0;  // of a number, for the error text; 0: min
};

constexpr size_t index(SettingId id) { return static_cast<size_t>(id); }
inline constexpr size_t kSettingCount = index(SettingId::mrrs) + 1;
// A set of settings; bit i is kSettings[i].
using Keys = std::bitset<kSettingCount>;

// Limits that the port reports. Not settings.
struct Limits {
  std::optional<uint32_t> speed;                              // Mb/s, of the link as it is
  std::optional<uint32_t> max_mtu;                            // bytes (IFLA_MAX_MTU)
  std::optional<uint32_t> buffer_total;                       // bytes (dcbnl_buffer.total_size)
  std::optional<uint32_t> traffic_classes, lossless_classes;  // ieee_ets.ets_cap, ieee_pfc.pfc_cap
  std::optional<uint32_t> ring_rx, ring_tx, channels;
  std::vector<std::string> optional_counters;
  // Why a setting is not offered, if its reader knows: one sentence with the remedy.
  std::map<SettingId, std::string> reasons{};
  // What the driver shows of these settings does not show what the NIC does, and why: one sentence.
  std::map<SettingId, std::string> unverified{};
  // Those of `unverified` that one write makes known: written even if they match the policy.
  Keys unread{};
  // Writes that may stop traffic (Op::disruptive) and do not on this NIC.
  Keys harmless{};
};

// Calls `with(optional<T>&)` on the row's member.
template <class QosRef, class Function>
auto visit_member(const Setting& setting, QosRef& qos, Function&& with) {
  return std::visit([&](auto member) { return with(qos.*member); }, setting.member);
}

// True if the setting is given in `qos`.
bool has_value(const Setting& setting, const Qos& qos);
// Which settings are given.
Keys keys_of(const Qos& qos);
// Text of the value; "-" when absent.
std::string value_text(const Setting& setting, const Qos& qos);
// JSON of the value; null when absent.
Json value_json(const Setting& setting, const Qos& qos);
// The settings that have a value, by key: {"mtu": 4200, "pfc": [3]}. Omits one that from_json() would refuse (a DSCP
// listed with priority 9).
void to_json(Json& json, const Qos& qos);
void from_json(const Json& json, Qos& qos);
// Both present and equal.
bool same_value(const Setting& setting, const Qos& a, const Qos& b);
// Copies the member (also when absent).
void copy_value(const Setting& setting, const Qos& from, Qos& to);

}  // namespace fabric
