// SPDX-License-Identifier: Apache-2.0
// i40e (Intel X710, XL710, X722): drivers/net/ethernet/intel/i40e/i40e_dcb_nl.c and i40e_ethtool.c of Linux 6.12;
// Linux 5.10 could read DCB only. While the firmware's LLDP agent runs, every change of DCB is EINVAL. It has no DSCP
// mode: priorities come with the VLAN tag. Its RDMA (X722) is iWARP, which has no DCQCN.
#include "nic/driver.h"
#include "nic/generic/upstream.h"
#include "nic/intel/intel.h"

namespace fabric {
namespace {

constexpr intel::LldpAgent kAgent{"disable-fw-lldp", false};
constexpr char kAgentOwnsDcbx[] = "i40e's firmware owns DCBX only while its LLDP agent runs: set fw_lldp = true";
constexpr char kNoDscp[] = "i40e does not map DSCPs: it takes the priority from the VLAN tag (E810 NICs map DSCPs)";

Result<Reading> read(const PortIo& io, const Keys& keys) {
  auto out = intel::read(io, kAgent, keys);
  if (!out) return out;
  intel::note_hidden_pause(*out);
  return out;
}

void effect(const Setting& setting, const Qos& want, Qos& have) {
  if (setting.id == SettingId::pause && intel::pause_needs_pfc_off(have) && want.pfc) have.pfc = want.pfc;
  copy_value(setting, want, have);
  if (setting.id == SettingId::fw_lldp) have.dcbx = *want.fw_lldp ? Dcbx::firmware : Dcbx::host;
}

std::string never(const Setting& setting, const Qos& want) {
  if (setting.id == SettingId::dcbx && want.dcbx == Dcbx::firmware && want.fw_lldp != true) return kAgentOwnsDcbx;
  // The driver accepts them and shows them, and the NIC has one class (i40e_dcb_get_num_tc()).
  if (setting.id == SettingId::ets && intel::has_gap(*want.ets))
    return "i40e gives the NIC only classes without a gap: 0, 1, 2 ...";
  if (upstream::needs_dscps(setting, want)) return kNoDscp;
  return {};
}

std::string impossible(const Setting& setting, const Qos& want, const Reading& have) {
  if (setting.id == SettingId::dcbx && want.dcbx == Dcbx::firmware) return kAgentOwnsDcbx;
  return intel::impossible(setting, want, have);
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  const bool dcb = setting.id == SettingId::dcbx || setting.id == SettingId::ets || setting.id == SettingId::pfc;
  if (dcb && code != 0 && have.dcbx == Dcbx::firmware)
    return "the NIC's LLDP agent owns DCBX: fw_lldp = false, or " + kAgent.command(netdev);
  if (dcb && code == 0 && have.dcbx)
    return "this kernel's i40e can only read DCB, or the NIC's firmware has it switched off";
  if (setting.id == SettingId::trust || setting.id == SettingId::dscp_map) return kNoDscp;
  if (setting.id == SettingId::cc) return "i40e's RDMA is iWARP, which has TCP's congestion control and no DCQCN";
  if (setting.id == SettingId::pause && code == EOPNOTSUPP)
    return "i40e refuses changes of global pause while PFC is on";
  if (setting.id == SettingId::ets && code == EINVAL)
    return "the classes in use must be ets or strict, or the NIC's firmware refuses their bandwidths (see dmesg)";
  return upstream::remedy(setting, have, netdev, code);
}

// i40e_dcb_sw_default_config() gives the NIC one class without PFC when the agent stops. Depending on the firmware, the
// driver still shows the agent's ETS and PFC: they are sent again, so that the NIC agrees with its reading.
Result<void> write_agent(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  auto written = intel::write_agent(io, kAgent, *want.fw_lldp);
  if (!written || *want.fw_lldp) return written;
  auto sent = intel::send_shown_ets(io);
  const bool has_none = !sent && (sent.error().code == EOPNOTSUPP || sent.error().code == ENODATA);
  if (has_none) return {};
  return sent;
}

Result<void> write_pause(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  return intel::write_pause(io, setting, want, have, upstream::write_pfc);
}

// A change of DCB stops the queues (i40e_hw_dcb_config()), a change of pause restarts the link; dcbx is a flag of the
// driver.
constexpr SettingOp kOps[] = {
    {SettingId::fw_lldp, {write_agent, "i40e_ethtool.c i40e_set_priv_flags()"}},
    {SettingId::dcbx, {upstream::write_dcbx, "i40e_dcb_nl.c i40e_dcbnl_setdcbx()", kHarmless}},
    {SettingId::pause, {write_pause, "i40e_ethtool.c i40e_set_pauseparam(); read as off while PFC is on"}},
    {SettingId::mtu, {upstream::write_mtu, "i40e_main.c i40e_change_mtu()"}},
    {SettingId::ets, {upstream::write_ets, "i40e_dcb_nl.c i40e_dcbnl_ieee_setets()"}},
    {SettingId::pfc, {upstream::write_pfc, "i40e_dcb_nl.c i40e_dcbnl_ieee_setpfc()"}},
};

}  // namespace

const Driver kI40e{
    .name = "i40e",
    .source = "drivers/net/ethernet/intel/i40e",
    .kernel_names = {"i40e"},
    .read = read,
    .expected = intel::expected,
    .effect = effect,
    .never = never,
    .impossible = impossible,
    .remedy = remedy,
    .ops = kOps,
};

}  // namespace fabric
