// SPDX-License-Identifier: Apache-2.0
// Judges by a simulated NIC's own state how packets are protected. Knows nothing of the product's rules.
#pragma once

#include <algorithm>

#include "support/sim_nic.h"
#include "vm/module/driver_rules.h"

namespace fabric::test {

// How the NIC treats packets with this DSCP. nullopt: its map has no entry of the DSCP.
inline std::optional<unsigned> priority_on(const SimNic& nic, unsigned dscp) {
  if (nic.personality == Personality::bnxt) {
    const auto entry = nic.firmware_dscp.find(static_cast<uint16_t>(dscp));
    if (entry == nic.firmware_dscp.end()) return std::nullopt;
    return entry->second;
  }
  if (nic.personality == Personality::ice) {
    if ((nic.ice.local.mapped >> dscp & 1) == 0) return std::nullopt;
    return nic.ice.local.dscp_map[dscp];
  }
  if (nic.personality == Personality::full && nic.trust.front() != IEEE_8021QAZ_APP_SEL_DSCP) return std::nullopt;
  std::optional<unsigned> out;
  for (const dcb_app& entry : nic.app)
    if (entry.selector == IEEE_8021QAZ_APP_SEL_DSCP && entry.protocol == dscp)
      out = std::max<unsigned>(out.value_or(0), entry.priority);
  return out;
}

// The protection of the priority, in bits: 1 PFC, 2 a lossless buffer behind it, 4 a class without lossy priorities, 8
// a share.
inline unsigned protection_of(const SimNic& nic, unsigned prio) {
  if ((nic.pfc.pfc_en >> prio & 1) == 0 || nic.shows_agents_dcb) return 0;
  if (nic.personality == Personality::bnxt &&
      !rule_bnxt_pauses(nic.tc_to_qidx.data(), &nic.ets, nic.pfc.pfc_en, static_cast<int>(prio), nic.traffic_classes))
    return 0;
  unsigned out = 1;
  if (nic.personality == Personality::mlx5 && nic.manual_buffers && !nic.lossy[nic.buffer.prio2buffer[prio]]) out |= 2;
  const unsigned tc = nic.ets.prio_tc[prio];
  bool is_alone = true;
  for (unsigned other = 0; other < 8; ++other)
    if (other != prio && nic.ets.prio_tc[other] == tc && (nic.pfc.pfc_en >> other & 1) == 0) is_alone = false;
  if (is_alone) out |= 4;
  if (nic.ets.tc_tsa[tc] != IEEE_8021QAZ_TSA_ETS || nic.ets.tc_tx_bw[tc] != 0) out |= 8;
  return out;
}

// The protection of packets with this DSCP.
inline unsigned protection_on(const SimNic& nic, unsigned dscp) {
  return protection_of(nic, priority_on(nic, dscp).value_or(0));
}

}  // namespace fabric::test
