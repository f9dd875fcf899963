// SPDX-License-Identifier: Apache-2.0
// Counters of queue pairs by kind: what is asked of the kernel, and what becomes of it under rdma_exporter's names. The
// expectations are those of its own tests (internal/collector/collector_test.go, TestCollector*QP*) and of its README.
#include "metrics/compat.h"
#include "metrics/text.h"
#include "node/owners.h"
#include "support/sim_qp.h"
#include "support/test.h"

namespace fabric {
namespace {

using std::chrono::seconds;
using test::SimQp;
using Lines = std::set<std::string>;
constexpr uint8_t kRc = 2, kUd = 4, kDriver = 0xff;  // IB_QPT_*

const Lines kModes{"rdma_qp_counter_mode{device=\"mlx5_0\",port=\"1\",mode=\"none\"} 0",
                   "rdma_qp_counter_mode{device=\"mlx5_0\",port=\"1\",mode=\"auto\"} 1",
                   "rdma_qp_counter_mode{device=\"mlx5_0\",port=\"1\",mode=\"manual\"} 0",
                   "rdma_qp_auto_mask{device=\"mlx5_0\",port=\"1\",criteria=\"type\"} 1",
                   "rdma_qp_auto_mask{device=\"mlx5_0\",port=\"1\",criteria=\"pid\"} 0"};

Lines status(const std::string& result, const std::string& port = "1") {
  Lines out;
  for (const std::string each : {"ok", "overflow", "error"})
    out.insert("rdma_qp_scrape_status{device=\"mlx5_0\",port=\"" + port + "\",result=\"" + each + "\"} " +
               (each == result ? "1" : "0"));
  return out;
}

std::string total(const std::string& name, const std::string& kind, int value, const std::string& port = "1") {
  return "rdma_qp_" + name + "_total{device=\"mlx5_0\",port=\"" + port + "\",qp_type=\"" + kind + "\"} " +
         std::to_string(value);
}

Lines operator+(Lines all, const Lines& more) {
  all.insert(more.begin(), more.end());
  return all;
}

// A port's reader, and the page's lines without comments.
struct QpReading {
  SimQp& rdma;
  uint32_t port = 1;
  QpReader reader{};
  int failed = 0;
  const QpReader::Clock::time_point start = QpReader::Clock::now();

  Lines page(seconds at = seconds(0)) {
    const auto done = reader.read(rdma, rdma.index, port, start + at);
    failed = done ? 0 : done.error().code;
    Node node;
    Port& shown = node.ports.emplace_back();
    shown.rdma = "mlx5_0", shown.number = port, shown.qp_statistics = reader.last();
    FamilySet families;
    add_rdma_exporter_qp(families, node);
    Lines out;
    const std::string text = serialize(families.families());
    for (size_t from = 0, to = 0; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
      if (text[from] != '#') out.insert(text.substr(from, to - from));
    return out;
  }
};

class Qp : public testing::Test {
 protected:
  SimQp rdma;
  QpReading one{rdma};
};

TEST_F(Qp, OnlySetsThatAreOfATypeAloneAreSummed) {
  rdma.sets = {{.type = kRc, .counters = {{"out_of_buffer", 7}, {"duplicate_request", 3}}},
               {.mode = RDMA_COUNTER_MODE_MANUAL, .type = kRc, .counters = {{"out_of_buffer", 99}}},
               {.type = kUd, .pid = 30489, .counters = {{"out_of_buffer", 88}}},
               {.pid = 30489, .counters = {{"out_of_buffer", 66}}}};
  EXPECT_EQ(one.page(),
            kModes + status("ok") + (Lines{total("out_of_buffer", "RC", 7), total("duplicate_request", "RC", 3)}));
  EXPECT_EQ(one.failed, 0);
}

TEST_F(Qp, CountersWithoutANameThereAreLeftOut) {
  rdma.sets = {{.type = kRc, .counters = {{"out_of_buffer", 4}, {"weird_counter", 123}}}};
  EXPECT_EQ(one.page(), kModes + status("ok") + (Lines{total("out_of_buffer", "RC", 4)}));
}

TEST_F(Qp, OptionalTrafficLosesItsFirstWord) {
  rdma.sets = {{.type = kRc,
                .counters = {{"rdma_rx_bytes", 1},
                             {"rdma_tx_bytes", 2},
                             {"rdma_rx_packets", 3},
                             {"rdma_tx_packets", 4},
                             {"out_of_buffer", 5}}}};
  EXPECT_EQ(one.page(), kModes + status("ok") +
                            (Lines{total("rx_bytes", "RC", 1), total("tx_bytes", "RC", 2), total("rx_packets", "RC", 3),
                                   total("tx_packets", "RC", 4), total("out_of_buffer", "RC", 5)}));
}

TEST_F(Qp, WithoutQueuePairsThereIsNoTotal) { EXPECT_EQ(one.page(), kModes + status("ok")); }

TEST_F(Qp, SetsOfAKindAreSummedAndKindsHaveNamesOrNumbers) {
  rdma.sets = {{.type = kRc, .counters = {{"out_of_buffer", 3}}},
               {.type = kRc, .counters = {{"out_of_buffer", 4}}},
               {.type = kUd, .counters = {{"out_of_buffer", 1}}},
               {.type = kDriver, .counters = {{"out_of_buffer", 2}}}};
  EXPECT_EQ(one.page(), kModes + status("ok") +
                            (Lines{total("out_of_buffer", "RC", 7), total("out_of_buffer", "UD", 1),
                                   total("out_of_buffer", "255", 2)}));
}

TEST_F(Qp, AKernelOrDriverWithoutThemSaysErrorOnceAndIsNoFailure) {
  for (int code : {EOPNOTSUPP, EINVAL, EPERM}) {
    rdma.mode_failure = code;
    ++rdma.index;  // another device
    const int before = rdma.modes;
    for (int time = 0; time < 1000; time += 50)
      EXPECT_EQ(one.page(seconds(time)), status("error")) << "and no mode: absent is not none";
    EXPECT_EQ(one.failed, 0);
    EXPECT_EQ(rdma.modes, before + 1);
  }
  EXPECT_EQ(rdma.dumps, 0);
}

TEST_F(Qp, InEveryOtherModeTheCountersAreNotAsked) {
  rdma.sets = {{.type = kRc, .counters = {{"out_of_buffer", 7}}}};
  const auto of_mode = [&](uint32_t mode, uint32_t mask) {
    rdma.ports[1] = {mode, mask};
    return one.page();
  };
  Lines none = of_mode(RDMA_COUNTER_MODE_NONE, 0);
  EXPECT_EQ(none.size(), 5u) << "no status either";
  EXPECT_TRUE(none.contains("rdma_qp_counter_mode{device=\"mlx5_0\",port=\"1\",mode=\"none\"} 1"))
      << "also of a driver that has none, as rxe";
  EXPECT_TRUE(of_mode(RDMA_COUNTER_MODE_MANUAL, 0)
                  .contains("rdma_qp_counter_mode{device=\"mlx5_0\",port=\"1\",mode=\"manual\"} 1"));
  EXPECT_TRUE(of_mode(RDMA_COUNTER_MODE_AUTO, RDMA_COUNTER_MASK_PID)
                  .contains("rdma_qp_auto_mask{device=\"mlx5_0\",port=\"1\",criteria=\"pid\"} 1"));
  EXPECT_EQ(of_mode(RDMA_COUNTER_MODE_AUTO, RDMA_COUNTER_MASK_PID | RDMA_COUNTER_MASK_QP_TYPE).size(), 5u);
  EXPECT_EQ(rdma.dumps, 0);
  EXPECT_TRUE(of_mode(RDMA_COUNTER_MODE_AUTO, RDMA_COUNTER_MASK_QP_TYPE).contains(total("out_of_buffer", "RC", 7)))
      << "at once when it is switched on";
}

// 12 bytes for each queue pair: the kernel's dump of a set with more than some 2,600 of them has no end.
TEST_F(Qp, ASetThatFitsIntoNoMessageIsAnOverflowAndLeftAloneForAWhile) {
  rdma.sets = {{.type = kUd, .counters = {{"out_of_buffer", 1}}},
               {.type = kRc, .counters = {{"out_of_buffer", 7}}, .queue_pairs = 5000}};
  EXPECT_EQ(one.page(), kModes + status("overflow")) << "no total of a part";
  EXPECT_EQ(one.failed, 0);
  EXPECT_LE(rdma.queries, 4) << "commands to the firmware";
  rdma.sets[1].queue_pairs = 100;
  EXPECT_EQ(one.page(seconds(9)), kModes + status("overflow"));
  EXPECT_EQ(rdma.dumps, 1);
  EXPECT_EQ(one.page(seconds(10)),
            kModes + status("ok") + (Lines{total("out_of_buffer", "UD", 1), total("out_of_buffer", "RC", 7)}));
}

TEST_F(Qp, ADumpIsReadToALimit) {
  for (int i = 0; i < 600; ++i)
    rdma.sets.push_back({.type = kRc, .counters = {{"out_of_buffer", 1}}, .queue_pairs = 50});
  EXPECT_TRUE(one.page().contains(total("out_of_buffer", "RC", 600))) << "of many messages";
  for (SimQp::Set& set : rdma.sets) set.queue_pairs = 200;
  EXPECT_EQ(one.page(), kModes + status("overflow")) << "more than 1 MiB";
  EXPECT_LT(rdma.queries, 1200);
}

TEST_F(Qp, OverflowOfOnePortLeavesTheOtherAlone) {
  rdma.ports[2] = rdma.ports[1];
  rdma.sets = {{.type = kRc, .counters = {{"out_of_buffer", 1}}, .queue_pairs = 5000},
               {.type = kRc, .counters = {{"out_of_buffer", 5}}, .port = 2}};
  EXPECT_EQ(one.page(), kModes + status("overflow"));
  QpReading two{.rdma = rdma, .port = 2};
  const auto page = two.page();
  EXPECT_TRUE(page.contains(total("out_of_buffer", "RC", 5, "2")));
  for (const std::string& line : status("ok", "2")) EXPECT_TRUE(page.contains(line)) << line;
}

TEST_F(Qp, ADumpThatFailsOrTakesTooLongGivesNoTotalOfAPart) {
  rdma.sets = {{.type = kRc, .counters = {{"out_of_buffer", 7}}}};
  rdma.dump_failure = ETIMEDOUT;
  EXPECT_EQ(one.page(), kModes + status("error"));
  EXPECT_EQ(one.failed, 0);
  rdma.dump_failure = EIO;
  EXPECT_EQ(one.page(seconds(10)), kModes + status("error"));
  EXPECT_EQ(one.failed, EIO);
  rdma.dump_failure = 0;
  EXPECT_EQ(one.page(seconds(29)), kModes + status("error"));
  EXPECT_EQ(one.failed, EIO) << "as long as it is left alone";
  EXPECT_TRUE(one.page(seconds(30)).contains(total("out_of_buffer", "RC", 7)));
  EXPECT_EQ(one.failed, 0);
}

}  // namespace
}  // namespace fabric
