// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of bnxt_en (Broadcom).  Source of each rule, unless noted: Linux 6.12,
 * drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c.
 */
#include "driver_rules.h"
#include "fabsim.h"

static void bnxt_fw_reset(struct fab_nic *nic)
{
	fab_common_reset(nic);
	nic->pfc.pfc_cap = RULE_BNXT_LOSSLESS;
	nic->pause.autoneg = 1;
	memset(nic->ets.prio_tc, 0, sizeof(nic->ets.prio_tc));
	rule_bnxt_first_queues(nic->queue);
	fab_bnxt_cc_reset(nic);
}

/* bnxt_dcb_free(): the driver keeps what was set only in its own memory. */
static void bnxt_driver_init(struct fab_nic *nic)
{
	bnxt_fw_reset(nic);
	bitmap_zero(nic->dscp_mapped, 64);
	memset(nic->dscp2prio, 0, sizeof(nic->dscp2prio));
	nic->dscp_entries = 0;
}

static bool bnxt_host_controlled(struct fab_nic *nic)
{
	return (nic->dcbx & DCB_CAP_DCBX_VER_IEEE) && (nic->dcbx & DCB_CAP_DCBX_HOST);
}

/* Nothing set since driver load reads as zeros while the host owns DCBX; else the firmware is asked. */
static int bnxt_getets(struct fab_nic *nic, struct ieee_ets *ets)
{
	memset(ets, 0, sizeof(*ets));
	ets->ets_cap = RULE_BNXT_CLASSES;
	if (!nic->ets_known && (nic->dcbx & DCB_CAP_DCBX_HOST))
		return 0;
	ets->cbs = nic->ets.cbs;
	memcpy(ets->tc_tx_bw, nic->ets.tc_tx_bw, sizeof(ets->tc_tx_bw));
	memcpy(ets->tc_rx_bw, nic->ets.tc_rx_bw, sizeof(ets->tc_rx_bw));
	memcpy(ets->tc_tsa, nic->ets.tc_tsa, sizeof(ets->tc_tsa));
	memcpy(ets->prio_tc, nic->ets.prio_tc, sizeof(ets->prio_tc));
	return 0;
}

/* The queues are laid out again, for which the netdev is closed and opened (bnxt_setup_mq_tc). */
static int bnxt_setets(struct fab_nic *nic, struct ieee_ets *ets)
{
	int err;

	if (!bnxt_host_controlled(nic))
		return -EINVAL;
	err = rule_bnxt_ets(ets, RULE_BNXT_CLASSES);
	if (err)
		return err;
	nic->ets = *ets;
	nic->ets_known = true;
	fab_flap(nic, fab_reopen_ms);
	return 0;
}

static int bnxt_getpfc(struct fab_nic *nic, struct ieee_pfc *pfc)
{
	if (nic->pfc_known || !(nic->dcbx & DCB_CAP_DCBX_HOST))
		return fab_plain_getpfc(nic, pfc);
	memset(pfc, 0, sizeof(*pfc));
	pfc->pfc_cap = RULE_BNXT_LOSSLESS;
	return 0;
}

/* bnxt_hwrm_queue_pfc_cfg(): needs an earlier setets; few lossless classes; delay has no effect. */
static int bnxt_setpfc(struct fab_nic *nic, struct ieee_pfc *pfc)
{
	int remapped;

	if (!bnxt_host_controlled(nic) || !nic->ets_known)
		return -EINVAL;
	remapped = rule_bnxt_pfc(nic->queue, &nic->ets, pfc->pfc_en, RULE_BNXT_CLASSES);
	if (remapped < 0)
		return remapped;
	nic->pfc.pfc_en = pfc->pfc_en;
	nic->pfc.mbc = pfc->mbc;
	nic->pfc.delay = pfc->delay;	/* the whole struct is kept and shown, without effect */
	nic->pfc_known = true;
	if (remapped)
		fab_flap(nic, fab_reopen_ms);
	return 0;
}

static bool bnxt_pauses(struct fab_nic *nic, int prio)
{
	return rule_bnxt_pauses(nic->queue, &nic->ets, nic->pfc.pfc_en, prio, RULE_BNXT_CLASSES);
}

/* The kernel's generic list first (an exact duplicate is -EEXIST), then firmware's map. */
static int bnxt_setapp(struct fab_nic *nic, struct dcb_app *app)
{
	int err;

	if (!bnxt_host_controlled(nic))
		return -EINVAL;
	if (app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol >= 64)
		return -EINVAL;
	err = dcb_ieee_setapp(fab_netdev(nic), app);
	if (!err && app->selector == IEEE_8021QAZ_APP_SEL_DSCP) {
		nic->dscp2prio[app->protocol] = app->priority & 7;
		set_bit(app->protocol, nic->dscp_mapped);
	}
	return err;
}

static int bnxt_delapp(struct fab_nic *nic, struct dcb_app *app)
{
	int err;

	if (!bnxt_host_controlled(nic))
		return -EINVAL;
	err = dcb_ieee_delapp(fab_netdev(nic), app);
	if (!err && app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol < 64)
		clear_bit(app->protocol, nic->dscp_mapped);
	return err;
}

/* bnxt_dcbnl_setdcbx(): a mode without HOST is accepted, and then every set is refused. */
static u8 bnxt_setdcbx(struct fab_nic *nic, u8 mode)
{
	if (nic->dcbx & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (rule_bnxt_refuses_dcbx(mode))
		return 1;
	nic->dcbx = mode;
	return 0;
}

/*
 * bnxt_ethtool.c, bnxt_set_pauseparam(), bnxt.c, bnxt_hwrm_set_pause(): the link restarts while flow control is negotiated, and when
 * it is no more.
 */
static int bnxt_setpause(struct fab_nic *nic, const struct ethtool_pauseparam *pause)
{
	bool restart = pause->autoneg || nic->pause.autoneg;

	if (pause->autoneg && nic->autoneg != AUTONEG_ENABLE)
		return -EINVAL;
	nic->pause = *pause;
	if (restart)
		fab_flap(nic, fab_flap_ms);
	return 0;
}

static int bnxt_classify(struct fab_nic *nic, int dscp, int pcp)
{
	if (dscp >= 0 && test_bit(dscp, nic->dscp_mapped))
		return nic->dscp2prio[dscp];
	return pcp >= 0 ? pcp : 0;
}

/* bnxt-oot: the same NIC with Broadcom's own bnxt_re, which has its congestion control in configfs. */
#define BNXT_PERSONALITY(_name, _attach)								\
	.name = _name, .attach = _attach, .driver = "bnxt_en", .fw_version = "229.0.145.0/pkg 229.1.123.0",	\
	.vendor = 0x14e4, .device = 0x1760, .dcbnl = &fab_dcb_basic, .ring_max = 8191, .ring_default = 511,	\
	.ring_multiple = 1, .reopens = true, .reasons = FAB_OWN_CABLE, .stats = fab_bnxt_stats,		\
	.fw_reset = bnxt_fw_reset, .driver_init = bnxt_driver_init,					\
	.getets = bnxt_getets, .setets = bnxt_setets, .getpfc = bnxt_getpfc, .setpfc = bnxt_setpfc,	\
	.setapp = bnxt_setapp, .delapp = bnxt_delapp, .setdcbx = bnxt_setdcbx, .setpause = bnxt_setpause,	\
	.classify = bnxt_classify, .pauses = bnxt_pauses

const struct fab_personality fab_bnxt = { BNXT_PERSONALITY("bnxt", fab_bnxt_attach) };
const struct fab_personality fab_bnxt_oot = { BNXT_PERSONALITY("bnxt-oot", fab_bnxt_oot_attach) };
