// SPDX-License-Identifier: Apache-2.0
// mlx5 (ConnectX-4 and later). Linux 6.12: drivers/infiniband/hw/mlx5/counters.c; mlx5/core/en_stats.c and
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst.
// The optional counters cc_* have no metric, because other counters count the same events. rdma_* (Linux 6.15) have
// metrics of their own: their rules match packets, and so also those of queue pairs that count nowhere else.
// 32 bits: the Q counters (struct mlx5_ifc_query_q_counter_out_bits, linux/mlx5/mlx5_ifc.h), the statistics that
// en_stats.c reads with MLX5E_READ_CTR32_BE or from a Q counter, and total_success_recovery_phy (after 6.12,
// struct mlx5_ifc_phys_layer_recovery_cntrs_bits). A vport's Q counters are prefixed "vport_".
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterOrigin kHwStats{
    "infiniband/hw/mlx5/counters.c mlx5_ib_get_hw_stats(): basic_q_cnts, out_of_seq_q_cnts, retrans_q_cnts, "
    "extended_err_cnts, roce_accl_cnts; cong_cnts by mlx5_lag_query_cong_counters(), of a bond the sum of its ports; "
    "rx_icrc_encapsulated by mlx5_ib_query_ext_ppcnt_counters(). Packets sent again are counted by no kernel: losses "
    "show as sequence NAKs and timeouts",
    "a reload of the driver, which allocates new counter sets; those of the port: a reset of the NIC; the driver "
    "never clears them"};
constexpr CounterOrigin kOptional{
    "infiniband/hw/mlx5/counters.c basic_op_cnts, rdmarx_cnp_op_cnts, rdmatx_cnp_op_cnts; mlx5_ib_fs_add_op_fc()",
    "switching the optional counter off"};
constexpr CounterOrigin kVport{"net/ethernet/mellanox/mlx5/core/en_stats.c vport_stats_desc", "a reload of the driver"};
constexpr CounterOrigin kPfcStats{
    "net/ethernet/mellanox/mlx5/core/en_stats.c pport_per_prio_pfc_stats_desc, pport_pfc_stall_stats_desc; present "
    "while PFC or pause is on",
    "a reset of the NIC; the driver never clears them"};
constexpr CounterOrigin kPrioStats{
    "net/ethernet/mellanox/mlx5/core/en_stats.c pport_per_prio_traffic_stats_desc, pport_per_tc_prio_stats_desc, "
    "pport_per_tc_congest_prio_stats_desc",
    "a reset of the NIC; the driver never clears them"};
constexpr CounterOrigin kPhyStats{
    "net/ethernet/mellanox/mlx5/core/en_stats.c pport_2863_stats_desc, pport_802_3_stats_desc, "
    "pport_phy_statistical_stats_desc, pport_eth_ext_stats_desc, pport_2819_stats_desc; link_down_events_phy by the "
    "statistics group phy; rx_bits_phy and total_success_recovery_phy in kernels after 6.12 and in OFED",
    "a reset of the NIC; the driver never clears them"};
constexpr CounterOrigin kVnicStats{
    "net/ethernet/mellanox/mlx5/core/en_stats.c q_stats_desc, drop_rq_stats_desc, vnic_env_stats_steer_desc, "
    "vnic_env_stats_dev_oob_desc, vnic_env_stats_drop_desc, mlx5e_pme_error_desc",
    "a reload of the driver"};
constexpr CounterOrigin kPcieStats{
    "net/ethernet/mellanox/mlx5/core/en_stats.c pcie_perf_stats_desc, pcie_perf_stall_stats_desc, "
    "pcie_perf_stats_desc64",
    "a reset of the NIC; the driver never clears them"};
constexpr CounterOrigin kPcieCongestion{
    "net/ethernet/mellanox/mlx5/core/en/pcie_cong_event.c mlx5e_pcie_cong_stats_desc, in kernels after 6.12",
    "a reload of the driver"};

constexpr CounterRow kRows[] = {
    // counters.c: basic_q_cnts, out_of_seq_q_cnts, retrans_q_cnts, extended_err_cnts, roce_accl_cnts of the function's
    // counter sets; cong_cnts and ext_ppcnt_cnts of the port. All are reset only with the driver.
    {hw, "out_of_sequence", kHwStats, loss, 32, &kOutOfSequence},
    {hw, "packet_seq_err", kHwStats, loss, 32, &kSequenceNaks},
    {hw, "implied_nak_seq_err", kHwStats, loss, 32, &kImpliedNaks},
    {hw, "local_ack_timeout_err", kHwStats, loss, 32, &kAckTimeouts},
    {hw, "duplicate_request", kHwStats, loss, 32, &kDuplicateRequests},
    {hw, "req_transport_retries_exceeded", kHwStats, severe(loss), 32, &kRetriesExceeded},
    {hw, "req_rnr_retries_exceeded", kHwStats, severe(receiver), 32, &kRnrRetriesExceeded},
    {hw, "roce_adp_retrans", kHwStats, loss, 32, &kAdaptiveRetransmissions},
    {hw, "roce_adp_retrans_to", kHwStats, loss, 32, &kAdaptiveTimeouts},
    {hw, "roce_slow_restart", kHwStats, loss, 32, &kSlowRestarts},
    of(CounterScope::port, {hw, "rx_icrc_encapsulated", kHwStats, link, 64, &kIcrcErrors}),
    {hw, "out_of_buffer", kHwStats, receiver, 32, &kOutOfBuffer},
    {hw, "rnr_nak_retry_err", kHwStats, receiver, 32, &kRnrNaksReceived},
    {hw, "req_cqe_error", kHwStats, request, 32, &kCqeErrors, kRequester},
    {hw, "resp_cqe_error", kHwStats, request, 32, &kCqeErrors, kResponder},
    {hw, "req_cqe_flush_error", kHwStats, none, 32, &kCqeFlushes, kRequester},
    {hw, "resp_cqe_flush_error", kHwStats, none, 32, &kCqeFlushes, kResponder},
    {hw, "req_remote_access_errors", kHwStats, request, 32, &kAccessErrors, kRequester},
    {hw, "resp_remote_access_errors", kHwStats, request, 32, &kAccessErrors, kResponder},
    {hw, "req_remote_invalid_request", kHwStats, request, 32, &kInvalidRequests, kRequester},
    {hw, "resp_local_length_error", kHwStats, request, 32, &kLengthErrors},
    of(CounterScope::port, {hw, "np_cnp_sent", kHwStats, none, 64, &kCnpSent}),
    of(CounterScope::port, {hw, "rp_cnp_handled", kHwStats, none, 64, &kCnpHandled}),
    of(CounterScope::port, {hw, "rp_cnp_ignored", kHwStats, ecn, 64, &kCnpIgnored}),
    of(CounterScope::port, {hw, "np_ecn_marked_roce_packets", kHwStats, none, 64, &kEcnMarked}),
    {hw, "rx_write_requests", kHwStats, none, 32, &kRequests, {"operation", "write"}},
    {hw, "rx_read_requests", kHwStats, none, 32, &kRequests, {"operation", "read"}},
    {hw, "rx_atomic_requests", kHwStats, none, 32, &kRequests, {"operation", "atomic"}},
    raw(hw, "rx_dct_connect", kHwStats, none, 32, "Connection requests received for dynamically connected transport."),
    raw(hw, "roce_slow_restart_cnps", kHwStats, none, 32, "Congestion notification packets sent by slow restart."),
    raw(hw, "roce_slow_restart_trans", kHwStats, none, 32, "Times a queue pair changed its state to slow restart."),
    raw(hw, "cc_rx_ce_pkts", kOptional, none, 64,
        "RoCE packets received with the congestion-experienced mark (optional counter)."),
    raw(hw, "cc_rx_cnp_pkts", kOptional, none, 64, "Congestion notification packets received (optional counter)."),
    raw(hw, "cc_tx_cnp_pkts", kOptional, none, 64, "Congestion notification packets sent (optional counter)."),
    {hw, "rdma_rx_packets", kOptional, none, 64, &kOptionalPackets, kRx},
    {hw, "rdma_rx_bytes", kOptional, none, 64, &kOptionalBytes, kRx},
    {hw, "rdma_tx_packets", kOptional, none, 64, &kOptionalPackets, kTx},
    {hw, "rdma_tx_bytes", kOptional, none, 64, &kOptionalBytes, kTx},

    of(CounterScope::function, {ethtool, "rx_vport_rdma_unicast_bytes", kVport, none, 64, &kRdmaBytes, kRx}),
    of(CounterScope::function, {ethtool, "rx_vport_rdma_multicast_bytes", kVport, none, 64, &kRdmaBytes, kRx}),
    of(CounterScope::function, {ethtool, "tx_vport_rdma_unicast_bytes", kVport, none, 64, &kRdmaBytes, kTx}),
    of(CounterScope::function, {ethtool, "tx_vport_rdma_multicast_bytes", kVport, none, 64, &kRdmaBytes, kTx}),
    of(CounterScope::function, {ethtool, "rx_vport_rdma_unicast_packets", kVport, none, 64, &kRdmaPackets, kRx}),
    of(CounterScope::function, {ethtool, "rx_vport_rdma_multicast_packets", kVport, none, 64, &kRdmaPackets, kRx}),
    of(CounterScope::function, {ethtool, "tx_vport_rdma_unicast_packets", kVport, none, 64, &kRdmaPackets, kTx}),
    of(CounterScope::function, {ethtool, "tx_vport_rdma_multicast_packets", kVport, none, 64, &kRdmaPackets, kTx}),

    // pport_per_prio_pfc_stats_desc, pport_pfc_stall_stats_desc; durations in microseconds (counters.rst).
    {ethtool, "rx_prio#_pause", kPfcStats, none, 64, &kPfcFrames, kRx},
    {ethtool, "tx_prio#_pause", kPfcStats, none, 64, &kPfcFrames, kTx},
    {ethtool, "rx_prio#_pause_duration", kPfcStats, none, 64, &kPfcSeconds, kRx, kMicroseconds},
    {ethtool, "tx_prio#_pause_duration", kPfcStats, none, 64, &kPfcSeconds, kTx, kMicroseconds},
    {ethtool, "rx_prio#_pause_transition", kPfcStats, none, 64, &kPfcTransitions, kRx},
    {ethtool, "rx_global_pause", kPfcStats, none, 64, &kGlobalPauseFrames, kRx},
    {ethtool, "tx_global_pause", kPfcStats, none, 64, &kGlobalPauseFrames, kTx},
    {ethtool, "rx_global_pause_duration", kPfcStats, none, 64, &kGlobalPauseSeconds, kRx, kMicroseconds},
    {ethtool, "tx_global_pause_duration", kPfcStats, none, 64, &kGlobalPauseSeconds, kTx, kMicroseconds},
    {ethtool, "tx_pause_storm_warning_events", kPfcStats, storm, 64, &kPauseStorms, {"severity", "warning"}},
    {ethtool, "tx_pause_storm_error_events", kPfcStats, severe(storm), 64, &kPauseStorms, {"severity", "error"}},

    raw(ethtool, "rx_global_pause_transition", kPfcStats, none, 64,
        "Changes from paused to not paused by global pause frames."),
    raw(ethtool, "rx_pause_ctrl_phy", kPfcStats, none, 64, "Pause frames received, global and PFC together."),
    raw(ethtool, "tx_pause_ctrl_phy", kPfcStats, none, 64, "Pause frames sent, global and PFC together."),

    {ethtool, "rx_prio#_bytes", kPrioStats, none, 64, &kPriorityBytes, kRx},
    {ethtool, "tx_prio#_bytes", kPrioStats, none, 64, &kPriorityBytes, kTx},
    raw(ethtool, "rx_prio#_packets", kPrioStats, none, 64, "Frames received on the wire with this priority."),
    raw(ethtool, "tx_prio#_packets", kPrioStats, none, 64, "Frames sent on the wire with this priority."),
    {ethtool, "rx_prio#_discards", kPrioStats, discard, 64, &kPriorityDiscards},
    {ethtool, "rx_prio#_cong_discard", kPrioStats, discard, 64, &kPriorityCongestionDiscards},
    {ethtool, "rx_prio#_buf_discard", kPrioStats, discard, 64, &kPriorityHostDiscards},
    {ethtool, "rx_prio#_marked", kPrioStats, none, 64, &kPriorityMarked},

    // In addition to those that kPhyStats names: pport_phy_layer_cntrs_stats_desc, pport_phy_recovery_cntrs_stats_desc.
    {ethtool, "rx_discards_phy", kPhyStats, discard, 64, &kPhyDiscards, kRx},
    {ethtool, "tx_discards_phy", kPhyStats, discard, 64, &kPhyDiscards, kTx},
    {ethtool, "rx_crc_errors_phy", kPhyStats, link, 64, &kPhyCrcErrors},
    {ethtool, "rx_pcs_symbol_err_phy", kPhyStats, link, 64, &kPhySymbolErrors},
    {ethtool, "rx_corrected_bits_phy", kPhyStats, none, 64, &kPhyCorrectedBits},
    {ethtool, "link_down_events_phy", kPhyStats, severe(link), 32, &kPhyLinkDowns},
    {ethtool, "total_success_recovery_phy", kPhyStats, none, 32, &kPhyRecoveries},
    {ethtool, "rx_symbol_err_phy", kPhyStats, link, 64, &kPhyCodingErrors},
    {ethtool, "rx_err_lane_0_phy", kPhyStats, none, 64, &kPhyLaneErrors, {"lane", "0"}},
    {ethtool, "rx_err_lane_1_phy", kPhyStats, none, 64, &kPhyLaneErrors, {"lane", "1"}},
    {ethtool, "rx_err_lane_2_phy", kPhyStats, none, 64, &kPhyLaneErrors, {"lane", "2"}},
    {ethtool, "rx_err_lane_3_phy", kPhyStats, none, 64, &kPhyLaneErrors, {"lane", "3"}},
    {ethtool, "rx_bits_phy", kPhyStats, none, 64, &kPhyReceivedBytes, {}, kBits},
    {ethtool, "rx_oversize_pkts_phy", kPhyStats, none, 64, &kPhyOversize},
    {ethtool, "rx_buffer_passed_thres_phy", kPhyStats, none, 64, &kPhyBufferThreshold},
    raw(ethtool, "tx_errors_phy", kPhyStats, none, 64, "Frames dropped on transmit for an error at the port."),
    raw(ethtool, "rx_undersize_pkts_phy", kPhyStats, none, 64, "Frames received that are shorter than 64 bytes."),
    raw(ethtool, "rx_fragments_phy", kPhyStats, none, 64,
        "Frames received that are shorter than 64 bytes and have a wrong FCS."),
    raw(ethtool, "rx_jabbers_phy", kPhyStats, none, 64, "Frames received that are too long and have a wrong FCS."),
    raw(ethtool, "rx_in_range_len_errors_phy", kPhyStats, none, 64,
        "Frames received whose length field does not match their length."),
    raw(ethtool, "rx_out_of_range_len_phy", kPhyStats, none, 64,
        "Frames received with a length field greater than allowed."),
    raw(ethtool, "rx_unsupported_op_phy", kPhyStats, none, 64,
        "MAC control frames received with an opcode that is not supported."),

    // Each except module_... queries a queue counter or the environment of the function's own vNIC.
    of(CounterScope::function, {ethtool, "rx_out_of_buffer", kVnicStats, receiver, 32, &kNetdevOutOfBuffer}),
    raw(ethtool, "rx_if_down_packets", kVnicStats, none, 32, "Frames dropped because the interface was down.",
        CounterScope::function),
    raw(ethtool, "rx_steer_missed_packets", kVnicStats, none, 64,
        "Frames dropped because no steering rule matched them.", CounterScope::function),
    raw(ethtool, "rx_oversize_pkts_buffer", kVnicStats, none, 32,
        "Frames received that are longer than the receive buffers, dropped.", CounterScope::function),
    of(CounterScope::function, {ethtool, "dev_internal_queue_oob", kVnicStats, pcie, 32, &kDeviceQueues}),
    // The name in Linux 5.4 (en_stats.c).
    of(CounterScope::function, {ethtool, "dev_out_of_buffer", kVnicStats, pcie, 32, &kDeviceQueues}),
    {ethtool, "module_unplug", kVnicStats, severe(link), 64, &kModuleEvents, {"event", "unplugged"}},
    {ethtool, "module_bus_stuck", kVnicStats, link, 64, &kModuleEvents, {"event", "bus_stuck"}},
    {ethtool, "module_high_temp", kVnicStats, link, 64, &kModuleEvents, {"event", "high_temperature"}},
    {ethtool, "module_bad_shorted", kVnicStats, link, 64, &kModuleEvents, {"event", "bad_or_shorted"}},

    {ethtool, "rx_pci_signal_integrity", kPcieStats, pcie, 32, &kPcieSignal, kRx},
    {ethtool, "tx_pci_signal_integrity", kPcieStats, pcie, 32, &kPcieSignal, kTx},
    {ethtool, "outbound_pci_stalled_rd_events", kPcieStats, none, 32, &kPcieStalled, {"operation", "read"}},
    {ethtool, "outbound_pci_stalled_wr_events", kPcieStats, none, 32, &kPcieStalled, {"operation", "write"}},
    raw_gauge(ethtool, "outbound_pci_stalled_rd", kPcieStats,
              "Percentage of the last second in which reads waited for PCIe credits."),
    raw_gauge(ethtool, "outbound_pci_stalled_wr", kPcieStats,
              "Percentage of the last second in which writes waited for PCIe credits."),
    {ethtool, "outbound_pci_buffer_overflow", kPcieStats, pcie, 64, &kPcieOverflows},

    // struct mlx5e_pcie_cong_stats, all u32. If ..._high exceeds ..._low by one, the state is still above.
    raw(ethtool, "pci_bw_inbound_high", kPcieCongestion, none, 32,
        "Times the inbound PCIe bandwidth rose above its high threshold.", CounterScope::device),
    raw(ethtool, "pci_bw_inbound_low", kPcieCongestion, none, 32,
        "Times the inbound PCIe bandwidth fell below its low threshold again.", CounterScope::device),
    raw(ethtool, "pci_bw_outbound_high", kPcieCongestion, none, 32,
        "Times the outbound PCIe bandwidth rose above its high threshold.", CounterScope::device),
    raw(ethtool, "pci_bw_outbound_low", kPcieCongestion, none, 32,
        "Times the outbound PCIe bandwidth fell below its low threshold again.", CounterScope::device),
    raw(ethtool, "pci_bw_stale_event", kPcieCongestion, none, 32,
        "Times the PCIe bandwidth had crossed a threshold back before the driver asked.", CounterScope::device),
};

}  // namespace

const CounterTable kMlx5Counters{.vendor = "NVIDIA mlx5",
                                 .drivers = {"mlx5_core"},
                                 .rows = kRows,

                                 .twin_prefix = "vport_",
                                 .hw_scope = CounterScope::function};

}  // namespace fabric
