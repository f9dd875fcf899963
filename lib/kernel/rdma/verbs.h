// SPDX-License-Identifier: Apache-2.0
// libibverbs, for the one thing that only it tells: the path MTU that the provider reports.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fabric::verbs {

// active_mtu of the port in bytes (256..4096), by ibv_query_port. The device is closed again before this returns: an
// open context would keep rxe's module from unloading.
Result<uint32_t> active_mtu(const std::string& device, uint8_t port);

// What the kernel computes for RoCE from the netdev MTU: the largest of 256, 512, 1024, 2048, 4096 that leaves 96 bytes
// for headers (iboe_get_mtu, include/rdma/ib_addr.h of Linux 6.12); 0 when even 256 does not fit.
constexpr uint32_t roce_mtu(uint32_t netdev_mtu) {
  for (uint32_t mtu : {4096u, 2048u, 1024u, 512u, 256u})
    if (netdev_mtu >= mtu + 96) return mtu;
  return 0;
}

}  // namespace fabric::verbs
