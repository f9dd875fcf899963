// SPDX-License-Identifier: Apache-2.0
// The readings of the host that belong to no RDMA device: addresses, the platform, the host; and what the sandbox
// hides.
#include <condition_variable>
#include <mutex>

#include "exporter/collect/host.h"
#include "judge/engine.h"
#include "judge/report.h"
#include "judge/view.h"
#include "node/neighbor_state.h"
#include "support/running_collector.h"

namespace fabric::exporter {
namespace {

using test::RunningCollector;
using test::Tree;

constexpr const char* kNic = "0000:17:00.0";

void add_nic(Tree& tree, const std::string& device, const std::string& netdev, const std::string& pci) {
  tree.file(test::add_rdma_nic(tree, device, netdev, pci) + "/power_state", "D0\n");
}

void count_errors(Tree& tree, unsigned count) {
  const std::string number = std::to_string(count);
  tree.file(std::string("sys/bus/pci/devices/") + kNic + "/aer_dev_correctable",
            "RxErr 0\nBadTLP " + number + "\nTOTAL_ERR_COR " + number + "\n");
}

Tree& machine(Tree& tree) {
  add_pci(tree, {"pci0000:16", "0000:16:01.0", "0x8086", "0x352a", "0x060400"});
  add_nic(tree, "mlx5_0", "eth2", kNic);
  count_errors(tree, 3);
  for (const char* node : {"0", "1"})
    tree.file(std::string("sys/devices/system/node/node") + node + "/cpulist", std::string(node) + "\n");
  tree.file("proc/sys/kernel/numa_balancing", "1\n");
  tree.file("proc/sys/net/ipv4/conf/eth2/arp_ignore", "1\n");
  return tree;
}

std::optional<CollectorRun> run(RunningCollector& running, const std::string& name) {
  const auto runs = running->snapshot().runs;
  const auto found = std::ranges::find(runs, name, &CollectorRun::collector);
  return found == runs.end() ? std::nullopt : std::optional(*found);
}

const Finding* find(const Report& report, const std::string& id, const std::string& subject) {
  for (const Finding& each : report.findings)
    if (each.id == id && each.subject == subject) return &each;
  return nullptr;
}

TEST(HostCollectors, ThePageKnowsTheHostItsNetworkAndItsPlatform) {
  Tree tree;
  RunningCollector running(test::collector_options(machine(tree).path()));
  const Node node = running.node();
  ASSERT_TRUE(node.host);
  EXPECT_EQ(node.host->numa_balancing, 1u);
  ASSERT_TRUE(node.network.interfaces.contains("eth2"));
  EXPECT_EQ(node.network.interfaces.at("eth2").arp_ignore.own, 1u);
  ASSERT_TRUE(node.platform.functions.contains(kNic));
  EXPECT_EQ(node.platform.functions.at(kNic).correctable.total, 3u);
  ASSERT_EQ(node.ports.size(), 1u);
  EXPECT_EQ(node.ports[0].counters.hw.size(), 2u) << "and of the devices, everything still";
  for (const char* collector : {"network", "platform", "host"}) {
    ASSERT_TRUE(run(running, collector)) << collector;
    EXPECT_TRUE(run(running, collector)->success) << collector << ": " << run(running, collector)->error;
  }
}

TEST(HostCollectors, ADeviceThatComesIsPartOfThem) {
  Tree tree;
  RunningCollector running(test::collector_options(machine(tree).path()));
  add_nic(tree, "mlx5_1", "eth3", "0000:18:00.0");
  running->rescan();
  running.settle([&] {
    return running.node().network.interfaces.contains("eth3") &&
           running.node().platform.functions.contains("0000:18:00.0");
  });
}

void publish_neighbor(Tree& tree, uint32_t max_frame) {
  Neighbors neighbors;
  neighbors.source = state::kLldpSource;
  neighbors.listening["eth2"] = 10;
  Neighbor heard;
  heard.netdev = "eth2", heard.system_name = "leaf-1", heard.ttl = 120, heard.heard = 95, heard.max_frame = max_frame;
  neighbors.heard.push_back(heard);
  tree.file(state::kNeighborFile, state::neighbors_text(neighbors, 99)).file("proc/uptime", "100.00 1.00\n");
}

TEST(HostCollectors, ANeighborSetsItsLargestFrame) {
  Tree tree;
  RunningCollector running(test::collector_options(machine(tree).path()));
  const auto peer_max_frame = [&](std::optional<uint32_t> expected) {
    running.refresh();
    const Node node = running.node();
    EXPECT_EQ(node.neighbors.heard.size(), expected ? 1u : 0u);
    EXPECT_EQ(node.network.interfaces.at("eth2").peer_max_frame, expected);
  };
  peer_max_frame(std::nullopt);
  publish_neighbor(tree, 9216);
  peer_max_frame(9216);
  publish_neighbor(tree, 1522);
  peer_max_frame(1522);
  tree.remove("run/fabric-lldp/neighbors.json");
  peer_max_frame(std::nullopt);
}

TEST(HostCollectors, ErrorsOfALinkRiseBetweenTwoPages) {
  Tree tree;
  CollectorOptions options = test::collector_options(machine(tree).path());
  options.reread = std::chrono::seconds(1);
  RunningCollector running(std::move(options));
  const Node before = running.node();
  EXPECT_EQ(find(run_rules({.now = running.node(), .before = &before}), "aer", kNic), nullptr);
  count_errors(tree, 9);
  running.settle([&] {
    const Node now = running.node();
    const Report report = run_rules({.now = now, .before = &before});
    const Finding* found = find(report, "aer", kNic);
    return found != nullptr && found->status == Status::warning &&
           found->observed.find("BadTLP +6") != std::string::npos;
  });
}

// Waits like a read of a device that is dead, until the test is over.
class Dead {
 public:
  static void read(Kernel&, Node&) {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [] { return over_; });
  }
  ~Dead() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    released_.notify_all();
  }

 private:
  inline static std::mutex mutex_;
  inline static std::condition_variable released_;
  inline static bool over_ = false;
};

// The host has one thread: the devices are read on, and so is the host as soon as the collector returns.
TEST(HostCollectors, OneThatHangsDelaysNoDevice) {
  Tree tree;
  std::vector<HostCollector> with_a_dead_one = host_collectors();
  with_a_dead_one[1].read = Dead::read;
  CollectorOptions options = test::collector_options(machine(tree).path());
  options.stuck = std::chrono::milliseconds(50);
  options.collectors = &with_a_dead_one;
  RunningCollector running(std::move(options));
  const Dead release;
  running.settle([&] {
    const auto dead = run(running, with_a_dead_one[1].name);
    return running->complete() && dead && !dead->success && dead->error == "hangs";
  });
  EXPECT_FALSE(running.node().network.interfaces.empty()) << "what was read before stays";
  EXPECT_FALSE(running->busy()) << "no page waits for it";
  tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "19\n");
  running->refresh();
  running.settle([&] { return running.value("fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}") == 19; });
}

// ProtectProc=invisible: /proc shows the exporter's own processes, control groups those of all.
TEST(HostCollectors, HiddenProcessesAreNoFinding) {
  Tree tree;
  machine(tree).file("proc/sys/kernel/numa_balancing", "0\n");
  tree.file("proc/4711/comm", "fabric-exporter\n")
      .file("proc/4711/cgroup", "0::/system.slice/fabric-exporter.service\n");
  tree.file("usr/lib/systemd/system/slurmd.service", "[Service]\nLimitMEMLOCK=8M\nLimitNOFILE=1024\n");
  tree.file("usr/lib/systemd/system/containerd.service", "[Service]\n");
  for (const char* unit : {"slurmd", "containerd"})
    tree.file("sys/fs/cgroup/system.slice/" + std::string(unit) + ".service/cgroup.procs", "812\n");
  tree.file("etc/security/limits.conf", "* - memlock 64\n");
  RunningCollector running(test::collector_options(tree.path()));
  const Node node = running.node();
  ASSERT_TRUE(node.host);
  EXPECT_TRUE(node.host->processes_hidden);
  EXPECT_EQ(node.host->services.size(), 2u);
  const Report report = run_rules({.now = node});
  for (const Finding& each : report.findings)
    EXPECT_FALSE(each.id == "memlock" || each.id == "limits-conf" || each.id == "nofile")
        << each.id << " " << each.subject << ": " << each.observed;
}

TEST(HostCollectors, ACablingPlanRequiresTheListener) {
  Tree tree;
  RunningCollector running(test::collector_options(machine(tree).path()));
  const Node node = running.node();
  Policy policy;
  EXPECT_EQ(find(run_rules({.now = node, .policy = &policy}), "cabling", "host"), nullptr);
  policy.cabling.file = "/etc/fabric-agent/cables.csv";
  policy.cabling.cables = {{"eth2", {"leaf1", "Ethernet1"}, "cables.csv:2"}};
  const Report report = run_rules({.now = node, .policy = &policy});
  const Finding* found = find(report, "cabling", "host");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->status, Status::unknown);
  EXPECT_TRUE(test::has(found->meaning, "fabric-lldp is not running")) << found->meaning;
  EXPECT_TRUE(test::has(found->remedy, "systemctl enable --now fabric-lldp"));
}

TEST(HostCollectors, SubjectsAreWhatTheyAreReadAbout) {
  Port port;
  port.rdma = "mlx5_0";
  port.netdev = "eth2";
  std::vector<Port> ports{port}, others{port};
  others[0].state = 1;
  others[0].counters.hw = {{"x", 1}};
  EXPECT_TRUE(are_same_subjects(ports, others));
  others[0].gids = {{0, "fe80::1", "RoCE v2", "eth2.100"}};
  EXPECT_FALSE(are_same_subjects(ports, others));
  EXPECT_FALSE(are_same_subjects(ports, {}));
}

}  // namespace
}  // namespace fabric::exporter
