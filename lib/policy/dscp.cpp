// SPDX-License-Identifier: Apache-2.0
// The DSCPs that RoCE data and CNPs are given, against the map, the lossless priorities, and what `traffic` and `cnp`
// say.
#include "policy/judge.h"

namespace fabric::config {
namespace {

std::string dscp_text(uint32_t dscp) { return "DSCP " + std::to_string(dscp); }

// "DSCP 26 has no priority in dscp_map", "dscp_map gives DSCP 26 priority 0".
std::string priority_text(const DscpMap& map, uint32_t dscp) {
  const auto found = map.find(static_cast<uint8_t>(dscp));
  if (found == map.end()) return dscp_text(dscp) + " has no priority in dscp_map";
  return "dscp_map gives " + dscp_text(dscp) + " priority " + std::to_string(found->second);
}

// What data packets are marked with must land in a lossless priority.
void check_data(const Judge& judge, SettingId setting, uint32_t dscp) {
  if (!judge.want.dscp_map || judge.lossless().bits == 0) return;
  const auto found = judge.want.dscp_map->find(static_cast<uint8_t>(dscp));
  if (found != judge.want.dscp_map->end() && judge.lossless().has(found->second)) return;
  judge.warn(setting, priority_text(*judge.want.dscp_map, dscp) +
                          (found == judge.want.dscp_map->end() ? "" : ", which has no PFC") +
                          ": these packets can be lost; map it to a priority in pfc");
}

void check_cnp(const Judge& judge) {
  constexpr char kWait[] =
      " is lossless: where PFC pauses it, the CNPs that are to end the congestion wait, too; write one without PFC";
  const Qos& want = judge.want;
  const bool chosen = want.cnp_prio && want.cnp_prio->value;
  const uint32_t prio = want.cnp_prio.value_or(OrNone{}).value.value_or(6);  // 6: the usual one
  if (chosen && judge.lossless().has(prio)) judge.warn(SettingId::cnp_prio, "priority " + std::to_string(prio) + kWait);
  if (!want.cnp_dscp || !want.dscp_map) return;
  const auto found = want.dscp_map->find(static_cast<uint8_t>(*want.cnp_dscp));
  if (found == want.dscp_map->end() || (chosen && found->second != prio))
    judge.warn(SettingId::cnp_dscp, priority_text(*want.dscp_map, *want.cnp_dscp) + ", and CNPs shall have " +
                                        (chosen ? std::to_string(prio) : "one of their own") + "; write " +
                                        std::to_string(*want.cnp_dscp) + " = " + std::to_string(prio) + " in dscp_map");
  else if (!chosen && judge.lossless().has(found->second))
    judge.warn(SettingId::cnp_dscp, priority_text(*want.dscp_map, *want.cnp_dscp) + ", which" + kWait);
}

// An explicit value that contradicts the derived one.
void contradict(const Judge& judge, SettingId setting, std::string_view mark, const std::string& origin,
                const std::string& says) {
  judge.warn(setting, "holds, against " + std::string(mark) + " (" + origin + "), from which follows " + says +
                          "; write one of the two");
}

void check_against_traffic(const Judge& judge) {
  const PortPolicy& port = judge.entry.port;
  if (!port.traffic) return;
  const Mark data = *port.traffic;
  const Qos& want = judge.want;
  const auto tell = [&](bool wrong, SettingId setting, const std::string& says) {
    if (wrong) contradict(judge, setting, "traffic", port.traffic_origin, says);
  };
  tell(want.trust == Trust::pcp, SettingId::trust, "trust = \"dscp\"");
  if (want.dscp_map) {
    const auto found = want.dscp_map->find(data.dscp);
    tell(found == want.dscp_map->end() || found->second != data.priority, SettingId::dscp_map,
         std::to_string(data.dscp) + " = " + std::to_string(data.priority));
  }
  tell(want.pfc && !want.pfc->has(data.priority), SettingId::pfc, "pfc = [" + std::to_string(data.priority) + "]");
  tell(want.roce_tos && *want.roce_tos >> 2U != data.dscp, SettingId::roce_tos,
       "roce_tos = " + std::to_string(data.dscp << 2 | 2));
  tell(want.roce_dscp && *want.roce_dscp != data.dscp, SettingId::roce_dscp,
       "roce_dscp = " + std::to_string(data.dscp));
  tell(want.roce_prio && *want.roce_prio != data.priority, SettingId::roce_prio,
       "roce_prio = " + std::to_string(data.priority));
}

void check_against_cnp(const Judge& judge) {
  const PortPolicy& port = judge.entry.port;
  if (!port.cnp) return;
  const Qos& want = judge.want;
  if (*want.cnp_dscp != port.cnp->dscp)
    contradict(judge, SettingId::cnp_dscp, "cnp", port.cnp_origin, "cnp_dscp = " + std::to_string(port.cnp->dscp));
  if (want.cnp_prio->value != port.cnp->priority)
    contradict(judge, SettingId::cnp_prio, "cnp", port.cnp_origin, "cnp_prio = " + std::to_string(port.cnp->priority));
}

}  // namespace

void check_marks(const Judge& judge) {
  const Qos& want = judge.want;
  if (want.roce_tos) check_data(judge, SettingId::roce_tos, *want.roce_tos >> 2U);
  if (want.traffic_class && want.traffic_class->value)
    check_data(judge, SettingId::traffic_class, *want.traffic_class->value >> 2U);
  if (want.roce_dscp) check_data(judge, SettingId::roce_dscp, *want.roce_dscp);
  if (want.roce_prio && judge.lossless().bits != 0 && !judge.lossless().has(*want.roce_prio))
    judge.warn(SettingId::roce_prio, "priority " + std::to_string(*want.roce_prio) +
                                         " has no PFC: RoCE data can be lost; write one that is in pfc");
  check_cnp(judge);
  check_against_traffic(judge);
  check_against_cnp(judge);
}

}  // namespace fabric::config
