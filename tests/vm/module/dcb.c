// SPDX-License-Identifier: GPL-2.0
/*
 * dcbnl entry points: count, log and fault-inject, then ask the personality.  Which of them a driver offers decides what the
 * kernel answers for the rest: an attribute without its op is ignored with success (net/dcb/dcbnl.c, dcbnl_ieee_set).
 */
#include "fabsim.h"

static int fab_dcb_getets(struct net_device *nd, struct ieee_ets *ets)
{
	struct fab_nic *nic = fab_nic(nd);

	return fab_get(nic, FAB_GETETS) ?: nic->pers->getets(nic, ets);
}

static int fab_dcb_setets(struct net_device *nd, struct ieee_ets *ets)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETETS, "prio_tc=%u,%u,%u,%u,%u,%u,%u,%u tsa=%u,%u,%u,%u,%u,%u,%u,%u bw=%u,%u,%u,%u,%u,%u,%u,%u",
		      ets->prio_tc[0], ets->prio_tc[1], ets->prio_tc[2], ets->prio_tc[3], ets->prio_tc[4], ets->prio_tc[5],
		      ets->prio_tc[6], ets->prio_tc[7], ets->tc_tsa[0], ets->tc_tsa[1], ets->tc_tsa[2], ets->tc_tsa[3],
		      ets->tc_tsa[4], ets->tc_tsa[5], ets->tc_tsa[6], ets->tc_tsa[7], ets->tc_tx_bw[0], ets->tc_tx_bw[1],
		      ets->tc_tx_bw[2], ets->tc_tx_bw[3], ets->tc_tx_bw[4], ets->tc_tx_bw[5], ets->tc_tx_bw[6], ets->tc_tx_bw[7]))
		err = nic->pers->setets(nic, ets);
	return fab_end(&call, err);
}

static int fab_dcb_getpfc(struct net_device *nd, struct ieee_pfc *pfc)
{
	struct fab_nic *nic = fab_nic(nd);

	return fab_get(nic, FAB_GETPFC) ?: nic->pers->getpfc(nic, pfc);
}

static int fab_dcb_setpfc(struct net_device *nd, struct ieee_pfc *pfc)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETPFC, "pfc_en=0x%02x delay=%u", pfc->pfc_en, pfc->delay))
		err = nic->pers->setpfc(nic, pfc);
	return fab_end(&call, err);
}

static int fab_dcb_setapp(struct net_device *nd, struct dcb_app *app)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETAPP, "sel=%u proto=%u prio=%u", app->selector, app->protocol, app->priority))
		err = nic->pers->setapp(nic, app);
	return fab_end(&call, err);
}

static int fab_dcb_delapp(struct net_device *nd, struct dcb_app *app)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_DELAPP, "sel=%u proto=%u prio=%u", app->selector, app->protocol, app->priority))
		err = nic->pers->delapp(nic, app);
	return fab_end(&call, err);
}

static u8 fab_dcb_getdcbx(struct net_device *nd)
{
	struct fab_nic *nic = fab_nic(nd);

	fab_get(nic, FAB_GETDCBX);
	return nic->dcbx;
}

/* Answers 0 (accepted) or 1 (refused), not an errno. */
static u8 fab_dcb_setdcbx(struct net_device *nd, u8 mode)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int refused = 0;

	if (fab_begin(&call, nic, FAB_SETDCBX, "mode=0x%02x", mode))
		refused = nic->pers->setdcbx(nic, mode);
	if (call.err)
		call.err = 1;
	return fab_end(&call, refused);
}

static int fab_dcb_getbuffer(struct net_device *nd, struct dcbnl_buffer *buffer)
{
	struct fab_nic *nic = fab_nic(nd);

	*buffer = nic->buffer;
	return fab_get(nic, FAB_GETBUFFER);
}

static int fab_dcb_setbuffer(struct net_device *nd, struct dcbnl_buffer *b)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETBUFFER, "prio2buffer=%u,%u,%u,%u,%u,%u,%u,%u size=%u,%u,%u,%u,%u,%u,%u,%u",
		      b->prio2buffer[0], b->prio2buffer[1], b->prio2buffer[2], b->prio2buffer[3], b->prio2buffer[4],
		      b->prio2buffer[5], b->prio2buffer[6], b->prio2buffer[7], b->buffer_size[0], b->buffer_size[1],
		      b->buffer_size[2], b->buffer_size[3], b->buffer_size[4], b->buffer_size[5], b->buffer_size[6],
		      b->buffer_size[7]))
		err = nic->pers->setbuffer(nic, b);
	return fab_end(&call, err);
}

static int fab_dcb_getmaxrate(struct net_device *nd, struct ieee_maxrate *rate)
{
	struct fab_nic *nic = fab_nic(nd);

	*rate = nic->rate;
	return fab_get(nic, FAB_GETMAXRATE);
}

static int fab_dcb_setmaxrate(struct net_device *nd, struct ieee_maxrate *rate)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	u64 *r = rate->tc_maxrate;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETMAXRATE, "kbps=%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu",
		      r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]))
		err = nic->pers->setmaxrate(nic, rate);
	return fab_end(&call, err);
}

#if FAB_HAVE_APPTRUST
static int fab_dcb_settrust(struct net_device *nd, u8 *selectors, int n)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int i, err = 0;

	if (fab_begin(&call, nic, FAB_SETTRUST, "order=%*ph", n, selectors)) {
		for (i = 0; i < n; i++)
			if (selectors[i] != IEEE_8021QAZ_APP_SEL_DSCP && selectors[i] != FAB_SEL_PCP)
				err = -EOPNOTSUPP;
		if (!err) {
			nic->n_trust = min_t(int, n, ARRAY_SIZE(nic->trust));
			memcpy(nic->trust, selectors, nic->n_trust);
		}
	}
	return fab_end(&call, err);
}

static int fab_dcb_gettrust(struct net_device *nd, u8 *selectors, int *n)
{
	struct fab_nic *nic = fab_nic(nd);

	*n = nic->n_trust;
	memcpy(selectors, nic->trust, nic->n_trust);
	return fab_get(nic, FAB_GETTRUST);
}
#endif

#define FAB_DCB_BASIC							\
	.ieee_getets = fab_dcb_getets, .ieee_setets = fab_dcb_setets,	\
	.ieee_getpfc = fab_dcb_getpfc, .ieee_setpfc = fab_dcb_setpfc,	\
	.ieee_setapp = fab_dcb_setapp, .ieee_delapp = fab_dcb_delapp,	\
	.getdcbx = fab_dcb_getdcbx, .setdcbx = fab_dcb_setdcbx
#define FAB_DCB_BUFFERS								\
	.dcbnl_getbuffer = fab_dcb_getbuffer, .dcbnl_setbuffer = fab_dcb_setbuffer,	\
	.ieee_getmaxrate = fab_dcb_getmaxrate, .ieee_setmaxrate = fab_dcb_setmaxrate

const struct dcbnl_rtnl_ops fab_dcb_basic = { FAB_DCB_BASIC };
const struct dcbnl_rtnl_ops fab_dcb_buffers = { FAB_DCB_BASIC, FAB_DCB_BUFFERS };
const struct dcbnl_rtnl_ops fab_dcb_all = {
	FAB_DCB_BASIC, FAB_DCB_BUFFERS,
#if FAB_HAVE_APPTRUST
	.dcbnl_setapptrust = fab_dcb_settrust, .dcbnl_getapptrust = fab_dcb_gettrust,
#endif
};
