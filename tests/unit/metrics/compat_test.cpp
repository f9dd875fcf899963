// SPDX-License-Identifier: Apache-2.0
// Other exporters' names: each is fed, by the right counter, in their unit; and what dashboards ask for is there.
#include "metrics/compat.h"

#include "metrics/text.h"
#include "node/scan.h"
#include "support/corpus.h"
#include "support/counters.h"
#include "support/series.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::list;

// A port with every counter that an exporter has a name for.
Node with_all(const std::vector<CompatName>& names) {
  Port port;
  port.rdma = "mlx5_0";
  port.netdev = "eth0";
  port.link_layer = LinkLayer::ethernet;
  port.state = 4, port.phys_state = 5, port.rate = 50e9;
  port.firmware = "28.41.1000", port.board_id = "MT_0000000838", port.hca_type = "MT4129";
  double value = 1000;
  for (const CompatName& each : names) {
    const std::string raw = test::on_priority_3(each.raw);
    auto& counters = list(port, each.source);
    if (std::ranges::find(counters, raw, &Counter::name) == counters.end())
      counters.push_back({raw, static_cast<uint64_t>(value += 1)});
  }
  Node node;
  node.ports = {port};
  return node;
}

uint64_t raw_value(const Node& node, CounterSource source, const std::string& name) {
  Port port = node.ports[0];
  for (const Counter& each : list(port, source))
    if (each.name == name) return each.value;
  return 0;
}

TEST(Compat, NodeExporterNamesAreFedInTheirUnits) {
  const Node node = with_all(node_exporter_names());
  FamilySet set;
  add_node_exporter(set, node);
  const auto all = test::series(set);
  EXPECT_EQ(node_exporter_names().size(), 51u);
  EXPECT_EQ(all.size(), 51u + 4u);
  EXPECT_EQ(set.dropped_duplicates(), 0u);
  const std::string port = ",device=mlx5_0,port=1";
  for (const CompatName& each : node_exporter_names()) {
    const double factor = each.raw.ends_with("_data") ? 4 : 1;
    EXPECT_EQ(all.at(std::string(each.name) + port),
              factor * static_cast<double>(raw_value(node, each.source, std::string(each.raw))))
        << each.name;
  }
  EXPECT_EQ(all.at("node_infiniband_state_id" + port), 4);
  EXPECT_EQ(all.at("node_infiniband_physical_state_id" + port), 5);
  EXPECT_EQ(all.at("node_infiniband_rate_bytes_per_second" + port), 50e9);
  EXPECT_EQ(
      all.at("node_infiniband_info,device=mlx5_0,board_id=MT_0000000838,firmware_version=28.41.1000,hca_type=MT4129"),
      1);
}

TEST(Compat, TheTrapsOfNodeExportersNames) {
  std::map<std::string_view, std::string_view> names;
  for (const CompatName& each : node_exporter_names())
    EXPECT_TRUE(names.emplace(each.raw, each.name).second) << each.raw;
  EXPECT_EQ(names["roce_slow_restart"], "node_infiniband_roce_slow_restart_used_total");
  EXPECT_EQ(names["roce_slow_restart_trans"], "node_infiniband_roce_slow_restart_total");
}

TEST(Compat, RdmaExporterNamesAreRawUnits) {
  const Node node = with_all(rdma_exporter_names());
  FamilySet set;
  add_rdma_exporter(set, node);
  const auto all = test::series(set);
  EXPECT_EQ(set.dropped_duplicates(), 1u) << "link_downed, which rxe has among the hardware counters as well";
  const auto at = [&](const std::string& key) { return all.contains(key) ? all.at(key) : -1; };
  const std::string netdev = ",device=mlx5_0,port=1,netdev=eth0";
  const auto raw = [&](CounterSource source, const char* name) {
    return static_cast<double>(raw_value(node, source, name));
  };
  EXPECT_EQ(at("rdma_port_rcv_data_total,device=mlx5_0,port=1"), raw(CounterSource::pma, "port_rcv_data")) << "words";
  EXPECT_EQ(at("rdma_vl15_dropped_total,device=mlx5_0,port=1"), raw(CounterSource::pma, "VL15_dropped"))
      << "small letters";
  EXPECT_EQ(at("rdma_roce_pfc_pause_duration_total" + netdev + ",direction=rx,priority=3"),
            raw(CounterSource::ethtool, "rx_prio3_pause_duration"))
      << "microseconds";
  EXPECT_EQ(at("rdma_netdev_prio_discards_total" + netdev + ",priority=3"),
            raw(CounterSource::ethtool, "rx_prio3_discards"));
  EXPECT_EQ(at("rdma_pcie_outbound_stalled_seconds_total" + netdev + ",op=wr"),
            raw(CounterSource::ethtool, "outbound_pci_stalled_wr_events"));
  EXPECT_EQ(at("rdma_netdev_vport_rdma_bytes_total" + netdev + ",direction=tx,traffic=unicast"),
            raw(CounterSource::ethtool, "tx_vport_rdma_unicast_bytes"));
  EXPECT_EQ(at("rdma_phy_rx_err_lane_total" + netdev + ",lane=2"), raw(CounterSource::ethtool, "rx_err_lane_2_phy"));
  EXPECT_EQ(at("rdma_netdev_pause_storm_events_total" + netdev + ",severity=error"),
            raw(CounterSource::ethtool, "tx_pause_storm_error_events"));
  EXPECT_EQ(at("rdma_optional_rx_bytes_total,device=mlx5_0,port=1"), raw(CounterSource::hw, "rdma_rx_bytes"));
  EXPECT_EQ(
      at("rdma_port_info" + netdev + ",link_layer=Ethernet,state=ACTIVE,phys_state=LINK_UP,pci_addr=,is_vf=false"), 1);
}

TEST(Compat, NothingIsPublishedThatTheReaderLeavesOut) {
  for (const CompatName& each : rdma_exporter_names()) {
    if (each.source != CounterSource::ethtool) continue;
    const std::string raw = test::on_priority_3(each.raw);
    EXPECT_TRUE(describe_counter(each.source, raw)) << raw;
  }
}

TEST(Compat, OptionalCountersAreToldByTheirState) {
  Node node = with_all({});
  node.ports[0].limits.optional_counters = {"cc_rx_ce_pkts", "cc_tx_cnp_pkts"};
  node.ports[0].qos.optional_counters = Names{{"cc_tx_cnp_pkts"}};
  FamilySet set;
  add_rdma_exporter(set, node);
  const auto all = test::series(set);
  EXPECT_EQ(all.at("rdma_optional_counter_enabled,device=mlx5_0,port=1,counter=cc_rx_ce_pkts"), 0);
  EXPECT_EQ(all.at("rdma_optional_counter_enabled,device=mlx5_0,port=1,counter=cc_tx_cnp_pkts"), 1);
}

TEST(Compat, OnlyWhatIsWanted) {
  const Node node = with_all(node_exporter_names());
  const auto names = [&](std::vector<Compat> wanted) {
    FamilySet set;
    add_compat(set, node, wanted);
    std::set<std::string> out;
    for (const prometheus::MetricFamily& family : set.families())
      out.insert(family.name.substr(0, family.name.find('_')));
    return out;
  };
  EXPECT_EQ(names({}), std::set<std::string>{});
  EXPECT_EQ(names({Compat::node_exporter}), std::set<std::string>{"node"});
  EXPECT_EQ(names({Compat::rdma_exporter, Compat::node_exporter}), (std::set<std::string>{"node", "rdma"}));
}

TEST(Compat, CountersOfQueuePairsAreThereOnlyWhereTheyAreWanted) {
  Node node = with_all({});
  node.ports[0].qp_statistics.emplace().kinds["RC"] = {{"out_of_buffer", 7}};
  node.ports[0].qp_statistics->dump = QpStatistics::Dump::ok;
  const auto names = [&](std::vector<Compat> wanted) {
    FamilySet set;
    add_compat(set, node, wanted);
    size_t count = 0;
    for (const auto& family : set.families()) count += family.name.starts_with("rdma_qp_") ? 1 : 0;
    return std::pair(count, set.families().size());
  };
  EXPECT_EQ(names({Compat::rdma_exporter}).first, 0u);
  EXPECT_EQ(names({Compat::rdma_exporter_qp}), (std::pair<size_t, size_t>(2, 2)));
  EXPECT_EQ(rdma_exporter_qp_names().size(), 13u);
  node.ports[0].qp_statistics.reset();
  EXPECT_EQ(names({Compat::rdma_exporter_qp}).second, 0u) << "nobody asked";
}

// procfs' own test of these files is the truth: port_rcv_data x 4, a counter that says "N/A (no PMA)" is not there.
TEST(CompatCorpus, NodeExportersFixture) {
  const auto corpus = test::corpus_directory();
  if (!corpus) GTEST_SKIP() << "no corpus: set FABRIC_CORPUS";
  const test::Unpacked tree(*corpus + "/ib-sysfs/procfs-fixtures-sys.tar.gz");
  auto kernel = open_kernel(tree.root());
  ASSERT_TRUE(kernel) << kernel.error().text();
  const Node node = scan(*kernel);
  FamilySet set;
  add_node_exporter(set, node);
  const auto all = test::series(set);
  const auto at = [&](const std::string& name, const std::string& device, const char* port) {
    const auto found = all.find("node_infiniband_" + name + ",device=" + device + ",port=" + port);
    return found == all.end() ? std::optional<double>() : found->second;
  };
  EXPECT_EQ(at("port_data_received_bytes_total", "mlx4_0", "1"), 8884894436.0);
  EXPECT_FALSE(at("port_packets_received_total", "mlx4_0", "9"));
  // Every counter file of the fixture that has a number and a name there is published, with that number.
  size_t files = 0;
  for (const Port& port : node.ports)
    for (const CompatName& each : node_exporter_names())
      for (const Counter& counter : each.source == CounterSource::hw ? port.counters.hw : port.counters.pma)
        if (counter.name == each.raw) {
          ++files;
          const double factor = each.raw.ends_with("_data") ? 4 : 1;
          EXPECT_EQ(all.at(std::string(each.name) + ",device=" + port.rdma + ",port=" + std::to_string(port.number)),
                    factor * static_cast<double>(counter.value))
              << each.name;
        }
  EXPECT_GT(files, 80u);
}

// Every metric about fabrics that the dashboard of rdma_exporter asks for has a name here.
TEST(CompatCorpus, TheDashboardFindsItsMetrics) {
  const auto corpus = test::corpus_directory();
  if (!corpus) GTEST_SKIP() << "no corpus: set FABRIC_CORPUS";
  const std::string page = test::slurp(*corpus + "/alerts-dashboards/yuuki_rdma_exporter_dashboard.json");
  std::set<std::string> names{"rdma_port_info", "rdma_optional_counter_enabled"};
  for (const CompatName& each : rdma_exporter_names()) names.emplace(each.name);
  for (const CompatName& each : rdma_exporter_qp_names()) names.emplace(each.name);
  size_t asked = 0;
  const std::regex metric("\\brdma_[a-z0-9_]+_(total|info|enabled|percent)\\b");
  for (std::sregex_iterator each(page.begin(), page.end(), metric), end; each != end; ++each) {
    const std::string name = each->str();
    ++asked;
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_GT(asked, 40u);
}

}  // namespace
}  // namespace fabric
