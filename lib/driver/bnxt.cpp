// SPDX-License-Identifier: Apache-2.0
// bnxt_en (Broadcom): drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c of Linux 6.12. Everything needs DCBX in host mode,
// PFC needs an ETS that somebody set; ETS and PFC close and open the NIC.
#include "driver/dscp.h"
#include "driver/upstream.h"
#include "driver/vendors.h"

namespace fabric {
namespace {

constexpr std::string_view kNames[] = {"bnxt_en"};

// The driver refuses with -ENOTSUPP (524), whose low byte, all that dcbnl passes on, reads as -ENOMEM.
Result<void> read_errno(Result<void> written) {
  if (!written && written.error().code == ENOMEM) return error(EOPNOTSUPP, written.error().what);
  return written;
}

std::string impossible(const Setting& setting, const Qos& want, const Qos& have, const Limits&) {
  if (setting.key == "trust") return upstream::impossible_trust(want, have, true);
  if (setting.key == "ets")
    for (Tsa tsa : want.ets->tsa)
      if (tsa != Tsa::strict && tsa != Tsa::ets) return "bnxt_en knows strict and ets classes only";
  return {};
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (code != 0 && have.dcbx == Dcbx::firmware && setting.key != "pause" && setting.key != "mtu")
    return "the card's firmware owns DCBX and then refuses every change: switch its LLDP agent off in NVM (niccli)";
  if (setting.key == "pfc" && code == EINVAL)
    return "the card has fewer lossless traffic classes than these priorities map to";
  if (setting.key == "ets" && code == EINVAL)
    return "the bandwidths of the ETS classes must not exceed 100, and at 100 none may be 0";
  if (setting.key == "dscp_map" && code == EOPNOTSUPP) return "this card's firmware does not map DSCPs";
  return upstream::remedy(setting, have, netdev, code);
}

void effect(const Setting& setting, const Qos& want, Qos& have) {
  copy_value(setting, want, have);
  if (setting.key == "dscp_map") have.trust = want.dscp_map->empty() ? Trust::pcp : Trust::dscp;
  if (setting.key == "trust" && want.trust == Trust::pcp) have.dscp_map = DscpMap{};
}

Result<void> write_dscp_map(PortIo& io, const Setting& setting, const Qos& want, const Qos& have) {
  return read_errno(upstream::write_dscp_map(io, setting, want, have));
}

Result<void> write_ets(PortIo& io, const Setting& setting, const Qos& want, const Qos& have) {
  return read_errno(upstream::write_ets(io, setting, want, have));
}

// Until some ETS is set the driver refuses PFC with EINVAL (bp->ieee_ets is null) and shows an ETS of zeros. To set
// what it shows changes nothing but that.
Result<void> write_pfc(PortIo& io, const Setting& setting, const Qos& want, const Qos& have) {
  auto written = upstream::write_pfc(io, setting, want, have);
  if (written || written.error().code != EINVAL || have.dcbx == Dcbx::firmware) return written;
  auto ets = dcbnl::set_ets(*io.kernel.route, io.netdev, upstream::wire(have.ets.value_or(Ets{}), ieee_ets{}));
  if (!ets) return written;
  return upstream::write_pfc(io, setting, want, have);
}

constexpr KeyOp kOps[] = {
    {"dcbx", {upstream::write_dcbx}},
    {"pause", {upstream::write_pause}},
    {"mtu", {upstream::write_mtu, true}},
    {"trust", {upstream::write_trust}},
    {"dscp_map", {write_dscp_map}},
    {"ets", {write_ets, true}},
    {"pfc", {write_pfc, true}},
};

}  // namespace

const Driver kBnxt{
    .name = "bnxt",
    .kernel_names = kNames,
    .read = upstream::read,
    .expected = upstream::expected,
    .effect = effect,
    .impossible = impossible,
    .remedy = remedy,
    .ops = kOps,
    .order = upstream::kOrder,
    .settle = nullptr,
};

}  // namespace fabric
