// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of i40e (Intel X710, XL710).  Source of each rule, unless noted: Linux 6.12,
 * drivers/net/ethernet/intel/i40e/i40e_dcb_nl.c.  No DSCP: packets are classified by VLAN priority alone.
 */
#include "driver_rules.h"
#include "fabsim.h"

#define I40E_MAX_APPS	32	/* I40E_DCBX_MAX_APPS */

static void i40e_set_agent(struct fab_nic *nic, bool on)
{
	nic->fw_agent = on;
	nic->dcbx = DCB_CAP_DCBX_VER_IEEE | (on ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST);
}

static void i40e_fw_reset(struct fab_nic *nic)
{
	fab_common_reset(nic);
	nic->pause.autoneg = 1;
	memset(&nic->ets, 0, sizeof(nic->ets));
	nic->ets.ets_cap = 8;
	nic->ets.tc_tx_bw[0] = 100;
	nic->ets.tc_tsa[0] = IEEE_8021QAZ_TSA_ETS;
	nic->speed = SPEED_40000;
	i40e_set_agent(nic, nic->fw_agent);
}

static void i40e_driver_init(struct fab_nic *nic)
{
	i40e_fw_reset(nic);
	nic->n_apps = 0;
}

static bool i40e_refuses(struct fab_nic *nic)
{
	return (nic->dcbx & DCB_CAP_DCBX_LLD_MANAGED) || !(nic->dcbx & DCB_CAP_DCBX_VER_IEEE);
}

/* i40e_dcbnl_ieee_setets(): shown as it came; all goes through i40e_hw_dcb_config(), which stops and starts the VSIs. */
static int i40e_setets(struct fab_nic *nic, struct ieee_ets *ets)
{
	if (i40e_refuses(nic) || rule_i40e_ets(ets))
		return -EINVAL;
	nic->ets = *ets;
	nic->ets.ets_cap = 8;
	fab_flap(nic, fab_reopen_ms);
	return 0;
}

static int i40e_setpfc(struct fab_nic *nic, struct ieee_pfc *pfc)
{
	if (i40e_refuses(nic))
		return -EINVAL;
	nic->pfc.pfc_cap = pfc->pfc_cap ?: 8;
	nic->pfc.pfc_en = pfc->pfc_en;
	fab_flap(nic, fab_reopen_ms);
	return 0;
}

static int i40e_setapp(struct fab_nic *nic, struct dcb_app *app)
{
	int err;

	if (i40e_refuses(nic) || nic->n_apps >= I40E_MAX_APPS)
		return -EINVAL;
	err = dcb_ieee_setapp(fab_netdev(nic), app);
	if (!err)
		nic->n_apps++;
	return err;
}

static int i40e_delapp(struct fab_nic *nic, struct dcb_app *app)
{
	int err;

	if (i40e_refuses(nic))
		return -EINVAL;
	err = dcb_ieee_delapp(fab_netdev(nic), app);
	if (!err)
		nic->n_apps--;
	return err;
}

static u8 i40e_setdcbx(struct fab_nic *nic, u8 mode)
{
	if (rule_intel_refuses_dcbx(mode) || nic->fw_agent)
		return 1;
	nic->dcbx = mode;
	return 0;
}

/* i40e_ethtool.c, i40e_set_pauseparam(): autoneg is not changed here; i40e_set_fc() restarts the link. */
static int i40e_setpause(struct fab_nic *nic, const struct ethtool_pauseparam *pause)
{
	if (pause->autoneg != nic->pause.autoneg || nic->pfc.pfc_en)
		return -EOPNOTSUPP;
	nic->pause = *pause;
	fab_flap(nic, fab_flap_ms);
	return 0;
}

/* i40e_ethtool.c, i40e_set_priv_flags(): disable-fw-lldp stops or starts the agent and resets the port's DCB */
static int i40e_setprivflag(struct fab_nic *nic, bool on)
{
	if (on == !nic->fw_agent)
		return 0;
	i40e_set_agent(nic, !on);
	fab_flap(nic, fab_reopen_ms);
	return 0;
}

static int i40e_classify(struct fab_nic *nic, int dscp, int pcp)
{
	return pcp >= 0 ? pcp : 0;
}

const struct fab_personality fab_i40e = {
	.name = "i40e", .driver = "i40e", .fw_version = "9.20 0x8000d8c5 1.3353.0", .vendor = 0x8086, .device = 0x1583,
	.dcbnl = &fab_dcb_basic, .priv_flag = "disable-fw-lldp", .priv_flag_disables = true, .ring_max = 4096, .ring_default = 512,
	.ring_multiple = 32, .reopens = true, .hides_pause = true, .stats = fab_i40e_stats, .fw_reset = i40e_fw_reset, .driver_init = i40e_driver_init,
	.getets = fab_plain_getets, .setets = i40e_setets, .getpfc = fab_plain_getpfc, .setpfc = i40e_setpfc,
	.setapp = i40e_setapp, .delapp = i40e_delapp, .setdcbx = i40e_setdcbx, .setpause = i40e_setpause,
	.setprivflag = i40e_setprivflag, .classify = i40e_classify,
};
