// SPDX-License-Identifier: Apache-2.0
// A packet socket that hears the LLDP frames of one netdev (net/packet/af_packet.c of Linux 6.12). Takes CAP_NET_RAW.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "kernel/netlink/netlink.h"

namespace fabric::lldp {

// Nonblocking; joins the three multicast addresses of LLDP, hears nothing but its EtherType, and not what this host
// sends. EPERM without the capability, ENODEV: no such netdev.
Result<Fd> open_socket(int ifindex, const std::string& netdev);

// The next frame that waits, or nothing. An Error: ENETDOWN (the netdev is down; the socket goes on when it is up
// again), ENXIO or ENODEV (it is gone).
Result<std::optional<Bytes>> receive(const Fd& socket);

}  // namespace fabric::lldp
