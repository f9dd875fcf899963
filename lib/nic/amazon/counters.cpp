// SPDX-License-Identifier: Apache-2.0
// Amazon EFA (EFA_DEFINE_PORT_STATS, EFA_DEFINE_DEVICE_STATS). Its transport (SRD) delivers out of order and
// retransmits over other paths, so retransmissions are not errors; peers that do not answer are errors.
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw;

constexpr CounterOrigin kPortStats{
    "infiniband/hw/efa/efa_verbs.c efa_fill_port_stats(); the retransmissions in kernels after 6.12",
    "a reset of the device"};
constexpr CounterOrigin kDeviceStats{"infiniband/hw/efa/efa_verbs.c efa_fill_device_stats()", "a reload of the driver"};

constexpr CounterRow kRows[] = {
    {hw, "rx_bytes", kPortStats, none, 64, &kRdmaBytes, kRx},
    {hw, "tx_bytes", kPortStats, none, 64, &kRdmaBytes, kTx},
    {hw, "rx_pkts", kPortStats, none, 64, &kRdmaPackets, kRx},
    {hw, "tx_pkts", kPortStats, none, 64, &kRdmaPackets, kTx},
    {hw, "rx_drops", kPortStats, discard, 64, &kDiscards, kRx},
    {hw, "retrans_pkts", kPortStats, none, 64, &kRetransmittedPackets},
    {hw, "retrans_bytes", kPortStats, none, 64, &kRetransmittedBytes},
    {hw,
     "retrans_timeout_events",
     kPortStats,
     none,
     64,
     &kAckTimeouts,
     {},
     {},
     "Timeouts after which traffic took another path."},
    raw(hw, "unresponsive_remote_events", kPortStats, severe(loss), 64, "Times a peer stopped answering."),
    raw(hw, "impaired_remote_conn_events", kPortStats, loss, 64,
        "Times a connection was found impaired and its rate was limited."),
    raw(hw, "send_bytes", kPortStats, none, 64, "Bytes of send operations."),
    raw(hw, "send_wrs", kPortStats, none, 64, "Send work requests."),
    raw(hw, "recv_bytes", kPortStats, none, 64, "Bytes of receive operations."),
    raw(hw, "recv_wrs", kPortStats, none, 64, "Receive work requests."),
    raw(hw, "rdma_read_wrs", kPortStats, none, 64, "RDMA read work requests."),
    raw(hw, "rdma_read_bytes", kPortStats, none, 64, "Bytes read by RDMA from peers."),
    raw(hw, "rdma_read_wr_err", kPortStats, request, 64, "RDMA read work requests that failed."),
    raw(hw, "rdma_read_resp_bytes", kPortStats, none, 64, "Bytes that peers read from this host."),
    raw(hw, "rdma_write_wrs", kPortStats, none, 64, "RDMA write work requests."),
    raw(hw, "rdma_write_bytes", kPortStats, none, 64, "Bytes written by RDMA to peers."),
    raw(hw, "rdma_write_wr_err", kPortStats, request, 64, "RDMA write work requests that failed."),
    raw(hw, "rdma_write_recv_bytes", kPortStats, none, 64, "Bytes that peers wrote to this host."),

    // hw_counters of the device.
    raw(hw, "submitted_cmds", kDeviceStats, none, 64, "Commands submitted to the device.", CounterScope::device),
    raw(hw, "completed_cmds", kDeviceStats, none, 64, "Commands that the device completed.", CounterScope::device),
    raw(hw, "cmds_err", kDeviceStats, none, 64, "Commands that the device rejected.", CounterScope::device),
    raw(hw, "no_completion_cmds", kDeviceStats, none, 64, "Commands that the device never completed.",
        CounterScope::device),
    raw(hw, "keep_alive_rcvd", kDeviceStats, none, 64, "Keep-alive messages of the device.", CounterScope::device),
    raw(hw, "alloc_pd_err", kDeviceStats, none, 64, "Protection domains that could not be created.",
        CounterScope::device),
    raw(hw, "create_qp_err", kDeviceStats, none, 64, "Queue pairs that could not be created.", CounterScope::device),
    raw(hw, "create_cq_err", kDeviceStats, none, 64, "Completion queues that could not be created.",
        CounterScope::device),
    raw(hw, "reg_mr_err", kDeviceStats, none, 64, "Memory regions that could not be registered.", CounterScope::device),
    raw(hw, "alloc_ucontext_err", kDeviceStats, none, 64, "User contexts that could not be created.",
        CounterScope::device),
    raw(hw, "create_ah_err", kDeviceStats, none, 64, "Address handles that could not be created.",
        CounterScope::device),
    raw(hw, "mmap_err", kDeviceStats, none, 64, "Mappings of the device that failed.", CounterScope::device),
};

}  // namespace

const CounterTable kEfaCounters{.vendor = "Amazon EFA", .drivers = {"efa"}, .rows = kRows, .exclusive = true};

}  // namespace fabric
