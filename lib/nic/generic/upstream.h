// SPDX-License-Identifier: Apache-2.0
// Parts of the default driver (driver.h) that the vendors' files share.
#pragma once

#include "nic/driver.h"
#include "setting/setting_table.h"

namespace fabric::upstream {

// One dcbnl reading, one of pause, one of the link. Trust is absent when the netdev has no dcbnl at all, and only then.
struct Reading {
  Qos qos;
  std::optional<dcbnl::Snapshot> dcb;  // what qos was taken from; absent without dcbnl
};
Result<Reading> read_port(PortIo& io);

Op::Write write_dcbx, write_pause, write_mtu, write_trust, write_dscp_map, write_ets, write_pfc, write_apptrust,
    write_buffers, write_maxrate;
// prio2buffer and buffer_size go in one message: a NIC judges them together.
Result<void> send_buffers(PortIo& io, const Eight& map, const Buffers& sizes);

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
