// SPDX-License-Identifier: GPL-2.0
/* ethtool operations.  What differs between vendors is asked of the personality. */
#include <linux/rtnetlink.h>
#include "fabsim.h"

static void fab_get_drvinfo(struct net_device *nd, struct ethtool_drvinfo *info)
{
	struct fab_nic *nic = fab_nic(nd);

	strscpy(info->driver, nic->pers->driver, sizeof(info->driver));
	strscpy(info->fw_version, nic->pers->fw_version, sizeof(info->fw_version));
	strscpy(info->bus_info, pci_name(nic->pdev), sizeof(info->bus_info));
}

static void fab_get_pauseparam(struct net_device *nd, struct ethtool_pauseparam *pause)
{
	struct fab_nic *nic = fab_nic(nd);

	fab_get(nic, FAB_GETPAUSE);
	pause->autoneg = nic->pause.autoneg;
	if (nic->pers->hides_pause && nic->pfc.pfc_en)
		return;
	pause->rx_pause = nic->pause.rx_pause;
	pause->tx_pause = nic->pause.tx_pause;
}

static int fab_set_pauseparam(struct net_device *nd, struct ethtool_pauseparam *pause)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETPAUSE, "rx=%u tx=%u autoneg=%u", pause->rx_pause, pause->tx_pause, pause->autoneg))
		err = nic->pers->setpause(nic, pause);
	return fab_end(&call, err);
}

static void fab_get_pause_stats(struct net_device *nd, struct ethtool_pause_stats *stats)
{
	struct fab_nic *nic = fab_nic(nd);

	stats->tx_pause_frames = atomic64_read(fab_stat(nic, FAB_TX_PAUSE, 0));
	stats->rx_pause_frames = atomic64_read(fab_stat(nic, FAB_RX_PAUSE, 0));
}

static void fab_get_ringparam(struct net_device *nd, struct ethtool_ringparam *ring, struct kernel_ethtool_ringparam *kernel_ring,
			      struct netlink_ext_ack *extack)
{
	struct fab_nic *nic = fab_nic(nd);

	fab_get(nic, FAB_GETRING);
	ring->rx_max_pending = nic->pers->ring_max;
	ring->tx_max_pending = nic->pers->ring_max;
	ring->rx_pending = nic->rx_ring;
	ring->tx_pending = nic->tx_ring;
}

static u32 fab_round_ring(struct fab_nic *nic, u32 n)
{
	return nic->pers->ring_multiple ? roundup(n, nic->pers->ring_multiple) : roundup_pow_of_two(n);
}

static int fab_set_ringparam(struct net_device *nd, struct ethtool_ringparam *ring, struct kernel_ethtool_ringparam *kernel_ring,
			     struct netlink_ext_ack *extack)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETRING, "rx=%u tx=%u", ring->rx_pending, ring->tx_pending)) {
		if (ring->rx_mini_pending || ring->rx_jumbo_pending || ring->rx_pending < 64 || ring->tx_pending < 64) {
			err = -EINVAL;
		} else {
			nic->rx_ring = fab_round_ring(nic, ring->rx_pending);
			nic->tx_ring = fab_round_ring(nic, ring->tx_pending);
			if (nic->pers->reopens)
				fab_flap(nic, fab_reopen_ms);
		}
	}
	return fab_end(&call, err);
}

static void fab_get_channels(struct net_device *nd, struct ethtool_channels *channels)
{
	fab_get(fab_nic(nd), FAB_GETCHANNELS);
	channels->max_combined = FAB_QUEUES;
	channels->combined_count = fab_nic(nd)->channels;
}

/* More than the maximum, and none at all, is refused by the kernel (net/ethtool/channels.c). */
static int fab_set_channels(struct net_device *nd, struct ethtool_channels *channels)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETCHANNELS, "combined=%u", channels->combined_count)) {
		err = netif_set_real_num_queues(nd, channels->combined_count, channels->combined_count);
		if (!err)
			nic->channels = channels->combined_count;
		if (!err && nic->pers->reopens)
			fab_flap(nic, fab_reopen_ms);
	}
	return fab_end(&call, err);
}

/* The PFC watchdog: mlx5e_get_pfc_prevention_tout(), mlx5e_set_pfc_prevention_tout(). */
static int fab_get_tunable(struct net_device *nd, const struct ethtool_tunable *tunable, void *data)
{
	if (tunable->id != ETHTOOL_PFC_PREVENTION_TOUT || !fab_nic(nd)->pers->pfc_watchdog)
		return -EOPNOTSUPP;
	*(u16 *)data = fab_nic(nd)->pfc_watchdog;
	return 0;
}

static int fab_set_tunable(struct net_device *nd, const struct ethtool_tunable *tunable, const void *data)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	u16 wanted = *(const u16 *)data;
	int err = 0;

	if (tunable->id != ETHTOOL_PFC_PREVENTION_TOUT || !nic->pers->pfc_watchdog)
		return -EOPNOTSUPP;
	if (wanted == PFC_STORM_PREVENTION_AUTO)
		wanted = 100;
	if (fab_begin(&call, nic, FAB_SETTUNABLE, "pfc-prevention-tout=%u", wanted)) {
		if (wanted != PFC_STORM_PREVENTION_DISABLE && (wanted < 80 || wanted > 8000))
			err = -EINVAL;
		else
			nic->pfc_watchdog = wanted;
	}
	return fab_end(&call, err);
}

static int fab_get_link_ksettings(struct net_device *nd, struct ethtool_link_ksettings *k)
{
	struct fab_nic *nic = fab_nic(nd);
	bool up = netif_carrier_ok(nd);

	ethtool_link_ksettings_zero_link_mode(k, supported);
	ethtool_link_ksettings_zero_link_mode(k, advertising);
	ethtool_link_ksettings_add_link_mode(k, supported, 100000baseDR_Full);
	ethtool_link_ksettings_add_link_mode(k, supported, 200000baseDR4_Full);
	ethtool_link_ksettings_add_link_mode(k, supported, 400000baseDR4_Full);
	ethtool_link_ksettings_add_link_mode(k, supported, FIBRE);
	ethtool_link_ksettings_add_link_mode(k, supported, Autoneg);
	ethtool_link_ksettings_add_link_mode(k, supported, Pause);
	ethtool_link_ksettings_add_link_mode(k, supported, FEC_RS);
	ethtool_link_ksettings_add_link_mode(k, advertising, 400000baseDR4_Full);
	ethtool_link_ksettings_add_link_mode(k, advertising, FEC_RS);
	k->base.speed = up ? nic->speed : SPEED_UNKNOWN;
	k->base.duplex = up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	k->base.port = PORT_FIBRE;
	k->base.autoneg = nic->autoneg;
	k->lanes = 4;
	return 0;
}

/* mlx5e_ethtool_set_link_ksettings() toggles the port's link on a change; the others retrain likewise. */
static int fab_set_link_ksettings(struct net_device *nd, const struct ethtool_link_ksettings *k)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;

	if (fab_begin(&call, nic, FAB_SETLINK, "speed=%d autoneg=%u", (int)k->base.speed, k->base.autoneg)) {
		if (k->base.speed != SPEED_UNKNOWN && k->base.speed)
			nic->speed = k->base.speed;
		nic->autoneg = k->base.autoneg;
		fab_flap(nic, fab_flap_ms);
	}
	return fab_end(&call, 0);
}

/*
 * Why there is no link: this end's cable is out, or the other end is dark.  mlx5e_get_link_ext_state(); bnxt_get_link_ext_state() of
 * Linux 7.0, whose firmware knows nothing of the other end without a signal from there; the others have no such operation.
 */
static int fab_get_link_ext_state(struct net_device *nd, struct ethtool_link_ext_state_info *info)
{
	enum fab_reasons reasons = fab_nic(nd)->pers->reasons;

	if (reasons == FAB_NO_REASON)
		return -EOPNOTSUPP;
	if (netif_carrier_ok(nd))
		return -ENODATA;
	if (!fab_nic(nd)->want_carrier) {
		info->link_ext_state = ETHTOOL_LINK_EXT_STATE_NO_CABLE;
	} else if (reasons == FAB_OWN_CABLE) {
		return -ENODATA;
	} else {
		info->link_ext_state = ETHTOOL_LINK_EXT_STATE_AUTONEG;
		info->autoneg = ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_PARTNER_DETECTED;
	}
	return 0;
}

#if FAB_HAVE_LINK_EXT_STATS
static void fab_get_link_ext_stats(struct net_device *nd, struct ethtool_link_ext_stats *stats)
{
	stats->link_down_events = atomic64_read(fab_stat(fab_nic(nd), FAB_LINK_DOWN, 0));
}
#endif

static int fab_get_fecparam(struct net_device *nd, struct ethtool_fecparam *fec)
{
	struct fab_nic *nic = fab_nic(nd);

	fec->fec = nic->fec;
	fec->active_fec = nic->fec & ETHTOOL_FEC_AUTO ? ETHTOOL_FEC_RS : nic->fec;
	return fab_get(nic, FAB_GETFEC);
}

static int fab_set_fecparam(struct net_device *nd, struct ethtool_fecparam *fec)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = 0;

	if (fab_begin(&call, nic, FAB_SETFEC, "fec=0x%x", fec->fec)) {
		if (nic->pers->setfec) {
			err = nic->pers->setfec(nic, fec->fec);
		} else if (hweight32(fec->fec) == 1) {
			nic->fec = fec->fec;
			fab_flap(nic, fab_flap_ms);
		} else {
			err = -EINVAL;
		}
	}
	return fab_end(&call, err);
}

static void fab_get_fec_stats(struct net_device *nd, struct ethtool_fec_stats *stats)
{
	struct fab_nic *nic = fab_nic(nd);

	stats->corrected_blocks.total = atomic64_read(fab_stat(nic, FAB_FEC_CORRECTED, 0));
	stats->uncorrectable_blocks.total = atomic64_read(fab_stat(nic, FAB_FEC_UNCORRECTABLE, 0));
	if (fab_has_stat(nic, FAB_FEC_BITS))
		stats->corrected_bits.total = atomic64_read(fab_stat(nic, FAB_FEC_BITS, 0));
}

/* Statistics: the set of names changes with PFC and pause, as in mlx5 (en_stats.c). */
static int fab_visit_count(void *arg, const char *name, atomic64_t *value)
{
	++*(int *)arg;
	return 0;
}

static int fab_visit_name(void *arg, const char *name, atomic64_t *value)
{
	u8 **at = arg;

	strscpy_pad(*at, name, ETH_GSTRING_LEN);
	*at += ETH_GSTRING_LEN;
	return 0;
}

static int fab_visit_value(void *arg, const char *name, atomic64_t *value)
{
	u64 **at = arg;

	*(*at)++ = atomic64_read(value);
	return 0;
}

static int fab_get_sset_count(struct net_device *nd, int set)
{
	struct fab_nic *nic = fab_nic(nd);
	int n = 0;

	if (set == ETH_SS_STATS)
		fab_stats_walk(nic, true, fab_visit_count, &n);
	else if (set == ETH_SS_PRIV_FLAGS && nic->pers->priv_flag)
		n = 1;
	else
		return -EOPNOTSUPP;
	return n;
}

static void fab_get_strings(struct net_device *nd, u32 set, u8 *data)
{
	struct fab_nic *nic = fab_nic(nd);

	if (set == ETH_SS_STATS)
		fab_stats_walk(nic, true, fab_visit_name, &data);
	else if (set == ETH_SS_PRIV_FLAGS && nic->pers->priv_flag)
		strscpy_pad(data, nic->pers->priv_flag, ETH_GSTRING_LEN);
}

static void fab_get_ethtool_stats(struct net_device *nd, struct ethtool_stats *stats, u64 *data)
{
	struct fab_nic *nic = fab_nic(nd);

	fab_get(nic, FAB_GETSTATS);
	fab_stats_walk(nic, true, fab_visit_value, &data);
}

static u32 fab_get_priv_flags(struct net_device *nd)
{
	struct fab_nic *nic = fab_nic(nd);

	return nic->fw_agent != nic->pers->priv_flag_disables;
}

static int fab_set_priv_flags(struct net_device *nd, u32 flags)
{
	struct fab_nic *nic = fab_nic(nd);
	struct fab_call call;
	int err = -EOPNOTSUPP;

	if (fab_begin(&call, nic, FAB_SETPRIVFLAGS, "flags=0x%x", flags) && nic->pers->setprivflag)
		err = nic->pers->setprivflag(nic, flags & 1);
	return fab_end(&call, err);
}

static int fab_get_module_info(struct net_device *nd, struct ethtool_modinfo *info)
{
	info->type = ETH_MODULE_SFF_8636;
	info->eeprom_len = ETH_MODULE_SFF_8636_LEN;
	return 0;
}

static int fab_get_module_eeprom(struct net_device *nd, struct ethtool_eeprom *ee, u8 *data)
{
	struct fab_nic *nic = fab_nic(nd);
	u32 i;

	for (i = 0; i < ee->len; i++)
		data[i] = *fab_eeprom_byte(nic, 0, (ee->offset + i) & 0xff);
	return fab_get(nic, FAB_GETEEPROM);
}

static int fab_get_module_eeprom_by_page(struct net_device *nd, const struct ethtool_module_eeprom *page, struct netlink_ext_ack *extack)
{
	struct fab_nic *nic = fab_nic(nd);
	int err = fab_get(nic, FAB_GETEEPROM);
	u8 *byte;
	u32 i;

	if (err)
		return err;
	for (i = 0; i < page->length; i++) {
		byte = fab_eeprom_byte(nic, page->page, page->offset + i);
		page->data[i] = byte && !page->bank ? *byte : 0;
	}
	return page->length;
}

const struct ethtool_ops fab_ethtool_ops = {
	.get_drvinfo = fab_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_pauseparam = fab_get_pauseparam,
	.set_pauseparam = fab_set_pauseparam,
	.get_pause_stats = fab_get_pause_stats,
	.get_ringparam = fab_get_ringparam,
	.set_ringparam = fab_set_ringparam,
	.get_channels = fab_get_channels,
	.set_channels = fab_set_channels,
	.get_tunable = fab_get_tunable,
	.set_tunable = fab_set_tunable,
	.get_link_ksettings = fab_get_link_ksettings,
	.set_link_ksettings = fab_set_link_ksettings,
	.get_link_ext_state = fab_get_link_ext_state,
#if FAB_HAVE_LINK_EXT_STATS
	.get_link_ext_stats = fab_get_link_ext_stats,
#endif
	.get_fecparam = fab_get_fecparam,
	.set_fecparam = fab_set_fecparam,
	.get_fec_stats = fab_get_fec_stats,
	.get_sset_count = fab_get_sset_count,
	.get_strings = fab_get_strings,
	.get_ethtool_stats = fab_get_ethtool_stats,
	.get_priv_flags = fab_get_priv_flags,
	.set_priv_flags = fab_set_priv_flags,
	.get_module_info = fab_get_module_info,
	.get_module_eeprom = fab_get_module_eeprom,
	.get_module_eeprom_by_page = fab_get_module_eeprom_by_page,
};
