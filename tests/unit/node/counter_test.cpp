// SPDX-License-Identifier: Apache-2.0
// Counters: the catalogue, how they are read, widened and named; optional ones; and that fabric-counters(7) matches the
// tables. Reads and names every counter of the captures, and prints the score, with the names whose meaning is unknown.
#include <rdma/rdma_netlink.h>

#include <cctype>

#include "base/parse.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/rdma/nldev.h"
#include "kernel/telemetry.h"
#include "metrics/counters.h"
#include "metrics/telemetry_metrics.h"
#include "nic/counter_catalogue.h"
#include "nic/counter_row.h"
#include "nic/metrics.h"
#include "node/counter_reader.h"
#include "node/scan.h"
#include "support/corpus.h"
#include "support/counters.h"
#include "support/manuals.h"
#include "support/series.h"
#include "support/sim_nic_bed.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;
using test::Bed;
using test::counters_manual;
using test::has;
using test::of;
using test::Personality;
using test::slurp;
using Counters = std::vector<Counter>;

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
    std::string_view help = row.help;
    if (help.empty() && row.metric != nullptr) help = row.metric->help;
    EXPECT_TRUE(help.ends_with('.')) << row.name;
    EXPECT_EQ(help.find_first_of("\\\n"), std::string_view::npos) << row.name << ": one line, no escaping";
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
  tree.file(pma + "lifespan", "10\n").file(pma + "port_rcv_packets", "N/A (no PMA)\n").file(pma + "below", "-1\n");
  tree.file(pma + "empty", "").folder(pma + "worse");
  const Root root = tree.root();
  Port port = port_of_tree();
  read_counters({.root = root}, port);
  EXPECT_EQ(port.counters.pma, (std::vector<Counter>{{"max", UINT64_MAX}}));
  ASSERT_EQ(port.unread.size(), 1u);
  EXPECT_TRUE(test::has(port.unread[0].why, "port counters: ") && test::has(port.unread[0].why, "/worse"))
      << port.unread[0].why;
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

// Statistics in the style of mlx5's, most of which are per queue.
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
  EXPECT_EQ(counter_rise(pma, 64, 0xffff'ffff, 0xffff'ffff), std::nullopt) << "data without extended counters";
  EXPECT_EQ(counter_rise(pma, 64, 0xffff'ffff, 0x1'0000'0005), 6u);
}

// -- 32 bits: wraps

constexpr uint64_t kRange = uint64_t{1} << 32;

PortCounters of(std::vector<Counter> hw) {
  PortCounters out;
  out.hw = std::move(hw);
  return out;
}

// The readings of one counter, as a port of the driver publishes them.
std::vector<uint64_t> widened(const std::string& driver, const std::string& counter,
                              const std::vector<uint64_t>& readings) {
  Widener widener;
  std::vector<uint64_t> out;
  for (const uint64_t value : readings) {
    PortCounters counters = of({{counter, value}});
    test::resolve(counters, driver);
    widener.widen(counters);
    out.push_back(counters.hw.front().value);
  }
  return out;
}

TEST(Widener, ExtendsAWrap) {
  EXPECT_EQ(
      widened("mlx5_core", "out_of_sequence", {kRange - 10, 5, 6, kRange / 2, kRange - 1, 0}),
      (std::vector<uint64_t>{kRange - 10, kRange + 5, kRange + 6, kRange + kRange / 2, 2 * kRange - 1, 2 * kRange}));
}

TEST(Widener, ExtendsTheWrapOfAVport) {
  EXPECT_EQ(widened("mlx5_core", "vport_out_of_sequence", {kRange - 10, 5}),
            (std::vector<uint64_t>{kRange - 10, kRange + 5}));
  EXPECT_EQ(widened("mlx5_core", "vport_of_another_kind", {kRange - 10, 5}), (std::vector<uint64_t>{kRange - 10, 5}));
}

TEST(Widener, ExtendsStatisticsOfTheNetdev) {
  Widener widener;
  PortCounters first, second;
  first.hw = {{"out_of_buffer", kRange - 1}};
  first.ethtool = {{"rx_bytes_phy", 7},
                   {"rx_out_of_buffer", kRange - 10},
                   {"outbound_pci_stalled_rd", 95},
                   {"rx_prio3_pause", kRange - 10}};
  second.hw = {{"out_of_buffer", 3}};
  second.ethtool = {
      {"rx_bytes_phy", 9}, {"rx_out_of_buffer", 5}, {"outbound_pci_stalled_rd", 0}, {"rx_prio3_pause", 5}};
  for (PortCounters* reading : {&first, &second}) {
    test::resolve(*reading, "mlx5_core");
    widener.widen(*reading);
  }
  EXPECT_EQ(second.hw, (std::vector<Counter>{{"out_of_buffer", kRange + 3}}));
  EXPECT_EQ(second.ethtool, (std::vector<Counter>{{"rx_bytes_phy", 9},
                                                  {"rx_out_of_buffer", kRange + 5},
                                                  {"outbound_pci_stalled_rd", 0},
                                                  {"rx_prio3_pause", 5}}));
}

TEST(Widener, AReloadedDriverIsAReset) {
  EXPECT_EQ(widened("mlx5_core", "rx_write_requests", {1000, 0, 7}), (std::vector<uint64_t>{1000, 0, 7}));
  EXPECT_EQ(widened("mlx5_core", "rx_write_requests", {kRange / 2, 3}), (std::vector<uint64_t>{kRange / 2, 3}))
      << "half of the range cannot be passed between two readings";
  EXPECT_EQ(widened("mlx5_core", "rx_write_requests", {kRange - 1, 1, 0}),
            (std::vector<uint64_t>{kRange - 1, kRange + 1, 0}))
      << "the reset drops earlier wraps";
}

TEST(Widener, LeavesWideCountersUnchanged) {
  const std::vector<uint64_t> readings{kRange - 1, 1, kRange + 5, 2};
  EXPECT_EQ(widened("mlx5_core", "np_cnp_sent", readings), readings) << "a congestion counter";
  EXPECT_EQ(widened("bnxt_en", "out_of_sequence", readings), readings);
  EXPECT_EQ(widened("mlx5_core", "out_of_sequence", {kRange + 5, 2}), (std::vector<uint64_t>{kRange + 5, 2}))
      << "a driver that has widened it itself";
  EXPECT_EQ(widened("mlx5_core", "out_of_sequence", {2 * kRange - 1, 2}), (std::vector<uint64_t>{2 * kRange - 1, 2}))
      << "a wide reading is not one of the low 32 bits";
}

TEST(Widener, EachCounterIsExtendedInAnyOrder) {
  Widener widener;
  PortCounters first = of({{"out_of_buffer", kRange - 1}}),
               second = of({{"packet_seq_err", 4}, {"out_of_buffer", kRange - 1}}), third = of({{"packet_seq_err", 5}}),
               fourth = of({{"packet_seq_err", 6}, {"out_of_buffer", 1}});
  for (PortCounters* reading : {&first, &second, &third, &fourth}) {
    test::resolve(*reading, "mlx5_core");
    widener.widen(*reading);
  }
  EXPECT_EQ(third.hw, (std::vector<Counter>{{"packet_seq_err", 5}}));
  EXPECT_EQ(fourth.hw, (std::vector<Counter>{{"packet_seq_err", 6}, {"out_of_buffer", kRange + 1}}))
      << "absent for one reading";
}

TEST(Widener, QueueCountersAre32BitsWide) {
  size_t wrapping = 0;
  for (const CounterRow& row : kMlx5Counters.rows)
    wrapping += row.source == CounterSource::hw && row.bits == 32 ? 1 : 0;
  EXPECT_EQ(wrapping, 26u);
}

// -- Names

TEST(CounterName, IsItsText) {
  const CounterName name("out_of_sequence");
  EXPECT_EQ(name, "out_of_sequence");
  EXPECT_EQ(name, std::string("out_of_sequence"));
  EXPECT_NE(name, "out_of_sequenc");
  EXPECT_EQ(name.str() + "!", "out_of_sequence!");
  EXPECT_EQ((std::ostringstream() << name).str(), "out_of_sequence");
  EXPECT_LT(name, CounterName("packet_seq_err"));
  EXPECT_LT(name, "packet_seq_err");
  const std::map<std::string, int, std::less<>> by_name{{"out_of_sequence", 3}};
  EXPECT_EQ(by_name.find(name)->second, 3);
}

TEST(CounterName, OneTextIsKeptOnce) {
  std::string text = "a_name_that_is_too_long_for_a_small_string";
  const CounterName first(text), second(text);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.text().data(), second.text().data());
  text[0] = 'b';
  EXPECT_EQ(first, "a_name_that_is_too_long_for_a_small_string") << "it is its own";
  EXPECT_NE(first, CounterName(text));
}

TEST(CounterName, AnEmptyOneIsNone) {
  EXPECT_EQ(CounterName(), CounterName(""));
  EXPECT_EQ(CounterName().text(), "");
  EXPECT_NE(CounterName(), CounterName("x"));
}

TEST(CounterName, ThreadsAgree) {
  std::vector<std::vector<CounterName>> kept(4);
  std::vector<std::thread> threads;
  for (auto& mine : kept)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 2000; ++i) mine.emplace_back("thread_counter_" + std::to_string(i % 500));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : kept) EXPECT_EQ(mine, kept.front());
  EXPECT_EQ(kept[3][499], "thread_counter_499");
}

// -- Optional counters

class OptionalCounters : public testing::Test {
 protected:
  OptionalCounters() {
    auto socket = std::make_unique<test::SimRdma>();
    rdma = socket.get();
    auto& other = rdma->devices[3];
    other.name = "other";
    other.ports[1].optional = {{"never", false}};
    auto& device = rdma->devices[7];
    device.name = bed.port.rdma;
    device.ports[1].counters = {{"out_of_buffer", 1}, {"out_of_sequence", 2}};
    device.ports[1].optional = {{"cc_rx_ce_pkts", false}, {"cc_rx_cnp_pkts", true}, {"cc_tx_cnp_pkts", false}};
    bed.kernel.rdma = std::move(socket);
  }
  test::SimRdmaPort& port() { return rdma->devices[7].ports[1]; }
  static Qos want(std::set<std::string> names) {
    Qos out;
    out.optional_counters.emplace().names = std::move(names);
    return out;
  }
  Bed bed{Personality::mlx5};
  test::SimRdma* rdma = nullptr;
};

TEST_F(OptionalCounters, StatusTellsOptionalOnesFromTheOthers) {
  auto status = nldev::counter_status(*rdma, 7, 1);
  ASSERT_TRUE(status.ok());
  const std::vector<nldev::CounterStatus> expected{{0, "out_of_buffer", {}},
                                                   {1, "out_of_sequence", {}},
                                                   {2, "cc_rx_ce_pkts", false},
                                                   {3, "cc_rx_cnp_pkts", true},
                                                   {4, "cc_tx_cnp_pkts", false}};
  EXPECT_EQ(*status, expected);
  EXPECT_TRUE(nldev::parse_counter_status({}).empty());
}

// mlx5 of Linux 6.15: its traffic counters are switched on by the policy, and then read and published by direction, by
// a reader that began before.
TEST_F(OptionalCounters, TrafficCountersAreSwitchedOnReadAndPublished) {
  const std::set<std::string> all{"rdma_rx_bytes", "rdma_rx_packets", "rdma_tx_bytes", "rdma_tx_packets"};
  for (const std::string& name : all) port().optional[name] = false;
  const CounterAccess access{bed.kernel.root, rdma};
  PortReader reader(access, bed.port);
  Port reading = bed.port;
  const auto published = [&] {
    apply(reader.read(), reading);
    auto series = test::series_of([&](FamilySet& set) { add_counters(set, reading); });
    std::erase_if(series, [](const auto& one) { return !one.first.starts_with("fabric_rdma_optional_"); });
    return series;
  };
  const std::string at = ",device=" + bed.port.rdma + ",port=1,direction=";
  EXPECT_EQ(published(), test::Series{}) << "off: absent, not zero";
  const auto change = of(bed.apply(want(all)), "optional_counters");
  EXPECT_EQ(change.outcome, Outcome::applied) << change.detail;
  port().optional_counts["rdma_rx_bytes"] = uint64_t{1} << 40;
  port().optional_counts["rdma_tx_packets"] = 12;
  EXPECT_EQ(published(), (test::Series{{"fabric_rdma_optional_bytes_total" + at + "rx", 0x1p40},
                                       {"fabric_rdma_optional_bytes_total" + at + "tx", 0},
                                       {"fabric_rdma_optional_packets_total" + at + "rx", 0},
                                       {"fabric_rdma_optional_packets_total" + at + "tx", 12}}));
  EXPECT_EQ(of(bed.apply(want({"rdma_rx_bytes"})), "optional_counters").outcome, Outcome::applied);
  EXPECT_EQ(published(), (test::Series{{"fabric_rdma_optional_bytes_total" + at + "rx", 0x1p40}})) << "it went on";
}

// The kernel stops at the first counter that the driver refuses.
TEST_F(OptionalCounters, ThoseBeforeTheRefusedOneAreOn) {
  port().optional_refused = {{"cc_tx_cnp_pkts", EOPNOTSUPP}};
  for (const char* from : {"cc_rx_cnp_pkts", "cc_rx_ce_pkts,cc_rx_cnp_pkts"}) {
    const auto change = of(bed.apply(want({"*"})), "optional_counters");
    EXPECT_EQ(change.outcome, Outcome::refused) << change.detail;
    EXPECT_EQ(change.code, EOPNOTSUPP);
    EXPECT_EQ(change.from, from);
  }
  EXPECT_EQ(of(bed.apply(want({"cc_rx_ce_pkts", "cc_rx_cnp_pkts"})), "optional_counters").outcome, Outcome::in_sync);
}

TEST_F(OptionalCounters, ExactlyTheWantedOnesAreOn) {
  auto change = of(bed.apply(want({"cc_rx_ce_pkts", "cc_tx_cnp_pkts"})), "optional_counters");
  EXPECT_EQ(change.outcome, Outcome::applied) << change.detail;
  EXPECT_EQ(change.from, "cc_rx_cnp_pkts");
  EXPECT_FALSE(change.disruptive);
  EXPECT_EQ(port().optional_log, std::vector<std::string>{"cc_rx_ce_pkts,cc_tx_cnp_pkts"});
  EXPECT_FALSE(port().optional["cc_rx_cnp_pkts"]);
  EXPECT_FALSE(rdma->devices[3].ports[1].optional["never"]);
  EXPECT_EQ(of(bed.apply(want({"cc_rx_ce_pkts", "cc_tx_cnp_pkts"})), "optional_counters").outcome, Outcome::in_sync);
  EXPECT_EQ(of(bed.apply(want({})), "optional_counters").outcome, Outcome::applied) << "none at all";
  EXPECT_EQ(port().optional_log.back(), "");
}

TEST_F(OptionalCounters, AllAreThoseThatTheDeviceHas) {
  EXPECT_EQ(of(bed.plan(want({"*"})), "optional_counters").to, "cc_rx_ce_pkts,cc_rx_cnp_pkts,cc_tx_cnp_pkts");
  EXPECT_TRUE(port().optional_log.empty());
  EXPECT_EQ(of(bed.apply(want({"*"})), "optional_counters").outcome, Outcome::applied);
  EXPECT_EQ(of(bed.apply(want({"*"})), "optional_counters").outcome, Outcome::in_sync);
  port().optional["cc_rx_ce_pkts"] = false;  // a driver's reload
  EXPECT_EQ(of(bed.apply(want({"*"})), "optional_counters").outcome, Outcome::applied);
}

TEST_F(OptionalCounters, UnknownNamesAreToldThoseThatExist) {
  auto change = of(bed.apply(want({"cc_rx_ce_pkts", "rdma_tx_bytes"})), "optional_counters");
  EXPECT_EQ(change.outcome, Outcome::unsupported);
  EXPECT_EQ(change.detail,
            "the driver has no optional counter \"rdma_tx_bytes\"; it has cc_rx_ce_pkts,cc_rx_cnp_pkts,cc_tx_cnp_pkts");
  EXPECT_TRUE(port().optional_log.empty());
}

TEST_F(OptionalCounters, ReasonsWhyThereAreNone) {
  auto detail = [&] { return of(bed.apply(want({"*"})), "optional_counters").detail; };
  port().optional.clear();
  EXPECT_EQ(detail(), "the driver has no optional counters");
  port().statistics_errno = EINVAL;
  EXPECT_NE(detail().find("older than 5.16"), std::string::npos) << detail();
  port().statistics_errno = EMSGSIZE;  // they do not fit into one reply
  EXPECT_NE(detail().find("EMSGSIZE"), std::string::npos) << detail();
  rdma->devices[7].name = "renamed";
  EXPECT_NE(detail().find("no device sim"), std::string::npos) << detail();
  bed.kernel.rdma = nullptr;
  EXPECT_NE(detail().find("ib_core"), std::string::npos) << detail();
  EXPECT_EQ(of(bed.apply(want({"*"})), "optional_counters").outcome, Outcome::unsupported);
}

TEST_F(OptionalCounters, AFirmwareThatCannotCountIsNamed) {
  port().optional_errno = EOPNOTSUPP;
  auto change = of(bed.apply(want({"*"})), "optional_counters");
  EXPECT_EQ(change.outcome, Outcome::refused);
  EXPECT_EQ(change.code, EOPNOTSUPP);
  EXPECT_NE(change.detail.find("firmware"), std::string::npos);
}

TEST_F(OptionalCounters, AreReadOnlyWhenWanted) {
  Qos mtu;
  mtu.mtu = 1500;
  const auto before = rdma->requests;
  ASSERT_TRUE(qos::read(bed.kernel, bed.port, keys_of(mtu)).ok());
  EXPECT_EQ(rdma->requests, before);
}

// -- fabric-counters(7)

const std::string kPage = "agent/exporter/fabric-counters.7";

TEST(CountersManual, IsWhatTheTablesMake) { test::expect_generated(kPage, counters_manual()); }

TEST(CountersManual, HasEveryRowOfEveryVendor) {
  const std::string made = counters_manual();
  size_t metrics = 0;
  for (const CounterTable& table : counter_tables())
    for (const CounterRow& row : table.rows) {
      std::string name;
      for (const char letter : row.name) name += letter == '-' ? "\\-" : std::string(1, letter);
      EXPECT_TRUE(has(made, name)) << row.name;
      if (row.metric == nullptr) continue;
      ++metrics;
      EXPECT_TRUE(has(made, ".B " + std::string(row.metric->name) + "\n")) << row.metric->name;
    }
  EXPECT_GT(metrics, 100u);
  for (const Metric* metric : metrics::kTelemetry)
    EXPECT_TRUE(has(made, ".B " + std::string(metric->name) + "\n")) << metric->name;
}

TEST(CountersManual, HasTheKernelSourceOfEveryRow) {
  const std::string made = counters_manual();
  for (const CounterTable& table : counter_tables())
    for (const CounterRow& row : table.rows) {
      EXPECT_FALSE(row.origin.kernel.empty() || row.origin.reset.empty()) << table.vendor << ": " << row.name;
      for (const CounterRow& other : table.rows)
        EXPECT_TRUE(&other.origin == &row.origin || other.origin.kernel != row.origin.kernel)
            << other.name << ": the same origin as that of " << row.name << ", written twice";
    }
}

// -- Every counter of the captures

// "rx_12_bytes", of a queue, as "rx_N_bytes".
std::string without_numbers(const std::string& name) {
  std::string out;
  for (const char letter : name) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) out += letter;
    else if (out.empty() || out.back() != 'N') out += 'N';
  }
  return out;
}

struct Score {
  size_t written = 0, read = 0, named = 0, described = 0;
  std::set<std::string> strangers;

  // Compares the values in a capture with those of our reader.
  void take(CounterSource source, const std::string& driver, const Counters& truth, const Counters& answer,
            const std::string& where) {
    for (const Counter& counter : truth) {
      ++written;
      if (std::find(answer.begin(), answer.end(), counter) == answer.end()) {
        ADD_FAILURE() << where << ": " << counter.name << " = " << counter.value << " was not read";
        continue;
      }
      ++read;
      const auto match = describe_counter(source, counter.name, driver);
      if (match.row == nullptr) strangers.insert(without_numbers(counter.name.str()));
      described += match.row != nullptr ? 1 : 0;
      named += match.row != nullptr && match.row->metric != nullptr ? 1 : 0;
    }
    EXPECT_EQ(answer.size(), truth.size()) << where << ": nothing is read that is not there";
  }

  void print(const char* what) const {
    std::printf(
        "counter score: %s: %zu of %zu read, %zu with a common name, %zu described, %zu kinds of name unknown\n", what,
        read, written, named, described, strangers.size());
    std::string list;
    for (const std::string& name : strangers) list += " " + name;
    if (!list.empty()) std::printf("  without a row in %s:%s\n", what, list.c_str());
    EXPECT_GT(written, 0u);
    EXPECT_EQ(read, written);
  }
};

using CounterCorpus = test::OfCorpus;

TEST(CapturedCounters, Sysfs) {
  Score hw, pma;
  test::each_rdma_machine([&](const fs::path& root) {
    auto kernel = open_kernel(root);
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    const Node node = scan(*kernel, {.settings = false, .gids = false, .network = false});
    const auto ports = test::captured_ports(root);
    EXPECT_EQ(node.ports.size(), ports.size());
    for (const test::CapturedPort& port : ports) {
      const std::string id = port.device + "/" + port.number;
      const auto found = std::ranges::find(node.ports, id, &Port::id);
      ASSERT_NE(found, node.ports.end()) << root << " " << id;
      hw.take(CounterSource::hw, found->kernel_driver, port.hw, found->counters.hw, id);
      pma.take(CounterSource::pma, found->kernel_driver, port.pma, found->counters.pma, id);
    }
  });
  hw.print("ib-sysfs hw_counters");
  pma.print("ib-sysfs counters");
}

// The message of nldev.c's stat_get_doit_default_counter() of Linux 6.12 for these counters.
Bytes statistics_message(const Counters& counters) {
  AttrWriter table, out;
  for (const Counter& counter : counters) {
    AttrWriter entry;
    entry.text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, counter.name)
        .bytes(0, {})
        .u64(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, counter.value);
    table.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, entry);
  }
  out.u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0).u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1).nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, table);
  return out.data();
}

// `rdma -j statistic` of real cards: the catalogue knows every counter.
TEST_F(CounterCorpus, RdmaNetlink) {
  Score score;
  for (const auto& file : fs::directory_iterator(corpus + "/rdma")) {
    const auto document = Json::parse(slurp(file.path()));
    if (file.path().string().find("_link_") != std::string::npos ||
        file.path().string().find("nicctl") != std::string::npos)
      continue;
    for (const auto& link : document) {
      Counters truth;
      for (const auto& [name, value] : link.items())
        if (name != "ifname" && name != "port") truth.push_back({name, value.get<uint64_t>()});
      score.take(CounterSource::hw, {}, truth, nldev::parse_statistics(statistics_message(truth)),
                 file.path().filename());
    }
  }
  score.print("rdma");
  EXPECT_GT(score.written, 100u);
  EXPECT_EQ(score.strangers, std::set<std::string>{});
}

// The replies to ETHTOOL_GSTRINGS and ETHTOOL_GSTATS that make it print so.
Counters through_the_ioctl(const Counters& counters) {
  constexpr size_t kName = 32;  // ETH_GSTRING_LEN
  Bytes names(counters.size() * kName);
  std::vector<uint64_t> values;
  for (size_t i = 0; i < counters.size(); ++i) {
    std::memcpy(names.data() + i * kName, counters[i].name.text().data(),
                std::min(kName, counters[i].name.text().size()));
    values.push_back(counters[i].value);
  }
  return ethtool::pair_statistics(names, values);
}

TEST_F(CounterCorpus, Ethtool) {
  std::map<std::string, Score> scores;
  for (const auto& file : fs::directory_iterator(corpus + "/ethtool")) {
    const std::string name = file.path().filename();
    const Counters truth = test::printed_by_ethtool(slurp(file.path()));
    if (truth.size() < 5) continue;  // settings of a netdev, not statistics
    std::string maker = "other";
    for (const char* driver : {"ice", "ionic", "mlx5"})
      if (name.find(driver) != std::string::npos) maker = driver;
    scores[maker].take(CounterSource::ethtool, {}, truth, through_the_ioctl(truth), name);
  }
  for (const auto& [maker, score] : scores) score.print(("ethtool " + maker).c_str());
  EXPECT_GE(scores.size(), 3u);
}

// perfquery's names (libibmad, fields.c) as the kernel's files have them (drivers/infiniband/core/sysfs.c). QP1Dropped
// and the selectors have no file.
const std::map<std::string, std::string> kFileOf{{"PortXmitData", "port_xmit_data"},
                                                 {"PortRcvData", "port_rcv_data"},
                                                 {"PortXmitPkts", "port_xmit_packets"},
                                                 {"PortRcvPkts", "port_rcv_packets"},
                                                 {"PortUnicastXmitPkts", "unicast_xmit_packets"},
                                                 {"PortUnicastRcvPkts", "unicast_rcv_packets"},
                                                 {"PortMulticastXmitPkts", "multicast_xmit_packets"},
                                                 {"PortMulticastRcvPkts", "multicast_rcv_packets"},
                                                 {"SymbolErrorCounter", "symbol_error"},
                                                 {"LinkErrorRecoveryCounter", "link_error_recovery"},
                                                 {"LinkDownedCounter", "link_downed"},
                                                 {"PortRcvErrors", "port_rcv_errors"},
                                                 {"PortRcvRemotePhysicalErrors", "port_rcv_remote_physical_errors"},
                                                 {"PortRcvSwitchRelayErrors", "port_rcv_switch_relay_errors"},
                                                 {"PortXmitDiscards", "port_xmit_discards"},
                                                 {"PortXmitConstraintErrors", "port_xmit_constraint_errors"},
                                                 {"PortRcvConstraintErrors", "port_rcv_constraint_errors"},
                                                 {"LocalLinkIntegrityErrors", "local_link_integrity_errors"},
                                                 {"ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors"},
                                                 {"VL15Dropped", "VL15_dropped"},
                                                 {"PortXmitWait", "port_xmit_wait"}};

// An HCA whose port manager says what perfquery printed: an InfiniBand port is observed as any other.
TEST_F(CounterCorpus, PerformanceManagement) {
  Score score;
  for (const auto& file : fs::directory_iterator(corpus + "/ibdiag")) {
    if (file.path().filename().string().find("perfquery_0x") == std::string::npos) continue;
    Counters truth;
    test::Tree tree;
    const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
    tree.file(port + "/state", "4: ACTIVE\n").file(port + "/link_layer", "InfiniBand\n");
    std::istringstream lines(slurp(file.path()));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('#') && !truth.empty()) break;  // one port
      const size_t colon = line.find(':');
      const auto known = kFileOf.find(line.substr(0, colon));
      if (colon == std::string::npos || known == kFileOf.end()) continue;
      const std::string value = line.substr(line.find_last_of('.') + 1);
      truth.push_back({known->second, std::stoull(value)});
      tree.file(port + "/counters/" + known->second, value + "\n");
    }
    EXPECT_EQ(truth.size(), kFileOf.size()) << file.path();
    auto kernel = open_kernel(tree.path());
    ASSERT_TRUE(kernel.ok());
    const Node node = scan(*kernel);
    ASSERT_EQ(node.ports.size(), 1u);
    EXPECT_EQ(node.ports[0].link_layer, LinkLayer::infiniband);
    score.take(CounterSource::pma, {}, truth, node.ports[0].counters.pma, file.path().filename());
  }
  score.print("ibdiag perfquery");
}

}  // namespace
}  // namespace fabric
