// SPDX-License-Identifier: Apache-2.0
// Ring sizes, channels and FEC of a netdev (net/ethtool/{rings,channels,fec}.c of Linux 6.12). Reading needs no
// privilege, setting CAP_NET_ADMIN. EOPNOTSUPP: the driver has no such operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernel/netlink/ethtool.h"
#include "model/value.h"

namespace fabric::ethtool {

struct Amount {
  uint32_t now = 0, max = 0;
  bool operator==(const Amount&) const = default;
};

// Descriptors. The kernel leaves out a kind of which the driver has none.
struct Rings {
  std::optional<Amount> rx, tx;
  bool operator==(const Rings&) const = default;
};
Result<Rings> get_rings(Netlink& generic, const Family& family, const std::string& netdev);
Rings parse_rings(View8 payload);
// Those given, in one message: the driver rebuilds its queues once. Above the maximum is EINVAL; drivers may round.
Result<void> set_rings(Netlink& generic, const Family& family, const std::string& netdev, std::optional<uint32_t> rx,
                       std::optional<uint32_t> tx);

// Combined channels; nothing where the driver has separate ones for each direction only.
Result<std::optional<Amount>> get_channels(Netlink& generic, const Family& family, const std::string& netdev);
std::optional<Amount> parse_channels(View8 payload);
Result<void> set_channels(Netlink& generic, const Family& family, const std::string& netdev, uint32_t combined);

// The configured modes, not the active one.
Result<Fec> get_fec(Netlink& generic, const Family& family, const std::string& netdev);
std::optional<Fec> parse_fec(View8 payload);
// Exactly these modes.
Result<void> set_fec(Netlink& generic, const Family& family, const std::string& netdev, Fec fec);

}  // namespace fabric::ethtool
