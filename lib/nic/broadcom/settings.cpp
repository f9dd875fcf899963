// SPDX-License-Identifier: Apache-2.0
// bnxt_en (Broadcom): drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c of Linux 6.12. Every write needs DCBX in host mode.
// PFC requires a configured ETS, which maps all eight priorities. ETS and PFC close and open the NIC. APP entries
// (DSCPs, and the priority of RoCE) are read from the kernel's list, not from the NIC. Congestion control: bnxt_cc.h.
//
// The NIC sends PFC frames of a priority only if its traffic class has a lossless queue, of which there are few.
// bnxt_hwrm_queue_pfc_cfg() gives one to each class that PFC needs, by the ETS of that moment. bnxt_dcbnl_ieee_setets()
// gives none, so that a priority with PFC that it moves to another class is lossy, while the driver still shows its
// PFC. So PFC is sent again with such an ETS, in the same message. A mark in ieee_pfc.delay has the classes with a
// queue.
//
// roce_prio is the entry of RoCE v2 (UDP port 4791), from which the firmware takes RoCE's priority
// (bnxt_dcbnl_ieee_setapp()); the inbox driver supports no other entry. Without an entry the
// priority is 0.
#include <algorithm>
#include <bit>

#include "nic/broadcom/bnxt_cc.h"
#include "nic/driver.h"
#include "nic/generic/dscp.h"
#include "nic/generic/file_settings.h"
#include "nic/generic/upstream.h"

namespace fabric {
namespace {

using dcbnl::AppTable;
using dscp::contains;

constexpr uint16_t kRoceV2Port = 4791;  // ROCE_V2_UDP_DPORT

bool is_roce(const dcb_app& entry) {
  return entry.selector == IEEE_8021QAZ_APP_SEL_DGRAM && entry.protocol == kRoceV2Port;
}

bool is_listed(const PortIo& io, const dcb_app& entry) {
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  return now && contains(*now, entry);
}

// The kernel changes its list before the driver asks the firmware. If the firmware refuses, the list is corrected.
Result<void> add(const PortIo& io, const dcb_app& entry) {
  auto added = dcbnl::set_app(*io.kernel.route, io.id(), {entry});
  // The driver refuses with -ENOTSUPP (524). dcbnl passes on only the low byte, which reads as -ENOMEM.
  if (!added && added.error().code == ENOMEM) added = error(EOPNOTSUPP, added.error().what);
  if (!added && added.error().code != EEXIST && is_listed(io, entry))
    (void)dcbnl::del_app(*io.kernel.route, io.id(), {entry});
  return added;
}

Result<void> remove(const PortIo& io, const dcb_app& entry) {
  auto removed = dcbnl::del_app(*io.kernel.route, io.id(), {entry});
  if (!removed && removed.error().code != ENOENT && !is_listed(io, entry))
    (void)dcbnl::set_app(*io.kernel.route, io.id(), {entry});
  return removed;
}

Result<void> for_each(const PortIo& io, Result<void> (*change)(const PortIo&, const dcb_app&),
                      const AppTable& entries) {
  for (const dcb_app& entry : entries)
    if (auto done = change(io, entry); !done) return done;
  return {};
}

// The firmware maps each DSCP once: deleting one of its entries deletes the DSCP, and its other entries must be sent
// again.
Result<void> write_map(const PortIo& io, const Setting& setting, const Qos& wanted, const Reading& have) {
  const DscpMap want = upstream::map_after(setting, wanted, have.values);
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  auto change = dscp::difference(*now, want);
  AppTable twice;
  for (const dcb_app& entry : dscp::entries_of(want))
    if (!contains(change.missing, entry) &&
        std::ranges::any_of(change.stale, [&](const dcb_app& stale) { return stale.protocol == entry.protocol; }))
      twice.push_back(entry);
  auto done = for_each(io, remove, change.stale);
  if (done) done = for_each(io, remove, twice);
  if (done) done = for_each(io, add, twice);
  if (done) done = for_each(io, add, change.missing);
  if (done) return done;
  // A DSCP that was removed and could not be added again has its priority back: RoCE's must not be without one.
  if (const auto left = dcbnl::get_app(*io.kernel.route, io.netdev))
    for (const dcb_app& entry : dscp::entries_of(dscp::map_of(*now)))
      if (!dscp::map_of(*left).contains(static_cast<uint8_t>(entry.protocol))) (void)add(io, entry);
  return done;
}

// The new entry is added before the old one is removed, so that RoCE always has its priority.
Result<void> write_roce_prio(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  const dcb_app wanted{IEEE_8021QAZ_APP_SEL_DGRAM, static_cast<uint8_t>(*want.roce_prio), kRoceV2Port};
  if (wanted.priority != 0 && !contains(*now, wanted))
    if (auto added = add(io, wanted); !added) return added;
  for (const dcb_app& entry : *now)
    if (is_roce(entry) && entry.priority != wanted.priority)
      if (auto removed = remove(io, entry); !removed) return removed;
  bnxt_cc::follow_roce_prio(io, *want.roce_prio);
  return {};
}

// A mark in ieee_ets.tc_rx_bw[0], which the driver keeps and does not use: ETS was set since the driver was loaded.
constexpr uint8_t kWritten = 1;

// The traffic classes of the priorities with PFC.
uint8_t lossless_classes(uint8_t pfc_en, std::span<const uint8_t, kPriorities> prio_tc) {
  uint8_t out = 0;
  for (size_t prio = 0; prio < kPriorities; ++prio)
    if (PrioSet{pfc_en}.has(prio)) out = static_cast<uint8_t>(out | 1U << (prio_tc[prio] & 7U));
  return out;
}

// A mark in ieee_pfc.delay, which the driver keeps and does not use, and which is never 0: the classes without a
// lossless queue of their own since this PFC was sent, and pfc_en, by which the PFC of another program is recognized.
uint16_t mark_of(uint8_t pfc_en, const ieee_ets& ets) {
  return static_cast<uint16_t>((~lossless_classes(pfc_en, ets.prio_tc) & 0xffU) << 8U | pfc_en);
}

// The priorities with PFC whose classes have no lossless queue.
uint8_t lossy_priorities(const ieee_pfc& pfc, const ieee_ets& ets) {
  if ((pfc.delay & 0xffU) != pfc.pfc_en) return 0;
  uint8_t out = 0;
  for (size_t prio = 0; prio < kPriorities; ++prio)
    if (PrioSet{pfc.pfc_en}.has(prio) && (pfc.delay >> (8U + (ets.prio_tc[prio] & 7U)) & 1U) != 0)
      out = static_cast<uint8_t>(out | 1U << prio);
  return out;
}

// The part of the shown PFC that the NIC has. If firmware refuses another PFC, the driver has given its lossless queues
// away before (bnxt_queue_remap()): this one, sent again, brings them back.
ieee_pfc with_queues(const ieee_pfc& shown, const ieee_ets& ets) {
  ieee_pfc out = shown;
  out.pfc_en = static_cast<uint8_t>(shown.pfc_en & ~lossy_priorities(shown, ets));
  out.delay = mark_of(out.pfc_en, ets);
  return out;
}

template <class Values>
bool is_all_zero(const Values& values) {
  return std::ranges::all_of(values, [](auto each) { return each == 0; });
}

bool is_zero(const ieee_ets& ets) {
  return is_all_zero(ets.prio_tc) && is_all_zero(ets.tc_tsa) && is_all_zero(ets.tc_tx_bw) && is_all_zero(ets.tc_rx_bw);
}

bool is_zero(const ieee_pfc& pfc) {
  return pfc.pfc_en == 0 && pfc.mbc == 0 && pfc.delay == 0 && is_all_zero(pfc.requests) && is_all_zero(pfc.indications);
}

// bnxt_dcbnl_setdcbx() refuses every mode while the present one is LLD_MANAGED, which bnxt_dcb_init() takes from the
// firmware: no write brings the host's mode back. Without HOST and LLD_MANAGED the driver may take it.
constexpr char kOptionInNvm[] =
    "the NIC's firmware owns DCBX by an option in its NVM, and the driver refuses every other mode (LLD_MANAGED): "
    "switch the firmware's LLDP agent off with niccli, then restart the node; or set dcbx = \"firmware\"";

// bnxt_dcbnl_ieee_getets(), getpfc(): a host that owns DCBX gets zeros until it has set a value, whatever the NIC has;
// any other host gets the firmware's first answer. Without an ETS nothing shows that the NIC has the entries of the
// kernel's APP list (write_ets()).
void note_unverified(const PortIo& io, const dcbnl::IeeeConfig& dcb, Reading& out) {
  constexpr char kZeros[] = "the driver shows zeros until it is set, whatever the NIC has";
  Notes& notes = out.notes;
  if (out.values.dcbx == Dcbx::firmware)
    for (SettingId id : {SettingId::ets, SettingId::pfc})
      notes.unverified[id] = "the driver asked the firmware once and has shown that answer since";
  if (out.values.dcbx != Dcbx::host) return;
  const bool no_ets = dcb.ets && is_zero(*dcb.ets);
  if (no_ets) {
    notes.unverified[SettingId::ets] = kZeros;
    notes.unread.set(index(SettingId::ets));
    for (SettingId id : {SettingId::trust, SettingId::dscp_map, SettingId::roce_prio})
      notes.unverified[id] = "the kernel's list is kept when the NIC loses its own (a reset of its firmware)";
  }
  if (!dcb.pfc || !is_zero(*dcb.pfc)) return;
  notes.unverified[SettingId::pfc] = kZeros;
  // Without an ETS the driver refuses PFC.
  if (!no_ets || has_key(io.requested, SettingId::ets)) notes.unread.set(index(SettingId::pfc));
}

Result<Reading> read(const PortIo& io, const Keys& keys) {
  auto port = upstream::read_port(io, keys);
  if (!port) return port.error();
  Reading& out = port->reading;
  if (port->dcb) {
    note_unverified(io, *port->dcb, out);
    if ((port->dcb->dcbx.value_or(0) & DCB_CAP_DCBX_LLD_MANAGED) != 0)
      out.notes.reasons[SettingId::dcbx] = kOptionInNvm;
    if (const uint8_t lossy = port->dcb->pfc && port->dcb->ets ? lossy_priorities(*port->dcb->pfc, *port->dcb->ets) : 0;
        lossy != 0) {
      out.values.pfc->bits = static_cast<uint8_t>(out.values.pfc->bits & ~lossy);
      out.notes.unverified[SettingId::pfc] = "the driver shows PFC of priority " + to_text(PrioSet{lossy}) +
                                             ", whose traffic class has no lossless queue since ETS was changed";
    }
    // The kernel's list may have a DSCP with several priorities. The firmware uses the last one sent, which cannot be
    // read: such DSCPs are left out.
    std::map<uint16_t, unsigned> times;
    uint32_t roce_prio = 0;
    for (const dcb_app& entry : port->dcb->app.value_or(dcbnl::AppTable{})) {
      if (entry.selector == IEEE_8021QAZ_APP_SEL_DSCP) ++times[entry.protocol];
      if (is_roce(entry)) roce_prio = std::max<uint32_t>(roce_prio, entry.priority);
    }
    if (out.values.dscp_map)
      std::erase_if(*out.values.dscp_map, [&](const auto& each) { return times[each.first] > 1; });
    if (has_key(keys, SettingId::roce_prio)) out.values.roce_prio = roce_prio;
  }
  bnxt_cc::read(io, keys, out);
  return std::move(out);
}

std::string never(const Setting& setting, const Qos& want) {
  if (setting.id == SettingId::ets)
    for (Tsa tsa : want.ets->tsa)
      if (tsa != Tsa::strict && tsa != Tsa::ets) return "bnxt_en supports only strict and ets classes";
  return {};
}

std::string impossible(const Setting& setting, const Qos& want, const Reading& have) {
  if (setting.id == SettingId::dcbx && want.dcbx != have.values.dcbx)
    if (const std::string* why = find_in(have.notes.reasons, SettingId::dcbx)) return *why;
  if (setting.id == SettingId::trust) return upstream::impossible_trust(want, have.values, true);
  if (setting.id == SettingId::pfc && have.capacity.lossless_classes)
    return upstream::too_many_lossless(want, have.values, *have.capacity.lossless_classes);
  if (setting.id == SettingId::ets && have.capacity.lossless_classes && have.values.pfc) {
    Qos after = have.values;
    after.ets = want.ets;
    if (auto why = upstream::too_many_lossless(after, after, *have.capacity.lossless_classes); !why.empty()) return why;
  }
  return upstream::impossible(setting, want, have);
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (setting.id == SettingId::fw_lldp)
    return "an LLDP agent in the NIC's firmware is an option in NVM: switch it off with niccli";
  if (std::string text = bnxt_cc::remedy(setting, code); !text.empty()) return text;
  if (code != 0 && have.dcbx == Dcbx::firmware && setting.id != SettingId::pause && setting.id != SettingId::mtu)
    return "the NIC's firmware owns DCBX and then refuses every change: switch its LLDP agent off in NVM (niccli)";
  if (setting.id == SettingId::pfc && code == EINVAL && have.ets == Ets{})
    return "the driver accepts PFC only after ETS: add ets to the policy";
  if (setting.id == SettingId::pfc && code == EINVAL)
    return "the NIC has fewer lossless traffic classes than these priorities map to, or shares "
           "its port (multi-host, NPAR), and then no function may set pause";
  if (setting.id == SettingId::ets && code == ENOMEM)
    return "each traffic class needs transmit queues of its own, and the NIC has too few: set fewer channels, or "
           "ethtool -L " +
           netdev + " combined N";
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
Result<void> write_ets(const PortIo& io, const Setting&, const Qos& want, const Reading& have) {
  Qos sent = want;
  for (size_t tc = have.capacity.traffic_classes.value_or(kPriorities); tc < kPriorities; ++tc) {
    sent.ets->tsa[tc] = Tsa::strict;
    sent.ets->bw[tc] = 0;
  }
  auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  const ieee_ets old = now->ets.value_or(ieee_ets{});
  ieee_ets ets = upstream::wire(*sent.ets, old);
  ets.tc_rx_bw[0] = kWritten;
  ieee_pfc pfc = now->pfc.value_or(ieee_pfc{});
  const ieee_pfc before = with_queues(pfc, old);
  // Priorities that are lossy now become lossless again if the NIC has enough lossless queues.
  const int most = static_cast<int>(have.capacity.lossless_classes.value_or(kPriorities));
  if (std::popcount(lossless_classes(pfc.pfc_en, ets.prio_tc)) > most) pfc.pfc_en = before.pfc_en;
  pfc.delay = mark_of(pfc.pfc_en, ets);
  const bool needs_queues =
      (lossless_classes(pfc.pfc_en, ets.prio_tc) & ~lossless_classes(before.pfc_en, old.prio_tc)) != 0;
  auto written = needs_queues ? dcbnl::set_ets(*io.kernel.route, io.id(), ets, pfc)
                              : dcbnl::set_ets(*io.kernel.route, io.id(), ets);
  // The driver keeps the ETS if the PFC is refused.
  if (!written && needs_queues) {
    const auto left = dcbnl::get(*io.kernel.route, io.netdev);
    const bool moved = left && left->ets && !std::ranges::equal(left->ets->prio_tc, old.prio_tc);
    if (moved) (void)dcbnl::set_ets(*io.kernel.route, io.id(), old, before);
  }
  if (!written || !has_key(have.notes.unread, SettingId::ets)) return written;
  // This was the first ETS: the driver was loaded, or its firmware was reset, which frees the driver's own list
  // (bnxt_dcb_free() in bnxt_hwrm_if_change()) and keeps the kernel's list, whose entries the NIC has lost. So they are
  // sent again. An entry that fails here is missing from the list afterwards, and reported.
  if (auto table = dcbnl::get_app(*io.kernel.route, io.netdev))
    for (const dcb_app& entry : *table) {
      if (!is_roce(entry) && entry.selector != IEEE_8021QAZ_APP_SEL_DSCP) continue;
      if (remove(io, entry)) (void)add(io, entry);
    }
  return written;
}

Result<void> write_pfc(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  const ieee_ets ets = now->ets.value_or(ieee_ets{});
  ieee_pfc pfc{};
  pfc.pfc_en = want.pfc->bits;
  pfc.delay = mark_of(pfc.pfc_en, ets);
  auto written = dcbnl::set_pfc(*io.kernel.route, io.id(), pfc);
  const bool may_lack_queues = !written && !is_transient(written.error()) && now->pfc && now->pfc->pfc_en != 0;
  if (may_lack_queues) (void)dcbnl::set_pfc(*io.kernel.route, io.id(), with_queues(*now->pfc, ets));
  return written;
}

// dcbx is a flag of the driver; DSCPs and the RoCE priority are one firmware command each. Pause restarts the link
// while flow control is negotiated, as it is by default (bnxt_hwrm_set_pause()).
constexpr auto kDcbOps = std::to_array<SettingOp>({
    {SettingId::dcbx, {upstream::write_dcbx, "bnxt_dcb.c bnxt_dcbnl_setdcbx()", kHarmless}},
    {SettingId::pause, {upstream::write_pause, "bnxt_ethtool.c bnxt_set_pauseparam()"}},
    {SettingId::mtu, {upstream::write_mtu, "bnxt.c bnxt_change_mtu()"}},
    {SettingId::trust,
     {write_map, "bnxt_dcb.c bnxt_hwrm_queue_dscp2pri_cfg(); the list of the kernel is read, not that of the NIC",
      kHarmless}},
    {SettingId::dscp_map,
     {write_map, "bnxt_dcb.c bnxt_hwrm_queue_dscp2pri_cfg(); the list of the kernel is read, not that of the NIC",
      kHarmless}},
    {SettingId::ets, {write_ets, "bnxt_dcb.c bnxt_dcbnl_ieee_setets(); zeros until it is set, whatever the NIC has"}},
    {SettingId::pfc, {write_pfc, "bnxt_dcb.c bnxt_dcbnl_ieee_setpfc(); zeros until it is set, whatever the NIC has"}},
    {SettingId::roce_prio,
     {write_roce_prio, "bnxt_dcb.c bnxt_hwrm_set_dcbx_app(); the list of the kernel is read, not that of the NIC",
      kHarmless}},
});
const auto kOps = file_settings::join(kDcbOps, bnxt_cc::kOps);

// Congestion control precedes the DSCP and the priority of the CNPs, which Broadcom's module discards while it is off.
// ETS precedes the DSCPs, as in bnxt_setupcc.sh: entries that exist when the first ETS is set are older (write_ets()).
const auto kOrder = [] {
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
    .kernel_names = {"bnxt_en"},
    .read = read,
    .effect = effect,
    .never = never,
    .impossible = impossible,
    .remedy = remedy,
    .ops = kOps,
    .order = kOrder,
};

}  // namespace fabric
