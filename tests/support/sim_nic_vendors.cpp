// SPDX-License-Identifier: Apache-2.0
// The firmware behind drivers of Linux 6.12: bnxt/bnxt_dcb.c, ice/ice_ethtool.c, i40e/i40e_ethtool.c, qed/qed_dcbx.c;
// and ice, with the rules of driver_rules.h.
#include <algorithm>

#include "support/sim_nic_sockets.h"

namespace fabric::test {
namespace {

bool same(const dcb_app& a, const dcb_app& b) {
  return a.selector == b.selector && a.protocol == b.protocol && a.priority == b.priority;
}

}  // namespace

int SimNic::firmware_app() {
  int verdict = 0;
  begin(*this, "fwapp", verdict);
  return verdict;
}

// bnxt_dcbnl_ieee_setpfc(): the driver keeps the whole struct, and uses pfc_en alone. Firmware gets it after the
// classes were given other queues.
int SimNic::bnxt_set_pfc(const ieee_pfc& wanted) {
  if (!host_controlled() || !ets_known) return -EINVAL;
  const int remapped = rule_bnxt_pfc(tc_to_qidx.data(), &ets, wanted.pfc_en, traffic_classes);
  if (remapped < 0) return remapped;
  if (remapped != 0) reopen();
  int verdict = 0;
  begin(*this, "fwpfc", verdict);
  if (verdict != 0) return verdict;
  pfc.pfc_en = wanted.pfc_en;
  pfc.delay = wanted.delay;
  pfc_known = true;
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
// defaults, and i40e gives them to the NIC alone (i40e_dcb_sw_default_config() of firmware that wants no LLDP MIB).
int SimNic::set_agent(bool runs) {
  if (runs && dscp_mode) return -EOPNOTSUPP;
  firmware_agent = runs;
  if (runs) return 0;
  dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
  if (personality == Personality::i40e) shows_agents_dcb = true, reopen();
  if (personality != Personality::ice) return 0;
  ice_note_changes();
  rule_ice_defaults(&ice);
  ice_show();
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

// The driver is loaded.
void SimNic::ice_load() {
  ice = {};
  rule_ice_defaults(&ice);
  ice_show();
}

// Tests change what the NIC shows. That stands for another program's requests, which went through the driver.
void SimNic::ice_note_changes() {
  rule_ice_cfg now = ice.local;
  now.ets = ets;
  rule_ice_recommend(&now.ets);
  now.pfc_en = pfc.pfc_en;
  now.dscp_mode = dscp_mode;
  if (!std::ranges::equal(app, ice_app_, same)) {
    now.mapped = 0;
    for (const dcb_app& entry : app) {
      if (entry.selector != IEEE_8021QAZ_APP_SEL_DSCP || entry.protocol >= 64) continue;
      now.mapped |= 1ULL << entry.protocol;
      now.dscp_map[entry.protocol] = entry.priority;
    }
  }
  if (rule_ice_differs(&ice.local, &now)) ice.local = ice.desired = now;
}

void SimNic::ice_show() {
  ets = ice.local.ets;
  pfc.pfc_en = ice.local.pfc_en;
  dscp_mode = ice.local.dscp_mode;
  ice_app_ = app;
}

// ice_set_dcb_cfg()
int SimNic::ice_firmware() {
  int verdict = 0;
  begin(*this, "fwdcb", verdict);
  reopen();
  return verdict;
}

// ice_pf_dcb_cfg()
int SimNic::ice_commit() {
  int answer = rule_ice_check(&ice);
  if (answer == 0) answer = ice_firmware();
  if (answer == 0) rule_ice_take(&ice);
  ice_show();
  return answer;
}

int SimNic::ice_set_app(const dcb_app& entry) {
  if (int err = rule_ice_setapp(&entry, ice_dcbx()); err != 0) return err;
  if (listed(entry)) return -EEXIST;
  ice_note_changes();
  if (int err = rule_ice_map(&ice, &entry); err != 0) return err;
  app.push_back(entry);
  return ice_commit() == 0 ? RULE_ICE_HW_CHG_RST : RULE_ICE_NO_HW_CHG;
}

int SimNic::ice_del_app(const dcb_app& entry) {
  if (int err = rule_ice_delapp(ice_dcbx()); err != 0) return err;
  if (!listed(entry)) return -ENOENT;
  ice_note_changes();
  unlist(entry);
  int answer = rule_ice_unmap(&ice, &entry);
  if (answer == RULE_ICE_HW_CHG) {
    ice.local = {};
    answer = ice_firmware();
    if (answer == 0) rule_ice_defaults(&ice);
  } else if (answer == 0 && finds_nothing_to_do) {
    rule_ice_take(&ice);
    answer = RULE_ICE_HW_CHG;
  } else if (answer == 0) {
    answer = ice_commit();
    if (answer == RULE_ICE_NO_HW_CHG) answer = RULE_ICE_HW_CHG;
  }
  ice_show();
  return answer;
}

int SimNic::ice_set_ets(const ieee_ets& wanted) {
  if (rule_ice_refuses(ice_dcbx())) return -EINVAL;
  ice_note_changes();
  if (int err = rule_ice_setets(&ice, &wanted); err != 0) return err;
  const int answer = ice_commit();
  return answer == RULE_ICE_NO_HW_CHG ? RULE_ICE_HW_CHG_RST : answer;
}

int SimNic::ice_set_pfc(const ieee_pfc& wanted) {
  if (rule_ice_refuses(ice_dcbx())) return -EINVAL;
  ice_note_changes();
  ice.desired.pfc_en = wanted.pfc_en;
  const int answer = ice_commit();
  return answer == RULE_ICE_NO_HW_CHG ? RULE_ICE_HW_CHG_RST : answer;
}

}  // namespace fabric::test
