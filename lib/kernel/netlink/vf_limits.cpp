// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/vf_limits.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace fabric::rtnl {

std::vector<VfLimits> parse_vf_limits(View8 payload) {
  std::vector<VfLimits> out;
  if (payload.size() < sizeof(ifinfomsg)) return out;
  for (const Attr& info : parse_nested(parse_attributes(payload, sizeof(ifinfomsg)), IFLA_VFINFO_LIST)) {
    if (info.type != IFLA_VF_INFO) continue;
    const auto attributes = parse_attributes(info.value);
    const auto vlan = value_of<ifla_vf_vlan>(attributes, IFLA_VF_VLAN);
    const auto state = value_of<ifla_vf_link_state>(attributes, IFLA_VF_LINK_STATE);
    if (!vlan || !state) continue;  // every kernel sends both
    VfLimits& limits = out.emplace_back();
    limits.number = vlan->vf;
    limits.vlan = vlan->vlan;
    limits.vlan_priority = vlan->qos;
    if (state->link_state == IFLA_VF_LINK_STATE_ENABLE) limits.link_state = VfLinkState::enable;
    if (state->link_state == IFLA_VF_LINK_STATE_DISABLE) limits.link_state = VfLinkState::disable;
    if (const auto rate = value_of<ifla_vf_rate>(attributes, IFLA_VF_RATE)) {
      limits.min_tx_rate = rate->min_tx_rate;
      limits.max_tx_rate = rate->max_tx_rate;
    }
  }
  return out;
}

Result<std::vector<VfLimits>> vf_limits(Netlink& route, const std::string& netdev) {
  AttrWriter request;
  request.header(ifinfomsg{}).text(IFLA_IFNAME, netdev).u32(IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
  return ask<std::vector<VfLimits>>(route, RTM_GETLINK, RTM_NEWLINK, request, netdev + ": read virtual functions",
                                    parse_vf_limits);
}

}  // namespace fabric::rtnl
