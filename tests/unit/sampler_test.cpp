// SPDX-License-Identifier: Apache-2.0
// The burst sampler's threads and what they read.
#include "exporter/collect/sampler.h"

#include <gtest/gtest.h>

#include <mutex>
#include <numeric>
#include <thread>

#include "counters/sample_reader.h"
#include "metrics/burst_families.h"
#include "metrics/exposition.h"
#include "support/sim_rdma.h"
#include "support/slow_nics.h"

namespace fabric::exporter {
namespace {

using namespace std::chrono_literals;

void await(const std::function<bool()>& done) {
  const auto end = Pace::Clock::now() + 20s;
  while (!done() && Pace::Clock::now() < end) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(done());
}

Port port_of(const std::string& device, const std::string& netdev) {
  Port port;
  port.rdma = device;
  port.netdev = netdev;
  port.kernel_driver = "mlx5_core";
  port.rate = 50e9;
  return port;
}

class Sampling : public testing::Test {
 protected:
  SamplerOptions options() {
    SamplerOptions out;
    out.root = nics.tree.path();
    out.interval = 10ms;
    out.cpu_budget = 1;
    out.open = nics.open();
    return out;
  }
  const std::vector<Port> ports{port_of("mlx5_0", "eth2"), port_of("mlx5_1", "eth3")};
  test::SlowNics nics;
};

std::optional<BurstRecord> record(const Sampler& sampler, const std::string& device) {
  for (const PortBursts& port : sampler.bursts())
    if (port.device == device) return port.record;
  return std::nullopt;
}

uint64_t samples(const BurstTrack& track) {
  return std::accumulate(track.counts.begin(), track.counts.end(), uint64_t{0});
}
uint64_t cnp_samples(const Sampler& sampler, const std::string& device) {
  const auto found = record(sampler, device);
  return found ? samples(found->events[static_cast<size_t>(BurstEvent::cnp_sent)]) : 0;
}

TEST_F(Sampling, SeesWhatFilesAndDriverSayBetweenTwoScrapes) {
  Sampler sampler(options());
  sampler.follow(ports);
  await([&] { return cnp_samples(sampler, "mlx5_0") > 2; });
  nics.statistics->set("eth2", "rx_prio3_pause_duration", 9'000);
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "1017\n");
  auto cnps = [&] { return record(sampler, "mlx5_0")->events[static_cast<size_t>(BurstEvent::cnp_sent)]; };
  await([&] { return cnps().moved && record(sampler, "mlx5_0")->pause[3].moved; });
  EXPECT_FALSE(record(sampler, "mlx5_1")->pause[3].moved);
  EXPECT_GT(*record(sampler, "mlx5_0")->peak(cnps(), Pace::Clock::now()), 0);
}

TEST_F(Sampling, ADeviceThatHangsStallsItselfAlone) {
  Sampler sampler(options());
  sampler.follow(ports);
  await([&] { return cnp_samples(sampler, "mlx5_0") > 2 && cnp_samples(sampler, "mlx5_1") > 2; });
  nics.statistics->hang("eth2");
  await([&] { return nics.statistics->is_waiting("eth2"); });
  const uint64_t stuck = cnp_samples(sampler, "mlx5_0"), other = cnp_samples(sampler, "mlx5_1");
  await([&] { return cnp_samples(sampler, "mlx5_1") > other + 10; });
  EXPECT_LE(cnp_samples(sampler, "mlx5_0"), stuck + 1);
  const auto devices = sampler.devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_GT(devices[0].age, devices[1].age) << "and its age says so";
  nics.statistics->answer("eth2");
  await([&] { return cnp_samples(sampler, "mlx5_0") > stuck + 2; });
}

// A bond's netdev has no statistics; pause is what each leg of it counts.
TEST_F(Sampling, OfABondEachMemberHasWhatItsNetdevCounts) {
  nics.statistics->fail("bond0", EOPNOTSUPP);
  std::vector<Port> bonded{port_of("mlx5_0", "bond0"), port_of("mlx5_0", "eth2"), port_of("mlx5_0", "eth3")};
  for (Port& port : bonded) port.bond = "bond0";
  Sampler sampler(options());
  sampler.follow(bonded);
  const auto page = [&] {
    FamilySet set;
    for (const PortBursts& port : sampler.bursts()) add_bursts(set, port, Pace::Clock::now());
    EXPECT_EQ(set.dropped_duplicates(), 0u);
    return to_exposition(set.families());
  };
  const auto has = [&](const std::string& text) { return page().find(text) != std::string::npos; };
  await([&] { return cnp_samples(sampler, "mlx5_0") > 2; });
  nics.statistics->set("eth3", "rx_prio3_pause_duration", 9'000);
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "1017\n");
  await([&] {
    return has("fabric_burst_pause_ratio_peak{device=\"mlx5_0\",port=\"1@eth3\",direction=\"rx\",priority=\"3\"}");
  });
  await([&] { return has("fabric_burst_events_per_second_peak{device=\"mlx5_0\",port=\"1\",event=\"cnp_sent\"}"); });
  EXPECT_FALSE(has("port=\"1@eth3\",event=\"cnp_sent\"")) << "what RDMA counts is the bond's";
  EXPECT_FALSE(has("fabric_burst_pause_ratio_peak{device=\"mlx5_0\",port=\"1@eth2\""));
}

TEST_F(Sampling, EndsThoughADeviceHangs) {
  auto sampler = std::make_unique<Sampler>(options());
  sampler->follow(ports);
  nics.statistics->hang("eth3");
  await([&] { return nics.statistics->is_waiting("eth3"); });
  sampler.reset();
}

TEST_F(Sampling, WhatRefusesIsNotHammeredAndTheRestGoesOn) {
  for (int code : {EPERM, EIO, ETIMEDOUT}) {
    nics.statistics->fail("eth2", code);
    const unsigned before = nics.statistics->asked("eth2");
    Sampler sampler(options());
    sampler.follow(ports);
    await([&] { return cnp_samples(sampler, "mlx5_0") > 20; });
    EXPECT_EQ(nics.statistics->asked("eth2"), before + 1) << code;
    EXPECT_FALSE(record(sampler, "mlx5_0")->pause[3].seen) << "absent, not zero";
    EXPECT_TRUE(record(sampler, "mlx5_1")->pause[3].seen);
  }
}

TEST_F(Sampling, FollowsThePortsAndForgetsWhatIsGone) {
  Sampler sampler(options());
  sampler.follow(ports);
  await([&] { return cnp_samples(sampler, "mlx5_0") > 2 && cnp_samples(sampler, "mlx5_1") > 2; });
  const uint64_t before = cnp_samples(sampler, "mlx5_1");
  Port slower = ports[1];
  slower.rate = 25e9;
  slower.qos.pfc = PrioSet{1 << 3};
  sampler.follow({slower});
  EXPECT_GE(cnp_samples(sampler, "mlx5_1"), before) << "what was counted goes on";
  EXPECT_EQ(record(sampler, "mlx5_1")->lossless, 1 << 3);
  EXPECT_FALSE(record(sampler, "mlx5_0"));
  EXPECT_EQ(sampler.devices().size(), 1u);
}

TEST_F(Sampling, AnIntervalOfZeroIsNone) {
  Sampler sampler(options());
  sampler.follow(ports);
  await([&] { return cnp_samples(sampler, "mlx5_0") > 0; });
  sampler.set(0ms, 0.02);
  EXPECT_TRUE(sampler.devices().empty());
  sampler.follow(ports);
  EXPECT_TRUE(sampler.bursts().empty());
  sampler.set(10ms, 1);
  sampler.follow(ports);
  await([&] { return cnp_samples(sampler, "mlx5_0") > 0; });
}

TEST_F(Sampling, KeepsToItsBudgetAndSaysSoOnce) {
  std::mutex mutex;
  std::vector<std::string> told;
  auto chosen = options();
  chosen.cpu_budget = 1e-6;
  chosen.tell = [&](const std::string& line) {
    std::lock_guard lock(mutex);
    told.push_back(line);
  };
  {
    Sampler sampler(chosen);
    sampler.follow({ports[0]});
    await([&] { return sampler.devices().at(0).interval >= 40ms; });
    const auto device = sampler.devices().at(0);
    EXPECT_EQ(device.brake, Pace::Brake::cpu);
    EXPECT_GT(device.cpu_seconds, 0);
    FamilySet families;
    add_sampler(families, sampler);
    ASSERT_EQ(families.families().at(1).metric->name, "fabric_sampler_throttled");
    EXPECT_EQ(families.families()[1].samples.at(0).value, 1);
    sampler.follow({});
  }
  std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 1u) << "and not at every step";
  EXPECT_NE(told[0].find("mlx5_0: sampled every 20 ms only"), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("sample_cpu_budget"), std::string::npos) << told[0];
}

TEST_F(Sampling, WhatCannotBeReadHasNoAge) {
  nics.statistics->fail("eth9", EIO);
  Sampler sampler(options());
  sampler.follow({ports[0], port_of("mlx5_9", "eth9")});
  await([&] { return cnp_samples(sampler, "mlx5_0") > 5 && nics.statistics->asked("eth9") > 0; });
  const auto devices = sampler.devices();
  EXPECT_TRUE(devices.at(0).age);
  EXPECT_FALSE(devices.at(1).age) << "no sample of it was ever taken";
}

// The reader alone: what it does not read.
TEST_F(Sampling, NamesAreReadOnceASecondAndFollowed) {
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  SampleReader reader({kernel->root, nullptr, kernel->statistics.get()}, ports[0]);
  const auto start = Pace::Clock::now();
  nics.statistics->set("eth2", "rx_prio3_pause_duration", 5);
  auto names = [&](Pace::Clock::time_point now) {
    std::vector<std::string> out;
    for (const Counter& counter : reader.read(now).ethtool)
      out.push_back(counter.name.str() + "=" + std::to_string(counter.value));
    return out;
  };
  EXPECT_EQ(names(start), (std::vector<std::string>{"rx_prio3_pause_duration=5", "rx_discards_phy=0"}))
      << "rx_packets is of no use";
  nics.statistics->set("eth2", "rx_discards_phy", 7);
  EXPECT_EQ(names(start + 10ms), (std::vector<std::string>{"rx_prio3_pause_duration=5", "rx_discards_phy=7"}));
  nics.statistics->set("eth2", "tx_prio3_pause_duration", 1);
  EXPECT_EQ(names(start + 20ms).size(), 3u) << "a longer list is seen at once";
}

TEST_F(Sampling, ThePortsOwnBytesAreReadWhereTheDriverCountsNone) {
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "250\n");
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "0\n");
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  SampleReader without({kernel->root, nullptr, kernel->statistics.get()}, ports[0]);
  EXPECT_EQ(without.read(Pace::Clock::now()).pma, (std::vector<Counter>{{"port_rcv_data", 250}}));
  nics.statistics->set("eth2", "rx_vport_rdma_unicast_bytes", 1000);
  SampleReader with({kernel->root, nullptr, kernel->statistics.get()}, ports[0]);
  EXPECT_TRUE(with.read(Pace::Clock::now()).pma.empty()) << "each of these files is a firmware command";
}

// Broadcom's own driver: RoCE's bytes come once a second, which is no burst; the port's own are read then.
TEST_F(Sampling, BytesThatTellOfNoBurstDoNotStandForThePortsOwn) {
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "250\n");
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  test::SimRdma rdma;
  rdma.devices[0].name = "mlx5_0";
  rdma.devices[0].ports[1].counters = {{"rx_bytes", 1000}, {"tx_bytes", 1000}};
  Port port = ports[0];
  port.kernel_driver = "bnxt_en";
  SampleReader once({kernel->root, &rdma, kernel->statistics.get()}, port);
  EXPECT_EQ(once.read(Pace::Clock::now()).pma, (std::vector<Counter>{{"port_rcv_data", 250}}));
  rdma.devices[0].ports[1].counters.push_back({"rx_roce_only_bytes", 900});
  SampleReader always({kernel->root, &rdma, kernel->statistics.get()}, port);
  EXPECT_TRUE(always.read(Pace::Clock::now()).pma.empty());
}

// A statistic may wait for a lock that a reset of another port holds: its sample is longer then, and nobody else's is.
TEST_F(Sampling, EachSourceHasTheTimeOfItsOwnAnswer) {
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  SampleReader reader({kernel->root, nullptr, kernel->statistics.get()}, ports[0]);
  nics.statistics->hang("eth2");
  std::thread later([&] {
    while (!nics.statistics->is_waiting("eth2")) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(50ms);
    nics.statistics->answer("eth2");
  });
  const auto start = Pace::Clock::now();
  reader.read(start);
  later.join();
  EXPECT_GE(reader.times().ethtool - reader.times().hw, 50ms);
  EXPECT_GE(reader.times().hw, start);
}

// bnxt_re makes its device anew when the netdev's rings change, in less time than a scan takes to look.
TEST_F(Sampling, ADeviceThatWasMadeAnewIsReadOn) {
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  test::SimRdma rdma;
  test::SimRdmaDevice device;
  device.name = "mlx5_7";
  device.ports[1].counters = {{"np_cnp_sent", 5}};
  rdma.devices[3] = device;
  SampleReader reader({kernel->root, &rdma, nullptr}, port_of("mlx5_7", "eth2"));
  const auto start = Pace::Clock::now();
  EXPECT_EQ(reader.read(start).hw.size(), 1u);
  rdma.devices.clear();
  rdma.devices[4] = device;
  EXPECT_TRUE(reader.read(start + 1s).hw.empty()) << "what this one counts is no rise of what the other has counted";
  EXPECT_EQ(reader.read(start + 12s).hw.size(), 1u) << "under another index";
  rdma.devices.clear();
  EXPECT_TRUE(reader.read(start + 13s).hw.empty());
  EXPECT_NE(reader.failure(), "");
  rdma.devices[5] = device;
  EXPECT_TRUE(reader.read(start + 24s).hw.empty());
  EXPECT_EQ(reader.read(start + 60s).hw.size(), 1u) << "it was away for a moment";
}

TEST_F(Sampling, ThePortsOwnBytesAreReadNoMoreOnceTheDriverTellsItsOwn) {
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "250\n");
  nics.statistics->set("eth2", "rx_vport_rdma_unicast_bytes", 1000);
  nics.statistics->fail("eth2", EBUSY);
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  SampleReader reader({kernel->root, nullptr, kernel->statistics.get()}, ports[0]);
  const auto start = Pace::Clock::now();
  EXPECT_EQ(reader.read(start).pma.size(), 1u);
  nics.statistics->fail("eth2", 0);
  EXPECT_TRUE(reader.read(start + 11s).pma.empty()) << "each of these files is a firmware command";
}

}  // namespace
}  // namespace fabric::exporter
