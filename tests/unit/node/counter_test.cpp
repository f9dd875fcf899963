// SPDX-License-Identifier: Apache-2.0
#include "nic/counter_catalogue.h"
#include "nic/metrics.h"
#include "node/counter_reader.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

std::vector<CounterRow> all_rows() {
  std::vector<CounterRow> rows;
  for (const CounterTable& table : counter_tables())
    for (const CounterRow& row : table.rows) rows.push_back(row);
  return rows;
}

TEST(Catalogue, NoRawNameMeansTwoThings) {
  std::set<std::pair<CounterSource, std::string_view>> common;
  for (const CounterTable& table : counter_tables()) {
    std::set<std::pair<CounterSource, std::string_view>> own;
    for (const CounterRow& row : table.rows) {
      const bool own_only = table.exclusive || (!table.drivers[0].empty() && row.source == CounterSource::pma);
      EXPECT_TRUE((own_only ? own : common).emplace(row.source, row.name).second)
          << row.name << " is in two rows of lib/nic/*/counters.cpp";
    }
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
  auto match = describe_counter(CounterSource::ethtool, "rx_prio3_pause");
  ASSERT_TRUE(match.row);
  EXPECT_EQ(match.row->metric, &metrics::kPfcFrames);
  EXPECT_EQ(match.priority, '3');
  match = describe_counter(CounterSource::ethtool, "pfc_pri5_tx_duration_us");
  ASSERT_TRUE(match.row);
  EXPECT_EQ(match.row->metric, &metrics::kPfcSeconds);
  EXPECT_EQ(match.row->label.value, "tx");
  EXPECT_EQ(match.priority, '5');
  EXPECT_FALSE(describe_counter(CounterSource::ethtool, "rx_prio8_pause").row);
  EXPECT_FALSE(describe_counter(CounterSource::ethtool, "rx_prio#_pause").row);
  EXPECT_FALSE(describe_counter(CounterSource::hw, "rx_prio3_pause").row) << "sources do not mix";
}

TEST(Catalogue, TrafficOfEfaIsNotTakenForAnothers) {
  auto efa = describe_counter(CounterSource::hw, "rx_bytes", "efa");
  ASSERT_TRUE(efa.row);
  EXPECT_EQ(efa.row->metric, &metrics::kRdmaBytes);
  EXPECT_TRUE(efa.row->unless.empty()) << "it has no other";
  EXPECT_FALSE(describe_counter(CounterSource::hw, "retrans_pkts", "mlx5_core").row);
  EXPECT_TRUE(describe_counter(CounterSource::hw, "np_cnp_sent", "efa").row) << "the rest is common";
}

// By the names that fabric-counters(7) lists, and of every priority.
TEST(Catalogue, FindsEveryRowOnItsDrivers) {
  for (const CounterTable& table : counter_tables())
    for (const CounterRow& row : table.rows)
      for (const std::string_view driver : table.drivers) {
        if (driver.empty() && !table.drivers[0].empty()) continue;
        const size_t mark = row.name.find('#');
        for (char priority = '0'; priority <= (mark == std::string_view::npos ? '0' : '7'); ++priority) {
          std::string name(row.name);
          if (mark != std::string::npos) name[mark] = priority;
          const auto match = describe_counter(row.source, name, driver);
          EXPECT_EQ(match.row, &row) << name << " of " << driver;
          EXPECT_EQ(match.priority, mark == std::string_view::npos ? 0 : priority) << name;
        }
      }
}

// bnge_ethtool.c has another name for one of bnxt's.
TEST(Catalogue, BngesPfcQueuesAreTheSame) {
  const auto match = [](const char* name) { return describe_counter(CounterSource::ethtool, name, "bng_en"); };
  const auto frames = match("txp_pfc_ena_frames_pri5");
  ASSERT_TRUE(frames.row);
  EXPECT_EQ(frames.row->metric, match("tx_pfc_ena_frames_pri5").row->metric);
  EXPECT_EQ(frames.priority, '5');
  EXPECT_EQ(frames.row->label, kTx);
  EXPECT_EQ(find_counter_table("bng_en")->ethtool_period, std::chrono::seconds(1));
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

TEST(PortReader, AScanReadsNumbersAndNamesTheFileThatFails) {
  test::Tree tree;
  const std::string pma = kPort + "counters/";
  tree.file(pma + "max", "18446744073709551615\n").file(pma + "over", "18446744073709551616\n");
  tree.file(pma + "lifespan", "10\n").file(pma + "port_rcv_packets", "N/A (no PMA)\n").folder(pma + "worse");
  const Root root = tree.root();
  Port port = port_of_tree();
  read_counters({.root = root}, port);
  EXPECT_EQ(port.counters.pma, (std::vector<Counter>{{"max", UINT64_MAX}}));
  ASSERT_EQ(port.unread.size(), 1u);
  EXPECT_TRUE(test::has(port.unread[0], "port counters: ") && test::has(port.unread[0], "/worse")) << port.unread[0];
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
    Port port = port_of_tree();
    read_counters({.root = root}, port);
    EXPECT_EQ(port.counters.pma, (std::vector<Counter>{{"port_rcv_data", 3}}));
    EXPECT_EQ(port.unread.empty(), code != EIO) << code;
  }
}

TEST(PortReader, OnEthernetAZeroOfInfiniBandsLinkIsSeldomReadAgain) {
  OnePort at;
  const std::string counters = kPort + "counters/";
  at.tree.file(counters + "symbol_error", "0\n").file(counters + "link_downed", "2\n");
  const Port ethernet = port_of_tree(LinkLayer::ethernet), infiniband = port_of_tree(LinkLayer::infiniband);
  PortReader seldom({at.root}, ethernet), always({at.root}, ethernet, {.idle_age = std::chrono::milliseconds(0)}),
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
  PortReader seldom({at.root}, ethernet), always({at.root}, ethernet, {.idle_age = std::chrono::milliseconds(0)}),
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
  PortReader reader({at.root, nullptr, &statistics}, port_of_tree(), {.asked = asked});
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
