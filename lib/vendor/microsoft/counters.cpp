// SPDX-License-Identifier: Apache-2.0
// Microsoft Azure Network Adapter. drivers/infiniband/hw/mana/counters.c of kernels after 6.12:
// mana_ib_get_hw_port_stats() asks for those of the virtual function, mana_ib_get_hw_device_stats() for those of the
// device; all of 64 bits (mana_ib.h). The unit of current_rate is not documented.
#include "model/metrics.h"
#include "vendor/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw;

constexpr CounterRow of_device(std::string_view name, const Metric& metric) {
  return {hw, name, none, 64, &metric, {}, {}, {}, false, {}, CounterScope::device};
}

constexpr CounterRow kRows[] = {
    {hw, "responder_oos", loss, 64, &kOutOfSequence},
    {hw, "requester_oos_nak", loss, 64, &kSequenceNaks},
    {hw, "requester_implicit_nak", loss, 64, &kImpliedNaks},
    {hw, "requester_timeout", loss, 64, &kAckTimeouts},
    {hw, "responder_dup_request", loss, 64, &kDuplicateRequests},
    {hw, "requester_retries_exceeded", severe(loss), 64, &kRetriesExceeded},
    {hw, "requester_rnr_nak_retries_exceeded", severe(receiver), 64, &kRnrRetriesExceeded},
    {hw, "requester_rnr_nak", receiver, 64, &kRnrNaksReceived},
    {hw, "responder_rnr_nak", receiver, 64, &kRnrNaksSent},
    {hw, "responder_rem_access_error", request, 64, &kAccessErrors, kResponder},
    {hw, "responder_local_len_error", request, 64, &kLengthErrors},
    {hw, "requestor_local_prot_error", request, 64, &kLocalErrors, kRequester},
    {hw, "responder_local_qp_error", request, 64, &kLocalErrors, kResponder},
    {hw, "received_cnps", none, 64, &kCnpHandled, {}, {}, "Congestion notification packets received."},
    {hw, "tx_bytes", none, 64, &kRdmaBytes, kTx},
    {hw, "rx_bytes", none, 64, &kRdmaBytes, kRx},
    {hw, "tx_packets", none, 64, &kRdmaPackets, kTx},
    {hw, "rx_packets", none, 64, &kRdmaPackets, kRx},
    {hw, "rx_send_requests", none, 64, &kRequests, {"operation", "send"}},
    {hw, "rx_write_requests", none, 64, &kRequests, {"operation", "write"}},
    {hw, "rx_read_requests", none, 64, &kRequests, {"operation", "read"}},
    raw(hw, "requester_readresp_psn_mismatch", loss, 64, "Read responses received out of order."),
    raw(hw, "dup_rx_requests", none, 64, "Duplicate requests received, as another counter has them."),
    raw(hw, "nak_inv_req", request, 64, "NAKs for an invalid request."),
    raw(hw, "nak_access_error", request, 64, "NAKs for missing access rights."),
    raw(hw, "nak_opp_error", request, 64, "NAKs for an operation that failed."),
    raw(hw, "nak_inv_read", request, 64, "NAKs for an invalid read."),
    raw(hw, "responder_malformed_wqe", request, 64, "Receive work requests of a wrong format."),
    raw(hw, "general_hw_error", request, 64, "Errors of the hardware."),
    raw(hw, "total_fatal_error", severe(request), 64, "Errors that broke a connection."),
    raw(hw, "num_qps_congested", none, 64, "Queue pairs that congestion control slowed down."),
    raw(hw, "num_qps_recovered", none, 64, "Queue pairs that returned to full rate."),
    raw(hw, "rate_inc_events", none, 64, "Rate increases of congestion control."),
    raw_gauge(hw, "current_rate", "Rate of congestion control, in the device's own unit."),

    of_device("sent_cnps", kCnpSent),
    of_device("received_ecns", kEcnMarked),
    raw(hw, "received_cnp_count", none, 64, "Congestion notification packets received.", CounterScope::device),
    raw(hw, "qp_congested_events", none, 64, "Times congestion control slowed a queue pair down.",
        CounterScope::device),
    raw(hw, "qp_recovered_events", none, 64, "Times a queue pair returned to full rate.", CounterScope::device),
};

constexpr CounterOrigin kOrigins[] = {
    {"responder_oos",
     "infiniband/hw/mana/counters.c mana_ib_get_hw_port_stats(), in kernels after 6.12. Packets sent again are not "
     "counted",
     "not documented"},
    {"sent_cnps", "infiniband/hw/mana/counters.c mana_ib_get_hw_device_stats(), in kernels after 6.12",
     "not documented"},
};

}  // namespace

std::span<const CounterRow> mana_rows() { return kRows; }
std::span<const CounterOrigin> mana_origins() { return kOrigins; }

}  // namespace fabric
