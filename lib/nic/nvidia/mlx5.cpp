// SPDX-License-Identifier: Apache-2.0
#include "nic/nvidia/mlx5.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/find.h"
#include "nic/capabilities.h"
#include "nic/generic/dscp.h"
#include "nic/generic/headroom.h"
#include "nic/generic/upstream.h"

namespace fabric::mlx5 {
namespace {

constexpr uint32_t kCableEnd = 1000;  // meters; MLX5E_MAX_CABLE_LENGTH: this and more is ignored in silence

bool is_buffer(const Setting& setting) {
  return setting.id == SettingId::prio2buffer || setting.id == SettingId::buffer_size;
}

// The use of the buffers when all wanted settings are in place.
headroom::BufferUse use_of(const Qos& want, const Qos& have, const Capacity& capacity) {
  headroom::BufferUse use;
  use.link.speed = capacity.speed.value_or(0);
  use.link.cable = want.cable_length.value_or(have.cable_length.value_or(headroom::kDefaultCable));
  use.link.mtu = want.mtu.value_or(have.mtu.value_or(0));
  use.link.max_mtu = capacity.max_mtu.value_or(0);
  use.prio2buffer = want.prio2buffer.value_or(have.prio2buffer.value_or(Eight{}));
  use.lossless = want.pfc.value_or(have.pfc.value_or(PrioSet{}));
  // fill_pfc_en(): with global pause all buffers are lossless.
  const Pause pause = want.pause.value_or(have.pause.value_or(Pause{}));
  if (pause.rx || pause.tx) use.lossless = PrioSet{0xff};
  use.total = capacity.buffer_total;
  return use;
}

// The buffers are written before PFC and the cable's length, and the driver checks them with the old values of these.
// If it would refuse the wanted sizes, the first write has sizes for the old and the new values; the next pass writes
// the wanted sizes.
Result<Buffers> automatic(const Qos& want, const Reading& reading) {
  const Qos& have = reading.values;
  headroom::BufferUse use = use_of(want, have, reading.capacity);
  auto sizes = headroom::automatic(use, *have.buffer_size);
  if (!sizes || !have.pfc) return sizes;
  headroom::BufferUse old = use;
  old.lossless = *have.pfc;
  old.link.cable = have.cable_length.value_or(use.link.cable);
  if (headroom::objection(old, *sizes).empty()) return sizes;
  use.lossless.bits |= old.lossless.bits;
  use.link.cable = std::max(use.link.cable, old.link.cable);
  auto both = headroom::automatic(use, *have.buffer_size);
  if (both) return both;
  return sizes;
}

// mlx5e_dcbnl_ieee_setmaxrate() counts in units of 100 Mbit/s or of 1 Gbit/s and drops the remainder. The number of
// units has 8 bits; since 7.x as many as the firmware reports, up to 16. Linux 5.10 and OFED drop what does not fit
// into the byte as well (400 Gbit/s becomes 144).
constexpr uint64_t kSmallUnit = 100'000, kLargeUnit = 1'000'000;  // kbit/s

uint64_t nearest_multiple(uint64_t kbit, uint64_t unit, uint64_t most) {
  return std::clamp<uint64_t>((kbit + unit / 2) / unit, 1, most) * unit;
}

uint64_t nearest_rate(uint64_t kbit) {
  const uint64_t small = nearest_multiple(kbit, kSmallUnit, 255), large = nearest_multiple(kbit, kLargeUnit, 65'535);
  const auto distance = [kbit](uint64_t rate) { return std::max(rate, kbit) - std::min(rate, kbit); };
  return distance(small) <= distance(large) ? small : large;
}

// The map that gives the wanted trust if the policy names no DSCP.
DscpMap map_for(Trust trust) {
  if (trust == Trust::dscp) return dscp::complete({});
  return {};
}

// A delay of 0 leaves the cable's length as it is. Sending the same bits again does not toggle the link.
Result<void> send_pfc(const PortIo& io, PrioSet prios, std::optional<uint32_t> cable_length) {
  ieee_pfc pfc{};
  pfc.pfc_en = prios.bits;
  pfc.delay = static_cast<uint16_t>(cable_length && *cable_length < kCableEnd ? *cable_length : 0);
  return dcbnl::set_pfc(*io.kernel.route, io.id(), pfc);
}

// ETS classes of 0 % are served after the others, and share what these leave. mlx5e_dcbnl_ieee_getets() shows them as 0
// only if one of the others has less than 100 %. If a single other class has 100 %, it shows the shares among them;
// with one class of 0 % both read as 100, and which is which is not known.
void correct_shares(Ets& ets) {
  unsigned sum = 0, full = 0;
  for (size_t tc = 0; tc < kPriorities; ++tc) {
    if (ets.tsa[tc] != Tsa::ets) continue;
    sum += ets.bw[tc];
    full += ets.bw[tc] == 100 ? 1 : 0;
  }
  if (sum != 200 || full != 1) return;
  for (size_t tc = 0; tc < kPriorities; ++tc)
    if (ets.tsa[tc] == Tsa::ets && ets.bw[tc] != 100) ets.bw[tc] = 0;
}

std::string why_not_shown(const Ets& ets) {
  std::vector<size_t> zero, full;
  for (size_t tc = 0; tc < kPriorities; ++tc) {
    if (ets.tsa[tc] != Tsa::ets) continue;
    if (ets.bw[tc] == 0) zero.push_back(tc);
    if (ets.bw[tc] == 100) full.push_back(tc);
  }
  if (zero.size() != 1 || full.size() != 1 || !contains(ets.prio_tc, zero[0])) return {};
  const std::string last = std::to_string(zero[0]), first = std::to_string(full[0]);
  return "mlx5 shows 100 % for traffic class " + last + ", too, which has 0 % beside class " + first +
         " with 100 %. The same order of service: tsa \"strict\" for class " + first + ", and 100 % for class " + last;
}

// mlx5e_dcbnl_ieee_setpfc() makes buffers lossless, and computes their thresholds, only if it knows that the host owns
// them: if firmware reports it (6.12), or if a buffer was set since the driver was loaded (6.1, OFED). Global pause
// makes none lossless. A new map has this effect in any case (fill_pfc_en()): a priority, but none of `stay`, is mapped
// to the buffer of another one, and back.
Result<void> map_again(const PortIo& io, PrioSet stay) {
  const auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  if (!now->buffer) return {};
  Eight map;
  Buffers sizes;
  std::copy_n(now->buffer->prio2buffer, kPriorities, map.begin());
  std::copy_n(now->buffer->buffer_size, kPriorities, sizes.bytes.begin());
  for (size_t prio = 0; prio < map.size(); ++prio)
    for (const uint8_t buffer : map) {
      if (stay.has(prio) || buffer == map[prio] || sizes.bytes[buffer & 7] == 0) continue;
      Eight other = map;
      other[prio] = buffer;
      if (auto sent = upstream::send_buffers(io, other, sizes); !sent) return sent;
      return upstream::send_buffers(io, map, sizes);
    }
  return {};
}

// Sizes with which the driver accepts the new map: for each lossless buffer the larger of its present and its new size,
// as far as there is room. nullopt: it accepts the map with the present sizes. The buffers that are lossless now, or
// that the present PFC makes lossless under the new map, count as lossless; the others make room for them.
std::optional<Buffers> sizes_between(const Reading& reading, const Eight& map, const Buffers& sizes) {
  const Qos& have = reading.values;
  const headroom::BufferUse use = use_of({}, have, reading.capacity);
  const PrioSet before = headroom::buffers_of(use.lossless, *have.prio2buffer);
  const PrioSet after = headroom::buffers_of(use.lossless, map), either{static_cast<uint8_t>(before.bits | after.bits)};
  const auto least = static_cast<uint32_t>(headroom::minimum(use.link, headroom::kLargestCell));
  Buffers out = *have.buffer_size;
  bool needed = false;
  for (size_t b = 0; b < out.bytes.size(); ++b) {
    needed = needed || (after.has(static_cast<int>(b)) && out.bytes[b] < least);
    if (either.has(static_cast<int>(b))) out.bytes[b] = std::max({out.bytes[b], least, sizes.bytes[b]});
  }
  uint64_t sum = std::accumulate(out.bytes.begin(), out.bytes.end(), uint64_t{0});
  for (size_t b = 0; b < out.bytes.size() && sum > use.total.value_or(UINT32_MAX); ++b) {
    const uint32_t less = either.has(static_cast<int>(b)) ? least : std::min(out.bytes[b], sizes.bytes[b]);
    if (less == 0 || less > out.bytes[b]) continue;
    sum -= out.bytes[b] - less;
    out.bytes[b] = less;
  }
  if (!needed) return std::nullopt;
  return out;
}

}  // namespace

Result<Reading> read(const PortIo& io, const Keys& keys) {
  auto port = upstream::read_port(io, keys);
  if (!port) return port.error();
  Reading out = std::move(port->reading);
  if (!port->dcb) return out;
  if (out.values.ets) correct_shares(*out.values.ets);
  // A delay of zero: the NIC has no port buffers to size (MLX5_BUFFER_SUPPORTED).
  if (port->dcb->pfc && port->dcb->pfc->delay > 0 && port->dcb->pfc->delay < kCableEnd)
    out.values.cable_length = port->dcb->pfc->delay;
  // ConnectX-5 and later report that they want no headers inline (kernel commit a6f402e49901). devlink's inline-mode
  // does not show this: mlx5_eswitch_init() begins with "none" for every NIC, until the E-Switch's mode is switchdev.
  constexpr std::string_view kConnectX4[] = {"0x1013", "0x1014", "0x1015", "0x1016"};  // mlx5_core_pci_table[]
  const std::string device = io.kernel.root.line_of("sys/bus/pci/devices/" + io.pci + "/device");
  const bool wants_inline_headers = io.pci.empty() || device.empty() || contains(kConnectX4, device);
  if (!wants_inline_headers)
    for (SettingId id : {SettingId::trust, SettingId::dscp_map}) out.notes.harmless.set(index(id));

  // The driver's answers about these settings do not show the NIC's state. No answer shows who owns the buffers. Only
  // if the host does, and the firmware reports it (PCAM buffer_ownership; 6.1: if the buffers were set since the driver
  // was loaded), does mlx5e_dcbnl_ieee_setpfc() make the buffers of lossless priorities lossless and use the cable's
  // length, which it keeps and shows in any case. PFC reads as set also if a later speed or MTU needs larger buffers,
  // or if PFC was set while the buffers were too small.
  const Qos& have = out.values;
  out.notes.unverified[SettingId::cable_length] = "kept by the driver; used only if the host owns the receive buffers";
  if (!have.pfc || have.pfc->bits == 0) return out;
  for (SettingId id : {SettingId::prio2buffer, SettingId::buffer_size})
    out.notes.unverified[id] =
        "whether the buffers of PFC's priorities are lossless is not shown: with firmware that does not report who "
        "owns the buffers, PFC that another program sets after them does not reach them";
  if (!port->dcb->buffer || out.capacity.speed.value_or(0) == 0) return out;
  Qos shown = have;
  std::ranges::copy(port->dcb->buffer->prio2buffer, shown.prio2buffer.emplace().begin());
  headroom::BufferUse use = use_of({}, shown, out.capacity);
  use.lossless = *have.pfc;
  Buffers sizes;
  std::ranges::copy(port->dcb->buffer->buffer_size, sizes.bytes.begin());
  if (std::string why = headroom::objection(use, sizes); !why.empty())
    out.notes.unverified[SettingId::pfc] =
        "if the host owns the receive buffers, pause is sent too late or not: " + why;
  return out;
}

// Hardware always maps all 64 DSCPs, and a deleted entry falls to priority 0 there: only a full list is unambiguous.
Qos expected(const Qos& want, const Reading& have) {
  Qos out = want;
  if (out.dscp_map && (!out.dscp_map->empty() || out.trust == Trust::dscp))
    out.dscp_map = dscp::complete(*out.dscp_map);
  if (out.buffer_size && out.buffer_size->automatic && have.values.buffer_size)
    if (auto sizes = automatic(want, have)) out.buffer_size = *sizes;
  // order_base_2() of the request (en_ethtool.c mlx5e_ethtool_set_ringparam()).
  for (auto* size : {&out.ring_rx, &out.ring_tx})
    if (*size && **size <= 1u << 31) *size = std::bit_ceil(**size);
  return out;
}

void effect(const Setting& setting, const Qos& want, Qos& have) {
  if (setting.id == SettingId::pfc && have.pause && have.pfc != want.pfc && want.pfc->bits != 0) have.pause = Pause{};
  copy_value(setting, want, have);
  if (setting.id == SettingId::trust) have.dscp_map = map_for(*want.trust);
  if (setting.id == SettingId::dscp_map) have.trust = want.dscp_map->empty() ? Trust::pcp : Trust::dscp;
  if (setting.id == SettingId::pfc && want.cable_length) have.cable_length = want.cable_length;
  if (!is_buffer(setting)) return;
  if (want.prio2buffer) have.prio2buffer = want.prio2buffer;
  if (want.buffer_size) have.buffer_size = want.buffer_size;
}

std::string never(const Setting& setting, const Qos& want) {
  if (setting.id == SettingId::cable_length && (*want.cable_length == 0 || *want.cable_length >= kCableEnd))
    return "mlx5 supports 1 to 999 meters";
  // MLX5E_PFC_PREVEN_TOUT_MIN_MSEC, _MAX_MSEC: en_ethtool.c mlx5e_set_pfc_prevention_tout() of Linux 6.12.
  const uint32_t longest = capabilities_of("mlx5_core").longest_pfc_watchdog;
  if (setting.id == SettingId::pfc_watchdog && *want.pfc_watchdog != 0 &&
      (*want.pfc_watchdog < 80 || *want.pfc_watchdog > longest))
    return "mlx5 supports 0 (off) and 80 to " + std::to_string(longest) + " milliseconds";
  if (setting.id == SettingId::ets) {
    for (Tsa tsa : want.ets->tsa)
      if (tsa == Tsa::cb_shaper) return "mlx5 has no credit-based shaper";
    return why_not_shown(*want.ets);
  }
  if (setting.id == SettingId::maxrate) {
    for (size_t tc = 0; tc < want.maxrate->kbit.size(); ++tc)
      if (const uint64_t kbit = want.maxrate->kbit[tc]; kbit != 0 && nearest_rate(kbit) != kbit)
        return "traffic class " + std::to_string(tc) +
               ": mlx5 limits in steps of 100 Mbit/s up to 25.5 Gbit/s, of 1 Gbit/s beyond; " + std::to_string(kbit) +
               " kbit/s is neither, the nearest is " + std::to_string(nearest_rate(kbit));
  }
  return {};
}

std::string impossible(const Setting& setting, const Qos& want, const Reading& have) {
  if (setting.id == SettingId::trust) return upstream::impossible_trust(want, have.values, false);
  if (is_buffer(setting)) {
    const headroom::BufferUse use = use_of(want, have.values, have.capacity);
    const Buffers now = have.values.buffer_size.value_or(Buffers{});
    if (!want.buffer_size || !want.buffer_size->automatic)
      return headroom::objection(use, want.buffer_size.value_or(now));
    const auto sizes = headroom::automatic(use, now);
    if (sizes) return {};
    return sizes.error().what;
  }
  return upstream::impossible(setting, want, have);
}

// mlx5e_dcbnl_build_netdev() requires vport_group_manager, which the host's function lacks if the Arm cores own the
// port.
std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (code == 0 && upstream::lacks_dcbnl(setting, have))
    return "no dcbnl here: a virtual function's settings belong to its physical function; the Arm cores of a BlueField "
           "in DPU mode own the port (set it there, or use NIC mode); or this kernel has no CONFIG_MLX5_CORE_EN_DCB";
  if (setting.id == SettingId::dcbx && code == EINVAL)
    return "the NIC's firmware keeps DCBX: switch it off there (mlxconfig -d ADDRESS set LLDP_NB_DCBX_P1=0 "
           "LLDP_NB_DCBX_P2=0, then mlxfwreset -d ADDRESS reset)";
  if ((setting.id == SettingId::cable_length || is_buffer(setting)) && have.trust && code == 0)
    return "this NIC has no port buffers to size";
  constexpr SettingId kNeedRoom[]{SettingId::pfc, SettingId::pause, SettingId::mtu, SettingId::cable_length};
  if ((contains(kNeedRoom, setting.id) || is_buffer(setting)) && code == ENOMEM)
    return "a lossless buffer is too small for this speed, MTU and cable: enlarge it, or set buffer_size = \"auto\"";
  if (is_buffer(setting) && code == EINVAL)
    return "the buffers exceed the port's memory, or leave nothing for the shared pool";
  if (setting.id == SettingId::maxrate && (code == EINVAL || code == ERANGE))
    return "this NIC limits to 255 Gbit/s at most";
  if (setting.id == SettingId::ets && code == EINVAL) return "the bandwidths of the ETS classes must add up to 100";
  // mlx5e_dcbnl_ieee_setapp(): only the first entry of an empty list switches to DSCP again.
  constexpr int kOfFirmware[]{EIO, EREMOTEIO, ETIMEDOUT, EBUSY, EAGAIN};
  const bool is_map = setting.id == SettingId::trust || setting.id == SettingId::dscp_map;
  if (is_map && contains(kOfFirmware, code) && have.dscp_map && !have.dscp_map->empty())
    return "after a failure of the firmware the NIC trusts PCP, while the driver still lists DSCPs. When no job runs, "
           "delete them, and the agent sets all of them again: dcb app flush dev " +
           netdev + " dscp-prio";
  return upstream::remedy(setting, have, netdev, code);
}

// The driver shows the bits that were written; its initial bits are both versions (mlx5e_dcbnl_initialize()).
Result<void> write_dcbx(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  constexpr uint8_t kHost = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE;
  return dcbnl::set_dcbx(*io.kernel.route, io.id(), want.dcbx == Dcbx::host ? kHost : uint8_t{0});
}

// One message is sufficient, because setapp replaces the priority of a listed DSCP.
Result<void> write_map(const PortIo& io, const Setting& setting, const Qos& wanted, const Reading&) {
  const DscpMap want = setting.id == SettingId::dscp_map ? *wanted.dscp_map : map_for(*wanted.trust);
  const auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  const auto change = dscp::difference(*now, want);
  if (want.empty() && !change.stale.empty()) return dcbnl::del_app(*io.kernel.route, io.id(), change.stale);
  if (change.missing.empty()) return {};
  return dcbnl::set_app(*io.kernel.route, io.id(), change.missing);
}

// If PFC or pause was on before, a longer cable is sent separately, later: mlx5e_port_manual_buffer_config() checks the
// old lossless buffers with the new length before it uses the bits. If the buffers stay lossy (ENOMEM), the bits are on
// and the link has been toggled, and the same bits again would change nothing: the old bits are set again.
// New bits end global pause (mlx5_set_port_pfc()). It is set again at once if no PFC replaces it; if it is refused, the
// old bits are.
Result<void> write_pfc(const PortIo& io, const Setting& setting, const Qos& want, const Reading& reading) {
  const Qos& have = reading.values;
  std::optional<uint32_t> cable;  // unless another writer keeps changing it back
  if (has_key(io.writable, SettingId::cable_length)) cable = want.cable_length;
  const bool any_lossless = use_of({}, have, reading.capacity).lossless.bits != 0;
  const bool later = any_lossless && cable.value_or(0) > have.cable_length.value_or(0);
  auto sent = send_pfc(io, *want.pfc, later ? std::nullopt : cable);
  bool stays_lossy = !sent && sent.error().code == ENOMEM;
  if (sent && want.pfc->bits != 0 && has_key(io.writable, SettingId::prio2buffer)) {
    sent = map_again(io, *want.pfc);
    stays_lossy = !sent;
  }
  if (stays_lossy) (void)send_pfc(io, have.pfc.value_or(PrioSet{}), have.cable_length);
  const Pause pause = have.pause.value_or(Pause{});
  const bool was_paused = pause.rx || pause.tx, is_replaced = sent && want.pfc->bits != 0;
  if (!was_paused || is_replaced) return sent;
  const auto kept = write_pause(io, setting, have, reading);
  if (kept || !sent) return sent;
  (void)send_pfc(io, have.pfc.value_or(PrioSet{}), have.cable_length);
  return kept;
}

// At ENOMEM no buffer would send pause: it is set back, so that the pass returns to PFC.
Result<void> write_pause(const PortIo& io, const Setting& setting, const Qos& want, const Reading& reading) {
  auto sent = upstream::write_pause(io, setting, want, reading);
  if (!sent || !(want.pause->rx || want.pause->tx) || !has_key(io.writable, SettingId::prio2buffer)) return sent;
  sent = map_again(io, PrioSet{});
  const Qos old{.pause = reading.values.pause.value_or(Pause{})};
  if (!sent && sent.error().code == ENOMEM) (void)upstream::write_pause(io, setting, old, reading);
  return sent;
}

Result<void> write_cable_length(const PortIo& io, const Setting&, const Qos& want, const Reading& have) {
  return send_pfc(io, have.values.pfc.value_or(PrioSet{}), want.cable_length);
}

// mlx5e_port_manual_buffer_config() checks a new map with the old sizes: if these are too small, sizes for both maps
// are written first. Sizes that stay as they are are not changed for a moment either.
Result<void> write_buffers(const PortIo& io, const Setting&, const Qos& want, const Reading& reading) {
  const Qos& have = reading.values;
  if (want.buffer_size && want.buffer_size->automatic)
    return error(EINVAL, io.netdev + ": set buffer: sizes not computed");
  if (!have.prio2buffer || !have.buffer_size) return error(EOPNOTSUPP, io.netdev + ": set buffer: none shown");
  const Eight map = want.prio2buffer.value_or(*have.prio2buffer);
  const Buffers sizes = want.buffer_size.value_or(*have.buffer_size);
  const bool is_moving = map != *have.prio2buffer && sizes.bytes != have.buffer_size->bytes;
  if (const auto between = sizes_between(reading, map, sizes); between && is_moving)
    if (auto sent = upstream::send_buffers(io, *have.prio2buffer, *between); !sent) return sent;
  return upstream::send_buffers(io, map, sizes);
}

// A driver that truncates would leave a limit that was not requested.
Result<void> write_maxrate(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  if (auto written = upstream::write_maxrate(io, setting, want, have); !written) return written;
  auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now || !now->maxrate || std::ranges::equal(now->maxrate->tc_maxrate, want.maxrate->kbit)) return {};
  if (have.values.maxrate) (void)upstream::write_maxrate(io, setting, have.values, have);
  return error(ERANGE, io.netdev + ": set maxrate: the driver kept another rate; the old one was set again");
}

// The thresholds of the lossless buffers depend on link speed and MTU, but the driver computes them only when PFC is
// set (mlx5e_port_manual_buffer_config), and right after the toggle it assumes 40 Gb/s.
Result<void> settle(const PortIo& io, const Qos& have) {
  const PrioSet lossless = have.pfc.value_or(PrioSet{});
  const Pause pause = have.pause.value_or(Pause{});
  if (lossless.bits != 0)
    if (auto sent = send_pfc(io, lossless, have.cable_length); !sent) return sent;
  if (!has_key(io.writable, SettingId::prio2buffer)) return {};
  if (lossless.bits == 0 && !pause.rx && !pause.tx) return {};
  return map_again(io, lossless);
}

}  // namespace fabric::mlx5
