// SPDX-License-Identifier: Apache-2.0
// ports/N/counters, the same files for all drivers that have them (Documentation/ABI/stable/sysfs-class-infiniband,
// drivers/infiniband/core/sysfs.c of Linux 6.12). port_*_data count words of four bytes.
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource pma = CounterSource::pma;

// InfiniBand's link layer; widths: drivers/infiniband/core/sysfs.c of Linux 6.12.
constexpr CounterRow link_row(std::string_view name, CounterMeaning rise, unsigned bits, const Metric& metric,
                              FixedLabel label = {}) {
  return {pma, name, rise, bits, &metric, label, {}, {}, false, {}, CounterScope::infiniband_link};
}

// port_rcv_discards is in none of Linux 6.1 to 6.12; other exporters read it.
constexpr CounterRow kRows[] = {
    {pma, "port_rcv_data", none, 64, &kPortBytes, kRx, kWords},
    {pma, "port_xmit_data", none, 64, &kPortBytes, kTx, kWords},
    {pma, "port_rcv_packets", none, 64, &kPortPackets, kRx},
    {pma, "port_xmit_packets", none, 64, &kPortPackets, kTx},
    {pma, "unicast_rcv_packets", none, 64, &kPortUnicast, kRx},
    {pma, "unicast_xmit_packets", none, 64, &kPortUnicast, kTx},
    {pma, "multicast_rcv_packets", none, 64, &kPortMulticast, kRx},
    {pma, "multicast_xmit_packets", none, 64, &kPortMulticast, kTx},
    link_row("port_rcv_discards", none, 64, kPortDiscards, kRx),
    link_row("port_xmit_discards", discard, 16, kPortDiscards, kTx),
    link_row("port_rcv_constraint_errors", request, 8, kPortConstraint, kRx),
    link_row("port_xmit_constraint_errors", request, 8, kPortConstraint, kTx),
    link_row("port_rcv_errors", link, 16, kPortReceiveErrors),
    link_row("port_rcv_remote_physical_errors", link, 16, kPortRemotePhysical),
    link_row("port_rcv_switch_relay_errors", none, 64, kPortSwitchRelay),
    link_row("symbol_error", link, 16, kPortSymbolErrors),
    link_row("link_error_recovery", link, 8, kPortLinkRecoveries),
    link_row("link_downed", severe(link), 8, kPortLinkDowned),
    link_row("local_link_integrity_errors", severe(link), 4, kPortLinkIntegrity),
    link_row("excessive_buffer_overrun_errors", severe(discard), 4, kPortOverruns),
    link_row("VL15_dropped", none, 16, kPortVl15),
    link_row("port_xmit_wait", none, 32, kPortWait),
};

constexpr CounterOrigin kOrigins[] = {
    {"port_rcv_data",
     "infiniband/core/sysfs.c pma_attrs_ext, show_pma_counter(); without extended counters (pma_attrs) data and "
     "packets have 32 bits and stop when full",
     "perfquery -R of anyone on the fabric (InfiniBand); a reload of the driver"},
};

}  // namespace

const CounterTable kPmaCounters{.vendor = "all drivers", .rows = kRows, .origins = kOrigins};

}  // namespace fabric
