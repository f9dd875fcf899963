// SPDX-License-Identifier: Apache-2.0
// IP addresses, routes, neighbors and routing rules as rtnetlink reports them.
#pragma once

#include <linux/neighbour.h>

#include "base/ip.h"

namespace fabric {

inline constexpr uint32_t kTableDefault = 253, kTableMain = 254, kTableLocal = 255;  // RT_TABLE_*

struct Address {
  Ip ip;
  unsigned prefix = 0;
  bool global = true;       // not link-local or host scope
  bool dad_failed = false;  // IPv6: another station has the address (IFA_F_DADFAILED)
  bool operator==(const Address&) const = default;
};

struct Route {
  Ip destination;
  unsigned prefix = 0;
  uint32_t table = 0;
  std::optional<Ip> gateway{};
  bool operator==(const Route&) const = default;
};

struct IpNeighbor {
  Ip ip;
  uint16_t state = 0;  // NUD_*; rtnl::neighbor_state_text()
  bool operator==(const IpNeighbor&) const = default;
  // Whether it did not answer the last ARP or neighbor solicitation.
  [[nodiscard]] bool has_failed() const { return state == NUD_FAILED; }
  // The same, or it has not answered yet.
  [[nodiscard]] bool is_silent() const { return has_failed() || state == NUD_INCOMPLETE; }
};

// A table, and the packets that it is for: those with this source, or of sockets bound to this device.
struct RoutingRule {
  uint32_t priority = 0, table = 0;
  std::optional<Ip> source{};
  unsigned source_prefix = 0;
  std::string device{};  // oif
  bool operator==(const RoutingRule&) const = default;
};

}  // namespace fabric
