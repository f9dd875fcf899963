// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of ice (Intel E810).  Source of each rule, unless noted: Linux 6.12, drivers/net/ethernet/intel/ice/ice_dcb_nl.c
 * and ice_dcb_lib.c.
 */
#include "driver_rules.h"
#include "fabsim.h"

/* ice_qos_cfg of each card; what its `local` has is also in struct fab_nic */
static struct rule_ice ice_cfg[FAB_MAX_NICS];

static void ice_show(struct fab_nic *nic)
{
	const struct rule_ice_cfg *now = &ice_cfg[nic->index].local;

	nic->ets = now->ets;
	nic->pfc.pfc_en = now->pfc_en;
	nic->dscp_mode = now->dscp_mode;
	memcpy(nic->dscp2prio, now->dscp_map, sizeof(nic->dscp2prio));
}

static void ice_defaults(struct fab_nic *nic)
{
	rule_ice_defaults(&ice_cfg[nic->index]);
	ice_show(nic);
}

/* ice_pf_dcb_cfg(); the firmware takes everything. */
static int ice_commit(struct fab_nic *nic)
{
	struct rule_ice *ice = &ice_cfg[nic->index];
	int answer = rule_ice_check(ice);

	if (answer)
		return answer;
	rule_ice_take(ice);
	ice_show(nic);
	fab_flap(nic, fab_reopen_ms);
	return RULE_ICE_HW_CHG_RST;
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
	ice_defaults(nic);
	ice_set_agent(nic, nic->fw_agent);
}

static void ice_driver_init(struct fab_nic *nic)
{
	memset(&ice_cfg[nic->index].desired, 0, sizeof(ice_cfg[nic->index].desired));
	ice_fw_reset(nic);
}

static int ice_setets(struct fab_nic *nic, struct ieee_ets *ets)
{
	int answer;

	if (rule_ice_refuses(nic->dcbx) || rule_ice_setets(&ice_cfg[nic->index], ets))
		return -EINVAL;
	answer = ice_commit(nic);
	return answer == RULE_ICE_NO_HW_CHG ? RULE_ICE_HW_CHG_RST : answer;
}

/* ice_dcbnl_getets() shows the transmit bandwidths as receive ones, too. */
static int ice_getets(struct fab_nic *nic, struct ieee_ets *ets)
{
	*ets = nic->ets;
	memcpy(ets->tc_rx_bw, ets->tc_tx_bw, sizeof(ets->tc_rx_bw));
	return 0;
}

static int ice_setpfc(struct fab_nic *nic, struct ieee_pfc *pfc)
{
	int answer;

	if (rule_ice_refuses(nic->dcbx))
		return -EINVAL;
	ice_cfg[nic->index].desired.pfc_en = pfc->pfc_en;
	answer = ice_commit(nic);
	return answer == RULE_ICE_NO_HW_CHG ? RULE_ICE_HW_CHG_RST : answer;
}

static int ice_setapp(struct fab_nic *nic, struct dcb_app *app)
{
	int err = rule_ice_setapp(app, nic->dcbx);

	if (err)
		return err;
	err = dcb_ieee_setapp(fab_netdev(nic), app);
	if (err)
		return err;
	err = rule_ice_map(&ice_cfg[nic->index], app);
	if (err) {
		dcb_ieee_delapp(fab_netdev(nic), app);
		return err;
	}
	return ice_commit(nic) ? RULE_ICE_NO_HW_CHG : RULE_ICE_HW_CHG_RST;
}

static int ice_delapp(struct fab_nic *nic, struct dcb_app *app)
{
	int answer, err = rule_ice_delapp(nic->dcbx);

	if (err)
		return err;
	err = dcb_ieee_delapp(fab_netdev(nic), app);
	if (err)
		return err;
	answer = rule_ice_unmap(&ice_cfg[nic->index], app);
	if (answer < 0)
		return answer;
	if (answer == RULE_ICE_HW_CHG) {
		ice_defaults(nic);
		fab_flap(nic, fab_reopen_ms);
		return RULE_ICE_HW_CHG_RST;
	}
	answer = ice_commit(nic);
	return answer == RULE_ICE_NO_HW_CHG ? RULE_ICE_HW_CHG : answer;
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

/* ice_ethtool.c, ice_set_priv_flags(): fw-lldp-agent.  Without it ice_init_pf_dcb() starts from the defaults. */
static int ice_setprivflag(struct fab_nic *nic, bool on)
{
	if (on == nic->fw_agent)
		return 0;
	if (on && nic->dscp_mode)
		return -EOPNOTSUPP;
	ice_set_agent(nic, on);
	if (!on)
		ice_defaults(nic);
	fab_flap(nic, fab_reopen_ms);
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
