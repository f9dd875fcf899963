// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of mlx5 (ConnectX).  Source of each rule, unless noted: Linux 6.12,
 * drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c; 6.1 is the same where it matters here.  Personality "ofed" is the same NIC
 * with NVIDIA's own driver (OFED, DOCA): sysfs files instead of nothing for ECN, and what is said at ofed_setmaxrate() and mlx5_set_trust().
 */
#include "driver_rules.h"
#include "fabsim.h"

#define MLX5_DEFAULT_CABLE	7	/* meters, MLX5E_DEFAULT_CABLE_LEN */
#define MLX5_MAX_CABLE		1000	/* MLX5E_MAX_CABLE_LENGTH */
#define MLX5_CELL		128	/* bytes; en/port_buffer.h MLX5E_BUFFER_CELL_SHIFT */

static void mlx5_fw_reset(struct fab_nic *nic)
{
	int i;

	fab_common_reset(nic);
	nic->dcbx |= DCB_CAP_DCBX_VER_CEE;
	nic->pfc.delay = MLX5_DEFAULT_CABLE;
	for (i = 0; i < 8; i++) {
		nic->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		nic->ets.tc_tx_bw[i] = 100;
	}
	nic->ets.prio_tc[0] = 1;
	nic->ets.prio_tc[1] = 0;
	fab_mlx5_cc_reset(nic);
}

/*
 * mlx5e_dcbnl_initialize(), mlx5e_ets_init(): whenever the driver starts, ETS and cable length are reset; PFC bits, trust with
 * the DSCP map, global pause, buffers and rates are in firmware and stay.  Congestion control starts from NV configuration.
 */
static void mlx5_driver_init(struct fab_nic *nic)
{
	int i;

	nic->dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE | (nic->dcbx & DCB_CAP_DCBX_HOST);
	nic->pfc.delay = MLX5_DEFAULT_CABLE;
	nic->manual_buffers = false;
	nic->last_xoff = 0;
	for (i = 0; i < 8; i++) {
		nic->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		nic->ets.tc_tx_bw[i] = 100;
		nic->ets.prio_tc[i] = i;
	}
	nic->ets.prio_tc[0] = 1;
	nic->ets.prio_tc[1] = 0;
	nic->dscp_entries = 0;
	fab_mlx5_cc_reset(nic);
	if (!nic->dscp_mode)
		for (i = 0; i < 64; i++)
			nic->dscp2prio[i] = i >> 3;
}

/* mlx5e_dcbnl_init_app(): a driver that finds firmware in DSCP trust shows its whole map as 64 APP entries. */
static void mlx5_registered(struct fab_nic *nic)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };
	int i;

	if (!nic->dscp_mode)
		return;
	for (i = 0; i < 64; i++) {
		app.protocol = i;
		app.priority = nic->dscp2prio[i];
		dcb_ieee_setapp(fab_netdev(nic), &app);
	}
	nic->dscp_entries = 64;
}

static int mlx5_getets(struct fab_nic *nic, struct ieee_ets *ets)
{
	struct ieee_ets set = { .ets_cap = 8 };

	memcpy(set.prio_tc, nic->ets.prio_tc, sizeof(set.prio_tc));
	memcpy(set.tc_tsa, nic->ets.tc_tsa, sizeof(set.tc_tsa));
	memcpy(set.tc_tx_bw, nic->ets.tc_tx_bw, sizeof(set.tc_tx_bw));
	rule_mlx5_shown_ets(&set, ets);
	return 0;
}

static int mlx5_setets(struct fab_nic *nic, struct ieee_ets *ets)
{
	int err = rule_mlx5_ets(ets);

	if (err)
		return err;
	memcpy(nic->ets.prio_tc, ets->prio_tc, sizeof(ets->prio_tc));
	memcpy(nic->ets.tc_tsa, ets->tc_tsa, sizeof(ets->tc_tsa));
	memcpy(nic->ets.tc_tx_bw, ets->tc_tx_bw, sizeof(ets->tc_tx_bw));
	return 0;
}

/* mlx5e_port_manual_buffer_config() */
static int mlx5_config_buffers(struct fab_nic *nic, unsigned int change, const struct dcbnl_buffer *want)
{
	struct net_device *nd = fab_netdev(nic);
	struct rule_mlx5_buffers b = { .total = nic->buffer.total_size, .cell = MLX5_CELL };
	int err;

	b.max_mtu = nd->max_mtu;
	b.xoff = rule_mlx5_xoff(nic->pfc.delay, netif_carrier_ok(nd) ? nic->speed : 0, nd->mtu);
	b.last_xoff = nic->last_xoff;
	memcpy(b.size, nic->buffer.buffer_size, sizeof(b.size));
	memcpy(b.prio2buffer, nic->buffer.prio2buffer, sizeof(b.prio2buffer));
	memcpy(b.lossless, nic->lossless, sizeof(b.lossless));
	err = rule_mlx5_config_buffers(&b, change, nic->pfc.pfc_en, nic->pause.rx_pause || nic->pause.tx_pause,
				       want ? want->prio2buffer : NULL, want ? want->buffer_size : NULL);
	if (err)
		return err;
	memcpy(nic->buffer.buffer_size, b.size, sizeof(b.size));
	memcpy(nic->buffer.prio2buffer, b.prio2buffer, sizeof(b.prio2buffer));
	memcpy(nic->lossless, b.lossless, sizeof(b.lossless));
	nic->last_xoff = b.last_xoff;
	return 0;
}

/*
 * mlx5e_dcbnl_ieee_setpfc(): a change of the bits toggles the link; delay is the cable's length in meters, 0 and 1000 or more are
 * ignored.  Buffers are checked only when the host owns them, after the bits have been written: at ENOMEM PFC is on and its buffer
 * stays lossy.  The bits end global pause (mlx5_set_port_pfc()).
 */
static int mlx5_setpfc(struct fab_nic *nic, struct ieee_pfc *pfc)
{
	u16 old_cable = nic->pfc.delay;
	unsigned int change = 0;
	int err = 0;

	if (pfc->pfc_en != nic->pfc.pfc_en) {
		nic->pfc.pfc_en = pfc->pfc_en;
		nic->pause.rx_pause = 0;
		nic->pause.tx_pause = 0;
		fab_flap(nic, fab_flap_ms);
		change |= RULE_MLX5_PFC;
	}
	if (pfc->delay && pfc->delay < MLX5_MAX_CABLE && pfc->delay != nic->pfc.delay) {
		nic->pfc.delay = pfc->delay;
		change |= RULE_MLX5_CABLE;
	}
	if (nic->manual_buffers)
		err = mlx5_config_buffers(nic, change, NULL);
	if (err)
		nic->pfc.delay = old_cable;
	return err;
}

/* mlx5e_dcbnl_setbuffer(): nothing changed is success, and does not make the host the owner. */
static int mlx5_setbuffer(struct fab_nic *nic, struct dcbnl_buffer *buffer)
{
	unsigned int change = rule_mlx5_buffer_change(&nic->buffer, buffer);

	if (!change)
		return 0;
	nic->manual_buffers = true;
	return mlx5_config_buffers(nic, change, buffer);
}

/*
 * mlx5e_set_trust_state().  OFED 25.10 sets the number of classes, too (mlx5e_setup_tc_mqprio()): the channels of the netdev are
 * closed and opened, without a carrier in between.
 */
static void mlx5_set_trust(struct fab_nic *nic, bool dscp)
{
	if (nic->dscp_mode != dscp && nic->pers->reopens_for_trust)
		fab_flap(nic, 1);
	nic->dscp_mode = dscp;
}

/*
 * mlx5e_dcbnl_ieee_setapp(): only DSCP; replaces the priority of a DSCP that is there; the first entry switches the port to DSCP
 * trust, the last deletion back to PCP.  There is no other trust knob.
 */
static int mlx5_setapp(struct fab_nic *nic, struct dcb_app *app)
{
	struct dcb_app old = { .selector = IEEE_8021QAZ_APP_SEL_DSCP, .protocol = app->protocol };
	bool is_new;
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= 64 || app->priority >= 8)
		return -EINVAL;
	old.priority = nic->dscp2prio[app->protocol];
	mlx5_set_trust(nic, true);
	nic->dscp2prio[app->protocol] = app->priority;
	is_new = dcb_ieee_delapp(fab_netdev(nic), &old);
	err = dcb_ieee_setapp(fab_netdev(nic), app);
	if (!err && is_new)
		nic->dscp_entries++;
	return err;
}

/* mlx5e_dcbnl_ieee_delapp(): a deleted DSCP maps to priority 0. */
static int mlx5_delapp(struct fab_nic *nic, struct dcb_app *app)
{
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= 64)
		return -EINVAL;
	if (!nic->dscp_entries || app->priority != nic->dscp2prio[app->protocol])
		return -ENOENT;
	err = dcb_ieee_delapp(fab_netdev(nic), app);
	if (err)
		return err;
	nic->dscp2prio[app->protocol] = 0;
	if (!--nic->dscp_entries)
		mlx5_set_trust(nic, false);
	return 0;
}

/* mlx5e_dcbnl_setdcbx() */
static u8 mlx5_setdcbx(struct fab_nic *nic, u8 mode)
{
	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (!mode) {
		nic->dcbx &= ~DCB_CAP_DCBX_HOST;
		return 0;
	}
	if (!(mode & DCB_CAP_DCBX_HOST))
		return 1;
	nic->dcbx = mode;
	return 0;
}

/* mlx5e_dcbnl_ieee_setmaxrate() */
static int mlx5_setmaxrate(struct fab_nic *nic, struct ieee_maxrate *rate)
{
	int i;

	for (i = 0; i < 8; i++)
		if (rate->tc_maxrate[i] > RULE_MLX5_MAX_RATE)
			return -EINVAL;
	for (i = 0; i < 8; i++)
		nic->rate.tc_maxrate[i] = rule_mlx5_rate(rate->tc_maxrate[i], false);
	return 0;
}

/* OFED 25.10, as Linux 5.10 */
static int ofed_setmaxrate(struct fab_nic *nic, struct ieee_maxrate *rate)
{
	int i;

	for (i = 0; i < 8; i++)
		nic->rate.tc_maxrate[i] = rule_mlx5_rate(rate->tc_maxrate[i], true);
	return 0;
}

/* mlx5e_set_fecparam(): one mode, and one that the port has (here: all but LLRS); the link is toggled. */
static int mlx5_setfec(struct fab_nic *nic, u32 fec)
{
	if (hweight32(fec) > 1 || (fec & ~(ETHTOOL_FEC_AUTO | ETHTOOL_FEC_OFF | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER)))
		return -EOPNOTSUPP;
	nic->fec = fec;
	fab_flap(nic, fab_flap_ms);
	return 0;
}

/* mlx5e_ethtool_set_pauseparam() */
static int mlx5_setpause(struct fab_nic *nic, const struct ethtool_pauseparam *pause)
{
	if (pause->autoneg)
		return -EINVAL;
	nic->pause = *pause;
	return 0;
}

static int mlx5_classify(struct fab_nic *nic, int dscp, int pcp)
{
	if (nic->dscp_mode)
		return dscp >= 0 ? nic->dscp2prio[dscp] : 0;
	return pcp >= 0 ? pcp : 0;
}

/* Without manual buffers firmware gives each priority with PFC a lossless one. */
static bool mlx5_pauses(struct fab_nic *nic, int prio)
{
	if (!(nic->pfc.pfc_en >> prio & 1))
		return false;
	return !nic->manual_buffers || nic->lossless[nic->buffer.prio2buffer[prio] & 7];
}

#define MLX5_PERSONALITY(_name, _attach, _setmaxrate)							\
	.name = _name, .attach = _attach, .setmaxrate = _setmaxrate,					\
	.driver = "mlx5_core", .fw_version = "28.39.1002 (MT_0000000838)", .vendor = 0x15b3, .device = 0x1021,	\
	.dcbnl = &fab_dcb_buffers, .ring_max = 8192, .ring_default = 1024, .pfc_watchdog = 8000, .optional_counters = true,	\
	.vnic = true, .reasons = FAB_BOTH_ENDS,								\
	.stats = fab_mlx5_stats, .fw_reset = mlx5_fw_reset, .driver_init = mlx5_driver_init, .registered = mlx5_registered,	\
	.getets = mlx5_getets, .setets = mlx5_setets, .getpfc = fab_plain_getpfc, .setpfc = mlx5_setpfc,	\
	.setapp = mlx5_setapp, .delapp = mlx5_delapp, .setdcbx = mlx5_setdcbx, .setbuffer = mlx5_setbuffer,	\
	.setpause = mlx5_setpause, .setfec = mlx5_setfec, .classify = mlx5_classify,	\
	.pauses = mlx5_pauses

const struct fab_personality fab_mlx5 = { MLX5_PERSONALITY("mlx5", fab_mlx5_attach, mlx5_setmaxrate) };
const struct fab_personality fab_ofed = { MLX5_PERSONALITY("ofed", fab_ofed_attach, ofed_setmaxrate), .tclass = true,
					   .reopens_for_trust = true };
