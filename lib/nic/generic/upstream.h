// SPDX-License-Identifier: Apache-2.0
// The default driver: 802.1Qaz over dcbnl, pause over ethtool, MTU over rtnetlink. Vendors' files share its parts.
#pragma once

#include "nic/operation.h"

namespace fabric::upstream {

// What a driver does that has nothing of its own: the members of Driver by these names.
Result<Reading> read(const PortIo& io, const Keys& keys);
Qos expected(const Qos& want, const Reading& have);
void effect(const Setting& setting, const Qos& want, Qos& have);
std::string impossible(const Setting& setting, const Qos& want, const Reading& have);
std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code);
extern const std::array<SettingId, kSettingCount> kOrder;

// The reading of the netdev, and the dcbnl answer from which a driver takes more.
struct PortReading {
  Reading reading;
  std::optional<dcbnl::Snapshot> dcb{};  // absent without dcbnl
};
// One dcbnl message, one of pause, one of the link; none if `keys` needs none. Trust is absent when the netdev has no
// dcbnl at all, and only then.
Result<PortReading> read_port(const PortIo& io, const Keys& keys);

Op::Write write_dcbx, write_pause, write_mtu, write_trust, write_dscp_map, write_ets, write_pfc, write_apptrust,
    write_buffers, write_maxrate;
// prio2buffer and buffer_size go in one message: a NIC judges them together.
Result<void> send_buffers(const PortIo& io, const Eight& map, const Buffers& sizes);

// The setting needs dcbnl, and the port that was read has none.
bool lacks_dcbnl(const Setting& setting, const Qos& have);

// For drivers that trust DSCP as soon as one DSCP entry exists, without another knob: why trust and dscp_map contradict
// each other. `needs_map`: trust = "dscp" requires at least one DSCP in the policy.
std::string impossible_trust(const Qos& want, const Qos& have, bool needs_map);

// The map after such a driver has written trust or dscp_map; trust = "dscp" is never written: it needs a map.
DscpMap map_after(const Setting& setting, const Qos& want, const Qos& have);

// Why the port has no receive buffers for so many lossless classes, `most` being its number; empty: it has. The classes
// are those of the wanted ETS, or of the one there is.
std::string too_many_lossless(const Qos& want, const Qos& have, uint32_t most);

// The ieee_ets to send: `now` with what a profile owns (classes, algorithms, bandwidths) replaced.
ieee_ets wire(const Ets& want, ieee_ets now);

}  // namespace fabric::upstream
