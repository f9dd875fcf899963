// SPDX-License-Identifier: Apache-2.0
#include "node/signals.h"

#include "nic/counter_catalogue.h"
#include "support/counters.h"
#include "support/test.h"

namespace fabric {
namespace {

struct Vendor {
  std::string name;
  std::span<const CounterRow> rows;
  std::string driver{};
};

std::vector<Vendor> vendors() {
  return {{"mlx5", kMlx5Counters.rows},         {"bnxt", kBnxtCounters.rows, "bnxt_en"},
          {"intel", kIntelCounters.rows},       {"ionic", kIonicCounters.rows},
          {"hns", kHnsCounters.rows},           {"rxe", kRxeCounters.rows},
          {"pma", kPmaCounters.rows},           {"efa", kEfaCounters.rows, "efa"},
          {"mana", kManaCounters.rows, "mana"}, {"erdma", kErdmaCounters.rows}};
}

void add(Port& port, CounterSource source, std::string_view name, uint64_t value) {
  test::list(port, source).push_back({test::on_priority_3(name), value});
}

Port one(CounterSource source, const std::string& name, uint64_t value) {
  Port port;
  add(port, source, name, value);
  return port;
}

Signals rises(Port before, Port now, double seconds) {
  test::resolve(before);
  test::resolve(now);
  return signals_of(before, now, seconds);
}

Signals step(CounterSource source, const std::string& name, uint64_t before, uint64_t now,
             const std::string& driver = "") {
  Port first = one(source, name, before), second = one(source, name, now);
  first.kernel_driver = second.kernel_driver = driver;
  return rises(first, second, 1);
}

// A port whose counters rise between two readings.
struct Rising {
  Port before{}, now{};
  void put(CounterSource source, const std::string& name, uint64_t was, uint64_t by) {
    add(before, source, name, was);
    add(now, source, name, was + by);
  }
  [[nodiscard]] Signals signals() const { return rises(before, now, 1); }
};

struct Member {
  std::string name;
  Rise Signals::*port;
  Rise PrioritySignals::*priority;
  std::set<std::string> vendors;  // whose counters reach it
  [[nodiscard]] Rise of(const Signals& signals) const {
    return port != nullptr ? signals.*port : signals.priority[3].*priority;
  }
};

#define PORT(member, ...)                               \
  {                                                     \
#member, &Signals::member, nullptr, { __VA_ARGS__ } \
  }
#define PRIORITY(member, ...)                                               \
  {                                                                         \
    "priority." #member, nullptr, &PrioritySignals::member, { __VA_ARGS__ } \
  }

const std::vector<Member>& members() {
  static const std::vector<Member> all{
      PRIORITY(rx_pause_seconds, "mlx5", "bnxt", "ionic"),
      PRIORITY(tx_pause_seconds, "mlx5", "bnxt", "ionic"),
      PRIORITY(rx_pause_frames, "mlx5", "bnxt", "intel", "hns"),
      PRIORITY(tx_pause_frames, "mlx5", "bnxt", "intel", "hns"),
      PRIORITY(discards, "mlx5"),
      PRIORITY(rx_bytes, "mlx5", "bnxt"),
      PRIORITY(tx_bytes, "mlx5", "bnxt"),
      PORT(rx_global_pause_frames, "mlx5", "bnxt", "intel", "ionic", "hns"),
      PORT(tx_global_pause_frames, "mlx5", "bnxt", "intel", "ionic", "hns"),
      PORT(rx_global_pause_seconds, "mlx5", "ionic"),
      PORT(tx_global_pause_seconds, "mlx5"),
      PORT(pause_storm_events, "mlx5", "bnxt"),
      PORT(rx_bytes, "mlx5", "bnxt", "intel", "ionic", "rxe", "pma", "efa", "mana", "erdma"),
      PORT(tx_bytes, "mlx5", "bnxt", "intel", "ionic", "rxe", "pma", "efa", "mana", "erdma"),
      PORT(rx_packets, "mlx5", "bnxt", "intel", "ionic", "hns", "rxe", "pma", "efa", "mana", "erdma"),
      PORT(tx_packets, "mlx5", "bnxt", "intel", "ionic", "hns", "rxe", "pma", "efa", "mana", "erdma"),
      PORT(requests, "mlx5", "bnxt", "intel", "mana"),
      PORT(out_of_sequence, "mlx5", "bnxt", "intel", "ionic", "rxe", "mana"),
      PORT(duplicate_requests, "mlx5", "bnxt", "ionic", "mana"),  // and rxe, by mlx5's name
      PORT(ack_timeouts, "mlx5", "bnxt", "intel", "ionic", "efa", "mana"),
      PORT(sequence_naks, "mlx5", "bnxt", "intel", "ionic", "rxe", "mana"),
      PORT(retransmissions, "mlx5", "intel", "ionic", "rxe", "efa"),
      PORT(retries_exceeded, "mlx5", "bnxt", "ionic", "rxe", "mana", "efa"),
      PORT(rnr_naks, "mlx5", "bnxt", "intel", "ionic", "rxe", "mana"),
      PORT(rnr_retries_exceeded, "mlx5", "rxe", "mana"),
      PORT(out_of_buffer, "mlx5", "bnxt", "ionic"),
      PORT(request_errors, "mlx5", "bnxt", "ionic", "mana"),
      PORT(icrc_errors, "mlx5", "intel"),
      PORT(cnp_sent, "mlx5", "bnxt", "intel", "ionic", "hns", "mana"),
      PORT(cnp_handled, "mlx5", "bnxt", "intel", "ionic", "hns", "mana"),
      PORT(cnp_ignored, "mlx5", "intel"),
      PORT(ecn_marked, "mlx5", "bnxt", "intel", "ionic", "mana"),
      PORT(rx_discards, "mlx5", "bnxt", "intel", "ionic", "pma", "efa"),
      PORT(tx_discards, "mlx5", "bnxt", "pma"),
      PORT(buffer_overruns, "pma"),
      PORT(link_downs, "mlx5", "bnxt", "pma"),
      PORT(link_recoveries, "mlx5", "pma"),
      PORT(link_integrity_errors, "pma"),
      PORT(symbol_errors, "mlx5", "bnxt", "intel", "pma"),
      PORT(crc_errors, "mlx5", "bnxt", "intel", "ionic", "hns", "pma"),
      PORT(remote_physical_errors, "pma"),
      PORT(fec_corrected, "bnxt"),
      PORT(fec_uncorrectable, "bnxt"),
      PORT(fec_corrected_bits, "mlx5", "bnxt"),
      PORT(fec_words, ),             // of ethtool's FEC histogram alone
      PORT(fec_words_near_limit, ),  // and this
      PORT(transmit_wait, "pma"),
      PORT(pcie_stalled_seconds, "mlx5"),
      PORT(pcie_errors, "mlx5"),
      PORT(pcie_overflows, "mlx5"),
  };
  return all;
}
#undef PORT
#undef PRIORITY

// All rows of a vendor together; what rises differs by row, so that a member cannot be fed by a neighbor's.
Signals all_rise(const Vendor& vendor) {
  Port before, now;
  before.kernel_driver = now.kernel_driver = vendor.driver;
  for (const CounterRow& row : vendor.rows) {
    add(before, row.source, row.name, 1'000'000);
    add(now, row.source, row.name, 3'000'000);
  }
  return rises(before, now, 10);
}

TEST(Signals, EveryMemberIsFedByTheVendorsThatHaveIt) {
  std::map<std::string, Signals> risen;
  for (const Vendor& vendor : vendors()) risen[vendor.name] = all_rise(vendor);
  for (const Member& member : members()) {
    std::set<std::string> feeding;
    for (const auto& [vendor, signals] : risen)
      if (member.of(signals).value_or(0) > 0) feeding.insert(vendor);
    EXPECT_EQ(feeding, member.vendors) << member.name;
  }
}

// A member that is new must be named above: sizes, since C++ 20 cannot list them.
TEST(Signals, TheTableAboveIsWhole) {
  size_t ports = 0, priorities = 0;
  for (const Member& member : members()) ++(member.port != nullptr ? ports : priorities);
  EXPECT_EQ(sizeof(PrioritySignals), priorities * sizeof(Rise));
  EXPECT_EQ(sizeof(Signals), sizeof(double) + 8 * sizeof(PrioritySignals) + ports * sizeof(Rise));
}

TEST(Signals, UnitsAreBaseUnits) {
  EXPECT_EQ(step(CounterSource::ethtool, "rx_prio3_pause_duration", 0, 2'500'000).priority[3].rx_pause_seconds, 2.5);
  EXPECT_EQ(step(CounterSource::pma, "port_rcv_data", 10, 20).rx_bytes, 40);
  EXPECT_EQ(step(CounterSource::ethtool, "outbound_pci_stalled_rd_events", 1, 4).pcie_stalled_seconds, 3);
}

TEST(Signals, ACounterAtRestIsZeroAndOneThatIsNotThereIsAbsent) {
  const Signals signals = step(CounterSource::hw, "out_of_sequence", 7, 7);
  EXPECT_EQ(signals.out_of_sequence, 0);
  EXPECT_FALSE(signals.sequence_naks);
  EXPECT_EQ(step(CounterSource::hw, "out_of_sequence", 0, 0).out_of_sequence, 0) << "one that never counted";
  EXPECT_EQ(step(CounterSource::pma, "symbol_error", 0, 0).symbol_errors, 0);
  EXPECT_FALSE(signals.priority[3].discards);
}

TEST(Signals, AResetIsAbsentAndAWrapCountsOn) {
  EXPECT_FALSE(step(CounterSource::hw, "out_of_sequence", 5'000, 3).out_of_sequence);
  EXPECT_EQ(step(CounterSource::hw, "out_of_sequence", 0xffff'fffe, 3, "mlx5_core").out_of_sequence, 5);
  EXPECT_FALSE(rises({}, one(CounterSource::hw, "out_of_sequence", 3), 1).out_of_sequence) << "one reading is no rise";
}

// 50 minutes of pause in microseconds, and then the card was reset: what counts in 64 bits does not wrap
// at 32.
TEST(Signals, AResetFromHighUpIsNoWrap) {
  EXPECT_FALSE(step(CounterSource::ethtool, "tx_prio3_pause_duration", 3'000'000'000, 5).priority[3].tx_pause_seconds);
  EXPECT_FALSE(step(CounterSource::ethtool, "rx_discards_phy", 4'000'000'000, 5).rx_discards);
  EXPECT_FALSE(step(CounterSource::hw, "rp_cnp_ignored", 4'000'000'000, 5).cnp_ignored)
      << "64 bits, unlike a Q counter";
}

// InfiniBand's counters do not wrap: they stop at their last value until they are reset.
TEST(Signals, AnInfinibandCounterThatIsFullSaysNothing) {
  EXPECT_EQ(step(CounterSource::pma, "port_xmit_wait", 100, 0xffff'ffff).transmit_wait, 0xffff'ffff - 100.0);
  EXPECT_FALSE(step(CounterSource::pma, "port_xmit_wait", 0xffff'ffff, 0xffff'ffff).transmit_wait)
      << "full is not quiet";
  EXPECT_FALSE(step(CounterSource::pma, "port_xmit_wait", 0xf000'0000, 5).transmit_wait) << "a reset, and no wrap";
  EXPECT_FALSE(step(CounterSource::pma, "link_downed", 255, 255).link_downs);
  EXPECT_EQ(step(CounterSource::pma, "link_downed", 254, 255).link_downs, 1);
  EXPECT_EQ(step(CounterSource::pma, "symbol_error", 65'535, 70'000).symbol_errors, 4'465)
      << "a wider one than the kernel's";
  EXPECT_FALSE(step(CounterSource::pma, "port_rcv_data", 0xffff'ffff, 0xffff'ffff).rx_bytes)
      << "a port without extended counters";
  EXPECT_EQ(step(CounterSource::pma, "port_rcv_data", 0x1'0000'0000, 0x1'0000'0000).rx_bytes, 0) << "64 bits";
}

TEST(Signals, WhatOmniPathSendsAgainIsNoLimitThatWasPassed) {
  const auto rise = [](const char* driver) {
    return step(CounterSource::pma, "local_link_integrity_errors", 5, 8, driver).link_integrity_errors;
  };
  EXPECT_EQ(rise(""), 3);
  EXPECT_EQ(rise("hfi1"), std::nullopt);
}

TEST(Signals, WhatIsCountedTwiceIsNotAddedUp) {
  Rising port;
  port.before.counters.carrier_down = 1, port.now.counters.carrier_down = 3;
  const auto put = [&](CounterSource source, const std::string& name, uint64_t by) { port.put(source, name, 100, by); };
  put(CounterSource::ethtool, "link_down_events_phy", 5);
  put(CounterSource::pma, "link_downed", 4);
  put(CounterSource::ethtool, "rx_vport_rdma_unicast_bytes", 1000);
  put(CounterSource::ethtool, "rx_vport_rdma_multicast_bytes", 24);
  put(CounterSource::pma, "port_rcv_data", 900);
  put(CounterSource::hw, "req_cqe_error", 3);
  put(CounterSource::hw, "req_remote_access_errors", 2);
  put(CounterSource::hw, "packet_seq_err", 6);
  put(CounterSource::hw, "implied_nak_seq_err", 1);
  put(CounterSource::ethtool, "tx_pause_storm_warning_events", 2);
  put(CounterSource::ethtool, "tx_pause_storm_error_events", 1);
  const Signals signals = port.signals();
  EXPECT_EQ(signals.link_downs, 5) << "three sources of one event";
  EXPECT_EQ(signals.rx_bytes, 1024) << "parts of one metric";
  EXPECT_EQ(signals.request_errors, 3) << "a refused access is an erroneous completion too";
  EXPECT_EQ(signals.sequence_naks, 7) << "different events";
  EXPECT_EQ(signals.pause_storm_events, 2);
}

// "The device will issue completion with error for these WQEs", of receives that a job leaves over at its end
// (WinOF's manual, CQE errors).
TEST(Signals, WhatIsFlushedAtTheEndOfAJobWasNoError) {
  Rising port;
  const auto put = [&](const std::string& name, uint64_t by) { port.put(CounterSource::hw, name, 100, by); };
  put("resp_cqe_error", 512), put("resp_cqe_flush_error", 512);
  put("req_cqe_error", 0), put("req_cqe_flush_error", 0);
  EXPECT_EQ(port.signals().request_errors, 0);
  put("req_remote_access_errors", 2);
  EXPECT_EQ(port.signals().request_errors, 2);
}

TEST(Signals, RdmaTrafficOfBroadcomIsCountedOnce) {
  Rising port;
  port.put(CounterSource::hw, "rx_bytes", 1000, 500);
  EXPECT_EQ(port.signals().rx_bytes, 500);
  port.put(CounterSource::hw, "rx_roce_only_bytes", 900, 400);
  EXPECT_EQ(port.signals().rx_bytes, 400);
}

// bnxt_re's answer to a performance query has the low bits of other counters, and of one the bytes are swapped: one
// symbol error reads 256.
TEST(Signals, WhatBroadcomAnswersToPerformanceQueriesIsCountedElsewhere) {
  Rising port;
  port.before.kernel_driver = port.now.kernel_driver = "bnxt_en";
  port.put(CounterSource::ethtool, "rx_pcs_symbol_err", 0, 1);
  port.put(CounterSource::pma, "symbol_error", 0, 256);
  EXPECT_EQ(port.signals().symbol_errors, 1);
  port.put(CounterSource::pma, "port_rcv_errors", 0, 90);
  EXPECT_FALSE(port.signals().crc_errors) << "RoCE packets with an error of any kind";
  port.before.kernel_driver = port.now.kernel_driver = "mlx5_core";
  EXPECT_EQ(port.signals().symbol_errors, 256);
}

TEST(Signals, AnotherDeviceOfTheSameNameIsNotComparedWith) {
  Port before = one(CounterSource::hw, "req_transport_retries_exceeded", 1),
       now = one(CounterSource::hw, "req_transport_retries_exceeded", 900);
  before.pci = "0000:17:00.0";
  now.pci = "0000:2a:00.0";
  EXPECT_FALSE(rises(before, now, 1).retries_exceeded);
}

TEST(Signals, FecOfTheLinkIsTakenWhereTheStatisticsHaveNone) {
  Port before, now;
  before.fec = FecStatus{FecCode::rs, {}, {10, {}}, {0, {}}, {}};
  now.fec = FecStatus{FecCode::rs, {}, {60, {}}, {2, {}}, {}};
  const Signals signals = signals_of(before, now, 1);
  EXPECT_EQ(signals.fec_corrected, 50);
  EXPECT_EQ(signals.fec_uncorrectable, 2);
  EXPECT_FALSE(signals.fec_corrected_bits);
}

// Near the limit: from 10 of the 15 symbols that RS(544,514) corrects on, from 5 of the 7 of RS(528,514).
TEST(Signals, CodeWordsNearTheLimitFollowFromTheHistogram) {
  const auto rises_of = [](uint32_t last, std::optional<uint32_t> speed = 400'000, FecCode code = FecCode::rs,
                           uint8_t module = 0, size_t lanes = 0) {
    Port before, now;
    for (Port* each : {&before, &now}) {
      each->fec.emplace().active = code;
      each->fec->corrected_bits.lanes.resize(lanes);
      each->speed = speed;
      if (module != 0) each->module.emplace().identifier = module;
    }
    for (uint32_t symbols = 0; symbols <= last; ++symbols) {
      before.fec->histogram.push_back({symbols, symbols, 100});
      now.fec->histogram.push_back({symbols, symbols, 101});
    }
    return signals_of(before, now, 1);
  };
  EXPECT_EQ(rises_of(15).fec_words, 16);
  EXPECT_EQ(rises_of(15).fec_words_near_limit, 6);
  EXPECT_EQ(rises_of(7).fec_words_near_limit, 3);
  // bnxt_en has the same 16 bins for each code.
  EXPECT_EQ(rises_of(15, 25'000).fec_words_near_limit, 11) << "RS(528,514)";
  EXPECT_FALSE(rises_of(15, 50'000).fec_words) << "one lane, or two of 25 Gb/s";
  EXPECT_FALSE(rises_of(15, 100'000).fec_words) << "one, two or four lanes";
  EXPECT_EQ(rises_of(15, 200'000).fec_words_near_limit, 6) << "RS(544,514)";
  EXPECT_EQ(rises_of(15, 100'000, FecCode::rs, 0x11).fec_words_near_limit, 11) << "QSFP28: four lanes, RS(528,514)";
  EXPECT_EQ(rises_of(15, 100'000, FecCode::rs, 0x03).fec_words_near_limit, 6) << "SFP112: one lane, RS(544,514)";
  EXPECT_FALSE(rises_of(15, 100'000, FecCode::rs, 0x1e).fec_words) << "QSFP56 takes four lanes of 25 Gb/s, too";
  // mlx5 counts four lanes on each link, and its histogram ends where the code does.
  EXPECT_EQ(rises_of(15, 100'000, FecCode::rs, 0, 4).fec_words_near_limit, 6) << "two lanes of 50 Gb/s";
  EXPECT_EQ(rises_of(7, 100'000, FecCode::rs, 0, 4).fec_words_near_limit, 3);
  EXPECT_EQ(rises_of(15, 50'000, FecCode::llrs).fec_words_near_limit, 11) << "RS(272,258)";
  EXPECT_FALSE(rises_of(15, std::nullopt).fec_words) << "without a link the code is unknown";
  EXPECT_EQ(rises_of(7, std::nullopt).fec_words_near_limit, 3);
  Port rs544, rs528;
  rs544.fec = rs528.fec = FecStatus{};
  EXPECT_FALSE(signals_of(rs528, rs544, 1).fec_words) << "no histogram";
  rs528.fec->histogram = {{0, 0, 5}, {7, 7, 0}};
  rs544.fec->histogram = {{0, 0, 9}, {7, 7, 0}, {15, 15, 0}};
  EXPECT_FALSE(signals_of(rs528, rs544, 1).fec_words) << "another code";
  Port slow, fast;
  slow.fec = fast.fec = FecStatus{.active = FecCode::rs};
  slow.fec->histogram = fast.fec->histogram = {{0, 0, 9}, {6, 6, 1000}, {15, 15, 0}};
  slow.speed = 25'000, fast.speed = 400'000;
  EXPECT_FALSE(signals_of(fast, slow, 1).fec_words_near_limit) << "the same bins, and another code";
}

// mlx5 has the counters of four lanes on a link of one, too.
TEST(BadLane, IsOneOfSeveralThatTheLinkUses) {
  Rising port;
  const auto put = [&](int lane, uint64_t was, uint64_t by) {
    port.put(CounterSource::ethtool, "rx_err_lane_" + std::to_string(lane) + "_phy", was, by);
  };
  put(0, 700, 5000);
  for (const int lane : {1, 2, 3}) put(lane, 0, 0);
  for (Port* each : {&port.before, &port.now}) test::resolve(*each);
  EXPECT_FALSE(bad_lane(port.before, port.now, 10, 0.9)) << "at 25 Gb/s all errors are on lane 0";
  for (Port* each : {&port.before, &port.now}) each->counters.ethtool[1].value = 3;
  const auto bad = bad_lane(port.before, port.now, 10, 0.9);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->lane, 0u);
  EXPECT_EQ(bad->share, 1.0);
  EXPECT_FALSE(bad_lane(port.before, port.now, 5001, 0.9)) << "too few";
  port.now.counters.ethtool[1].value = 3 + 5000;
  EXPECT_FALSE(bad_lane(port.before, port.now, 10, 0.9)) << "half of them on each of two lanes";
  EXPECT_TRUE(bad_lane(port.before, port.now, 10, 0.5));
}

TEST(Signals, OfANodeAreThosePortsThatStoodInBoth) {
  Node before, now;
  before.ports = {one(CounterSource::hw, "out_of_sequence", 1), one(CounterSource::hw, "out_of_sequence", 1)};
  before.ports[0].rdma = "a", before.ports[1].rdma = "b";
  now.ports = before.ports;
  now.ports[0].counters.hw[0].value = 9;
  now.ports[1].rdma = "c";
  now.taken = before.taken + std::chrono::milliseconds(2500);
  test::resolve(before);
  test::resolve(now);
  const auto signals = signals_of(before, now);
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_EQ(signals.at("a/1").out_of_sequence, 8);
  EXPECT_EQ(signals.at("a/1").seconds, 2.5);
}

}  // namespace
}  // namespace fabric
