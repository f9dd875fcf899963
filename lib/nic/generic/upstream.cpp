// SPDX-License-Identifier: Apache-2.0
#include "nic/generic/upstream.h"

#include <algorithm>
#include <bit>

#include "base/parse.h"
#include "kernel/netlink/rtnl.h"
#include "nic/driver.h"
#include "nic/generic/dscp.h"

namespace fabric {
namespace upstream {
namespace {

using Id = SettingId;

Result<void> write_table(const PortIo& io, const DscpMap& want) {
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  auto change = dscp::difference(*now, want);
  // New entries come first, so that a DSCP is never without a priority. A driver may refuse a second entry of a DSCP.
  Result<void> added;
  if (!change.missing.empty()) added = dcbnl::set_app(*io.kernel.route, io.id(), change.missing);
  const bool is_second = !added && (added.error().code == EINVAL || added.error().code == EEXIST);
  if (!added && (!is_second || change.stale.empty())) return added;
  if (!change.stale.empty())
    if (auto gone = dcbnl::del_app(*io.kernel.route, io.id(), change.stale); !gone) return gone;
  if (!is_second) return {};
  now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  added = dcbnl::set_app(*io.kernel.route, io.id(), dscp::difference(*now, want).missing);
  if (!added) (void)dcbnl::set_app(*io.kernel.route, io.id(), change.stale);
  return added;
}

Result<void> write_trust(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  if (now->trust) {
    // PCP follows DSCP as the fallback for frames without an IP header.
    std::vector<uint8_t> order{dcbnl::kSelectorPcp};
    if (want.trust == Trust::dscp) order.insert(order.begin(), IEEE_8021QAZ_APP_SEL_DSCP);
    return dcbnl::set_trust(*io.kernel.route, io.id(), order);
  }
  if (auto reason = impossible_trust(want, have.values, true); !reason.empty())
    return error(EINVAL, io.netdev + ": set trust: " + reason);
  return write_table(io, map_after(setting, want, have.values));
}

Result<void> write_dscp_map(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  return write_table(io, *want.dscp_map);
}

Result<void> write_apptrust(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  return dcbnl::set_trust(*io.kernel.route, io.id(), want.apptrust->selectors);
}

Result<void> write_buffers(const PortIo& io, const Setting&, const Qos& want, const Reading& have) {
  return send_buffers(io, want.prio2buffer.value_or(have.values.prio2buffer.value_or(Eight{})),
                      want.buffer_size.value_or(have.values.buffer_size.value_or(Buffers{})));
}

constexpr std::string_view kNoDscp = "this driver does not map DSCPs: it trusts the priority in the VLAN tag";

// Why this driver does not offer the settings from `first` to `last`, which are neighboring rows of kSettings.
struct Missing {
  SettingId first, last;
  std::string_view why;
};
constexpr Missing kMissing[] = {
    {Id::fw_lldp, Id::fw_lldp, "only Intel's ice and i40e can switch an LLDP agent in the NIC's firmware from here"},
    {Id::trust, Id::trust, kNoDscp},
    {Id::apptrust, Id::apptrust, "this driver has no APP trust table: trust follows from the DSCP entries"},
    {Id::dscp_map, Id::dscp_map, kNoDscp},
    {Id::prio2buffer, Id::buffer_size, "this driver sizes its buffers itself; no dcbnl buffer operation"},
    {Id::cable_length, Id::cable_length, "only mlx5 uses the cable's length; this driver sizes its headroom itself"},
    {Id::maxrate, Id::maxrate, "this driver has no rate limits of classes (only mlx5, mlx4 and few others have)"},
    {Id::ecn_rp, Id::ecn_np, "only NVIDIA's OFED/DOCA driver can switch ECN for each priority"},
    {Id::cnp_dscp, Id::cnp_prio,
     "only NVIDIA's and Broadcom's NICs let the host mark CNPs; this NIC's firmware or the vendor's tool decides"},
    {Id::min_time_between_cnps, Id::rtt_resp_dscp,
     "a DCQCN parameter of NVIDIA's NICs; this NIC's firmware decides itself"},
    {Id::cc, Id::cc,
     "the kernel has no switch for this NIC's congestion control: the vendor's tool, or the firmware's default"},
    {Id::cc_mode, Id::roce_dscp, "a congestion control parameter of Broadcom's NICs"},
    {Id::roce_prio, Id::roce_prio,
     "a setting of Broadcom's NICs; here RoCE's priority follows from dscp_map or the VLAN's"},
    {Id::traffic_class, Id::traffic_class,
     "only NVIDIA's OFED/DOCA driver can force a traffic class on all queue pairs"},
};

constexpr SettingOp kOps[] = {
    {Id::dcbx, {write_dcbx, "net/dcb/dcbnl.c dcbnl_setdcbx()"}},
    {Id::pause, {write_pause, "net/ethtool/pause.c ethnl_set_pause()"}},
    {Id::mtu, {write_mtu, "net/core/dev.c dev_set_mtu()"}},
    {Id::trust, {write_trust, "net/dcb/dcbnl.c dcbnl_ieee_set()"}},
    {Id::dscp_map, {write_dscp_map, "net/dcb/dcbnl.c dcbnl_ieee_set()"}},
    {Id::ets, {write_ets, "net/dcb/dcbnl.c dcbnl_ieee_set()"}},
    {Id::pfc, {write_pfc, "net/dcb/dcbnl.c dcbnl_ieee_set()"}},
    {Id::apptrust, {write_apptrust, "net/dcb/dcbnl.c dcbnl_ieee_set()"}},
    {Id::prio2buffer, {write_buffers, "net/dcb/dcbnl.c dcbnl_ieee_set()"}},
    {Id::buffer_size, {write_buffers, "net/dcb/dcbnl.c dcbnl_ieee_set()"}},
    {Id::maxrate, {write_maxrate, "net/dcb/dcbnl.c dcbnl_ieee_set()"}},
};

}  // namespace

// First the owner of DCBX; then settings that stop the link; the DSCP map before the settings that it overwrites on
// some NICs; ETS before PFC, which requires ETS on others; buffers before PFC, which makes them lossless; congestion
// control last.
constinit const std::array<SettingId, kSettingCount> kOrder = [] {
  std::array first{Id::fw_lldp,     Id::dcbx,        Id::pause,    Id::mtu,         Id::ring_rx,  Id::ring_tx,
                   Id::channels,    Id::fec,         Id::dscp_map, Id::trust,       Id::apptrust, Id::ets,
                   Id::prio2buffer, Id::buffer_size, Id::pfc,      Id::cable_length};
  std::array<SettingId, kSettingCount> order{};
  auto to = std::ranges::copy(first, order.begin()).out;
  // The others in the order of the table.
  for (const Setting& setting : kSettings)
    if (std::ranges::find(first, setting.id) == first.end()) *to++ = setting.id;
  return order;
}();

Result<NetdevReading> read_port(const PortIo& io, const Keys& keys) {
  NetdevReading out;
  // roce_prio is an APP entry.
  const Keys here = (keys_in(SettingGroup::dcb) | keys_in(SettingGroup::netdev)).set(index(Id::roce_prio));
  if ((keys & here).none()) return out;
  Qos& values = out.reading.values;
  Capacity& capacity = out.reading.capacity;
  auto link = rtnl::link(*io.kernel.route, io.netdev);
  if (!link) return link.error();
  values.mtu = link->mtu;
  capacity.max_mtu = link->max_mtu;
  const auto speed = parse_number<uint32_t>(io.kernel.root.line_of("sys/class/net/" + io.netdev + "/speed"));
  if (speed && *speed != 0 && *speed != UINT32_MAX) capacity.speed = *speed;
  if (io.has_ethtool()) {
    auto pause = ethtool::get_pause(*io.kernel.generic, *io.kernel.ethtool, io.netdev);
    if (pause) values.pause = *pause;
    else if (pause.error().code == ENODEV || is_transient(pause.error())) return pause.error();
  }
  auto dcb = dcbnl::get(*io.kernel.route, io.netdev);
  if (!dcb && dcb.error().code == EOPNOTSUPP) return out;
  if (!dcb) return dcb.error();

  if (dcb->dcbx) {
    // The host owns DCBX if it may set IEEE values and no agent in firmware does (DCB_CAP_DCBX_*, linux/dcbnl.h).
    constexpr uint8_t kHost = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
    const bool is_host = (*dcb->dcbx & kHost) == kHost && (*dcb->dcbx & DCB_CAP_DCBX_LLD_MANAGED) == 0;
    values.dcbx = is_host ? Dcbx::host : Dcbx::firmware;
  }
  values.dscp_map = dscp::map_of(dcb->app.value_or(dcbnl::AppTable{}));
  // The apptrust table decides if the driver has one, else the presence of DSCP entries.
  values.trust = Trust::pcp;
  if (!dcb->trust && !values.dscp_map->empty()) values.trust = Trust::dscp;
  if (dcb->trust)
    for (uint8_t selector : *dcb->trust) {
      if (selector == IEEE_8021QAZ_APP_SEL_DSCP) values.trust = Trust::dscp;
      if (selector == IEEE_8021QAZ_APP_SEL_DSCP || selector == dcbnl::kSelectorPcp) break;
    }
  if (dcb->ets) {
    Ets& ets = values.ets.emplace();
    std::ranges::copy(dcb->ets->prio_tc, ets.prio_tc.begin());
    std::ranges::transform(dcb->ets->tc_tsa, ets.tsa.begin(), [](uint8_t tsa) { return static_cast<Tsa>(tsa); });
    std::ranges::copy(dcb->ets->tc_tx_bw, ets.bw.begin());
  }
  if (dcb->pfc) values.pfc = PrioSet{dcb->pfc->pfc_en};

  // Rarely used settings are read only on request, because every reading is saved as an original to restore.
  if (dcb->trust && has_key(keys, Id::apptrust)) values.apptrust = AppTrust{*dcb->trust};
  if (dcb->maxrate && has_key(keys, Id::maxrate))
    std::copy_n(dcb->maxrate->tc_maxrate, kPriorities, values.maxrate.emplace().kbit.begin());
  if (dcb->buffer && (has_key(keys, Id::prio2buffer) || has_key(keys, Id::buffer_size))) {
    std::copy_n(dcb->buffer->prio2buffer, kPriorities, values.prio2buffer.emplace().begin());
    std::copy_n(dcb->buffer->buffer_size, kPriorities, values.buffer_size.emplace().bytes.begin());
  }

  // 0: the driver does not report the number.
  if (dcb->ets && dcb->ets->ets_cap != 0) capacity.traffic_classes = dcb->ets->ets_cap;
  if (dcb->pfc && dcb->pfc->pfc_cap != 0) capacity.lossless_classes = dcb->pfc->pfc_cap;
  if (dcb->buffer) capacity.buffer_total = dcb->buffer->total_size;
  out.dcb = std::move(*dcb);
  return out;
}

Result<Reading> read(const PortIo& io, const Keys& keys) {
  auto port = read_port(io, keys);
  if (!port) return port.error();
  return std::move(port->reading);
}

Qos expected(const Qos& want, const Reading&) { return want; }

void effect(const Setting& setting, const Qos& want, Qos& have) { copy_value(setting, want, have); }

std::string never(const Setting&, const Qos&) { return {}; }

std::string impossible(const Setting& setting, const Qos& want, const Reading& have) {
  if (setting.id == Id::ets && have.capacity.traffic_classes)
    if (*std::ranges::max_element(want.ets->prio_tc) >= *have.capacity.traffic_classes)
      return "the port has " + std::to_string(*have.capacity.traffic_classes) +
             " traffic classes, counted from 0: map no priority to a higher one";
  if ((setting.id == Id::buffer_size || setting.id == Id::prio2buffer) && want.buffer_size &&
      want.buffer_size->automatic)
    return "the headroom that this driver needs is unknown: set the eight sizes";
  return {};
}

bool lacks_dcbnl(const Setting& setting, const Qos& have) { return !have.trust && setting.group == SettingGroup::dcb; }

std::string remedy(const Setting& setting, const Qos& have, const std::string&, int code) {
  if (code != 0) return {};
  if (lacks_dcbnl(setting, have))
    return "no dcbnl here: a virtual function's settings belong to its physical function, other NICs have a vendor's "
           "tool";
  const Missing* row =
      find_where(kMissing, [&](const Missing& each) { return each.first <= setting.id && setting.id <= each.last; });
  if (row == nullptr) return "this driver does not offer it";
  return std::string(row->why);
}

bool needs_dscps(const Setting& setting, const Qos& want) {
  return (setting.id == Id::trust && want.trust == Trust::dscp) ||
         (setting.id == Id::dscp_map && !want.dscp_map->empty());
}

std::string impossible_trust(const Qos& want, const Qos& have, bool needs_map) {
  const bool maps = want.dscp_map && !want.dscp_map->empty();
  if (want.trust == Trust::pcp && maps)
    return "this driver trusts DSCP as soon as one DSCP is mapped: remove dscp_map or trust = \"pcp\"";
  const bool mapped = maps || (!want.dscp_map && have.dscp_map && !have.dscp_map->empty());
  if (needs_map && want.trust == Trust::dscp && !mapped)
    return "this driver trusts DSCP only if a DSCP is mapped: add one to dscp_map";
  return {};
}

DscpMap map_after(const Setting& setting, const Qos& want, const Qos& have) {
  if (setting.id == Id::dscp_map) return *want.dscp_map;
  if (want.trust == Trust::pcp) return {};
  return have.dscp_map.value_or(DscpMap{});
}

std::string too_many_lossless(const Qos& want, const Qos& have, uint32_t most) {
  const Ets ets = want.ets.value_or(have.ets.value_or(Ets{}));
  uint32_t classes = 0;
  for (int prio = 0; prio < kPriorities; ++prio)
    if (want.pfc->has(prio)) classes |= 1U << ets.prio_tc[static_cast<size_t>(prio)];
  const auto count = static_cast<uint32_t>(std::popcount(classes));
  if (count <= most) return {};
  return "the priorities with PFC map to " + std::to_string(count) + " lossless traffic classes, the NIC has " +
         std::to_string(most);
}

Result<void> write_dcbx(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  const uint8_t mode = want.dcbx == Dcbx::host ? DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE : 0;
  return dcbnl::set_dcbx(*io.kernel.route, io.id(), mode);
}

Result<void> write_pause(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  if (!io.has_ethtool()) return error(EOPNOTSUPP, io.netdev + ": set pause: no ethtool netlink");
  return ethtool::set_pause(*io.kernel.generic, *io.kernel.ethtool, io.id(), *want.pause);
}

Result<void> write_mtu(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  return rtnl::set_mtu(*io.kernel.route, io.id(), *want.mtu);
}

ieee_ets wire(const Ets& want, ieee_ets now) {
  for (size_t i = 0; i < kPriorities; ++i) {
    now.prio_tc[i] = want.prio_tc[i];
    now.tc_tsa[i] = static_cast<uint8_t>(want.tsa[i]);
    // Only ETS classes have a bandwidth, but some drivers add up the bandwidths of all classes.
    now.tc_tx_bw[i] = want.tsa[i] == Tsa::ets ? want.bw[i] : uint8_t{0};
  }
  return now;
}

Result<void> write_ets(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  return dcbnl::set_ets(*io.kernel.route, io.id(), wire(*want.ets, now->ets.value_or(ieee_ets{})));
}

Result<void> write_pfc(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  ieee_pfc pfc{};
  if (now->pfc) {
    pfc.pfc_cap = now->pfc->pfc_cap;  // qed uses it as the number of lossless classes
    pfc.mbc = now->pfc->mbc;
    pfc.delay = now->pfc->delay;
  }
  pfc.pfc_en = want.pfc->bits;
  return dcbnl::set_pfc(*io.kernel.route, io.id(), pfc);
}

Result<void> send_buffers(const PortIo& io, const Eight& map, const Buffers& sizes) {
  dcbnl_buffer buffer{};
  std::ranges::copy(map, buffer.prio2buffer);
  std::ranges::copy(sizes.bytes, buffer.buffer_size);
  return dcbnl::set_buffer(*io.kernel.route, io.id(), buffer);
}

Result<void> write_maxrate(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  ieee_maxrate rates{};
  std::ranges::copy(want.maxrate->kbit, rates.tc_maxrate);
  return dcbnl::set_maxrate(*io.kernel.route, io.id(), rates);
}

}  // namespace upstream

// The effects of such a driver's writes are unknown: every write may stop traffic.
const Driver kUpstream{.name = "upstream", .ops = upstream::kOps};

}  // namespace fabric
