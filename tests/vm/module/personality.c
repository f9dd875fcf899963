// SPDX-License-Identifier: GPL-2.0
/* What all personalities share, the two without a vendor's quirks (full, nodcb), and the table of them. */
#include <linux/string.h>
#include "driver_rules.h"
#include "fabsim.h"

#define FAB_BUFFER_TOTAL	524160	/* port buffer of a 400G card, bytes */

/* Firmware defaults.  Global pause is on in both directions, as cards come from the factory. */
void fab_common_reset(struct fab_nic *nic)
{
	int i;

	memset(&nic->ets, 0, sizeof(nic->ets));
	memset(&nic->pfc, 0, sizeof(nic->pfc));
	memset(&nic->rate, 0, sizeof(nic->rate));
	memset(&nic->buffer, 0, sizeof(nic->buffer));
	for (i = 0; i < 8; i++)
		nic->ets.prio_tc[i] = i;
	nic->ets.ets_cap = 8;
	nic->pfc.pfc_cap = 8;
	nic->ets_known = false;
	nic->pfc_known = false;
	nic->buffer.total_size = FAB_BUFFER_TOTAL;
	nic->buffer.buffer_size[0] = rounddown(FAB_BUFFER_TOTAL / 2, 128);	/* mlx5's cells */
	memset(nic->lossless, 0, sizeof(nic->lossless));
	nic->pause.autoneg = 0;
	nic->pause.rx_pause = 1;
	nic->pause.tx_pause = 1;
	nic->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
	nic->dscp_mode = false;
	nic->speed = SPEED_400000;
	nic->autoneg = AUTONEG_ENABLE;
	nic->fec = ETHTOOL_FEC_AUTO;
	nic->trust[0] = FAB_SEL_PCP;
	nic->n_trust = 1;
}

/* A driver that finds everything at firmware defaults each time it is loaded. */
static void fab_plain_init(struct fab_nic *nic)
{
	nic->pers->fw_reset(nic);
	bitmap_zero(nic->dscp_mapped, 64);
	memset(nic->dscp2prio, 0, sizeof(nic->dscp2prio));
	nic->dscp_entries = 0;
}

int fab_plain_getets(struct fab_nic *nic, struct ieee_ets *ets)
{
	*ets = nic->ets;
	return 0;
}

int fab_plain_getpfc(struct fab_nic *nic, struct ieee_pfc *pfc)
{
	int i;

	*pfc = nic->pfc;
	for (i = 0; i < 8; i++) {
		pfc->requests[i] = atomic64_read(fab_stat(nic, FAB_PRIO_TX_PAUSE, i));
		pfc->indications[i] = atomic64_read(fab_stat(nic, FAB_PRIO_RX_PAUSE, i));
	}
	return 0;
}

/* full: a driver that implements every dcbnl operation plainly, as the kernel's documentation describes them. */
static int full_setets(struct fab_nic *nic, struct ieee_ets *ets)
{
	int err = rule_mlx5_ets(ets);

	if (err)
		return err;
	nic->ets = *ets;
	nic->ets.ets_cap = 8;
	return 0;
}

static int full_setpfc(struct fab_nic *nic, struct ieee_pfc *pfc)
{
	nic->pfc.pfc_en = pfc->pfc_en;
	nic->pfc.mbc = pfc->mbc;
	nic->pfc.delay = pfc->delay;
	return 0;
}

static int full_setapp(struct fab_nic *nic, struct dcb_app *app)
{
	int err;

	if (app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol >= 64)
		return -EINVAL;
	err = dcb_ieee_setapp(fab_netdev(nic), app);
	if (!err && app->selector == IEEE_8021QAZ_APP_SEL_DSCP) {
		nic->dscp2prio[app->protocol] = app->priority;
		set_bit(app->protocol, nic->dscp_mapped);
	}
	return err;
}

static int full_delapp(struct fab_nic *nic, struct dcb_app *app)
{
	int err = dcb_ieee_delapp(fab_netdev(nic), app);

	if (!err && app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol < 64)
		clear_bit(app->protocol, nic->dscp_mapped);
	return err;
}

static u8 full_setdcbx(struct fab_nic *nic, u8 mode)
{
	if (rule_plain_refuses_dcbx(mode))
		return 1;
	nic->dcbx = mode;
	return 0;
}

static int full_setbuffer(struct fab_nic *nic, struct dcbnl_buffer *buffer)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < 8; i++)
		sum += buffer->buffer_size[i];
	if (sum > nic->buffer.total_size)
		return -EINVAL;
	memcpy(nic->buffer.prio2buffer, buffer->prio2buffer, sizeof(buffer->prio2buffer));
	memcpy(nic->buffer.buffer_size, buffer->buffer_size, sizeof(buffer->buffer_size));
	return 0;
}

static int full_setmaxrate(struct fab_nic *nic, struct ieee_maxrate *rate)
{
	nic->rate = *rate;
	return 0;
}

static int plain_setpause(struct fab_nic *nic, const struct ethtool_pauseparam *pause)
{
	nic->pause = *pause;
	return 0;
}

static int full_classify(struct fab_nic *nic, int dscp, int pcp)
{
	int i;

	if (!FAB_HAVE_APPTRUST && dscp >= 0 && test_bit(dscp, nic->dscp_mapped))
		return nic->dscp2prio[dscp];
	for (i = 0; i < nic->n_trust; i++) {
		if (nic->trust[i] == FAB_SEL_PCP && pcp >= 0)
			return pcp;
		if (nic->trust[i] == IEEE_8021QAZ_APP_SEL_DSCP && dscp >= 0 && test_bit(dscp, nic->dscp_mapped))
			return nic->dscp2prio[dscp];
	}
	return 0;
}

const struct fab_personality fab_full = {
	.name = "full", .driver = "fabsim", .fw_version = "1.0", .vendor = 0x1055, .device = 0x9660,
	.dcbnl = &fab_dcb_all, .ring_max = 8192, .ring_default = 1024, .reasons = FAB_BOTH_ENDS,
	.stats = fab_mlx5_stats,
	.fw_reset = fab_common_reset, .driver_init = fab_plain_init,
	.getets = fab_plain_getets, .setets = full_setets, .getpfc = fab_plain_getpfc, .setpfc = full_setpfc,
	.setapp = full_setapp, .delapp = full_delapp, .setdcbx = full_setdcbx, .setbuffer = full_setbuffer,
	.setmaxrate = full_setmaxrate, .setpause = plain_setpause, .classify = full_classify,
};

/* nodcb: AMD Pensando's ionic has no dcbnl operations in any kernel; QoS is the vendor tool's. */
static int nodcb_classify(struct fab_nic *nic, int dscp, int pcp)
{
	return pcp >= 0 ? pcp : 0;
}

const struct fab_personality fab_nodcb = {
	.name = "nodcb", .driver = "ionic", .fw_version = "1.75.0-2", .vendor = 0x1dd8, .device = 0x1002,
	.ring_max = 16384, .ring_default = 4096,
	.stats = fab_ionic_stats,
	.fw_reset = fab_common_reset, .driver_init = fab_plain_init,
	.setpause = plain_setpause, .classify = nodcb_classify,
};

const struct fab_personality * const fab_personalities[] = {
	&fab_mlx5, &fab_ofed, &fab_bnxt, &fab_bnxt_oot, &fab_ice, &fab_i40e, &fab_nodcb, &fab_full, NULL
};

const struct fab_personality *fab_personality_by_name(const char *name)
{
	int i;

	for (i = 0; fab_personalities[i]; i++)
		if (!strcmp(fab_personalities[i]->name, name))
			return fab_personalities[i];
	return NULL;
}
