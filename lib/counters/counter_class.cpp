// SPDX-License-Identifier: Apache-2.0
#include "counters/counter_class.h"

#include <cctype>
#include <string>

namespace fabric {
namespace {

struct Row {
  std::string_view name;  // "prioN" and "cosN" stand for any digit
  CounterMeaning meaning;
};

constexpr bool kSevere = true;
using enum CounterClass;

// Sources: mlx5/counters.c and the mlx5 counters.rst of Linux 6.12; bnxt_re/hw_counters.c and bnxt_ethtool.c;
// irdma/verbs.c (6.12, and the names of 7.x); rxe_hw_counters.c; ice_ethtool.c;
// Documentation/ABI/stable/sysfs-class-infiniband.
constexpr Row kRows[] = {
    // mlx5, and bnxt_re since 7.x
    {"out_of_sequence", {loss}},
    {"packet_seq_err", {loss}},
    {"local_ack_timeout_err", {loss}},
    {"implied_nak_seq_err", {loss}},
    {"duplicate_request", {loss}},
    {"roce_adp_retrans", {loss}},
    {"roce_adp_retrans_to", {loss}},
    {"roce_slow_restart", {loss}},
    {"req_transport_retries_exceeded", {loss, kSevere}},
    {"out_of_buffer", {receiver}},
    {"rnr_nak_retry_err", {receiver}},
    {"req_rnr_retries_exceeded", {receiver, kSevere}},
    {"rx_icrc_encapsulated", {link}},
    {"rp_cnp_ignored", {ecn}},
    {"resp_local_length_error", {request}},
    {"resp_cqe_error", {request}},
    {"req_cqe_error", {request}},
    {"req_remote_invalid_request", {request}},
    {"req_remote_access_errors", {request}},
    {"resp_remote_access_errors", {request}},
    // rxe
    {"rcvd_seq_err", {loss}},
    {"out_of_seq_request", {loss}},
    {"completer_retry_err", {loss}},
    {"retry_exceeded_err", {loss, kSevere}},
    {"rcvd_rnr_err", {receiver}},
    {"send_rnr_err", {receiver}},
    {"retry_rnr_exceeded_err", {receiver, kSevere}},
    {"send_err", {request}},
    // bnxt_re
    {"to_retransmits", {loss}},
    {"seq_err_naks_rcvd", {loss}},
    {"missing_resp", {loss}},
    {"dup_req", {loss}},
    {"oos_drop_count", {loss}},
    {"max_retry_exceeded", {loss, kSevere}},
    {"rnr_naks_rcvd", {receiver}},
    {"rx_out_of_buffer", {receiver}},
    {"tx_roce_discards", {discard}},
    {"rx_roce_discards", {discard}},
    {"tx_roce_errors", {request}},
    {"rx_roce_errors", {request}},
    {"unrecoverable_err", {request, kSevere}},
    {"bad_resp_err", {request}},
    {"local_qp_op_err", {request}},
    {"local_protection_err", {request}},
    {"mem_mgmt_op_err", {request}},
    {"remote_invalid_req_err", {request}},
    {"remote_access_err", {request}},
    {"remote_op_err", {request}},
    {"res_exceed_max", {request}},
    {"res_length_mismatch", {request}},
    {"res_exceeds_wqe", {request}},
    {"res_opcode_err", {request}},
    {"res_rx_invalid_rkey", {request}},
    {"res_rx_domain_err", {request}},
    {"res_rx_no_perm", {request}},
    {"res_rx_range_err", {request}},
    {"res_tx_invalid_rkey", {request}},
    {"res_tx_domain_err", {request}},
    {"res_tx_no_perm", {request}},
    {"res_tx_range_err", {request}},
    {"res_irrq_oflow", {request}},
    {"res_unsup_opcode", {request}},
    {"res_unaligned_atomic", {request}},
    {"res_rem_inv_err", {request}},
    {"res_mem_err", {request}},
    {"res_srq_err", {request}},
    {"res_cmp_err", {request}},
    {"res_invalid_dup_rkey", {request}},
    {"res_wqe_format_err", {request}},
    {"res_cq_load_err", {request}},
    {"res_srq_load_err", {request}},
    {"res_tx_pci_err", {pcie}},
    {"res_rx_pci_err", {pcie}},
    // irdma
    {"tcpRetransSegs", {loss}},
    {"RetransSegs", {loss}},
    {"Nak Sequence Error", {loss}},
    {"Nak Sequence Error Implied", {loss}},
    {"RTO", {loss}},
    {"Rcvd Out of order packets", {loss}},
    {"RNR sent", {receiver}},
    {"RNR received", {receiver}},
    {"CRC errors", {link}},
    {"ip4InDiscards", {discard}},
    {"ip6InDiscards", {discard}},
    {"cnpIgnored", {ecn}},
    // ionic_rdma
    {"resp_rx_outouf_seq", {loss}},
    {"req_rx_pkt_seq_err", {loss}},
    {"req_rx_impl_nak_seq_err", {loss}},
    {"resp_rx_dup_request", {loss}},
    {"tx_rdma_ack_timeout", {loss}},
    {"req_tx_retry_excd_err", {loss, kSevere}},
    {"resp_rx_outof_buf", {receiver}},
    {"req_rx_rnr_retry_err", {receiver}},
    {"resp_tx_rnr_retry_err", {receiver}},
    {"rx_rdma_mtu_discard_pkts", {discard}},
    {"req_rx_cqe_err", {request}},
    {"resp_rx_cqe_err", {request}},
    {"req_rx_rmt_acc_err", {request}},
    {"resp_tx_rmt_acc_err", {request}},
    {"req_rx_rmt_req_err", {request}},
    {"resp_tx_rmt_inval_req_err", {request}},
    {"req_rx_oper_err", {request}},
    {"resp_tx_rmt_oper_err", {request}},
    {"req_tx_loc_acc_err", {request}},
    {"req_tx_loc_oper_err", {request}},
    {"req_tx_loc_sgl_inv_err", {request}},
    {"req_tx_mem_mgmt_err", {request}},
    {"resp_rx_loc_oper_err", {request}},
    {"resp_tx_loc_sgl_inv_err", {request}},
    {"resp_rx_loc_len_err", {request}},
    // efa; a retransmission is none: its transport does not need order
    {"rx_drops", {discard}},
    {"unresponsive_remote_events", {loss, kSevere}},
    {"impaired_remote_conn_events", {loss}},
    {"rdma_read_wr_err", {request}},
    {"rdma_write_wr_err", {request}},
    // hns_roce
    {"rx_err_pkt", {link}},
    {"tx_err_pkt", {request}},
    // ports/N/counters
    {"symbol_error", {link}},
    {"link_error_recovery", {link}},
    {"link_downed", {link, kSevere}},
    {"port_rcv_errors", {link}},
    {"port_rcv_remote_physical_errors", {link}},
    {"local_link_integrity_errors", {link, kSevere}},
    {"excessive_buffer_overrun_errors", {discard, kSevere}},
    {"port_xmit_discards", {discard}},
    {"port_xmit_constraint_errors", {request}},
    {"port_rcv_constraint_errors", {request}},
    // the netdev
    {"carrier_down", {link, kSevere}},
    // mlx5 ethtool
    {"rx_prioN_discards", {discard}},
    {"rx_prioN_buf_discard", {discard}},
    {"rx_prioN_cong_discard", {discard}},
    {"rx_discards_phy", {discard}},
    {"tx_discards_phy", {discard}},
    {"tx_pause_storm_warning_events", {storm}},
    {"tx_pause_storm_error_events", {storm, kSevere}},
    {"rx_crc_errors_phy", {link}},
    {"rx_symbol_err_phy", {link}},
    {"rx_pcs_symbol_err_phy", {link}},
    {"link_down_events_phy", {link, kSevere}},
    {"module_unplug", {link, kSevere}},
    {"module_bus_stuck", {link}},
    {"module_high_temp", {link}},
    {"module_bad_shorted", {link}},
    {"rx_pci_signal_integrity", {pcie}},
    {"tx_pci_signal_integrity", {pcie}},
    {"outbound_pci_buffer_overflow", {pcie}},
    {"dev_internal_queue_oob", {pcie}},
    {"dev_out_of_buffer", {pcie}},
    // bnxt_en, ice, i40e, ionic, hns3 ethtool
    {"rx_discard_packets_cosN", {discard}},
    {"link_down_events", {link, kSevere}},
    {"rx_pcs_symbol_err", {link}},
    {"rx_fec_uncorrectable_blocks", {link}},
    {"rx_fcs_err_frames", {link}},
    {"continuous_roce_pause_events", {storm}},
    {"rx_crc_errors.nic", {link}},
    {"illegal_bytes.nic", {link}},
    {"mac_local_faults.nic", {link}},
    {"mac_remote_faults.nic", {link}},
    {"port.rx_crc_errors", {link}},
    {"port.illegal_bytes", {link}},
    {"port.mac_local_faults", {link}},
    {"port.mac_remote_faults", {link}},
    {"frames_rx_bad_fcs", {link}},
    {"mac_rx_fcs_err_pkt_num", {link}},
};

// "rx_prio3_discards" -> "rx_prioN_discards"
std::string without_priority(std::string_view name) {
  std::string text(name);
  for (std::string_view word : {"prio", "cos"}) {
    const size_t at = text.find(word);
    if (at == std::string::npos) continue;
    const size_t digit = at + word.size();
    if (digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0) text[digit] = 'N';
  }
  return text;
}

}  // namespace

std::string_view to_text(CounterClass value) {
  switch (value) {
    case loss: return "loss";
    case link: return "link";
    case discard: return "discard";
    case storm: return "storm";
    case receiver: return "receiver";
    case pcie: return "pcie";
    case request: return "request";
    case ecn: break;
  }
  return "ecn";
}

std::optional<CounterMeaning> classify_counter(std::string_view name) {
  const std::string wanted = without_priority(name);
  for (const Row& row : kRows)
    if (row.name == wanted) return row.meaning;
  return std::nullopt;
}

std::optional<uint64_t> counter_rise(uint64_t before, uint64_t now) {
  constexpr uint64_t kWrap = uint64_t{1} << 32;
  if (now > before) return now - before;
  const bool wrapped = before < kWrap && before >= kWrap / 4 * 3 && now < kWrap / 4;  // as counter/widen.h has it
  if (!wrapped) return std::nullopt;
  return now + kWrap - before;
}

}  // namespace fabric
