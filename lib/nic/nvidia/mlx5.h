// SPDX-License-Identifier: Apache-2.0
// The settings of mlx5_core over dcbnl, the same in Linux and OFED: drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c
// and en/port_buffer.c of Linux 6.12. Trust follows the DSCP entries; a change of the PFC bits toggles the link, as
// does FEC; ieee_pfc.delay is the cable's length in meters; buffers, ETS and rates stop nothing. The first DSCP entry
// and the deletion of the last one close and open the netdev's channels, and interrupt its carrier, on NICs that want
// headers inline in the work request (mlx5e_set_trust_state(): MLX5_INLINE_MODE_L2), and with OFED on all.
#pragma once

#include "nic/generic/upstream.h"

namespace fabric::mlx5 {

Result<Reading> read(const PortIo& io, const Keys& keys);
Qos expected(const Qos& want, const Reading& have);
void effect(const Setting& setting, const Qos& want, Qos& have);
std::string never(const Setting& setting, const Qos& want);
std::string impossible(const Setting& setting, const Qos& want, const Reading& have);
std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code);
Result<void> settle(const PortIo& io, const Qos& have);

Op::Write write_dcbx, write_pause, write_map, write_pfc, write_cable_length, write_buffers, write_maxrate;

// No operation here changes the parameters of congestion control, which are the firmware's (CONGESTION_PARAMS).
inline constexpr auto kDcbOps = std::to_array<SettingOp>({
    {SettingId::dcbx, {write_dcbx, "en_dcbnl.c mlx5e_dcbnl_setdcbx()", kHarmless, Reach::netdev}},
    {SettingId::pause, {write_pause, "en_ethtool.c mlx5e_ethtool_set_pauseparam()", kHarmless, Reach::netdev}},
    {SettingId::mtu, {upstream::write_mtu, "en_main.c mlx5e_change_mtu()", kDisruptive, Reach::netdev}},
    {SettingId::trust,
     {write_map,
      "en_dcbnl.c mlx5e_set_trust_state(); harmless since ConnectX-5, which needs no inline headers, except with OFED",
      kDisruptive, Reach::netdev}},
    {SettingId::dscp_map,
     {write_map, "en_dcbnl.c mlx5e_dcbnl_ieee_setapp(); harmless since ConnectX-5, with OFED beside other DSCPs",
      kDisruptive, Reach::netdev}},
    {SettingId::ets, {upstream::write_ets, "en_dcbnl.c mlx5e_dcbnl_ieee_setets()", kHarmless, Reach::netdev}},
    {SettingId::prio2buffer, {write_buffers, "en_dcbnl.c mlx5e_dcbnl_setbuffer()", kHarmless, Reach::netdev}},
    {SettingId::buffer_size, {write_buffers, "en_dcbnl.c mlx5e_dcbnl_setbuffer()", kHarmless, Reach::netdev}},
    {SettingId::pfc,
     {write_pfc,
      "en_dcbnl.c mlx5e_dcbnl_ieee_setpfc(); ends global pause; firmware without PCAM buffer_ownership (6.12), or a "
      "driver loaded since the buffers were set (6.1), keeps the thresholds of the buffers, except with prio2buffer",
      kDisruptive, Reach::netdev}},
    {SettingId::cable_length,
     {write_cable_length, "en_dcbnl.c mlx5e_dcbnl_ieee_setpfc(); used only if the host owns the buffers", kHarmless,
      Reach::netdev}},
    {SettingId::maxrate, {write_maxrate, "en_dcbnl.c mlx5e_dcbnl_ieee_setmaxrate()", kHarmless, Reach::netdev}},
});

}  // namespace fabric::mlx5
