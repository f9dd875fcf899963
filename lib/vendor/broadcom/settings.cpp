// SPDX-License-Identifier: Apache-2.0
// bnxt_en (Broadcom): drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c of Linux 6.12. Everything needs DCBX in host mode,
// PFC requires a configured ETS, which maps all eight priorities; ETS and PFC close and open the NIC. APP
// entries: bnxt_app.h. Congestion control: bnxt_cc.h.
#include <algorithm>

#include "vendor/broadcom/bnxt_app.h"
#include "vendor/broadcom/bnxt_cc.h"
#include "vendor/driver.h"
#include "vendor/generic/upstream.h"

namespace fabric {
namespace {

constexpr std::string_view kNames[] = {"bnxt_en"};
// In ieee_pfc.delay and ieee_ets.tc_rx_bw[0], which the driver keeps, shows and does not use: it was set since the
// driver was loaded (read_unknown()).
constexpr uint8_t kWritten = 1;

constexpr auto is_none = [](const auto& values) {
  return std::ranges::all_of(values, [](auto each) { return each == 0; });
};

bool is_zero(const ieee_ets& ets) {
  return is_none(ets.prio_tc) && is_none(ets.tc_tsa) && is_none(ets.tc_tx_bw) && is_none(ets.tc_rx_bw);
}

bool is_zero(const ieee_pfc& pfc) {
  return pfc.pfc_en == 0 && pfc.mbc == 0 && pfc.delay == 0 && is_none(pfc.requests) && is_none(pfc.indications);
}

// bnxt_dcbnl_ieee_getets(), getpfc(): a host that owns DCBX gets zeros until it has set something, whatever the NIC
// has; any other gets what the firmware said when it was asked first. Without an ETS nothing shows that the NIC has the
// entries of the kernel's APP list (bnxt_app::send_again()).
void read_unknown(PortIo& io, const dcbnl::Snapshot& dcb, const Qos& qos) {
  constexpr char kZeros[] = "the driver shows zeros until it is set, whatever the NIC has";
  if (qos.dcbx == Dcbx::firmware)
    for (SettingId id : {SettingId::ets, SettingId::pfc})
      io.limits.unverified[id] = "the driver asked the firmware once and has shown that answer since";
  if (qos.dcbx != Dcbx::host) return;
  const bool no_ets = dcb.ets && is_zero(*dcb.ets);
  if (no_ets) {
    io.limits.unverified[SettingId::ets] = kZeros, io.limits.unread.set(index(SettingId::ets));
    for (SettingId id : {SettingId::trust, SettingId::dscp_map, SettingId::roce_prio})
      io.limits.unverified[id] = "the kernel's list is kept when the NIC loses its own (a reset of its firmware)";
  }
  if (!dcb.pfc || !is_zero(*dcb.pfc)) return;
  io.limits.unverified[SettingId::pfc] = kZeros;
  // Without an ETS the driver refuses PFC.
  if (!no_ets || io.wants(SettingId::ets)) io.limits.unread.set(index(SettingId::pfc));
}

Result<Qos> read(PortIo& io) {
  auto reading = upstream::read_port(io);
  if (!reading) return reading.error();
  if (reading->dcb) {
    read_unknown(io, *reading->dcb, reading->qos);
    bnxt_app::read(io, reading->dcb->app.value_or(dcbnl::AppTable{}), reading->qos);
  }
  bnxt_cc::read(io, reading->qos);
  return std::move(reading->qos);
}

std::string impossible(const Setting& setting, const Qos& want, const Qos& have, const Limits& limits) {
  if (setting.id == SettingId::trust) return upstream::impossible_trust(want, have, true);
  if (setting.id == SettingId::ets)
    for (Tsa tsa : want.ets->tsa)
      if (tsa != Tsa::strict && tsa != Tsa::ets) return "bnxt_en knows strict and ets classes only";
  if (setting.id == SettingId::pfc && limits.lossless_classes)
    return upstream::too_many_lossless(want, have, *limits.lossless_classes);
  return upstream::impossible(setting, want, have, limits);
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (setting.id == SettingId::fw_lldp)
    return "an LLDP agent in the NIC's firmware is an option in NVM: switch it off with niccli";
  if (std::string text = bnxt_cc::remedy(setting, code); !text.empty()) return text;
  if (code != 0 && have.dcbx == Dcbx::firmware && setting.id != SettingId::pause && setting.id != SettingId::mtu)
    return "the NIC's firmware owns DCBX and then refuses every change: switch its LLDP agent off in NVM (niccli)";
  if (setting.id == SettingId::pfc && code == EINVAL)
    return have.ets == Ets{} ? "the driver takes PFC after an ETS only: add ets to the policy"
                             : "the NIC has fewer lossless traffic classes than these priorities map to";
  if (setting.id == SettingId::ets && code == EINVAL)
    return "the bandwidths of the ETS classes must not exceed 100, and at 100 none may be 0; or the NIC has fewer "
           "classes than the priorities map to";
  if (setting.id == SettingId::dscp_map && code == EOPNOTSUPP) return "this NIC's firmware does not map DSCPs";
  if ((setting.id == SettingId::dscp_map || setting.id == SettingId::roce_prio) && code == EIO)
    return "the firmware refused the entry; the kernel's list was corrected";
  return upstream::remedy(setting, have, netdev, code);
}

void effect(const Setting& setting, const Qos& want, Qos& have) {
  copy_value(setting, want, have);
  if (setting.id == SettingId::dscp_map) have.trust = want.dscp_map->empty() ? Trust::pcp : Trust::dscp;
  if (setting.id == SettingId::trust && want.trust == Trust::pcp) have.dscp_map = DscpMap{};
}

// bnxt_ets_validate() refuses an algorithm or a bandwidth of a class that the NIC does not have.
Result<void> write_ets(PortIo& io, const Setting&, const Qos& want, const Qos&) {
  Qos sent = want;
  for (size_t tc = io.limits.traffic_classes.value_or(kPriorities); tc < kPriorities; ++tc)
    sent.ets->tsa[tc] = Tsa::strict, sent.ets->bw[tc] = 0;
  auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  ieee_ets ets = upstream::wire(*sent.ets, now->ets.value_or(ieee_ets{}));
  ets.tc_rx_bw[0] = kWritten;
  auto written = bnxt_app::read_errno(dcbnl::set_ets(*io.kernel.route, io.netdev, ets));
  if (written && io.limits.unread[index(SettingId::ets)]) bnxt_app::send_again(io);
  return written;
}

// The whole struct is kept and shown again, its delay unused: a delay shows that PFC was set since the driver was
// loaded (read_unknown()).
Result<void> write_pfc(PortIo& io, const Setting&, const Qos& want, const Qos&) {
  ieee_pfc pfc{};
  pfc.pfc_en = want.pfc->bits;
  pfc.delay = kWritten;
  return dcbnl::set_pfc(*io.kernel.route, io.netdev, pfc);
}

// dcbx is a flag of the driver; DSCPs, the RoCE priority and congestion control are one firmware command each. Pause
// restarts the link while flow control is negotiated, as it is by default (bnxt_hwrm_set_pause()).
constexpr std::string_view kCcSource =
    "/infiniband/hw/bnxt_re/debugfs.c bnxt_re_cc_config_set(), or bnxt_re/configfs.c of Broadcom's package";
constexpr SettingOp kOps[] = {
    {SettingId::dcbx, {upstream::write_dcbx, "bnxt_dcb.c bnxt_dcbnl_setdcbx()", kHarmless}},
    {SettingId::pause, {upstream::write_pause, "bnxt_ethtool.c bnxt_set_pauseparam()"}},
    {SettingId::mtu, {upstream::write_mtu, "bnxt.c bnxt_change_mtu()"}},
    {SettingId::trust,
     {bnxt_app::write_map,
      "bnxt_dcb.c bnxt_hwrm_queue_dscp2pri_cfg(); the list of the kernel is read, not that of the NIC", kHarmless}},
    {SettingId::dscp_map,
     {bnxt_app::write_map,
      "bnxt_dcb.c bnxt_hwrm_queue_dscp2pri_cfg(); the list of the kernel is read, not that of the NIC", kHarmless}},
    {SettingId::ets, {write_ets, "bnxt_dcb.c bnxt_dcbnl_ieee_setets(); zeros until it is set, whatever the NIC has"}},
    {SettingId::pfc, {write_pfc, "bnxt_dcb.c bnxt_dcbnl_ieee_setpfc(); zeros until it is set, whatever the NIC has"}},
    {SettingId::roce_prio,
     {bnxt_app::write_roce_prio,
      "bnxt_dcb.c bnxt_hwrm_set_dcbx_app(); the list of the kernel is read, not that of the NIC", kHarmless}},
    {SettingId::cc, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cc_mode, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cc_g, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cc_phases, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cc_init_cr, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cc_init_tr, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cc_rtt, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cc_tcp_cp, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cc_inactivity_cp, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cnp_dscp, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::cnp_prio, {bnxt_cc::write, kCcSource, kHarmless}},
    {SettingId::roce_dscp, {bnxt_cc::write, kCcSource, kHarmless}},
};

// While congestion control is off, Broadcom's module throws away the DSCP and the priority of the CNPs. ETS before the
// DSCPs, as in bnxt_setupcc.sh: entries that exist when the first ETS is set are older (bnxt_app::send_again()).
constexpr auto kOrder = [] {
  auto order = upstream::kOrder;
  const auto move_before = [&order](SettingId id, SettingId other) {
    const auto from = std::ranges::find(order, id), to = std::ranges::find(order, other);
    std::rotate(to, from, from + 1);
  };
  move_before(SettingId::cc, SettingId::cnp_dscp);
  move_before(SettingId::ets, SettingId::dscp_map);
  return order;
}();

}  // namespace

const Driver kBnxt{
    .name = "bnxt",
    .source = "drivers/net/ethernet/broadcom/bnxt",
    .kernel_names = kNames,
    .read = read,
    .expected = upstream::expected,
    .effect = effect,
    .impossible = impossible,
    .remedy = remedy,
    .ops = kOps,
    .order = kOrder,
    .settle = nullptr,
};

}  // namespace fabric
