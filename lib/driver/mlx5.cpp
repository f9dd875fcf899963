// SPDX-License-Identifier: Apache-2.0
// mlx5_core (ConnectX-4 and later, BlueField), upstream and OFED alike:
// drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c of Linux 6.12. Trust follows the DSCP entries; a change of the PFC
// bits toggles the link; ieee_pfc.delay is the cable's length in metres.
#include <utility>

#include "driver/dscp.h"
#include "driver/upstream.h"
#include "driver/vendors.h"

namespace fabric {
namespace {

constexpr std::string_view kNames[] = {"mlx5_core"};
constexpr uint32_t kCableEnd = 1000;  // metres; MLX5E_MAX_CABLE_LENGTH: this and more is ignored in silence

Result<Qos> read(PortIo& io) {
  auto reading = upstream::read_port(io);
  if (!reading) return reading.error();
  Qos out = std::move(reading->qos);
  // A delay of zero: the card has no port buffers to size (MLX5_BUFFER_SUPPORTED).
  if (reading->dcb && reading->dcb->pfc && reading->dcb->pfc->delay > 0 && reading->dcb->pfc->delay < kCableEnd)
    out.cable_length = reading->dcb->pfc->delay;
  return out;
}

// Hardware always maps all 64 DSCPs, and a deleted entry falls to priority 0 there: only a full list says what is.
Qos expected(const Qos& want, const Qos&, const Limits&) {
  Qos out = want;
  if (out.dscp_map && (!out.dscp_map->empty() || out.trust == Trust::dscp))
    out.dscp_map = dscp::complete(*out.dscp_map);
  return out;
}

// The map that gives the wanted trust when the profile names no DSCP.
DscpMap map_for(Trust trust) { return trust == Trust::dscp ? dscp::complete({}) : DscpMap{}; }

void effect(const Setting& setting, const Qos& want, Qos& have) {
  copy_value(setting, want, have);
  if (setting.key == "trust") have.dscp_map = map_for(*want.trust);
  if (setting.key == "dscp_map") have.trust = want.dscp_map->empty() ? Trust::pcp : Trust::dscp;
  if (setting.key == "pfc" && want.cable_length) have.cable_length = want.cable_length;
}

std::string impossible(const Setting& setting, const Qos& want, const Qos& have, const Limits&) {
  if (setting.key == "trust") return upstream::impossible_trust(want, have, false);
  if (setting.key == "cable_length" && (*want.cable_length == 0 || *want.cable_length >= kCableEnd))
    return "mlx5 takes 1 to 999 metres";
  if (setting.key == "ets")
    for (Tsa tsa : want.ets->tsa)
      if (tsa == Tsa::cb_shaper) return "mlx5 has no credit-based shaper";
  return {};
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (setting.key == "cable_length" && have.trust && code == 0) return "this card has no port buffers to size";
  if (setting.key == "pfc" && code == ENOMEM)
    return "a lossless buffer is too small for this speed, MTU and cable: enlarge it";
  if (setting.key == "ets" && code == EINVAL) return "the bandwidths of the ETS classes must add up to 100";
  return upstream::remedy(setting, have, netdev, code);
}

// One message for all: setapp replaces the priority of a DSCP that is listed already.
Result<void> write_map(PortIo& io, const DscpMap& want) {
  auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  auto change = dscp::difference(now->app.value_or(std::vector<dcb_app>{}), want);
  if (want.empty()) {
    if (change.stale.empty()) return {};
    return dcbnl::del_app(*io.kernel.route, io.netdev, change.stale);
  }
  if (change.missing.empty()) return {};
  return dcbnl::set_app(*io.kernel.route, io.netdev, change.missing);
}

Result<void> write_dscp_map(PortIo& io, const Setting&, const Qos& want, const Qos&) { return write_map(io, *want.dscp_map); }

Result<void> write_trust(PortIo& io, const Setting&, const Qos& want, const Qos&) { return write_map(io, map_for(*want.trust)); }

// A delay of 0 leaves the cable's length as it is.
Result<void> send_pfc(PortIo& io, PrioSet prios, std::optional<uint32_t> cable_length) {
  ieee_pfc pfc{};
  pfc.pfc_en = prios.bits;
  pfc.delay = static_cast<uint16_t>(cable_length && *cable_length < kCableEnd ? *cable_length : 0);
  return dcbnl::set_pfc(*io.kernel.route, io.netdev, pfc);
}

Result<void> write_pfc(PortIo& io, const Setting&, const Qos& want, const Qos&) { return send_pfc(io, *want.pfc, want.cable_length); }

// The same bits again: no toggle.
Result<void> write_cable_length(PortIo& io, const Setting&, const Qos& want, const Qos& have) {
  return send_pfc(io, have.pfc.value_or(PrioSet{}), want.cable_length);
}

// The thresholds of the lossless buffers depend on link speed and MTU, but the driver computes them when PFC is set,
// only (mlx5e_port_manual_buffer_config); right after the toggle it takes the link for 40 Gb/s.
Result<void> settle(PortIo& io, const Qos& have) {
  if (!have.pfc || have.pfc->bits == 0) return {};
  return send_pfc(io, *have.pfc, have.cable_length);
}

constexpr KeyOp kOps[] = {
    {"dcbx", {upstream::write_dcbx}},
    {"pause", {upstream::write_pause}},
    {"mtu", {upstream::write_mtu, true}},
    {"trust", {write_trust}},
    {"dscp_map", {write_dscp_map}},
    {"ets", {upstream::write_ets}},
    {"pfc", {write_pfc, true}},
    {"cable_length", {write_cable_length}},
    {"prio2buffer", {upstream::write_buffers}},
    {"buffer_size", {upstream::write_buffers}},
    {"maxrate", {upstream::write_maxrate}},
};

}  // namespace

const Driver kMlx5{
    .name = "mlx5",
    .kernel_names = kNames,
    .read = read,
    .expected = expected,
    .effect = effect,
    .impossible = impossible,
    .remedy = remedy,
    .ops = kOps,
    .order = upstream::kOrder,
    .settle = settle,
};

}  // namespace fabric
