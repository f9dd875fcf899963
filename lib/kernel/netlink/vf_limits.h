// SPDX-License-Identifier: Apache-2.0
// rtnetlink: the limits of virtual functions, set by their physical function (`ip link set PF vf N`; linux/if_link.h,
// rtnl_fill_vfinfo() in net/core/rtnetlink.c of Linux 6.12). Readable without privilege.
#pragma once

#include "base/words.h"
#include "kernel/netlink/netlink.h"

namespace fabric {

enum class VfLinkState : uint8_t { automatic, enable, disable };  // IFLA_VF_LINK_STATE_*
template <>                                                       // as ip-link(8) writes it
inline constexpr std::string_view kEnumWords<VfLinkState>[] { "auto", "enable", "disable" };

struct VfLimits {
  unsigned number = 0;  // `vf N`
  VfLinkState link_state = VfLinkState::automatic;
  uint32_t min_tx_rate = 0, max_tx_rate = 0;  // Mb/s; 0: none
  uint32_t vlan = 0, vlan_priority = 0;       // the tag of every frame that it sends; VLAN 0: none
  bool operator==(const VfLimits&) const = default;
};

namespace rtnl {

// Parses an RTM_NEWLINK payload. The list is empty unless it was requested, and for a driver without
// ndo_get_vf_config(). It may be cut short: the length of an attribute has 16 bits, which 250 functions fill. No I/O.
std::vector<VfLimits> parse_vf_limits(View8 payload);
// The kernel asks the driver for each virtual function, some of which ask their firmware: to be requested only for a
// netdev whose function has virtual ones. Statistics, a firmware command each, are left out (RTEXT_FILTER_SKIP_STATS).
Result<std::vector<VfLimits>> vf_limits(Netlink& route, const std::string& netdev);

}  // namespace rtnl
}  // namespace fabric
