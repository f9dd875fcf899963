// SPDX-License-Identifier: Apache-2.0
// qede, qedr (Marvell FastLinQ 41000, 45000): drivers/net/ethernet/qlogic/qed/qed_dcbx.c of Linux 6.12. The NIC's
// firmware always runs DCBX itself (LLD_MANAGED); the written ETS and PFC are its offer to the switch, the reading is
// the result. Unless its DCBX is in IEEE mode, every operation answers EINVAL. Writes take effect with SET_ALL.
#include "nic/driver.h"
#include "nic/generic/upstream.h"

namespace fabric {
namespace {

constexpr char kNotOperational[] =
    "DCBX is not operational in IEEE mode: enable it on the switch's port, or make the NIC's static (Marvell's qaucli)";

constexpr char kNoDscp[] =
    "this driver's DCB maps Ethertypes and ports, but no DSCPs: the priority comes from the VLAN tag";

std::string never(const Setting& setting, const Qos& want) {
  if (setting.id == SettingId::dcbx && want.dcbx == Dcbx::host)
    return "this NIC's firmware always runs DCBX and takes ets and pfc as its offer: leave dcbx out";
  if (upstream::needs_dscps(setting, want)) return kNoDscp;
  return {};
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if ((setting.id == SettingId::ets || setting.id == SettingId::pfc) && ((code == 0 && have.trust) || code == EINVAL))
    return kNotOperational;
  if (code == 0 && (setting.id == SettingId::trust || setting.id == SettingId::dscp_map)) return kNoDscp;
  if (code == 0 && setting.id == SettingId::roce_prio)
    return "here RoCE's priority is an APP entry of UDP port 4791: dcb app add dev " + netdev +
           " dgram-port-prio 4791:PRIO";
  if (code == 0 && setting.id == SettingId::cc)
    return "the kernel has no switch for this NIC's DCQCN: Marvell's qaucli";
  return upstream::remedy(setting, have, netdev, code);
}

Result<void> write_offer(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  const auto write = setting.id == SettingId::ets ? upstream::write_ets : upstream::write_pfc;
  auto written = write(io, setting, want, have);
  if (!written) return written;
  return dcbnl::set_all(*io.kernel.route, io.id());
}

// qede_set_pauseparam() restarts the link, qed_dcbnl_setdcbx() the firmware's DCBX.
constexpr SettingOp kOps[] = {
    {SettingId::dcbx, {upstream::write_dcbx, "qed/qed_dcbx.c qed_dcbnl_setdcbx()"}},
    {SettingId::pause, {upstream::write_pause, "qede/qede_ethtool.c qede_set_pauseparam()"}},
    {SettingId::mtu, {upstream::write_mtu, "qede/qede_ethtool.c qede_change_mtu()"}},
    {SettingId::ets, {write_offer, "qed/qed_dcbx.c qed_dcbnl_ieee_setets(), qed_dcbnl_setall()"}},
    {SettingId::pfc, {write_offer, "qed/qed_dcbx.c qed_dcbnl_ieee_setpfc(), qed_dcbnl_setall()"}},
};

}  // namespace

const Driver kQede{
    .name = "qede",
    .source = "drivers/net/ethernet/qlogic",
    .kernel_names = {"qede"},
    .never = never,
    .remedy = remedy,
    .ops = kOps,
    .fec_in_use = true,  // qede_get_fecparam() lists the modes that its link supports
};

}  // namespace fabric
