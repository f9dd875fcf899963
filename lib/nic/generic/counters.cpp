// SPDX-License-Identifier: Apache-2.0
// ports/N/counters: the same files for all drivers that have them (Documentation/ABI/stable/sysfs-class-infiniband,
// drivers/infiniband/core/sysfs.c of Linux 6.12). port_*_data count words of four bytes.
#include "nic/counter_row.h"

namespace fabric {
namespace {

using enum CounterClass;
using namespace metrics;
constexpr CounterSource pma = CounterSource::pma;

// InfiniBand's link layer; widths: drivers/infiniband/core/sysfs.c of Linux 6.12.
constexpr CounterRow link_row(std::string_view name, const CounterOrigin& origin, CounterMeaning rise, unsigned bits,
                              const Metric& metric, Label label = {}) {
  return {pma, name, origin, rise, bits, &metric, label, {}, {}, false, {}, CounterScope::infiniband_link};
}

// Linux 6.1 to 6.12 lack port_rcv_discards; other exporters read it.
constexpr CounterOrigin kPmaFiles{
    "infiniband/core/sysfs.c pma_attrs_ext, show_pma_counter(); without extended counters (pma_attrs) data and "
    "packets have 32 bits and stop when full",
    "perfquery -R of anyone on the fabric (InfiniBand); a reload of the driver"};

constexpr CounterRow kRows[] = {
    {pma, "port_rcv_data", kPmaFiles, none, 64, &kPortBytes, kRx, kWords},
    {pma, "port_xmit_data", kPmaFiles, none, 64, &kPortBytes, kTx, kWords},
    {pma, "port_rcv_packets", kPmaFiles, none, 64, &kPortPackets, kRx},
    {pma, "port_xmit_packets", kPmaFiles, none, 64, &kPortPackets, kTx},
    {pma, "unicast_rcv_packets", kPmaFiles, none, 64, &kPortUnicast, kRx},
    {pma, "unicast_xmit_packets", kPmaFiles, none, 64, &kPortUnicast, kTx},
    {pma, "multicast_rcv_packets", kPmaFiles, none, 64, &kPortMulticast, kRx},
    {pma, "multicast_xmit_packets", kPmaFiles, none, 64, &kPortMulticast, kTx},
    link_row("port_rcv_discards", kPmaFiles, none, 64, kPortDiscards, kRx),
    link_row("port_xmit_discards", kPmaFiles, discard, 16, kPortDiscards, kTx),
    link_row("port_rcv_constraint_errors", kPmaFiles, request, 8, kPortConstraint, kRx),
    link_row("port_xmit_constraint_errors", kPmaFiles, request, 8, kPortConstraint, kTx),
    link_row("port_rcv_errors", kPmaFiles, link, 16, kPortReceiveErrors),
    link_row("port_rcv_remote_physical_errors", kPmaFiles, link, 16, kPortRemotePhysical),
    link_row("port_rcv_switch_relay_errors", kPmaFiles, none, 64, kPortSwitchRelay),
    link_row("symbol_error", kPmaFiles, link, 16, kPortSymbolErrors),
    link_row("link_error_recovery", kPmaFiles, link, 8, kPortLinkRecoveries),
    link_row("link_downed", kPmaFiles, severe(link), 8, kPortLinkDowned),
    link_row("local_link_integrity_errors", kPmaFiles, severe(link), 4, kPortLinkIntegrity),
    link_row("excessive_buffer_overrun_errors", kPmaFiles, severe(discard), 4, kPortOverruns),
    link_row("VL15_dropped", kPmaFiles, none, 16, kPortVl15),
    link_row("port_xmit_wait", kPmaFiles, none, 32, kPortWait),
};

}  // namespace

const CounterTable kPmaCounters{.vendor = "all drivers", .rows = kRows};

}  // namespace fabric
