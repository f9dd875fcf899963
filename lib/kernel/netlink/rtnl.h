// SPDX-License-Identifier: Apache-2.0
// rtnetlink: links and their MTU (linux/rtnetlink.h, net/core/rtnetlink.c of Linux 6.12).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/netlink/netlink.h"

namespace fabric::rtnl {

struct Link {
  int ifindex = 0;
  std::string name;
  std::optional<uint32_t> mtu, min_mtu, max_mtu;
  std::optional<bool> carrier;
  std::optional<uint32_t> carrier_down_count;
  std::optional<int> master;            // ifindex of the bond or bridge
  std::string parent;                   // PCI address or the like, empty when unknown
  std::vector<std::string> altnames{};  // other names of it (ip link property add)
  std::string kind;                     // IFLA_INFO_KIND: "bond", "veth"; empty for hardware
  std::string permanent{};              // address that the hardware has, "b8:3f:d2:00:00:01"; empty: none, or below 5.6
  uint32_t vrf_table = 0;               // of a VRF: the routing table of its domain (IFLA_VRF_TABLE); 0: not a VRF
};

// A Link in an RTM_NEWLINK / RTM_DELLINK payload (starts with struct ifinfomsg). Pure.
Result<Link> parse_link(View8 payload);
Result<std::vector<Link>> links(Netlink& route);
Result<Link> link(Netlink& route, const std::string& netdev);  // ENODEV
Result<void> set_mtu(Netlink& route, const std::string& netdev, uint32_t mtu);

}  // namespace fabric::rtnl
