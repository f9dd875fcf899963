// SPDX-License-Identifier: Apache-2.0
// Soft-RoCE. Linux 6.12: drivers/infiniband/sw/rxe/rxe_hw_counters.c; where each is counted: rxe_comp.c, rxe_resp.c.
// duplicate_request stands in mlx5.cpp. It has no counter of timeouts alone: completer_retry_err counts NAKs as well.
#include "model/metrics.h"
#include "vendor/counter_row.h"

namespace fabric {
namespace {

using namespace metrics;
constexpr CounterSource hw = CounterSource::hw;

constexpr CounterRow kRows[] = {
    {hw, "out_of_seq_request", &kOutOfSequence},
    {hw, "rcvd_seq_err", &kSequenceNaks},
    {hw, "completer_retry_err", &kRetries},
    {hw, "retry_exceeded_err", &kRetriesExceeded},
    {hw, "retry_rnr_exceeded_err", &kRnrRetriesExceeded},
    {hw, "rcvd_rnr_err", &kRnrNaksReceived},
    {hw, "send_rnr_err", &kRnrNaksSent},
    {hw, "rcvd_pkts", &kRdmaPackets, kRx},
    {hw, "sent_pkts", &kRdmaPackets, kTx},
    {hw, "rcvd_bytes", &kRdmaBytes, kRx},
    {hw, "sent_bytes", &kRdmaBytes, kTx},
    {hw, "send_err", &kErroredPackets, kTx, {}, "Packets that could not be handed to the network stack."},
    raw(hw, "ack_deferred", "Acknowledgements left to the worker thread because the completer was busy."),
    raw(hw, "link_downed", "Times the netdev underneath went down."),
    raw(hw, "rdma_sends", "Work requests for sending completed."),
    raw(hw, "rdma_recvs", "Work requests for receiving completed."),
};

}  // namespace

std::span<const CounterRow> rxe_rows() { return kRows; }

}  // namespace fabric
