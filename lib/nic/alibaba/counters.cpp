// SPDX-License-Identifier: Apache-2.0
// Alibaba Cloud eRDMA. Linux 6.12: drivers/infiniband/hw/erdma/erdma_verbs.c (erdma_descs); Alibaba's own driver has
// the prefix "hw_". Drops are caused by the limits of the instance, not by a full buffer. No counter shows a loss or
// a retransmission.
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource hw = CounterSource::hw;

constexpr CounterOrigin kHwStats{"infiniband/hw/erdma/erdma_verbs.c erdma_query_hw_stats()", "not documented"};

constexpr CounterRow kRows[] = {
    {hw, "rx_bytes_cnt", kHwStats, none, 64, &kRdmaBytes, kRx},
    {hw, "tx_bytes_cnt", kHwStats, none, 64, &kRdmaBytes, kTx},
    {hw, "rx_packets_cnt", kHwStats, none, 64, &kRdmaPackets, kRx},
    {hw, "tx_packets_cnt", kHwStats, none, 64, &kRdmaPackets, kTx},
    {hw, "hw_rx_bytes_cnt", kHwStats, none, 64, &kRdmaBytes, kRx},
    {hw, "hw_tx_bytes_cnt", kHwStats, none, 64, &kRdmaBytes, kTx},
    {hw, "hw_rx_packets_cnt", kHwStats, none, 64, &kRdmaPackets, kRx},
    {hw, "hw_tx_packets_cnt", kHwStats, none, 64, &kRdmaPackets, kTx},
    raw(hw, "tx_reqs_cnt", kHwStats, none, 64, "Requests sent."),
    raw(hw, "rx_disable_drop_cnt", kHwStats, none, 64,
        "Packets received that were dropped because the device was off."),
    raw(hw, "tx_disable_drop_cnt", kHwStats, none, 64, "Packets to send that were dropped because the device was off."),
    raw(hw, "rx_bps_limit_drop_cnt", kHwStats, none, 64,
        "Packets received that were dropped at the bandwidth limit of the instance."),
    raw(hw, "tx_bps_limit_drop_cnt", kHwStats, none, 64,
        "Packets to send that were dropped at the bandwidth limit of the instance."),
    raw(hw, "rx_pps_limit_drop_cnt", kHwStats, none, 64,
        "Packets received that were dropped at the packet rate limit of the instance."),
    raw(hw, "tx_pps_limit_drop_cnt", kHwStats, none, 64,
        "Packets to send that were dropped at the packet rate limit of the instance."),
};

}  // namespace

const CounterTable kErdmaCounters{.vendor = "Alibaba eRDMA", .drivers = {"erdma"}, .rows = kRows};

}  // namespace fabric
