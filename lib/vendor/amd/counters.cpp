// SPDX-License-Identifier: Apache-2.0
// AMD Pensando (ionic, ionic_rdma). The RDMA names come from firmware; as `rdma statistic` and `ethtool -S` show them
// on a Pollara card. `..._1us_count` counts microseconds.
#include "model/metrics.h"
#include "vendor/counter_row.h"

namespace fabric {
namespace {

using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterRow kRows[] = {
    {hw, "resp_rx_outouf_seq", &kOutOfSequence},
    {hw, "req_rx_pkt_seq_err", &kSequenceNaks},
    {hw, "req_rx_impl_nak_seq_err", &kImpliedNaks},
    {hw, "resp_rx_dup_request", &kDuplicateRequests},
    {hw, "req_tx_retry_excd_err", &kRetriesExceeded},
    {hw, "resp_rx_outof_buf", &kOutOfBuffer},
    {hw, "req_rx_rnr_retry_err", &kRnrNaksReceived},
    {hw, "resp_tx_rnr_retry_err", &kRnrNaksSent},
    {hw, "req_rx_cqe_err", &kCqeErrors, kRequester},
    {hw, "resp_rx_cqe_err", &kCqeErrors, kResponder},
    {hw, "req_rx_cqe_flush", &kCqeFlushes, kRequester},
    {hw, "resp_rx_cqe_flush", &kCqeFlushes, kResponder},
    {hw, "req_rx_rmt_acc_err", &kAccessErrors, kRequester},
    {hw, "resp_tx_rmt_acc_err", &kAccessErrors, kResponder},
    {hw, "req_rx_rmt_req_err", &kInvalidRequests, kRequester},
    {hw, "resp_tx_rmt_inval_req_err", &kInvalidRequests, kResponder},
    {hw, "resp_rx_loc_len_err", &kLengthErrors},
    {hw, "tx_rdma_cnp_pkts", &kCnpSent},
    {hw, "rx_rdma_cnp_pkts", &kCnpHandled},
    {hw, "rx_rdma_ecn_pkts", &kEcnMarked},
    {hw, "rx_rdma_ucast_bytes", &kRdmaBytes, kRx},
    {hw, "rx_rdma_mcast_bytes", &kRdmaBytes, kRx},
    {hw, "tx_rdma_ucast_bytes", &kRdmaBytes, kTx},
    {hw, "tx_rdma_mcast_bytes", &kRdmaBytes, kTx},
    {hw, "rx_rdma_ucast_pkts", &kRdmaPackets, kRx},
    {hw, "rx_rdma_mcast_pkts", &kRdmaPackets, kRx},
    {hw, "tx_rdma_ucast_pkts", &kRdmaPackets, kTx},
    {hw, "tx_rdma_mcast_pkts", &kRdmaPackets, kTx},
    {hw, "tx_rdma_ack_timeout", &kAckTimeouts},
    {hw, "tx_rdma_retx_pkts", &kRetransmittedPackets},
    {hw, "tx_rdma_retx_bytes", &kRetransmittedBytes},
    {hw,
     "rx_rdma_mtu_discard_pkts",
     &kDiscards,
     kRx,
     {},
     "RDMA packets received that are longer than the MTU, discarded."},
    {hw, "req_rx_oper_err", &kOperationErrors, kRequester},
    {hw, "resp_tx_rmt_oper_err", &kOperationErrors, kResponder},
    {hw, "req_tx_loc_acc_err", &kLocalErrors, kRequester},
    {hw, "req_tx_loc_oper_err", &kLocalErrors, kRequester},
    {hw, "req_tx_loc_sgl_inv_err", &kLocalErrors, kRequester},
    {hw, "req_tx_mem_mgmt_err", &kLocalErrors, kRequester},
    {hw, "resp_rx_loc_oper_err", &kLocalErrors, kResponder},
    {hw, "resp_tx_loc_sgl_inv_err", &kLocalErrors, kResponder},
    raw(hw, "req_rx_dup_response", "Responses received once more."),
    raw(hw, "req_rx_inval_pkts", "Responses received that are not valid."),
    raw(hw, "resp_rx_inval_request", "Requests received that are not valid."),
    raw(hw, "resp_rx_outof_atomic", "Atomics received beyond the resources for them."),
    raw(hw, "resp_rx_s0_table_err", "Lookups of a queue pair that failed in the first stage."),
    raw(hw, "resp_tx_pkt_seq_err", "NAKs for a packet sequence error sent."),
    // CCL: the card's transport for collective operations; CTS: its clear-to-send messages.
    raw(hw, "tx_rdma_ccl_cts_bytes", "Bytes of clear-to-send messages sent."),
    raw(hw, "tx_rdma_ccl_cts_pkts", "Clear-to-send messages sent."),
    raw(hw, "rx_rdma_ccl_cts_bytes", "Bytes of clear-to-send messages received."),
    raw(hw, "rx_rdma_ccl_cts_pkts", "Clear-to-send messages received."),
    raw(hw, "tx_rdma_ccl_cts_ack_timeout", "Clear-to-send messages that were not acknowledged in time."),
    raw(hw, "tx_rdma_ccl_cts_retx_bytes", "Bytes of clear-to-send messages sent again."),
    raw(hw, "tx_rdma_ccl_cts_retx_pkts", "Clear-to-send messages sent again."),
    raw(hw, "resp_rx_ccl_cts_outouf_seq", "Clear-to-send messages received out of order."),

    {ethtool, "rx_pripause_#_1us_count", &kPfcSeconds, kRx, kMicroseconds},
    {ethtool, "tx_pripause_#_1us_count", &kPfcSeconds, kTx, kMicroseconds},
    {ethtool, "frames_rx_pripause", &kPfcAllFrames, kRx},
    {ethtool, "frames_tx_pripause", &kPfcAllFrames, kTx},
    {ethtool, "frames_rx_pause", &kGlobalPauseFrames, kRx},
    {ethtool, "frames_tx_pause", &kGlobalPauseFrames, kTx},
    {ethtool, "rx_pause_1us_count", &kGlobalPauseSeconds, kRx, kMicroseconds},
    {ethtool, "frames_rx_pri_#", &kPriorityPackets, kRx},
    {ethtool, "frames_tx_pri_#", &kPriorityPackets, kTx},
    {ethtool, "frames_rx_dropped", &kPhyDiscards, kRx},
    {ethtool, "frames_rx_bad_fcs", &kPhyCrcErrors},
    {ethtool, "frames_rx_oversized", &kPhyOversize},
    raw(ethtool, "frames_rx_stomped_crc",
        "Frames received whose CRC a cut-through switch had inverted: damaged before the last hop."),
    raw(ethtool, "frames_rx_bad_length", "Frames received whose length field does not match their length."),
    raw(ethtool, "frames_rx_too_long", "Frames received that are longer than the port takes."),
    raw(ethtool, "frames_rx_undersized", "Frames received that are shorter than 64 bytes."),
    raw(ethtool, "frames_rx_fragments", "Frames received that are shorter than 64 bytes and have a wrong FCS."),
    raw(ethtool, "frames_rx_jabber", "Frames received that are too long and have a wrong FCS."),
    raw(ethtool, "frames_tx_truncated", "Frames cut off on transmit."),
    raw(ethtool, "frames_tx_bad", "Frames dropped on transmit for an error at the port."),
    raw(ethtool, "hw_rx_dropped", "Frames for this function that the card dropped."),
    raw(ethtool, "hw_tx_dropped", "Frames of this function that the card dropped."),
};

}  // namespace

std::span<const CounterRow> ionic_rows() { return kRows; }

}  // namespace fabric
