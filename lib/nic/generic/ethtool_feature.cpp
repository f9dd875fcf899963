// SPDX-License-Identifier: Apache-2.0
// Ring sizes, channels and FEC: the same ethtool messages for every driver. Drivers that round ring sizes say so in
// their own `expected`; any other difference from the requested value is reported as ignored.
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

// EOPNOTSUPP is an answer, anything else is worth its text.
std::string why(const Error& failure, std::string_view what) {
  return failure.code == EOPNOTSUPP ? std::string("the driver has no ").append(what) + " to set" : failure.text();
}

void take(PortIo& io, SettingId setting, const std::optional<ethtool::Amount>& amount, std::optional<uint32_t>& limit,
          std::optional<uint32_t>& out) {
  if (!io.wants(setting)) return;
  if (!amount) return io.not_offered(setting, "the driver has none of these to set");
  out = amount->now;
  limit = amount->max;
}

void read_rings(PortIo& io, Qos& out) {
  if (!io.wants(SettingId::ring_rx) && !io.wants(SettingId::ring_tx)) return;
  auto rings = ethtool::get_rings(*io.kernel.generic, *io.kernel.ethtool, io.netdev);
  if (!rings) {
    for (SettingId setting : {SettingId::ring_rx, SettingId::ring_tx})
      io.not_offered(setting, why(rings.error(), "ring sizes"));
    return;
  }
  take(io, SettingId::ring_rx, rings->rx, io.limits.ring_rx, out.ring_rx);
  take(io, SettingId::ring_tx, rings->tx, io.limits.ring_tx, out.ring_tx);
}

void read_channels(PortIo& io, Qos& out) {
  if (!io.wants(SettingId::channels)) return;
  auto channels = ethtool::get_channels(*io.kernel.generic, *io.kernel.ethtool, io.netdev);
  if (!channels) return io.not_offered(SettingId::channels, why(channels.error(), "channels"));
  if (!*channels)
    return io.not_offered(SettingId::channels, "the driver has no combined channels, but some for each direction");
  take(io, SettingId::channels, *channels, io.limits.channels, out.channels);
}

bool has_link(PortIo& io) {
  if (!io.kernel.route) return false;
  const auto link = rtnl::link(*io.kernel.route, io.netdev);
  return link && link->carrier.value_or(false);
}

// Without a link no mode is in use, and the configured mode is unknown: ice shows "off" (ice_get_fecparam() of Linux
// 6.12). Read as the configuration, it would look in sync with a wanted "off", and the link would never return.
void read_fec_in_use(PortIo& io, Qos& out) {
  const auto status = ethtool::get_fec_status(*io.kernel.generic, *io.kernel.ethtool, io.netdev);
  const auto mode = status ? parse_fec_word(status->active) : std::nullopt;
  if (status && mode.value_or(ETHTOOL_FEC_OFF) == ETHTOOL_FEC_OFF && !has_link(io)) out.fec = Fec{};
  else if (mode) out.fec = Fec{*mode};
  else
    io.not_offered(SettingId::fec, status ? "this driver shows no FEC mode but the one in use, and none is"
                                          : why(status.error(), "FEC"));
}

// bnxt shows "auto" together with the modes that it chooses from.
Fec as_set(Fec fec) { return (fec.bits & ETHTOOL_FEC_AUTO) != 0 ? Fec{ETHTOOL_FEC_AUTO} : fec; }

// bnxt_get_fecparam() lists no mode for "off", and then shows it as the one in use; where the link cannot have any,
// none is in use.
bool is_off(PortIo& io) {
  const auto status = ethtool::get_fec_status(*io.kernel.generic, *io.kernel.ethtool, io.netdev);
  return status && parse_fec_word(status->active) == ETHTOOL_FEC_OFF;
}

void read_fec(PortIo& io, Qos& out) {
  if (!io.wants(SettingId::fec)) return;
  if (io.fec_in_use) return read_fec_in_use(io, out);
  auto fec = ethtool::get_fec(*io.kernel.generic, *io.kernel.ethtool, io.netdev);
  if (!fec) return io.not_offered(SettingId::fec, why(fec.error(), "FEC"));
  if (fec->bits != 0) out.fec = as_set(*fec);
  else if (is_off(io)) out.fec = Fec{ETHTOOL_FEC_OFF};
  else io.not_offered(SettingId::fec, "the link has no FEC mode to set (its cable or speed decides)");
}

void read(PortIo& io, Qos& out) {
  if (!io.has_ethtool()) return;
  read_rings(io, out);
  read_channels(io, out);
  read_fec(io, out);
}

// Both sizes in one message where both may be written: the driver rebuilds its queues once. Alone if one is refused.
Result<void> write_rings(PortIo& io, const Setting& setting, const Qos& want, const Qos& have) {
  if (!io.has_ethtool()) return no_ethtool(io);
  const bool is_rx = setting.id == SettingId::ring_rx;
  auto set = [&](std::optional<uint32_t> rx, std::optional<uint32_t> tx) {
    return ethtool::set_rings(*io.kernel.generic, *io.kernel.ethtool, io.netdev, rx, tx);
  };
  const auto other = is_rx ? &Qos::ring_tx : &Qos::ring_rx;
  const bool differs = want.*other && have.*other && want.*other != have.*other;
  if (differs && io.along[index(is_rx ? SettingId::ring_tx : SettingId::ring_rx)]) {
    auto both = set(want.ring_rx, want.ring_tx);
    if (both || both.error().code != EINVAL) return both;
  }
  return is_rx ? set(want.ring_rx, {}) : set({}, want.ring_tx);
}

Result<void> write_channels(PortIo& io, const Setting&, const Qos& want, const Qos&) {
  if (!io.has_ethtool()) return no_ethtool(io);
  return ethtool::set_channels(*io.kernel.generic, *io.kernel.ethtool, io.netdev, *want.channels);
}

// The mode in use changes when the link has retrained, seconds later; else the check at carrier-up follows.
void await_fec(PortIo& io, Fec wanted) {
  constexpr std::chrono::milliseconds kPatience{8'000}, kPause{100};
  for (const auto end = std::chrono::steady_clock::now() + kPatience; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(kPause)) {
    Qos now;
    read_fec_in_use(io, now);
    if (now.fec == wanted && has_link(io)) return;
  }
}

Result<void> write_fec(PortIo& io, const Setting&, const Qos& want, const Qos&) {
  if (!io.has_ethtool()) return no_ethtool(io);
  const bool shows_later = io.fec_in_use && has_link(io);
  auto set = ethtool::set_fec(*io.kernel.generic, *io.kernel.ethtool, io.netdev, *want.fec);
  if (set && shows_later) await_fec(io, *want.fec);
  return set;
}

void expected(Qos& want, const Qos&, const Limits&) {
  if (want.fec) want.fec = as_set(*want.fec);
}

std::string above(const std::optional<uint32_t>& wanted, const std::optional<uint32_t>& most) {
  if (!wanted || !most || *wanted <= *most) return {};
  return "the driver takes " + std::to_string(*most) + " at most";
}

std::string impossible(const Setting& setting, const Qos& want, const Limits& limits) {
  if (setting.id == SettingId::ring_rx) return above(want.ring_rx, limits.ring_rx);
  if (setting.id == SettingId::ring_tx) return above(want.ring_tx, limits.ring_tx);
  if (setting.id == SettingId::channels) return above(want.channels, limits.channels);
  return {};
}

std::string remedy(const Setting& setting, int code) {
  // mlx5e_set_fec_mode() answers EOPNOTSUPP, bnxt_set_fecparam() EINVAL, also for "auto" without autonegotiation.
  if (setting.id == SettingId::fec && (code == EINVAL || code == EOPNOTSUPP))
    return "the link's speed or its cable does not allow this mode (\"Supported FEC modes\" of ethtool), or \"auto\" "
           "lacks autonegotiation";
  if (code != EINVAL) return {};
  if (setting.id == SettingId::channels) return "fewer than what runs on them needs (RSS table, XDP, traffic classes)";
  return "below the driver's minimum, or not a power of two where it asks for one";
}

constexpr SettingOp kOps[] = {
    {SettingId::ring_rx, {write_rings, "net/ethtool/rings.c ethnl_set_rings()"}},
    {SettingId::ring_tx, {write_rings, "net/ethtool/rings.c ethnl_set_rings()"}},
    {SettingId::channels, {write_channels, "net/ethtool/channels.c ethnl_set_channels()"}},
    {SettingId::fec, {write_fec, "net/ethtool/fec.c ethnl_set_fec()"}},
};

}  // namespace

const Feature kEthtoolFeature{
    .ops = kOps, .read = read, .expected = expected, .impossible = impossible, .remedy = remedy};

}  // namespace fabric
