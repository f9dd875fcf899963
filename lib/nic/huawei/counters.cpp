// SPDX-License-Identifier: Apache-2.0
// HiSilicon (hns_roce, hns3). Linux 6.12: drivers/infiniband/hw/hns/hns_roce_main.c (hns_roce_port_stats_descs),
// since 6.6; hisilicon/hns3/hns3pf/hclge_main.c (g_mac_stats_string). The unit of mac_..._xoff_time is not documented,
// so it has no row. No counter shows a loss or a retransmission (hns_roce_hw_v2_query_counter()).
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterOrigin kHwStats{
    "infiniband/hw/hns/hns_roce_hw_v2.c hns_roce_hw_v2_query_counter(); none is of a loss or of packets sent again",
    "a reset of the NIC"};
constexpr CounterOrigin kMacStats{
    "net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c g_mac_stats_string, summed by hclge_mac_update_stats()",
    "a reload of the driver"};

constexpr CounterRow kRows[] = {
    {hw, "rx_pkt", kHwStats, none, 64, &kRdmaPackets, kRx},
    {hw, "tx_pkt", kHwStats, none, 64, &kRdmaPackets, kTx},
    {hw, "rx_err_pkt", kHwStats, link, 64, &kErroredPackets, kRx},
    {hw, "tx_err_pkt", kHwStats, request, 64, &kErroredPackets, kTx},
    {hw, "rx_cnp_pkt", kHwStats, none, 64, &kCnpHandled, {}, {}, "Congestion notification packets received."},
    {hw, "tx_cnp_pkt", kHwStats, none, 64, &kCnpSent},
    raw(hw, "rx_rc_pkt", kHwStats, none, 64, "Packets received of the reliable connected transport."),
    raw(hw, "rx_uc_pkt", kHwStats, none, 64, "Packets received of the unreliable connected transport."),
    raw(hw, "rx_ud_pkt", kHwStats, none, 64, "Packets received of the datagram transport."),
    raw(hw, "rx_xrc_pkt", kHwStats, none, 64, "Packets received of the extended reliable connected transport."),
    raw(hw, "tx_rc_pkt", kHwStats, none, 64, "Packets sent of the reliable connected transport."),
    raw(hw, "tx_uc_pkt", kHwStats, none, 64, "Packets sent of the unreliable connected transport."),
    raw(hw, "tx_ud_pkt", kHwStats, none, 64, "Packets sent of the datagram transport."),
    raw(hw, "tx_xrc_pkt", kHwStats, none, 64, "Packets sent of the extended reliable connected transport."),
    raw(hw, "trp_get_mpt_err_pkt", kHwStats, none, 64, "Packets for which the memory protection table had no entry."),
    raw(hw, "trp_get_irrl_err_pkt", kHwStats, none, 64, "Packets for which the list of inbound reads had no entry."),
    raw(hw, "ecn_doorbell", kHwStats, none, 64, "Doorbells of congestion control."),
    raw(hw, "rx_buffer", kHwStats, none, 64, "Receive buffers used."),
    raw(hw, "trp_rx_sof", kHwStats, none, 64, "Packets whose start the transport saw."),
    raw(hw, "cq_cqe", kHwStats, none, 64, "Completions written."),
    raw(hw, "cq_poe", kHwStats, none, 64, "Completions passed on by hardware (port of execution)."),
    raw(hw, "cq_notify", kHwStats, none, 64, "Completion queue notifications."),

    {ethtool, "mac_rx_pfc_pri#_pkt_num", kMacStats, none, 64, &kPfcFrames, kRx},
    {ethtool, "mac_tx_pfc_pri#_pkt_num", kMacStats, none, 64, &kPfcFrames, kTx},
    {ethtool, "mac_rx_pfc_pkt_num", kMacStats, none, 64, &kPfcAllFrames, kRx},
    {ethtool, "mac_tx_pfc_pkt_num", kMacStats, none, 64, &kPfcAllFrames, kTx},
    {ethtool, "mac_rx_mac_pause_num", kMacStats, none, 64, &kGlobalPauseFrames, kRx},
    {ethtool, "mac_tx_mac_pause_num", kMacStats, none, 64, &kGlobalPauseFrames, kTx},
    {ethtool, "mac_rx_fcs_err_pkt_num", kMacStats, link, 64, &kPhyCrcErrors},
};

}  // namespace

const CounterTable kHnsCounters{.vendor = "HiSilicon hns_roce, hns3", .drivers = {"hns3"}, .rows = kRows};

}  // namespace fabric
