// SPDX-License-Identifier: Apache-2.0
// The firmware behind drivers of Linux 6.12: bnxt/bnxt_dcb.c, ice/ice_ethtool.c, i40e/i40e_ethtool.c, qed/qed_dcbx.c;
// and ice, with the rules of driver_rules.h.
#include "support/sim_nic_sockets.h"
#include "vm/module/driver_rules.h"

namespace fabric::test {
int SimNic::firmware_app() {
  int verdict = 0;
  begin(*this, "fwapp", verdict);
  return verdict;
}

// bnxt_dcbnl_ieee_setpfc(): the driver keeps the whole struct, and uses pfc_en alone.
int SimNic::bnxt_set_pfc(const ieee_pfc& wanted) {
  if (!host_controlled() || !ets_known) return -EINVAL;
  const int remapped = rule_bnxt_pfc(tc_to_qidx.data(), &ets, wanted.pfc_en, traffic_classes);
  if (remapped < 0) return remapped;
  pfc.pfc_en = wanted.pfc_en;
  pfc.delay = wanted.delay;
  pfc_known = true;
  if (remapped != 0) reopen();
  return 0;
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

unsigned SimNic::ice_dcbx() const { return firmware_agent ? DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_LLD_MANAGED : dcbx; }

int SimNic::ice_set_app(const dcb_app& entry) {
  if (int err = rule_ice_setapp(&entry, ice_dcbx(), ets.ets_cap); err != 0) return err;
  if (listed(entry)) return -EEXIST;
  if (listed_dscp(entry.protocol)) return -EINVAL;
  app.push_back(entry);
  if (firmware_app() != 0) return RULE_ICE_NO_HW_CHG;
  if (!dscp_mode) rule_ice_dscp_ets(&ets, ets.ets_cap);
  dscp_mode = true;
  reopen();
  return RULE_ICE_HW_CHG_RST;
}

int SimNic::ice_del_app(const dcb_app& entry) {
  if (int err = rule_ice_delapp(ice_dcbx()); err != 0) return err;
  if (!listed(entry)) return -ENOENT;
  unlist(entry);
  if (finds_nothing_to_do && !app.empty()) return RULE_ICE_HW_CHG;
  dscp_mode = !app.empty();
  const int answer = rule_ice_deleted(&entry, dscp_mode, &ets, &pfc.pfc_en);
  if (answer == RULE_ICE_HW_CHG_RST) reopen();
  return answer;
}

// ice_dcb_sw_dflt_cfg()
void SimNic::ice_vlan_defaults() {
  rule_ice_vlan_ets(&ets);
  dscp_mode = false;
}

int SimNic::ice_set_ets(const ieee_ets& wanted) {
  if (rule_ice_refuses(ice_dcbx())) return -EINVAL;
  ieee_ets next;
  const int changed = rule_ice_ets(&ets, &wanted, dscp_mode, &next);
  if (changed < 0) return changed;
  ets = next;
  if (changed != 0) reopen();
  return RULE_ICE_HW_CHG_RST;
}

}  // namespace fabric::test
