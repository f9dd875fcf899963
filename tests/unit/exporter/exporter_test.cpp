// SPDX-License-Identifier: Apache-2.0
// The exporter from a tree to its page.
#include "exporter/collect/host.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
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

using test::RunningCollector;
using test::value;

TEST(Options, TakesWhatTheManualSays) {
  auto options =
      parse_options({"--listen", "127.0.0.1:1", "--listen=[::]:2", "--root", "/x", "--config=/y", "--print"});
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->listen, (std::vector<std::string>{"127.0.0.1:1", "[::]:2"}));
  EXPECT_EQ(options->root, "/x");
  EXPECT_EQ(options->config, "/y");
  EXPECT_TRUE(options->print);
  EXPECT_TRUE(parse_options({})->listen.empty());
}

TEST(Options, NamesWhatIsWrong) {
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
  Options options;
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
  Options options;
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
  Options options;
  options.root = tree.path();
  const auto valid = configure(options, state.path());
  ASSERT_TRUE(valid.ok()) << valid.error().text();
  EXPECT_EQ(valid->no_policy, "");
  for (const char* text : {"mode = \"aud", "mode = \"audit\"\nexclud = 1\n", "", "[exporter]\nmax_age = \"7s\"\n"}) {
    tree.file(kFile, text);
    const auto last = configure(options, state.path());
    ASSERT_TRUE(last.ok()) << last.error().text();
    EXPECT_TRUE(test::has(last->no_policy, "fabric-agent.toml:1:") ||
                test::has(last->no_policy, "fabric-agent.toml:2:"))
        << last->no_policy;
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

// What the page's golden file shows of a NIC, beyond what is read of every one.
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

// The page without what differs from run to run, and without the checks, which have golden files of their own.
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

// Of GIDs, a scrape reads none; an address that comes or goes tells whose are others now.
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

// A GPU is no RDMA device: only the event tells that the topology, which is held for an hour, is another one.
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
  said.ports["mlx5_0/1"]["pfc"].outcome = "differs";
  ASSERT_TRUE(state::save_agent_state(tree.path(), said).ok());
  EXPECT_TRUE(host.read(nullptr).agent_acted);
  EXPECT_FALSE(host.read(nullptr).agent_acted);
  said.ports["mlx5_0/1"]["pfc"].outcome = "applied";
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

// What mlx5's lag makes of two NICs in sysfs: one RDMA device, whose netdev is the bond of two functions' netdevs.
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

}  // namespace
}  // namespace fabric::exporter
