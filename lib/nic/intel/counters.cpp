// SPDX-License-Identifier: Apache-2.0
// Intel: irdma over ice, i40e and idpf. Linux 6.12: drivers/infiniband/hw/irdma/verbs.c (and the names of 7.x, some
// with spaces), intel/ice/ice_ethtool.c, intel/i40e/i40e_ethtool.c. The xoff counters count frames that start a pause;
// xon frames end it. Frames with illegal bytes are counted in addition to CRC errors (ice_main.c,
// ice_update_vsi_stats). idpf counts neither pauses nor link errors.
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterOrigin kHwStats{
    "infiniband/hw/irdma/verbs.c irdma_get_hw_stats(), widened from 24 to 56 bits by ctrl.c irdma_update_stats() "
    "(icrdma_hw_stat_map, i40iw_hw_stat_map). Names with spaces: the third generation, ig3rdma_hw_stat_map, and those "
    "without tcp and iw: kernels after 6.17",
    "a reload of the driver"};
constexpr CounterOrigin kIceStats{
    "net/ethernet/intel/ice/ice_ethtool.c ice_gstrings_pf_stats, widened from 32 and 40 bits by ice_main.c "
    "ice_update_pf_stats()",
    "a reset of the function"};
constexpr CounterOrigin kI40eStats{
    "net/ethernet/intel/i40e/i40e_ethtool.c i40e_gstrings_stats, i40e_gstrings_pfc_stats, widened from 32 and 48 bits "
    "by i40e_main.c i40e_update_pf_stats()",
    "a reset of the function (i40e_pf_reset_stats())"};

constexpr CounterRow kRows[] = {
    // irdma_hw_stat_descs of verbs.c; irdma_update_stats() widens 24 to 56 bits of the hardware to 64. On ice and i40e
    // tcpRetransSegs, now RetransSegs, is the only sign of a loss, for RoCE as well; the names with spaces are of the
    // third generation (ig3rdma_hw.c, below idpf).
    {hw, "cnpSent", kHwStats, none, 64, &kCnpSent},
    {hw, "cnpHandled", kHwStats, none, 64, &kCnpHandled},
    {hw, "cnpIgnored", kHwStats, ecn, 64, &kCnpIgnored},
    {hw, "RxECNMrkd", kHwStats, none, 64, &kEcnMarked},
    {hw, "RxUDP", kHwStats, none, 64, &kRdmaPackets, kRx},
    {hw, "TxUDP", kHwStats, none, 64, &kRdmaPackets, kTx},
    {hw, "Rcvd Out of order packets", kHwStats, loss, 64, &kOutOfSequence},
    {hw, "Nak Sequence Error", kHwStats, loss, 64, &kSequenceNaks},
    {hw, "RTO", kHwStats, loss, 64, &kAckTimeouts},
    {hw, "RNR received", kHwStats, receiver, 64, &kRnrNaksReceived},
    {hw, "RNR sent", kHwStats, receiver, 64, &kRnrNaksSent},
    {hw, "CRC errors", kHwStats, link, 64, &kIcrcErrors},
    {hw, "Nak Sequence Error Implied", kHwStats, loss, 64, &kImpliedNaks},
    raw(hw, "Rx atomics", kHwStats, none, 64, "Atomic requests received."),
    raw(hw, "Tx atomics", kHwStats, none, 64, "Atomic requests sent."),
    raw(hw, "ord limit count", kHwStats, none, 64, "Times the limit of outbound reads in flight was met."),
    raw(hw, "ird limit count", kHwStats, none, 64, "Times the limit of inbound reads in flight was met."),
    raw(hw, "rxVlanErrors", kHwStats, none, 64, "Packets received for a VLAN that is not configured."),
    {hw, "iwInRdmaReads", kHwStats, none, 64, &kRequests, {"operation", "read"}},
    {hw, "iwInRdmaWrites", kHwStats, none, 64, &kRequests, {"operation", "write"}},
    {hw, "iwInRdmaSends", kHwStats, none, 64, &kRequests, {"operation", "send"}},
    {hw, "InRdmaReads", kHwStats, none, 64, &kRequests, {"operation", "read"}},
    {hw, "InRdmaWrites", kHwStats, none, 64, &kRequests, {"operation", "write"}},
    {hw, "InRdmaSends", kHwStats, none, 64, &kRequests, {"operation", "send"}},
    raw(hw, "iwOutRdmaReads", kHwStats, none, 64, "Read requests sent."),
    raw(hw, "iwOutRdmaWrites", kHwStats, none, 64, "Write requests sent."),
    raw(hw, "iwOutRdmaSends", kHwStats, none, 64, "Send requests sent."),
    raw(hw, "OutRdmaReads", kHwStats, none, 64, "Read requests sent."),
    raw(hw, "OutRdmaWrites", kHwStats, none, 64, "Write requests sent."),
    raw(hw, "OutRdmaSends", kHwStats, none, 64, "Send requests sent."),
    raw(hw, "iwRdmaBnd", kHwStats, none, 64, "Memory windows bound."),
    raw(hw, "iwRdmaInv", kHwStats, none, 64, "Memory keys invalidated."),
    raw(hw, "RdmaBnd", kHwStats, none, 64, "Memory windows bound."),
    raw(hw, "RdmaInv", kHwStats, none, 64, "Memory keys invalidated."),
    {hw, "tcpRetransSegs", kHwStats, loss, 64, &kRetransmittedPackets},
    raw(hw, "tcpInOptErrors", kHwStats, none, 64, "Segments received with wrong TCP options (iWARP)."),
    raw(hw, "tcpInProtoErrors", kHwStats, none, 64, "Packets received that break the transport protocol."),
    raw(hw, "tcpInSegs", kHwStats, none, 64, "Segments received."),
    raw(hw, "tcpOutSegs", kHwStats, none, 64, "Segments sent."),
    {hw, "RetransSegs", kHwStats, loss, 64, &kRetransmittedPackets},
    raw(hw, "InOptErrors", kHwStats, none, 64, "Segments received with wrong TCP options (iWARP)."),
    raw(hw, "InProtoErrors", kHwStats, none, 64, "Packets received that break the transport protocol."),
    raw(hw, "InSegs", kHwStats, none, 64, "Segments received."),
    raw(hw, "OutSegs", kHwStats, none, 64, "Segments sent."),
    {hw, "ip4InDiscards", kHwStats, discard, 64, &kDiscards, kRx},
    {hw, "ip4InOctets", kHwStats, none, 64, &kRdmaBytes, kRx},
    {hw, "ip4OutOctets", kHwStats, none, 64, &kRdmaBytes, kTx},
    raw(hw, "ip4InTruncatedPkts", kHwStats, none, 64, "IPv4 packets received that are cut short."),
    raw(hw, "ip4OutNoRoutes", kHwStats, none, 64, "IPv4 packets not sent because there was no route."),
    raw(hw, "ip4InPkts", kHwStats, none, 64, "IPv4 packets received by the RDMA engine."),
    raw(hw, "ip4OutPkts", kHwStats, none, 64, "IPv4 packets sent by the RDMA engine."),
    raw(hw, "ip4InReasmRqd", kHwStats, none, 64, "IPv4 fragments received."),
    raw(hw, "ip4OutSegRqd", kHwStats, none, 64, "IPv4 fragments sent."),
    raw(hw, "ip4InMcastOctets", kHwStats, none, 64, "Bytes of IPv4 multicast packets received."),
    raw(hw, "ip4InMcastPkts", kHwStats, none, 64, "IPv4 multicast packets received."),
    raw(hw, "ip4OutMcastOctets", kHwStats, none, 64, "Bytes of IPv4 multicast packets sent."),
    raw(hw, "ip4OutMcastPkts", kHwStats, none, 64, "IPv4 multicast packets sent."),
    {hw, "ip6InDiscards", kHwStats, discard, 64, &kDiscards, kRx},
    {hw, "ip6InOctets", kHwStats, none, 64, &kRdmaBytes, kRx},
    {hw, "ip6OutOctets", kHwStats, none, 64, &kRdmaBytes, kTx},
    raw(hw, "ip6InTruncatedPkts", kHwStats, none, 64, "IPv6 packets received that are cut short."),
    raw(hw, "ip6OutNoRoutes", kHwStats, none, 64, "IPv6 packets not sent because there was no route."),
    raw(hw, "ip6InPkts", kHwStats, none, 64, "IPv6 packets received by the RDMA engine."),
    raw(hw, "ip6OutPkts", kHwStats, none, 64, "IPv6 packets sent by the RDMA engine."),
    raw(hw, "ip6InReasmRqd", kHwStats, none, 64, "IPv6 fragments received."),
    raw(hw, "ip6OutSegRqd", kHwStats, none, 64, "IPv6 fragments sent."),
    raw(hw, "ip6InMcastOctets", kHwStats, none, 64, "Bytes of IPv6 multicast packets received."),
    raw(hw, "ip6InMcastPkts", kHwStats, none, 64, "IPv6 multicast packets received."),
    raw(hw, "ip6OutMcastOctets", kHwStats, none, 64, "Bytes of IPv6 multicast packets sent."),
    raw(hw, "ip6OutMcastPkts", kHwStats, none, 64, "IPv6 multicast packets sent."),

    {ethtool, "rx_priority_#_xoff.nic", kIceStats, none, 64, &kPfcFrames, kRx},
    {ethtool, "tx_priority_#_xoff.nic", kIceStats, none, 64, &kPfcFrames, kTx},
    raw(ethtool, "rx_priority_#_xon.nic", kIceStats, none, 64,
        "PFC frames received that end a pause of this priority."),
    raw(ethtool, "tx_priority_#_xon.nic", kIceStats, none, 64, "PFC frames sent that end a pause of this priority."),
    raw(ethtool, "link_xon_rx.nic", kIceStats, none, 64, "Global pause frames received that end a pause."),
    raw(ethtool, "link_xon_tx.nic", kIceStats, none, 64, "Global pause frames sent that end a pause."),
    {ethtool, "link_xoff_rx.nic", kIceStats, none, 64, &kGlobalPauseFrames, kRx},
    {ethtool, "link_xoff_tx.nic", kIceStats, none, 64, &kGlobalPauseFrames, kTx},
    {ethtool, "rx_dropped.nic", kIceStats, none, 64, &kPhyDiscards, kRx},
    {ethtool, "rx_crc_errors.nic", kIceStats, link, 64, &kPhyCrcErrors},
    {ethtool, "illegal_bytes.nic", kIceStats, link, 64, &kPhyCodingErrors},
    {ethtool, "rx_oversize.nic", kIceStats, none, 64, &kPhyOversize},
    {ethtool, "mac_local_faults.nic", kIceStats, link, 64, &kPhyMacFaults, {"end", "local"}},
    {ethtool, "mac_remote_faults.nic", kIceStats, link, 64, &kPhyMacFaults, {"end", "remote"}},

    {ethtool, "port.rx_priority_#_xoff_rx", kI40eStats, none, 64, &kPfcFrames, kRx},
    {ethtool, "port.tx_priority_#_xoff_tx", kI40eStats, none, 64, &kPfcFrames, kTx},
    {ethtool, "port.rx_priority_#_xon_2_xoff", kI40eStats, none, 64, &kPfcTransitions, kRx},
    raw(ethtool, "port.rx_priority_#_xon_rx", kI40eStats, none, 64,
        "PFC frames received that end a pause of this priority."),
    raw(ethtool, "port.tx_priority_#_xon_tx", kI40eStats, none, 64,
        "PFC frames sent that end a pause of this priority."),
    raw(ethtool, "port.link_xon_rx", kI40eStats, none, 64, "Global pause frames received that end a pause."),
    raw(ethtool, "port.link_xon_tx", kI40eStats, none, 64, "Global pause frames sent that end a pause."),
    {ethtool, "port.link_xoff_rx", kI40eStats, none, 64, &kGlobalPauseFrames, kRx},
    {ethtool, "port.link_xoff_tx", kI40eStats, none, 64, &kGlobalPauseFrames, kTx},
    {ethtool, "port.rx_dropped", kI40eStats, none, 64, &kPhyDiscards, kRx},
    {ethtool, "port.rx_discards", kI40eStats, none, 64, &kPhyDiscards, kRx},  // the name in Linux 6.1 to 6.12
    {ethtool, "port.rx_crc_errors", kI40eStats, link, 64, &kPhyCrcErrors},
    {ethtool, "port.illegal_bytes", kI40eStats, link, 64, &kPhyCodingErrors},
    {ethtool, "port.rx_oversize", kI40eStats, none, 64, &kPhyOversize},
    {ethtool, "port.mac_local_faults", kI40eStats, link, 64, &kPhyMacFaults, {"end", "local"}},
    {ethtool, "port.mac_remote_faults", kI40eStats, link, 64, &kPhyMacFaults, {"end", "remote"}},
};

}  // namespace

const CounterTable kIntelCounters{.vendor = "Intel irdma, ice, i40e, idpf",
                                  .drivers = {"ice", "i40e", "idpf"},
                                  .rows = kRows,

                                  .hw_scope = CounterScope::function};

}  // namespace fabric
