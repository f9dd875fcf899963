// SPDX-License-Identifier: Apache-2.0
// The burst sampler: the histograms of one device, its pace, and what a sample reads.
#include <numeric>

#include "exporter/collect/device.h"
#include "metrics/families.h"
#include "metrics/text.h"
#include "node/counter_reader.h"
#include "support/ports.h"
#include "support/running_collector.h"
#include "support/series.h"
#include "support/sim_rdma.h"

namespace fabric::exporter {
namespace {

using namespace std::chrono_literals;
using test::RunningCollector;

Port port_of(const std::string& device, const std::string& netdev) {
  Port port;
  port.rdma = device;
  port.netdev = netdev;
  port.kernel_driver = "mlx5_core";
  port.rate = 50e9;
  return port;
}

uint64_t samples(const BurstTrack& track) {
  return std::accumulate(track.counts.begin(), track.counts.end(), uint64_t{0});
}
const BurstTrack& cnps(const BurstRecord& record) { return record.events[static_cast<size_t>(BurstEvent::cnp_sent)]; }

// One device, sampled by the test's own thread.
class Sampled {
 public:
  Sampled(const test::SlowNics& nics, std::string device, const std::vector<Port>& ports)
      : device_(std::move(device)), sampler_(nics.tree.path(), device_, nics.open()) {
    bursts.follow(ports);
  }
  // Two answers closer than BurstMeter::kShortest are one sample.
  std::string sample() {
    std::this_thread::sleep_for(6ms);
    sampler_.follow(bursts);
    sampler_.read();
    return sampler_.record(bursts);
  }
  void sample(int times) {
    for (int i = 0; i < times; ++i) (void)sample();
  }
  [[nodiscard]] std::vector<PortBursts> records() const {
    std::vector<PortBursts> out;
    bursts.append(device_, out);
    return out;
  }
  [[nodiscard]] BurstRecord record() const { return records().at(0).record; }
  [[nodiscard]] SampledDevice state() const { return bursts.state(device_, Pace::Clock::now()); }
  DeviceBursts bursts;

 private:
  std::string device_;
  DeviceSampler sampler_;
};

// Samples both devices every 10 ms.
CollectorOptions sampling_both(const test::SlowNics& nics, std::map<std::string, DeviceBursts> before = {},
                               std::chrono::milliseconds interval = 10ms) {
  CollectorOptions out = test::collector_options(nics);
  out.sampling = {interval, 1, {}};
  out.bursts = std::move(before);
  return out;
}

uint64_t cnp_samples(RunningCollector& all, const std::string& device) {
  for (const PortBursts& port : all->snapshot().bursts)
    if (port.device == device) return samples(cnps(port.record));
  return 0;
}

class Sampling : public testing::Test {
 protected:
  const std::vector<Port> ports{port_of("mlx5_0", "eth2"), port_of("mlx5_1", "eth3")};
  test::SlowNics nics;
};

TEST_F(Sampling, SeesWhatFilesAndDriverSayBetweenTwoScrapes) {
  Sampled device(nics, "mlx5_0", {ports[0]});
  device.sample(2);
  nics.statistics->set("eth2", "rx_prio3_pause_duration", 9'000);
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "1017\n");
  device.sample(1);
  EXPECT_TRUE(cnps(device.record()).moved);
  EXPECT_TRUE(device.record().pause[3].moved);
  EXPECT_GT(*device.record().peak(cnps(device.record()), Pace::Clock::now()), 0);
}

TEST_F(Sampling, ADeviceThatHangsDelaysOnlyItself) {
  RunningCollector all(sampling_both(nics));
  all.settle([&] { return cnp_samples(all, "mlx5_0") > 2 && cnp_samples(all, "mlx5_1") > 2; });
  nics.statistics->hang("eth2");
  all.settle([&] { return nics.statistics->is_waiting("eth2"); });
  const uint64_t stuck = cnp_samples(all, "mlx5_0"), other = cnp_samples(all, "mlx5_1");
  all.settle([&] { return cnp_samples(all, "mlx5_1") > other + 10; });
  EXPECT_LE(cnp_samples(all, "mlx5_0"), stuck + 1);
  const auto devices = all->snapshot().sampled;
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_GT(devices[0].age, devices[1].age) << "and its age shows it";
  nics.statistics->answer("eth2");
  all.settle([&] { return cnp_samples(all, "mlx5_0") > stuck + 2; });
}

// A bond's netdev has no statistics; pause is counted by each member.
TEST_F(Sampling, OfABondEachMemberHasTheCountersOfItsNetdev) {
  nics.statistics->fail("bond0", EOPNOTSUPP);
  std::vector<Port> bonded{port_of("mlx5_0", "bond0"), port_of("mlx5_0", "eth2"), port_of("mlx5_0", "eth3")};
  test::make_bond(bonded[0]);
  for (size_t i : {1, 2}) test::make_member(bonded[i]);
  Sampled device(nics, "mlx5_0", bonded);
  device.sample(2);
  nics.statistics->set("eth3", "rx_prio3_pause_duration", 9'000);
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "1017\n");
  device.sample(1);
  FamilySet set;
  for (const PortBursts& port : device.records()) add_bursts(set, port, Pace::Clock::now(), test::kEverything);
  EXPECT_EQ(set.dropped_duplicates(), 0u);
  const std::string page = serialize(set.families());
  const auto has = [&](const std::string& text) { return page.find(text) != std::string::npos; };
  EXPECT_TRUE(has("fabric_burst_pause_ratio_peak{device=\"mlx5_0\",port=\"1@eth3\",direction=\"rx\",priority=\"3\"}"));
  EXPECT_TRUE(has("fabric_burst_events_per_second_peak{device=\"mlx5_0\",port=\"1\",event=\"cnp_sent\"}"));
  EXPECT_FALSE(has("port=\"1@eth3\",event=\"cnp_sent\"")) << "RDMA counters are the bond's";
  EXPECT_FALSE(has("fabric_burst_pause_ratio_peak{device=\"mlx5_0\",port=\"1@eth2\""));
}

TEST_F(Sampling, EndsThoughADeviceHangs) {
  auto all = std::make_unique<RunningCollector>(sampling_both(nics));
  nics.statistics->hang("eth3");
  all->settle([&] { return nics.statistics->is_waiting("eth3"); });
  all.reset();
}

TEST_F(Sampling, ASourceThatRefusesIsLeftAloneAndTheRestGoesOn) {
  for (int code : {EPERM, EIO, ETIMEDOUT}) {
    nics.statistics->fail("eth2", code);
    const unsigned before = nics.statistics->asked("eth2");
    Sampled device(nics, "mlx5_0", {ports[0]});
    device.sample(20);
    EXPECT_GT(samples(cnps(device.record())), 10u);
    EXPECT_EQ(nics.statistics->asked("eth2"), before + 1) << code;
    EXPECT_FALSE(device.record().pause[3].seen) << "absent, not zero";
  }
}

TEST_F(Sampling, FollowsThePortsAndForgetsThoseThatAreGone) {
  Sampled device(nics, "mlx5_1", {ports[0], ports[1]});
  device.sample(3);
  Port slower = ports[1];
  slower.rate = 25e9;
  slower.qos.pfc = PrioSet{1 << 3};
  const uint64_t before = samples(cnps(device.records().at(1).record));
  EXPECT_GT(before, 0u);
  device.bursts.follow({slower});
  ASSERT_EQ(device.records().size(), 1u);
  EXPECT_EQ(samples(cnps(device.record())), before) << "its histogram goes on";
  EXPECT_EQ(device.record().lossless, 1 << 3);
}

TEST_F(Sampling, HistogramsOutliveAReload) {
  std::map<std::string, DeviceBursts> before;
  uint64_t counted = 0;
  {
    RunningCollector all(sampling_both(nics));
    all.settle([&] { return cnp_samples(all, "mlx5_0") > 2; });
    before = all->bursts();
    counted = cnp_samples(all, "mlx5_0");
  }
  RunningCollector next(sampling_both(nics, std::move(before), 1h));
  EXPECT_GE(cnp_samples(next, "mlx5_0") + 1, counted);
}

TEST_F(Sampling, AnIntervalOfZeroSwitchesItOff) {
  RunningCollector all(sampling_both(nics, {}, 0ms));
  EXPECT_TRUE(all->snapshot().sampled.empty());
  EXPECT_TRUE(all->snapshot().bursts.empty());
}

TEST_F(Sampling, KeepsToItsBudgetAndWarnsOnce) {
  Sampled device(nics, "mlx5_0", {ports[0]});
  device.bursts.pace = Pace(10ms, 1e-6);
  std::vector<std::string> lines;
  for (int i = 0; i < 500 && device.state().interval < 40ms; ++i)
    if (std::string line = device.sample(); !line.empty()) lines.push_back(line);
  EXPECT_GE(device.state().interval, 40ms);
  EXPECT_EQ(device.state().brake, Pace::Brake::cpu);
  EXPECT_GT(device.state().cpu_seconds, 0);
  FamilySet families;
  add_sampled(families, {device.state()});
  const auto throttled =
      std::ranges::find(families.families(), "fabric_sampler_throttled", &prometheus::MetricFamily::name);
  ASSERT_NE(throttled, families.families().end());
  EXPECT_EQ(throttled->metric.at(0).gauge.value, 1);
  ASSERT_EQ(lines.size(), 1u) << "and not at every step";
  EXPECT_TRUE(test::has(lines[0], "mlx5_0: sampling slowed down to every 20 ms")) << lines[0];
  EXPECT_TRUE(test::has(lines[0], "sample_cpu_budget")) << lines[0];
}

TEST_F(Sampling, ADeviceThatCannotBeReadHasNoAge) {
  nics.statistics->fail("eth9", EIO);
  Sampled good(nics, "mlx5_0", {ports[0]}), bad(nics, "mlx5_9", {port_of("mlx5_9", "eth9")});
  good.sample(2);
  bad.sample(2);
  EXPECT_TRUE(good.state().age);
  EXPECT_FALSE(bad.state().age) << "no sample of it was ever taken";
}

CounterAccess sampling(const Kernel& kernel, Netlink* rdma, ethtool::Statistics* statistics) {
  return {.root = kernel.root, .rdma = rdma, .statistics = statistics};
}

// The reader alone: what it does not read.
TEST_F(Sampling, NamesAreReadOnceASecondAndFollowed) {
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  BurstReader reader(sampling(*kernel, nullptr, kernel->statistics.get()), ports[0]);
  const auto start = Pace::Clock::now();
  nics.statistics->set("eth2", "rx_prio3_pause_duration", 5);
  auto names = [&](Pace::Clock::time_point now) {
    std::vector<std::string> out;
    for (const Counter& counter : reader.read(now).counters.ethtool)
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
  BurstReader without(sampling(*kernel, nullptr, kernel->statistics.get()), ports[0]);
  EXPECT_EQ(without.read(Pace::Clock::now()).counters.pma, (std::vector<Counter>{{"port_rcv_data", 250}}));
  nics.statistics->set("eth2", "rx_vport_rdma_unicast_bytes", 1000);
  BurstReader with(sampling(*kernel, nullptr, kernel->statistics.get()), ports[0]);
  EXPECT_TRUE(with.read(Pace::Clock::now()).counters.pma.empty()) << "each of these files is a firmware command";
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
  BurstReader once(sampling(*kernel, &rdma, kernel->statistics.get()), port);
  EXPECT_EQ(once.read(Pace::Clock::now()).counters.pma, (std::vector<Counter>{{"port_rcv_data", 250}}));
  rdma.devices[0].ports[1].counters.push_back({"rx_roce_only_bytes", 900});
  BurstReader always(sampling(*kernel, &rdma, kernel->statistics.get()), port);
  EXPECT_TRUE(always.read(Pace::Clock::now()).counters.pma.empty());
}

// A statistic may wait for a lock that a reset of another port holds: its sample is longer then, and nobody else's is.
TEST_F(Sampling, EachSourceHasTheTimeOfItsOwnAnswer) {
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  BurstReader reader(sampling(*kernel, nullptr, kernel->statistics.get()), ports[0]);
  nics.statistics->hang("eth2");
  std::thread later([&] {
    while (!nics.statistics->is_waiting("eth2")) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(50ms);
    nics.statistics->answer("eth2");
  });
  const auto start = Pace::Clock::now();
  const ReadTimes times = reader.read(start).times;
  later.join();
  EXPECT_GE(times.ethtool - times.hw, 50ms);
  EXPECT_GE(times.hw, start);
}

// bnxt_re makes its device anew when the netdev's rings change, in less time than a scan takes to look.
TEST_F(Sampling, ADeviceThatWasMadeAnewIsReadOn) {
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  const auto follow = [&](auto reader, test::SimRdma& rdma, const test::SimRdmaDevice& device) {
    const auto start = Pace::Clock::now();
    EXPECT_EQ(reader.read(start).counters.hw.size(), 1u);
    rdma.devices.clear();
    rdma.devices[4] = device;
    EXPECT_TRUE(reader.read(start + 1s).counters.hw.empty())
        << "what this one counts is no rise of what the other has counted";
    EXPECT_EQ(reader.read(start + 12s).counters.hw.size(), 1u) << "under another index";
    rdma.devices.clear();
    const auto away = reader.read(start + 13s);
    EXPECT_TRUE(away.counters.hw.empty());
    EXPECT_FALSE(std::ranges::all_of(away.attempts, &Attempt::success));
    rdma.devices[5] = device;
    EXPECT_TRUE(reader.read(start + 24s).counters.hw.empty());
    EXPECT_EQ(reader.read(start + 60s).counters.hw.size(), 1u) << "it was away for a moment";
  };
  test::SimRdmaDevice device;
  device.name = "mlx5_7";
  device.ports[1].counters = {{"np_cnp_sent", 5}};
  for (const bool samples : {true, false}) {
    test::SimRdma rdma;
    rdma.devices[3] = device;
    const CounterAccess access{.root = kernel->root, .rdma = &rdma};
    if (samples) follow(BurstReader(access, port_of("mlx5_7", "eth2")), rdma, device);
    else follow(PortReader(access, port_of("mlx5_7", "eth2")), rdma, device);
  }
}

TEST_F(Sampling, ThePortsOwnBytesAreReadNoMoreOnceTheDriverTellsItsOwn) {
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "250\n");
  nics.statistics->set("eth2", "rx_vport_rdma_unicast_bytes", 1000);
  nics.statistics->fail("eth2", EBUSY);
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel.ok());
  BurstReader reader(sampling(*kernel, nullptr, kernel->statistics.get()), ports[0]);
  const auto start = Pace::Clock::now();
  EXPECT_EQ(reader.read(start).counters.pma.size(), 1u);
  nics.statistics->fail("eth2", 0);
  EXPECT_TRUE(reader.read(start + 11s).counters.pma.empty()) << "each of these files is a firmware command";
}

}  // namespace
}  // namespace fabric::exporter
