// SPDX-License-Identifier: Apache-2.0
// The names of node_exporter's infiniband collector (collector/infiniband_linux.go of 2026-08, with procfs'
// sysfs/class_infiniband.go). Left out: the eight legacy_* names of counters_ext, which kernels have not had since 4.5,
// and lifespan_seconds, a setting that it rounds to 0.
#include <deque>
#include <string>

#include "counters/catalogue.h"
#include "metrics/compat.h"

namespace fabric {
namespace {

constexpr CounterSource hw = CounterSource::hw, pma = CounterSource::pma;

struct Row {
  CounterSource source;
  std::string_view raw, name;
};

// Mind its naming: roce_slow_restart is "..._used_total", roce_slow_restart_trans "..._total".
constexpr Row kRows[] = {
    {pma, "excessive_buffer_overrun_errors", "node_infiniband_excessive_buffer_overrun_errors_total"},
    {pma, "link_downed", "node_infiniband_link_downed_total"},
    {pma, "link_error_recovery", "node_infiniband_link_error_recovery_total"},
    {pma, "local_link_integrity_errors", "node_infiniband_local_link_integrity_errors_total"},
    {pma, "multicast_rcv_packets", "node_infiniband_multicast_packets_received_total"},
    {pma, "multicast_xmit_packets", "node_infiniband_multicast_packets_transmitted_total"},
    {pma, "port_rcv_constraint_errors", "node_infiniband_port_constraint_errors_received_total"},
    {pma, "port_xmit_constraint_errors", "node_infiniband_port_constraint_errors_transmitted_total"},
    {pma, "port_rcv_data", "node_infiniband_port_data_received_bytes_total"},
    {pma, "port_xmit_data", "node_infiniband_port_data_transmitted_bytes_total"},
    {pma, "port_rcv_discards", "node_infiniband_port_discards_received_total"},
    {pma, "port_xmit_discards", "node_infiniband_port_discards_transmitted_total"},
    {pma, "port_rcv_errors", "node_infiniband_port_errors_received_total"},
    {pma, "port_rcv_packets", "node_infiniband_port_packets_received_total"},
    {pma, "port_xmit_packets", "node_infiniband_port_packets_transmitted_total"},
    {pma, "port_xmit_wait", "node_infiniband_port_transmit_wait_total"},
    {pma, "unicast_rcv_packets", "node_infiniband_unicast_packets_received_total"},
    {pma, "unicast_xmit_packets", "node_infiniband_unicast_packets_transmitted_total"},
    {pma, "port_rcv_remote_physical_errors", "node_infiniband_port_receive_remote_physical_errors_total"},
    {pma, "port_rcv_switch_relay_errors", "node_infiniband_port_receive_switch_relay_errors_total"},
    {pma, "symbol_error", "node_infiniband_symbol_error_total"},
    {pma, "VL15_dropped", "node_infiniband_vl15_dropped_total"},
    {hw, "duplicate_request", "node_infiniband_duplicate_requests_packets_total"},
    {hw, "implied_nak_seq_err", "node_infiniband_implied_nak_seq_errors_total"},
    {hw, "local_ack_timeout_err", "node_infiniband_local_ack_timeout_errors_total"},
    {hw, "np_cnp_sent", "node_infiniband_np_cnp_packets_sent_total"},
    {hw, "np_ecn_marked_roce_packets", "node_infiniband_np_ecn_marked_roce_packets_received_total"},
    {hw, "out_of_buffer", "node_infiniband_out_of_buffer_drops_total"},
    {hw, "out_of_sequence", "node_infiniband_out_of_sequence_packets_received_total"},
    {hw, "packet_seq_err", "node_infiniband_packet_sequence_errors_total"},
    {hw, "req_cqe_error", "node_infiniband_req_cqes_errors_total"},
    {hw, "req_cqe_flush_error", "node_infiniband_req_cqes_flush_errors_total"},
    {hw, "req_remote_access_errors", "node_infiniband_req_remote_access_errors_total"},
    {hw, "req_remote_invalid_request", "node_infiniband_req_remote_invalid_request_errors_total"},
    {hw, "resp_cqe_error", "node_infiniband_resp_cqes_errors_total"},
    {hw, "resp_cqe_flush_error", "node_infiniband_resp_cqes_flush_errors_total"},
    {hw, "resp_local_length_error", "node_infiniband_resp_local_length_errors_total"},
    {hw, "resp_remote_access_errors", "node_infiniband_resp_remote_access_errors_total"},
    {hw, "rnr_nak_retry_err", "node_infiniband_rnr_nak_retry_packets_received_total"},
    {hw, "roce_adp_retrans", "node_infiniband_roce_adp_retransmits_total"},
    {hw, "roce_adp_retrans_to", "node_infiniband_roce_adp_retransmits_timeout_total"},
    {hw, "roce_slow_restart", "node_infiniband_roce_slow_restart_used_total"},
    {hw, "roce_slow_restart_cnps", "node_infiniband_roce_slow_restart_cnps_total"},
    {hw, "roce_slow_restart_trans", "node_infiniband_roce_slow_restart_total"},
    {hw, "rp_cnp_handled", "node_infiniband_rp_cnp_packets_handled_total"},
    {hw, "rp_cnp_ignored", "node_infiniband_rp_cnp_ignored_packets_received_total"},
    {hw, "rx_atomic_requests", "node_infiniband_rx_atomic_requests_total"},
    {hw, "rx_dct_connect", "node_infiniband_rx_dct_connect_requests_total"},
    {hw, "rx_read_requests", "node_infiniband_rx_read_requests_total"},
    {hw, "rx_write_requests", "node_infiniband_rx_write_requests_total"},
    {hw, "rx_icrc_encapsulated", "node_infiniband_rx_icrc_encapsulated_errors_total"},
};

constexpr MetricKind kGauge = MetricKind::gauge;
constexpr Metric kInfo{"node_infiniband_info",
                       "Non-numeric data of the device; the value is always 1 (a name of node_exporter).", kGauge};
constexpr Metric kState{"node_infiniband_state_id", "Port state: 1 DOWN to 5 ACTIVE_DEFER (a name of node_exporter).",
                        kGauge};
constexpr Metric kPhysical{"node_infiniband_physical_state_id", "Physical state of the port (a name of node_exporter).",
                           kGauge};
constexpr Metric kRate{"node_infiniband_rate_bytes_per_second", "Data rate of the port (a name of node_exporter).",
                       kGauge};

// A row as a metric: its help is that of the catalogue.
struct Entry {
  const Row* row;
  Metric metric;
  Scale scale;
};

const std::deque<Entry>& entries() {
  static const auto all = [] {
    std::deque<Entry> out;
    for (const Row& row : kRows) {
      const auto match = describe_counter(row.source, row.raw);
      if (match) out.push_back({&row, {row.name, meaning(*match->row), MetricKind::counter}, match->row->scale});
    }
    return out;
  }();
  return all;
}

void add_port(FamilySet& families, const Port& port) {
  const Labels labels{{"device", port.rdma}, {"port", std::to_string(port.number)}};
  if (port.state) families.add(kState, labels, *port.state);
  if (port.phys_state) families.add(kPhysical, labels, *port.phys_state);
  if (port.rate) families.add(kRate, labels, *port.rate);
  for (const Entry& entry : entries())
    for (const Counter& counter : entry.row->source == hw ? port.counters.hw : port.counters.pma)
      if (counter.name == entry.row->raw)
        families.add(entry.metric, labels,
                     static_cast<double>(counter.value) * entry.scale.multiply / entry.scale.divide);
}

}  // namespace

void add_node_exporter(FamilySet& families, const Node& node) {
  std::string last;
  for (const Port& port : node.ports) {
    if (port.is_member()) continue;  // not known there
    if (port.rdma != last)           // of the device, not of each of its ports
      families.add(kInfo,
                   {{"device", port.rdma},
                    {"board_id", port.board_id},
                    {"firmware_version", port.firmware},
                    {"hca_type", port.hca_type}},
                   1);
    last = port.rdma;
    add_port(families, port);
  }
}

std::vector<CompatName> node_exporter_names() {
  std::vector<CompatName> out;
  for (const Row& row : kRows) out.push_back({row.source, row.raw, row.name});
  return out;
}

}  // namespace fabric
