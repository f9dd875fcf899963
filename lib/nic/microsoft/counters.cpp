// SPDX-License-Identifier: Apache-2.0
// Microsoft Azure Network Adapter. drivers/infiniband/hw/mana/counters.c of kernels after 6.12:
// mana_ib_get_hw_port_stats() reads the counters of the virtual function, mana_ib_get_hw_device_stats() those of the
// device; all have 64 bits (mana_ib.h). Both have rate_inc_events; the reader keeps the port's. The unit of
// current_rate is not documented. Statistics of the netdev: microsoft/mana/mana_ethtool.c; hc_ counters are of
// the function, and kernels after 6.17 refresh them every two seconds (mana_gf_stats_work_handler()). A traffic class
// is not a priority: the guest cannot see the priorities of a class.
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterRow rejected(std::string_view name, const CounterOrigin& origin, std::string_view help) {
  return raw(ethtool, name, origin, none, 64, help, CounterScope::function);
}

constexpr CounterOrigin kPortStats{
    "infiniband/hw/mana/counters.c mana_ib_get_hw_port_stats(), in kernels after 6.12. Packets sent again are not "
    "counted",
    "not documented"};
constexpr CounterOrigin kDeviceStats{
    "infiniband/hw/mana/counters.c mana_ib_get_hw_device_stats(), in kernels after 6.12", "not documented"};
constexpr CounterOrigin kHcStats{
    "net/ethernet/microsoft/mana/mana_ethtool.c mana_hc_stats; mana_en.c mana_query_gf_stats(). All read 0 while the "
    "interface is down",
    "not documented; in kernels after 6.17 they read 0 after the device did not answer in time"};
constexpr CounterOrigin kPhyStats{
    "net/ethernet/microsoft/mana/mana_ethtool.c mana_phy_stats, in kernels after 6.16; mana_en.c "
    "mana_query_phy_stats()",
    "not documented"};

constexpr CounterRow kRows[] = {
    {hw, "responder_oos", kPortStats, loss, 64, &kOutOfSequence},
    {hw, "requester_oos_nak", kPortStats, loss, 64, &kSequenceNaks},
    {hw, "requester_implicit_nak", kPortStats, loss, 64, &kImpliedNaks},
    {hw, "requester_timeout", kPortStats, loss, 64, &kAckTimeouts},
    {hw, "responder_dup_request", kPortStats, loss, 64, &kDuplicateRequests},
    {hw, "requester_retries_exceeded", kPortStats, severe(loss), 64, &kRetriesExceeded},
    {hw, "requester_rnr_nak_retries_exceeded", kPortStats, severe(receiver), 64, &kRnrRetriesExceeded},
    {hw, "requester_rnr_nak", kPortStats, receiver, 64, &kRnrNaksReceived},
    {hw, "responder_rnr_nak", kPortStats, receiver, 64, &kRnrNaksSent},
    {hw, "responder_rem_access_error", kPortStats, request, 64, &kAccessErrors, kResponder},
    {hw, "responder_local_len_error", kPortStats, request, 64, &kLengthErrors},
    {hw, "requestor_local_prot_error", kPortStats, request, 64, &kLocalErrors, kRequester},
    {hw, "responder_local_qp_error", kPortStats, request, 64, &kLocalErrors, kResponder},
    {hw, "received_cnps", kPortStats, none, 64, &kCnpHandled, {}, {}, "Congestion notification packets received."},
    {hw, "tx_bytes", kPortStats, none, 64, &kRdmaBytes, kTx},
    {hw, "rx_bytes", kPortStats, none, 64, &kRdmaBytes, kRx},
    {hw, "tx_packets", kPortStats, none, 64, &kRdmaPackets, kTx},
    {hw, "rx_packets", kPortStats, none, 64, &kRdmaPackets, kRx},
    {hw, "rx_send_requests", kPortStats, none, 64, &kRequests, {"operation", "send"}},
    {hw, "rx_write_requests", kPortStats, none, 64, &kRequests, {"operation", "write"}},
    {hw, "rx_read_requests", kPortStats, none, 64, &kRequests, {"operation", "read"}},
    raw(hw, "requester_readresp_psn_mismatch", kPortStats, loss, 64, "Read responses received out of order."),
    raw(hw, "dup_rx_requests", kPortStats, none, 64, "Duplicate requests received, as another counter has them."),
    raw(hw, "nak_inv_req", kPortStats, request, 64, "NAKs for an invalid request."),
    raw(hw, "nak_access_error", kPortStats, request, 64, "NAKs for missing access rights."),
    raw(hw, "nak_opp_error", kPortStats, request, 64, "NAKs for an operation that failed."),
    raw(hw, "nak_inv_read", kPortStats, request, 64, "NAKs for an invalid read."),
    raw(hw, "responder_malformed_wqe", kPortStats, request, 64, "Receive work requests of a wrong format."),
    raw(hw, "general_hw_error", kPortStats, request, 64, "Errors of the hardware."),
    raw(hw, "total_fatal_error", kPortStats, severe(request), 64, "Errors that broke a connection."),
    raw(hw, "num_qps_congested", kPortStats, none, 64, "Queue pairs that congestion control slowed down."),
    raw(hw, "num_qps_recovered", kPortStats, none, 64, "Queue pairs that returned to full rate."),
    raw(hw, "rate_inc_events", kPortStats, none, 64, "Rate increases of congestion control."),
    raw_gauge(hw, "current_rate", kPortStats, "Rate of congestion control, in the device's own unit."),

    of(CounterScope::device, {hw, "sent_cnps", kDeviceStats, none, 64, &kCnpSent}),
    of(CounterScope::device, {hw, "received_ecns", kDeviceStats, none, 64, &kEcnMarked}),
    raw(hw, "received_cnp_count", kDeviceStats, none, 64, "Congestion notification packets received.",
        CounterScope::device),
    raw(hw, "qp_congested_events", kDeviceStats, none, 64, "Times congestion control slowed a queue pair down.",
        CounterScope::device),
    raw(hw, "qp_recovered_events", kDeviceStats, none, 64, "Times a queue pair returned to full rate.",
        CounterScope::device),

    // mana_hc_stats of mana_ethtool.c; mana_eth_stats in older kernels.
    of(CounterScope::function, {ethtool, "hc_rx_discards_no_wqe", kHcStats, none, 64, &kNetdevOutOfBuffer}),
    rejected("hc_rx_err_vport_disabled", kHcStats, "Frames received while the interface was off."),
    rejected("hc_tx_err_gf_disabled", kHcStats, "Frames not sent because the function was off."),
    rejected("hc_tx_err_vport_disabled", kHcStats, "Frames not sent because the interface was off."),
    rejected("hc_tx_err_inval_vportoffset_pkt", kHcStats, "Frames not sent because they named a wrong interface."),
    rejected("hc_tx_err_vlan_enforcement", kHcStats, "Frames not sent because the host does not allow their VLAN."),
    rejected("hc_tx_err_eth_type_enforcement", kHcStats, "Frames not sent because the host does not allow their type."),
    rejected("hc_tx_err_sa_enforcement", kHcStats,
             "Frames not sent because the host does not allow their source address."),
    rejected("hc_tx_err_sqpdid_enforcement", kHcStats,
             "Frames not sent because their queue is of another protection domain."),
    rejected("hc_tx_err_cqpdid_enforcement", kHcStats,
             "Frames not sent because their completion queue is of another protection domain."),
    rejected("hc_tx_err_mtu_violation", kHcStats, "Frames not sent because they are longer than the MTU."),
    rejected("hc_tx_err_inval_oob", kHcStats, "Frames not sent because their out-of-band data is not valid."),
    rejected("hc_tx_err_gdma", kHcStats, "Frames not sent for an error of the DMA."),

    // mana_phy_stats, since 6.17: the physical port, which other virtual machines share, so that a drop there may not
    // be of this machine.
    raw(ethtool, "hc_rx_pkt_drop_phy", kPhyStats, none, 64,
        "Frames received that the physical port dropped, of all its users."),
    raw(ethtool, "hc_tx_pkt_drop_phy", kPhyStats, none, 64,
        "Frames to send that the physical port dropped, of all its users."),
    raw(ethtool, "hc_tc#_rx_pkt_phy", kPhyStats, none, 64, "Frames received of this traffic class."),
    raw(ethtool, "hc_tc#_tx_pkt_phy", kPhyStats, none, 64, "Frames sent of this traffic class."),
    raw(ethtool, "hc_tc#_rx_byte_phy", kPhyStats, none, 64, "Bytes received of this traffic class."),
    raw(ethtool, "hc_tc#_tx_byte_phy", kPhyStats, none, 64, "Bytes sent of this traffic class."),
    raw(ethtool, "hc_tc#_rx_pause_phy", kPhyStats, none, 64, "Pause frames received for this traffic class."),
    raw(ethtool, "hc_tc#_tx_pause_phy", kPhyStats, none, 64, "Pause frames sent for this traffic class."),
};

}  // namespace

const CounterTable kManaCounters{.vendor = "Microsoft MANA",
                                 .drivers = {"mana"},
                                 .rows = kRows,

                                 .exclusive = true,
                                 .hw_scope = CounterScope::function};

}  // namespace fabric
