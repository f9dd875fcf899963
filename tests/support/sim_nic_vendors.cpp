// SPDX-License-Identifier: Apache-2.0
// The behavior of firmware behind drivers of Linux 6.12: bnxt/bnxt_dcb.c, ice/ice_ethtool.c, i40e/i40e_ethtool.c,
// qed/qed_dcbx.c; and ice: ice/ice_dcb_nl.c and ice_dcb_lib.c.
#include <algorithm>

#include "support/sim_nic_sockets.h"
#include "vm/module/driver_rules.h"

namespace fabric::test {
int SimNic::firmware_app() {
  int verdict = 0;
  begin(*this, "fwapp", verdict);
  return verdict;
}

// bnxt_dcbnl_ieee_setapp(): the kernel's list first, then the firmware.
int SimNic::bnxt_set_app(const dcb_app& entry) {
  if (!host_controlled()) return -EINVAL;
  if (listed(entry)) return -EEXIST;
  app.push_back(entry);
  if (int err = firmware_app(); err != 0) return err;
  if (entry.selector == IEEE_8021QAZ_APP_SEL_DSCP) firmware_dscp[entry.protocol] = entry.priority;
  return 0;
}

// bnxt_dcbnl_ieee_delapp(); bnxt_hwrm_queue_dscp2pri_cfg() takes the DSCP off, whatever its priority.
int SimNic::bnxt_del_app(const dcb_app& entry) {
  if (!host_controlled()) return -EINVAL;
  if (!listed(entry)) return -ENOENT;
  unlist(entry);
  if (int err = firmware_app(); err != 0) return err;
  if (entry.selector == IEEE_8021QAZ_APP_SEL_DSCP) firmware_dscp.erase(entry.protocol);
  return 0;
}

// ice_set_priv_flags(), i40e_set_priv_flags(): DCBX changes hands; without its agent ice falls back to its own
// defaults.
int SimNic::set_agent(bool runs) {
  if (runs && dscp_mode) return -EOPNOTSUPP;
  firmware_agent = runs;
  if (runs) return 0;
  dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
  if (personality != Personality::ice) return 0;
  ice_vlan_defaults();
  pfc.pfc_en = 0;
  reopen();
  return 0;
}

// qed_dcbnl_setall(): what qed_dcbnl_ieee_setets() and qed_dcbnl_ieee_setpfc() have kept goes to the firmware. The caps
// are taken for the numbers of classes.
int SimNic::set_all() {
  log.push_back("setall");
  if (offered_ets) ets = *offered_ets;
  if (offered_pfc) pfc.pfc_en = offered_pfc->pfc_en, pfc.pfc_cap = offered_pfc->pfc_cap;
  offered_ets.reset(), offered_pfc.reset();
  return 0;
}

int SimNic::ice_set_app(const dcb_app& entry) {
  if (entry.selector != IEEE_8021QAZ_APP_SEL_DSCP || !host_controlled()) return -EINVAL;
  if (listed(entry)) return -EEXIST;
  if (listed_dscp(entry.protocol)) return -EINVAL;
  app.push_back(entry);
  if (firmware_app() != 0) return 1;  // any error of ice_pf_dcb_cfg() is answered so, and the entry stays listed
  if (!dscp_mode) {
    dscp_mode = true;
    for (uint8_t i = 0; i < 8; ++i) {
      ets.prio_tc[i] = i;
      ets.tc_tsa[i] = IEEE_8021QAZ_TSA_ETS;
      ets.tc_tx_bw[i] = i == 0 ? 100 : 0;
    }
  }
  reopen();
  return 0;
}

int SimNic::ice_del_app(const dcb_app& entry) {
  if (!host_controlled()) return -EINVAL;
  if (!listed(entry)) return -ENOENT;
  unlist(entry);
  if (!app.empty()) return 2;  // ICE_DCB_HW_CHG, also where nothing changed
  ice_vlan_defaults();
  pfc.pfc_en = 0;
  reopen();
  return 0;
}

// ice_dcb_sw_dflt_cfg()
void SimNic::ice_vlan_defaults() {
  rule_ice_vlan_ets(&ets);
  dscp_mode = false;
}

// In DSCP mode the map of priorities to classes stays, in silence.
int SimNic::ice_set_ets(const ieee_ets& wanted) {
  if (!host_controlled()) return -EINVAL;
  ieee_ets next = ets;
  std::copy_n(wanted.tc_tsa, 8, next.tc_tsa);
  std::copy_n(wanted.tc_tx_bw, 8, next.tc_tx_bw);
  if (!dscp_mode) std::copy_n(wanted.prio_tc, 8, next.prio_tc);
  const int classes = rule_ice_classes(&next);
  int sum = 0;
  for (int i = 0; i < classes; ++i) sum += next.tc_tx_bw[i];
  if (classes > 1 && sum != 0 && sum != 100) return -EINVAL;
  if (classes == 1 || sum == 0) next.tc_tx_bw[0] = 100;
  ets = next;
  reopen();
  return 0;
}

}  // namespace fabric::test
