// SPDX-License-Identifier: Apache-2.0
// The exporter from a tree to its page.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/parse.h"
#include "exporter/collect/collector.h"
#include "exporter/collect/host_reader.h"
#include "exporter/http/page.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
#include "scan/scan.h"
#include "store/optics_state.h"
#include "store/state.h"
#include "support/series.h"
#include "support/slow_nics.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::exporter {
namespace {

namespace fs = std::filesystem;

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

TEST(Setup, ServesNoCaptureThatIsCutOff) {
  test::Tree tree;
  tree.file("fabric-agent/answers.txt", "fabric-agent capture 1\nend\n");
  Options options;
  options.root = tree.path();
  EXPECT_TRUE(configure(options).ok());
  tree.file("fabric-agent/answers.txt", "fabric-agent capture 1\n");
  const auto cut = configure(options);
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().text().find("answers.txt:1: the end of the file is missing"), std::string::npos)
      << cut.error().text();
}

TEST(Uevents, OnlyDevicesThatComeAndGoCount) {
  auto message = [](std::string text) {
    for (char& c : text) c = c == '|' ? '\0' : c;
    return text;
  };
  EXPECT_TRUE(is_device_event(message("add@/devices/x|ACTION=add|DEVPATH=/devices/x|SUBSYSTEM=infiniband|SEQNUM=1")));
  EXPECT_TRUE(is_device_event(message("remove@/devices/x|ACTION=remove|SUBSYSTEM=net")));
  EXPECT_FALSE(is_device_event(message("change@/devices/x|ACTION=change|SUBSYSTEM=net")));
  EXPECT_FALSE(is_device_event(message("add@/devices/x|ACTION=add|SUBSYSTEM=block")));
  EXPECT_FALSE(is_device_event(""));
  EXPECT_TRUE(is_device_event(
      message("remove@/devices/pci0000:17/0000:17:01.0/0000:18:00.0|ACTION=remove|SUBSYSTEM=pci|SEQNUM=9")))
      << "a GPU";
  EXPECT_FALSE(is_device_event(
      message("add@/devices/virtual/net/veth7|ACTION=add|DEVPATH=/devices/virtual/net/veth7|SUBSYSTEM=net")))
      << "a container's";
  EXPECT_TRUE(
      is_device_event(message("add@/devices/virtual/infiniband/rxe0|ACTION=add|DEVPATH=/devices/virtual/infiniband/"
                              "rxe0|SUBSYSTEM=infiniband")));
}

// Waits until everything has been read `version`s after now.
class Running {
 public:
  using Open = std::function<Result<Kernel>(const std::string&)>;
  explicit Running(const std::string& root, std::shared_ptr<const Policy> policy = nullptr, Open open = open_kernel)
      : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        collector_(options(root, std::move(policy), std::move(open)), wake_.get()) {
    settle([&] { return collector_.complete() && !collector_.busy(); });
  }
  void refresh() {
    collector_.refresh();
    settle([&] { return !collector_.busy(); });
  }
  void rescan() {
    collector_.rescan();
    settle([&] { return !collector_.busy(); });
  }
  template <class Condition>
  void settle(Condition&& done) {
    auto end = Clock::now() + std::chrono::seconds(20);
    while (!done() && Clock::now() < end) {
      pollfd waiting{wake_.get(), POLLIN, 0};
      ::poll(&waiting, 1, 20);
    }
    ASSERT_TRUE(done());
  }
  Collector& collector() { return collector_; }
  std::string page() {
    std::string out = render_page(collector_.snapshot(), {}, false);
    return out;
  }

 private:
  static CollectorOptions options(const std::string& root, std::shared_ptr<const Policy> policy, Open open) {
    CollectorOptions out;
    out.root = root;
    out.open = std::move(open);
    out.policy = std::move(policy);
    out.stuck = std::chrono::seconds(30);  // a slow machine is not a stuck device
    return out;
  }
  Fd wake_;
  Collector collector_;
};

// One value by its series, or nothing.
std::optional<double> value(const std::string& page, const std::string& series) {
  size_t at = page.find("\n" + series + " ");
  if (at == std::string::npos) return std::nullopt;
  return parse_double(page.substr(at + series.size() + 2, page.find('\n', at + 1) - at - series.size() - 2));
}

void add_port(test::Tree& tree, const std::string& device, const std::string& netdev, const std::string& pci) {
  std::string function = add_pci(tree, {"pci0000:16/0000:16:01.0", pci});
  std::string port = function + "/infiniband/" + device + "/ports/1";
  tree.link("sys/class/infiniband/" + device, "../../devices/pci0000:16/0000:16:01.0/" + pci + "/infiniband/" + device);
  tree.link(function + "/infiniband/" + device + "/device", "../../../" + pci);
  tree.file(function + "/infiniband/" + device + "/fw_ver", "28.39.1002\n");
  tree.file(function + "/infiniband/" + device + "/hca_type", "MT4129\n");
  tree.file(function + "/infiniband/" + device + "/board_id", "MT_0000000838\n");
  tree.link(function + "/driver", "../../../../bus/pci/drivers/mlx5_core").folder("sys/bus/pci/drivers/mlx5_core");
  tree.file(port + "/state", "4: ACTIVE\n").file(port + "/phys_state", "5: LinkUp\n");
  tree.file(port + "/link_layer", "Ethernet\n").file(port + "/rate", "400 Gb/sec (4X NDR)\n");
  tree.file(port + "/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  tree.file(port + "/gid_attrs/types/0", "RoCE v2\n").file(port + "/gid_attrs/ndevs/0", netdev + "\n");
  tree.file(port + "/counters/port_xmit_data", "250\n").file(port + "/counters/symbol_error", "0\n");
  tree.file(port + "/counters/VL15_dropped", "N/A (no PMA)\n").file(port + "/counters/vendor_thing", "5\n");
  tree.file(port + "/hw_counters/np_cnp_sent", "17\n").file(port + "/hw_counters/out_of_sequence", "3\n");
  tree.file(port + "/hw_counters/a \"new\" one", "8\n").file(port + "/hw_counters/lifespan", "10\n");
  std::string net = function + "/net/" + netdev;
  tree.link("sys/class/net/" + netdev, "../../devices/pci0000:16/0000:16:01.0/" + pci + "/net/" + netdev);
  tree.link(net + "/device", "../../../" + pci);
  tree.file(net + "/carrier", "1\n").file(net + "/carrier_down_count", "2\n").file(net + "/speed", "400000\n");
  tree.file(net + "/mtu", "4200\n").file(net + "/ifindex", "7\n").file(net + "/dev_port", "0\n");
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
  std::string page = stable(Running(two_nics(tree).path()).page());
  std::string golden = FABRIC_SOURCE_DIR "/tests/golden/exporter_metrics.txt";
  if (std::getenv("FABRIC_UPDATE_GOLDEN")) std::ofstream(golden) << page;
  std::ifstream in(golden);
  std::stringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(page, expected.str())
      << "where this is meant, run once with FABRIC_UPDATE_GOLDEN=1 and look at the difference";
}

TEST(Collector, ShowsWhatTheFilesSayNow) {
  test::Tree tree;
  Running running(two_nics(tree).path());
  std::string cnp = "fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}";
  EXPECT_EQ(value(running.page(), cnp), 17);
  tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "18\n");
  running.refresh();
  EXPECT_EQ(value(running.page(), cnp), 18);
}

TEST(Collector, ALinkThatWentDownIsReadAnew) {
  test::Tree tree;
  Running running(two_nics(tree).path());
  tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  tree.file("sys/class/infiniband/mlx5_0/ports/1/rate", "40 Gb/sec (4X QDR)\n");
  tree.file("sys/class/net/eth2/carrier", "0\n").file("sys/class/net/eth2/speed", "-1\n");
  running.refresh();
  EXPECT_EQ(value(running.page(), "fabric_port_up{device=\"mlx5_0\",port=\"1\"}"), 0);
  EXPECT_EQ(value(running.page(), "fabric_port_up{device=\"mlx5_1\",port=\"1\"}"), 1);
  EXPECT_NE(value(running.page(), "fabric_port_rate_bytes_per_second{device=\"mlx5_0\",port=\"1\"}"), 50e9);
}

// Of GIDs, a scrape reads none; an address that comes or goes tells whose are others now.
TEST(Collector, GidsAreReadAnewWhereAnAddressChanged) {
  test::Tree tree;
  Running running(two_nics(tree).path());
  const auto gids = [&] {
    std::vector<std::string> out;
    for (const Port& port : running.collector().snapshot().node.ports)
      for (const Gid& gid : port.gids) out.push_back(gid.gid);
    return out;
  };
  const auto before = gids();
  ASSERT_EQ(before.size(), 2u);
  for (const char* device : {"mlx5_0", "mlx5_1"})
    tree.file(std::string("sys/class/infiniband/") + device + "/ports/1/gids/0",
              "0000:0000:0000:0000:0000:ffff:0a01:0001\n");
  running.collector().reread({"eth9", "docker0"});
  running.refresh();
  EXPECT_EQ(gids(), before);
  running.collector().reread({"eth9", "eth3"});
  running.settle([&] { return !running.collector().busy(); });
  EXPECT_EQ(gids()[0], before[0]);
  EXPECT_NE(gids()[1], before[1]);
}

TEST(Collector, DevicesComeAndGo) {
  test::Tree tree;
  Running running(two_nics(tree).path());
  tree.remove("sys/class/infiniband/mlx5_1");
  running.rescan();
  running.settle([&] { return running.page().find("device=\"mlx5_1\"") == std::string::npos; });
  EXPECT_EQ(value(running.page(), "fabric_port_up{device=\"mlx5_0\",port=\"1\"}"), 1);
  add_port(tree, "mlx5_7", "eth7", "0000:18:00.0");
  running.rescan();
  running.settle([&] { return value(running.page(), "fabric_port_up{device=\"mlx5_7\",port=\"1\"}").has_value(); });
}

// A GPU is no RDMA device: only the event tells that the topology, which is held for an hour, is another one.
TEST(Collector, AGpuThatComesOrGoesIsSeenAtOnce) {
  test::Tree tree;
  Running running(two_nics(tree).path());
  EXPECT_TRUE(running.collector().snapshot().node.topology.gpus.empty());
  const std::string gpu = add_pci(tree, {"pci0000:16/0000:16:01.0", "0000:1b:00.0", "0x10de", "0x2330", "0x030200"});
  running.refresh();
  EXPECT_TRUE(running.collector().snapshot().node.topology.gpus.empty()) << "a scrape reads no topology";
  running.rescan();
  running.settle([&] { return running.collector().snapshot().node.topology.gpus.size() == 1; });
  tree.remove("sys/bus/pci/devices/0000:1b:00.0").remove(gpu);
  running.rescan();
  running.settle([&] { return running.collector().snapshot().node.topology.gpus.empty(); });
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
      .file(state::kOpticsFile, state::optics_toml({{{"eth2", module}}, 60, 0, 0}, 1000));
  Running running(tree.path());
  std::string page = running.page();
  EXPECT_EQ(value(page, "fabric_module_temperature_celsius{device=\"mlx5_0\",port=\"1\"}"), 41.5);
  EXPECT_EQ(page.find("fabric_module_info{device=\"mlx5_1\""), std::string::npos);
  ASSERT_TRUE(value(page, "fabric_module_readings_age_seconds"));
  EXPECT_GE(*value(page, "fabric_module_readings_age_seconds"), 40);
  tree.file("proc/uptime", "9000.00 1.00\n");
  running.refresh();
  page = running.page();
  EXPECT_EQ(page.find("fabric_module_"), std::string::npos) << "fabric-agentd is gone";
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
      state::optics_toml({{{"eth2", module_with_light(1e-3)}, {"eth3", module_with_light(5e-5)}}, 60, 0, 0}, 1000));
  Running running(tree.path());
  Policy policy;
  policy.compat = {Compat::node_exporter, Compat::rdma_exporter};
  policy.published = test::kEverything;
  const std::string page =
      render_page(running.collector().snapshot(), {.policy = &policy, .no_policy = {}, .http = {}}, false);
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
  Running running(nics.tree.path(), nullptr, nics.open());
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

TEST(Collector, AnExcludedDeviceIsNotThere) {
  test::Tree tree;
  auto policy = std::make_shared<Policy>();
  policy->exclude = {"mlx5_1*"};
  std::string page = Running(two_nics(tree).path(), policy).page();
  EXPECT_EQ(page.find("device=\"mlx5_1\""), std::string::npos);
  EXPECT_NE(page.find("device=\"mlx5_0\""), std::string::npos);
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
  Running running(tree.path());
  running.refresh();
  ASSERT_EQ(running.collector().snapshot().node.ports.size(), 12u);
  EXPECT_EQ(threads(), before + 13);
}

TEST(Collector, AMachineWithoutRdmaHasAPageToo) {
  test::Tree tree;
  std::string page = Running(tree.folder("sys/class/net").path()).page();
  EXPECT_EQ(page.find("fabric_port_"), std::string::npos);
  EXPECT_TRUE(value(page, "fabric_series"));
}

// Truth: every counter file that holds a number, found without our code.
size_t expect_every_counter(const fs::path& root, const std::string& page) {
  size_t files = 0;
  for (const auto& device : fs::directory_iterator(root / "sys/class/infiniband"))
    for (const auto& port : fs::directory_iterator(device.path() / "ports"))
      for (const char* folder : {"counters", "hw_counters"}) {
        if (!fs::is_directory(port.path() / folder)) continue;
        for (const auto& file : fs::directory_iterator(port.path() / folder)) {
          std::ifstream in(file.path());
          std::string text, name = file.path().filename();
          std::getline(in, text);
          if (name == "lifespan" || text.empty() || text.find_first_not_of("0123456789") != std::string::npos) continue;
          ++files;
          std::string at =
              "device=\"" + device.path().filename().string() + "\",port=\"" + port.path().filename().string() + "\"";
          double number = std::strtod(text.c_str(), nullptr);
          if (std::string_view(folder) == "hw_counters") {
            EXPECT_EQ(value(page, "fabric_rdma_hw_counters_total{" + at + ",counter=\"" + name + "\"}"), number)
                << at << name;
          } else if (name == "port_xmit_data") {
            EXPECT_EQ(value(page, "fabric_port_bytes_total{" + at + ",direction=\"tx\"}"), number * 4) << at;
          }
        }
      }
  return files;
}

TEST(Corpus, NoCounterIsLost) {
  const char* given = std::getenv("FABRIC_CORPUS");
  fs::path corpus = given ? fs::path(given) : fs::path(FABRIC_SOURCE_DIR) / "../shared/corpus";
  if (!fs::is_directory(corpus / "ib-sysfs")) GTEST_SKIP() << "no captures at " << corpus;
  size_t machines = 0;
  for (const auto& archive : fs::directory_iterator(corpus / "ib-sysfs")) {
    if (!archive.path().string().ends_with(".tar.gz")) continue;
    test::Tree tree;
    ASSERT_EQ(std::system(("tar xzf '" + archive.path().string() + "' -C '" + tree.path() + "'").c_str()), 0);
    std::set<fs::path> roots;
    for (const auto& entry : fs::recursive_directory_iterator(tree.path()))
      if (entry.path().string().ends_with("/sys/class/infiniband"))
        roots.insert(entry.path().parent_path().parent_path().parent_path());
    for (const fs::path& root : roots) {
      Policy policy;
      policy.published = test::kEverything;
      PageContext context;
      context.policy = &policy;
      Running running(root);
      const std::string page = render_page(running.collector().snapshot(), context, false);
      EXPECT_GT(expect_every_counter(root, page), 30u) << root;
      ++machines;
    }
  }
  EXPECT_GE(machines, 2u);
}

}  // namespace
}  // namespace fabric::exporter
