// SPDX-License-Identifier: Apache-2.0
// The readings of RDMA devices: their threads, and the burst sampler: the histograms of one device, its pace, and the
// files of a sample. A tree that claims more than any machine has: every program ends, and reports it or gives a
// bounded answer.
#include <numeric>

#include "exporter/collect/device.h"
#include "exporter/collect/sampler.h"
#include "judge/engine.h"
#include "judge/report.h"
#include "judge/view.h"
#include "metrics/burst.h"
#include "metrics/text.h"
#include "node/counter_reader.h"
#include "node/scan.h"
#include "support/ports.h"
#include "support/running_collector.h"
#include "support/series.h"
#include "support/sim_rdma.h"
#include "support/slow_nics.h"
#include "support/test.h"

namespace fabric::exporter {
namespace {

using namespace std::chrono_literals;
using test::RunningCollector;
using test::Tree;

// -- The reader

// Passes all calls to the same socket, for a Kernel that is opened repeatedly.
class BorrowedNetlink final : public Netlink {
 public:
  explicit BorrowedNetlink(Netlink& socket) : socket_(socket) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    return socket_.talk(type, flags, payload);
  }
  Result<void> dump(uint16_t type, View8 payload, std::chrono::milliseconds patience, const Take& take) override {
    return socket_.dump(type, payload, patience, take);
  }

 private:
  Netlink& socket_;
};

TEST(DeviceReader, TheKernelGoesThroughADevicesObjectsOnceForAllItsPortsAndBeyondARescan) {
  test::SlowNics nics;
  const std::string second = "sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0/infiniband/mlx5_0/ports/2";
  nics.tree.file(second + "/state", "4: ACTIVE\n")
      .file(second + "/phys_state", "5: LinkUp\n")
      .file(second + "/link_layer", "Ethernet\n");
  test::SimRdma rdma;
  rdma.devices[4] = {
      .name = "mlx5_0", .resources = {{"qp", 2}}, .resources_errno = 0, .owners = {{"qp", {.user = 1, .kernel = 1}}}};
  DeviceReader reader(nics.tree.path(), "mlx5_0", nullptr, [&](const std::string& root) {
    auto kernel = nics.open()(root);
    if (kernel) kernel->rdma = std::make_unique<BorrowedNetlink>(rdma);
    return kernel;
  });
  for (int scan = 0; scan < 2; ++scan) {
    reader.rescan();
    const DeviceReading reading = reader.read();
    ASSERT_EQ(reading.ports.size(), 2u);
    EXPECT_EQ(reading.ports[0].resources,
              (std::vector<ResourceCount>{{"qp", "", 2}, {"qp", "user", 1}, {"qp", "kernel", 1}}));
    EXPECT_EQ(reading.ports[1].resources, (std::vector<ResourceCount>{{"qp", "", 2}}));
  }
  EXPECT_EQ(rdma.owner_dumps, 1);
}

// Devices beyond the first 128 have no reader: the readers of those must not touch them.
TEST(DeviceReader, NoOtherDeviceIsTouched) {
  struct Watch final : BehindFiles {
    explicit Watch(int& opened) : touched(opened) {}
    std::optional<Result<void>> act(Act, const std::string& file, std::string_view) override {
      touched += file.find("mlx5_1") != std::string::npos ? 1 : 0;
      return std::nullopt;
    }
    int& touched;
  };
  test::SlowNics nics;
  int touched = 0;
  DeviceReader reader(nics.tree.path(), "mlx5_0", nullptr, [&](const std::string& root) {
    auto kernel = nics.open()(root);
    if (kernel) kernel->root.set_behind(std::make_shared<Watch>(touched));
    return kernel;
  });
  reader.rescan();
  EXPECT_EQ(reader.read().ports.size(), 1u);
  EXPECT_EQ(touched, 0);
}

TEST(DeviceReader, WhatADeviceMadeAnewCountsHasNotWrapped) {
  test::SlowNics nics;
  const std::string function = "sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0";
  DeviceReader reader(nics.tree.path(), "mlx5_0", nullptr, nics.open());
  const auto read = [&](const std::string& value, const std::string& ifindex) {
    nics.tree.file(function + "/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", value + "\n");
    nics.tree.file(function + "/net/eth2/ifindex", ifindex + "\n");
    reader.rescan();
    const auto hw = reader.read().ports.at(0).counters.hw;
    const auto found = std::ranges::find(hw, "out_of_sequence", &Counter::name);
    return found == hw.end() ? std::nullopt : std::optional(found->value);
  };
  EXPECT_EQ(read("4294967290", "7"), 4294967290u);
  EXPECT_EQ(read("5", "7"), (uint64_t{1} << 32) + 5);
  EXPECT_EQ(read("4294967290", "7"), (uint64_t{1} << 33) - 6);
  EXPECT_EQ(read("5", "8"), 5u);
}

// -- The burst sampler

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
    bursts.append(out);
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
    if (port.id == device + "/1") return samples(cnps(port.record));
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
  const std::string page = serialize(set);
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
  EXPECT_TRUE(test::has(serialize(families), "fabric_sampler_throttled{device=\"mlx5_0\"} 1\n")) << serialize(families);
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

// The reader alone: the values that it does not read.
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

// Broadcom's own driver updates RoCE's bytes once a second, which is too slow for bursts: the port's own bytes are
// read.
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

// A statistic may wait for a lock that a reset of another port holds: its sample takes longer then, and no other one
// does.
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

// bnxt_re creates its device again when the netdev's rings change, in less time than a scan takes to notice.
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

// -- More devices than any machine has

constexpr unsigned kDevices = 10'000;

// Tens of thousands of files: in memory, where there is such a place.
const bool kInMemory = std::filesystem::is_directory("/dev/shm") && ::setenv("TMPDIR", "/dev/shm", 0) == 0;

std::string address_of(unsigned number) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", number >> 16, number >> 8 & 255, number >> 3 & 31, number & 7);
  return text;
}

// Functions of one kind below one root, and nothing else of them.
void add_functions(Tree& tree, unsigned count, const char* vendor, const char* class_code) {
  for (unsigned i = 0; i < count; ++i) {
    const std::string address = address_of(i), folder = "sys/devices/pci0000:00/" + address;
    tree.file(folder + "/class", class_code).file(folder + "/vendor", vendor).file(folder + "/device", "0x1021\n");
    tree.link("sys/bus/pci/devices/" + address, "../../../devices/pci0000:00/" + address);
  }
}

void add_rdma_devices(Tree& tree, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const std::string name = "mlx5_" + std::to_string(i),
                      folder = "sys/devices/pci0000:00/" + address_of(i) + "/infiniband/" + name;
    tree.file(folder + "/ports/1/state", "4: ACTIVE\n");
    tree.link(folder + "/device", "../..")
        .link("sys/class/infiniband/" + name, "../../devices/pci0000:00/" + address_of(i) + "/infiniband/" + name);
  }
}

Node scanned(const Tree& tree) {
  auto kernel = open_kernel(tree.path());
  EXPECT_TRUE(kernel.ok());
  ScanOptions options;
  options.host = options.neighbors = true;
  return scan(*kernel, options);
}

TEST(ManyDevices, TenThousandNicsAreListedAndJudged) {
  RecordProperty("in_memory", kInMemory ? "yes" : "no");
  Tree tree;
  add_functions(tree, kDevices, "0x15b3\n", "0x020000\n");
  add_rdma_devices(tree, 200);
  const Node node = scanned(tree);
  EXPECT_EQ(node.topology.nics.size(), kDevices);
  EXPECT_EQ(node.ports.size(), 200u);
  EXPECT_LE(node.platform.functions.size(), 4096u);
  EXPECT_LT(run_rules({.now = node}).findings.size(), 10u * node.ports.size());
}

TEST(ManyDevices, MoreGpusThanAnyMachineHasAreOneClearError) {
  Tree tree;
  add_functions(tree, 2'000, "0x10de\n", "0x030200\n");
  const Node node = scanned(tree);
  EXPECT_TRUE(node.topology.gpus.empty());
  EXPECT_TRUE(test::has(node.topology_unread, "2000 GPUs and 0 NICs")) << node.topology_unread;
}

// The exporter has a thread for each, and its service a limit of threads.
TEST(ManyDevices, TheExporterReadsTheFirst) {
  Tree tree;
  add_functions(tree, 140, "0x15b3\n", "0x020000\n");
  add_rdma_devices(tree, 140);
  for (unsigned i = 2; i < 14; ++i)
    tree.link("sys/devices/pci0000:00/" + address_of(i) + "/physfn", "../" + address_of(0));
  const exporter::Snapshot snapshot = test::RunningCollector(test::collector_options(tree.path()))->snapshot();
  EXPECT_EQ(snapshot.node.ports.size(), 128u);
  EXPECT_EQ(snapshot.node.ports.back().rdma, "mlx5_139")
      << "functions for guests are left out first, then in natural order";
  for (const Port& port : snapshot.node.ports) EXPECT_EQ(port.role, PortRole::physical) << port.rdma;
  EXPECT_TRUE(std::ranges::any_of(snapshot.runs, [](const exporter::CollectorRun& run) {
    return run.collector == "devices" && !run.success && run.error.starts_with("12 RDMA devices");
  }));
}

}  // namespace
}  // namespace fabric::exporter
