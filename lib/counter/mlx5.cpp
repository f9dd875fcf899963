// SPDX-License-Identifier: Apache-2.0
// mlx5 (ConnectX-4 and later). Linux 6.12: drivers/infiniband/hw/mlx5/counters.c; mlx5/core/en_stats.c and
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst.
// The optional counters cc_rx_ce_pkts, cc_rx_cnp_pkts, cc_tx_cnp_pkts count the same events once more: raw only.
#include "counter/catalogue.h"
#include "counter/metrics.h"

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

    {ethtool, "rx_prio#_bytes", &kPriorityBytes, kRx},
    {ethtool, "tx_prio#_bytes", &kPriorityBytes, kTx},
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
};

}  // namespace

std::span<const CounterRow> mlx5_rows() { return kRows; }

}  // namespace fabric
