// SPDX-License-Identifier: Apache-2.0
// The names of node_exporter's infiniband collector (collector/infiniband_linux.go of 2026-08, with procfs'
// sysfs/class_infiniband.go). Left out: the eight legacy_* names of counters_ext, which kernels have not had since 4.5,
// and lifespan_seconds, a setting that it rounds to 0.
#include "metrics/compat.h"
#include "metrics/families.h"

namespace fabric {
namespace {

using enum CounterSource;

// Mind its naming: roce_slow_restart is "..._used_total", roce_slow_restart_trans "..._total".
constexpr CompatRow kRows[] = {{pma, "excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors"},
                               {pma, "link_downed", "link_downed"},
                               {pma, "link_error_recovery", "link_error_recovery"},
                               {pma, "local_link_integrity_errors", "local_link_integrity_errors"},
                               {pma, "multicast_rcv_packets", "multicast_packets_received"},
                               {pma, "multicast_xmit_packets", "multicast_packets_transmitted"},
                               {pma, "port_rcv_constraint_errors", "port_constraint_errors_received"},
                               {pma, "port_xmit_constraint_errors", "port_constraint_errors_transmitted"},
                               {pma, "port_rcv_data", "port_data_received_bytes"},
                               {pma, "port_xmit_data", "port_data_transmitted_bytes"},
                               {pma, "port_rcv_discards", "port_discards_received"},
                               {pma, "port_xmit_discards", "port_discards_transmitted"},
                               {pma, "port_rcv_errors", "port_errors_received"},
                               {pma, "port_rcv_packets", "port_packets_received"},
                               {pma, "port_xmit_packets", "port_packets_transmitted"},
                               {pma, "port_xmit_wait", "port_transmit_wait"},
                               {pma, "unicast_rcv_packets", "unicast_packets_received"},
                               {pma, "unicast_xmit_packets", "unicast_packets_transmitted"},
                               {pma, "port_rcv_remote_physical_errors", "port_receive_remote_physical_errors"},
                               {pma, "port_rcv_switch_relay_errors", "port_receive_switch_relay_errors"},
                               {pma, "symbol_error", "symbol_error"},
                               {pma, "VL15_dropped", "vl15_dropped"},
                               {hw, "duplicate_request", "duplicate_requests_packets"},
                               {hw, "implied_nak_seq_err", "implied_nak_seq_errors"},
                               {hw, "local_ack_timeout_err", "local_ack_timeout_errors"},
                               {hw, "np_cnp_sent", "np_cnp_packets_sent"},
                               {hw, "np_ecn_marked_roce_packets", "np_ecn_marked_roce_packets_received"},
                               {hw, "out_of_buffer", "out_of_buffer_drops"},
                               {hw, "out_of_sequence", "out_of_sequence_packets_received"},
                               {hw, "packet_seq_err", "packet_sequence_errors"},
                               {hw, "req_cqe_error", "req_cqes_errors"},
                               {hw, "req_cqe_flush_error", "req_cqes_flush_errors"},
                               {hw, "req_remote_access_errors", "req_remote_access_errors"},
                               {hw, "req_remote_invalid_request", "req_remote_invalid_request_errors"},
                               {hw, "resp_cqe_error", "resp_cqes_errors"},
                               {hw, "resp_cqe_flush_error", "resp_cqes_flush_errors"},
                               {hw, "resp_local_length_error", "resp_local_length_errors"},
                               {hw, "resp_remote_access_errors", "resp_remote_access_errors"},
                               {hw, "rnr_nak_retry_err", "rnr_nak_retry_packets_received"},
                               {hw, "roce_adp_retrans", "roce_adp_retransmits"},
                               {hw, "roce_adp_retrans_to", "roce_adp_retransmits_timeout"},
                               {hw, "roce_slow_restart", "roce_slow_restart_used"},
                               {hw, "roce_slow_restart_cnps", "roce_slow_restart_cnps"},
                               {hw, "roce_slow_restart_trans", "roce_slow_restart"},
                               {hw, "rp_cnp_handled", "rp_cnp_packets_handled"},
                               {hw, "rp_cnp_ignored", "rp_cnp_ignored_packets_received"},
                               {hw, "rx_atomic_requests", "rx_atomic_requests"},
                               {hw, "rx_dct_connect", "rx_dct_connect_requests"},
                               {hw, "rx_read_requests", "rx_read_requests"},
                               {hw, "rx_write_requests", "rx_write_requests"},
                               {hw, "rx_icrc_encapsulated", "rx_icrc_encapsulated_errors"}};

constexpr Metric kInfo{"node_infiniband_info",
                       "Non-numeric data of the device; the value is always 1 (a name of node_exporter)."};
constexpr Metric kState{"node_infiniband_state_id", "Port state: 1 DOWN to 5 ACTIVE_DEFER (a name of node_exporter)."};
constexpr Metric kPhysical{"node_infiniband_physical_state_id",
                           "Physical state of the port (a name of node_exporter)."};
constexpr Metric kNodeRate{"node_infiniband_rate_bytes_per_second", "Data rate of the port (a name of node_exporter)."};

const CompatTable& table() {
  static const CompatTable all("node_infiniband_", kRows, true);
  return all;
}

void add_port(FamilySet& families, const Port& port) {
  const Labels labels = port_labels(port);
  if (port.state) families.add(kState, labels, *port.state);
  if (port.phys_state) families.add(kPhysical, labels, *port.phys_state);
  if (port.rate) families.add(kNodeRate, labels, *port.rate);
  table().publish(families, labels, pma, port.counters.pma);
  table().publish(families, labels, hw, port.counters.hw);
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

std::vector<CompatName> node_exporter_names() { return table().names(); }

}  // namespace fabric
