// SPDX-License-Identifier: Apache-2.0
// AMD Pensando (ionic, ionic_rdma). The RDMA names come from firmware; these are the names of `rdma statistic` and
// `ethtool -S` on a Pollara NIC. `..._1us_count` counts microseconds. The RDMA counters belong to a logical interface,
// one for each PCI function (struct ionic_lif_stats, net/ethernet/pensando/ionic/ionic_if.h, names the first of them).
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterOrigin kHwStats{
    "infiniband/hw/ionic/ionic_hw_stats.c ionic_init_hw_stats(), ionic_get_hw_stats(), in kernels after 6.17: names, "
    "values and widths come from the firmware",
    "not documented"};
constexpr CounterOrigin kPortStats{
    "net/ethernet/pensando/ionic/ionic_stats.c ionic_port_stats_desc, ionic_lif_stats_desc",
    "a reset of the NIC (struct ionic_port_stats is written by its firmware)"};

constexpr CounterRow kRows[] = {
    {hw, "resp_rx_outouf_seq", kHwStats, loss, 64, &kOutOfSequence},
    {hw, "req_rx_pkt_seq_err", kHwStats, loss, 64, &kSequenceNaks},
    {hw, "req_rx_impl_nak_seq_err", kHwStats, loss, 64, &kImpliedNaks},
    {hw, "resp_rx_dup_request", kHwStats, loss, 64, &kDuplicateRequests},
    {hw, "req_tx_retry_excd_err", kHwStats, severe(loss), 64, &kRetriesExceeded},
    {hw, "resp_rx_outof_buf", kHwStats, receiver, 64, &kOutOfBuffer},
    {hw, "req_rx_rnr_retry_err", kHwStats, receiver, 64, &kRnrNaksReceived},
    {hw, "resp_tx_rnr_retry_err", kHwStats, receiver, 64, &kRnrNaksSent},
    {hw, "req_rx_cqe_err", kHwStats, request, 64, &kCqeErrors, kRequester},
    {hw, "resp_rx_cqe_err", kHwStats, request, 64, &kCqeErrors, kResponder},
    {hw, "req_rx_cqe_flush", kHwStats, none, 64, &kCqeFlushes, kRequester},
    {hw, "resp_rx_cqe_flush", kHwStats, none, 64, &kCqeFlushes, kResponder},
    {hw, "req_rx_rmt_acc_err", kHwStats, request, 64, &kAccessErrors, kRequester},
    {hw, "resp_tx_rmt_acc_err", kHwStats, request, 64, &kAccessErrors, kResponder},
    {hw, "req_rx_rmt_req_err", kHwStats, request, 64, &kInvalidRequests, kRequester},
    {hw, "resp_tx_rmt_inval_req_err", kHwStats, request, 64, &kInvalidRequests, kResponder},
    {hw, "resp_rx_loc_len_err", kHwStats, request, 64, &kLengthErrors},
    {hw, "tx_rdma_cnp_pkts", kHwStats, none, 64, &kCnpSent},
    {hw, "rx_rdma_cnp_pkts", kHwStats, none, 64, &kCnpHandled, {}, {}, "Congestion notification packets received."},
    {hw, "rx_rdma_ecn_pkts", kHwStats, none, 64, &kEcnMarked},
    {hw, "rx_rdma_ucast_bytes", kHwStats, none, 64, &kRdmaBytes, kRx},
    {hw, "rx_rdma_mcast_bytes", kHwStats, none, 64, &kRdmaBytes, kRx},
    {hw, "tx_rdma_ucast_bytes", kHwStats, none, 64, &kRdmaBytes, kTx},
    {hw, "tx_rdma_mcast_bytes", kHwStats, none, 64, &kRdmaBytes, kTx},
    {hw, "rx_rdma_ucast_pkts", kHwStats, none, 64, &kRdmaPackets, kRx},
    {hw, "rx_rdma_mcast_pkts", kHwStats, none, 64, &kRdmaPackets, kRx},
    {hw, "tx_rdma_ucast_pkts", kHwStats, none, 64, &kRdmaPackets, kTx},
    {hw, "tx_rdma_mcast_pkts", kHwStats, none, 64, &kRdmaPackets, kTx},
    {hw, "tx_rdma_ack_timeout", kHwStats, loss, 64, &kAckTimeouts},
    {hw, "tx_rdma_retx_pkts", kHwStats, none, 64, &kRetransmittedPackets},
    {hw, "tx_rdma_retx_bytes", kHwStats, none, 64, &kRetransmittedBytes},
    {hw,
     "rx_rdma_mtu_discard_pkts",
     kHwStats,
     discard,
     64,
     &kDiscards,
     kRx,
     {},
     "RDMA packets received that are longer than the MTU, discarded."},
    {hw, "req_rx_oper_err", kHwStats, request, 64, &kOperationErrors, kRequester},
    {hw, "resp_tx_rmt_oper_err", kHwStats, request, 64, &kOperationErrors, kResponder},
    {hw, "req_tx_loc_acc_err", kHwStats, request, 64, &kLocalErrors, kRequester},
    {hw, "req_tx_loc_oper_err", kHwStats, request, 64, &kLocalErrors, kRequester},
    {hw, "req_tx_loc_sgl_inv_err", kHwStats, request, 64, &kLocalErrors, kRequester},
    {hw, "req_tx_mem_mgmt_err", kHwStats, request, 64, &kLocalErrors, kRequester},
    {hw, "resp_rx_loc_oper_err", kHwStats, request, 64, &kLocalErrors, kResponder},
    {hw, "resp_tx_loc_sgl_inv_err", kHwStats, request, 64, &kLocalErrors, kResponder},
    raw(hw, "req_rx_dup_response", kHwStats, none, 64, "Duplicate responses received."),
    raw(hw, "req_rx_inval_pkts", kHwStats, none, 64, "Responses received that are not valid."),
    raw(hw, "resp_rx_inval_request", kHwStats, none, 64, "Requests received that are not valid."),
    raw(hw, "resp_rx_outof_atomic", kHwStats, none, 64, "Atomics received beyond the resources for them."),
    raw(hw, "resp_rx_s0_table_err", kHwStats, none, 64, "Lookups of a queue pair that failed in the first stage."),
    raw(hw, "resp_tx_pkt_seq_err", kHwStats, none, 64, "NAKs for a packet sequence error sent."),
    // CCL: the NIC's transport for collective operations; CTS: its clear-to-send messages.
    raw(hw, "tx_rdma_ccl_cts_bytes", kHwStats, none, 64, "Bytes of clear-to-send messages sent."),
    raw(hw, "tx_rdma_ccl_cts_pkts", kHwStats, none, 64, "Clear-to-send messages sent."),
    raw(hw, "rx_rdma_ccl_cts_bytes", kHwStats, none, 64, "Bytes of clear-to-send messages received."),
    raw(hw, "rx_rdma_ccl_cts_pkts", kHwStats, none, 64, "Clear-to-send messages received."),
    raw(hw, "tx_rdma_ccl_cts_ack_timeout", kHwStats, none, 64,
        "Clear-to-send messages that were not acknowledged in time."),
    raw(hw, "tx_rdma_ccl_cts_retx_bytes", kHwStats, none, 64, "Bytes of clear-to-send messages retransmitted."),
    raw(hw, "tx_rdma_ccl_cts_retx_pkts", kHwStats, none, 64, "Clear-to-send messages retransmitted."),
    raw(hw, "resp_rx_ccl_cts_outouf_seq", kHwStats, none, 64, "Clear-to-send messages received out of order."),

    {ethtool, "rx_pripause_#_1us_count", kPortStats, none, 64, &kPfcSeconds, kRx, kMicroseconds},
    {ethtool, "tx_pripause_#_1us_count", kPortStats, none, 64, &kPfcSeconds, kTx, kMicroseconds},
    {ethtool, "frames_rx_pripause", kPortStats, none, 64, &kPfcAllFrames, kRx},
    {ethtool, "frames_tx_pripause", kPortStats, none, 64, &kPfcAllFrames, kTx},
    {ethtool, "frames_rx_pause", kPortStats, none, 64, &kGlobalPauseFrames, kRx},
    {ethtool, "frames_tx_pause", kPortStats, none, 64, &kGlobalPauseFrames, kTx},
    {ethtool, "rx_pause_1us_count", kPortStats, none, 64, &kGlobalPauseSeconds, kRx, kMicroseconds},
    {ethtool, "frames_rx_pri_#", kPortStats, none, 64, &kPriorityPackets, kRx},
    {ethtool, "frames_tx_pri_#", kPortStats, none, 64, &kPriorityPackets, kTx},
    {ethtool, "frames_rx_dropped", kPortStats, none, 64, &kPhyDiscards, kRx},
    {ethtool, "frames_rx_bad_fcs", kPortStats, link, 64, &kPhyCrcErrors},
    {ethtool, "frames_rx_oversized", kPortStats, none, 64, &kPhyOversize},
    raw(ethtool, "frames_rx_stomped_crc", kPortStats, none, 64,
        "Frames received whose CRC a cut-through switch had inverted: damaged before the last hop."),
    raw(ethtool, "frames_rx_bad_length", kPortStats, none, 64,
        "Frames received whose length field does not match their length."),
    raw(ethtool, "frames_rx_too_long", kPortStats, none, 64, "Frames received that are longer than the port accepts."),
    raw(ethtool, "frames_rx_undersized", kPortStats, none, 64, "Frames received that are shorter than 64 bytes."),
    raw(ethtool, "frames_rx_fragments", kPortStats, none, 64,
        "Frames received that are shorter than 64 bytes and have a wrong FCS."),
    raw(ethtool, "frames_rx_jabber", kPortStats, none, 64, "Frames received that are too long and have a wrong FCS."),
    raw(ethtool, "frames_tx_truncated", kPortStats, none, 64, "Frames cut off on transmit."),
    raw(ethtool, "frames_tx_bad", kPortStats, none, 64, "Frames dropped on transmit for an error at the port."),
    raw(ethtool, "hw_rx_dropped", kPortStats, none, 64, "Frames for this function that the card dropped.",
        CounterScope::function),
    raw(ethtool, "hw_tx_dropped", kPortStats, none, 64, "Frames of this function that the card dropped.",
        CounterScope::function),
};

}  // namespace

const CounterTable kIonicCounters{.vendor = "AMD ionic",
                                  .drivers = {"ionic"},
                                  .rows = kRows,

                                  .hw_scope = CounterScope::function};

}  // namespace fabric
