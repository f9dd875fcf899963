// SPDX-License-Identifier: Apache-2.0
// The MTU of a port, of its switch port and of its functions.
#pragma once

#include "judge/view.h"

namespace fabric {

// Bytes of a frame beside its payload: the Ethernet header. The Maximum Frame Size of LLDP (802.3bc clause 79.3.4)
// counts it and the FCS, but Junos announces 1514 if its port accepts 1500, and Cumulus Linux and NX-OS announce the
// MTU itself.
inline constexpr uint32_t kFrameHeader = 14;

// The largest frame that the switch announces by LLDP; of a bond the smallest of its members' switch ports.
std::optional<uint32_t> switch_frame(const Node& node, const Port& port);

}  // namespace fabric
