// SPDX-License-Identifier: Apache-2.0
// Broadcom bnxt_re and bnxt_en. Linux 6.12: drivers/infiniband/hw/bnxt_re/hw_counters.c, broadcom/bnxt/bnxt_ethtool.c.
// bnxt_re of 7.x has mlx5's names for most counters (nvidia/counters.cpp); its own new names are here.
// rx_bytes and similar counters are of bnxt_re's own statistics context (bnxt_re_net_stats_ctx_alloc: RoCE), which the
// device writes into memory once a second. rx_roce_only_* exist since 6.6, not in Broadcom's own driver, and stay 0 on
// a virtual function.
//
// bng_en (BCM57708, drivers/net/ethernet/broadcom/bnge): `ethtool -S` since commit bcc0f4c0f257 of April 2026, after
// Linux 7.0. bng_re, its RDMA driver, registers no RDMA device so far and has no hw_counters (infiniband/hw/bng_re/
// bng_dev.c bng_re_dev_init(), the same commit).
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, pma = CounterSource::pma, ethtool = CounterSource::ethtool;

// RDMA traffic; superseded by the counter `better`.
constexpr CounterRow late(std::string_view name, const CounterOrigin& origin, const Metric& metric, Label direction,
                          std::string_view better, std::string_view help) {
  return {hw, name, origin, none, 64, &metric, direction, {}, help, false, better};
}

// The driver's answer to a performance query (ports/N/counters).
constexpr CounterRow answer(std::string_view name, const CounterOrigin& origin, unsigned bits, std::string_view help) {
  return raw(pma, name, origin, none, bits, help, CounterScope::infiniband_link);
}

constexpr CounterOrigin kHwStats{
    "infiniband/hw/bnxt_re/hw_counters.c bnxt_re_ib_get_hw_stats(), bnxt_re_copy_err_stats(), "
    "bnxt_re_copy_ext_stats(), bnxt_re_copy_db_pacing_stats(). The driver widens oos_drop_count from 32 bits. Packets "
    "sent again are not counted: to_retransmits counts timeouts",
    "a reload of the driver"};
constexpr CounterOrigin kPmaAnswer{
    "infiniband/hw/bnxt_re/hw_counters.c bnxt_re_assign_pma_port_counters(), in kernels after 6.12; symbol_error in "
    "Broadcom's own driver alone",
    "a reload of the driver"};
constexpr CounterOrigin kPortStats{
    "net/ethernet/broadcom/bnxt/bnxt_ethtool.c bnxt_get_ethtool_stats(): bnxt_port_stats_arr, "
    "bnxt_port_stats_ext_arr, bnxt_tx_port_stats_ext_arr; widened by bnxt_accumulate_all_stats()",
    "a reset of the NIC; the driver never clears them"};
constexpr CounterOrigin kRingStats{"net/ethernet/broadcom/bnxt/bnxt_ethtool.c bnxt_ring_drv_stats_arr",
                                   "a reload of the driver"};
constexpr CounterOrigin kBngeStats{
    "net/ethernet/broadcom/bnge/bnge_ethtool.c bnge_get_ethtool_stats() (after Linux 7.0): bnge_port_stats_arr, "
    "widened by bnge_netdev.c bnge_accumulate_all_stats(). bng_en has bnxt_en's names of pfc_pri#, of the queues "
    "(pri#, cos#), of continuous pause, rx_bits and rx_buffer_passed_threshold, and no others of this section; global "
    "pause, FCS and symbol errors are in ethtool's standard groups alone (ethtool -S NETDEV --all-groups)",
    "a reset of the NIC; the driver never clears them"};

constexpr CounterRow kRows[] = {
    // hw_counters.c: bnxt_re_copy_err_stats(), bnxt_re_copy_ext_stats(), bnxt_re_ib_get_hw_stats() and
    // bnxt_re_copy_db_pacing_stats(). oos_drop_count is the extended rx_out_of_sequence if there is one.
    {hw, "oos_drop_count", kHwStats, loss, 64, &kOutOfSequence},
    {hw, "seq_err_naks_rcvd", kHwStats, loss, 64, &kSequenceNaks},
    {hw, "missing_resp", kHwStats, loss, 64, &kImpliedNaks},
    {hw, "to_retransmits", kHwStats, loss, 64, &kAckTimeouts},
    {hw, "dup_req", kHwStats, loss, 64, &kDuplicateRequests},
    {hw, "max_retry_exceeded", kHwStats, severe(loss), 64, &kRetriesExceeded},
    {hw, "rnr_naks_rcvd", kHwStats, receiver, 64, &kRnrNaksReceived},
    {hw, "rx_out_of_buffer", kHwStats, receiver, 64, &kOutOfBuffer},
    {hw, "rx_roce_discards", kHwStats, discard, 64, &kDiscards, kRx},
    {hw, "tx_roce_discards", kHwStats, discard, 64, &kDiscards, kTx},
    {hw, "remote_access_err", kHwStats, request, 64, &kAccessErrors, kRequester},
    {hw, "remote_invalid_req_err", kHwStats, request, 64, &kInvalidRequests, kRequester},
    {hw, "res_length_mismatch", kHwStats, request, 64, &kLengthErrors},
    {hw, "tx_cnp_pkts", kHwStats, none, 64, &kCnpSent},
    {hw, "np_cnp_pkts", kHwStats, none, 64, &kCnpSent},
    {hw, "rx_cnp_pkts", kHwStats, none, 64, &kCnpHandled, {}, {}, "Congestion notification packets received."},
    {hw, "rx_ecn_marked_pkts", kHwStats, none, 64, &kEcnMarked},
    {hw, "rx_roce_only_bytes", kHwStats, none, 64, &kRdmaBytes, kRx},
    {hw, "tx_roce_only_bytes", kHwStats, none, 64, &kRdmaBytes, kTx},
    {hw, "rx_roce_only_pkts", kHwStats, none, 64, &kRdmaPackets, kRx},
    {hw, "tx_roce_only_pkts", kHwStats, none, 64, &kRdmaPackets, kTx},
    late("rx_bytes", kHwStats, kRdmaBytes, kRx, "rx_roce_only_bytes",
         "RoCE bytes received, including congestion notifications; counts where rx_roce_only_bytes is absent or 0."),
    late("tx_bytes", kHwStats, kRdmaBytes, kTx, "tx_roce_only_bytes",
         "RoCE bytes sent, including congestion notifications; counts where tx_roce_only_bytes is absent or 0."),
    late("rx_pkts", kHwStats, kRdmaPackets, kRx, "rx_roce_only_pkts",
         "RoCE packets received, including congestion notifications; counts where rx_roce_only_pkts is absent or 0."),
    late("tx_pkts", kHwStats, kRdmaPackets, kTx, "tx_roce_only_pkts",
         "RoCE packets sent, including congestion notifications; counts where tx_roce_only_pkts is absent or 0."),
    {hw, "rx_write_req", kHwStats, none, 64, &kRequests, {"operation", "write"}},
    {hw, "rx_read_req", kHwStats, none, 64, &kRequests, {"operation", "read"}},
    {hw, "rx_atomic_req", kHwStats, none, 64, &kRequests, {"operation", "atomic"}},
    {hw, "rx_send_req", kHwStats, none, 64, &kRequests, {"operation", "send"}},
    {hw, "rx_roce_errors", kHwStats, request, 64, &kErroredPackets, kRx},
    {hw, "rx_roce_drops", kHwStats, request, 64, &kErroredPackets, kRx},  // the name before Linux 5.16
    {hw, "tx_roce_errors", kHwStats, request, 64, &kErroredPackets, kTx},
    {hw, "local_qp_op_err", kHwStats, request, 64, &kLocalErrors, kRequester},
    {hw, "local_protection_err", kHwStats, request, 64, &kLocalErrors, kRequester},
    {hw, "mem_mgmt_op_err", kHwStats, request, 64, &kLocalErrors, kRequester},
    {hw, "remote_op_err", kHwStats, request, 64, &kOperationErrors, kRequester},
    raw(hw, "unrecoverable_err", kHwStats, severe(request), 64, "Errors that broke a connection."),
    raw(hw, "bad_resp_err", kHwStats, request, 64, "Responses received that do not fit their request."),
    // In 7.x resp_remote_access_errors is the sum of some of these, so they must not add to the same metric.
    raw(hw, "res_exceed_max", kHwStats, request, 64,
        "Requests received beyond the maximum that the queue pair allows."),
    raw(hw, "res_exceeds_wqe", kHwStats, request, 64, "Sends received that are longer than the receive work request."),
    raw(hw, "res_opcode_err", kHwStats, request, 64, "Requests received with an opcode out of order."),
    raw(hw, "res_unsup_opcode", kHwStats, request, 64, "Requests received with an opcode that is not supported."),
    raw(hw, "res_rx_invalid_rkey", kHwStats, request, 64, "Writes and atomics received with an invalid remote key."),
    raw(hw, "res_rx_domain_err", kHwStats, request, 64,
        "Writes and atomics received for memory of another protection domain."),
    raw(hw, "res_rx_no_perm", kHwStats, request, 64, "Writes and atomics received without the permission."),
    raw(hw, "res_rx_range_err", kHwStats, request, 64, "Writes and atomics received beyond the memory region."),
    raw(hw, "res_tx_invalid_rkey", kHwStats, request, 64, "Reads received with an invalid remote key."),
    raw(hw, "res_tx_domain_err", kHwStats, request, 64, "Reads received for memory of another protection domain."),
    raw(hw, "res_tx_no_perm", kHwStats, request, 64, "Reads received without the permission."),
    raw(hw, "res_tx_range_err", kHwStats, request, 64, "Reads received beyond the memory region."),
    raw(hw, "res_irrq_oflow", kHwStats, request, 64, "Reads and atomics received beyond the agreed number in flight."),
    raw(hw, "res_unaligned_atomic", kHwStats, request, 64, "Atomics received for an unaligned address."),
    raw(hw, "res_rem_inv_err", kHwStats, request, 64, "Sends with invalidate received that name a wrong key."),
    raw(hw, "res_mem_err", kHwStats, request, 64, "Memory errors of the responder."),
    raw(hw, "res_srq_err", kHwStats, request, 64, "Errors of the shared receive queue."),
    raw(hw, "res_cmp_err", kHwStats, request, 64, "Completions that the responder could not write."),
    raw(hw, "res_invalid_dup_rkey", kHwStats, request, 64, "Repeated requests received with an invalid remote key."),
    raw(hw, "res_wqe_format_err", kHwStats, request, 64, "Receive work requests of a wrong format."),
    raw(hw, "res_cq_load_err", kHwStats, request, 64, "Times the responder could not load a completion queue."),
    raw(hw, "res_srq_load_err", kHwStats, request, 64, "Times the responder could not load a shared receive queue."),
    raw(hw, "res_tx_pci_err", kHwStats, pcie, 64, "PCIe errors of the responder while sending."),
    raw(hw, "res_rx_pci_err", kHwStats, pcie, 64, "PCIe errors of the responder while receiving."),
    raw(hw, "resize_cq_cnt", kHwStats, none, 64, "Completion queues resized."),
    raw(hw, "recoverable_errors", kHwStats, none, 64,
        "Not errors: the driver fills it from a count of broadcast packets."),
    raw(hw, "tx_atomic_req", kHwStats, none, 64, "Atomic requests sent."),
    raw(hw, "tx_read_req", kHwStats, none, 64, "Read requests sent."),
    raw(hw, "tx_read_resp", kHwStats, none, 64, "Read responses sent."),
    raw(hw, "tx_write_req", kHwStats, none, 64, "Write requests sent."),
    raw(hw, "tx_send_req", kHwStats, none, 64, "Send requests sent."),
    raw(hw, "rx_read_resp", kHwStats, none, 64, "Read responses received."),
    raw(hw, "rx_roce_good_pkts", kHwStats, none, 64, "RoCE packets received without error."),
    raw(hw, "rx_roce_good_bytes", kHwStats, none, 64, "Bytes of RoCE packets received without error."),
    raw(hw, "rx_good_pkts", kHwStats, none, 64, "RoCE packets received without error (Broadcom's own driver)."),
    raw(hw, "rx_good_bytes", kHwStats, none, 64,
        "Bytes of RoCE packets received without error (Broadcom's own driver)."),
    raw(hw, "pacing_reschedule", kHwStats, none, 64, "Times doorbell pacing was scheduled again."),
    raw(hw, "pacing_complete", kHwStats, none, 64, "Times doorbell pacing ended."),
    raw(hw, "pacing_alerts", kHwStats, none, 64, "Times the doorbell queue was found too full."),
    raw_gauge(hw, "db_fifo_register", kHwStats, "Fill level of the doorbell queue."),
    raw_gauge(hw, "active_pds", kHwStats, "Protection domains in use."),
    raw_gauge(hw, "active_ahs", kHwStats, "Address handles in use."),
    raw_gauge(hw, "active_qps", kHwStats, "Queue pairs in use."),
    raw_gauge(hw, "active_rc_qps", kHwStats, "Reliable connected queue pairs in use."),
    raw_gauge(hw, "active_ud_qps", kHwStats, "Datagram queue pairs in use."),
    raw_gauge(hw, "active_srqs", kHwStats, "Shared receive queues in use."),
    raw_gauge(hw, "active_cqs", kHwStats, "Completion queues in use."),
    raw_gauge(hw, "active_mrs", kHwStats, "Memory regions in use."),
    raw_gauge(hw, "active_mws", kHwStats, "Memory windows in use."),
    raw_gauge(hw, "watermark_pds", kHwStats, "Protection domains, the most that were in use at once."),
    raw_gauge(hw, "watermark_ahs", kHwStats, "Address handles, the most that were in use at once."),
    raw_gauge(hw, "watermark_qps", kHwStats, "Queue pairs, the most that were in use at once."),
    raw_gauge(hw, "watermark_rc_qps", kHwStats, "Reliable connected queue pairs, the most that were in use at once."),
    raw_gauge(hw, "watermark_ud_qps", kHwStats, "Datagram queue pairs, the most that were in use at once."),
    raw_gauge(hw, "watermark_srqs", kHwStats, "Shared receive queues, the most that were in use at once."),
    raw_gauge(hw, "watermark_cqs", kHwStats, "Completion queues, the most that were in use at once."),
    raw_gauge(hw, "watermark_mrs", kHwStats, "Memory regions, the most that were in use at once."),
    raw_gauge(hw, "watermark_mws", kHwStats, "Memory windows, the most that were in use at once."),

    // bnxt_re_assign_pma_port_counters(): the low bits of counters above and below, which wrap. Broadcom's own driver
    // also has the symbol errors, in the byte order of the host.
    answer("port_rcv_errors", kPmaAnswer, 16, "The low 16 bits of rx_roce_errors."),
    answer("port_rcv_constraint_errors", kPmaAnswer, 8, "The low 8 bits of rx_roce_discards."),
    answer("port_xmit_constraint_errors", kPmaAnswer, 8, "The low 8 bits of tx_roce_errors."),
    answer("port_xmit_discards", kPmaAnswer, 16, "The low 16 bits of tx_roce_discards."),
    answer("symbol_error", kPmaAnswer, 16, "The low 16 bits of rx_pcs_symbol_err, with the bytes swapped."),

    // bnxt_ethtool.c: bnxt_port_stats_arr, bnxt_port_stats_ext_arr, bnxt_tx_port_stats_ext_arr: of the physical port,
    // for all its functions together.
    {ethtool, "rx_pfc_ena_frames_pri#", kPortStats, none, 64, &kPfcFrames, kRx},
    {ethtool, "tx_pfc_ena_frames_pri#", kPortStats, none, 64, &kPfcFrames, kTx},
    {ethtool, "pfc_pri#_rx_duration_us", kPortStats, none, 64, &kPfcSeconds, kRx, kMicroseconds},
    {ethtool, "pfc_pri#_tx_duration_us", kPortStats, none, 64, &kPfcSeconds, kTx, kMicroseconds},
    {ethtool, "pfc_pri#_rx_transitions", kPortStats, none, 64, &kPfcTransitions, kRx},
    {ethtool, "pfc_pri#_tx_transitions", kPortStats, none, 64, &kPfcTransitions, kTx},
    {ethtool, "rx_pfc_frames", kPortStats, none, 64, &kPfcAllFrames, kRx},
    {ethtool, "tx_pfc_frames", kPortStats, none, 64, &kPfcAllFrames, kTx},
    {ethtool, "rx_pause_frames", kPortStats, none, 64, &kGlobalPauseFrames, kRx},
    {ethtool, "tx_pause_frames", kPortStats, none, 64, &kGlobalPauseFrames, kTx},
    {ethtool, "continuous_roce_pause_events", kPortStats, severe(storm), 64, &kPauseStorms, {"severity", "error"}},
    raw(ethtool, "continuous_pause_events", kPortStats, none, 64,
        "Times of continuous pause; the source does not name the side."),
    raw(ethtool, "resume_pause_events", kPortStats, none, 64, "Times such a pause ended."),
    raw(ethtool, "resume_roce_pause_events", kPortStats, none, 64,
        "Times a continuous pause of the RoCE priority ended."),
    // bnxt_get_ethtool_stats() copies the counter of the queue (pri2cos_idx[]), once for each of its priorities.
    {ethtool, "rx_bytes_pri#", kPortStats, none, 64, &kPriorityQueueBytes, kRx},
    {ethtool, "tx_bytes_pri#", kPortStats, none, 64, &kPriorityQueueBytes, kTx},
    raw(ethtool, "rx_packets_pri#", kPortStats, none, 64, "Frames received in the hardware queue of this priority."),
    raw(ethtool, "tx_packets_pri#", kPortStats, none, 64, "Frames sent from the hardware queue of this priority."),
    raw(ethtool, "rx_bytes_cos#", kPortStats, none, 64, "Bytes received in this hardware queue (CoS)."),
    raw(ethtool, "tx_bytes_cos#", kPortStats, none, 64, "Bytes sent from this hardware queue (CoS)."),
    raw(ethtool, "rx_packets_cos#", kPortStats, none, 64, "Frames received in this hardware queue (CoS)."),
    raw(ethtool, "tx_packets_cos#", kPortStats, none, 64, "Frames sent from this hardware queue (CoS)."),
    raw(ethtool, "rx_discard_bytes_cos#", kPortStats, none, 64,
        "Bytes discarded because there was no buffer in this hardware queue (CoS)."),
    raw(ethtool, "rx_discard_packets_cos#", kPortStats, discard, 64,
        "Frames discarded because there was no buffer in this hardware queue (CoS)."),

    {ethtool, "rx_stat_discard", kPortStats, none, 64, &kPhyDiscards, kRx},
    {ethtool, "tx_stat_discard", kPortStats, none, 64, &kPhyDiscards, kTx},
    {ethtool, "rx_fcs_err_frames", kPortStats, link, 64, &kPhyCrcErrors},
    {ethtool, "rx_pcs_symbol_err", kPortStats, link, 64, &kPhySymbolErrors},
    {ethtool, "rx_corrected_bits", kPortStats, none, 64, &kPhyCorrectedBits},
    {ethtool, "rx_bits", kPortStats, none, 64, &kPhyReceivedBytes, {}, kBits},
    {ethtool, "rx_fec_corrected_blocks", kPortStats, none, 64, &kPhyCorrectedWords},
    {ethtool, "rx_fec_uncorrectable_blocks", kPortStats, link, 64, &kPhyUncorrectableWords},
    {ethtool, "link_down_events", kPortStats, severe(link), 64, &kPhyLinkDowns},
    {ethtool, "rx_buffer_passed_threshold", kPortStats, none, 64, &kPhyBufferThreshold},

    // bnxt_ring_drv_stats_arr: sums over the function's rings. rx_total_discard_pkts is the name before Linux
    // 6.6.
    of(CounterScope::function, {ethtool, "rx_total_ring_discards", kRingStats, none, 64, &kNetdevOutOfBuffer}),
    of(CounterScope::function, {ethtool, "rx_total_discard_pkts", kRingStats, none, 64, &kNetdevOutOfBuffer}),

    // bnge_ethtool.c: bnge_port_stats_arr, of the physical port.
    {ethtool, "rxp_pfc_ena_frames_pri#", kBngeStats, none, 64, &kPfcFrames, kRx},
    {ethtool, "txp_pfc_ena_frames_pri#", kBngeStats, none, 64, &kPfcFrames, kTx},
};

}  // namespace

// bnxt_timer and bnxt_get_ethtool_stats of Linux 6.12: the device writes its statistics into memory once a second;
// bng_en queries it once a second (bnge_timer(), BNGE_TIMER_INTERVAL).
const CounterTable kBnxtCounters{.vendor = "Broadcom bnxt_re, bnxt_en, bng_en",
                                 .drivers = {"bnxt_en", "bng_en"},
                                 .rows = kRows,

                                 .ethtool_period = std::chrono::seconds(1),
                                 .hw_scope = CounterScope::function};

}  // namespace fabric
