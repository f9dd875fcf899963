// SPDX-License-Identifier: Apache-2.0
// The exporter from a tree to its page. The readings of the host that belong to no RDMA device: addresses, the
// platform, the host; and the files that the sandbox hides. The exporter's effects on the machine and its scrapers:
// excluded devices are not touched, a device that hangs delays only itself, a refused reading is not repeated, unknown
// is not zero, and a page has an end.
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <condition_variable>
#include <mutex>

#include "exporter/collect/host.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
#include "judge/engine.h"
#include "judge/report.h"
#include "judge/view.h"
#include "node/neighbor_state.h"
#include "node/optics_state.h"
#include "node/scan.h"
#include "node/state.h"
#include "support/corpus.h"
#include "support/golden.h"
#include "support/running_collector.h"
#include "support/series.h"
#include "support/test.h"

namespace fabric::exporter {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using test::RunningCollector;
using test::Tree;
using test::value;

// -- From a tree to a page

TEST(ExporterOptions, TakesWhatTheManualSays) {
  auto options =
      parse_options({"--listen", "127.0.0.1:1", "--listen=[::]:2", "--root", "/x", "--config=/y", "--print"});
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->listen, (std::vector<std::string>{"127.0.0.1:1", "[::]:2"}));
  EXPECT_EQ(options->root, "/x");
  EXPECT_EQ(options->config, "/y");
  EXPECT_EQ(options->run, ExporterOptions::Kind::print);
  EXPECT_TRUE(parse_options({})->listen.empty());
}

TEST(ExporterOptions, NamesWhatIsWrong) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"--nonsense"},
                                                                     {"metrics"},
                                                                     {"--listen"},
                                                                     {"--listen", "localhost:1"},
                                                                     {"--print=yes"},
                                                                     {"--root"},
                                                                     {"--root="},
                                                                     {"--config", ""},
                                                                     {""}}) {
    auto options = parse_options(arguments);
    ASSERT_FALSE(options) << arguments[0];
    EXPECT_FALSE(options.error().text().empty());
  }
}

TEST(Setup, NeitherServesNobodyNorAMachineThatIsNotThere) {
  Policy policy;
  policy.listen.clear();
  const auto sockets = listeners({}, policy);
  ASSERT_FALSE(sockets);
  EXPECT_TRUE(sockets.error().text().starts_with("nothing to listen on")) << sockets.error().text();
  ExporterOptions options;
  options.root = "/nonexistent";
  const auto configuration = configure(options);
  ASSERT_FALSE(configuration);
  EXPECT_TRUE(configuration.error().text().starts_with("/nonexistent: ")) << configuration.error().text();
}

TEST(Log, EveryLineHasItsLevel) {
  EXPECT_EQ(leveled("<3>", "f.toml:1:1: a fault\nand another"), "<3>f.toml:1:1: a fault\n<3>and another\n");
}

TEST(Setup, ServesNoCaptureThatIsCutOff) {
  test::Tree tree;
  tree.file("fabric-agent/answers.txt", "fabric-agent capture 1\nend\n");
  ExporterOptions options;
  options.root = tree.path();
  EXPECT_TRUE(configure(options).ok());
  tree.file("fabric-agent/answers.txt", "fabric-agent capture 1\n");
  const auto cut = configure(options);
  ASSERT_FALSE(cut.ok());
  EXPECT_TRUE(test::has(cut.error().text(), "answers.txt:1: the end of the file is missing")) << cut.error().text();
}

// A typing error on every node, and a reboot or an upgrade: the metrics stay.
TEST(Setup, StartsWithTheLastValidConfiguration) {
  constexpr const char* kFile = "etc/fabric-agent/fabric-agent.toml";
  test::Tree tree, state, fresh;
  tree.file("fabric-agent/answers.txt", "fabric-agent capture 1\nend\n");
  tree.file(kFile, "mode = \"audit\"\n[exporter]\nmax_age = \"7s\"\nexclude = [\"mlx5_9\"]\n");
  ExporterOptions options;
  options.root = tree.path();
  const auto valid = configure(options, state.path());
  ASSERT_TRUE(valid.ok()) << valid.error().text();
  EXPECT_FALSE(valid->no_policy);
  for (const char* text : {"mode = \"aud", "mode = \"audit\"\nexclud = 1\n", "", "[exporter]\nmax_age = \"7s\"\n"}) {
    tree.file(kFile, text);
    const auto last = configure(options, state.path());
    ASSERT_TRUE(last.ok()) << last.error().text();
    ASSERT_TRUE(last->no_policy);
    const std::string why = last->no_policy->text();
    EXPECT_TRUE(test::has(why, "fabric-agent.toml:1:") || test::has(why, "fabric-agent.toml:2:")) << why;
    ASSERT_NE(last->policy, nullptr);
    EXPECT_EQ(last->policy->max_age, std::chrono::seconds(7));
    EXPECT_EQ(last->policy->exclude, std::vector<std::string>{"mlx5_9"}) << "still never opened";
    EXPECT_FALSE(configure(options, fresh.path()).ok()) << "there never was a valid one";
  }
  tree.remove(kFile);
  const auto none = configure(options, state.path());
  ASSERT_TRUE(none.ok()) << none.error().text();
  EXPECT_EQ(none->policy, nullptr) << "the exporter needs no file";
}

TEST(Uevents, OnlyDevicesThatComeAndGoCount) {
  const auto message = [](std::string text) {
    std::ranges::replace(text, '|', '\0');
    return text;
  };
  for (const char* counts : {
           "add@/devices/x|ACTION=add|DEVPATH=/devices/x|SUBSYSTEM=infiniband|SEQNUM=1",
           "remove@/devices/x|ACTION=remove|SUBSYSTEM=net",
           "remove@/devices/pci0000:17/0000:17:01.0/0000:18:00.0|ACTION=remove|SUBSYSTEM=pci|SEQNUM=9",  // a GPU
           "add@/devices/virtual/infiniband/rxe0|ACTION=add|DEVPATH=/devices/virtual/infiniband/"
           "rxe0|SUBSYSTEM=infiniband",
       })
    EXPECT_TRUE(is_device_event(message(counts))) << counts;
  for (const char* none : {
           "change@/devices/x|ACTION=change|SUBSYSTEM=net", "add@/devices/x|ACTION=add|SUBSYSTEM=block", "",
           "add@/devices/virtual/net/veth7|ACTION=add|DEVPATH=/devices/virtual/net/veth7|SUBSYSTEM=net",  // a
                                                                                                          // container's
       })
    EXPECT_FALSE(is_device_event(message(none))) << none;
}

// The values of a NIC in the page's golden file, beyond those that are read of every NIC.
void add_port(test::Tree& tree, const std::string& device, const std::string& netdev, const std::string& pci) {
  const std::string function = test::add_rdma_nic(tree, device, netdev, pci), net = function + "/net/" + netdev,
                    rdma = function + "/infiniband/" + device, port = rdma + "/ports/1";
  tree.file(rdma + "/fw_ver", "28.39.1002\n").file(rdma + "/hca_type", "MT4129\n");
  tree.file(rdma + "/board_id", "MT_0000000838\n").file(port + "/rate", "400 Gb/sec (4X NDR)\n");
  tree.file(port + "/gid_attrs/types/0", "RoCE v2\n");
  tree.file(port + "/counters/port_xmit_data", "250\n").file(port + "/counters/symbol_error", "0\n");
  tree.file(port + "/counters/VL15_dropped", "N/A (no PMA)\n").file(port + "/counters/vendor_thing", "5\n");
  tree.file(port + "/hw_counters/a \"new\" one", "8\n").file(port + "/hw_counters/lifespan", "10\n");
  tree.file(net + "/carrier_down_count", "2\n").file(net + "/mtu", "4200\n");
}

test::Tree& two_nics(test::Tree& tree) {
  add_pci(tree, {"pci0000:16", "0000:16:01.0", "0x8086", "0x352a", "0x060400"});
  add_port(tree, "mlx5_0", "eth2", "0000:17:00.0");
  add_port(tree, "mlx5_1", "eth3", "0000:17:00.1");
  return tree;
}

// The page without the values that differ from run to run, and without the checks, which have golden files of their
// own.
std::string stable(const std::string& page) {
  std::string out;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (line.find("fabric_check_status") != std::string::npos || line.starts_with("fabric_series ")) continue;
    bool varies = line.starts_with("fabric_collector_duration") || line.starts_with("fabric_snapshot_age");
    if (varies) line = line.substr(0, line.rfind(' ')) + " -";
    if (size_t version = line.find("version=\""); version != std::string::npos)
      line = line.substr(0, version) + "version=\"-\"} 1";
    out += line + "\n";
  }
  return out;
}

TEST(Page, EqualsTheGoldenFile) {
  test::Tree tree;
  test::expect_golden("exporter_metrics.txt",
                      stable(RunningCollector(test::collector_options(two_nics(tree).path())).page()));
}

TEST(Collector, ALinkThatWentDownIsReadAnewAndItsCountersGoOn) {
  test::SlowNics nics;
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
  nics.tree.file(port + "rate", "400 Gb/sec (4X NDR)\n");
  nics.statistics->set("eth2", "rx_discards_phy", 5);
  RunningCollector running(test::collector_options(nics));
  const std::string up = "fabric_port_up", at = "{device=\"mlx5_0\",port=\"1\"}",
                    other = "{device=\"mlx5_1\",port=\"1\"}", rate = "fabric_port_rate_bytes_per_second" + at;
  EXPECT_EQ(running.value(rate), 50e9);
  nics.tree.file(port + "state", "1: DOWN\n").file(port + "phys_state", "3: Disabled\n");
  nics.tree.file(port + "rate", "40 Gb/sec (4X QDR)\n").file("sys/class/net/eth2/carrier", "0\n");
  nics.tree.file("sys/class/net/eth2/speed", "-1\n");
  nics.statistics->set("eth2", "rx_discards_phy", 6);
  running.refresh();
  EXPECT_EQ(running.value(up + at), 0);
  EXPECT_EQ(running.value(up + other), 1);
  EXPECT_NE(running.value(rate), 50e9);
  EXPECT_EQ(running.value("fabric_rdma_cnp_sent_total" + at), 17);
  EXPECT_EQ(running.value("fabric_phy_discarded_packets_total{device=\"mlx5_0\",port=\"1\",direction=\"rx\"}"), 6);
}

// A scrape reads no GIDs. A new or removed address names the ports whose GIDs are read again.
TEST(Collector, GidsAreReadAnewWhereAnAddressChanged) {
  test::Tree tree;
  RunningCollector running(test::collector_options(two_nics(tree).path()));
  const auto gids = [&] {
    std::vector<std::string> out;
    for (const Port& port : running.node().ports)
      for (const Gid& gid : port.gids) out.push_back(gid.gid);
    return out;
  };
  const auto before = gids();
  ASSERT_EQ(before.size(), 2u);
  for (const char* device : {"mlx5_0", "mlx5_1"})
    tree.file(std::string("sys/class/infiniband/") + device + "/ports/1/gids/0",
              "0000:0000:0000:0000:0000:ffff:0a01:0001\n");
  running->reread({"eth9", "docker0"});
  running.refresh();
  EXPECT_EQ(gids(), before);
  running->reread({"eth9", "eth3"});
  running.settle();
  EXPECT_EQ(gids()[0], before[0]);
  EXPECT_NE(gids()[1], before[1]);
}

TEST(Collector, DevicesComeAndGo) {
  test::Tree tree;
  RunningCollector running(test::collector_options(two_nics(tree).path()));
  tree.remove("sys/class/infiniband/mlx5_1");
  running.rescan();
  running.settle([&] { return running.page().find("device=\"mlx5_1\"") == std::string::npos; });
  EXPECT_EQ(running.value("fabric_port_up{device=\"mlx5_0\",port=\"1\"}"), 1);
  add_port(tree, "mlx5_7", "eth7", "0000:18:00.0");
  running.rescan();
  running.settle([&] { return running.value("fabric_port_up{device=\"mlx5_7\",port=\"1\"}").has_value(); });
}

// A GPU is not an RDMA device: only the event shows that the topology, which is held for an hour, has changed.
TEST(Collector, AGpuThatComesOrGoesIsSeenAtOnce) {
  test::Tree tree;
  RunningCollector running(test::collector_options(two_nics(tree).path()));
  EXPECT_TRUE(running.node().topology.gpus.empty());
  const std::string gpu = add_pci(tree, {"pci0000:16/0000:16:01.0", "0000:1b:00.0", "0x10de", "0x2330", "0x030200"});
  running.refresh();
  EXPECT_TRUE(running.node().topology.gpus.empty()) << "a scrape reads no topology";
  running.rescan();
  running.settle([&] { return running.node().topology.gpus.size() == 1; });
  tree.remove("sys/bus/pci/devices/0000:1b:00.0").remove(gpu);
  running.rescan();
  running.settle([&] { return running.node().topology.gpus.empty(); });
}

// Unreadable is not absent: the devices that are known stay, and the page and the checks say so.
TEST(Collector, DevicesThatCannotBeListedAreKept) {
  test::Tree tree;
  RunningCollector running(test::collector_options(two_nics(tree).path()));
  const std::string listed = "fabric_collector_success{collector=\"devices\",device=\"\"}";
  EXPECT_FALSE(value(running.page(), listed));
  const std::string folder = tree.path() + "/sys/class/infiniband";
  ASSERT_EQ(::rename(folder.c_str(), (folder + ".away").c_str()), 0);
  tree.file("sys/class/infiniband", "");  // ENOTDIR
  running.rescan();
  EXPECT_EQ(value(running.page(), listed), 0);
  EXPECT_TRUE(test::has(running.page(), "device=\"mlx5_0\"")) << "its reader stays";
  EXPECT_TRUE(test::has(running.node().rdma_unread, "ENOTDIR"));
  tree.remove("sys/class/infiniband");
  ASSERT_EQ(::rename((folder + ".away").c_str(), folder.c_str()), 0);
  running.rescan();
  EXPECT_FALSE(value(running.page(), listed));
  EXPECT_EQ(running.node().rdma_unread, "");
}

TEST(Host, WhatTheAgentDidTwiceInOneSecondIsSeenTwice) {
  test::Tree tree;
  HostReader host(tree.path(), std::chrono::seconds(60));
  AgentState said;
  said.updated = "2026-01-01T00:00:00Z";
  said.ports["mlx5_0/1"]["pfc"].outcome = Outcome::differs;
  ASSERT_TRUE(state::save_agent_state(tree.path(), said).ok());
  EXPECT_TRUE(host.read(nullptr).agent_acted);
  EXPECT_FALSE(host.read(nullptr).agent_acted);
  said.ports["mlx5_0/1"]["pfc"].outcome = Outcome::applied;
  ASSERT_TRUE(state::save_agent_state(tree.path(), said).ok());
  EXPECT_TRUE(host.read(nullptr).agent_acted);
}

TEST(Collector, ModulesAreShownAsLongAsTheyAreOfLate) {
  test::Tree tree;
  Transceiver module;
  module.temperature.value = 41.5;
  two_nics(tree)
      .file("proc/uptime", "1040.00 1.00\n")
      .file(state::kOpticsFile, state::optics_text({{{"eth2", module}}, 60, 0, 0}, 1000));
  RunningCollector running(test::collector_options(tree.path()));
  std::string page = running.page();
  EXPECT_EQ(value(page, "fabric_module_temperature_celsius{device=\"mlx5_0\",port=\"1\"}"), 41.5);
  EXPECT_FALSE(test::has(page, "fabric_module_info{device=\"mlx5_1\""));
  ASSERT_TRUE(value(page, "fabric_module_readings_age_seconds"));
  EXPECT_GE(*value(page, "fabric_module_readings_age_seconds"), 40);
  tree.file("proc/uptime", "9000.00 1.00\n");
  running.refresh();
  page = running.page();
  EXPECT_FALSE(test::has(page, "fabric_module_")) << "fabric-agentd is gone";
}

// The two NICs of mlx5's lag in sysfs: one RDMA device, whose netdev is the bond of two functions' netdevs.
test::Tree& bonded(test::Tree& tree) {
  tree.remove("sys/class/infiniband/mlx5_1");
  tree.file("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "bond0\n");
  return tree.file("sys/class/net/bond0/ifindex", "9\n")
      .file("sys/class/net/bond0/carrier", "1\n")
      .file("sys/class/net/bond0/bonding/slaves", "eth2 eth3\n");
}

Transceiver module_with_light(double watts) {
  Transceiver out;
  out.temperature.value = 41.5;
  out.rx_power_limits = {3e-3, 1e-4, 2e-3, 2e-4};
  for (unsigned number : {1u, 2u}) {
    ModuleLane& lane = out.lanes.emplace_back();
    lane.number = number;
    lane.rx_power.value = lane.tx_power.value = 1e-3;
  }
  out.lanes[1].rx_power.value = watts;
  return out;
}

TEST(Collector, OfABondEachMemberIsShownAndJudged) {
  test::Tree tree;
  bonded(two_nics(tree)).file("proc/uptime", "1040.00 1.00\n");
  tree.file(
      state::kOpticsFile,
      state::optics_text({{{"eth2", module_with_light(1e-3)}, {"eth3", module_with_light(5e-5)}}, 60, 0, 0}, 1000));
  RunningCollector running(test::collector_options(tree.path()));
  Policy policy;
  policy.published = test::kEverything;
  const std::string page = render_page(running->snapshot(), {.policy = &policy, .no_policy = {}, .http = {}}, false);
  const auto at = [](const std::string& name, const std::string& port, const std::string& more = "") {
    return name + "{device=\"mlx5_0\",port=\"" + port + "\"" + more + "}";
  };
  EXPECT_EQ(value(page, at("fabric_module_rx_power_watts", "1@eth2", ",lane=\"2\"")), 1e-3);
  EXPECT_EQ(value(page, at("fabric_module_rx_power_watts", "1@eth3", ",lane=\"2\"")), 5e-5);
  EXPECT_EQ(value(page, at("fabric_module_rx_power_limit_watts", "1@eth3", ",limit=\"low_alarm\"")), 1e-4);
  EXPECT_FALSE(value(page, at("fabric_module_temperature_celsius", "1"))) << "a bond has no cage";
  EXPECT_EQ(value(page, "fabric_check_status{check=\"optics\",subject=\"mlx5_0/1@eth2\"}"), 0);
  EXPECT_EQ(value(page, "fabric_check_status{check=\"optics\",subject=\"mlx5_0/1@eth3\"}"), 2);
  EXPECT_EQ(value(page, at("fabric_port_carrier_downs_total", "1@eth3")), 2);
  EXPECT_EQ(value(page, at("fabric_rdma_cnp_sent_total", "1")), 17);
  EXPECT_FALSE(value(page, at("fabric_rdma_cnp_sent_total", "1@eth2"))) << "what RDMA counts is the bond's";
  EXPECT_EQ(value(page, "fabric_series_dropped{reason=\"duplicate\"}"), 0);
  tree.file("sys/class/net/eth3/carrier", "0\n");
  running.refresh();
  const std::string later = running.page();
  EXPECT_EQ(value(later, at("fabric_port_up", "1@eth3")), 0);
  EXPECT_EQ(value(later, at("fabric_port_up", "1@eth2")), 1);
  EXPECT_EQ(value(later, at("fabric_port_up", "1")), 1);
}

TEST(Collector, WhatAMembersNetdevCountsIsItsOwn) {
  test::SlowNics nics;
  bonded(nics.tree);
  nics.statistics->fail("bond0", EOPNOTSUPP);
  nics.statistics->set("eth2", "rx_prio3_pause", 5);
  nics.statistics->set("eth3", "rx_prio3_pause", 9);
  RunningCollector running(test::collector_options(nics));
  const std::string page = running.page(), what = "fabric_pfc_pause_frames_total{device=\"mlx5_0\",port=",
                    label = ",direction=\"rx\",priority=\"3\"}";
  EXPECT_EQ(value(page, what + "\"1@eth2\"" + label), 5);
  EXPECT_EQ(value(page, what + "\"1@eth3\"" + label), 9);
  EXPECT_FALSE(value(page, what + "\"1\"" + label));
  auto kernel = nics.open()(nics.tree.path());
  ASSERT_TRUE(kernel);
  const Node node = scan(*kernel, {.members = true});
  ASSERT_EQ(node.ports.size(), 3u);
  const auto& seen = node.ports[2].counters.ethtool;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), Counter{"rx_prio3_pause", 9}), 1) << "fabric-agentctl sees the same";
  EXPECT_TRUE(node.ports[2].counters.hw.empty());
}

size_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(Collector, HasAThreadForEachDeviceAndOneForTheHost) {
  test::Tree tree;
  for (int i = 0; i < 12; ++i)
    add_port(tree, "mlx5_" + std::to_string(i), "eth" + std::to_string(i),
             "0000:18:0" + std::to_string(i % 8) + (i < 8 ? ".0" : ".1"));
  const size_t before = threads();
  RunningCollector running(test::collector_options(tree.path()));
  running.refresh();
  ASSERT_EQ(running.node().ports.size(), 12u);
  EXPECT_EQ(threads(), before + 13);
}

TEST(Collector, AMachineWithoutRdmaHasAPageToo) {
  test::Tree tree;
  const std::string page = RunningCollector(test::collector_options(tree.folder("sys/class/net").path())).page();
  EXPECT_FALSE(test::has(page, "fabric_port_"));
  EXPECT_TRUE(value(page, "fabric_series"));
}

TEST(Corpus, NoCounterIsLost) {
  size_t machines = 0;
  test::each_rdma_machine([&](const std::filesystem::path& root) {
    auto policy = std::make_shared<Policy>();
    policy->published = test::kEverything;
    CollectorOptions options = test::collector_options(root);
    options.policy = policy;
    const std::string page = RunningCollector(std::move(options)).page();
    size_t counters = 0;
    for (const test::CapturedPort& port : test::captured_ports(root)) {
      const std::string at = "device=\"" + port.device + "\",port=\"" + port.number + "\"";
      for (const Counter& each : port.hw)
        EXPECT_EQ(value(page, "fabric_rdma_hw_counters_total{" + at + ",counter=\"" + each.name.str() + "\"}"),
                  static_cast<double>(each.value))
            << at << each.name;
      for (const Counter& each : port.pma)
        if (each.name == "port_xmit_data")
          EXPECT_EQ(value(page, "fabric_port_bytes_total{" + at + ",direction=\"tx\"}"),
                    static_cast<double>(each.value) * 4)
              << at;
      counters += port.hw.size() + port.pma.size();
    }
    EXPECT_GT(counters, 30u) << root;
    ++machines;
  });
  EXPECT_GE(machines, 2u);
}

// -- Readings of the host

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

TEST(HostCollectors, AFailedReadOfOneDeviceIsOfThisDevice) {
  Tree tree;
  add_nic(machine(tree), "mlx5_1", "eth3", "0000:18:00.0");
  for (const char* device : {"mlx5_0", "mlx5_1"}) {
    const std::string port = std::string("sys/class/infiniband/") + device + "/ports/1/";
    tree.file(port + "link_layer", "InfiniBand\n").file(port + "sm_lid", "0x1\n");
  }
  tree.folder("sys/class/infiniband/mlx5_0/ports/1/lid").file("sys/class/infiniband/mlx5_1/ports/1/lid", "0x7\n");
  RunningCollector running(test::collector_options(tree.path()));
  EXPECT_TRUE(running.node().network.lids.contains("mlx5_1/1"));
  EXPECT_TRUE(run(running, "network")->success) << run(running, "network")->error;
  const auto failed = [&](const std::string& device) {
    return std::ranges::count_if(running->snapshot().runs, [&](const CollectorRun& each) {
      return each.collector == "network" && each.device == device && !each.success && test::has(each.error, "LIDs: ");
    });
  };
  EXPECT_EQ(failed("mlx5_0"), 1);
  EXPECT_EQ(failed("mlx5_1"), 0);
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
  const std::string function = std::string("sys/bus/pci/devices/") + kNic;
  machine(tree)
      .file(function + "/current_link_speed", "32.0 GT/s PCIe\n")
      .file(function + "/current_link_width", "16\n");
  CollectorOptions options = test::collector_options(tree.path());
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
  options.stuck = std::chrono::milliseconds(500);
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

// -- Manners towards the machine and the scrapers

constexpr std::chrono::milliseconds kSampled = 10ms;

// The options for the two NICs; with `interval`, sampled as often.
CollectorOptions options_of(const test::SlowNics& nics, std::shared_ptr<const Policy> policy = nullptr,
                            std::chrono::milliseconds interval = 0ms) {
  CollectorOptions out = test::collector_options(nics);
  out.policy = std::move(policy);
  out.sampling = {interval, 1, {}};
  return out;
}

TEST(Manners, APageOfHalfTheMachineIsNotWhatLaterOnesAreComparedWith) {
  test::SlowNics nics;
  nics.statistics->hang("eth3");
  RunningCollector exporting(options_of(nics), false);
  PageCache cache;
  exporting.settle([&] { return nics.statistics->is_waiting("eth3") && !exporting.node().ports.empty(); });
  ASSERT_EQ(cache.page(*exporting, {})->find("device=\"mlx5_1\",port"), std::string::npos);
  nics.statistics->answer("eth3");
  for (int page = 0; page < 2; ++page) {
    exporting.settle();
    (void)cache.page(*exporting, {});
    exporting->refresh();
  }
  exporting.settle();
  const std::string page = *cache.page(*exporting, {});
  EXPECT_TRUE(test::has(page, "fabric_diagnosis{device=\"mlx5_0\""));
  EXPECT_TRUE(test::has(page, "fabric_diagnosis{device=\"mlx5_1\""));
}

// Records every opening and reading below a folder from now on, by inotify.
class Watched {
 public:
  explicit Watched(const fs::path& folder) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    watch(folder);
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_directory() && !entry.is_symlink()) watch(entry.path());
    touched();  // by this walk
  }
  std::vector<std::string> touched() {
    std::vector<std::string> names;
    alignas(inotify_event) std::array<char, 64 * (sizeof(inotify_event) + NAME_MAX + 1)> buffer;
    for (ssize_t size = 0; (size = ::read(fd_.get(), buffer.data(), buffer.size())) > 0;)
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        names.push_back(folders_[event->wd] + "/" + (event->len > 0 ? event->name : ""));
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    return names;
  }

 private:
  void watch(const fs::path& folder) {
    folders_[::inotify_add_watch(fd_.get(), folder.c_str(), IN_OPEN | IN_ACCESS)] = folder.string();
  }
  Fd fd_;
  std::map<int, std::string> folders_;
};

TEST(Manners, AnExcludedDeviceIsNeverOpened) {
  test::SlowNics nics;
  auto policy = std::make_shared<Policy>();
  policy->exclude = {"mlx5_1*"};
  const fs::path pci = fs::path(nics.tree.path()) / "sys/devices/pci0000:16/0000:16:01.0";
  Watched excluded(pci / "0000:17:00.1/infiniband/mlx5_1"), other(pci / "0000:17:00.0/infiniband/mlx5_0");
  RunningCollector exporting(options_of(nics, policy, kSampled));
  exporting.refresh();
  exporting.rescan();
  exporting.settle([&] { return exporting->snapshot().sampled.at(0).age.has_value(); });
  EXPECT_EQ(exporting->snapshot().sampled.size(), 1u);
  EXPECT_FALSE(other.touched().empty()) << "this sees what is opened";
  EXPECT_EQ(excluded.touched(), std::vector<std::string>{});
  EXPECT_EQ(nics.statistics->asked("eth3"), 0u);
  EXPECT_FALSE(test::has(exporting.page(), "mlx5_1"));
  EXPECT_TRUE(test::has(exporting.page(), "mlx5_0"));
}

TEST(Manners, ADeviceThatHangsStallsNeitherTheScrapeNorTheOthers) {
  test::SlowNics nics;
  CollectorOptions options = options_of(nics);
  options.stuck = 500ms;
  RunningCollector exporting(std::move(options));
  const std::string age0 = "fabric_snapshot_age_seconds{device=\"mlx5_0\"}",
                    age1 = "fabric_snapshot_age_seconds{device=\"mlx5_1\"}";
  const std::string cnp0 = "fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}",
                    cnp1 = "fabric_rdma_cnp_sent_total{device=\"mlx5_1\",port=\"1\"}";
  ASSERT_EQ(exporting.value(cnp0), 17);
  nics.statistics->hang("eth2");
  for (const char* device : {"mlx5_0", "mlx5_1"})
    nics.tree.file(std::string("sys/class/infiniband/") + device + "/ports/1/hw_counters/np_cnp_sent", "18\n");
  exporting.refresh();
  EXPECT_TRUE(nics.statistics->is_waiting("eth2"));
  EXPECT_EQ(exporting.value(cnp1), 18) << "the other is read";
  EXPECT_EQ(exporting.value(cnp0), 17) << "its last values are kept";
  EXPECT_EQ(exporting.value("fabric_collector_success{collector=\"reader\",device=\"mlx5_0\"}"), 0);
  exporting.refresh();
  const auto older = exporting.value(age0), younger = exporting.value(age1);
  ASSERT_TRUE(older && younger);
  EXPECT_GT(*older, *younger) << "and its age says how old that is";
  EXPECT_GE(*older, 0.1);
  nics.statistics->answer("eth2");
  exporting.settle([&] { return exporting.value(cnp0) == 18; });
  EXPECT_FALSE(exporting.value("fabric_collector_success{collector=\"reader\",device=\"mlx5_0\"}"));
}

// The system gives the program no more threads: the limit of the user nobody counts those of all its processes.
bool can_start_no_thread() {
  const rlimit none{0, 0};
  return ::setrlimit(RLIMIT_NPROC, &none) == 0 && ::setresuid(65534, 65534, 65534) == 0;
}

TEST(Manners, WithoutThreadsItSaysSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "requires root, to become another user";
  test::SlowNics nics;
  const auto without_threads = [&] {
    if (!can_start_no_thread()) return 2;
    Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    CollectorOptions options;
    options.root = nics.tree.path();
    const Collector collector(std::move(options), wake.get());
    const auto runs = collector.snapshot().runs;
    if (runs.size() != 1 || runs[0].collector != "readers" || runs[0].success ||
        runs[0].error.find("EAGAIN") == std::string::npos)
      return 3;
    return 0;
  };
  EXPECT_EXIT(::_exit(without_threads()), ::testing::ExitedWithCode(0), "");
}

TEST(Manners, AFifoAmongTheCountersIsNotWaitedFor) {
  test::SlowNics nics;
  const std::string folder = nics.tree.path() + "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/";
  ASSERT_EQ(::mkfifo((folder + "rp_cnp_handled").c_str(), 0644), 0);
  RunningCollector exporting(options_of(nics));
  exporting.refresh();
  EXPECT_EQ(exporting.value("fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}"), 17);
  EXPECT_FALSE(exporting.value("fabric_rdma_cnp_handled_total{device=\"mlx5_0\",port=\"1\"}"));
}

TEST(Manners, DescriptorsAreLeftForScrapers) {
  test::SlowNics nics;
  for (int i = 0; i < 400; ++i)
    nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/vendor_" + std::to_string(i), "1\n");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  RunningCollector exporting(options_of(nics));
  exporting.refresh();
  std::vector<Fd> connections;
  for (int i = 0; i < 40; ++i) connections.emplace_back(::eventfd(0, EFD_CLOEXEC));
  EXPECT_TRUE(connections.back()) << "a scraper can connect";
  EXPECT_EQ(exporting.value("fabric_collector_success{collector=\"rdma\",device=\"mlx5_0\"}"), 1)
      << "files without a descriptor are opened for each reading";
  EXPECT_EQ(exporting.value("fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}"), 17);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(Manners, WhatRefusesIsLeftAloneForAWhileAndIsAbsent) {
  for (int code : {EPERM, EIO, ETIMEDOUT}) {
    test::SlowNics nics;
    nics.statistics->fail("eth2", code);
    RunningCollector exporting(options_of(nics));
    const unsigned asked = nics.statistics->asked("eth2");
    EXPECT_EQ(asked, 1u);
    for (int i = 0; i < 3; ++i) exporting.refresh();
    EXPECT_EQ(nics.statistics->asked("eth2"), asked) << code;
    exporting.rescan();
    exporting.refresh();
    EXPECT_EQ(nics.statistics->asked("eth2"), asked) << code << ": nor is it read once a minute, with everything else";
    EXPECT_EQ(exporting.value("fabric_collector_success{collector=\"ethtool\",device=\"mlx5_0\"}"), 0);
    EXPECT_EQ(exporting.value("fabric_collector_success{collector=\"ethtool\",device=\"mlx5_1\"}"), 1);
    EXPECT_FALSE(exporting.value("fabric_phy_discarded_packets_total{device=\"mlx5_0\",port=\"1\",direction=\"rx\"}"))
        << "absent, not zero";
    EXPECT_EQ(exporting.value("fabric_phy_discarded_packets_total{device=\"mlx5_1\",port=\"1\",direction=\"rx\"}"), 0);
    EXPECT_EQ(exporting.value("fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}"), 17) << "the rest is read";
  }
}

TEST(Manners, APageHasNoMoreSeriesThanItMay) {
  test::SlowNics nics;
  for (int i = 0; i < 200; ++i)
    nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/vendor_" + std::to_string(i), "1\n");
  auto policy = std::make_shared<Policy>();
  policy->series_limit = 100;
  RunningCollector exporting(options_of(nics, policy));
  std::istringstream page(exporting.page());
  size_t series = 0;
  for (std::string line; std::getline(page, line);) series += line.front() == '#' ? 0 : 1;
  EXPECT_EQ(series, 100u) << "three of them say so";
  EXPECT_GT(exporting.value("fabric_series_dropped{reason=\"limit\"}").value_or(0), 100);
  EXPECT_TRUE(exporting.value("fabric_port_up{device=\"mlx5_1\",port=\"1\"}")) << "what matters most is there";
}

// Two scrapers at once: each sees the same peak, and the page is whole.
TEST(Manners, NoScraperTakesAPeakFromAnother) {
  test::SlowNics nics;
  auto policy = std::make_shared<Policy>();
  policy->published.groups = {SeriesGroup::bursts};
  RunningCollector exporting(options_of(nics, policy, kSampled));
  const std::string peak = "fabric_burst_events_per_second_peak{device=\"mlx5_0\",port=\"1\",event=\"rx_discards\"}";
  exporting.settle([&] {
    const auto bursts = exporting->snapshot().bursts;
    return bursts.size() == 2 && bursts[0].record.events[static_cast<size_t>(BurstEvent::rx_discards)].seen;
  });
  EXPECT_FALSE(exporting.value(peak));
  nics.statistics->set("eth2", "rx_discards_phy", 1'000'000);
  exporting.settle([&] { return exporting.value(peak).has_value(); });
  const auto first = exporting.value(peak), second = exporting.value(peak);
  EXPECT_GT(first.value_or(0), 0);
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace fabric::exporter
