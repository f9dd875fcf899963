// SPDX-License-Identifier: Apache-2.0
// A packet socket for the LLDP frames of one netdev (net/packet/af_packet.c of Linux 6.12). Requires CAP_NET_RAW.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "kernel/netlink/netlink.h"

namespace fabric::lldp {

// Nonblocking; joins the three multicast addresses of LLDP and receives its EtherType only, without our own frames.
// EPERM without the capability, ENODEV: no such netdev.
Result<Fd> open_socket(int ifindex, const std::string& netdev);

// The next frame, or nullopt. An Error: ENETDOWN (the netdev is down; the socket goes on when it is up
// again), ENXIO or ENODEV (it is gone).
Result<std::optional<Bytes>> receive(const Fd& socket);

}  // namespace fabric::lldp
