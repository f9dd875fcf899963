// SPDX-License-Identifier: Apache-2.0
// What the ethtool messages have in common. For the ethtool_*.cpp files only.
#pragma once

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/netlink/ethtool.h"

namespace fabric::ethtool {

// A request about one netdev. The header is attribute 1 of every message used here.
AttrWriter request(uint8_t command, const std::string& netdev);
// "eth0: read rings: ..."
Error subject(const Error& failure, const std::string& netdev, std::string_view act);
// Sends a GET and gives its one reply.
Result<Message> ask(Netlink& generic, const Family& family, uint8_t command, const std::string& netdev,
                    std::string_view act);
// Sends a SET.
Result<void> tell(Netlink& generic, const Family& family, const AttrWriter& message, const std::string& netdev,
                  std::string_view act);

// The named bits of a verbose bitset (net/ethtool/bitset.c ethnl_put_bitset32): with a mask every bit and whether it is
// on, without one ("nomask") those that are on.
std::vector<std::pair<std::string, bool>> parse_bitset(View8 bitset);

}  // namespace fabric::ethtool
