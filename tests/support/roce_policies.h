// SPDX-License-Identifier: Apache-2.0
// Policies between which RoCE's class of traffic moves, of the drivers that know DSCPs.
#pragma once

#include "support/sim_nic_bed.h"

namespace fabric::test {

struct RocePolicy {
  std::string name;
  unsigned dscp = 26;  // of RoCE
  Qos want{};
};

inline RocePolicy roce(const std::string& name, Personality personality, unsigned dscp, unsigned priority, uint8_t pfc,
                       bool buffers = false) {
  RocePolicy out{name, dscp};
  Qos& want = out.want;
  want.dcbx = Dcbx::host;
  want.trust = Trust::dscp;
  want.dscp_map = DscpMap{{static_cast<uint8_t>(dscp), static_cast<uint8_t>(priority)}, {48, 6}};
  want.pfc = PrioSet{pfc};
  Ets& ets = want.ets.emplace();
  if (personality == Personality::ice) {
    ets = shares(kIdentity, {});
    ets.bw[0] = ets.bw[priority] = 50;
  } else {
    ets.prio_tc[priority] = 1;
    for (unsigned other = 0; other < 8; ++other)
      if ((pfc >> other & 1) != 0) ets.prio_tc[other] = 1;
    ets.prio_tc[6] = 2;
    ets.tsa[0] = ets.tsa[1] = Tsa::ets;
    ets.bw[0] = ets.bw[1] = 50;
  }
  if (buffers && personality == Personality::mlx5) {
    want.prio2buffer.emplace()[priority] = 1;
    want.buffer_size = Buffers{.automatic = true};
    want.cable_length = 30;
  }
  return out;
}

inline std::vector<RocePolicy> policies(Personality personality) {
  std::vector<RocePolicy> out{
      roce("26 to 3", personality, 26, 3, 0x08),
      roce("26 to 4", personality, 26, 4, 0x10),
      roce("34 to 4", personality, 34, 4, 0x10),
      roce("26 to 3, PFC on 3 and 4", personality, 26, 3, 0x18),
      roce("26 to 5, buffers", personality, 26, 5, 0x20, true),
      roce("34 to 2, buffers", personality, 34, 2, 0x04, true),
      roce("26 to 3 without PFC", personality, 26, 3, 0),
      roce("26 to 4, PFC on 4 and 5", personality, 26, 4, 0x30),
  };
  Qos& identity = out.emplace_back(roce("26 to 3, eight classes", personality, 26, 3, 0x08)).want;
  identity.ets->prio_tc = kIdentity;
  identity.ets->bw = {50, 0, 0, 50};
  identity.ets->tsa[1] = Tsa::strict;
  identity.ets->tsa[3] = Tsa::ets;
  // RoCE and its CNPs change places.
  Qos& swapped = out.emplace_back(roce("26 to 6, 48 to 3", personality, 26, 6, 0x40)).want;
  swapped.dscp_map = DscpMap{{26, 6}, {48, 3}};
  if (personality != Personality::ice) {
    swapped.ets->prio_tc[6] = 1;
    swapped.ets->prio_tc[3] = 2;
  }
  RocePolicy& pcp = out.emplace_back(roce("PCP 3", personality, 26, 3, 0x08));
  pcp.want.trust = Trust::pcp;
  pcp.want.dscp_map = DscpMap{};
  if (personality == Personality::ice) pcp.want.ets.reset();
  return out;
}

}  // namespace fabric::test
