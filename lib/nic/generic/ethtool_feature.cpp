// SPDX-License-Identifier: Apache-2.0
// Ring sizes, channels and FEC: the same ethtool messages for every driver. A driver that rounds ring sizes does so in
// its own `expected`; any other difference from the requested value is reported as ignored.
#include <linux/ethtool.h>

#include <thread>

#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/ethtool_link.h"
#include "kernel/netlink/rtnl.h"
#include "nic/driver.h"

namespace fabric {
namespace {

Error no_ethtool(const PortIo& io) {
  return error(EOPNOTSUPP, io.netdev + ": no ethtool netlink (a kernel before 5.6)");
}

// The setting could not be read. EOPNOTSUPP means that the driver lacks it. EAGAIN is the driver's own, and may last:
// i40e_get_fec_param() of Linux 6.12 returns it if the firmware does not describe the module.
void not_read(Reading& out, SettingId setting, const Error& failure, std::string_view what) {
  if (is_transient(failure) && failure.code != EAGAIN) out.lost = failure;
  else if (failure.code != EOPNOTSUPP) out.not_offered(setting, failure.text());
  else out.not_offered(setting, std::string("the driver has no ").append(what) + " to set");
}

void read_ring(const std::optional<ethtool::Amount>& ring, SettingId setting, std::optional<uint32_t>& value,
               std::optional<uint32_t>& most, Reading& out) {
  if (!ring) return out.not_offered(setting, "the driver has no such rings to set");
  value = ring->now;
  most = ring->max;
}

Result<bool> has_link(const PortIo& io) {
  if (!io.kernel.route) return false;
  const auto link = rtnl::link(*io.kernel.route, io.netdev);
  if (!link && is_transient(link.error())) return link.error();
  return link.ok() && link->carrier.value_or(false);
}

// The bit of the setting; nullopt: no mode is in use, or one without a bit.
std::optional<uint8_t> fec_bit(FecCode code) {
  switch (code) {
    case FecCode::off: return ETHTOOL_FEC_OFF;
    case FecCode::rs: return ETHTOOL_FEC_RS;
    case FecCode::baser: return ETHTOOL_FEC_BASER;
    case FecCode::llrs: return ETHTOOL_FEC_LLRS;
    case FecCode::none:
    case FecCode::other: break;
  }
  return std::nullopt;
}

// Without a link no mode is in use, and the configured mode is unknown: ice shows "off" (ice_get_fecparam() of Linux
// 6.12). Taken as the configuration, this would match a wanted "off", and the link would never return.
void read_fec_in_use(const PortIo& io, Reading& out) {
  const auto status = ethtool::get_fec_status(*io.kernel.generic, *io.kernel.ethtool, io.netdev);
  if (!status) return not_read(out, SettingId::fec, status.error(), "FEC");
  const auto mode = fec_bit(status->active);
  Result<bool> linked = true;
  if (mode.value_or(ETHTOOL_FEC_OFF) == ETHTOOL_FEC_OFF) linked = has_link(io);
  if (!linked) out.lost = linked.error();
  else if (!*linked) out.values.fec = Fec{};
  else if (mode) out.values.fec = Fec{*mode};
  else out.not_offered(SettingId::fec, "this driver reports only the FEC mode in use, and none is in use");
}

// bnxt shows "auto" together with the modes that it chooses from.
Fec as_set(Fec fec) {
  if ((fec.bits & ETHTOOL_FEC_AUTO) != 0) return {ETHTOOL_FEC_AUTO};
  return fec;
}

void read(const PortIo& io, const Keys& keys, Reading& out) {
  if (!io.has_ethtool()) return;
  Netlink& generic = *io.kernel.generic;
  const bool rx = has_key(keys, SettingId::ring_rx), tx = has_key(keys, SettingId::ring_tx);
  if (rx || tx) {
    const auto rings = ethtool::get_rings(generic, *io.kernel.ethtool, io.netdev);
    if (rings) {
      if (rx) read_ring(rings->rx, SettingId::ring_rx, out.values.ring_rx, out.capacity.ring_rx, out);
      if (tx) read_ring(rings->tx, SettingId::ring_tx, out.values.ring_tx, out.capacity.ring_tx, out);
    } else {
      for (SettingId setting : {SettingId::ring_rx, SettingId::ring_tx})
        not_read(out, setting, rings.error(), "ring sizes");
    }
  }
  if (has_key(keys, SettingId::channels)) {
    const auto channels = ethtool::get_channels(generic, *io.kernel.ethtool, io.netdev);
    if (!channels) {
      not_read(out, SettingId::channels, channels.error(), "channels");
    } else if (!*channels) {
      out.not_offered(SettingId::channels, "the driver has channels for each direction, but no combined ones");
    } else {
      out.values.channels = (*channels)->now;
      out.capacity.channels = (*channels)->max;
    }
  }
  if (!has_key(keys, SettingId::fec)) return;
  if (io.fec_in_use) return read_fec_in_use(io, out);
  const auto fec = ethtool::get_fec(generic, *io.kernel.ethtool, io.netdev);
  if (!fec) return not_read(out, SettingId::fec, fec.error(), "FEC");
  if (fec->bits != 0) {
    out.values.fec = as_set(*fec);
    return;
  }
  // bnxt_get_fecparam() lists no mode for "off", and then shows "off" as the mode in use; if the link cannot have a
  // mode, none is in use.
  const auto status = ethtool::get_fec_status(generic, *io.kernel.ethtool, io.netdev);
  if (status && status->active == FecCode::off) out.values.fec = Fec{ETHTOOL_FEC_OFF};
  else if (!status && is_transient(status.error())) out.lost = status.error();
  else out.not_offered(SettingId::fec, "the link has no FEC mode to set (its cable or speed decides)");
}

// Sends both sizes in one message if both may be written, because the driver then rebuilds its queues once; only its
// own size if that is refused.
Result<void> write_rings(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  if (!io.has_ethtool()) return no_ethtool(io);
  Netlink& generic = *io.kernel.generic;
  const bool is_rx = setting.id == SettingId::ring_rx;
  const SettingId other = is_rx ? SettingId::ring_tx : SettingId::ring_rx;
  const bool other_differs = has_value(setting_of(other), want) && has_value(setting_of(other), have.values) &&
                             !same_value(setting_of(other), want, have.values);
  if (other_differs && has_key(io.writable, other)) {
    auto both = ethtool::set_rings(generic, *io.kernel.ethtool, io.id(), want.ring_rx, want.ring_tx);
    if (both || both.error().code != EINVAL) return both;
  }
  if (is_rx) return ethtool::set_rings(generic, *io.kernel.ethtool, io.id(), want.ring_rx, std::nullopt);
  return ethtool::set_rings(generic, *io.kernel.ethtool, io.id(), std::nullopt, want.ring_tx);
}

Result<void> write_channels(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  if (!io.has_ethtool()) return no_ethtool(io);
  return ethtool::set_channels(*io.kernel.generic, *io.kernel.ethtool, io.id(), *want.channels);
}

Result<void> write_fec(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  if (!io.has_ethtool()) return no_ethtool(io);
  const bool shows_later = io.fec_in_use && has_link(io).value_or(true);
  auto set = ethtool::set_fec(*io.kernel.generic, *io.kernel.ethtool, io.id(), *want.fec);
  if (!set || !shows_later) return set;
  // The mode in use changes when the link has retrained, seconds later. After that time the check at carrier-up
  // follows.
  constexpr std::chrono::milliseconds kPatience{8'000}, kPause{100};
  for (const auto end = std::chrono::steady_clock::now() + kPatience; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(kPause)) {
    Reading now;
    read_fec_in_use(io, now);
    if (now.values.fec == *want.fec && has_link(io).value_or(false)) break;
  }
  return set;
}

void expected(Qos& want, const Reading&) {
  if (want.fec) want.fec = as_set(*want.fec);
}

std::string too_large(const std::optional<uint32_t>& wanted, const std::optional<uint32_t>& most) {
  if (!wanted || !most || *wanted <= *most) return {};
  return "the driver's maximum is " + std::to_string(*most);
}

std::string impossible(const Setting& setting, const Qos& want, const Reading& have) {
  if (setting.id == SettingId::ring_rx) return too_large(want.ring_rx, have.capacity.ring_rx);
  if (setting.id == SettingId::ring_tx) return too_large(want.ring_tx, have.capacity.ring_tx);
  if (setting.id == SettingId::channels) return too_large(want.channels, have.capacity.channels);
  return {};
}

std::string remedy(const Setting& setting, int code) {
  // mlx5e_set_fec_mode() answers EOPNOTSUPP, bnxt_set_fecparam() EINVAL, also for "auto" without autonegotiation.
  if (setting.id == SettingId::fec && (code == EINVAL || code == EOPNOTSUPP))
    return "the link's speed or its cable does not allow this mode (\"Supported FEC modes\" of ethtool), or \"auto\" "
           "lacks autonegotiation";
  if (code != EINVAL) return {};
  if (setting.id == SettingId::channels) return "too few for their users (RSS table, XDP, traffic classes)";
  return "below the driver's minimum, or not a power of two although the driver requires one";
}

constexpr SettingOp kOps[] = {
    {SettingId::ring_rx, {write_rings, "net/ethtool/rings.c ethnl_set_rings()", kDisruptive, Reach::netdev}},
    {SettingId::ring_tx, {write_rings, "net/ethtool/rings.c ethnl_set_rings()", kDisruptive, Reach::netdev}},
    {SettingId::channels, {write_channels, "net/ethtool/channels.c ethnl_set_channels()", kDisruptive, Reach::netdev}},
    {SettingId::fec, {write_fec, "net/ethtool/fec.c ethnl_set_fec()", kDisruptive, Reach::netdev}},
};

}  // namespace

const Feature kEthtoolFeature{
    .ops = kOps, .read = read, .expected = expected, .impossible = impossible, .remedy = remedy};

}  // namespace fabric
