// SPDX-License-Identifier: GPL-2.0
/*
 * Counters under each vendor's own names.  Sources (Linux 6.12): mlx5/counters.rst and en_stats.c; bnxt_ethtool.c;
 * ice_ethtool.c; i40e_ethtool.c; ionic_stats.c.  Entries marked FAB_NEVER are not in "ethtool -S": they feed the standard FEC statistics, and
 * can be set through the control file like all others.
 */
#include "fabsim.h"

#define FAB_HIDDEN_FEC								\
	{ "fec_corrected_blocks", FAB_FEC_CORRECTED, FAB_NEVER },		\
	{ "fec_uncorrectable_blocks", FAB_FEC_UNCORRECTABLE, FAB_NEVER }

const struct fab_stat fab_mlx5_stats[] = {
	{ "rx_packets", FAB_RX_PACKETS }, { "rx_bytes", FAB_RX_BYTES }, { "tx_packets", FAB_TX_PACKETS }, { "tx_bytes", FAB_TX_BYTES },
	{ "rx_out_of_buffer" }, { "rx_steer_missed_packets" }, { "rx_oversize_pkts_buffer" },
	{ "rx_vport_rdma_unicast_packets", FAB_RX_RDMA_PACKETS }, { "rx_vport_rdma_unicast_bytes", FAB_RX_RDMA_BYTES },
	{ "tx_vport_rdma_unicast_packets", FAB_TX_RDMA_PACKETS }, { "tx_vport_rdma_unicast_bytes", FAB_TX_RDMA_BYTES },
	{ "rx_vport_rdma_multicast_packets" }, { "rx_vport_rdma_multicast_bytes" },
	{ "tx_vport_rdma_multicast_packets" }, { "tx_vport_rdma_multicast_bytes" },
	{ "rx_crc_errors_phy", FAB_RX_CRC }, { "rx_in_range_len_errors_phy" }, { "rx_out_of_range_len_phy" },
	{ "rx_oversize_pkts_phy", FAB_RX_OVERSIZE }, { "rx_undersize_pkts_phy" }, { "rx_fragments_phy" }, { "rx_jabbers_phy" },
	{ "rx_symbol_err_phy" }, { "rx_unsupported_op_phy" }, { "rx_pause_ctrl_phy" }, { "tx_pause_ctrl_phy" },
	{ "rx_discards_phy", FAB_RX_DROPPED }, { "tx_discards_phy", FAB_TX_DROPPED }, { "tx_errors_phy" },
	{ "rx_buffer_passed_thres_phy" }, { "link_down_events_phy", FAB_LINK_DOWN }, { "rx_pcs_symbol_err_phy" },
	{ "rx_corrected_bits_phy", FAB_FEC_BITS },
	{ "rx_err_lane_0_phy" }, { "rx_err_lane_1_phy" }, { "rx_err_lane_2_phy" }, { "rx_err_lane_3_phy" },
	{ "rx_pci_signal_integrity" }, { "tx_pci_signal_integrity" }, { "outbound_pci_stalled_rd" }, { "outbound_pci_stalled_wr" },
	{ "outbound_pci_stalled_rd_events" }, { "outbound_pci_stalled_wr_events" }, { "outbound_pci_buffer_overflow" },
	{ "dev_internal_queue_oob" }, { "module_unplug" }, { "module_bus_stuck" }, { "module_high_temp" }, { "module_bad_shorted" },
	{ "tx_pause_storm_warning_events" }, { "tx_pause_storm_error_events" },
	{ "rx_prio%d_bytes", FAB_PRIO_RX_BYTES }, { "rx_prio%d_packets", FAB_PRIO_RX_PACKETS },
	{ "rx_prio%d_discards" }, { "rx_prio%d_buf_discard" }, { "rx_prio%d_cong_discard" }, { "rx_prio%d_marked" },
	{ "tx_prio%d_bytes", FAB_PRIO_TX_BYTES }, { "tx_prio%d_packets", FAB_PRIO_TX_PACKETS },
	{ "rx_prio%d_pause", FAB_PRIO_RX_PAUSE, FAB_WITH_PFC }, { "rx_prio%d_pause_duration", FAB_NO_ROLE, FAB_WITH_PFC },
	{ "tx_prio%d_pause", FAB_PRIO_TX_PAUSE, FAB_WITH_PFC }, { "tx_prio%d_pause_duration", FAB_NO_ROLE, FAB_WITH_PFC },
	{ "rx_prio%d_pause_transition", FAB_NO_ROLE, FAB_WITH_PFC },
	{ "rx_global_pause", FAB_RX_PAUSE, FAB_WITH_PAUSE }, { "rx_global_pause_duration", FAB_NO_ROLE, FAB_WITH_PAUSE },
	{ "tx_global_pause", FAB_TX_PAUSE, FAB_WITH_PAUSE }, { "tx_global_pause_duration", FAB_NO_ROLE, FAB_WITH_PAUSE },
	{ "rx_global_pause_transition", FAB_NO_ROLE, FAB_WITH_PAUSE },
	FAB_HIDDEN_FEC, { }
};

const struct fab_stat fab_bnxt_stats[] = {
	{ "rx_good_frames", FAB_RX_PACKETS }, { "rx_bytes", FAB_RX_BYTES }, { "tx_good_frames", FAB_TX_PACKETS },
	{ "tx_bytes", FAB_TX_BYTES }, { "rx_fcs_err_frames", FAB_RX_CRC }, { "rx_ovrsz_frames", FAB_RX_OVERSIZE },
	{ "rx_pause_frames", FAB_RX_PAUSE }, { "tx_pause_frames", FAB_TX_PAUSE }, { "rx_pfc_frames" }, { "tx_pfc_frames" },
	{ "rx_stat_discard", FAB_RX_DROPPED }, { "tx_stat_discard", FAB_TX_DROPPED }, { "rx_stat_err" }, { "tx_stat_error" },
	{ "rx_pfc_ena_frames_pri%d", FAB_PRIO_RX_PAUSE }, { "tx_pfc_ena_frames_pri%d", FAB_PRIO_TX_PAUSE },
	{ "pfc_pri%d_rx_duration_us" }, { "pfc_pri%d_tx_duration_us" },
	{ "pfc_pri%d_rx_transitions" }, { "pfc_pri%d_tx_transitions" },
	{ "rx_bytes_pri%d", FAB_PRIO_RX_BYTES }, { "rx_packets_pri%d", FAB_PRIO_RX_PACKETS },
	{ "tx_bytes_pri%d", FAB_PRIO_TX_BYTES }, { "tx_packets_pri%d", FAB_PRIO_TX_PACKETS },
	{ "rx_bytes_cos%d" }, { "rx_packets_cos%d" }, { "tx_bytes_cos%d" }, { "tx_packets_cos%d" },
	{ "rx_discard_bytes_cos%d" }, { "rx_discard_packets_cos%d" },
	{ "link_down_events", FAB_LINK_DOWN }, { "continuous_pause_events" }, { "resume_pause_events" },
	{ "continuous_roce_pause_events" }, { "resume_roce_pause_events" },
	{ "rx_pcs_symbol_err" }, { "rx_corrected_bits", FAB_FEC_BITS }, { "rx_buffer_passed_threshold" },
	{ "rx_fec_corrected_blocks", FAB_FEC_CORRECTED }, { "rx_fec_uncorrectable_blocks", FAB_FEC_UNCORRECTABLE }, { }
};

const struct fab_stat fab_ice_stats[] = {
	{ "rx_unicast.nic", FAB_RX_PACKETS }, { "rx_bytes.nic", FAB_RX_BYTES }, { "tx_unicast.nic", FAB_TX_PACKETS },
	{ "tx_bytes.nic", FAB_TX_BYTES }, { "rx_dropped.nic", FAB_RX_DROPPED }, { "tx_dropped_link_down.nic", FAB_TX_DROPPED },
	{ "rx_crc_errors.nic", FAB_RX_CRC }, { "rx_oversize.nic", FAB_RX_OVERSIZE }, { "illegal_bytes.nic" },
	{ "mac_local_faults.nic", FAB_LINK_DOWN }, { "mac_remote_faults.nic" },
	{ "link_xon_rx.nic" }, { "link_xoff_rx.nic", FAB_RX_PAUSE }, { "link_xon_tx.nic" }, { "link_xoff_tx.nic", FAB_TX_PAUSE },
	{ "tx_priority_%d_xon.nic" }, { "tx_priority_%d_xoff.nic", FAB_PRIO_TX_PAUSE },
	{ "rx_priority_%d_xon.nic" }, { "rx_priority_%d_xoff.nic", FAB_PRIO_RX_PAUSE },
	/* the driver has no packet counters per priority: kept for the tests only */
	{ "rx_priority_%d_packets", FAB_PRIO_RX_PACKETS, FAB_NEVER }, { "rx_priority_%d_bytes", FAB_PRIO_RX_BYTES, FAB_NEVER },
	{ "tx_priority_%d_packets", FAB_PRIO_TX_PACKETS, FAB_NEVER }, { "tx_priority_%d_bytes", FAB_PRIO_TX_BYTES, FAB_NEVER },
	FAB_HIDDEN_FEC, { }
};

const struct fab_stat fab_i40e_stats[] = {
	{ "rx_packets", FAB_RX_PACKETS }, { "rx_bytes", FAB_RX_BYTES }, { "tx_packets", FAB_TX_PACKETS }, { "tx_bytes", FAB_TX_BYTES },
	{ "port.rx_dropped", FAB_RX_DROPPED }, { "port.tx_dropped_link_down", FAB_TX_DROPPED }, { "port.rx_crc_errors", FAB_RX_CRC },
	{ "port.rx_oversize", FAB_RX_OVERSIZE }, { "port.illegal_bytes" },
	{ "port.mac_local_faults", FAB_LINK_DOWN }, { "port.mac_remote_faults" },
	{ "port.link_xon_rx" }, { "port.link_xoff_rx", FAB_RX_PAUSE }, { "port.link_xon_tx" }, { "port.link_xoff_tx", FAB_TX_PAUSE },
	{ "port.tx_priority_%d_xon_tx" }, { "port.tx_priority_%d_xoff_tx", FAB_PRIO_TX_PAUSE },
	{ "port.rx_priority_%d_xon_rx" }, { "port.rx_priority_%d_xoff_rx", FAB_PRIO_RX_PAUSE }, { "port.rx_priority_%d_xon_2_xoff" },
	{ "rx_priority_%d_packets", FAB_PRIO_RX_PACKETS, FAB_NEVER }, { "rx_priority_%d_bytes", FAB_PRIO_RX_BYTES, FAB_NEVER },
	{ "tx_priority_%d_packets", FAB_PRIO_TX_PACKETS, FAB_NEVER }, { "tx_priority_%d_bytes", FAB_PRIO_TX_BYTES, FAB_NEVER },
	FAB_HIDDEN_FEC, { }
};

const struct fab_stat fab_ionic_stats[] = {
	{ "rx_packets", FAB_RX_PACKETS }, { "rx_bytes", FAB_RX_BYTES }, { "tx_packets", FAB_TX_PACKETS }, { "tx_bytes", FAB_TX_BYTES },
	{ "frames_rx_ok" }, { "frames_rx_bad_fcs", FAB_RX_CRC }, { "frames_rx_dropped", FAB_RX_DROPPED },
	{ "frames_rx_too_long", FAB_RX_OVERSIZE }, { "frames_rx_pause", FAB_RX_PAUSE }, { "frames_tx_pause", FAB_TX_PAUSE },
	{ "frames_rx_pripause" }, { "frames_tx_pripause" }, { "rx_pause_1us_count" },
	{ "frames_rx_pri_%d", FAB_PRIO_RX_PACKETS }, { "frames_tx_pri_%d", FAB_PRIO_TX_PACKETS },
	{ "tx_pripause_%d_1us_count" }, { "rx_pripause_%d_1us_count" },
	{ "link_down_count", FAB_LINK_DOWN }, FAB_HIDDEN_FEC, { }
};

static bool fab_per_prio(const struct fab_stat *s)
{
	return strchr(s->name, '%');
}

/* Gives each counter of the personality its place.  A role that no counter has goes to the places at the end, shown nowhere. */
void fab_stats_layout(struct fab_nic *nic)
{
	const struct fab_stat *s;
	int i, at = 0;

	for (i = 0; i < FAB_ROLES; i++)
		nic->role_at[i] = FAB_NO_STAT;
	for (s = nic->pers->stats; s->name; s++) {
		if (s->role)
			nic->role_at[s->role] = at;
		at += fab_per_prio(s) ? 8 : 1;
	}
	WARN_ON(at > FAB_NO_STAT);
	for (i = 0; i < FAB_MAX_STATS; i++)
		atomic64_set(&nic->stat[i], 0);
}

static bool fab_visible(struct fab_nic *nic, const struct fab_stat *s, int prio)
{
	switch (s->visible) {
	case FAB_WITH_PFC:	/* mlx5 en_stats.c: mlx5e_query_pfc_combined() */
		return nic->pfc.pfc_en & BIT(prio);
	case FAB_WITH_PAUSE:	/* mlx5 en_stats.c: mlx5e_query_global_pause_combined() */
		return nic->pause.rx_pause || nic->pause.tx_pause;
	case FAB_NEVER:
		return false;
	default:
		return true;
	}
}

/* Calls visit() for each counter until it returns non-zero, which is returned. */
int fab_stats_walk(struct fab_nic *nic, bool visible_only, int (*visit)(void *arg, const char *name, atomic64_t *value), void *arg)
{
	char name[ETH_GSTRING_LEN];
	const struct fab_stat *s;
	int prio, n, at = 0, stop;

	for (s = nic->pers->stats; s->name; s++) {
		n = fab_per_prio(s) ? 8 : 1;
		for (prio = 0; prio < n; prio++, at++) {
			if (visible_only && !fab_visible(nic, s, prio))
				continue;
			snprintf(name, sizeof(name), s->name, prio);
			stop = visit(arg, name, &nic->stat[at]);
			if (stop)
				return stop;
		}
	}
	return 0;
}
