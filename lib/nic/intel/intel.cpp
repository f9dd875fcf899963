// SPDX-License-Identifier: Apache-2.0
#include "nic/intel/intel.h"

#include <linux/dcbnl.h>

#include "kernel/netlink/ethtool.h"
#include "nic/generic/upstream.h"

namespace fabric::intel {

std::string LldpAgent::command(const std::string& netdev) const {
  return "ethtool --set-priv-flags " + netdev + " " + std::string(flag) + (flag_means_running ? " off" : " on");
}

Result<Reading> read(const PortIo& io, const LldpAgent& agent, const Keys& keys) {
  auto port = upstream::read_port(io, keys);
  if (!port) return port.error();
  Reading& out = port->reading;
  Qos& values = out.values;
  if ((keys & (keys_in(SettingGroup::dcb) | keys_in(SettingGroup::netdev))).none()) return std::move(out);
  if (io.has_ethtool()) {
    const auto flags = ethtool::get_private_flags(*io.kernel.generic, *io.kernel.ethtool, io.netdev);
    if (!flags && is_transient(flags.error())) out.lost = flags.error();
    if (flags)
      for (const auto& [name, on] : *flags)
        if (name == agent.flag) values.fw_lldp = on == agent.flag_means_running;
  }
  constexpr unsigned kOwners = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_LLD_MANAGED;
  const unsigned mode = port->dcb ? port->dcb->dcbx.value_or(0) : 0;
  if (!values.fw_lldp && (mode & kOwners) == DCB_CAP_DCBX_LLD_MANAGED) values.fw_lldp = true;
  if (values.fw_lldp == true && values.dcbx) values.dcbx = Dcbx::firmware;
  return std::move(out);
}

Result<void> write_agent(const PortIo& io, const LldpAgent& agent, bool running) {
  if (!io.has_ethtool()) return error(EOPNOTSUPP, io.netdev + ": set fw_lldp: no ethtool netlink");
  return ethtool::set_private_flag(*io.kernel.generic, *io.kernel.ethtool, io.id(), agent.flag,
                                   running == agent.flag_means_running);
}

Qos expected(const Qos& want, const Reading&) {
  Qos out = want;
  for (auto* size : {&out.ring_rx, &out.ring_tx})
    if (*size && **size <= UINT32_MAX - 32) *size = (**size + 31) / 32 * 32;
  return out;
}

bool pause_needs_pfc_off(const Qos& have) { return have.pfc && have.pfc->bits != 0; }

std::string impossible(const Setting& setting, const Qos& want, const Reading& have) {
  if (setting.id == SettingId::pause && (want.pause->rx || want.pause->tx) &&
      pause_needs_pfc_off(want.pfc ? want : have.values))
    return "this driver refuses global pause while PFC is on: add pfc = []";
  return upstream::impossible(setting, want, have);
}

void note_hidden_pause(Reading& out) {
  if (pause_needs_pfc_off(out.values))
    out.notes.unverified[SettingId::pause] = "the driver shows global pause as off while PFC is on";
}

Result<void> write_pause(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have,
                         Op::Write* write_pfc) {
  if (!pause_needs_pfc_off(have.values)) return upstream::write_pause(io, setting, want, have);
  Qos pfc;
  pfc.pfc = PrioSet{};
  if (auto off = write_pfc(io, setting, pfc, have); !off) {
    pfc.pfc = have.values.pfc;
    if (is_transient(off.error())) (void)write_pfc(io, setting, pfc, have);  // PFC may be off
    return off;
  }
  auto written = upstream::write_pause(io, setting, want, have);
  pfc.pfc = want.pfc ? want.pfc : have.values.pfc;
  if (pfc.pfc->bits == 0) return written;
  auto back = write_pfc(io, setting, pfc, have);
  if (!back) back = write_pfc(io, setting, pfc, have);  // a policy may have pause alone: no later write switches PFC on
  if (!written) return written;
  return back;
}

Result<void> send_shown_ets(const PortIo& io) {
  const auto now = dcbnl::get(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  if (!now->ets) return error(ENODATA, io.netdev + ": read ets: not shown");
  return dcbnl::set_ets(*io.kernel.route, io.id(), *now->ets);
}

bool has_gap(const Ets& ets) {
  unsigned used = 0;
  for (uint8_t tc : ets.prio_tc) used |= 1U << tc;
  return (used & (used + 1)) != 0;
}

}  // namespace fabric::intel
