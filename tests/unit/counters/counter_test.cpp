// SPDX-License-Identifier: Apache-2.0
#include "counters/catalogue.h"
#include "counters/reader.h"
#include "model/metrics.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

std::vector<CounterRow> all_rows() {
  std::vector<CounterRow> rows;
  for (const CounterTable& table : counter_tables()) rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  return rows;
}

TEST(Catalogue, NoRawNameMeansTwoThings) {
  std::set<std::pair<CounterSource, std::string_view>> common;
  for (const CounterTable& table : counter_tables()) {
    std::set<std::pair<CounterSource, std::string_view>> own;
    for (const CounterRow& row : table.rows)
      EXPECT_TRUE((table.exclusive ? own : common).emplace(row.source, row.name).second)
          << row.name << " is in two rows of lib/vendor/*/counters.cpp";
  }
}

TEST(Catalogue, EveryRowSaysWhatItCounts) {
  for (const CounterRow& row : all_rows()) {
    EXPECT_FALSE(meaning(row).empty()) << row.name;
    EXPECT_TRUE(meaning(row).ends_with('.')) << row.name;
    EXPECT_EQ(meaning(row).find_first_of("\\\n"), std::string_view::npos) << row.name << ": one line, no escaping";
    EXPECT_FALSE(row.gauge && is_error(row)) << row.name << ": a gauge may rise and fall";
    EXPECT_TRUE(row.bits == 4 || row.bits == 8 || row.bits == 16 || row.bits == 32 || row.bits == 64) << row.name;
  }
}

TEST(Catalogue, EveryMetricIsACounterInItsBaseUnit) {
  for (const CounterRow& row : all_rows()) {
    if (row.metric == nullptr) continue;
    EXPECT_FALSE(row.gauge) << row.name;
    EXPECT_EQ(row.metric->kind, MetricKind::counter) << row.name;
    EXPECT_TRUE(row.metric->name.starts_with("fabric_")) << row.name;
    EXPECT_TRUE(row.metric->name.ends_with("_total")) << row.name;
    EXPECT_FALSE(row.metric->help.empty()) << row.name;
    // A duration and nothing else is scaled from microseconds; mlx5 counts some in seconds.
    bool seconds = row.metric->name.ends_with("seconds_total") && !row.name.starts_with("outbound_pci_stalled");
    EXPECT_EQ(seconds, row.scale.divide == 1e6) << row.name;
    EXPECT_EQ(row.name.find("_bits") != std::string_view::npos && row.metric->name.ends_with("_bytes_total"),
              row.scale.divide == 8)
        << row.name;
    bool words = row.name == "port_rcv_data" || row.name == "port_xmit_data";
    EXPECT_EQ(words, row.scale.multiply == 4) << row.name;
  }
}

TEST(Catalogue, TheManPageNamesEveryMetric) {
  std::istringstream page(test::of_source("agent/exporter/fabric-exporter.8"));
  const std::set<std::string> words{std::istream_iterator<std::string>(page), {}};
  for (const CounterRow& row : all_rows())
    if (row.metric != nullptr) EXPECT_TRUE(words.contains(std::string(row.metric->name))) << row.metric->name;
}

TEST(Catalogue, DirectionsAreWhatTheNameSays) {
  for (const CounterRow& row : all_rows()) {
    if (row.label.name != "direction") continue;
    bool receives = row.name.find("rx") != std::string_view::npos || row.name.find("Rx") != std::string_view::npos ||
                    row.name.find("rcv") != std::string_view::npos || row.name.find("In") != std::string_view::npos;
    EXPECT_EQ(row.label.value, receives ? "rx" : "tx") << row.name;
  }
}

TEST(Catalogue, PriorityIsTheDigitInTheName) {
  auto match = find_counter(CounterSource::ethtool, "rx_prio3_pause");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->row->metric, &metrics::kPfcFrames);
  EXPECT_EQ(match->priority, '3');
  match = find_counter(CounterSource::ethtool, "pfc_pri5_tx_duration_us");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->row->metric, &metrics::kPfcSeconds);
  EXPECT_EQ(match->row->label.value, "tx");
  EXPECT_EQ(match->priority, '5');
  EXPECT_FALSE(find_counter(CounterSource::ethtool, "rx_prio8_pause"));
  EXPECT_FALSE(find_counter(CounterSource::ethtool, "rx_prio#_pause"));
  EXPECT_FALSE(find_counter(CounterSource::hw, "rx_prio3_pause")) << "sources do not mix";
}

TEST(Catalogue, VendorsNamesForTheSameThingMeet) {
  constexpr auto hw = CounterSource::hw, ethtool = CounterSource::ethtool;
  struct Same {
    CounterSource source;
    std::string_view metric;
    std::vector<std::string_view> names;
  };
  for (const Same& thing : {
           Same{hw,
                "fabric_rdma_cnp_sent_total",
                {"np_cnp_sent", "tx_cnp_pkts", "np_cnp_pkts", "cnpSent", "tx_rdma_cnp_pkts"}},
           Same{hw,
                "fabric_rdma_out_of_sequence_packets_total",
                {"out_of_sequence", "oos_drop_count", "Rcvd Out of order packets", "out_of_seq_request",
                 "resp_rx_outouf_seq"}},
           Same{hw,
                "fabric_rdma_sequence_naks_received_total",
                {"packet_seq_err", "seq_err_naks_rcvd", "Nak Sequence Error", "rcvd_seq_err", "req_rx_pkt_seq_err"}},
           Same{ethtool,
                "fabric_phy_discarded_packets_total",
                {"rx_discards_phy", "rx_stat_discard", "rx_dropped.nic", "port.rx_dropped", "port.rx_discards",
                 "frames_rx_dropped"}},
           Same{ethtool,
                "fabric_phy_crc_errors_total",
                {"rx_crc_errors_phy", "rx_fcs_err_frames", "rx_crc_errors.nic", "port.rx_crc_errors",
                 "frames_rx_bad_fcs", "mac_rx_fcs_err_pkt_num"}},
           Same{ethtool,
                "fabric_phy_coding_errors_total",
                {"rx_symbol_err_phy", "illegal_bytes.nic", "port.illegal_bytes"}},
           Same{ethtool,
                "fabric_pfc_pause_frames_total",
                {"rx_prio3_pause", "rx_pfc_ena_frames_pri3", "rx_priority_3_xoff.nic", "port.rx_priority_3_xoff_rx",
                 "mac_rx_pfc_pri3_pkt_num"}},
           Same{ethtool, "fabric_phy_received_bytes_total", {"rx_bits_phy", "rx_bits"}},
           Same{ethtool,
                "fabric_phy_oversize_frames_total",
                {"rx_oversize_pkts_phy", "rx_oversize.nic", "port.rx_oversize", "frames_rx_oversized"}},
           Same{ethtool,
                "fabric_netdev_out_of_buffer_total",
                {"rx_out_of_buffer", "rx_total_ring_discards", "rx_total_discard_pkts"}},
           Same{ethtool, "fabric_phy_mac_faults_total", {"mac_remote_faults.nic", "port.mac_remote_faults"}},
       })
    for (const std::string_view name : thing.names) {
      const auto match = find_counter(thing.source, name);
      ASSERT_TRUE(match) << name;
      EXPECT_EQ(match->row->metric->name, thing.metric) << name;
      if (thing.metric.ends_with("pause_frames_total")) EXPECT_EQ(match->priority, '3') << name;
    }
}

TEST(Catalogue, TroubleIsKnownByItsRow) {
  const auto trouble = [](CounterSource source, std::string_view name, std::string_view driver = {}) {
    const auto match = describe_counter(source, name, driver);
    EXPECT_TRUE(match) << name;
    return match && is_error(*match->row);
  };
  constexpr auto hw = CounterSource::hw, pma = CounterSource::pma, ethtool = CounterSource::ethtool;
  for (const char* name :
       {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "duplicate_request", "out_of_buffer",
        "rnr_nak_retry_err", "rx_icrc_encapsulated", "rp_cnp_ignored", "req_transport_retries_exceeded",
        "to_retransmits", "seq_err_naks_rcvd", "oos_drop_count", "max_retry_exceeded", "rcvd_seq_err",
        "out_of_seq_request", "completer_retry_err", "retry_exceeded_err"}) {
    EXPECT_TRUE(trouble(hw, name)) << name;
    EXPECT_TRUE(find_counter(hw, name)) << name << ": trouble at the transport has a common name";
  }
  EXPECT_TRUE(trouble(hw, "tx_rdma_ack_timeout"));
  EXPECT_TRUE(trouble(hw, "unresponsive_remote_events", "efa"));
  for (const char* name : {"rx_prio5_discards", "rx_discard_packets_cos2", "rx_crc_errors_phy", "rx_fcs_err_frames",
                           "rx_crc_errors.nic", "port.rx_crc_errors", "frames_rx_bad_fcs", "mac_rx_fcs_err_pkt_num",
                           "rx_symbol_err_phy", "illegal_bytes.nic", "port.illegal_bytes"})
    EXPECT_TRUE(trouble(ethtool, name)) << name;
  EXPECT_FALSE(trouble(hw, "retrans_pkts", "efa"));
  // Working networks. bnxt_re feeds recoverable_errors from broadcast packets.
  for (const char* name :
       {"np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets", "active_qps", "recoverable_errors"})
    EXPECT_FALSE(trouble(hw, name)) << name;
  for (const char* name : {"rx_prio5_packets", "rx_prio3_pause", "tx_prio3_pause_duration", "rx_prio3_pause_transition",
                           "rx_prio3_bytes", "rx_corrected_bits_phy"})
    EXPECT_FALSE(trouble(ethtool, name)) << name;
  for (const char* name : {"port_xmit_wait", "port_rcv_data"}) EXPECT_FALSE(trouble(pma, name)) << name;
}

TEST(Catalogue, TrafficOfEfaIsNotTakenForAnothers) {
  auto efa = find_counter(CounterSource::hw, "rx_bytes", "efa");
  ASSERT_TRUE(efa);
  EXPECT_EQ(efa->row->metric, &metrics::kRdmaBytes);
  EXPECT_TRUE(efa->row->unless.empty()) << "it has no other";
  EXPECT_FALSE(describe_counter(CounterSource::hw, "retrans_pkts", "mlx5_core"));
  EXPECT_TRUE(find_counter(CounterSource::hw, "np_cnp_sent", "efa")) << "the rest is common";
}

// Every name that a driver of Linux 5.10 to 7.x has and documents for RoCE.
constexpr const char* kHwNames = R"(
  rx_write_requests rx_read_requests rx_atomic_requests rx_dct_connect out_of_buffer out_of_sequence duplicate_request
  rnr_nak_retry_err packet_seq_err implied_nak_seq_err local_ack_timeout_err resp_local_length_error resp_cqe_error
  req_cqe_error resp_cqe_flush_error req_cqe_flush_error req_remote_invalid_request req_remote_access_errors
  resp_remote_access_errors req_transport_retries_exceeded req_rnr_retries_exceeded roce_adp_retrans roce_adp_retrans_to
  roce_slow_restart roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_handled rp_cnp_ignored
  np_ecn_marked_roce_packets np_cnp_sent rx_icrc_encapsulated cc_rx_ce_pkts cc_rx_cnp_pkts cc_tx_cnp_pkts
  rdma_tx_packets rdma_tx_bytes rdma_rx_packets rdma_rx_bytes
  active_pds active_ahs active_qps active_rc_qps active_ud_qps active_srqs active_cqs active_mrs active_mws watermark_pds
  watermark_ahs watermark_qps watermark_rc_qps watermark_ud_qps watermark_srqs watermark_cqs watermark_mrs watermark_mws
  resize_cq_cnt rx_pkts rx_bytes tx_pkts tx_bytes tx_atomic_req tx_read_req tx_read_resp tx_write_req tx_send_req
  tx_roce_only_pkts tx_roce_only_bytes rx_atomic_req rx_read_req rx_read_resp rx_write_req rx_send_req rx_roce_only_pkts
  rx_roce_only_bytes rx_roce_good_pkts rx_roce_good_bytes pacing_reschedule pacing_complete pacing_alerts db_fifo_register
  tx_roce_errors tx_roce_discards rx_roce_errors rx_roce_discards to_retransmits seq_err_naks_rcvd max_retry_exceeded
  rnr_naks_rcvd missing_resp unrecoverable_err bad_resp_err local_qp_op_err local_protection_err mem_mgmt_op_err
  remote_invalid_req_err remote_access_err remote_op_err dup_req res_exceed_max res_length_mismatch res_exceeds_wqe
  res_opcode_err res_rx_invalid_rkey res_rx_domain_err res_rx_no_perm res_rx_range_err res_tx_invalid_rkey
  res_tx_domain_err res_tx_no_perm res_tx_range_err res_irrq_oflow res_unsup_opcode res_unaligned_atomic res_rem_inv_err
  res_mem_err res_srq_err res_cmp_err res_invalid_dup_rkey res_wqe_format_err res_cq_load_err res_srq_load_err
  res_tx_pci_err res_rx_pci_err oos_drop_count rx_out_of_buffer tx_cnp_pkts rx_cnp_pkts rx_ecn_marked_pkts
  recoverable_errors np_cnp_pkts rx_good_pkts rx_good_bytes
  ip4InDiscards ip4InTruncatedPkts ip4OutNoRoutes ip6InDiscards ip6InTruncatedPkts ip6OutNoRoutes tcpRetransSegs
  tcpInOptErrors tcpInProtoErrors rxVlanErrors ip4InOctets ip4InPkts ip4InReasmRqd ip4InMcastOctets ip4InMcastPkts
  ip4OutOctets ip4OutPkts ip4OutSegRqd ip4OutMcastOctets ip4OutMcastPkts ip6InOctets ip6InPkts ip6InReasmRqd
  ip6InMcastOctets ip6InMcastPkts ip6OutOctets ip6OutPkts ip6OutSegRqd ip6OutMcastOctets ip6OutMcastPkts tcpInSegs
  tcpOutSegs iwInRdmaReads iwInRdmaSends iwInRdmaWrites iwOutRdmaReads iwOutRdmaSends iwOutRdmaWrites iwRdmaBnd iwRdmaInv
  cnpHandled cnpIgnored cnpSent RxUDP TxUDP RxECNMrkd InRdmaReads InRdmaSends InRdmaWrites OutRdmaReads OutRdmaSends
  OutRdmaWrites RdmaBnd RdmaInv RetransSegs InOptErrors InProtoErrors InSegs OutSegs RTO
  sent_pkts rcvd_pkts out_of_seq_request rcvd_rnr_err send_rnr_err rcvd_seq_err ack_deferred retry_exceeded_err
  retry_rnr_exceeded_err completer_retry_err send_err link_downed rdma_sends rdma_recvs sent_bytes rcvd_bytes
  rx_rc_pkt rx_uc_pkt rx_ud_pkt rx_xrc_pkt rx_pkt rx_err_pkt rx_cnp_pkt tx_rc_pkt tx_uc_pkt tx_ud_pkt tx_xrc_pkt tx_pkt
  tx_err_pkt tx_cnp_pkt trp_get_mpt_err_pkt trp_get_irrl_err_pkt ecn_doorbell rx_buffer trp_rx_sof cq_cqe cq_poe cq_notify)";

constexpr const char* kEthtoolNames = R"(
  rx_prio1_bytes rx_prio1_packets tx_prio1_bytes tx_prio1_packets rx_prio1_discards rx_prio1_buf_discard
  rx_prio1_cong_discard rx_prio1_marked rx_prio1_pause tx_prio1_pause rx_prio1_pause_duration tx_prio1_pause_duration
  rx_prio1_pause_transition tx_pause_storm_warning_events tx_pause_storm_error_events rx_pause_ctrl_phy tx_pause_ctrl_phy
  rx_global_pause rx_global_pause_duration rx_global_pause_transition tx_global_pause tx_global_pause_duration
  rx_discards_phy rx_out_of_buffer rx_buffer_passed_thres_phy tx_discards_phy tx_errors_phy rx_oversize_pkts_phy
  rx_undersize_pkts_phy rx_fragments_phy rx_jabbers_phy rx_in_range_len_errors_phy rx_out_of_range_len_phy
  rx_unsupported_op_phy rx_crc_errors_phy rx_symbol_err_phy rx_pcs_symbol_err_phy rx_corrected_bits_phy rx_err_lane_0_phy
  rx_err_lane_3_phy rx_bits_phy link_down_events_phy module_unplug module_bus_stuck module_high_temp module_bad_shorted
  rx_pci_signal_integrity tx_pci_signal_integrity outbound_pci_stalled_rd outbound_pci_stalled_wr
  outbound_pci_stalled_rd_events outbound_pci_stalled_wr_events outbound_pci_buffer_overflow dev_internal_queue_oob dev_out_of_buffer
  rx_vport_rdma_unicast_packets rx_vport_rdma_multicast_bytes tx_vport_rdma_unicast_bytes tx_vport_rdma_multicast_packets
  rx_steer_missed_packets rx_oversize_pkts_buffer total_success_recovery_phy
  rx_pfc_ena_frames_pri7 tx_pfc_ena_frames_pri0 rx_pfc_frames tx_pfc_frames rx_pause_frames tx_pause_frames
  pfc_pri3_rx_duration_us pfc_pri3_tx_duration_us pfc_pri3_rx_transitions pfc_pri3_tx_transitions rx_bytes_pri3
  rx_packets_pri3 tx_bytes_pri3 tx_packets_pri3 rx_bytes_cos3 rx_packets_cos3 tx_bytes_cos3 tx_packets_cos3
  rx_discard_bytes_cos3 rx_discard_packets_cos3 link_down_events continuous_pause_events resume_pause_events
  continuous_roce_pause_events resume_roce_pause_events rx_pcs_symbol_err rx_corrected_bits rx_fec_corrected_blocks
  rx_fec_uncorrectable_blocks rx_fcs_err_frames rx_stat_discard tx_stat_discard rx_buffer_passed_threshold
  tx_priority_3_xon.nic tx_priority_3_xoff.nic rx_priority_3_xon.nic rx_priority_3_xoff.nic link_xon_rx.nic
  link_xoff_rx.nic link_xon_tx.nic link_xoff_tx.nic rx_dropped.nic rx_crc_errors.nic mac_local_faults.nic
  mac_remote_faults.nic port.tx_priority_3_xon_tx port.tx_priority_3_xoff_tx port.rx_priority_3_xon_rx
  port.rx_priority_3_xoff_rx port.rx_priority_3_xon_2_xoff port.link_xon_rx port.link_xoff_rx port.link_xon_tx
  port.link_xoff_tx frames_rx_pripause frames_tx_pripause frames_rx_pri_3 frames_tx_pri_3 tx_pripause_3_1us_count
  rx_pripause_3_1us_count rx_pause_1us_count frames_rx_bad_fcs frames_rx_dropped)";

// bnge_ethtool.c: bnge_port_stats_arr, bnge_port_stats_ext_arr, bnge_tx_port_stats_ext_arr and the four of priorities.
TEST(Catalogue, KnowsBngesPfcQueuesAndPriorities) {
  const auto match = [](const std::string& name) { return describe_counter(CounterSource::ethtool, name, "bng_en"); };
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    for (const std::string& name :
         {"rxp_pfc_ena_frames_pri" + n, "txp_pfc_ena_frames_pri" + n, "pfc_pri" + n + "_rx_duration_us",
          "pfc_pri" + n + "_tx_duration_us", "pfc_pri" + n + "_rx_transitions", "pfc_pri" + n + "_tx_transitions",
          "rx_bytes_cos" + n, "rx_packets_cos" + n, "tx_bytes_cos" + n, "tx_packets_cos" + n,
          "rx_discard_bytes_cos" + n, "rx_discard_packets_cos" + n, "rx_bytes_pri" + n, "rx_packets_pri" + n,
          "tx_bytes_pri" + n, "tx_packets_pri" + n})
      EXPECT_TRUE(match(name)) << name;
  }
  for (const char* name : {"continuous_pause_events", "resume_pause_events", "continuous_roce_pause_events",
                           "resume_roce_pause_events", "rx_bits", "rx_buffer_passed_threshold"})
    EXPECT_TRUE(match(name)) << name;
  const auto frames = match("txp_pfc_ena_frames_pri5");
  EXPECT_EQ(frames->row->metric, match("tx_pfc_ena_frames_pri5")->row->metric);
  EXPECT_EQ(frames->priority, '5');
  EXPECT_EQ(frames->row->label, kTx);
  EXPECT_EQ(find_counter_table("bng_en")->ethtool_period, std::chrono::seconds(1));
}

TEST(Catalogue, KnowsEveryDocumentedName) {
  for (auto [source, names] :
       {std::pair(CounterSource::hw, kHwNames), std::pair(CounterSource::ethtool, kEthtoolNames)}) {
    std::istringstream in(names);
    for (std::string name; in >> name;) EXPECT_TRUE(describe_counter(source, name)) << name;
  }
  for (const char* name :
       {"RNR sent", "RNR received", "Nak Sequence Error", "Nak Sequence Error Implied", "CRC errors",
        "Rcvd Out of order packets", "Rx atomics", "Tx atomics", "ord limit count", "ird limit count"})
    EXPECT_TRUE(describe_counter(CounterSource::hw, name)) << name;
}

TEST(CounterFile, OnlyANumberIsANumber) {
  EXPECT_EQ(parse_counter_file("18446744073709551615\n"), UINT64_MAX);
  EXPECT_EQ(parse_counter_file("0"), 0u);
  EXPECT_FALSE(parse_counter_file("N/A (no PMA)\n"));
  EXPECT_FALSE(parse_counter_file(""));
  EXPECT_FALSE(parse_counter_file("18446744073709551616\n"));
  EXPECT_FALSE(parse_counter_file("-1\n"));
}

TEST(BackoffRule, WaitsTwiceAsLongEachTimeAndForgetsOnSuccess) {
  Backoff backoff;
  auto now = Backoff::Clock::now();
  EXPECT_TRUE(backoff.due(now));
  backoff.failed(now);
  EXPECT_FALSE(backoff.due(now + std::chrono::seconds(9)));
  EXPECT_TRUE(backoff.due(now + std::chrono::seconds(10)));
  backoff.failed(now);
  EXPECT_FALSE(backoff.due(now + std::chrono::seconds(19)));
  for (int i = 0; i < 20; ++i) backoff.failed(now);
  EXPECT_FALSE(backoff.due(now + std::chrono::seconds(299)));
  EXPECT_TRUE(backoff.due(now + std::chrono::seconds(300)));
  backoff.succeeded();
  EXPECT_TRUE(backoff.due(now));
}

const std::string kPort = "sys/class/infiniband/mlx5_0/ports/1/";

struct OnePort {
  OnePort() {
    tree.file(kPort + "state", "4: ACTIVE\n").file(kPort + "phys_state", "5: LinkUp\n");
    tree.file(kPort + "counters/port_xmit_data", "1000\n").file(kPort + "counters/symbol_error", "N/A (no PMA)\n");
    tree.file(kPort + "hw_counters/out_of_sequence", "7\n").file(kPort + "hw_counters/lifespan", "10\n");
    tree.file("sys/class/net/eth2/carrier", "1\n").file("sys/class/net/eth2/carrier_down_count", "3\n");
  }
  test::Tree tree;
  Root root = tree.root();
};

Port port_of_tree(LinkLayer layer = LinkLayer::unknown) {
  Port port;
  port.rdma = "mlx5_0";
  port.netdev = "eth2";
  port.link_layer = layer;
  return port;
}

TEST(PortReader, ReadsWhatTheFilesSayNow) {
  OnePort at;
  PortReader reader({at.root}, port_of_tree());
  auto reading = reader.read();
  EXPECT_EQ(reading.state, 4u);
  EXPECT_EQ(reading.phys_state, 5u);
  EXPECT_EQ(reading.carrier, true);
  EXPECT_EQ(reading.counters.carrier_down, 3u);
  EXPECT_EQ(reading.counters.pma, (std::vector<Counter>{{"port_xmit_data", 1000}})) << "N/A is absent, not zero";
  EXPECT_EQ(reading.counters.hw, (std::vector<Counter>{{"out_of_sequence", 7}})) << "lifespan is no counter";
  at.tree.file(kPort + "hw_counters/out_of_sequence", "19\n").file("sys/class/net/eth2/carrier", "0\n");
  reading = reader.read();
  EXPECT_EQ(reading.counters.hw.at(0).value, 19u);
  EXPECT_EQ(reading.carrier, false);
}

const Attempt& attempt_of(const PortReading& reading, std::string_view collector) {
  return *std::ranges::find(reading.attempts, collector, &Attempt::collector);
}

TEST(PortReader, AScanReadsNumbersAndNamesTheFileThatFails) {
  test::Tree tree;
  const std::string pma = kPort + "counters/";
  tree.file(pma + "max", "18446744073709551615\n").file(pma + "over", "18446744073709551616\n");
  tree.file(pma + "lifespan", "10\n").file(pma + "port_rcv_packets", "N/A (no PMA)\n").folder(pma + "worse");
  const Root root = tree.root();
  const PortReading reading = PortReader({.root = root, .once = true}, port_of_tree()).read();
  EXPECT_EQ(reading.counters.pma, (std::vector<Counter>{{"max", UINT64_MAX}}));
  EXPECT_FALSE(attempt_of(reading, "pma").success);
  EXPECT_TRUE(test::has(attempt_of(reading, "pma").error, "/worse"));
  EXPECT_FALSE(reading.state) << "a scan reads the link elsewhere";
}

class RefusesVl15 : public BehindFiles {
 public:
  explicit RefusesVl15(int code) : code_(code) {}
  std::optional<Result<void>> act(Act act, const std::string& file, std::string_view) override {
    if (act == Act::read && file.ends_with("/VL15_dropped")) return Result<void>(error(code_, file));
    return std::nullopt;
  }

 private:
  int code_;
};

TEST(PortReader, ACounterThatTheDriverLacksIsAbsentAndNoFailure) {
  test::Tree tree;
  const std::string pma = kPort + "counters/";
  tree.file(pma + "VL15_dropped", "").file(pma + "port_rcv_data", "3\n");
  for (const int code : {EINVAL, EOPNOTSUPP, EIO}) {
    Root root = tree.root();
    root.set_behind(std::make_shared<RefusesVl15>(code));
    const PortReading reading = PortReader({.root = root, .once = true}, port_of_tree()).read();
    EXPECT_EQ(reading.counters.pma, (std::vector<Counter>{{"port_rcv_data", 3}}));
    EXPECT_EQ(attempt_of(reading, "pma").success, code != EIO) << code;
  }
}

TEST(PortReader, OnEthernetAZeroOfInfiniBandsLinkIsSeldomReadAgain) {
  OnePort at;
  const std::string counters = kPort + "counters/";
  at.tree.file(counters + "symbol_error", "0\n").file(counters + "link_downed", "2\n");
  const Port ethernet = port_of_tree(LinkLayer::ethernet), infiniband = port_of_tree(LinkLayer::infiniband);
  PortReader seldom({at.root}, ethernet), always({.root = at.root, .idle_age = std::chrono::milliseconds(0)}, ethernet),
      other({at.root}, infiniband);
  const std::vector<Counter> first{{"link_downed", 2}, {"port_xmit_data", 1000}, {"symbol_error", 0}};
  const auto sorted = [](PortReader& reader) {
    auto pma = reader.read().counters.pma;
    std::ranges::sort(pma, {}, &Counter::name);
    return pma;
  };
  for (PortReader* reader : {&seldom, &always, &other}) EXPECT_EQ(sorted(*reader), first);
  at.tree.file(counters + "symbol_error", "7\n")
      .file(counters + "link_downed", "3\n")
      .file(counters + "port_xmit_data", "1001\n");
  const std::vector<Counter> then{{"link_downed", 3}, {"port_xmit_data", 1001}, {"symbol_error", 7}};
  EXPECT_EQ(sorted(always), then);
  EXPECT_EQ(sorted(other), then) << "of an InfiniBand port each counts";
  EXPECT_EQ(sorted(seldom), (std::vector<Counter>{{"link_downed", 3}, {"port_xmit_data", 1001}, {"symbol_error", 0}}))
      << "what was zero is not read";
}

TEST(PortReader, OnEthernetLinkUpGoesWithActive) {
  OnePort at;
  const Port ethernet = port_of_tree(LinkLayer::ethernet), infiniband = port_of_tree(LinkLayer::infiniband);
  PortReader seldom({at.root}, ethernet), always({.root = at.root, .idle_age = std::chrono::milliseconds(0)}, ethernet),
      other({at.root}, infiniband);
  const auto say = [&](const char* state, const char* physical) {
    at.tree.file(kPort + "state", state).file(kPort + "phys_state", physical);
  };
  for (PortReader* reader : {&seldom, &always, &other}) EXPECT_EQ(reader->read().phys_state, 5u);
  say("4: ACTIVE\n", "6: LinkErrorRecovery\n");
  EXPECT_EQ(seldom.read().phys_state, 5u) << "not read while the port is ACTIVE";
  EXPECT_EQ(always.read().phys_state, 6u);
  EXPECT_EQ(other.read().phys_state, 6u) << "an InfiniBand port recovers while it is ACTIVE";
  say("1: DOWN\n", "3: Disabled\n");
  for (PortReader* reader : {&seldom, &always, &other}) EXPECT_EQ(reader->read().phys_state, 3u);
  say("1: DOWN\n", "2: Polling\n");
  EXPECT_EQ(seldom.read().phys_state, 2u) << "read as long as it is down";
  say("4: ACTIVE\n", "2: Polling\n");
  EXPECT_EQ(seldom.read().phys_state, 2u) << "and until it says LinkUp";
  say("4: ACTIVE\n", "5: LinkUp\n");
  EXPECT_EQ(seldom.read().phys_state, 5u);
}

TEST(PortReader, WhatTheDeviceCountsAsAWholeIsToldWithItsFirstPort) {
  test::Tree tree;
  const std::string device = "sys/class/infiniband/mlx5_0/";
  tree.file(device + "ports/1/hw_counters/np_cnp_sent", "12\n")
      .file(device + "ports/2/hw_counters/vport_out_of_sequence", "6\n");
  tree.file(device + "hw_counters/out_of_sequence", "5\n")
      .file(device + "hw_counters/np_cnp_sent", "77\n")
      .file(device + "hw_counters/lifespan", "10\n");
  Root root = tree.root();
  Port port = port_of_tree();
  EXPECT_EQ(PortReader({root}, port).read().counters.hw,
            (std::vector<Counter>{{"np_cnp_sent", 12}, {"out_of_sequence", 5}}));
  port.number = 2;
  EXPECT_EQ(PortReader({root}, port).read().counters.hw, (std::vector<Counter>{{"vport_out_of_sequence", 6}}));
}

TEST(PortReader, APortWithoutCountersOrNetdevIsNoFailure) {
  test::Tree tree;
  Root root = tree.file(kPort + "state", "1: DOWN\n").root();
  Port port = port_of_tree();
  port.netdev.clear();
  auto reading = PortReader({root}, port).read();
  EXPECT_EQ(reading.state, 1u);
  EXPECT_FALSE(reading.carrier);
  EXPECT_TRUE(reading.counters.hw.empty());
  for (const Attempt& attempt : reading.attempts) EXPECT_TRUE(attempt.success) << attempt.collector;
}

// An RDMA stack with one device that answers STAT_GET with `code`.
test::SimRdma refusing(int code) {
  test::SimRdma out;
  out.devices[5].name = "mlx5_0";
  out.devices[5].ports[1].statistics_errno = code;
  return out;
}

TEST(PortReader, FallsBackToFilesWhereNetlinkHasNoCounters) {
  for (int code : {EINVAL, EOPNOTSUPP, EMSGSIZE}) {
    OnePort at;
    test::SimRdma rdma = refusing(code);
    PortReader reader({at.root, &rdma}, port_of_tree());
    EXPECT_EQ(reader.read().counters.hw.size(), 1u) << code;
    EXPECT_EQ(reader.read().counters.hw.size(), 1u) << code;
    EXPECT_EQ(rdma.requests, code == EINVAL ? 3 : 2) << "devices, counters once; EINVAL may mean another device";
  }
}

TEST(PortReader, ADeviceThatFailsIsLeftAloneAndSaidSo) {
  OnePort at;
  test::SimRdma rdma = refusing(EIO);
  PortReader reader({at.root, &rdma}, port_of_tree());
  for (int i = 0; i < 3; ++i) {
    auto reading = reader.read();
    EXPECT_TRUE(reading.counters.hw.empty()) << "absent, not zero";
    EXPECT_EQ(reading.counters.pma.size(), 1u) << "the rest goes on";
    for (const Attempt& attempt : reading.attempts) {
      EXPECT_EQ(attempt.success, attempt.collector != "rdma");
      EXPECT_EQ(attempt.error.find("EIO") != std::string::npos, attempt.collector == "rdma") << attempt.error;
    }
  }
  EXPECT_EQ(rdma.requests, 2);
}

// As mlx5's, of which most are of its queues.
class ManyStatistics : public ethtool::Statistics {
 public:
  Result<std::vector<Counter>> read(const std::string&) override {
    return std::vector<Counter>{
        {"rx0_packets", 1}, {"rx_prio3_pause", 2}, {"tx63_bytes", 3}, {"outbound_pci_stalled_rd", 4}};
  }
};

TEST(PortReader, KeepsOfTheDriversStatisticsWhatTheCatalogueKnows) {
  OnePort at;
  ManyStatistics statistics;
  EXPECT_EQ(PortReader({at.root, nullptr, &statistics}, port_of_tree()).read().counters.ethtool,
            (std::vector<Counter>{{"rx_prio3_pause", 2}, {"outbound_pci_stalled_rd", 4}}));
}

TEST(PortReader, KeepsWhatIsAskedForByNameAsWell) {
  OnePort at;
  ManyStatistics statistics;
  const std::vector<std::string> asked{"tx*_bytes", "rx_prio3_*", "none"};
  PortReader reader({at.root, nullptr, &statistics, asked}, port_of_tree());
  const std::vector<Counter> kept{{"rx_prio3_pause", 2}, {"tx63_bytes", 3}, {"outbound_pci_stalled_rd", 4}};
  for (int reading = 0; reading < 3; ++reading) EXPECT_EQ(reader.read().counters.ethtool, kept);
}

TEST(PortReader, ApplyKeepsWhatWasNotRead) {
  Port port = port_of_tree();
  port.state = 4;
  port.carrier = true;
  PortReading reading;
  reading.counters.hw = {{"np_cnp_sent", 5}};
  apply(std::move(reading), port);
  EXPECT_EQ(port.state, 4u);
  EXPECT_EQ(port.carrier, true);
  EXPECT_EQ(port.counters.hw.size(), 1u);
}

TEST(CounterClass, NamesOfEveryDriver) {
  const auto kind = [](CounterSource source, const char* name) {
    const auto match = describe_counter(source, name);
    EXPECT_TRUE(match) << name;
    return match ? match->row->rise.kind : CounterClass::none;
  };
  constexpr auto hw = CounterSource::hw, ethtool = CounterSource::ethtool;
  EXPECT_EQ(kind(hw, "packet_seq_err"), CounterClass::loss);             // mlx5
  EXPECT_EQ(kind(hw, "rcvd_seq_err"), CounterClass::loss);               // rxe
  EXPECT_EQ(kind(hw, "seq_err_naks_rcvd"), CounterClass::loss);          // bnxt_re
  EXPECT_EQ(kind(hw, "Rcvd Out of order packets"), CounterClass::loss);  // irdma of 7.x
  EXPECT_EQ(kind(ethtool, "rx_prio0_discards"), CounterClass::discard);
  EXPECT_EQ(kind(ethtool, "rx_prio7_cong_discard"), CounterClass::discard);
  EXPECT_EQ(kind(ethtool, "rx_discard_packets_cos5"), CounterClass::discard);  // bnxt_en
  EXPECT_TRUE(describe_counter(hw, "req_transport_retries_exceeded")->row->rise.severe);
  EXPECT_FALSE(describe_counter(hw, "local_ack_timeout_err")->row->rise.severe);
}

TEST(CounterRise, GrowsWrapsOrWasReset) {
  constexpr auto hw = CounterSource::hw, pma = CounterSource::pma;
  EXPECT_EQ(counter_rise(hw, 32, 5, 7), 2u);
  EXPECT_EQ(counter_rise(hw, 32, 5, 5), 0u);
  EXPECT_EQ(counter_rise(hw, 32, 0xffff'fffe, 3), 5u) << "a 32-bit counter wrapped";
  EXPECT_EQ(counter_rise(hw, 64, 0xffff'fffe, 3), std::nullopt);
  EXPECT_EQ(counter_rise(hw, 32, 1000, 0), std::nullopt) << "reset";
  EXPECT_EQ(counter_rise(hw, 32, 0x9000'0000, 3), std::nullopt) << "reset";
  EXPECT_EQ(counter_rise(hw, 32, uint64_t{1} << 40, 3), std::nullopt) << "a 64-bit counter does not wrap so soon";
  EXPECT_EQ(counter_rise(pma, 32, 0xffff'fffe, 3), std::nullopt) << "InfiniBand's counters stop when full";
  EXPECT_EQ(counter_rise(pma, 8, 255, 255), std::nullopt);
}

}  // namespace
}  // namespace fabric
