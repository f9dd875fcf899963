// SPDX-License-Identifier: Apache-2.0
// Values that are right alone and wrong together. An error where a driver would refuse them or one makes the other
// void; a warning where they work, and work badly.
#include <algorithm>

#include "base/parse.h"
#include "nic/generic/headroom.h"
#include "policy/judge.h"

namespace fabric::config {
namespace {

// RoCE path MTU 4096 plus its headers (BTH, extended headers, ICRC, IP, UDP): kernel's iboe_get_mtu() wants 4096 + 96.
constexpr uint32_t kMtuForPath4096 = 4'192;
constexpr uint8_t kDscpSelector = 5, kPcpSelector = 255;  // of apptrust
constexpr uint32_t kFecSpeed = 100'000;                   // Mb/s

void check_pause(const Judge& judge) {
  const auto& pause = judge.want.pause;
  if (judge.lossless().bits != 0 && pause && (pause->rx || pause->tx))
    judge.fail(SettingId::pause, "global pause and pfc exclude each other (802.1Qbb); write pause = \"off\"");
}

void check_trust(const Judge& judge) {
  const Qos& want = judge.want;
  if (want.trust == Trust::pcp && want.dscp_map && !want.dscp_map->empty())
    judge.fail(SettingId::trust,
               "dscp_map has no effect while trust is \"pcp\"; write trust = \"dscp\", or leave dscp_map out");
  if (!want.apptrust || want.apptrust->selectors.empty()) return;
  if (want.dscp_map && !want.dscp_map->empty() && !contains(want.apptrust->selectors, kDscpSelector))
    judge.fail(SettingId::apptrust,
               "dscp_map has no effect without \"dscp\"; write apptrust = [\"dscp\", \"pcp\"], or leave dscp_map out");
  if (!want.trust) return;
  const bool dscp = want.trust == Trust::dscp;
  if (want.apptrust->selectors.front() != (dscp ? kDscpSelector : kPcpSelector))
    judge.fail(SettingId::apptrust, std::string("trust is ") + (dscp ? "\"dscp\"" : "\"pcp\"") +
                                        ", and another field comes first here; write " +
                                        (dscp ? "apptrust = [\"dscp\", \"pcp\"]" : "apptrust = [\"pcp\"]"));
}

void check_dcbx(const Judge& judge) {
  const Qos& want = judge.want;
  if (want.fw_lldp == true && want.dcbx == Dcbx::host)
    judge.fail(SettingId::fw_lldp,
               "while the firmware's LLDP agent runs it owns DCBX, and dcbx is \"host\"; write fw_lldp = false");
  if (want.dcbx == Dcbx::firmware && (want.pfc || want.ets || want.dscp_map))
    judge.warn(SettingId::dcbx,
               "with \"firmware\", the NIC may overwrite pfc, ets and dscp_map by what the switch offers; write dcbx = "
               "\"host\"");
}

void check_netdev(const Judge& judge) {
  const Qos& want = judge.want;
  if (want.mtu && *want.mtu < kMtuForPath4096)
    judge.warn(SettingId::mtu,
               std::to_string(*want.mtu) + " gives a RoCE path MTU below 4096; write mtu = 4200 or more");
}

// Lanes of 25 Gb/s and faster lose packets all the time without FEC (IEEE 802.3 clauses 91, 119).
void check_fec(const Judge& judge) {
  if (!judge.want.fec || judge.want.fec->bits != kFecOff) return;
  const auto& speeds = judge.entry.port.match.speed;
  const bool fast = std::ranges::any_of(
      speeds, [](const std::string& speed) { return parse_number<uint32_t>(speed).value_or(0) >= kFecSpeed; });
  if (fast || speeds.empty())
    judge.warn(SettingId::fec,
               "links of 100 Gb/s and more need forward error correction, without it they lose packets; write fec = "
               "\"rs\", as on the switch");
}

void check_lossless(const Judge& judge) {
  const Qos& want = judge.want;
  if (want.cable_length && judge.lossless().bits == 0)
    judge.warn(SettingId::cable_length, "sizes the headroom of lossless priorities, and this entry has no pfc");
  if (!want.dscp_map || want.trust == Trust::pcp) return;
  PrioSet reached;
  for (const auto& [dscp, prio] : *want.dscp_map) reached.bits = static_cast<uint8_t>(reached.bits | 1U << prio);
  for (int prio = 0; prio < kPriorities; ++prio)
    if (judge.lossless().has(prio) && !reached.has(prio))
      judge.warn(SettingId::pfc, "no DSCP maps to priority " + std::to_string(prio) +
                                     ", so nothing is sent without loss on it; add it to dscp_map");
  const auto unmarked = want.dscp_map->find(0);
  if (judge.lossless().has(0) && (unmarked == want.dscp_map->end() || unmarked->second == 0))
    judge.warn(SettingId::pfc,
               "priority 0 also takes all that has no mark (DSCP 0), which then can pause RoCE; map DSCP 0 to another "
               "priority in dscp_map");
}

// All that has no mark goes by priority 0, and strict classes come before the others.
void check_rest(const Judge& judge, const Ets& ets) {
  const uint8_t rest = ets.prio_tc[0];
  if (judge.lossless().has(0) || ets.tsa[rest] != Tsa::strict) return;
  for (size_t prio = 1; prio < kPriorities; ++prio)
    if (judge.lossless().has(prio) && ets.tsa[ets.prio_tc[prio]] == Tsa::ets)
      return judge.warn(SettingId::ets,
                        "priority 0, which takes all that has no mark, goes to the strict traffic class " +
                            std::to_string(rest) + ": RoCE on priority " + std::to_string(prio) +
                            " starves behind it; give it an ets class, and CNPs another priority");
}

void check_classes(const Judge& judge) {
  if (!judge.want.ets) return;
  const Ets& ets = *judge.want.ets;
  check_rest(judge, ets);
  for (size_t prio = 0; prio < kPriorities; ++prio) {
    if (!judge.lossless().has(prio)) continue;
    const uint8_t tc = ets.prio_tc[prio];
    const std::string who =
        "priority " + std::to_string(prio) + " is lossless, and its traffic class " + std::to_string(tc);
    bool shared = false;
    for (size_t other = 0; other < kPriorities; ++other)
      shared = shared || (ets.prio_tc[other] == tc && !judge.lossless().has(other));
    if (ets.tsa[tc] == Tsa::ets && ets.bw[tc] == 0)
      judge.warn(SettingId::ets,
                 who + " gets 0 % of the link: RoCE starves behind the others; give the class a share in bw");
    if (shared)
      judge.warn(
          SettingId::ets,
          who + " also has priorities that are not: a pause stops those, too; give it a class of its own in prio_tc");
  }
}

void check_mode(const Judge& judge) {
  if (judge.want.roce_mode == RoceMode::v1 && (judge.want.trust == Trust::dscp || judge.want.dscp_map))
    judge.warn(
        SettingId::roce_mode,
        "packets of RoCE v1 have no IP header, so no DSCP that could decide their priority; write roce_mode = \"v2\"");
}

// Receive buffers against what PFC needs of them.
constexpr uint32_t kSlowest = 40'000;  // Mb/s; mlx5 computes with no less
constexpr uint32_t kDefaultMtu = 1'500;

// The fastest link speed that the entry matches, if it matches by speed: a size too small for it is wrong.
headroom::Link link_of(const Judge& judge) {
  headroom::Link link;
  link.speed = kSlowest;
  for (const std::string& speed : judge.entry.port.match.speed)
    link.speed = std::max(link.speed, parse_number<uint32_t>(speed).value_or(0));
  link.mtu = judge.want.mtu.value_or(kDefaultMtu);
  link.cable = judge.want.cable_length.value_or(headroom::kDefaultCable);
  return link;
}

void check_sharing(const Judge& judge, const Eight& prio2buffer) {
  for (size_t buffer = 0; buffer < kPriorities; ++buffer) {
    std::optional<size_t> lossless, lossy;
    for (size_t prio = 0; prio < kPriorities; ++prio)
      if (prio2buffer[prio] == buffer) (judge.lossless().has(prio) ? lossless : lossy) = prio;
    if (lossless && lossy)
      judge.warn(SettingId::prio2buffer,
                 "priority " + std::to_string(*lossless) + " is lossless and shares buffer " + std::to_string(buffer) +
                     " with priority " + std::to_string(*lossy) +
                     ", which is not: the card keeps both without loss, and either fills it; give the "
                     "lossless one a buffer of its own");
  }
}

void check_size(const Judge& judge, size_t prio, size_t buffer) {
  const uint32_t size = judge.want.buffer_size->bytes[buffer];
  const headroom::Link link = link_of(judge);
  const uint64_t least = headroom::minimum(link);
  const bool lossless = judge.lossless().has(prio);
  const std::string who = "buffer " + std::to_string(buffer) + " of priority " + std::to_string(prio);
  if (size == 0)
    judge.fail(SettingId::buffer_size, who + " has no bytes: every packet would be lost; write buffer_size = \"auto\"");
  else if (lossless && size < least)
    judge.fail(SettingId::buffer_size, who + " has " + std::to_string(size) + " bytes, and without loss it needs " +
                                           std::to_string(least) + " at " + std::to_string(link.speed / 1000) +
                                           " Gb/s with MTU " + std::to_string(link.mtu) + " and " +
                                           std::to_string(link.cable) +
                                           " m of cable, else the driver refuses it; write buffer_size = \"auto\"");
}

void check_buffers(const Judge& judge) {
  const Qos& want = judge.want;
  if (!want.prio2buffer) return;
  check_sharing(judge, *want.prio2buffer);
  if (!want.buffer_size || want.buffer_size->automatic) return;
  for (size_t prio = 0; prio < kPriorities; ++prio) check_size(judge, prio, (*want.prio2buffer)[prio]);
}

}  // namespace

void check_together(const Entry& entry, Faults& faults) {
  const Judge judge{entry, faults};
  for (const auto check : {check_pause, check_trust, check_dcbx, check_netdev, check_fec, check_lossless, check_classes,
                           check_mode, check_buffers, check_marks, check_congestion})
    check(judge);
}

}  // namespace fabric::config
