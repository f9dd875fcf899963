// SPDX-License-Identifier: Apache-2.0
// ethtool's settings of a netdev by generic netlink (linux/ethtool_netlink.h). ethtool_link.h: its link, FEC and
// module; ethtool_ioctl.h: driver statistics, which have no netlink form.
#pragma once

#include "kernel/netlink/netdev.h"
#include "setting/value.h"

namespace fabric::ethtool {

// A generic netlink family: id and "monitor" multicast group (of ethtool's), from nlctrl. ENOENT: the kernel has none.
struct Family {
  uint16_t id = 0;
  uint32_t monitor_group = 0;
};
Result<Family> resolve(Netlink& generic, const char* name = "ethtool");
Result<Family> parse_family(View8 payload);  // of a CTRL_CMD_NEWFAMILY reply; no I/O, as in the other parsers here

// A request about one netdev. The header is attribute 1 of every message used here. `flags`: ETHTOOL_FLAG_*.
AttrWriter request(uint8_t command, const std::string& netdev, uint32_t flags = 0);
// A request that changes the netdev. The kernel answers ENODEV if index and name are not of one device
// (ethnl_parse_header_dev_get()).
AttrWriter request(uint8_t command, const NetdevId& netdev);

// Sends a request and parses its reply. Errors begin with "eth0: read rings: ".
template <class Parse>
auto get(Netlink& generic, const Family& family, uint8_t command, const std::string& netdev, const char* act,
         Parse* parse, uint32_t flags = 0) {
  return ask(generic, family.id, family.id, request(command, netdev, flags), netdev + ": " + act, parse);
}

Result<Pause> get_pause(Netlink& generic, const Family& family, const std::string& netdev);
// Parses a PAUSE reply or notification; nullopt: it lacks the values.
std::optional<Pause> parse_pause(View8 payload);
// Sends RX and TX only: mlx5 refuses an AUTONEG of 1 and others need none.
Result<void> set_pause(Netlink& generic, const Family& family, const NetdevId& netdev, const Pause& pause);
// EOPNOTSUPP: the driver has no private flags, or none of this name.
Result<std::vector<std::pair<std::string, bool>>> get_private_flags(Netlink& generic, const Family& family,
                                                                    const std::string& netdev);
std::vector<std::pair<std::string, bool>> parse_private_flags(View8 payload);
Result<void> set_private_flag(Netlink& generic, const Family& family, const NetdevId& netdev, std::string_view name,
                              bool on);

// Ring sizes, channels and FEC of a netdev (net/ethtool/{rings,channels,fec}.c of Linux 6.12). Reading needs no
// privilege, setting CAP_NET_ADMIN. EOPNOTSUPP: the driver has no such operation.

struct Amount {
  uint32_t now = 0, max = 0;
  bool operator==(const Amount&) const = default;
};

// Numbers of descriptors. The kernel leaves out a kind of ring that the driver lacks.
struct Rings {
  std::optional<Amount> rx, tx;
  bool operator==(const Rings&) const = default;
};
Result<Rings> get_rings(Netlink& generic, const Family& family, const std::string& netdev);
Rings parse_rings(View8 payload);
// Sets the given sizes in one message, so that the driver rebuilds its queues once. EINVAL: above the maximum. Drivers
// may round.
Result<void> set_rings(Netlink& generic, const Family& family, const NetdevId& netdev, std::optional<uint32_t> rx,
                       std::optional<uint32_t> tx);

// Combined channels; nullopt: the driver has only separate channels for each direction.
Result<std::optional<Amount>> get_channels(Netlink& generic, const Family& family, const std::string& netdev);
std::optional<Amount> parse_channels(View8 payload);
Result<void> set_channels(Netlink& generic, const Family& family, const NetdevId& netdev, uint32_t combined);

// The configured modes, not the active one.
Result<Fec> get_fec(Netlink& generic, const Family& family, const std::string& netdev);
std::optional<Fec> parse_fec(View8 payload);
// Enables exactly these modes.
Result<void> set_fec(Netlink& generic, const Family& family, const NetdevId& netdev, Fec fec);

}  // namespace fabric::ethtool
