// SPDX-License-Identifier: Apache-2.0
// Samples of a port: histograms, peaks, how many series they are, and how often may be sampled.
#include "node/burst.h"

#include "metrics/burst.h"
#include "metrics/text.h"
#include "node/pace.h"
#include "support/counters.h"
#include "support/series.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace std::chrono_literals;
using Clock = BurstRecord::Clock;
using test::Series;

// Series as text -> value, histograms by their parts, as a scraper sees them.
Series published(const BurstRecord& record, Clock::time_point now) {
  FamilySet set;
  add_bursts(set, {"mlx5_0/1", record}, now, test::kEverything);
  EXPECT_EQ(set.dropped_duplicates(), 0u);
  Series out;
  std::istringstream in(serialize(set));
  const std::string port = "device=\"mlx5_0\",port=\"1\"";
  for (std::string line; std::getline(in, line);) {
    if (line.front() == '#') continue;
    const size_t space = line.rfind(' ');
    std::string name = line.substr(0, space);
    EXPECT_TRUE(test::has(name, port)) << line;
    name.erase(name.find(port), port.size());
    EXPECT_TRUE(out.emplace(name, std::strtod(line.c_str() + space, nullptr)).second) << line;
  }
  EXPECT_EQ(out.size(), set.series());
  return out;
}

const std::string kCnpPeak = "fabric_burst_events_per_second_peak{,event=\"cnp_sent\"}",
                  kReceivedPeak = "fabric_burst_bytes_per_second_peak{,direction=\"rx\"}",
                  kPausedRx = "{,direction=\"rx\",priority=\"3\"}";

// A port with one counter of each kind, as mlx5 has them.
struct Mlx5 {
  uint64_t rx_pause = 0, tx_pause = 0, bytes = 1000, cnp = 0, sequence = 0, discards = 0, port_discards = 0;

  [[nodiscard]] PortCounters counters() const {
    PortCounters out;
    out.hw = {{"rx_write_requests", 7}, {"np_cnp_sent", cnp}, {"out_of_sequence", sequence}};
    out.ethtool = {{"rx_packets", 5},
                   {"rx_prio3_pause_duration", rx_pause},
                   {"tx_prio3_pause_duration", tx_pause},
                   {"rx_vport_rdma_unicast_bytes", bytes},
                   {"rx_vport_rdma_multicast_bytes", 11},
                   {"rx_prio3_discards", discards},
                   {"rx_discards_phy", port_discards}};
    test::resolve(out, "mlx5_core");
    return out;
  }
};

// Clock's beginning plus a time that is not a multiple of ten seconds.
constexpr Clock::time_point kStart{1234567s + 500ms};

class Bursts : public testing::Test {
 protected:
  void sample(Clock::duration after) { meter.take(now += after, port.counters()); }
  [[nodiscard]] Series all() const { return published(meter.record(), now); }

  Clock::time_point now = kStart;
  Mlx5 port;
  BurstMeter meter{"mlx5_core"};
};

TEST_F(Bursts, ThePauseRatioIsTheShareOfTheSample) {
  sample(0s);
  for (uint64_t paused : {0u, 5'000u, 50'000u, 400'000u, 1'000'000u}) {  // microseconds
    port.rx_pause += paused;
    sample(1s);
  }
  auto series = all();
  const std::string rx = "{,direction=\"rx\",priority=\"3\"";
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_count" + rx + "}"), 5);
  EXPECT_DOUBLE_EQ(series.at("fabric_burst_pause_ratio_sum" + rx + "}"), 1.455);
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_bucket" + rx + ",le=\"0.01\"}"), 2);
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_bucket" + rx + ",le=\"0.1\"}"), 3);
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_bucket" + rx + ",le=\"0.5\"}"), 4);
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_bucket" + rx + ",le=\"+Inf\"}"), 5);
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_peak" + rx + "}"), 1);
}

TEST_F(Bursts, MoreThanAllOfASampleIsAllOfIt) {
  sample(0s);
  port.tx_pause += 10'400;
  sample(10ms);
  EXPECT_EQ(all().at("fabric_burst_pause_ratio_peak{,direction=\"tx\",priority=\"3\"}"), 1);
}

TEST_F(Bursts, TrafficIsTheRdmaBytesOfBothKindsAndTheirShareOfTheLine) {
  meter.describe(1e6, 0);
  sample(0s);
  port.bytes += 9'500;
  sample(10ms);
  port.bytes += 1'000;
  sample(10ms);
  auto series = all();
  EXPECT_DOUBLE_EQ(series.at(kReceivedPeak), 950'000);
  EXPECT_EQ(series.at("fabric_burst_link_utilization_ratio_bucket{,direction=\"rx\",le=\"0.5\"}"), 1);
  EXPECT_EQ(series.at("fabric_burst_link_utilization_ratio_bucket{,direction=\"rx\",le=\"0.9\"}"), 1);
  EXPECT_EQ(series.at("fabric_burst_link_utilization_ratio_bucket{,direction=\"rx\",le=\"+Inf\"}"), 2);
  EXPECT_FALSE(series.contains("fabric_burst_bytes_per_second_peak{,direction=\"tx\"}")) << "not counted is not zero";
  meter.describe(std::nullopt, 0);
  port.bytes += 100;
  sample(10ms);
  EXPECT_EQ(all().at("fabric_burst_link_utilization_ratio_count{,direction=\"rx\"}"), 2) << "no rate, no share";
}

TEST_F(Bursts, WhereRdmaBytesAreNotCountedThePortsAre) {
  PortCounters counters;
  counters.pma = {{"port_xmit_data", 0}};
  test::resolve(counters, "mlx5_core");
  meter.take(now, counters);
  counters.pma[0].value = 250;  // words of four bytes
  meter.take(now += 1s, counters);
  EXPECT_EQ(all().at("fabric_burst_bytes_per_second_peak{,direction=\"tx\"}"), 1000);
}

TEST_F(Bursts, OneLossCountedTwiceIsOneLoss) {
  sample(0s);
  port.discards += 30;
  port.port_discards += 40;
  sample(1s);
  EXPECT_EQ(all().at("fabric_burst_events_per_second_peak{,event=\"rx_discards\"}"), 40);
}

TEST_F(Bursts, WhatNeverHappensHasNoSeriesAndHasCountedAllTheSame) {
  sample(0s);
  for (int i = 0; i < 9; ++i) sample(1s);
  for (const auto& [name, value] : all()) EXPECT_TRUE(name.starts_with("fabric_burst_bytes")) << name;
  port.cnp += 5000;
  sample(1s);
  auto series = all();
  EXPECT_EQ(series.at("fabric_burst_events_per_second_bucket{,event=\"cnp_sent\",le=\"0\"}"), 9);
  EXPECT_EQ(series.at("fabric_burst_events_per_second_bucket{,event=\"cnp_sent\",le=\"1000\"}"), 9);
  EXPECT_EQ(series.at("fabric_burst_events_per_second_bucket{,event=\"cnp_sent\",le=\"100000\"}"), 10);
  EXPECT_FALSE(series.contains("fabric_burst_events_per_second_count{,event=\"out_of_sequence\"}"));
}

TEST_F(Bursts, ALosslessPriorityIsShownThoughItNeverPaused) {
  meter.describe(1e9, 1 << 3);
  sample(0s);
  sample(1s);
  auto series = all();
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_count" + kPausedRx), 1);
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_count{,direction=\"tx\",priority=\"3\"}"), 1);
  meter.describe(1e9, 1 << 4);
  EXPECT_FALSE(all().contains("fabric_burst_pause_ratio_count" + kPausedRx));
}

TEST_F(Bursts, ACounterThatWasResetIsNoSample) {
  sample(0s);
  port.sequence = 100;
  sample(1s);
  port.sequence = 3;  // the driver was loaded again
  sample(1s);
  port.sequence = 4;
  sample(1s);
  auto series = all();
  EXPECT_EQ(series.at("fabric_burst_events_per_second_count{,event=\"out_of_sequence\"}"), 2);
  EXPECT_EQ(series.at("fabric_burst_events_per_second_sum{,event=\"out_of_sequence\"}"), 101);
}

TEST_F(Bursts, ACounterOf32BitsWraps) {
  port.sequence = UINT32_MAX;
  sample(0s);
  port.sequence = 9;
  sample(1s);
  EXPECT_EQ(all().at("fabric_burst_events_per_second_peak{,event=\"out_of_sequence\"}"), 10);
}

// The statistics of one reading waited for a lock, those of RDMA did not: neither's rate is another than it was.
TEST_F(Bursts, WhatAnswersLateIsASampleOfItsOwnLength) {
  auto read = [&](Clock::duration hw, Clock::duration ethtool) {
    meter.take({now + hw, now + hw, now + ethtool}, port.counters());
  };
  read(0s, 0s);
  port.cnp += 100, port.bytes += 1900;
  read(1s, 1900ms);
  port.cnp += 100, port.bytes += 100;
  read(2s, 2s);
  now += 2s;
  auto series = all();
  EXPECT_NEAR(series.at(kReceivedPeak), 1000, 1e-6);
  EXPECT_EQ(series.at(kCnpPeak), 100);
}

TEST_F(Bursts, TwoAnswersRightAfterOneAnotherAreOneSample) {
  sample(0s);
  port.bytes += 1000;
  sample(1s);
  port.bytes += 5;  // in a tenth of a millisecond
  sample(100us);
  port.bytes += 995;
  sample(1s - 100us);
  EXPECT_NEAR(all().at(kReceivedPeak), 1000, 1e-6);
}

// `mlxlink --pc` clears the port's counters under a driver that goes on; these have 64 bits.
TEST_F(Bursts, ACounterOf64BitsThatFallsWasReset) {
  port.rx_pause = 3'000'000'000;  // 50 minutes since it was cleared last
  sample(0s);
  port.rx_pause = 0;
  sample(1s);
  EXPECT_FALSE(all().contains("fabric_burst_pause_ratio_count" + kPausedRx)) << "no second of it was paused";
  EXPECT_FALSE(meter.record().pause[3].seen);
}

TEST_F(Bursts, AReadingThatIsMissingIsNoSample) {
  sample(0s);
  port.cnp = 10;
  meter.take(now += 1s, {});
  port.cnp = 1'000'000;
  sample(1s);
  EXPECT_TRUE(all().empty() || !all().contains("fabric_burst_events_per_second_count{,event=\"cnp_sent\"}"));
  port.cnp += 7;
  sample(1s);
  EXPECT_EQ(all().at(kCnpPeak), 7) << "from the first reading after it";
}

TEST_F(Bursts, CountersThatMoveInTheListAreFollowed) {
  port.cnp = 5;
  sample(0s);
  PortCounters counters = port.counters();
  counters.hw.insert(counters.hw.begin(), {"out_of_buffer", 77});
  counters.hw[2].value = 9;  // np_cnp_sent
  meter.take(now += 1s, counters);
  EXPECT_EQ(all().at(kCnpPeak), 4);
  std::swap(counters.hw[1], counters.hw[2]);
  counters.hw[1].value = 10;
  meter.take(now += 1s, counters);
  auto series = all();
  EXPECT_EQ(series.at("fabric_burst_events_per_second_sum{,event=\"cnp_sent\"}"), 5);
  EXPECT_EQ(series.at("fabric_burst_events_per_second_count{,event=\"cnp_sent\"}"), 2);
}

// Two scrapers at any times within a minute of the burst both see it, and afterwards neither does.
TEST_F(Bursts, APeakIsSeenForAMinuteByEverybody) {
  sample(0s);
  port.cnp += 500;
  sample(1s);
  const auto burst = now;
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(all().at(kCnpPeak), 500) << i;
    EXPECT_EQ(all().at(kCnpPeak), 500) << "asking takes nothing away";
    sample(1s);
  }
  while (now < burst + 70s) sample(1s);
  EXPECT_EQ(all().at(kCnpPeak), 0);
}

TEST_F(Bursts, ThePeakOfADeviceThatIsSampledNoMoreEnds) {
  sample(0s);
  port.cnp += 500;
  sample(1s);
  EXPECT_TRUE(published(meter.record(), now + 59s).contains(kCnpPeak));
  auto later = published(meter.record(), now + 71s);
  EXPECT_FALSE(later.contains(kCnpPeak));
  EXPECT_EQ(later.at("fabric_burst_events_per_second_count{,event=\"cnp_sent\"}"), 1) << "the histogram stays";
  now += 200s;
  sample(0s);
  EXPECT_EQ(all().at(kCnpPeak), 0) << "nothing of the old window is left";
}

TEST_F(Bursts, AMachineThatHasJustBootedHasPeaksToo) {
  now = Clock::time_point{3s};
  sample(0s);
  port.cnp += 500;
  sample(1s);
  EXPECT_EQ(all().at(kCnpPeak), 500);
  EXPECT_EQ(published(meter.record(), Clock::time_point{60s}).at(kCnpPeak), 500);
  EXPECT_FALSE(published(meter.record(), Clock::time_point{71s}).contains(kCnpPeak));
}

TEST_F(Bursts, NicsThatCountFramesAndNoTimeHaveTheirPeak) {
  BurstMeter ice("ice");
  PortCounters counters;
  counters.ethtool = {{"rx_priority_3_xoff.nic", 0}};
  test::resolve(counters, "ice");
  ice.take(now, counters);
  counters.ethtool[0].value = 40;
  ice.take(now += 10ms, counters);
  auto series = published(ice.record(), now);
  EXPECT_EQ(series, (Series{{"fabric_burst_pause_frames_per_second_peak{,direction=\"rx\",priority=\"3\"}", 4000}}));
}

// A tenth of the time is paused, evenly; the device says so once a second.
TEST_F(Bursts, StatisticsThatComeOnceASecondAreNoBursts) {
  BurstMeter bnxt("bnxt_en");
  PortCounters counters;
  counters.ethtool = {{"pfc_pri3_rx_duration_us", 0}};
  test::resolve(counters, "bnxt_en");
  for (int i = 0; i <= 100; ++i, now += 100ms) {
    if (i % 10 == 5) counters.ethtool[0].value += 100'000;
    bnxt.take(now, counters);
  }
  auto series = published(bnxt.record(), now);
  EXPECT_NEAR(series.at("fabric_burst_pause_ratio_peak" + kPausedRx), 0.1, 1e-9);
  EXPECT_EQ(series.at("fabric_burst_pause_ratio_count" + kPausedRx), 10);
}

// The number of a port's series in burst.h.
TEST(BurstSeries, AreAsManyAsIsSaid) {
  auto count = [](uint8_t lossless, bool busy, bool everything) {
    BurstMeter meter("mlx5_core");
    meter.describe(1e9, lossless);
    for (uint64_t value : {0, 1}) {
      PortCounters counters;
      for (char priority = '0'; priority <= '7'; ++priority)
        for (const std::string direction : {"rx", "tx"})
          counters.ethtool.push_back({direction + "_prio" + priority + "_pause_duration", everything ? value : 0});
      for (const char* name : {"rx_vport_rdma_unicast_bytes", "tx_vport_rdma_unicast_bytes"})
        counters.ethtool.push_back({name, value});
      for (const char* name : {"rx_discards_phy", "tx_discards_phy"})
        counters.ethtool.push_back({name, everything ? value : 0});
      for (const char* name : {"np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets"})
        counters.hw.push_back({name, busy ? value : 0});
      counters.hw.push_back({"out_of_sequence", everything ? value : 0});
      test::resolve(counters, "mlx5_core");
      meter.take(kStart + std::chrono::seconds(value), counters);
    }
    return published(meter.record(), kStart + 1s).size();
  };
  EXPECT_EQ(count(1 << 3, false, false), 26u);
  EXPECT_EQ(count(1 << 3, true, false), 47u);
  EXPECT_EQ(count(1 << 3, true, true), 166u);
}

TEST(BurstCounters, AreThoseOfAllVendorsAndFew) {
  const auto is_burst = [](CounterSource source, const char* name, std::string_view driver = {}) {
    Counter counter{name};
    resolve(counter, source, driver);
    return is_burst_counter(counter);
  };
  for (const char* name :
       {"np_cnp_sent", "cnpHandled", "RxECNMrkd", "tx_cnp_pkts", "rx_rdma_ecn_pkts", "out_of_seq_request"})
    EXPECT_TRUE(is_burst(CounterSource::hw, name)) << name;
  for (const char* name :
       {"rx_prio3_pause_duration", "pfc_pri3_rx_duration_us", "rx_priority_3_xoff.nic", "rx_pripause_3_1us_count"})
    EXPECT_TRUE(is_burst(CounterSource::ethtool, name)) << name;
  for (const char* name : {"rx_write_requests", "lifespan", "unheard_of"})
    EXPECT_FALSE(is_burst(CounterSource::hw, name)) << name;
  EXPECT_FALSE(is_burst(CounterSource::ethtool, "rx0_packets"));
  EXPECT_TRUE(is_burst(CounterSource::hw, "rx_roce_only_bytes", "bnxt_en"));
  EXPECT_FALSE(is_burst(CounterSource::hw, "rx_bytes", "bnxt_en")) << "the device writes it once a second";
}

// Pace: pure, so time is a number.
class Paced : public testing::Test {
 protected:
  void run(unsigned samples, Pace::Span cpu, Pace::Span answer) {
    for (unsigned i = 0; i < samples; ++i) {
      now += pace.interval();
      changes += pace.sampled(now, cpu, answer) ? 1 : 0;
    }
  }
  Clock::time_point now = kStart;
  Pace pace{10ms, 0.02};
  unsigned changes = 0;
};

TEST_F(Paced, StaysWhereItCostsLittle) {
  run(10'000, 150us, 300us);
  EXPECT_EQ(pace.interval(), 10ms);
  EXPECT_EQ(pace.brake(), Pace::Brake::none);
  EXPECT_EQ(changes, 0u);
}

TEST_F(Paced, TakesTwiceAsLongUntilTheBudgetHolds) {
  run(100, 700us, 300us);  // 7 % of a core at 10 ms
  EXPECT_EQ(pace.interval(), 40ms);
  EXPECT_EQ(pace.brake(), Pace::Brake::cpu);
  EXPECT_EQ(changes, 2u);
}

TEST_F(Paced, ADeviceThatIsSlowIsAskedLessOften) {
  run(100, 100us, 5ms);
  EXPECT_EQ(pace.interval(), 80ms) << "5 ms are no more than a tenth";
  EXPECT_EQ(pace.brake(), Pace::Brake::device);
}

TEST_F(Paced, OneSlowAnswerIsNone) {
  run(20, 100us, 300us);
  run(1, 100us, 4ms);
  run(20, 100us, 300us);
  EXPECT_EQ(changes, 0u);
}

TEST_F(Paced, ComesBackSlowlyAndOnlyWhereThereIsRoom) {
  run(100, 700us, 300us);
  ASSERT_EQ(pace.interval(), 40ms);
  run(1000, 300us, 300us);  // 1.5 % at 20 ms is within the budget, but not by much
  EXPECT_EQ(pace.interval(), 40ms);
  const auto calm = now;
  run(2000, 100us, 300us);
  EXPECT_EQ(pace.interval(), 10ms);
  EXPECT_EQ(pace.brake(), Pace::Brake::none);
  EXPECT_GE(now - calm, 30s) << "one step, calm, another step";
}

TEST_F(Paced, AskedForRarelyIsNotMadeMoreFrequent) {
  Pace rare(120s, 0.02);
  for (int i = 0; i < 20; ++i) rare.sampled(now += 120s, 1ms, 20s);
  EXPECT_EQ(rare.interval(), 120s);
  Pace dead(1s, 0.02);
  for (int i = 0; i < 200; ++i) dead.sampled(now += dead.interval(), 1ms, 20s);
  EXPECT_EQ(dead.interval(), Pace::kLongest);
}

}  // namespace
}  // namespace fabric
