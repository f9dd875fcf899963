// SPDX-License-Identifier: Apache-2.0
// Words and tables of an RDMA port.
#pragma once

#include <cstdint>
#include <string>

#include "base/words.h"

namespace fabric {

enum class LinkLayer : uint8_t { unknown, ethernet, infiniband };
template <>  // as sysfs writes it
inline constexpr std::string_view kEnumWords<LinkLayer>[] { "Unknown", "Ethernet", "InfiniBand" };

struct Gid {
  unsigned index = 0;
  std::string gid;     // "0000:0000:0000:0000:0000:ffff:0a01:0001"
  std::string type;    // "RoCE v2", "IB/RoCE v1"
  std::string netdev;  // may be empty
  bool above = false;  // the netdev is on top of the port's own one, in this namespace: a VLAN, whatever its name
  // The netdev is a tunnel (VXLAN, GENEVE): RoCE packets leave the port without the tunnel's header, so that no peer of
  // the tunnel gets them.
  bool overlay = false;
};

// The width of an InfiniBand link and the speed of each lane: 4 and "NDR".
struct IbWidth {
  unsigned lanes = 0;
  std::string speed;
  bool operator==(const IbWidth&) const = default;
};

// Bytes: the largest path MTU; GRH, BTH, extended headers and ICRC of a RoCE packet.
inline constexpr uint32_t kLargestPathMtu = 4096, kRoceHeaders = 96;

// The kernel's path MTU for RoCE on a netdev with this MTU: the largest of 256, 512, 1024, 2048, 4096 that leaves room
// for the headers (iboe_get_mtu(), include/rdma/ib_addr.h of Linux 6.12); 0: even 256 does not fit.
constexpr uint32_t roce_mtu(uint32_t netdev_mtu) {
  for (uint32_t size = kLargestPathMtu; size >= 256; size /= 2)
    if (netdev_mtu >= size + kRoceHeaders) return size;
  return 0;
}

// enum ib_port_state and ib_port_phys_state (rdma/ib_verbs.h of Linux 6.12).
inline constexpr unsigned kPortDown = 1, kPortInit = 2, kPortArmed = 3, kPortActive = 4, kPortActiveDefer = 5;
inline constexpr unsigned kPhysSleep = 1, kPhysPolling = 2, kPhysDisabled = 3, kPhysTraining = 4, kPhysLinkUp = 5,
                          kPhysRecovery = 6;

std::string_view port_state_text(unsigned state);       // "ACTIVE"
std::string_view phys_state_text(unsigned phys_state);  // "LinkUp"

}  // namespace fabric
