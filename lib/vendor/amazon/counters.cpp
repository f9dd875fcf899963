// SPDX-License-Identifier: Apache-2.0
// Amazon EFA. Linux 6.12: drivers/infiniband/hw/efa/efa_verbs.c (EFA_DEFINE_PORT_STATS, EFA_DEFINE_DEVICE_STATS). Its
// transport (SRD) delivers out of order and repeats over other paths: a retransmission is no fault, a peer that does
// not answer is. These names are for its ports alone (catalogue.h).
#include "model/metrics.h"
#include "vendor/counter_row.h"

namespace fabric {
namespace {

using namespace metrics;
constexpr CounterSource hw = CounterSource::hw;

constexpr CounterRow kRows[] = {
    {hw, "rx_bytes", &kRdmaBytes, kRx},
    {hw, "tx_bytes", &kRdmaBytes, kTx},
    {hw, "rx_pkts", &kRdmaPackets, kRx},
    {hw, "tx_pkts", &kRdmaPackets, kTx},
    {hw, "rx_drops", &kDiscards, kRx},
    {hw, "retrans_pkts", &kRetransmittedPackets},
    {hw, "retrans_bytes", &kRetransmittedBytes},
    {hw, "retrans_timeout_events", &kAckTimeouts, {}, {}, "Timeouts after which traffic took another path."},
    raw(hw, "unresponsive_remote_events", "Times a peer did not answer any more."),
    raw(hw, "impaired_remote_conn_events", "Times a connection was found impaired and its rate was limited."),
    raw(hw, "send_bytes", "Bytes of send operations."),
    raw(hw, "send_wrs", "Send work requests."),
    raw(hw, "recv_bytes", "Bytes of receive operations."),
    raw(hw, "recv_wrs", "Receive work requests."),
    raw(hw, "rdma_read_wrs", "RDMA read work requests."),
    raw(hw, "rdma_read_bytes", "Bytes read by RDMA from peers."),
    raw(hw, "rdma_read_wr_err", "RDMA read work requests that failed."),
    raw(hw, "rdma_read_resp_bytes", "Bytes that peers read from here."),
    raw(hw, "rdma_write_wrs", "RDMA write work requests."),
    raw(hw, "rdma_write_bytes", "Bytes written by RDMA to peers."),
    raw(hw, "rdma_write_wr_err", "RDMA write work requests that failed."),
    raw(hw, "rdma_write_recv_bytes", "Bytes that peers wrote here."),

    // Of the device (hw_counters beside ports/).
    raw(hw, "submitted_cmds", "Commands given to the device."),
    raw(hw, "completed_cmds", "Commands that the device completed."),
    raw(hw, "cmds_err", "Commands that the device refused."),
    raw(hw, "no_completion_cmds", "Commands that the device never completed."),
    raw(hw, "keep_alive_rcvd", "Signs of life of the device."),
    raw(hw, "alloc_pd_err", "Protection domains that could not be made."),
    raw(hw, "create_qp_err", "Queue pairs that could not be made."),
    raw(hw, "create_cq_err", "Completion queues that could not be made."),
    raw(hw, "reg_mr_err", "Memory regions that could not be registered."),
    raw(hw, "alloc_ucontext_err", "User contexts that could not be made."),
    raw(hw, "create_ah_err", "Address handles that could not be made."),
    raw(hw, "mmap_err", "Mappings of the device that failed."),
};

}  // namespace

std::span<const CounterRow> efa_rows() { return kRows; }

}  // namespace fabric
