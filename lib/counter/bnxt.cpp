// SPDX-License-Identifier: Apache-2.0
// Broadcom bnxt_re and bnxt_en. Linux 6.12: drivers/infiniband/hw/bnxt_re/hw_counters.c, broadcom/bnxt/bnxt_ethtool.c.
// bnxt_re of 7.x took mlx5's names for most (see mlx5.cpp); its own new ones stand here.
#include "counter/catalogue.h"
#include "counter/metrics.h"

namespace fabric {
namespace {

using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterRow kRows[] = {
    {hw, "oos_drop_count", &kOutOfSequence},
    {hw, "seq_err_naks_rcvd", &kSequenceNaks},
    {hw, "missing_resp", &kImpliedNaks},
    {hw, "to_retransmits", &kAckTimeouts},
    {hw, "dup_req", &kDuplicateRequests},
    {hw, "max_retry_exceeded", &kRetriesExceeded},
    {hw, "rnr_naks_rcvd", &kRnrNaksReceived},
    {hw, "rx_out_of_buffer", &kOutOfBuffer},
    {hw, "rx_roce_discards", &kDiscards, kRx},
    {hw, "tx_roce_discards", &kDiscards, kTx},
    {hw, "remote_access_err", &kAccessErrors, kRequester},
    {hw, "remote_invalid_req_err", &kInvalidRequests, kRequester},
    {hw, "res_length_mismatch", &kLengthErrors},
    {hw, "tx_cnp_pkts", &kCnpSent},
    {hw, "np_cnp_pkts", &kCnpSent},
    {hw, "rx_cnp_pkts", &kCnpHandled},
    {hw, "rx_ecn_marked_pkts", &kEcnMarked},
    {hw, "rx_roce_only_bytes", &kRdmaBytes, kRx},
    {hw, "tx_roce_only_bytes", &kRdmaBytes, kTx},
    {hw, "rx_roce_only_pkts", &kRdmaPackets, kRx},
    {hw, "tx_roce_only_pkts", &kRdmaPackets, kTx},
    {hw, "rx_write_req", &kRequests, {"operation", "write"}},
    {hw, "rx_read_req", &kRequests, {"operation", "read"}},
    {hw, "rx_atomic_req", &kRequests, {"operation", "atomic"}},
    {hw, "rx_send_req", &kRequests, {"operation", "send"}},

    {ethtool, "rx_pfc_ena_frames_pri#", &kPfcFrames, kRx},
    {ethtool, "tx_pfc_ena_frames_pri#", &kPfcFrames, kTx},
    {ethtool, "pfc_pri#_rx_duration_us", &kPfcSeconds, kRx, kMicroseconds},
    {ethtool, "pfc_pri#_tx_duration_us", &kPfcSeconds, kTx, kMicroseconds},
    {ethtool, "pfc_pri#_rx_transitions", &kPfcTransitions, kRx},
    {ethtool, "pfc_pri#_tx_transitions", &kPfcTransitions, kTx},
    {ethtool, "rx_pfc_frames", &kPfcAllFrames, kRx},
    {ethtool, "tx_pfc_frames", &kPfcAllFrames, kTx},
    {ethtool, "rx_pause_frames", &kGlobalPauseFrames, kRx},
    {ethtool, "tx_pause_frames", &kGlobalPauseFrames, kTx},
    {ethtool, "continuous_roce_pause_events", &kPauseStorms, {"severity", "warning"}},
    {ethtool, "rx_bytes_pri#", &kPriorityBytes, kRx},
    {ethtool, "tx_bytes_pri#", &kPriorityBytes, kTx},

    {ethtool, "rx_stat_discard", &kPhyDiscards, kRx},
    {ethtool, "tx_stat_discard", &kPhyDiscards, kTx},
    {ethtool, "rx_fcs_err_frames", &kPhyCrcErrors},
    {ethtool, "rx_pcs_symbol_err", &kPhySymbolErrors},
    {ethtool, "rx_corrected_bits", &kPhyCorrectedBits},
    {ethtool, "rx_fec_corrected_blocks", &kPhyCorrectedWords},
    {ethtool, "rx_fec_uncorrectable_blocks", &kPhyUncorrectableWords},
    {ethtool, "link_down_events", &kPhyLinkDowns},
};

}  // namespace

std::span<const CounterRow> bnxt_rows() { return kRows; }

}  // namespace fabric
