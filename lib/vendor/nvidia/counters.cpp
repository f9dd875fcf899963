// SPDX-License-Identifier: Apache-2.0
// mlx5 (ConnectX-4 and later). Linux 6.12: drivers/infiniband/hw/mlx5/counters.c; mlx5/core/en_stats.c and
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst.
// The optional counters (cc_*, rdma_*) count the same events once more: raw only.
#include "model/metrics.h"
#include "vendor/counter_row.h"

namespace fabric {
namespace {

using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterRow kRows[] = {
    {hw, "out_of_sequence", &kOutOfSequence},
    {hw, "packet_seq_err", &kSequenceNaks},
    {hw, "implied_nak_seq_err", &kImpliedNaks},
    {hw, "local_ack_timeout_err", &kAckTimeouts},
    {hw, "duplicate_request", &kDuplicateRequests},
    {hw, "req_transport_retries_exceeded", &kRetriesExceeded},
    {hw, "req_rnr_retries_exceeded", &kRnrRetriesExceeded},
    {hw, "roce_adp_retrans", &kAdaptiveRetransmissions},
    {hw, "roce_adp_retrans_to", &kAdaptiveTimeouts},
    {hw, "roce_slow_restart", &kSlowRestarts},
    {hw, "rx_icrc_encapsulated", &kIcrcErrors},
    {hw, "out_of_buffer", &kOutOfBuffer},
    {hw, "rnr_nak_retry_err", &kRnrNaksReceived},
    {hw, "req_cqe_error", &kCqeErrors, kRequester},
    {hw, "resp_cqe_error", &kCqeErrors, kResponder},
    {hw, "req_cqe_flush_error", &kCqeFlushes, kRequester},
    {hw, "resp_cqe_flush_error", &kCqeFlushes, kResponder},
    {hw, "req_remote_access_errors", &kAccessErrors, kRequester},
    {hw, "resp_remote_access_errors", &kAccessErrors, kResponder},
    {hw, "req_remote_invalid_request", &kInvalidRequests, kRequester},
    {hw, "resp_local_length_error", &kLengthErrors},
    {hw, "np_cnp_sent", &kCnpSent},
    {hw, "rp_cnp_handled", &kCnpHandled},
    {hw, "rp_cnp_ignored", &kCnpIgnored},
    {hw, "np_ecn_marked_roce_packets", &kEcnMarked},
    {hw, "rx_write_requests", &kRequests, {"operation", "write"}},
    {hw, "rx_read_requests", &kRequests, {"operation", "read"}},
    {hw, "rx_atomic_requests", &kRequests, {"operation", "atomic"}},
    raw(hw, "rx_dct_connect", "Connection requests received for dynamically connected transport."),
    raw(hw, "roce_slow_restart_cnps", "Congestion notification packets that slow restart made."),
    raw(hw, "roce_slow_restart_trans", "Times a queue pair changed its state to slow restart."),
    raw(hw, "cc_rx_ce_pkts", "RoCE packets received with the congestion-experienced mark (optional counter)."),
    raw(hw, "cc_rx_cnp_pkts", "Congestion notification packets received (optional counter)."),
    raw(hw, "cc_tx_cnp_pkts", "Congestion notification packets sent (optional counter)."),
    raw(hw, "rdma_rx_packets", "RDMA packets received (optional counter, Linux 6.15)."),
    raw(hw, "rdma_rx_bytes", "RDMA bytes received (optional counter, Linux 6.15)."),
    raw(hw, "rdma_tx_packets", "RDMA packets sent (optional counter, Linux 6.15)."),
    raw(hw, "rdma_tx_bytes", "RDMA bytes sent (optional counter, Linux 6.15)."),

    {ethtool, "rx_vport_rdma_unicast_bytes", &kRdmaBytes, kRx},
    {ethtool, "rx_vport_rdma_multicast_bytes", &kRdmaBytes, kRx},
    {ethtool, "tx_vport_rdma_unicast_bytes", &kRdmaBytes, kTx},
    {ethtool, "tx_vport_rdma_multicast_bytes", &kRdmaBytes, kTx},
    {ethtool, "rx_vport_rdma_unicast_packets", &kRdmaPackets, kRx},
    {ethtool, "rx_vport_rdma_multicast_packets", &kRdmaPackets, kRx},
    {ethtool, "tx_vport_rdma_unicast_packets", &kRdmaPackets, kTx},
    {ethtool, "tx_vport_rdma_multicast_packets", &kRdmaPackets, kTx},

    {ethtool, "rx_prio#_pause", &kPfcFrames, kRx},
    {ethtool, "tx_prio#_pause", &kPfcFrames, kTx},
    {ethtool, "rx_prio#_pause_duration", &kPfcSeconds, kRx, kMicroseconds},
    {ethtool, "tx_prio#_pause_duration", &kPfcSeconds, kTx, kMicroseconds},
    {ethtool, "rx_prio#_pause_transition", &kPfcTransitions, kRx},
    {ethtool, "rx_global_pause", &kGlobalPauseFrames, kRx},
    {ethtool, "tx_global_pause", &kGlobalPauseFrames, kTx},
    {ethtool, "rx_global_pause_duration", &kGlobalPauseSeconds, kRx, kMicroseconds},
    {ethtool, "tx_global_pause_duration", &kGlobalPauseSeconds, kTx, kMicroseconds},
    {ethtool, "tx_pause_storm_warning_events", &kPauseStorms, {"severity", "warning"}},
    {ethtool, "tx_pause_storm_error_events", &kPauseStorms, {"severity", "error"}},

    raw(ethtool, "rx_global_pause_transition", "Changes from paused to not paused by global pause frames."),
    raw(ethtool, "rx_pause_ctrl_phy", "Pause frames received, global and PFC together."),
    raw(ethtool, "tx_pause_ctrl_phy", "Pause frames sent, global and PFC together."),

    {ethtool, "rx_prio#_bytes", &kPriorityBytes, kRx},
    {ethtool, "tx_prio#_bytes", &kPriorityBytes, kTx},
    raw(ethtool, "rx_prio#_packets", "Frames received on the wire with this priority."),
    raw(ethtool, "tx_prio#_packets", "Frames sent on the wire with this priority."),
    {ethtool, "rx_prio#_discards", &kPriorityDiscards},
    {ethtool, "rx_prio#_cong_discard", &kPriorityCongestionDiscards},
    {ethtool, "rx_prio#_buf_discard", &kPriorityHostDiscards},
    {ethtool, "rx_prio#_marked", &kPriorityMarked},

    {ethtool, "rx_discards_phy", &kPhyDiscards, kRx},
    {ethtool, "tx_discards_phy", &kPhyDiscards, kTx},
    {ethtool, "rx_crc_errors_phy", &kPhyCrcErrors},
    {ethtool, "rx_pcs_symbol_err_phy", &kPhySymbolErrors},
    {ethtool, "rx_corrected_bits_phy", &kPhyCorrectedBits},
    {ethtool, "link_down_events_phy", &kPhyLinkDowns},
    {ethtool, "total_success_recovery_phy", &kPhyRecoveries},
    {ethtool, "rx_symbol_err_phy", &kPhyCodingErrors},
    {ethtool, "rx_err_lane_0_phy", &kPhyLaneErrors, {"lane", "0"}},
    {ethtool, "rx_err_lane_1_phy", &kPhyLaneErrors, {"lane", "1"}},
    {ethtool, "rx_err_lane_2_phy", &kPhyLaneErrors, {"lane", "2"}},
    {ethtool, "rx_err_lane_3_phy", &kPhyLaneErrors, {"lane", "3"}},
    {ethtool, "rx_bits_phy", &kPhyReceivedBytes, {}, kBits},
    {ethtool, "rx_oversize_pkts_phy", &kPhyOversize},
    {ethtool, "rx_buffer_passed_thres_phy", &kPhyBufferThreshold},
    raw(ethtool, "tx_errors_phy", "Frames dropped on transmit for an error at the port."),
    raw(ethtool, "rx_undersize_pkts_phy", "Frames received that are shorter than 64 bytes."),
    raw(ethtool, "rx_fragments_phy", "Frames received that are shorter than 64 bytes and have a wrong FCS."),
    raw(ethtool, "rx_jabbers_phy", "Frames received that are too long and have a wrong FCS."),
    raw(ethtool, "rx_in_range_len_errors_phy", "Frames received whose length field does not match their length."),
    raw(ethtool, "rx_out_of_range_len_phy", "Frames received with a length field greater than allowed."),
    raw(ethtool, "rx_unsupported_op_phy", "MAC control frames received with an opcode that is not supported."),

    {ethtool, "rx_out_of_buffer", &kNetdevOutOfBuffer},
    raw(ethtool, "rx_steer_missed_packets", "Frames received that no steering rule took, dropped."),
    raw(ethtool, "rx_oversize_pkts_buffer", "Frames received that are longer than the receive buffers, dropped."),
    {ethtool, "dev_internal_queue_oob", &kDeviceQueues},
    {ethtool, "dev_out_of_buffer", &kDeviceQueues},  // the same, as Linux 5.4 names it (en_stats.c)
    {ethtool, "module_unplug", &kModuleEvents, {"event", "unplugged"}},
    {ethtool, "module_bus_stuck", &kModuleEvents, {"event", "bus_stuck"}},
    {ethtool, "module_high_temp", &kModuleEvents, {"event", "high_temperature"}},
    {ethtool, "module_bad_shorted", &kModuleEvents, {"event", "bad_or_shorted"}},

    {ethtool, "rx_pci_signal_integrity", &kPcieSignal, kRx},
    {ethtool, "tx_pci_signal_integrity", &kPcieSignal, kTx},
    {ethtool, "outbound_pci_stalled_rd_events", &kPcieStalled, {"operation", "read"}},
    {ethtool, "outbound_pci_stalled_wr_events", &kPcieStalled, {"operation", "write"}},
    raw_gauge(ethtool, "outbound_pci_stalled_rd",
              "Percentage of the last second in which reads waited for PCIe credits."),
    raw_gauge(ethtool, "outbound_pci_stalled_wr",
              "Percentage of the last second in which writes waited for PCIe credits."),
    {ethtool, "outbound_pci_buffer_overflow", &kPcieOverflows},
};

}  // namespace

std::span<const CounterRow> mlx5_rows() { return kRows; }

}  // namespace fabric
