// SPDX-License-Identifier: Apache-2.0
// ice (Intel E810, E830): drivers/net/ethernet/intel/ice/ice_dcb_nl.c and ice_dcb_lib.c of Linux 6.12. Each DCB change
// closes and opens the netdev. The first DSCP entry switches the port to DSCP mode and overwrites ETS; the last one's
// deletion switches back and overwrites ETS and PFC.
//
// The driver changes a copy of the settings (desired_dcbx_cfg) and sends the whole of it. A request that it refuses
// stays in the copy: the next change would send it as well, or would be refused for it. So after a refusal the copy
// gets the values again that the port shows; without a difference the driver sends nothing.
//
// Congestion control: irdma of Linux (7.3 included) has no switch and leaves DCQCN off. Intel's own irdma has configfs
// irdma/<RDMA device>/roce_dcqcn_enable, 1 or 0, for queue pairs that are created afterwards.
#include <algorithm>

#include "nic/driver.h"
#include "nic/generic/configfs_item.h"
#include "nic/generic/dscp.h"
#include "nic/generic/file_settings.h"
#include "nic/generic/upstream.h"
#include "nic/intel/intel.h"

namespace fabric {
namespace {

constexpr intel::LldpAgent kAgent{"fw-lldp-agent", true};
constexpr std::string_view kConfigfs = "sys/kernel/config/irdma";
constexpr const char* kCcFile = "/roce_dcqcn_enable";
// Intel's guide 635330; the driver has no such limit.
constexpr uint32_t kLosslessClasses = 1;
constexpr char kOneClass[] =
    "Intel supports PFC on one traffic class (guide 635330); the driver accepts more, and does not show what the NIC "
    "does with them: keep one priority in pfc";

constexpr char kAgentOwnsDcbx[] = "ice's firmware owns DCBX only while its LLDP agent runs: set fw_lldp = true";

constexpr Eight kIdentity{0, 1, 2, 3, 4, 5, 6, 7};

// ice_dcb_sw_dflt_cfg(): one traffic class with everything.
Ets vlan_mode_ets() {
  Ets out;
  out.tsa[0] = Tsa::ets;
  out.bw[0] = 100;
  return out;
}

// The steps to a map: first new entries, so that the list does not run empty and the mode does not switch back and
// forth; then deletions; then listed DSCPs with another priority, which the driver refuses before their deletion. If no
// entry would stay during the deletions, `bridge` does: an entry that is in neither map.
struct Steps {
  dcbnl::AppTable bridge, add, remove, add_again;
};

Steps steps(const dcbnl::AppTable& table, const DscpMap& want) {
  const DscpMap listed = dscp::map_of(table);
  auto change = dscp::difference(table, want);
  Steps out;
  out.remove = change.stale;
  for (const dcb_app& entry : change.missing) {
    if (listed.contains(static_cast<uint8_t>(entry.protocol))) out.add_again.push_back(entry);
    else out.add.push_back(entry);
  }
  const bool keeps = std::ranges::any_of(listed, [&](const auto& entry) {
    auto wanted = want.find(entry.first);
    return wanted != want.end() && wanted->second == entry.second;
  });
  if (!listed.empty() && !want.empty() && out.add.empty() && !keeps)
    for (uint8_t dscp = 0; dscp < dscp::kCount && out.bridge.empty(); ++dscp)
      if (!listed.contains(dscp) && !want.contains(dscp)) out.bridge.push_back({IEEE_8021QAZ_APP_SEL_DSCP, 0, dscp});
  return out;
}

bool dscp_mode(const Qos& want, const Qos& have) {
  if (want.dscp_map) return !want.dscp_map->empty();
  if (want.trust) return want.trust == Trust::dscp;
  return have.trust == Trust::dscp;
}

// Priority i is on class i while the port trusts DSCP, and all are on class 0 until ETS is set otherwise.
std::string doubt(const Setting& setting, const Qos& want) {
  if (setting.id != SettingId::pfc) return {};
  Qos have{.ets = vlan_mode_ets()};
  if (dscp_mode(want, have)) have.ets->prio_tc = kIdentity;
  if (upstream::too_many_lossless(want, have, kLosslessClasses).empty()) return {};
  return kOneClass;
}

Result<void> write_cc(const PortIo& io, const Setting& setting, const Qos& want, const Reading&) {
  auto item = ConfigfsItem::open(io.kernel.root, std::string(kConfigfs) + "/" + io.rdma);
  if (!item) return item.error();
  return file_settings::write(io, item->path() + kCcFile, setting, want);
}

Result<Reading> read(const PortIo& io, const Keys& keys) {
  auto out = intel::read(io, kAgent, keys);
  if (!out) return out;
  Qos& values = out->values;
  intel::note_hidden_pause(*out);
  if (values.pfc)
    if (std::string why = doubt(setting_of(SettingId::pfc), values); !why.empty())
      out->notes.unverified[SettingId::pfc] = std::move(why);
  if (!has_key(keys, SettingId::cc) || io.rdma.empty() || !io.kernel.root.exists(std::string(kConfigfs))) return out;
  const std::string folder = std::string(kConfigfs) + "/" + io.rdma;
  auto item = ConfigfsItem::open(io.kernel.root, folder);
  if (item) file_settings::read(io, folder + kCcFile, SettingId::cc, *out);
  else out->not_offered(SettingId::cc, file_settings::why_not(io, folder, item.error().code));
  return out;
}

void effect(const Setting& setting, const Qos& want, Qos& have) {
  if (setting.id == SettingId::fw_lldp) {
    // ice_set_priv_flags(): a stopped agent leaves DCBX to the host, with the driver's defaults; a started one takes
    // DCBX.
    have.fw_lldp = want.fw_lldp;
    have.dcbx = *want.fw_lldp ? Dcbx::firmware : Dcbx::host;
    if (*want.fw_lldp) return;
    have.ets = vlan_mode_ets();
    have.pfc = PrioSet{};
    return;
  }
  if (setting.id == SettingId::pause && intel::pause_needs_pfc_off(have) && want.pfc) have.pfc = want.pfc;
  if (setting.id != SettingId::dscp_map && setting.id != SettingId::trust) return copy_value(setting, want, have);
  const DscpMap listed = have.dscp_map.value_or(DscpMap{});
  const DscpMap next = upstream::map_after(setting, want, have);
  if (!listed.empty() && next.empty()) have.ets = vlan_mode_ets();  // PFC is written again: return_to_vlan_mode()
  if (listed.empty() && !next.empty()) {                            // ice_dcbnl_setapp(), "switching to DSCP mode"
    Ets& ets = have.ets.emplace();
    ets.prio_tc = kIdentity;
    ets.tsa.fill(Tsa::ets);
    ets.bw[0] = 100;
  }
  have.dscp_map = next;
  have.trust = next.empty() ? Trust::pcp : Trust::dscp;
}

// Settings that contradict each other in DSCP mode.
std::string dscp_conflict(const Setting& setting, const Qos& want, const Qos& have) {
  if (!dscp_mode(want, have)) return {};
  if (setting.id == SettingId::fw_lldp && *want.fw_lldp)
    return "ice starts its LLDP agent in VLAN mode only: remove dscp_map and trust = \"dscp\"";
  if (setting.id == SettingId::ets && want.ets->prio_tc != kIdentity)
    return "while ice trusts DSCP, priority i stays on class i: set prio_tc to 0 to 7";
  return {};
}

std::string never(const Setting& setting, const Qos& want) {
  if (setting.id == SettingId::ets) {
    // ice_dcb_get_num_tc(): DCB is off if the classes have a gap.
    if (intel::has_gap(*want.ets)) return "ice accepts only classes without a gap: 0, 1, 2 ...";
    // ice_dcb_bwchk()
    const auto last = *std::ranges::max_element(want.ets->prio_tc);
    unsigned sum = 0;
    for (size_t tc = 0; tc <= last; ++tc)
      if (want.ets->tsa[tc] == Tsa::ets) sum += want.ets->bw[tc];
    if (last != 0 && sum != 0 && sum != 100)
      return "the bandwidths of the classes that have a priority add up to " + std::to_string(sum) +
             ": ice accepts only 100";
  }
  if (setting.id == SettingId::dcbx && want.dcbx == Dcbx::firmware && want.fw_lldp != true) return kAgentOwnsDcbx;
  return dscp_conflict(setting, want, {});
}

std::string impossible(const Setting& setting, const Qos& want, const Reading& have) {
  if (setting.id == SettingId::trust) return upstream::impossible_trust(want, have.values, true);
  if (setting.id == SettingId::dcbx && want.dcbx == Dcbx::firmware) return kAgentOwnsDcbx;
  if (std::string why = dscp_conflict(setting, want, have.values); !why.empty()) return why;
  return intel::impossible(setting, want, have);
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (setting.id == SettingId::cc && code == 0)
    return "Linux's irdma leaves DCQCN off and has no switch: Intel's irdma package has one in configfs";
  if (setting.id == SettingId::cc) return file_settings::remedy(code);
  if (code != 0 && have.dcbx == Dcbx::firmware && setting.id != SettingId::pause && setting.id != SettingId::mtu)
    return "the NIC's LLDP agent owns DCBX: fw_lldp = false, or " + kAgent.command(netdev);
  if (setting.id == SettingId::pause && code == EOPNOTSUPP)
    return "ice refuses changes of global pause while PFC is on";
  if (setting.id == SettingId::dscp_map && code == EINVAL)
    return "the NIC has fewer classes than the map's priorities, or is in a bond";
  if (setting.id == SettingId::ets && code == EINVAL)
    return "the bandwidths of the classes in use must add up to 100, and ice refuses changes of DCB in a bond";
  if (setting.id == SettingId::channels && code == EBUSY)
    return "ice refuses changes of channels while irdma uses the NIC: leave channels out, or set them before irdma is "
           "loaded";
  if (setting.id == SettingId::pfc && code == EINVAL) return "ice refuses changes of DCB while the port is in a bond";
  return upstream::remedy(setting, have, netdev, code);
}

// Whether the driver itself has answered with the error, so that its copy may have the request.
bool is_refusal(const Error& failure) {
  return !is_transient(failure) && failure.code != ENODEV && failure.code != ESTALE;
}

// After it, or after intel::send_shown_ets(), the NIC has all that is in the driver's copy.
Result<void> send_shown_pfc(const PortIo& io) {
  const auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  if (!now->pfc) return error(ENODATA, io.netdev + ": read pfc: not shown");
  return dcbnl::set_pfc(*io.kernel.route, io.id(), *now->pfc);
}

Result<void> write_ets(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  auto written = upstream::write_ets(io, setting, want, have);
  if (!written && is_refusal(written.error())) (void)intel::send_shown_ets(io);
  return written;
}

Result<void> write_pfc(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  auto written = upstream::write_pfc(io, setting, want, have);
  if (written || !is_refusal(written.error())) return written;
  // EINVAL: maybe for the ETS of another program, which was refused and is in the copy.
  if (written.error().code == EINVAL && intel::send_shown_ets(io))
    written = upstream::write_pfc(io, setting, want, have);
  if (!written && is_refusal(written.error())) (void)send_shown_pfc(io);
  return written;
}

// Sends one entry per message: after an answer of 1 or 2, dcbnl_ieee_set() and dcbnl_ieee_del() skip the rest of the
// table. ice_dcbnl_setapp() answers 1 if ice_pf_dcb_cfg() has failed or found nothing to change, and leaves the entry
// in the list. If the copy cannot be sent, the entry is deleted, so that the list shows the NIC's map.
Result<void> add(const PortIo& io, const dcbnl::AppTable& entries) {
  for (const dcb_app& entry : entries) {
    auto answer = dcbnl::add_app(*io.kernel.route, io.id(), entry);
    if (!answer && (answer.error().code == EEXIST || !is_refusal(answer.error()))) return answer.error();
    if (answer && (*answer == 0 || intel::send_shown_ets(io))) continue;
    (void)dcbnl::del_app(*io.kernel.route, io.id(), {entry});
    if (!answer) return answer.error();
    return error(EIO, io.netdev + ": set app: the driver could not give the map to the NIC (see dmesg)");
  }
  return {};
}

// An entry leaves the list before the deletion can fail. If the copy can be sent then, it has left the NIC as well.
Result<void> remove(const PortIo& io, const dcbnl::AppTable& entries) {
  for (const dcb_app& entry : entries) {
    auto done = dcbnl::del_app(*io.kernel.route, io.id(), {entry});
    if (done) continue;
    if (!is_refusal(done.error())) return done;
    const auto left = dcbnl::get_app(*io.kernel.route, io.netdev);
    if (!left || dscp::contains(*left, entry) || !intel::send_shown_ets(io)) return done;
  }
  return {};
}

// With the last DSCP the driver resets ETS and PFC, but not its copy: the next change would bring back the ETS of DSCP
// mode. PFC is given back, and the ETS of before if there was no map.
void return_to_vlan_mode(const PortIo& io, const Setting& setting, bool had_map, const Reading& have) {
  Qos back{.ets = have.values.ets, .pfc = have.values.pfc};
  if (had_map) back.ets = vlan_mode_ets();
  if (back.ets) (void)write_ets(io, setting, back, have);
  if (back.pfc) (void)write_pfc(io, setting, back, have);
}

Result<void> write_map(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  const DscpMap listed = dscp::map_of(*now);
  auto todo = steps(*now, upstream::map_after(setting, want, have.values));
  auto done = add(io, todo.bridge);
  if (done) done = add(io, todo.add);
  if (done) done = remove(io, todo.remove);
  if (done) done = add(io, todo.add_again);
  // A DSCP that was removed and could not be added again has its priority back: RoCE's must not be without one.
  if (!done)
    if (const auto left = dcbnl::get_app(*io.kernel.route, io.netdev))
      for (const dcb_app& entry : dscp::entries_of(listed))
        if (!dscp::map_of(*left).contains(static_cast<uint8_t>(entry.protocol))) (void)add(io, {entry});
  if (auto gone = remove(io, todo.bridge); done && !gone) done = gone;
  const bool may_be_reset = done ? !listed.empty() : is_refusal(done.error());
  if (const auto left = dcbnl::get_app(*io.kernel.route, io.netdev);
      left && may_be_reset && dscp::map_of(*left).empty())
    return_to_vlan_mode(io, setting, !listed.empty(), have);
  return done;
}

Result<void> write_pause(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  return intel::write_pause(io, setting, want, have, write_pfc);
}

Result<void> write_agent(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  return intel::write_agent(io, kAgent, *want.fw_lldp);
}

// The driver also replies "refused" if the mode was set already or the port is in DSCP mode: the reading decides.
Result<void> write_dcbx(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  auto written = upstream::write_dcbx(io, setting, want, have);
  if (written || written.error().code != EINVAL) return written;
  const auto now = read(io, Keys().set(index(SettingId::dcbx)));
  if (now && now->values.dcbx == want.dcbx) return {};
  return written;
}

// dcbx is a flag of the driver; cc is for queue pairs created afterwards. Pause restarts the link (ice_set_fc()).
constexpr SettingOp kOps[] = {
    {SettingId::fw_lldp, {write_agent, "ice_ethtool.c ice_set_priv_flags()"}},
    {SettingId::dcbx, {write_dcbx, "ice_dcb_nl.c ice_dcbnl_setdcbx()", kHarmless}},
    {SettingId::pause, {write_pause, "ice_ethtool.c ice_set_pauseparam(); read as off while PFC is on"}},
    {SettingId::mtu, {upstream::write_mtu, "ice_main.c ice_change_mtu()"}},
    {SettingId::trust, {write_map, "ice_dcb_nl.c ice_dcbnl_setapp(), ice_dcbnl_delapp()"}},
    {SettingId::dscp_map, {write_map, "ice_dcb_nl.c ice_dcbnl_setapp(), ice_dcbnl_delapp()"}},
    {SettingId::ets, {write_ets, "ice_dcb_nl.c ice_dcbnl_setets()"}},
    {SettingId::pfc,
     {write_pfc, "ice_dcb_nl.c ice_dcbnl_setpfc(); what the NIC does with more than one lossless class"}},
    {SettingId::cc,
     {write_cc, "Intel's irdma package, configfs roce_dcqcn_enable; for queue pairs created afterwards", kHarmless}},
};

}  // namespace

const Driver kIce{
    .name = "ice",
    .source = "drivers/net/ethernet/intel/ice",
    .kernel_names = {"ice"},
    .read = read,
    .expected = intel::expected,
    .effect = effect,
    .never = never,
    .doubt = doubt,
    .impossible = impossible,
    .remedy = remedy,
    .ops = kOps,
    .fec_in_use = true,  // ice_get_fecparam() lists the modes of its module
};

}  // namespace fabric
