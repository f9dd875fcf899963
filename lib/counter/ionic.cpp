// SPDX-License-Identifier: Apache-2.0
// AMD Pensando (ionic, ionic_rdma). The RDMA names come from firmware; as `rdma statistic` and `ethtool -S` show them on
// a Pollara card. `..._1us_count` counts microseconds.
#include "counter/catalogue.h"
#include "counter/metrics.h"

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
};

}  // namespace

std::span<const CounterRow> ionic_rows() { return kRows; }

}  // namespace fabric
