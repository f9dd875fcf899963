// SPDX-License-Identifier: Apache-2.0
// What firmware does behind drivers of Linux 6.12: bnxt/bnxt_dcb.c, ice/ice_ethtool.c, i40e/i40e_ethtool.c,
// qed/qed_dcbx.c.
#include "support/sim_nic_sockets.h"

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

}  // namespace fabric::test
