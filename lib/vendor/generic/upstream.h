// SPDX-License-Identifier: Apache-2.0
// The default driver: 802.1Qaz over dcbnl, pause over ethtool, MTU over rtnetlink. The vendor files share its
// functions.
#pragma once

#include "model/setting_table.h"
#include "vendor/driver.h"

namespace fabric::upstream {

// One dcbnl reading, one of pause, one of the link. Trust is absent when the netdev has no dcbnl at all, and only then.
struct Reading {
  Qos qos;
  std::optional<dcbnl::Snapshot> dcb;  // what qos was taken from; absent without dcbnl
};
Result<Reading> read_port(PortIo& io);
Result<Qos> read(PortIo& io);
Qos expected(const Qos& want, const Qos& have, const Limits& limits);
void effect(const Setting& setting, const Qos& want, Qos& have);
std::string impossible(const Setting& setting, const Qos& want, const Qos& have, const Limits& limits);
std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code);
// Of a setting that a driver with dcbnl does not offer.
std::string_view why_missing(SettingId setting);

Result<void> write_dcbx(PortIo& io, const Setting&, const Qos& want, const Qos& have);
Result<void> write_pause(PortIo& io, const Setting&, const Qos& want, const Qos& have);
Result<void> write_mtu(PortIo& io, const Setting&, const Qos& want, const Qos& have);
Result<void> write_trust(PortIo& io, const Setting&, const Qos& want, const Qos& have);
Result<void> write_dscp_map(PortIo& io, const Setting&, const Qos& want, const Qos& have);
Result<void> write_ets(PortIo& io, const Setting&, const Qos& want, const Qos& have);
Result<void> write_pfc(PortIo& io, const Setting&, const Qos& want, const Qos& have);
Result<void> write_apptrust(PortIo& io, const Setting&, const Qos& want, const Qos& have);
// prio2buffer and buffer_size go in one message: a NIC judges them together.
Result<void> write_buffers(PortIo& io, const Setting&, const Qos& want, const Qos& have);
Result<void> write_maxrate(PortIo& io, const Setting&, const Qos& want, const Qos& have);

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

// First the owner of DCBX; then settings that stop the link; the DSCP map before the ones that it overwrites on some
// NICs; ETS before PFC, which requires it on others; buffers before the PFC that makes them lossless; congestion
// control last.
inline constexpr auto kOrder = [] {
  std::array<SettingId, kSettingCount> order{
      SettingId::fw_lldp,     SettingId::dcbx,        SettingId::pause,    SettingId::mtu,
      SettingId::ring_rx,     SettingId::ring_tx,     SettingId::channels, SettingId::fec,
      SettingId::dscp_map,    SettingId::trust,       SettingId::apptrust, SettingId::ets,
      SettingId::prio2buffer, SettingId::buffer_size, SettingId::pfc,      SettingId::cable_length};
  size_t filled = 16;
  // The others in the order of the table.
  for (const Setting& setting : kSettings) {
    bool listed = false;
    for (size_t i = 0; i < 16; ++i) listed = listed || order[i] == setting.id;
    if (!listed) order[filled++] = setting.id;
  }
  return order;
}();

}  // namespace fabric::upstream
