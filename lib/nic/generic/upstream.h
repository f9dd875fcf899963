// SPDX-License-Identifier: Apache-2.0
// The default driver: 802.1Qaz over dcbnl, pause over ethtool, MTU over rtnetlink. Vendors' files share its parts.
#pragma once

#include "kernel/netlink/dcbnl.h"
#include "nic/operation.h"

namespace fabric::upstream {

// The defaults of the members of Driver with these names.
Result<Reading> read(const PortIo& io, const Keys& keys);
Qos expected(const Qos& want, const Reading& have);
void effect(const Setting& setting, const Qos& want, Qos& have);
std::string never(const Setting& setting, const Qos& want);
std::string impossible(const Setting& setting, const Qos& want, const Reading& have);
std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code);
extern const std::array<SettingId, kSettingCount> kOrder;

// The reading of the netdev, and the dcbnl answer, from which a driver's own file may read more.
struct NetdevReading {
  Reading reading;
  std::optional<dcbnl::IeeeConfig> dcb{};  // absent without dcbnl
};
// Sends one message each of dcbnl, ethtool (pause) and rtnetlink; none if `keys` needs none. Trust is absent only if
// the netdev has no dcbnl at all.
Result<NetdevReading> read_port(const PortIo& io, const Keys& keys);

Op::Write write_dcbx, write_pause, write_mtu, write_ets, write_pfc, write_maxrate;
// Sends prio2buffer and buffer_size in one message, because a NIC checks them together.
Result<void> send_buffers(const PortIo& io, const Eight& map, const Buffers& sizes);

// Whether the setting needs dcbnl and the port of the reading has none.
bool lacks_dcbnl(const Setting& setting, const Qos& have);

// Whether the wanted value of trust or dscp_map needs a NIC that maps DSCPs.
bool needs_dscps(const Setting& setting, const Qos& want);

// Why trust and dscp_map contradict each other, for drivers whose trust depends only on the existence of a DSCP entry.
// `needs_map`: trust = "dscp" requires at least one DSCP in the policy.
std::string impossible_trust(const Qos& want, const Qos& have, bool needs_map);

// The map after such a driver has written trust or dscp_map; trust = "dscp" leaves the map as it is.
DscpMap map_after(const Setting& setting, const Qos& want, const Qos& have);

// Why the port has too few receive buffers for the lossless classes; `most` is their number; empty: it has enough. The
// classes are those of the wanted ETS, else of the present one.
std::string too_many_lossless(const Qos& want, const Qos& have, uint32_t most);

// The ieee_ets to send: `now` with the classes, algorithms and bandwidths of `want`.
ieee_ets wire(const Ets& want, ieee_ets now);

}  // namespace fabric::upstream
