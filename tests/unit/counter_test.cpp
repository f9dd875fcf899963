// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <linux/netlink.h>

#include <map>
#include <set>

#include "counter/catalogue.h"
#include "counter/metrics.h"
#include "counter/reader.h"
#include "model/counter_class.h"
#include "support/tree.h"

namespace fabric {
namespace {

std::vector<CounterRow> all_rows() {
  std::vector<CounterRow> rows;
  for (auto vendor : {mlx5_rows(), bnxt_rows(), ice_irdma_rows(), ionic_rows(), rxe_rows(), pma_rows()})
    rows.insert(rows.end(), vendor.begin(), vendor.end());
  return rows;
}

TEST(Catalogue, NoRawNameMeansTwoThings) {
  std::set<std::pair<CounterSource, std::string_view>> seen;
  for (const CounterRow& row : all_rows()) EXPECT_TRUE(seen.emplace(row.source, row.name).second) << row.name;
}

TEST(Catalogue, EveryRowFeedsACounterWithAHelpAndItsOwnUnit) {
  for (const CounterRow& row : all_rows()) {
    ASSERT_NE(row.metric, nullptr) << row.name;
    EXPECT_EQ(row.metric->kind, MetricKind::counter) << row.name;
    EXPECT_TRUE(row.metric->name.starts_with("fabric_")) << row.name;
    EXPECT_TRUE(row.metric->name.ends_with("_total")) << row.name;
    EXPECT_FALSE(row.metric->help.empty()) << row.name;
    bool seconds = row.metric->name.ends_with("seconds_total");
    EXPECT_EQ(seconds, row.scale.divide == 1e6) << row.name << ": a duration and nothing else is scaled from microseconds";
    bool words = row.name == "port_rcv_data" || row.name == "port_xmit_data";
    EXPECT_EQ(words, row.scale.multiply == 4) << row.name;
  }
}

TEST(Catalogue, DirectionsAreWhatTheNameSays) {
  for (const CounterRow& row : all_rows()) {
    if (row.label.name != "direction") continue;
    bool receives = row.name.find("rx") != std::string_view::npos || row.name.find("Rx") != std::string_view::npos ||
                    row.name.find("rcv") != std::string_view::npos;
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
  auto metric = [](const char* name) {
    auto match = find_counter(CounterSource::hw, name);
    return match ? match->row->metric->name : std::string_view("none");
  };
  for (const char* name : {"np_cnp_sent", "tx_cnp_pkts", "np_cnp_pkts", "cnpSent", "tx_rdma_cnp_pkts"})
    EXPECT_EQ(metric(name), "fabric_rdma_cnp_sent_total") << name;
  for (const char* name : {"out_of_sequence", "oos_drop_count", "Rcvd Out of order packets", "out_of_seq_request", "resp_rx_outouf_seq"})
    EXPECT_EQ(metric(name), "fabric_rdma_out_of_sequence_packets_total") << name;
  for (const char* name : {"packet_seq_err", "seq_err_naks_rcvd", "Nak Sequence Error", "rcvd_seq_err", "req_rx_pkt_seq_err"})
    EXPECT_EQ(metric(name), "fabric_rdma_sequence_naks_received_total") << name;
}

TEST(Catalogue, CountersOfTroubleAtTheTransportAllHaveACommonName) {
  for (const char* name : {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "duplicate_request", "out_of_buffer",
                           "rnr_nak_retry_err", "rx_icrc_encapsulated", "rp_cnp_ignored", "req_transport_retries_exceeded",
                           "to_retransmits", "seq_err_naks_rcvd", "oos_drop_count", "max_retry_exceeded", "rcvd_seq_err",
                           "out_of_seq_request", "completer_retry_err", "retry_exceeded_err"}) {
    EXPECT_TRUE(classify_counter(name)) << name;
    EXPECT_TRUE(find_counter(CounterSource::hw, name)) << name;
  }
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

constexpr const char* kPort = "sys/class/infiniband/mlx5_0/ports/1/";

test::Tree& one_port(test::Tree& tree) {
  std::string port = kPort;
  tree.file(port + "state", "4: ACTIVE\n").file(port + "phys_state", "5: LinkUp\n");
  tree.file(port + "counters/port_xmit_data", "1000\n").file(port + "counters/symbol_error", "N/A (no PMA)\n");
  tree.file(port + "hw_counters/out_of_sequence", "7\n").file(port + "hw_counters/lifespan", "10\n");
  tree.file("sys/class/net/eth2/carrier", "1\n").file("sys/class/net/eth2/carrier_down_count", "3\n");
  return tree;
}

Port port_of_tree() {
  Port port;
  port.rdma = "mlx5_0";
  port.netdev = "eth2";
  return port;
}

TEST(PortReader, ReadsWhatTheFilesSayNow) {
  test::Tree tree;
  Root root = one_port(tree).root();
  PortReader reader({root}, port_of_tree());
  auto reading = reader.read();
  EXPECT_EQ(reading.state, 4u);
  EXPECT_EQ(reading.phys_state, 5u);
  EXPECT_EQ(reading.carrier, true);
  EXPECT_EQ(reading.counters.carrier_down, 3u);
  EXPECT_EQ(reading.counters.pma, (std::vector<Counter>{{"port_xmit_data", 1000}})) << "N/A is absent, not zero";
  EXPECT_EQ(reading.counters.hw, (std::vector<Counter>{{"out_of_sequence", 7}})) << "lifespan is no counter";
  tree.file(std::string(kPort) + "hw_counters/out_of_sequence", "19\n").file("sys/class/net/eth2/carrier", "0\n");
  reading = reader.read();
  EXPECT_EQ(reading.counters.hw.at(0).value, 19u);
  EXPECT_EQ(reading.carrier, false);
}

TEST(PortReader, APortWithoutCountersOrNetdevIsNoFailure) {
  test::Tree tree;
  Root root = tree.file(std::string(kPort) + "state", "1: DOWN\n").root();
  Port port = port_of_tree();
  port.netdev.clear();
  auto reading = PortReader({root}, port).read();
  EXPECT_EQ(reading.state, 1u);
  EXPECT_FALSE(reading.carrier);
  EXPECT_TRUE(reading.counters.hw.empty());
  for (const Attempt& attempt : reading.attempts) EXPECT_TRUE(attempt.success) << attempt.collector;
}

// An RDMA stack with one device that answers STAT_GET with `code`.
class Refusing : public Netlink {
 public:
  explicit Refusing(int code) : code_(code) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8) override {
    if ((flags & NLM_F_DUMP) != NLM_F_DUMP) {
      ++asked;
      return error(code_, "fake");
    }
    AttrWriter device;
    device.u32(1, 5).text(2, "mlx5_0");
    return std::vector<Message>{{type, device.data()}};
  }
  [[nodiscard]] uint32_t last_sequence() const override { return 0; }
  int asked = 0;

 private:
  int code_;
};

TEST(PortReader, FallsBackToFilesWhereNetlinkHasNoCounters) {
  for (int code : {EINVAL, EOPNOTSUPP, EMSGSIZE}) {
    test::Tree tree;
    Root root = one_port(tree).root();
    Refusing rdma(code);
    PortReader reader({root, &rdma}, port_of_tree());
    EXPECT_EQ(reader.read().counters.hw.size(), 1u) << code;
    EXPECT_EQ(reader.read().counters.hw.size(), 1u) << code;
    EXPECT_EQ(rdma.asked, 1) << "asked once, then known";
  }
}

TEST(PortReader, ADeviceThatFailsIsLeftAloneAndSaidSo) {
  test::Tree tree;
  Root root = one_port(tree).root();
  Refusing rdma(EIO);
  PortReader reader({root, &rdma}, port_of_tree());
  for (int i = 0; i < 3; ++i) {
    auto reading = reader.read();
    EXPECT_TRUE(reading.counters.hw.empty()) << "absent, not zero";
    EXPECT_EQ(reading.counters.pma.size(), 1u) << "the rest goes on";
    for (const Attempt& attempt : reading.attempts) {
      EXPECT_EQ(attempt.success, attempt.collector != "rdma");
      EXPECT_EQ(attempt.error.find("EIO") != std::string::npos, attempt.collector == "rdma") << attempt.error;
    }
  }
  EXPECT_EQ(rdma.asked, 1);
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

}  // namespace
}  // namespace fabric
