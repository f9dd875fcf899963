// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of ice (Intel E810).  Source of each rule, unless noted: Linux 6.12, drivers/net/ethernet/intel/ice/ice_dcb_nl.c
 * and ice_dcb_lib.c.
 */
#include "driver_rules.h"
#include "fabsim.h"

/* What the result byte of an accepted set may be, ice_dcb_lib.h */
#define ICE_DCB_HW_CHG_RST	0
#define ICE_DCB_NO_HW_CHG	1
#define ICE_DCB_HW_CHG		2

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

static bool ice_refuses(struct fab_nic *nic)
{
	return (nic->dcbx & DCB_CAP_DCBX_LLD_MANAGED) || !(nic->dcbx & DCB_CAP_DCBX_VER_IEEE);
}

/* ice_dcbnl_setets(): in DSCP mode the priority to class map stays as it is, silently. */
static int ice_setets(struct fab_nic *nic, struct ieee_ets *ets)
{
	struct ieee_ets want = nic->ets;
	int i, n, sum = 0;

	if (ice_refuses(nic))
		return -EINVAL;
	want.willing = ets->willing;
	want.cbs = ets->cbs;
	memcpy(want.tc_tx_bw, ets->tc_tx_bw, sizeof(want.tc_tx_bw));
	memcpy(want.tc_tsa, ets->tc_tsa, sizeof(want.tc_tsa));
	if (!nic->dscp_mode)
		memcpy(want.prio_tc, ets->prio_tc, sizeof(want.prio_tc));
	n = rule_ice_classes(&want);	/* ice_dcb_bwchk() */
	for (i = 0; i < n; i++)
		sum += want.tc_tx_bw[i];
	if (n > 1 && sum && sum != 100)
		return -EINVAL;
	if (n == 1 || !sum)
		want.tc_tx_bw[0] = 100;
	if (!memcmp(&want, &nic->ets, sizeof(want)))
		return ICE_DCB_HW_CHG_RST;
	nic->ets = want;
	fab_flap(nic, fab_reopen_ms);
	return ICE_DCB_HW_CHG_RST;
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
	if (ice_refuses(nic))
		return -EINVAL;
	if (pfc->pfc_en == nic->pfc.pfc_en)
		return ICE_DCB_HW_CHG_RST;
	nic->pfc.pfc_en = pfc->pfc_en;
	fab_flap(nic, fab_reopen_ms);
	return ICE_DCB_HW_CHG_RST;
}

/*
 * ice_dcbnl_setapp(): only DSCP; one that is mapped already is refused.  The first entry switches the port to L3 DSCP mode and
 * overwrites ETS.  The list of entries is a part of what ice_pf_dcb_cfg() compares: each entry is a change.
 */
static int ice_setapp(struct fab_nic *nic, struct dcb_app *app)
{
	int i, err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || ice_refuses(nic) || app->protocol >= 64 || app->priority >= 8)
		return -EINVAL;
	err = dcb_ieee_setapp(fab_netdev(nic), app);
	if (err)
		return err;
	if (test_and_set_bit(app->protocol, nic->dscp_mapped)) {
		dcb_ieee_delapp(fab_netdev(nic), app);
		return -EINVAL;
	}
	if (!nic->dscp_mode) {
		nic->dscp_mode = true;
		nic->ets.willing = 0;
		for (i = 0; i < 64; i++)
			nic->dscp2prio[i] = i >> 3;
		for (i = 0; i < 8; i++) {
			nic->ets.tc_tx_bw[i] = i ? 0 : 100;
			nic->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_ETS;
			nic->ets.prio_tc[i] = i;
		}
	}
	nic->dscp2prio[app->protocol] = app->priority;
	fab_flap(nic, fab_reopen_ms);
	return ICE_DCB_HW_CHG_RST;
}

/* ice_dcbnl_delapp(): the last one switches back to VLAN mode with default ETS. */
static int ice_delapp(struct fab_nic *nic, struct dcb_app *app)
{
	u8 fallback = app->protocol % 8;
	int err;

	if (nic->dcbx & DCB_CAP_DCBX_LLD_MANAGED)
		return -EINVAL;
	err = dcb_ieee_delapp(fab_netdev(nic), app);
	if (err)
		return err;
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= 64)
		return ICE_DCB_HW_CHG;
	clear_bit(app->protocol, nic->dscp_mapped);
	nic->dscp2prio[app->protocol] = fallback;
	if (bitmap_empty(nic->dscp_mapped, 64)) {
		ice_vlan_defaults(nic);
		nic->pfc.pfc_en = 0;
	}
	fab_flap(nic, fab_reopen_ms);
	return ICE_DCB_HW_CHG_RST;
}

/* ice_dcbnl_setdcbx(): "1" also when the mode is set already or in DSCP mode. */
static u8 ice_setdcbx(struct fab_nic *nic, u8 mode)
{
	if (nic->fw_agent)
		return ICE_DCB_NO_HW_CHG;
	if (rule_intel_refuses_dcbx(mode))
		return ICE_DCB_NO_HW_CHG;
	if (mode == nic->dcbx || nic->dscp_mode)
		return ICE_DCB_NO_HW_CHG;
	nic->dcbx = mode;
	return ICE_DCB_HW_CHG_RST;
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
