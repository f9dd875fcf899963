// SPDX-License-Identifier: Apache-2.0
// The names of yuuki/rdma_exporter (internal/collector/collector.go of 2026-08). Left out:
// rdma_lifespan_milliseconds, its scrape statistics, and of rdma_port_info link_width, link_speed and pf_device.
// rdma_qp_*: compat_rdma_exporter_qp.cpp.
#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "metrics/compat.h"

namespace fabric {
namespace {

constexpr CounterSource hw = CounterSource::hw, pma = CounterSource::pma, ethtool = CounterSource::ethtool;
constexpr MetricKind kGauge = MetricKind::gauge;

constexpr Metric kPauseFrames{"rdma_roce_pfc_pause_frames_total",
                              "PFC frames by direction and priority (a name of rdma_exporter)."};
constexpr Metric kPauseDuration{"rdma_roce_pfc_pause_duration_total",
                                "Microseconds paused by PFC, by direction and priority (a name of rdma_exporter)."};
constexpr Metric kPauseTransitions{"rdma_roce_pfc_pause_transitions_total",
                                   "Changes between paused and not paused (a name of rdma_exporter)."};
constexpr Metric kBufDiscard{"rdma_netdev_prio_buf_discard_total",
                             "Frames discarded because the host's receive buffer was full (a name of rdma_exporter)."};
constexpr Metric kCongDiscard{"rdma_netdev_prio_cong_discard_total",
                              "Frames discarded for congestion in the NIC (a name of rdma_exporter)."};
constexpr Metric kDiscards{"rdma_netdev_prio_discards_total",
                           "Frames discarded because receive buffers were full (a name of rdma_exporter)."};
constexpr Metric kEcnMarked{"rdma_netdev_prio_ecn_marked_total",
                            "Frames that the NIC marked with ECN (a name of rdma_exporter)."};
constexpr Metric kDevOutOfBuffer{"rdma_netdev_dev_out_of_buffer_total",
                                 "Times a queue of the device had no buffers (a name of rdma_exporter)."};
constexpr Metric kRxOutOfBuffer{"rdma_netdev_rx_out_of_buffer_total",
                                "Frames dropped because the netdev's queues had no buffer (a name of rdma_exporter)."};
constexpr Metric kRxDiscards{"rdma_netdev_rx_discards_phy_total",
                             "Frames discarded at the physical port (a name of rdma_exporter)."};
constexpr Metric kStalledPercent{
    "rdma_pcie_outbound_stalled_percent",
    "Share of the last second in which PCIe requests waited, in per cent (a name of rdma_exporter).", kGauge};
constexpr Metric kStalledSeconds{
    "rdma_pcie_outbound_stalled_seconds_total",
    "Seconds in which PCIe requests waited for more than 30 percent (a name of rdma_exporter)."};
constexpr Metric kOverflow{"rdma_pcie_outbound_buffer_overflow_total",
                           "Packets that PCIe could not take in time (a name of rdma_exporter)."};
constexpr Metric kSignal{"rdma_pcie_signal_integrity_total",
                         "Errors of the PCIe physical layer (a name of rdma_exporter)."};
constexpr Metric kCorrectedBits{"rdma_phy_rx_corrected_bits_total", "Bits corrected by FEC (a name of rdma_exporter)."};
constexpr Metric kSymbolErrors{"rdma_phy_rx_pcs_symbol_err_total",
                               "Symbol errors that FEC did not correct (a name of rdma_exporter)."};
constexpr Metric kBits{"rdma_phy_rx_bits_total", "Bits received on the wire (a name of rdma_exporter)."};
constexpr Metric kCrcErrors{"rdma_phy_rx_crc_errors_total", "Frames with a wrong FCS (a name of rdma_exporter)."};
constexpr Metric kLinkDowns{"rdma_phy_link_down_events_total",
                            "Times the physical link went down (a name of rdma_exporter)."};
constexpr Metric kLaneErrors{"rdma_phy_rx_err_lane_total", "Raw errors before FEC, by lane (a name of rdma_exporter)."};
constexpr Metric kGlobalFrames{"rdma_netdev_global_pause_frames_total",
                               "Global pause frames by direction (a name of rdma_exporter)."};
constexpr Metric kGlobalDuration{"rdma_netdev_global_pause_duration_total",
                                 "Microseconds paused by global pause frames (a name of rdma_exporter)."};
constexpr Metric kGlobalTransitions{
    "rdma_netdev_global_pause_transitions_total",
    "Changes from paused to not paused by global pause frames (a name of rdma_exporter)."};
constexpr Metric kStorms{"rdma_netdev_pause_storm_events_total",
                         "Times the NIC paused the far end for long, by severity (a name of rdma_exporter)."};
constexpr Metric kVportBytes{"rdma_netdev_vport_rdma_bytes_total",
                             "RDMA bytes by direction and traffic (a name of rdma_exporter)."};
constexpr Metric kVportPackets{"rdma_netdev_vport_rdma_packets_total",
                               "RDMA packets by direction and traffic (a name of rdma_exporter)."};

constexpr Metric kInfo{"rdma_port_info", "Identity of the port; always 1 (a name of rdma_exporter).", kGauge};
constexpr Metric kOptional{
    "rdma_optional_counter_enabled",
    "1 when the optional counter is switched on, 0 when it is only offered (a name of rdma_exporter).", kGauge};

// Two labels beside device, port, netdev and, for '#', priority.
struct Row {
  std::string_view raw;
  const Metric* metric;
  FixedLabel label{}, more{};
};

constexpr FixedLabel kRead{"op", "rd"}, kWrite{"op", "wr"}, kUnicast{"traffic", "unicast"},
    kMulticast{"traffic", "multicast"};

constexpr Row kRows[] = {
    {"rx_prio#_pause", &kPauseFrames, kRx},
    {"tx_prio#_pause", &kPauseFrames, kTx},
    {"rx_prio#_pause_duration", &kPauseDuration, kRx},
    {"tx_prio#_pause_duration", &kPauseDuration, kTx},
    {"rx_prio#_pause_transition", &kPauseTransitions, kRx},
    {"rx_prio#_buf_discard", &kBufDiscard},
    {"rx_prio#_cong_discard", &kCongDiscard},
    {"rx_prio#_discards", &kDiscards},
    {"rx_prio#_marked", &kEcnMarked},
    {"dev_out_of_buffer", &kDevOutOfBuffer},
    {"rx_out_of_buffer", &kRxOutOfBuffer},
    {"rx_discards_phy", &kRxDiscards},
    {"outbound_pci_stalled_rd", &kStalledPercent, kRead},
    {"outbound_pci_stalled_wr", &kStalledPercent, kWrite},
    {"outbound_pci_stalled_rd_events", &kStalledSeconds, kRead},
    {"outbound_pci_stalled_wr_events", &kStalledSeconds, kWrite},
    {"outbound_pci_buffer_overflow", &kOverflow},
    {"rx_pci_signal_integrity", &kSignal, kRx},
    {"tx_pci_signal_integrity", &kSignal, kTx},
    {"rx_corrected_bits_phy", &kCorrectedBits},
    {"rx_pcs_symbol_err_phy", &kSymbolErrors},
    {"rx_bits_phy", &kBits},
    {"rx_crc_errors_phy", &kCrcErrors},
    {"link_down_events_phy", &kLinkDowns},
    {"rx_err_lane_0_phy", &kLaneErrors, {"lane", "0"}},
    {"rx_err_lane_1_phy", &kLaneErrors, {"lane", "1"}},
    {"rx_err_lane_2_phy", &kLaneErrors, {"lane", "2"}},
    {"rx_err_lane_3_phy", &kLaneErrors, {"lane", "3"}},
    {"rx_global_pause", &kGlobalFrames, kRx},
    {"tx_global_pause", &kGlobalFrames, kTx},
    {"rx_global_pause_duration", &kGlobalDuration, kRx},
    {"tx_global_pause_duration", &kGlobalDuration, kTx},
    {"rx_global_pause_transition", &kGlobalTransitions},
    {"tx_pause_storm_warning_events", &kStorms, {"severity", "warning"}},
    {"tx_pause_storm_error_events", &kStorms, {"severity", "error"}},
    {"rx_vport_rdma_unicast_bytes", &kVportBytes, kRx, kUnicast},
    {"rx_vport_rdma_multicast_bytes", &kVportBytes, kRx, kMulticast},
    {"tx_vport_rdma_unicast_bytes", &kVportBytes, kTx, kUnicast},
    {"tx_vport_rdma_multicast_bytes", &kVportBytes, kTx, kMulticast},
    {"rx_vport_rdma_unicast_packets", &kVportPackets, kRx, kUnicast},
    {"rx_vport_rdma_multicast_packets", &kVportPackets, kRx, kMulticast},
    {"tx_vport_rdma_unicast_packets", &kVportPackets, kTx, kUnicast},
    {"tx_vport_rdma_multicast_packets", &kVportPackets, kTx, kMulticast},
};

// Names that do not follow from the file's: dashboards ask for those of the old counters_ext folder.
struct Alias {
  CounterSource source;
  std::string_view raw, name;
};
constexpr Alias kAliases[] = {
    {pma, "unicast_rcv_packets", "rdma_port_unicast_rcv_packets_total"},
    {pma, "unicast_xmit_packets", "rdma_port_unicast_xmit_packets_total"},
    {pma, "multicast_rcv_packets", "rdma_port_multicast_rcv_packets_total"},
    {pma, "multicast_xmit_packets", "rdma_port_multicast_xmit_packets_total"},
    {hw, "rdma_rx_bytes", "rdma_optional_rx_bytes_total"},
    {hw, "rdma_rx_packets", "rdma_optional_rx_packets_total"},
    {hw, "rdma_tx_bytes", "rdma_optional_tx_bytes_total"},
    {hw, "rdma_tx_packets", "rdma_optional_tx_packets_total"},
};

// "rdma_<file>_total", small letters, digits and underscores.
std::string file_name(std::string_view raw) {
  std::string out = "rdma_";
  for (const char letter : raw) {
    const auto byte = static_cast<unsigned char>(letter);
    out += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return out + "_total";
}

// Every counter of the catalogue that is a file, under the name that its file gives it. A name is one metric, whichever
// folder it comes from.
struct Files {
  struct Named {
    std::string name;
    Metric metric{};
  };
  struct Entry {
    CounterSource source;
    std::string_view raw;
    const Metric* metric;
  };
  std::deque<Named> metrics;  // does not move what it holds
  std::deque<Entry> entries;

  Files() {
    for (auto rows : {pma_rows(), mlx5_rows(), bnxt_rows(), ice_irdma_rows(), ionic_rows(), hns_rows(), rxe_rows()})
      for (const CounterRow& row : rows)
        if (row.source != ethtool && !is_renamed(row)) put(row.source, row.name, file_name(row.name), meaning(row));
    for (const CounterRow& row : efa_rows())
      if (!describe_counter(row.source, row.name)) put(row.source, row.name, file_name(row.name), meaning(row));
    for (const Alias& alias : kAliases)
      put(alias.source, alias.raw, std::string(alias.name), meaning(*describe_counter(alias.source, alias.raw)->row));
  }

  static bool is_renamed(const CounterRow& row) {
    return row.source == hw && std::any_of(std::begin(kAliases), std::end(kAliases),
                                           [&](const Alias& alias) { return alias.raw == row.name; });
  }

  void put(CounterSource source, std::string_view raw, std::string name, std::string_view help) {
    auto known = std::find_if(metrics.begin(), metrics.end(), [&](const Named& one) { return one.name == name; });
    if (known == metrics.end()) {
      Named& made = metrics.emplace_back(Named{std::move(name), {}});
      made.metric = {made.name, help, MetricKind::counter};
      known = std::prev(metrics.end());
    }
    entries.push_back({source, raw, &known->metric});
  }
};

const Files& files() {
  static const Files all;
  return all;
}

using ByName = std::unordered_multimap<std::string_view, const Metric*>;

const ByName& files_of(CounterSource source) {
  const auto make = [](CounterSource wanted) {
    ByName out;
    for (const Files::Entry& entry : files().entries)
      if (entry.source == wanted) out.emplace(entry.raw, entry.metric);
    return out;
  };
  static const ByName of_hw = make(hw), of_pma = make(pma);
  return source == hw ? of_hw : of_pma;
}

struct Found {
  const Row* row = nullptr;
  char priority = 0;
};

std::optional<Found> find_row(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string, Found> out;
    for (const Row& row : kRows) {
      std::string key(row.raw);
      const size_t mark = key.find('#');
      if (mark == std::string::npos) out.emplace(key, Found{&row, 0});
      else
        for (char priority = '0'; priority <= '7'; ++priority)
          key[mark] = priority, out.emplace(key, Found{&row, priority});
    }
    return out;
  }();
  const auto found = index.find(std::string(name));
  if (found == index.end()) return std::nullopt;
  return found->second;
}

Labels port_labels(const Port& port) { return {{"device", port.rdma}, {"port", std::to_string(port.number)}}; }

void add_files(FamilySet& families, const Port& port, CounterSource source, const std::vector<Counter>& counters) {
  for (const Counter& counter : counters) {
    const auto [first, last] = files_of(source).equal_range(counter.name);
    for (auto each = first; each != last; ++each)
      families.add(*each->second, port_labels(port), static_cast<double>(counter.value));
  }
}

void add_ethtool(FamilySet& families, const Port& port) {
  for (const Counter& counter : port.counters.ethtool) {
    const auto found = find_row(counter.name);
    if (!found) continue;
    Labels labels = port_labels(port);
    labels.push_back({"netdev", port.netdev});
    for (const FixedLabel& label : {found->row->label, found->row->more})
      if (!label.name.empty()) labels.push_back(label);
    if (found->priority != 0) labels.push_back({"priority", std::string(1, found->priority)});
    families.add(*found->row->metric, std::move(labels), static_cast<double>(counter.value));
  }
}

// Its own words (internal/rdma/provider.go, portPhysStateNames), which are not the kernel's: "LINK_UP".
std::string physical_state(unsigned state) {
  constexpr std::array<std::string_view, 8> kNames{
      "", "SLEEP", "POLLING", "DISABLED", "PORT_CONFIGURATION_TRAINING", "LINK_UP", "LINK_ERROR_RECOVERY", "PHY_TEST"};
  return state > 0 && state < kNames.size() ? std::string(kNames[state]) : std::to_string(state) + ": <unknown>";
}

void add_info(FamilySet& families, const Port& port) {
  Labels labels = port_labels(port);
  labels.push_back({"netdev", port.netdev});
  labels.push_back({"link_layer", to_text(port.link_layer)});
  labels.push_back({"state", port.state ? std::string(port_state_text(*port.state)) : std::string()});
  labels.push_back({"phys_state", port.phys_state ? physical_state(*port.phys_state) : std::string()});
  labels.push_back({"pci_addr", port.pci});
  labels.push_back({"is_vf", port.virtual_function ? "true" : "false"});
  families.add(kInfo, std::move(labels), 1);
  if (!port.qos.optional_counters) return;
  for (const std::string& name : port.limits.optional_counters) {
    Labels own = port_labels(port);
    own.push_back({"counter", name});
    families.add(kOptional, std::move(own), port.qos.optional_counters->names.contains(name) ? 1 : 0);
  }
}

}  // namespace

void add_rdma_exporter(FamilySet& families, const Node& node) {
  for (const Port& port : node.ports) {
    if (port.is_member()) continue;  // not known there
    add_info(families, port);
    add_files(families, port, pma, port.counters.pma);
    add_files(families, port, hw, port.counters.hw);
    add_ethtool(families, port);
  }
}

std::vector<CompatName> rdma_exporter_names() {
  std::vector<CompatName> out;
  for (const Files::Entry& entry : files().entries) out.push_back({entry.source, entry.raw, entry.metric->name});
  for (const Row& row : kRows) out.push_back({ethtool, row.raw, row.metric->name});
  return out;
}

void add_compat(FamilySet& families, const Node& node, std::span<const Compat> wanted) {
  for (const Compat one : wanted) {
    switch (one) {
      case Compat::node_exporter: add_node_exporter(families, node); break;
      case Compat::rdma_exporter: add_rdma_exporter(families, node); break;
      case Compat::rdma_exporter_qp: add_rdma_exporter_qp(families, node); break;
    }
  }
}

}  // namespace fabric
