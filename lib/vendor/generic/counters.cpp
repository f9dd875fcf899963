// SPDX-License-Identifier: Apache-2.0
// ports/N/counters, the same files for all drivers that have them (Documentation/ABI/stable/sysfs-class-infiniband,
// drivers/infiniband/core/sysfs.c of Linux 6.12). port_*_data count words of four bytes.
#include "model/metrics.h"
#include "vendor/counter_row.h"

namespace fabric {
namespace {

using namespace metrics;
constexpr CounterSource pma = CounterSource::pma;

constexpr CounterRow kRows[] = {
    {pma, "port_rcv_data", &kPortBytes, kRx, kWords},
    {pma, "port_xmit_data", &kPortBytes, kTx, kWords},
    {pma, "port_rcv_packets", &kPortPackets, kRx},
    {pma, "port_xmit_packets", &kPortPackets, kTx},
    {pma, "unicast_rcv_packets", &kPortUnicast, kRx},
    {pma, "unicast_xmit_packets", &kPortUnicast, kTx},
    {pma, "multicast_rcv_packets", &kPortMulticast, kRx},
    {pma, "multicast_xmit_packets", &kPortMulticast, kTx},
    {pma, "port_rcv_discards", &kPortDiscards, kRx},
    {pma, "port_xmit_discards", &kPortDiscards, kTx},
    {pma, "port_rcv_constraint_errors", &kPortConstraint, kRx},
    {pma, "port_xmit_constraint_errors", &kPortConstraint, kTx},
    {pma, "port_rcv_errors", &kPortReceiveErrors},
    {pma, "port_rcv_remote_physical_errors", &kPortRemotePhysical},
    {pma, "port_rcv_switch_relay_errors", &kPortSwitchRelay},
    {pma, "symbol_error", &kPortSymbolErrors},
    {pma, "link_error_recovery", &kPortLinkRecoveries},
    {pma, "link_downed", &kPortLinkDowned},
    {pma, "local_link_integrity_errors", &kPortLinkIntegrity},
    {pma, "excessive_buffer_overrun_errors", &kPortOverruns},
    {pma, "VL15_dropped", &kPortVl15},
    {pma, "port_xmit_wait", &kPortWait},
};

}  // namespace

std::span<const CounterRow> pma_rows() { return kRows; }

}  // namespace fabric
