// SPDX-License-Identifier: Apache-2.0
// Soft-RoCE. Linux 6.12: drivers/infiniband/sw/rxe/rxe_hw_counters.c; rxe_comp.c and rxe_resp.c do the counting.
// rcvd_bytes and sent_bytes exist after 6.12. duplicate_request is in nvidia/counters.cpp. No counter is for timeouts
// only: completer_retry_err includes NAKs.
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw;

constexpr CounterOrigin kHwStats{"infiniband/sw/rxe/rxe_hw_counters.c rxe_ib_get_hw_stats()", "removal of the device"};

constexpr CounterRow kRows[] = {
    {hw, "out_of_seq_request", kHwStats, loss, 64, &kOutOfSequence},
    {hw, "rcvd_seq_err", kHwStats, loss, 64, &kSequenceNaks},
    {hw, "completer_retry_err", kHwStats, loss, 64, &kRetries},
    {hw, "retry_exceeded_err", kHwStats, severe(loss), 64, &kRetriesExceeded},
    {hw, "retry_rnr_exceeded_err", kHwStats, severe(receiver), 64, &kRnrRetriesExceeded},
    {hw, "rcvd_rnr_err", kHwStats, receiver, 64, &kRnrNaksReceived},
    {hw, "send_rnr_err", kHwStats, receiver, 64, &kRnrNaksSent},
    {hw, "rcvd_pkts", kHwStats, none, 64, &kRdmaPackets, kRx},
    {hw, "sent_pkts", kHwStats, none, 64, &kRdmaPackets, kTx},
    {hw, "rcvd_bytes", kHwStats, none, 64, &kRdmaBytes, kRx},
    {hw, "sent_bytes", kHwStats, none, 64, &kRdmaBytes, kTx},
    {hw,
     "send_err",
     kHwStats,
     request,
     64,
     &kErroredPackets,
     kTx,
     {},
     "Packets that the network stack did not accept."},
    raw(hw, "ack_deferred", kHwStats, none, 64,
        "Acknowledgements left to the worker thread because the completer was busy."),
    raw(hw, "link_downed", kHwStats, severe(link), 64, "Times the netdev underneath went down."),
    raw(hw, "rdma_sends", kHwStats, none, 64, "Work requests for sending completed."),
    raw(hw, "rdma_recvs", kHwStats, none, 64, "Work requests for receiving completed."),
};

}  // namespace

const CounterTable kRxeCounters{.vendor = "soft-RoCE", .drivers = {"rxe"}, .rows = kRows};

}  // namespace fabric
