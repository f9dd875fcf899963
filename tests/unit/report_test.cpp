// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include <gtest/gtest.h>

#include "counters/counter_class.h"
#include "support/json_reader.h"

namespace fabric {
namespace {

Report of(std::vector<Status> statuses) {
  Report report;
  for (Status status : statuses) report.findings.push_back({"id", "subject", status, "o", "e", "", ""});
  return report;
}

TEST(Report, WorstIsThatOfMonitoringPlugins) {
  EXPECT_EQ(worst({}), Status::ok);
  EXPECT_EQ(worst(of({Status::ok, Status::unknown})), Status::unknown);
  EXPECT_EQ(worst(of({Status::unknown, Status::warning})), Status::warning);
  EXPECT_EQ(worst(of({Status::warning, Status::critical, Status::unknown})), Status::critical);
  EXPECT_EQ(static_cast<int>(Status::warning), 1);
  EXPECT_EQ(static_cast<int>(Status::critical), 2);
  EXPECT_EQ(static_cast<int>(Status::unknown), 3);
}

TEST(Report, JsonKeepsTheContract) {
  Report report;
  report.findings.push_back({"pfc", "mlx5_0/1", Status::critical, "none", "3", "why", "what"});
  const auto json = test::JsonValue::parse(to_json(report).dump());
  EXPECT_EQ(json["verdict"].text(), "critical");
  ASSERT_EQ(json["checks"].array().size(), 1u);
  const auto& check = json["checks"].array()[0];
  for (auto [key, value] : {std::pair{"id", "pfc"},
                            {"subject", "mlx5_0/1"},
                            {"status", "critical"},
                            {"observed", "none"},
                            {"expected", "3"},
                            {"meaning", "why"},
                            {"remedy", "what"}})
    EXPECT_EQ(check[key].text(), value) << key;
}

TEST(CounterClass, NamesOfEveryDriver) {
  const auto kind = [](const char* name) {
    return classify_counter(name) ? classify_counter(name)->kind : CounterClass{99};
  };
  EXPECT_EQ(kind("packet_seq_err"), CounterClass::loss);             // mlx5
  EXPECT_EQ(kind("rcvd_seq_err"), CounterClass::loss);               // rxe
  EXPECT_EQ(kind("seq_err_naks_rcvd"), CounterClass::loss);          // bnxt_re
  EXPECT_EQ(kind("Rcvd Out of order packets"), CounterClass::loss);  // irdma of 7.x
  EXPECT_EQ(kind("rx_prio0_discards"), CounterClass::discard);
  EXPECT_EQ(kind("rx_prio7_cong_discard"), CounterClass::discard);
  EXPECT_EQ(kind("rx_discard_packets_cos5"), CounterClass::discard);  // bnxt_en
  EXPECT_EQ(kind("carrier_down"), CounterClass::link);
  EXPECT_TRUE(classify_counter("req_transport_retries_exceeded")->severe);
  EXPECT_FALSE(classify_counter("local_ack_timeout_err")->severe);
}

// Congestion control at work, pause frames, traffic and gauges are no errors; nor is what nobody knows.
TEST(CounterClass, NoAlarmForWorkingNetworks) {
  for (const char* name :
       {"np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets", "rx_prio3_pause", "tx_prio3_pause_duration",
        "rx_prio3_pause_transition", "port_xmit_wait", "port_rcv_data", "active_qps", "recoverable_errors",
        "rx_prio3_bytes", "rx_corrected_bits_phy", "lifespan", "", "prio", "rx_prio", "cos"})
    EXPECT_FALSE(classify_counter(name).has_value()) << name;
}

TEST(CounterRise, GrowsWrapsOrWasReset) {
  EXPECT_EQ(counter_rise(5, 7), 2u);
  EXPECT_EQ(counter_rise(5, 5), std::nullopt);
  EXPECT_EQ(counter_rise(0xffff'fffe, 3), 5u) << "a 32-bit counter wrapped";
  EXPECT_EQ(counter_rise(1000, 0), std::nullopt) << "reset";
  EXPECT_EQ(counter_rise(0x9000'0000, 3), std::nullopt) << "reset, as counter/widen.h sees it";
  EXPECT_EQ(counter_rise(uint64_t{1} << 40, 3), std::nullopt) << "a 64-bit counter does not wrap so soon";
}

}  // namespace
}  // namespace fabric
