// SPDX-License-Identifier: Apache-2.0
// ionic (AMD Pensando DSC, Pollara): no dcbnl in any kernel (5.10 to 7.3); QoS and DCQCN are set with AMD's nicctl, and
// are lost at a reboot unless they are in the NIC's profile (AMD UG1813). MTU, rings and FEC are set through the
// kernel.
//
// Pause can be read, but is not written: ionic_get_pauseparam() shows PFC, which nicctl has switched on, as pause, and
// ionic_set_pauseparam() replaces it with link pause (drivers/net/ethernet/pensando/ionic/ionic_ethtool.c of
// Linux 6.12).
#include "nic/driver.h"
#include "nic/generic/upstream.h"

namespace fabric {
namespace {

constexpr SettingId kQos[]{SettingId::dcbx, SettingId::trust, SettingId::dscp_map,
                           SettingId::ets,  SettingId::pfc,   SettingId::maxrate};
constexpr SettingId kDcqcn[]{SettingId::cc, SettingId::ecn_rp, SettingId::ecn_np, SettingId::cnp_dscp,
                             SettingId::cnp_prio};

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (code == 0 && setting.id == SettingId::pause)
    return "ionic shows its PFC as global pause, and a write would replace it: set the port's pause type with nicctl";
  if (code == 0 && contains(kQos, setting.id))
    return "no kernel sets QoS of this NIC: nicctl update qos, kept over a reboot by the NIC's profile";
  if (code == 0 && contains(kDcqcn, setting.id))
    return "no kernel sets DCQCN of this NIC: give it a DCQCN profile with nicctl";
  return upstream::remedy(setting, have, netdev, code);
}

constexpr SettingOp kOps[] = {
    {SettingId::mtu, {upstream::write_mtu, "ionic_lif.c ionic_change_mtu()"}},
};

}  // namespace

const Driver kIonic{
    .name = "ionic",
    .source = "drivers/net/ethernet/pensando/ionic",
    .kernel_names = {"ionic"},
    .remedy = remedy,
    .ops = kOps,
    .fec_in_use = true,  // ionic_get_fecparam() always lists off, rs and baser
};

}  // namespace fabric
