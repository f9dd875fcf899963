// SPDX-License-Identifier: Apache-2.0
// The names of yuuki/rdma_exporter (internal/collector/collector.go of 2026-08). Left out:
// rdma_lifespan_milliseconds, its scrape statistics, and of rdma_port_info link_width, link_speed and pf_device.
#include <cctype>

#include "base/parse.h"
#include "metrics/compat.h"
#include "metrics/families.h"

namespace fabric {
namespace {

using enum CounterSource;

constexpr Metric kRdmaPortInfo{"rdma_port_info", "Identity of the port; always 1 (a name of rdma_exporter)."};
constexpr Metric kOptional{
    "rdma_optional_counter_enabled",
    "1 when the optional counter is switched on, 0 when it is only offered (a name of rdma_exporter)."};

constexpr Metric kMode{"rdma_qp_counter_mode",
                       "1 for the active mode of binding queue pairs to counters (a name of rdma_exporter)."};
constexpr Metric kMask{"rdma_qp_auto_mask",
                       "1 if the automatic mode groups queue pairs by this criterion (a name of rdma_exporter)."};
constexpr Metric kStatus{"rdma_qp_scrape_status",
                         "1 for the result of the last reading of queue pair counters (a name of rdma_exporter)."};

constexpr FixedLabel kRead{"op", "rd"}, kWrite{"op", "wr"}, kUnicast{"traffic", "unicast"},
    kMulticast{"traffic", "multicast"};

constexpr CompatRow kStatistics[] = {
    {ethtool, "rx_prio#_pause", "roce_pfc_pause_frames", kRx},
    {ethtool, "tx_prio#_pause", "roce_pfc_pause_frames", kTx},
    {ethtool, "rx_prio#_pause_duration", "roce_pfc_pause_duration", kRx},
    {ethtool, "tx_prio#_pause_duration", "roce_pfc_pause_duration", kTx},
    {ethtool, "rx_prio#_pause_transition", "roce_pfc_pause_transitions", kRx},
    {ethtool, "rx_prio#_buf_discard", "netdev_prio_buf_discard"},
    {ethtool, "rx_prio#_cong_discard", "netdev_prio_cong_discard"},
    {ethtool, "rx_prio#_discards", "netdev_prio_discards"},
    {ethtool, "rx_prio#_marked", "netdev_prio_ecn_marked"},
    {ethtool, "dev_out_of_buffer", "netdev_dev_out_of_buffer"},
    {ethtool, "rx_out_of_buffer", "netdev_rx_out_of_buffer"},
    {ethtool, "rx_discards_phy", "netdev_rx_discards_phy"},
    {ethtool, "outbound_pci_stalled_rd", "pcie_outbound_stalled_percent", kRead},
    {ethtool, "outbound_pci_stalled_wr", "pcie_outbound_stalled_percent", kWrite},
    {ethtool, "outbound_pci_stalled_rd_events", "pcie_outbound_stalled_seconds", kRead},
    {ethtool, "outbound_pci_stalled_wr_events", "pcie_outbound_stalled_seconds", kWrite},
    {ethtool, "outbound_pci_buffer_overflow", "pcie_outbound_buffer_overflow"},
    {ethtool, "rx_pci_signal_integrity", "pcie_signal_integrity", kRx},
    {ethtool, "tx_pci_signal_integrity", "pcie_signal_integrity", kTx},
    {ethtool, "rx_corrected_bits_phy", "phy_rx_corrected_bits"},
    {ethtool, "rx_pcs_symbol_err_phy", "phy_rx_pcs_symbol_err"},
    {ethtool, "rx_bits_phy", "phy_rx_bits"},
    {ethtool, "rx_crc_errors_phy", "phy_rx_crc_errors"},
    {ethtool, "link_down_events_phy", "phy_link_down_events"},
    {ethtool, "rx_err_lane_0_phy", "phy_rx_err_lane", {"lane", "0"}},
    {ethtool, "rx_err_lane_1_phy", "phy_rx_err_lane", {"lane", "1"}},
    {ethtool, "rx_err_lane_2_phy", "phy_rx_err_lane", {"lane", "2"}},
    {ethtool, "rx_err_lane_3_phy", "phy_rx_err_lane", {"lane", "3"}},
    {ethtool, "rx_global_pause", "netdev_global_pause_frames", kRx},
    {ethtool, "tx_global_pause", "netdev_global_pause_frames", kTx},
    {ethtool, "rx_global_pause_duration", "netdev_global_pause_duration", kRx},
    {ethtool, "tx_global_pause_duration", "netdev_global_pause_duration", kTx},
    {ethtool, "rx_global_pause_transition", "netdev_global_pause_transitions"},
    {ethtool, "tx_pause_storm_warning_events", "netdev_pause_storm_events", {"severity", "warning"}},
    {ethtool, "tx_pause_storm_error_events", "netdev_pause_storm_events", {"severity", "error"}},
    {ethtool, "rx_vport_rdma_unicast_bytes", "netdev_vport_rdma_bytes", kRx, kUnicast},
    {ethtool, "rx_vport_rdma_multicast_bytes", "netdev_vport_rdma_bytes", kRx, kMulticast},
    {ethtool, "tx_vport_rdma_unicast_bytes", "netdev_vport_rdma_bytes", kTx, kUnicast},
    {ethtool, "tx_vport_rdma_multicast_bytes", "netdev_vport_rdma_bytes", kTx, kMulticast},
    {ethtool, "rx_vport_rdma_unicast_packets", "netdev_vport_rdma_packets", kRx, kUnicast},
    {ethtool, "rx_vport_rdma_multicast_packets", "netdev_vport_rdma_packets", kRx, kMulticast},
    {ethtool, "tx_vport_rdma_unicast_packets", "netdev_vport_rdma_packets", kTx, kUnicast},
    {ethtool, "tx_vport_rdma_multicast_packets", "netdev_vport_rdma_packets", kTx, kMulticast}};

// Names that do not follow from the file's: dashboards ask for those of the old counters_ext folder.
constexpr CompatRow kAliases[] = {{pma, "unicast_rcv_packets", "port_unicast_rcv_packets"},
                                  {pma, "unicast_xmit_packets", "port_unicast_xmit_packets"},
                                  {pma, "multicast_rcv_packets", "port_multicast_rcv_packets"},
                                  {pma, "multicast_xmit_packets", "port_multicast_xmit_packets"},
                                  {hw, "rdma_rx_bytes", "optional_rx_bytes"},
                                  {hw, "rdma_rx_packets", "optional_rx_packets"},
                                  {hw, "rdma_tx_bytes", "optional_tx_bytes"},
                                  {hw, "rdma_tx_packets", "optional_tx_packets"}};

// Of users' queue pairs that live now, by kind; the port's counter of that name has them, too.
constexpr CompatRow kQueuePairs[] = {{hw, "duplicate_request", "duplicate_request"},
                                     {hw, "implied_nak_seq_err", "implied_nak_seq_err"},
                                     {hw, "local_ack_timeout_err", "local_ack_timeout_err"},
                                     {hw, "packet_seq_err", "packet_seq_err"},
                                     {hw, "rnr_nak_retry_err", "rnr_nak_retry_err"},
                                     {hw, "out_of_buffer", "out_of_buffer"},
                                     {hw, "rx_write_requests", "rx_write_requests"},
                                     {hw, "rx_read_requests", "rx_read_requests"},
                                     {hw, "rx_atomic_requests", "rx_atomic_requests"},
                                     {hw, "rdma_rx_bytes", "rx_bytes"},
                                     {hw, "rdma_tx_bytes", "tx_bytes"},
                                     {hw, "rdma_rx_packets", "rx_packets"},
                                     {hw, "rdma_tx_packets", "tx_packets"}};

// Small letters, digits and underscores.
std::string file_name(std::string_view raw) {
  std::string out = lower(raw);
  std::ranges::replace_if(
      out, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return out;
}

// Every counter of the catalogue that is a file, under the name that its file gives it, and the rows above.
const CompatTable& ports_table() {
  static const CompatTable all = [] {
    CompatTable out("rdma_", kAliases);
    out.add(kStatistics);
    for (const CounterTable& table : counter_tables())
      for (const CounterRow& row : table.rows) {
        const bool renamed = row.source == hw && contains(kAliases, row.name, &CompatRow::raw);
        if (row.source != ethtool && !renamed) out.add({row.source, row.name, file_name(row.name)}, row);
      }
    return out;
  }();
  return all;
}

const CompatTable& queue_pairs_table() {
  static const CompatTable all("rdma_qp_", kQueuePairs);
  return all;
}

void add_one(FamilySet& families, const Metric& metric, const Port& port, std::string_view label,
             std::string_view value, double number) {
  families.add(metric, port_labels(port), {{label, value}}, number);
}

// Its own words (internal/rdma/provider.go, portPhysStateNames), which are not the kernel's: "LINK_UP".
std::string physical_state(unsigned state) {
  constexpr std::array<std::string_view, 8> kNames{
      "", "SLEEP", "POLLING", "DISABLED", "PORT_CONFIGURATION_TRAINING", "LINK_UP", "LINK_ERROR_RECOVERY", "PHY_TEST"};
  return state > 0 && state < kNames.size() ? std::string(kNames[state]) : std::to_string(state) + ": <unknown>";
}

void add_info(FamilySet& families, const Port& port) {
  families.add(kRdmaPortInfo, port_labels(port),
               {{"netdev", port.netdev},
                {"link_layer", to_text(port.link_layer)},
                {"state", port.state ? port_state_text(*port.state) : ""},
                {"phys_state", port.phys_state ? physical_state(*port.phys_state) : ""},
                {"pci_addr", port.pci},
                {"is_vf", port.virtual_function ? "true" : "false"}},
               1);
  if (!port.qos.optional_counters) return;
  for (const std::string& name : port.limits.optional_counters)
    add_one(families, kOptional, port, "counter", name, port.qos.optional_counters->names.contains(name) ? 1 : 0);
}

constexpr std::string_view kModes[] = {"none", "auto", "manual"};     // by QpStatistics::Mode
constexpr std::string_view kResults[] = {"ok", "overflow", "error"};  // by QpStatistics::Dump

void add_queue_pairs(FamilySet& families, const Port& port, const QpStatistics& now) {
  if (now.mode) {
    for (size_t mode = 0; mode < std::size(kModes); ++mode)
      add_one(families, kMode, port, "mode", kModes[mode], static_cast<size_t>(*now.mode) == mode ? 1 : 0);
    add_one(families, kMask, port, "criteria", "type", now.by_type ? 1 : 0);
    add_one(families, kMask, port, "criteria", "pid", now.by_pid ? 1 : 0);
  }
  if (!now.dump) return;
  for (size_t result = 0; result < std::size(kResults); ++result)
    add_one(families, kStatus, port, "result", kResults[result], static_cast<size_t>(*now.dump) == result ? 1 : 0);
  for (const auto& [kind, counters] : now.kinds) {
    Labels labels = port_labels(port);
    labels.push_back({"qp_type", kind});
    queue_pairs_table().publish(families, labels, hw, counters);
  }
}

}  // namespace

void add_rdma_exporter(FamilySet& families, const Node& node) {
  for (const Port& port : node.ports) {
    if (port.is_member()) continue;  // not known there
    add_info(families, port);
    Labels labels = port_labels(port);
    ports_table().publish(families, labels, pma, port.counters.pma);
    ports_table().publish(families, labels, hw, port.counters.hw);
    labels.push_back({"netdev", port.netdev});
    ports_table().publish(families, labels, ethtool, port.counters.ethtool);
  }
}

void add_rdma_exporter_qp(FamilySet& families, const Node& node) {
  for (const Port& port : node.ports)
    if (port.qp_statistics) add_queue_pairs(families, port, *port.qp_statistics);
}

std::vector<CompatName> rdma_exporter_names() { return ports_table().names(); }
std::vector<CompatName> rdma_exporter_qp_names() { return queue_pairs_table().names(); }

}  // namespace fabric
