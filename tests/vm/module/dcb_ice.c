// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of ice (Intel E810).  Source of each rule, unless noted: Linux 6.12, drivers/net/ethernet/intel/ice/ice_dcb_nl.c
 * and ice_dcb_lib.c.
 */
#include "driver_rules.h"
#include "fabsim.h"

/* ice_dcb_sw_dflt_cfg(): one traffic class. */
static void ice_vlan_defaults(struct fab_nic *nic)
{
	rule_ice_vlan_ets(&nic->ets);
	nic->dscp_mode = false;
}

static void ice_set_agent(struct fab_nic *nic, bool on)
{
	nic->fw_agent = on;
	nic->dcbx = DCB_CAP_DCBX_VER_IEEE | (on ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST);
}

static void ice_fw_reset(struct fab_nic *nic)
{
	fab_common_reset(nic);
	nic->pause.autoneg = 1;
	ice_vlan_defaults(nic);
	ice_set_agent(nic, nic->fw_agent);
}

static void ice_driver_init(struct fab_nic *nic)
{
	int i;

	ice_fw_reset(nic);
	bitmap_zero(nic->dscp_mapped, 64);
	for (i = 0; i < 64; i++)
		nic->dscp2prio[i] = i >> 3;
	nic->dscp_entries = 0;
}

static int ice_setets(struct fab_nic *nic, struct ieee_ets *ets)
{
	struct ieee_ets next;
	int changed;

	if (rule_ice_refuses(nic->dcbx))
		return -EINVAL;
	changed = rule_ice_ets(&nic->ets, ets, nic->dscp_mode, &next);
	if (changed < 0)
		return changed;
	nic->ets = next;
	if (changed)
		fab_flap(nic, fab_reopen_ms);
	return RULE_ICE_HW_CHG_RST;
}

/* ice_dcbnl_getets() shows the transmit bandwidths as receive ones, too. */
static int ice_getets(struct fab_nic *nic, struct ieee_ets *ets)
{
	*ets = nic->ets;
	memcpy(ets->tc_rx_bw, ets->tc_tx_bw, sizeof(ets->tc_rx_bw));
	memcpy(ets->tc_reco_bw, ets->tc_tx_bw, sizeof(ets->tc_reco_bw));
	memcpy(ets->tc_reco_tsa, ets->tc_tsa, sizeof(ets->tc_reco_tsa));
	memcpy(ets->reco_prio_tc, ets->prio_tc, sizeof(ets->reco_prio_tc));
	return 0;
}

static int ice_setpfc(struct fab_nic *nic, struct ieee_pfc *pfc)
{
	if (rule_ice_refuses(nic->dcbx))
		return -EINVAL;
	if (pfc->pfc_en == nic->pfc.pfc_en)
		return RULE_ICE_HW_CHG_RST;
	nic->pfc.pfc_en = pfc->pfc_en;
	fab_flap(nic, fab_reopen_ms);
	return RULE_ICE_HW_CHG_RST;
}

static int ice_setapp(struct fab_nic *nic, struct dcb_app *app)
{
	int i, err = rule_ice_setapp(app, nic->dcbx, nic->ets.ets_cap);

	if (err)
		return err;
	err = dcb_ieee_setapp(fab_netdev(nic), app);
	if (err)
		return err;
	if (test_and_set_bit(app->protocol, nic->dscp_mapped)) {
		dcb_ieee_delapp(fab_netdev(nic), app);
		return -EINVAL;
	}
	if (!nic->dscp_mode) {
		nic->dscp_mode = true;
		for (i = 0; i < 64; i++)
			nic->dscp2prio[i] = i >> 3;
		rule_ice_dscp_ets(&nic->ets, nic->ets.ets_cap);
	}
	nic->dscp2prio[app->protocol] = app->priority;
	fab_flap(nic, fab_reopen_ms);
	return RULE_ICE_HW_CHG_RST;
}

static int ice_delapp(struct fab_nic *nic, struct dcb_app *app)
{
	int answer, err = rule_ice_delapp(nic->dcbx);

	if (err)
		return err;
	err = dcb_ieee_delapp(fab_netdev(nic), app);
	if (err)
		return err;
	if (app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol < 64) {
		clear_bit(app->protocol, nic->dscp_mapped);
		nic->dscp2prio[app->protocol] = app->protocol % 8;
		nic->dscp_mode = !bitmap_empty(nic->dscp_mapped, 64);
	}
	answer = rule_ice_deleted(app, nic->dscp_mode, &nic->ets, &nic->pfc.pfc_en);
	if (answer == RULE_ICE_HW_CHG_RST)
		fab_flap(nic, fab_reopen_ms);
	return answer;
}

/* ice_dcbnl_setdcbx(): "1" also when the mode is set already or in DSCP mode. */
static u8 ice_setdcbx(struct fab_nic *nic, u8 mode)
{
	if (nic->fw_agent)
		return RULE_ICE_NO_HW_CHG;
	if (rule_intel_refuses_dcbx(mode))
		return RULE_ICE_NO_HW_CHG;
	if (mode == nic->dcbx || nic->dscp_mode)
		return RULE_ICE_NO_HW_CHG;
	nic->dcbx = mode;
	return RULE_ICE_HW_CHG_RST;
}

/* ice_ethtool.c, ice_set_pauseparam(): autoneg is not changed here; ice_set_fc() restarts the link. */
static int ice_setpause(struct fab_nic *nic, const struct ethtool_pauseparam *pause)
{
	if (pause->autoneg != nic->pause.autoneg || nic->pfc.pfc_en)
		return -EOPNOTSUPP;
	nic->pause = *pause;
	fab_flap(nic, fab_flap_ms);
	return 0;
}

/* ice_ethtool.c, ice_set_priv_flags(): fw-lldp-agent */
static int ice_setprivflag(struct fab_nic *nic, bool on)
{
	if (on == nic->fw_agent)
		return 0;
	if (on && nic->dscp_mode)
		return -EOPNOTSUPP;
	ice_set_agent(nic, on);
	return 0;
}

static int ice_classify(struct fab_nic *nic, int dscp, int pcp)
{
	if (nic->dscp_mode)
		return dscp >= 0 ? nic->dscp2prio[dscp] : 0;
	return pcp >= 0 ? pcp : 0;
}

const struct fab_personality fab_ice = {
	.name = "ice", .driver = "ice", .fw_version = "4.40 0x8001c967 1.3534.0", .vendor = 0x8086, .device = 0x1592,
	.dcbnl = &fab_dcb_basic, .priv_flag = "fw-lldp-agent", .ring_max = 8160, .ring_default = 2048, .ring_multiple = 32,
	.reopens = true, .hides_pause = true,
	.stats = fab_ice_stats, .fw_reset = ice_fw_reset, .driver_init = ice_driver_init,
	.getets = ice_getets, .setets = ice_setets, .getpfc = fab_plain_getpfc, .setpfc = ice_setpfc,
	.setapp = ice_setapp, .delapp = ice_delapp, .setdcbx = ice_setdcbx, .setpause = ice_setpause,
	.setprivflag = ice_setprivflag, .classify = ice_classify,
};
