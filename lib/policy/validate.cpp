// SPDX-License-Identifier: Apache-2.0
#include "policy/validate.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/parse.h"
#include "nic/driver.h"
#include "nic/generic/dscp.h"
#include "nic/generic/headroom.h"
#include "policy/match.h"
#include "policy/toml_value.h"
#include "setting/setting_table.h"

namespace fabric::config {
namespace {

// An entry with its profile and marks. Reports faults at the places of its settings.
struct PortFaults {
  const PortDraft& entry;
  ConfigFaults& faults;
  const Qos& want = entry.port.want;

  [[nodiscard]] FilePlace at(SettingId setting) const { return entry.places[index(setting)]; }
  [[nodiscard]] PrioSet lossless() const { return want.pfc.value_or(PrioSet{}); }
  // The entry's map, else the one by which NICs that trust the DSCP start. nullopt: unknown.
  [[nodiscard]] std::optional<DscpMap> map() const {
    if (want.dscp_map || want.trust != Trust::dscp) return want.dscp_map;
    return dscp::complete({});
  }
  void fail(SettingId setting, std::string_view what) const {
    faults.fail(at(setting), std::string(key_text(setting)).append(": ").append(what));
  }
  void warn(SettingId setting, std::string_view what) const {
    faults.warn(at(setting), std::string(key_text(setting)).append(": ").append(what));
  }
};

// The smallest MTU with a RoCE path MTU of 4096.
constexpr uint32_t kMtuForPath4096 = kLargestPathMtu + kRoceHeaders;
constexpr uint32_t kFecSpeed = 100'000;  // Mb/s

void check_pause(const PortFaults& port) {
  const auto& pause = port.want.pause;
  if (port.lossless().bits != 0 && pause && (pause->rx || pause->tx))
    port.fail(SettingId::pause, "global pause and pfc exclude each other (802.1Qbb); write pause = \"off\"");
}

void check_trust(const PortFaults& port) {
  const Qos& want = port.want;
  if (want.trust == Trust::pcp && want.dscp_map && !want.dscp_map->empty())
    port.fail(SettingId::trust,
              "dscp_map has no effect while trust is \"pcp\"; write trust = \"dscp\", or leave dscp_map out");
  if (!want.apptrust || want.apptrust->selectors.empty()) return;
  if (want.dscp_map && !want.dscp_map->empty() && !contains(want.apptrust->selectors, AppTrust::kDscp))
    port.fail(SettingId::apptrust,
              "dscp_map has no effect without \"dscp\"; write apptrust = [\"dscp\", \"pcp\"], or leave dscp_map out");
  const uint8_t first = want.apptrust->selectors.front();
  if (want.trust == Trust::dscp && first != AppTrust::kDscp)
    port.fail(SettingId::apptrust,
              "trust is \"dscp\", and another field comes first here; write apptrust = [\"dscp\", \"pcp\"]");
  if (want.trust == Trust::pcp && first != AppTrust::kPcp)
    port.fail(SettingId::apptrust, "trust is \"pcp\", and another field comes first here; write apptrust = [\"pcp\"]");
}

void check_dcbx(const PortFaults& port) {
  const Qos& want = port.want;
  if (want.fw_lldp == true && want.dcbx == Dcbx::host)
    port.fail(SettingId::fw_lldp,
              "the firmware's LLDP agent owns DCBX while it runs, but dcbx is \"host\"; write fw_lldp = false");
  if (want.dcbx == Dcbx::firmware && (want.pfc || want.ets || want.dscp_map))
    port.warn(SettingId::dcbx,
              "with \"firmware\", the NIC may replace pfc, ets and dscp_map by the values of the switch; write dcbx = "
              "\"host\"");
}

void check_mtu(const PortFaults& port) {
  const Qos& want = port.want;
  if (want.mtu && *want.mtu < kMtuForPath4096)
    port.warn(SettingId::mtu,
              std::to_string(*want.mtu) + " gives a RoCE path MTU below 4096; write mtu = 4200 or more");
}

// Lanes of 25 Gb/s and faster lose packets all the time without FEC (IEEE 802.3 clauses 91, 119).
void check_fec(const PortFaults& port) {
  if (!port.want.fec || port.want.fec->bits != kFecOff) return;
  const auto& speeds = port.entry.port.match.speed;
  const bool fast = std::ranges::any_of(
      speeds, [](const std::string& speed) { return parse_number<uint32_t>(speed).value_or(0) >= kFecSpeed; });
  if (fast || speeds.empty())
    port.warn(SettingId::fec,
              "links of 100 Gb/s and more lose packets without forward error correction; write fec = \"rs\", as on the "
              "switch");
}

void check_lossless(const PortFaults& port) {
  const Qos& want = port.want;
  if (want.cable_length && port.lossless().bits == 0)
    port.warn(SettingId::cable_length, "sizes the headroom of lossless priorities, and this entry has no pfc");
  const auto map = port.map();
  if (!map || want.trust == Trust::pcp) return;
  PrioSet reached;
  for (const auto& [dscp, prio] : *map) reached.add(prio);
  for (const int prio : to_list(port.lossless().without(reached)))
    port.warn(SettingId::pfc,
              "no DSCP maps to priority " + std::to_string(prio) + ", so no packet uses it; add it to dscp_map");
  const auto unmarked = map->find(0);
  if (port.lossless().has(0) && (unmarked == map->end() || unmarked->second == 0))
    port.warn(SettingId::pfc,
              "priority 0 also has all unmarked traffic (DSCP 0), which can then pause RoCE; map DSCP 0 to another "
              "priority in dscp_map");
}

void check_classes(const PortFaults& port) {
  if (!port.want.ets) return;
  const Ets& ets = *port.want.ets;
  // All unmarked traffic has priority 0, and strict classes precede the others.
  const uint8_t unmarked = ets.prio_tc[0];
  if (!port.lossless().has(0) && ets.tsa[unmarked] == Tsa::strict)
    for (size_t prio = 1; prio < kPriorities; ++prio) {
      if (!port.lossless().has(prio) || ets.tsa[ets.prio_tc[prio]] != Tsa::ets) continue;
      port.warn(SettingId::ets, "priority 0, which has all unmarked traffic, goes to the strict traffic class " +
                                    std::to_string(unmarked) + ": RoCE on priority " + std::to_string(prio) +
                                    " starves behind it; give it an ets class, and CNPs another priority");
      break;
    }
  for (size_t prio = 0; prio < kPriorities; ++prio) {
    if (!port.lossless().has(prio)) continue;
    const uint8_t tc = ets.prio_tc[prio];
    const std::string who =
        "priority " + std::to_string(prio) + " is lossless, and its traffic class " + std::to_string(tc);
    bool shared = false;
    for (size_t other = 0; other < kPriorities; ++other)
      shared = shared || (ets.prio_tc[other] == tc && !port.lossless().has(other));
    if (ets.tsa[tc] == Tsa::ets && ets.bw[tc] == 0)
      port.warn(SettingId::ets,
                who + " gets 0 % of the link: RoCE starves behind the other classes; give the class a share in bw");
    if (shared)
      port.warn(SettingId::ets,
                who + " also has lossy priorities: a pause stops those, too; give it a class of its own in prio_tc");
  }
}

void check_fabric(const PortFaults& port) {
  if (port.entry.port.fabric.is_lossy() && port.lossless().bits != 0)
    port.warn(SettingId::pfc,
              "the fabric is lossy: its switches neither send nor obey PFC pause, and a port with PFC waits for a peer "
              "that does not; write pfc = [], or correct the kind of the fabric");
}

void check_mode(const PortFaults& port) {
  if (port.want.roce_mode == RoceMode::v1 && (port.want.trust == Trust::dscp || port.want.dscp_map))
    port.warn(
        SettingId::roce_mode,
        "packets of RoCE v1 have no IP header, so no DSCP that could select their priority; write roce_mode = \"v2\"");
}

// Checks the receive buffers against the needs of PFC.
void check_buffers(const PortFaults& port) {
  constexpr uint32_t kSlowest = 40'000;  // Mb/s; mlx5 computes with at least that
  constexpr uint32_t kDefaultMtu = 1'500;
  const Qos& want = port.want;
  if (!want.prio2buffer) return;
  const Eight& prio2buffer = *want.prio2buffer;
  for (size_t buffer = 0; buffer < kPriorities; ++buffer) {
    std::optional<size_t> lossless, lossy;
    for (size_t prio = 0; prio < kPriorities; ++prio) {
      if (prio2buffer[prio] != buffer) continue;
      if (port.lossless().has(prio)) lossless = prio;
      else lossy = prio;
    }
    if (lossless && lossy)
      port.warn(SettingId::prio2buffer,
                "priority " + std::to_string(*lossless) + " is lossless and shares buffer " + std::to_string(buffer) +
                    " with the lossy priority " + std::to_string(*lossy) +
                    ": the NIC makes both lossless, and either fills the buffer; give the lossless one a buffer of its "
                    "own");
  }

  if (!want.buffer_size || want.buffer_size->automatic) return;
  // The buffers must suffice for the fastest link speed that the entry matches, if it matches by speed.
  headroom::LinkProperties link;
  link.speed = kSlowest;
  for (const std::string& speed : port.entry.port.match.speed)
    link.speed = std::max(link.speed, parse_number<uint32_t>(speed).value_or(0));
  link.mtu = want.mtu.value_or(kDefaultMtu);
  link.cable = want.cable_length.value_or(headroom::kDefaultCable);
  const uint64_t least = headroom::minimum(link);
  for (size_t prio = 0; prio < kPriorities; ++prio) {
    const size_t buffer = prio2buffer[prio];
    const uint32_t size = want.buffer_size->bytes[buffer];
    const std::string who = "buffer " + std::to_string(buffer) + " of priority " + std::to_string(prio);
    if (size == 0)
      port.fail(SettingId::buffer_size,
                who + " has no bytes: every packet would be lost; write buffer_size = \"auto\"");
    else if (port.lossless().has(prio) && size < least)
      port.fail(SettingId::buffer_size, who + " has " + std::to_string(size) + " bytes, but needs " +
                                            std::to_string(least) + " to be lossless at " +
                                            std::to_string(link.speed / 1000) + " Gb/s with MTU " +
                                            std::to_string(link.mtu) + " and " + std::to_string(link.cable) +
                                            " m of cable: the driver would reject it; write buffer_size = \"auto\"");
  }
}

// ---- the DSCPs of RoCE data and CNPs, against the map, the lossless priorities, `traffic` and `cnp`

std::string dscp_text(uint32_t dscp) { return "DSCP " + std::to_string(dscp); }

// "DSCP 26 has no priority in dscp_map", "dscp_map gives DSCP 26 priority 0", "without dscp_map, DSCP 26 has priority 3
// by default (DSCP / 8)".
std::string priority_text(const PortFaults& port, const DscpMap& map, uint32_t dscp) {
  const auto found = map.find(static_cast<uint8_t>(dscp));
  if (found == map.end()) return dscp_text(dscp) + " has no priority in dscp_map";
  const std::string priority = " priority " + std::to_string(found->second);
  if (!port.want.dscp_map) return "without dscp_map, " + dscp_text(dscp) + " has" + priority + " by default (DSCP / 8)";
  return "dscp_map gives " + dscp_text(dscp) + priority;
}

// The step that gives RoCE data without a dscp_map a priority with PFC: "write roce_tos = 106 (DSCP 26, priority 3)".
// Its DSCP is the assured forwarding one of the priority, as is usual for RoCE.
std::string mark_for(SettingId setting, int priority) {
  constexpr int kMostAssured = 4;
  const auto dscp = static_cast<unsigned>(priority * 8 + (priority >= 1 && priority <= kMostAssured ? 2 : 0));
  const unsigned value = setting == SettingId::roce_dscp ? dscp : traffic_class_of(dscp);
  return "write " + std::string(key_text(setting)) + " = " + std::to_string(value) + " (DSCP " + std::to_string(dscp) +
         ", priority " + std::to_string(priority) + ")";
}

// Checks that data packets with this DSCP have a lossless priority.
void check_data(const PortFaults& port, SettingId setting, uint32_t dscp) {
  const auto map = port.map();
  if (!map || port.lossless().bits == 0) return;
  std::string text = priority_text(port, *map, dscp);
  if (const auto found = map->find(static_cast<uint8_t>(dscp)); found != map->end()) {
    if (port.lossless().has(found->second)) return;
    text += ", which has no PFC";
  }
  std::string fix = "map it to a priority in pfc";
  if (!port.want.dscp_map) fix = mark_for(setting, std::countr_zero(port.lossless().bits));
  port.warn(setting, text + ": these packets can be lost; " + fix);
}

// 6 is usual. A lossless priority is not one for CNPs.
std::string priority_for_cnps(const PortFaults& port) {
  for (const size_t prio : {6, 7, 5, 4, 2, 1})
    if (!port.lossless().has(prio)) return std::to_string(prio);
  return "0";
}

void check_cnp(const PortFaults& port) {
  constexpr char kWait[] =
      " is lossless: while PFC pauses it, the CNPs that would end the congestion wait, too; write one without PFC";
  const Qos& want = port.want;
  std::optional<uint32_t> prio;
  if (want.cnp_prio) prio = want.cnp_prio->value;
  if (prio && port.lossless().has(*prio)) port.warn(SettingId::cnp_prio, "priority " + std::to_string(*prio) + kWait);
  const auto map = port.map();
  if (!want.cnp_dscp || !map) return;
  const std::string given = priority_text(port, *map, *want.cnp_dscp);
  const auto found = map->find(static_cast<uint8_t>(*want.cnp_dscp));
  if (prio && (found == map->end() || found->second != *prio))
    port.warn(SettingId::cnp_dscp, given + ", but CNPs have priority " + std::to_string(*prio) + "; write " +
                                       std::to_string(*want.cnp_dscp) + " = " + std::to_string(*prio) + " in dscp_map");
  else if (found == map->end())
    port.warn(SettingId::cnp_dscp, given + ", but CNPs need a priority of their own; for example " +
                                       std::to_string(*want.cnp_dscp) + " = " + priority_for_cnps(port) +
                                       " in dscp_map");
  else if (!prio && port.lossless().has(found->second)) port.warn(SettingId::cnp_dscp, given + ", which" + kWait);
}

// Reports an explicit value that contradicts the one derived from `mark`.
void warn_contradiction(const PortFaults& port, SettingId setting, std::string_view mark, const std::string& origin,
                        const std::string& derived) {
  port.warn(setting, "contradicts " + std::string(mark) + " (" + origin + "), which implies " + derived +
                         "; write one of the two");
}

void check_against_traffic(const PortFaults& port) {
  const PortPolicy& policy = port.entry.port;
  if (!policy.traffic) return;
  const Qos& want = port.want;
  const Mark data = *policy.traffic;
  const std::string dscp = std::to_string(data.dscp), priority = std::to_string(data.priority);
  const auto check = [&](bool agrees, SettingId setting, const std::string& derived) {
    if (!agrees) warn_contradiction(port, setting, "traffic", policy.traffic_origin, derived);
  };
  check(want.trust != Trust::pcp, SettingId::trust, "trust = \"dscp\"");
  if (want.dscp_map) {
    const auto found = want.dscp_map->find(data.dscp);
    check(found != want.dscp_map->end() && found->second == data.priority, SettingId::dscp_map,
          dscp + " = " + priority);
  }
  check(!want.pfc || want.pfc->has(data.priority) || policy.fabric.is_lossy(), SettingId::pfc,
        "pfc = [" + priority + "]");
  check(!want.roce_tos || *want.roce_tos >> 2U == data.dscp, SettingId::roce_tos,
        "roce_tos = " + std::to_string(traffic_class_of(data.dscp)));
  check(!want.roce_dscp || *want.roce_dscp == data.dscp, SettingId::roce_dscp, "roce_dscp = " + dscp);
  check(!want.roce_prio || *want.roce_prio == data.priority, SettingId::roce_prio, "roce_prio = " + priority);
}

// Warns if a type of service is likely to be meant as a DSCP: 26 is DSCP 6, while DSCP 26 is 104, or 106 with ECT(0).
// Evidence is the entry's own use of the number as a DSCP. Without it, the number is that of a standard DSCP for RoCE
// (AF31, CS3, AF41, EF), and the DSCP in it is none of RFC 2474, 2597 and 3246.
void check_type_of_service(const PortFaults& port, SettingId setting, uint32_t tos) {
  constexpr uint32_t kUsual[]{10, 18, 24, 26, 34, 46}, kMostDscp = 63;
  const uint32_t dscp = tos >> 2U;
  if (tos > kMostDscp || tos == 0) return;
  const auto is_used = [&](uint32_t mark) {
    const auto& map = port.want.dscp_map;
    return (port.entry.port.traffic && port.entry.port.traffic->dscp == mark) || port.want.roce_dscp == mark ||
           (map && map->contains(static_cast<uint8_t>(mark)));
  };
  const bool is_class = dscp % 8 == 0 || dscp == 46 || (dscp > 8 && dscp < 40 && dscp % 2 == 0 && dscp % 8 != 0);
  if (is_used(dscp) || !(is_used(tos) || (contains(kUsual, tos) && !is_class))) return;
  port.warn(setting, std::to_string(tos) + " is DSCP " + std::to_string(dscp) +
                         ", because a type of service is DSCP x 4 + ECN; for DSCP " + std::to_string(tos) + " write " +
                         std::string(key_text(setting)) + " = " + std::to_string(traffic_class_of(tos)));
}

void check_marks(const PortFaults& port) {
  const Qos& want = port.want;
  if (want.roce_tos) check_type_of_service(port, SettingId::roce_tos, *want.roce_tos);
  if (want.traffic_class && want.traffic_class->value)
    check_type_of_service(port, SettingId::traffic_class, *want.traffic_class->value);
  if (want.roce_tos) check_data(port, SettingId::roce_tos, *want.roce_tos >> 2U);
  if (want.traffic_class && want.traffic_class->value)
    check_data(port, SettingId::traffic_class, *want.traffic_class->value >> 2U);
  if (want.roce_dscp) check_data(port, SettingId::roce_dscp, *want.roce_dscp);
  if (want.roce_prio && port.lossless().bits != 0 && !port.lossless().has(*want.roce_prio))
    port.warn(SettingId::roce_prio, "priority " + std::to_string(*want.roce_prio) +
                                        " has no PFC: RoCE data can be lost; write one that is in pfc");
  check_cnp(port);
  check_against_traffic(port);
  const PortPolicy& policy = port.entry.port;
  if (policy.cnp && *want.cnp_dscp != policy.cnp->dscp)
    warn_contradiction(port, SettingId::cnp_dscp, "cnp", policy.cnp_origin,
                       "cnp_dscp = " + std::to_string(policy.cnp->dscp));
  if (policy.cnp && want.cnp_prio->value != policy.cnp->priority)
    warn_contradiction(port, SettingId::cnp_prio, "cnp", policy.cnp_origin,
                       "cnp_prio = " + std::to_string(policy.cnp->priority));
}

// ---- congestion control more aggressive than the vendor's: allowed, with a warning that names the risk
// Defaults and meanings: NVIDIA "DCQCN CC Parameters" (DOCA 3.4), mstflint's tools_open_roce_cc_ecn, `mlxconfig query`.

// The side of the default on which a flow sends more, or backs off less.
enum class Aggressive : uint8_t { higher, lower, lower_but_zero, unclear };

struct Vendor {
  SettingId setting;
  uint32_t usual;
  Aggressive side;
  std::string_view risk;  // "... than the vendor's 300: RISK"; {end}: what congestion ends in
};
constexpr Vendor kVendor[] = {
    {SettingId::min_time_between_cnps, 4, Aggressive::higher,
     "senders learn of congestion later, and queues grow until {end}"},
    {SettingId::clamp_tgt_rate_after_time_inc, 1, Aggressive::lower,
     "after a CNP a flow climbs back to the rate that caused it"},
    {SettingId::rpg_time_reset, 300, Aggressive::lower,
     "flows speed up again before the congestion drains, and rates swing"},
    {SettingId::rpg_byte_reset, 32'767, Aggressive::lower_but_zero,
     "flows, above all fast ones, speed up again after less data"},
    {SettingId::rpg_max_rate, 0, Aggressive::higher,
     "flows at that rate are no longer limited, although the port is faster"},
    {SettingId::rpg_ai_rate, 5, Aggressive::higher,
     "many flows together overrun the switch buffer at each increase, until {end}"},
    {SettingId::rpg_hai_rate, 50, Aggressive::higher,
     "many flows together overrun the switch buffer at each increase, until {end}"},
    {SettingId::rpg_gd, 11, Aggressive::higher, "a CNP takes less from the rate, so congestion lasts longer"},
    {SettingId::rpg_min_dec_fac, 50, Aggressive::unclear, "it bounds how far one CNP can slow a flow"},
    {SettingId::rpg_min_rate, 1, Aggressive::higher,
     "with many senders to one receiver, even the slowest flows overrun it"},
    {SettingId::dce_tcp_g, 1'019, Aggressive::unclear,
     "it is the weight by which alpha, and so each cut, follows the CNPs"},
    {SettingId::rate_reduce_monitor_period, 4, Aggressive::higher,
     "CNPs within it cut the rate only once, so congestion lasts longer"},
    {SettingId::initial_alpha_value, 1'023, Aggressive::lower, "the first CNP of a flow takes less from its rate"},
};

bool is_aggressive(const Vendor& row, uint32_t value) {
  switch (row.side) {
    case Aggressive::higher: return value > row.usual;
    case Aggressive::lower: return value < row.usual;
    case Aggressive::lower_but_zero: return value != 0 && value < row.usual;
    case Aggressive::unclear: break;
  }
  return value != row.usual;
}

std::string end_of_congestion(const PortFaults& port) {
  if (port.entry.port.fabric.is_lossy()) return "packets that are lost";
  return "PFC pauses that spread";
}

// A scheduled fabric needs no congestion control of the NICs.
void check_switch(const PortFaults& port, SettingId setting, const std::optional<PrioSet>& on) {
  if (!on || port.entry.port.fabric.kind == FabricKind::scheduled) return;
  const bool is_lossy = port.entry.port.fabric.is_lossy();
  for (const int prio : to_list(roce_priorities(port.entry.port).without(*on)))
    port.warn(setting, "is more aggressive than the vendor's (all priorities): priority " + std::to_string(prio) +
                           (is_lossy ? " has RoCE" : " is lossless") +
                           " and has no congestion control here, so every congestion ends in " +
                           end_of_congestion(port) + "; add " + std::to_string(prio));
}

void check_congestion(const PortFaults& port) {
  const Qos& want = port.want;
  for (const Vendor& row : kVendor) {
    const auto& value = want.*std::get<std::optional<uint32_t> Qos::*>(setting_of(row.setting).member);
    if (!value || !is_aggressive(row, *value)) continue;
    std::string text = std::to_string(*value);
    if (row.side == Aggressive::unclear) text += " departs from";
    else if (row.side == Aggressive::higher) text += " is more aggressive (higher) than";
    else text += " is more aggressive (lower) than";
    std::string risk(row.risk);
    if (const size_t end = risk.find("{end}"); end != std::string::npos)
      risk.replace(end, 5, port.entry.port.fabric.is_lossy() ? "packets are lost" : "PFC pauses the link");
    text.append(" the vendor's " + std::to_string(row.usual) + ": ").append(risk);
    if (row.side == Aggressive::unclear) text += ", and the vendor's texts disagree on which side is gentler";
    port.warn(row.setting, text + "; try it on a few nodes first, or leave it out");
  }
  check_switch(port, SettingId::ecn_rp, want.ecn_rp);
  check_switch(port, SettingId::ecn_np, want.ecn_np);
  if (want.cc == false && port.entry.port.fabric.kind != FabricKind::scheduled)
    port.warn(SettingId::cc,
              "is more aggressive than the vendor's true: senders no longer slow down for CNPs, so every congestion "
              "ends in " +
                  end_of_congestion(port) + "; write cc = true, or leave it out");
  if (want.rpg_max_rate.value_or(0) != 0 && want.rpg_min_rate && *want.rpg_min_rate > *want.rpg_max_rate)
    port.fail(SettingId::rpg_min_rate, std::to_string(*want.rpg_min_rate) + " is above rpg_max_rate, " +
                                           std::to_string(*want.rpg_max_rate) +
                                           ": no flow would ever be limited; write less");
  if (want.rpg_ai_rate && want.rpg_hai_rate && *want.rpg_ai_rate > *want.rpg_hai_rate)
    port.warn(SettingId::rpg_ai_rate, std::to_string(*want.rpg_ai_rate) + " is above rpg_hai_rate, " +
                                          std::to_string(*want.rpg_hai_rate) +
                                          ": the hyper increase would be the smaller one; write less");
}

// ---- fixed limits of the drivers that the entry names

// Why none of the drivers that the pattern names can have the wanted value; empty: one of them can, or none is known.
std::string why_never(const std::string& pattern, const Setting& setting, const Qos& want) {
  std::string out;
  for (const Driver* driver : drivers()) {
    if (!names_driver(pattern, *driver)) continue;
    const std::string why = fabric::why_never(*driver, setting, want);
    if (why.empty()) return {};
    if (out.empty()) out = why;
  }
  return out;
}

// The entry's other settings are applied, so this is a warning. Derived settings apply where a driver has them.
void check_drivers(const PortFaults& port) {
  for (const Setting& setting : kSettings) {
    if (!has_value(setting, port.want) || has_key(port.entry.port.derived, setting.id)) continue;
    std::set<std::string> reported;
    for (const std::string& pattern : port.entry.port.match.driver)
      if (const std::string why = why_never(pattern, setting, port.want); !why.empty() && reported.insert(why).second)
        port.warn(setting.id, "match.driver is " + toml_string(pattern) + ": " + why);
  }
}

}  // namespace

void check_together(const PortDraft& entry, ConfigFaults& faults) {
  const PortFaults port{entry, faults};
  for (const auto check : {check_pause, check_trust, check_dcbx, check_mtu, check_fec, check_lossless, check_classes,
                           check_fabric, check_mode, check_buffers, check_marks, check_congestion, check_drivers})
    check(port);
}

}  // namespace fabric::config
