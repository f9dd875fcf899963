// SPDX-License-Identifier: Apache-2.0
// mlx4_core (ConnectX-3): drivers/net/ethernet/mellanox/mlx4/en_dcb_nl.c and en_ethtool.c of Linux 6.12. No DSCPs: the
// entries of the kernel's APP list never reach the NIC. PFC and global pause exclude each other: switching one on
// switches the other off; so pause is written last if PFC is switched off (reconcile()). A change of DCBX's owner
// resets ETS and PFC (mlx4_en_dcbnl_setdcbx()).
#include "nic/driver.h"
#include "nic/generic/upstream.h"

namespace fabric {
namespace {

constexpr uint64_t kRateUnit = 100'000;  // kbit/s, MLX4_RATELIMIT_UNITS_IN_KB
constexpr char kNoDscp[] = "ConnectX-3 does not map DSCPs: it takes the priority from the VLAN tag";

Result<Reading> read(const PortIo& io, const Keys& keys) {
  auto out = upstream::read(io, keys);
  if (!out || !out->values.trust) return out;
  out->values.trust = Trust::pcp;
  out->values.dscp_map.reset();
  return out;
}

// mlx4_en_dcbnl_ieee_setmaxrate() rounds up.
Qos expected(const Qos& want, const Reading&) {
  Qos out = want;
  if (out.maxrate)
    for (uint64_t& rate : out.maxrate->kbit) rate = (rate + kRateUnit - 1) / kRateUnit * kRateUnit;
  return out;
}

void effect(const Setting& setting, const Qos& want, Qos& have) {
  copy_value(setting, want, have);
  if (setting.id == SettingId::pfc && want.pfc->bits != 0) have.pause = Pause{};
  if (setting.id == SettingId::dcbx) {
    have.ets = Ets{};
    have.pfc = PrioSet{};
  }
  if (setting.id == SettingId::pause && (want.pause->rx || want.pause->tx) && have.pfc) have.pfc = PrioSet{};
}

// mlx4_en_ets_validate(). All classes are of the vendor's algorithm when the driver is loaded (mlx4_en_init_netdev()),
// so that the original settings have it.
std::string never(const Setting& setting, const Qos& want) {
  if (setting.id == SettingId::ets) {
    unsigned sum = 0;
    bool any = false;
    for (size_t tc = 0; tc < kPriorities; ++tc) {
      const Tsa tsa = want.ets->tsa[tc];
      if (tsa == Tsa::cb_shaper) return "ConnectX-3 has no credit-based shaper";
      if (tsa != Tsa::ets) continue;
      any = true;
      sum += want.ets->bw[tc];
    }
    if (any && sum != 100) return "the bandwidths of the ETS classes must add up to 100";
  }
  if (upstream::needs_dscps(setting, want)) return kNoDscp;
  return {};
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (code == 0 && have.trust && (setting.id == SettingId::trust || setting.id == SettingId::dscp_map)) return kNoDscp;
  if (code == 0 && setting.id == SettingId::cc) return "ConnectX-3 has no DCQCN";
  return upstream::remedy(setting, have, netdev, code);
}

// mlx4_en_dcbnl_setdcbx() resets ETS and PFC and rebuilds the queues. Pause and rates are one firmware command each
// (mlx4_SET_PORT_general(), mlx4_SET_PORT_SCHEDULER()).
constexpr SettingOp kOps[] = {
    {SettingId::dcbx, {upstream::write_dcbx, "en_dcb_nl.c mlx4_en_dcbnl_setdcbx()"}},
    {SettingId::pause, {upstream::write_pause, "en_ethtool.c mlx4_en_set_pauseparam()", kHarmless}},
    {SettingId::mtu, {upstream::write_mtu, "en_netdev.c mlx4_en_change_mtu()"}},
    {SettingId::ets, {upstream::write_ets, "en_dcb_nl.c mlx4_en_dcbnl_ieee_setets()"}},
    {SettingId::pfc, {upstream::write_pfc, "en_dcb_nl.c mlx4_en_dcbnl_ieee_setpfc()"}},
    {SettingId::maxrate, {upstream::write_maxrate, "en_dcb_nl.c mlx4_en_dcbnl_ieee_setmaxrate()", kHarmless}},
};

}  // namespace

const Driver kMlx4{
    .name = "mlx4",
    .source = "drivers/net/ethernet/mellanox/mlx4",
    .kernel_names = {"mlx4_core", "mlx4_en"},
    .read = read,
    .expected = expected,
    .effect = effect,
    .never = never,
    .remedy = remedy,
    .ops = kOps,
};

}  // namespace fabric
