// SPDX-License-Identifier: Apache-2.0
// Intel: irdma over ice and i40e. Linux 6.12: drivers/infiniband/hw/irdma/verbs.c (and the names of 7.x, some with
// spaces), intel/ice/ice_ethtool.c, intel/i40e/i40e_ethtool.c. Their xoff counters are the frames that pause; xon ones
// end it. Frames with illegal bytes are errors beside those of the CRC (ice_main.c, ice_update_vsi_stats).
#include "model/metrics.h"
#include "vendor/counter_row.h"

namespace fabric {
namespace {

using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterRow kRows[] = {
    {hw, "cnpSent", &kCnpSent},
    {hw, "cnpHandled", &kCnpHandled},
    {hw, "cnpIgnored", &kCnpIgnored},
    {hw, "RxECNMrkd", &kEcnMarked},
    {hw, "RxUDP", &kRdmaPackets, kRx},
    {hw, "TxUDP", &kRdmaPackets, kTx},
    {hw, "Rcvd Out of order packets", &kOutOfSequence},
    {hw, "Nak Sequence Error", &kSequenceNaks},
    {hw, "RTO", &kAckTimeouts},
    {hw, "RNR received", &kRnrNaksReceived},
    {hw, "RNR sent", &kRnrNaksSent},
    {hw, "CRC errors", &kIcrcErrors},
    {hw, "Nak Sequence Error Implied", &kImpliedNaks},
    raw(hw, "Rx atomics", "Atomic requests received."),
    raw(hw, "Tx atomics", "Atomic requests sent."),
    raw(hw, "ord limit count", "Times the limit of outbound reads in flight was met."),
    raw(hw, "ird limit count", "Times the limit of inbound reads in flight was met."),
    raw(hw, "rxVlanErrors", "Packets received for a VLAN that is not configured."),
    {hw, "iwInRdmaReads", &kRequests, {"operation", "read"}},
    {hw, "iwInRdmaWrites", &kRequests, {"operation", "write"}},
    {hw, "iwInRdmaSends", &kRequests, {"operation", "send"}},
    {hw, "InRdmaReads", &kRequests, {"operation", "read"}},
    {hw, "InRdmaWrites", &kRequests, {"operation", "write"}},
    {hw, "InRdmaSends", &kRequests, {"operation", "send"}},
    raw(hw, "iwOutRdmaReads", "Read requests sent."),
    raw(hw, "iwOutRdmaWrites", "Write requests sent."),
    raw(hw, "iwOutRdmaSends", "Send requests sent."),
    raw(hw, "OutRdmaReads", "Read requests sent."),
    raw(hw, "OutRdmaWrites", "Write requests sent."),
    raw(hw, "OutRdmaSends", "Send requests sent."),
    raw(hw, "iwRdmaBnd", "Memory windows bound."),
    raw(hw, "iwRdmaInv", "Memory keys invalidated."),
    raw(hw, "RdmaBnd", "Memory windows bound."),
    raw(hw, "RdmaInv", "Memory keys invalidated."),
    {hw, "tcpRetransSegs", &kRetransmittedPackets},
    raw(hw, "tcpInOptErrors", "Segments received with wrong TCP options (iWARP)."),
    raw(hw, "tcpInProtoErrors", "Packets received that break the transport protocol."),
    raw(hw, "tcpInSegs", "Segments received."),
    raw(hw, "tcpOutSegs", "Segments sent."),
    {hw, "RetransSegs", &kRetransmittedPackets},
    raw(hw, "InOptErrors", "Segments received with wrong TCP options (iWARP)."),
    raw(hw, "InProtoErrors", "Packets received that break the transport protocol."),
    raw(hw, "InSegs", "Segments received."),
    raw(hw, "OutSegs", "Segments sent."),
    {hw, "ip4InDiscards", &kDiscards, kRx},
    {hw, "ip4InOctets", &kRdmaBytes, kRx},
    {hw, "ip4OutOctets", &kRdmaBytes, kTx},
    raw(hw, "ip4InTruncatedPkts", "IPv4 packets received that are cut short."),
    raw(hw, "ip4OutNoRoutes", "IPv4 packets not sent for want of a route."),
    raw(hw, "ip4InPkts", "IPv4 packets received by the RDMA engine."),
    raw(hw, "ip4OutPkts", "IPv4 packets sent by the RDMA engine."),
    raw(hw, "ip4InReasmRqd", "IPv4 fragments received."),
    raw(hw, "ip4OutSegRqd", "IPv4 fragments sent."),
    raw(hw, "ip4InMcastOctets", "Bytes of IPv4 multicast packets received."),
    raw(hw, "ip4InMcastPkts", "IPv4 multicast packets received."),
    raw(hw, "ip4OutMcastOctets", "Bytes of IPv4 multicast packets sent."),
    raw(hw, "ip4OutMcastPkts", "IPv4 multicast packets sent."),
    {hw, "ip6InDiscards", &kDiscards, kRx},
    {hw, "ip6InOctets", &kRdmaBytes, kRx},
    {hw, "ip6OutOctets", &kRdmaBytes, kTx},
    raw(hw, "ip6InTruncatedPkts", "IPv6 packets received that are cut short."),
    raw(hw, "ip6OutNoRoutes", "IPv6 packets not sent for want of a route."),
    raw(hw, "ip6InPkts", "IPv6 packets received by the RDMA engine."),
    raw(hw, "ip6OutPkts", "IPv6 packets sent by the RDMA engine."),
    raw(hw, "ip6InReasmRqd", "IPv6 fragments received."),
    raw(hw, "ip6OutSegRqd", "IPv6 fragments sent."),
    raw(hw, "ip6InMcastOctets", "Bytes of IPv6 multicast packets received."),
    raw(hw, "ip6InMcastPkts", "IPv6 multicast packets received."),
    raw(hw, "ip6OutMcastOctets", "Bytes of IPv6 multicast packets sent."),
    raw(hw, "ip6OutMcastPkts", "IPv6 multicast packets sent."),

    {ethtool, "rx_priority_#_xoff.nic", &kPfcFrames, kRx},
    {ethtool, "tx_priority_#_xoff.nic", &kPfcFrames, kTx},
    raw(ethtool, "rx_priority_#_xon.nic", "PFC frames received that end a pause of this priority."),
    raw(ethtool, "tx_priority_#_xon.nic", "PFC frames sent that end a pause of this priority."),
    raw(ethtool, "link_xon_rx.nic", "Global pause frames received that end a pause."),
    raw(ethtool, "link_xon_tx.nic", "Global pause frames sent that end a pause."),
    {ethtool, "link_xoff_rx.nic", &kGlobalPauseFrames, kRx},
    {ethtool, "link_xoff_tx.nic", &kGlobalPauseFrames, kTx},
    {ethtool, "rx_dropped.nic", &kPhyDiscards, kRx},
    {ethtool, "rx_crc_errors.nic", &kPhyCrcErrors},
    {ethtool, "illegal_bytes.nic", &kPhyCodingErrors},
    {ethtool, "rx_oversize.nic", &kPhyOversize},
    {ethtool, "mac_local_faults.nic", &kPhyMacFaults, {"end", "local"}},
    {ethtool, "mac_remote_faults.nic", &kPhyMacFaults, {"end", "remote"}},

    {ethtool, "port.rx_priority_#_xoff_rx", &kPfcFrames, kRx},
    {ethtool, "port.tx_priority_#_xoff_tx", &kPfcFrames, kTx},
    {ethtool, "port.rx_priority_#_xon_2_xoff", &kPfcTransitions, kRx},
    raw(ethtool, "port.rx_priority_#_xon_rx", "PFC frames received that end a pause of this priority."),
    raw(ethtool, "port.tx_priority_#_xon_tx", "PFC frames sent that end a pause of this priority."),
    raw(ethtool, "port.link_xon_rx", "Global pause frames received that end a pause."),
    raw(ethtool, "port.link_xon_tx", "Global pause frames sent that end a pause."),
    {ethtool, "port.link_xoff_rx", &kGlobalPauseFrames, kRx},
    {ethtool, "port.link_xoff_tx", &kGlobalPauseFrames, kTx},
    {ethtool, "port.rx_dropped", &kPhyDiscards, kRx},
    {ethtool, "port.rx_discards", &kPhyDiscards, kRx},  // the same, as the newest kernels name it
    {ethtool, "port.rx_crc_errors", &kPhyCrcErrors},
    {ethtool, "port.illegal_bytes", &kPhyCodingErrors},
    {ethtool, "port.rx_oversize", &kPhyOversize},
    {ethtool, "port.mac_local_faults", &kPhyMacFaults, {"end", "local"}},
    {ethtool, "port.mac_remote_faults", &kPhyMacFaults, {"end", "remote"}},
};

}  // namespace

std::span<const CounterRow> ice_irdma_rows() { return kRows; }

}  // namespace fabric
