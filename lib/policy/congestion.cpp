// SPDX-License-Identifier: Apache-2.0
// Congestion control more aggressive than the vendor's: allowed, with a warning that names the risk.
// Defaults and meanings: NVIDIA "DCQCN CC Parameters" (DOCA 3.4), mstflint's tools_open_roce_cc_ecn, `mlxconfig query`.
#include "policy/judge.h"

namespace fabric::config {
namespace {

// Which side of the default sends more, or backs off less.
enum class Aggressive : uint8_t { higher, lower, lower_but_zero, unclear };

struct Vendor {
  SettingId setting;
  uint32_t usual;
  Aggressive side;
  std::string_view risk;  // "... than the vendor's 300: RISK"
};
constexpr Vendor kVendor[] = {
    {SettingId::min_time_between_cnps, 4, Aggressive::higher,
     "senders hear of congestion later, queues grow until PFC pauses the link"},
    {SettingId::clamp_tgt_rate_after_time_inc, 1, Aggressive::lower,
     "after a CNP a flow climbs back to the rate that caused it"},
    {SettingId::rpg_time_reset, 300, Aggressive::lower,
     "flows speed up again sooner than congestion drains, rates swing"},
    {SettingId::rpg_byte_reset, 32'767, Aggressive::lower_but_zero,
     "flows speed up again after less data, fast flows most"},
    {SettingId::rpg_max_rate, 0, Aggressive::higher,
     "flows at that rate are not limited any more, although the port is faster"},
    {SettingId::rpg_ai_rate, 5, Aggressive::higher,
     "many flows together overrun the switch buffer at each increase, PFC pauses follow"},
    {SettingId::rpg_hai_rate, 50, Aggressive::higher,
     "many flows together overrun the switch buffer at each increase, PFC pauses follow"},
    {SettingId::rpg_gd, 11, Aggressive::higher, "a CNP takes less from the rate, so congestion lasts longer"},
    {SettingId::rpg_min_dec_fac, 50, Aggressive::unclear, "it bounds how far one CNP can slow a flow"},
    {SettingId::rpg_min_rate, 1, Aggressive::higher,
     "with many senders to one receiver, even the slowest flows overrun it"},
    {SettingId::dce_tcp_g, 1'019, Aggressive::unclear,
     "it is the weight by which alpha, and so each cut, follows the CNPs"},
    {SettingId::rate_reduce_monitor_period, 4, Aggressive::higher,
     "CNPs within it cut the rate once only, so congestion lasts longer"},
    {SettingId::initial_alpha_value, 1'023, Aggressive::lower, "the first CNP of a flow takes less from its rate"},
};

bool applies(const Vendor& row, uint32_t value) {
  switch (row.side) {
    case Aggressive::higher: return value > row.usual;
    case Aggressive::lower: return value < row.usual;
    case Aggressive::lower_but_zero: return value != 0 && value < row.usual;
    case Aggressive::unclear: break;
  }
  return value != row.usual;
}

void check_parameters(const Judge& judge) {
  for (const Vendor& row : kVendor) {
    const auto& value = judge.want.*std::get<std::optional<uint32_t> Qos::*>(setting_of(row.setting).member);
    if (!value || !applies(row, *value)) continue;
    const bool unclear = row.side == Aggressive::unclear;
    std::string text = std::to_string(*value);
    text += unclear                          ? " departs from"
            : row.side == Aggressive::higher ? " is more aggressive (higher) than"
                                             : " is more aggressive (lower) than";
    text.append(" the vendor's " + std::to_string(row.usual) + ": ").append(row.risk);
    if (unclear) text += ", and the vendor's texts differ on which way is the gentler";
    judge.warn(row.setting, text + "; try it on few nodes first, or leave it out");
  }
}

void check_switch(const Judge& judge, SettingId setting, const std::optional<PrioSet>& on) {
  if (!on) return;
  for (int prio = 0; prio < kPriorities; ++prio)
    if (judge.lossless().has(prio) && !on->has(prio))
      judge.warn(setting, "is more aggressive than the vendor's (all priorities): priority " + std::to_string(prio) +
                              " is lossless and has no congestion control here, so every congestion ends in PFC pauses "
                              "that spread; add " +
                              std::to_string(prio));
}

}  // namespace

void check_congestion(const Judge& judge) {
  const Qos& want = judge.want;
  check_parameters(judge);
  check_switch(judge, SettingId::ecn_rp, want.ecn_rp);
  check_switch(judge, SettingId::ecn_np, want.ecn_np);
  if (want.cc == false)
    judge.warn(SettingId::cc,
               "is more aggressive than the vendor's true: senders no longer slow down for CNPs, so every congestion "
               "ends in PFC "
               "pauses that spread; write cc = true, or leave it out");
  if (want.rpg_max_rate.value_or(0) != 0 && want.rpg_min_rate && *want.rpg_min_rate > *want.rpg_max_rate)
    judge.fail(SettingId::rpg_min_rate, std::to_string(*want.rpg_min_rate) + " is above rpg_max_rate, " +
                                            std::to_string(*want.rpg_max_rate) +
                                            ": no flow would ever be limited; write less");
  if (want.rpg_ai_rate && want.rpg_hai_rate && *want.rpg_ai_rate > *want.rpg_hai_rate)
    judge.warn(SettingId::rpg_ai_rate, std::to_string(*want.rpg_ai_rate) + " is above rpg_hai_rate, " +
                                           std::to_string(*want.rpg_hai_rate) +
                                           ": the hyper increase would be the smaller one; write less");
}

}  // namespace fabric::config
