// SPDX-License-Identifier: Apache-2.0
// Driver statistics that are asked for by name: from the driver's names to the page, within the limit, over a reload.
#include <signal.h>

#include "exporter/exporter.h"
#include "kernel/capture/tape.h"
#include "metrics/counters.h"
#include "support/corpus.h"
#include "support/counters.h"
#include "support/ports.h"
#include "support/running_collector.h"
#include "support/series.h"
#include "support/tcp.h"

namespace fabric {
namespace {

using Globs = std::vector<std::string>;
using test::has;
using test::Series;

const std::string kRaw = "fabric_ethtool_counters,device=mlx5_0,port=1,counter=";

Node machine(std::vector<Counter> counters) {
  Node node;
  Port& port = node.ports.emplace_back();
  port.rdma = "mlx5_0";
  port.netdev = "eth2";
  port.kernel_driver = "mlx5_core";
  port.counters.ethtool = std::move(counters);
  return node;
}

Series asked_of(const Node& node, const Globs& globs) {
  return test::series_of([&](FamilySet& set) { add_ethtool(set, node, globs); });
}

TEST(RawEthtool, WhatAGlobMatchesIsShownAsItIs) {
  const Node node = machine({{"rx_out_of_buffer", 5},
                             {"rx0_xdp_drop", 6},
                             {"rx_xdp_drop", 7},
                             {"rx_prio3_pause_duration", 2'000'000},
                             {"module_unplug", 1}});
  EXPECT_EQ(asked_of(node, {}).size(), 0u);
  EXPECT_EQ(asked_of(node, {"nothing", "xdp_drop"}).size(), 0u) << "a glob is for the whole name";
  EXPECT_EQ(asked_of(node, {"*_xdp_drop", "rx_out_of_buffer"}),
            (Series{{kRaw + "rx_out_of_buffer", 5}, {kRaw + "rx0_xdp_drop", 6}, {kRaw + "rx_xdp_drop", 7}}));
  EXPECT_EQ(asked_of(node, {"rx_prio[0-3]_*"}), (Series{{kRaw + "rx_prio3_pause_duration", 2e6}}))
      << "the driver's unit";
  EXPECT_EQ(asked_of(node, {"*", "module_*", "module_unplug"}).size(), 5u) << "two globs for one name are one series";
}

TEST(RawEthtool, EachPortHasItsOwnAndSoHasABondsMember) {
  Node node = machine({{"rx_xdp_drop", 1}});
  node.ports.push_back(node.ports[0]);
  test::make_member(node.ports[1]);
  node.ports[1].netdev = "eth3";
  EXPECT_EQ(asked_of(node, {"*"}),
            (Series{{kRaw + "rx_xdp_drop", 1},
                    {"fabric_ethtool_counters,device=mlx5_0,port=1@eth3,counter=rx_xdp_drop", 1}}));
}

TEST(RawEthtool, TwoStatisticsOfOneNameAreAddedUp) {
  EXPECT_EQ(asked_of(machine({{"a", 3}, {"b", 1}, {"a", 4}}), {"*"}), (Series{{kRaw + "a", 7}, {kRaw + "b", 1}}));
}

// Some are levels, and the driver does not say which.
TEST(RawEthtool, TheTypeIsUntyped) {
  FamilySet set;
  add_ethtool(set, machine({{"rx xdp \"drop\"", 1}}), Globs{"*"});
  const std::string text = serialize(set);
  EXPECT_TRUE(has(text, "# TYPE fabric_ethtool_counters untyped\n")) << text;
  EXPECT_TRUE(has(text, "\nfabric_ethtool_counters{device=\"mlx5_0\",port=\"1\",counter=\"rx xdp \\\"drop\\\"\"} 1\n"))
      << text;
}

TEST(RawEthtool, EveryNameOfTheCapturesCanBeAskedFor) {
  const auto folder = test::corpus_directory();
  if (!folder) GTEST_SKIP() << "no corpus";
  for (const auto& [name, globs, shown] : std::vector<std::tuple<std::string, Globs, size_t>>{
           {"netdev_mlx5_xdp_k515.txt", {"rx_out_of_buffer", "*_xdp_drop", "module_*"}, 3},
           {"rocm_ionic_PF_enp132s0.txt", {"*xdp_drop"}, 17}}) {
    const auto counters = test::printed_by_ethtool(test::slurp(*folder + "/ethtool/" + name));
    ASSERT_GT(counters.size(), 50u) << name;
    EXPECT_EQ(asked_of(machine(counters), globs).size(), shown) << name;
    const auto all = asked_of(machine(counters), {"*"});
    EXPECT_EQ(all.size(), counters.size()) << name;
    for (const Counter& counter : counters)
      EXPECT_EQ(all.at(kRaw + std::string(counter.name)), static_cast<double>(counter.value)) << counter.name;
  }
}

TEST(RawEthtool, TheManPageNamesIt) {
  for (const char* page : {"agent/exporter/fabric-exporter.8", "agent/agentd/fabric-agent.toml.5"})
    EXPECT_TRUE(has(test::of_source(page), "fabric_ethtool_counters")) << page;
}

}  // namespace
}  // namespace fabric

namespace fabric::exporter {
namespace {

// The page loses these statistics first if there is no room for all.
TEST(RawEthtool, IsTheFirstToGoWhereTheLimitIsReached) {
  Snapshot snapshot;
  for (int i = 0; i < 10; ++i) {
    Port& port = snapshot.node.ports.emplace_back();
    port.rdma = "mlx5_" + std::to_string(i);
    port.kernel_driver = "mlx5_core";
    port.link_layer = LinkLayer::ethernet;
    port.state = 4;
    port.counters.hw = {{"np_cnp_sent", 1}, {"unheard_of", 1}};
    for (int queue = 0; queue < 100; ++queue)
      port.counters.ethtool.push_back({"rx" + std::to_string(queue) + "_packets", 1});
    test::resolve(port);
  }
  Policy policy;
  PageContext context;
  context.policy = &policy;
  const auto lines = [&](const std::string& start) {
    return test::count_of(render_page(snapshot, context, false), "\n" + start);
  };
  const size_t others = lines("fabric_") - 5;  // fabric_series and its like come after
  ASSERT_EQ(lines("fabric_ethtool_counters{"), 0u);
  policy.ethtool = {"rx*_packets"};
  policy.series_limit = static_cast<unsigned>(others + 50);
  EXPECT_EQ(lines("fabric_rdma_hw_counters_total{"), 10u);
  const size_t shown = lines("fabric_ethtool_counters{");
  EXPECT_GE(shown, 40u);
  EXPECT_LE(shown, 60u);
  EXPECT_EQ(lines("fabric_series_dropped{reason=\"limit\"} " + std::to_string(1000 - shown)), 1u)
      << "the number of omitted series is published";
  EXPECT_EQ(lines("fabric_series_dropped{reason=\"duplicate\"} 0"), 1u);
}

// The page of a machine, once everything of it has been read.
std::string page_of(test::SlowNics& nics, const Globs& globs) {
  auto policy = std::make_shared<Policy>();
  policy->ethtool = globs;
  CollectorOptions options = test::collector_options(nics);
  options.policy = policy;
  return test::RunningCollector(std::move(options)).page();
}

TEST(RawEthtool, ThePageHasWhatTheConfigurationAsksFor) {
  test::SlowNics nics;
  nics.statistics->set("eth2", "rx0_xdp_drop", 17);
  nics.statistics->set("eth3", "tx_prio3_pause", 4);
  const std::string unknown = "\nfabric_ethtool_counters{device=\"mlx5_0\",port=\"1\",counter=\"rx0_xdp_drop\"} 17\n";
  const std::string known = "\nfabric_ethtool_counters{device=\"mlx5_1\",port=\"1\",counter=\"tx_prio3_pause\"} 4\n";
  const std::string common =
      "\nfabric_pfc_pause_frames_total{device=\"mlx5_1\",port=\"1\",direction=\"tx\",priority=\"3\"} 4\n";
  const std::string without = page_of(nics, {}), with = page_of(nics, {"*_xdp_drop", "tx_prio?_pause"});
  EXPECT_FALSE(has(without, "fabric_ethtool_counters"));
  EXPECT_FALSE(has(without, "rx0_xdp_drop"));
  EXPECT_TRUE(has(with, unknown)) << with;
  EXPECT_TRUE(has(with, known));
  EXPECT_TRUE(has(with, common)) << "beside it, not instead";
  EXPECT_TRUE(has(without, common));
  EXPECT_FALSE(has(with, "counter=\"rx_discards_phy\"")) << "not requested";
}

// Signals are for the program alone: blocked before any other test has a thread.
const bool kBlocked = [] {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGHUP, SIGTERM}) ::sigaddset(&signals, signal);
  return ::pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0;
}();

// The program on a captured machine, in a thread.
class Program {
 public:
  Program(const std::string& root, const std::string& config) : address_(free_address()) {
    EXPECT_TRUE(kBlocked);
    ExporterOptions options;
    options.root = root;
    options.config = config;
    options.listen = {address_};
    thread_ = std::thread([options] { EXPECT_EQ(serve(options), 0); });
  }
  ~Program() {
    ::kill(::getpid(), SIGTERM);
    thread_.join();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] std::string page() const {
    const Fd fd = test::connect_to(address_);
    if (!fd) return {};
    test::send_text(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    return test::receive(fd);
  }
  // Does a page come to have the text (or to have it no more)?
  [[nodiscard]] bool becomes(const std::string& text, bool wanted) const {
    for (int i = 0; i < 1'000; ++i) {
      const std::string now = page();
      if (now.find("fabric_port_up{") != std::string::npos && (now.find(text) != std::string::npos) == wanted)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

 private:
  // The address of an unused TCP port.
  static std::string free_address() {
    const auto listener = listen_on(*parse_listen_address("127.0.0.1:0"));
    return "127.0.0.1:" + std::to_string(test::port_of(*listener));
  }
  std::string address_;
  std::thread thread_;
};

TEST(RawEthtool, AReloadTakesEffect) {
  test::SlowNics nics;
  const Answer said = std::vector<std::string>{"rx_packets=5", "rx0_xdp_drop=17", "rx_prio3_pause=3"};
  nics.tree.file(kAnswersFile, answers_text({{{Ask::statistics, "eth2"}, {{Sample::now, said}}}}));
  nics.tree.file("a.toml", "mode = \"audit\"\n");
  const std::string series = "fabric_ethtool_counters{device=\"mlx5_0\",port=\"1\",counter=\"rx0_xdp_drop\"} 17\n",
                    config = nics.tree.path() + "/a.toml";
  const Program program(nics.tree.path(), config);
  ASSERT_TRUE(program.becomes("fabric_pfc_pause_frames_total{device=\"mlx5_0\"", true)) << program.page();
  EXPECT_FALSE(has(program.page(), "fabric_ethtool_counters"));
  const auto reload = [&](const std::string& text) {
    nics.tree.file("a.toml", "mode = \"audit\"\n" + text);
    ::kill(::getpid(), SIGHUP);
  };
  reload("[exporter]\nethtool = [\"*_xdp_*\"]\n");
  EXPECT_TRUE(program.becomes(series, true)) << program.page();
  reload("[exporter]\nethtool = 3\n");
  EXPECT_TRUE(program.becomes("\nfabric_exporter_config_valid 0\n", true));
  EXPECT_TRUE(program.becomes(series, true)) << "the configuration before is kept";
  reload("");
  EXPECT_TRUE(program.becomes("fabric_ethtool_counters", false));
}

}  // namespace
}  // namespace fabric::exporter
