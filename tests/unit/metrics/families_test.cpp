// SPDX-License-Identifier: Apache-2.0
// The metric families: their series, labels and limits, of a machine and of its neighbors.
#include "metrics/families.h"

#include "exporter/lldp/neighbor_table.h"
#include "metrics/cabling.h"
#include "metrics/counters.h"
#include "metrics/health.h"
#include "node/neighbor_state.h"
#include "support/counters.h"
#include "support/series.h"
#include "support/test.h"
#include "support/tree.h"
#include "wire/lldp.h"

namespace fabric {
namespace {

using test::Series;
using test::series;
using test::series_of;

Port port(const std::string& device) {
  Port port;
  port.rdma = device;
  port.number = 1;
  return port;
}

Series of_link(const Port& one) {
  return series_of([&](FamilySet& set) { add_link(set, one); });
}
Series of_counters(Port one) {
  test::resolve(one);
  return series_of([&](FamilySet& set) { add_counters(set, one); });
}
Series of_report(const Report& report, const Published& published = {}) {
  return series_of([&](FamilySet& set) { add_report(set, report, published); });
}
// The value of the series; absent where there is none.
std::optional<double> value(const Series& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

// bnxt_re (hw_counters.c): Linux 6.1 and Broadcom's own driver have no rx_roce_only_bytes; of a virtual function it
// stays 0; of a physical one rx_bytes counts the same, with congestion notifications, as the device last wrote it into
// memory.
TEST(Counters, RdmaTrafficOfBroadcomIsThereWithEveryDriverAndOnce) {
  const auto traffic = [](std::vector<Counter> hw) {
    Port one = port("bnxt_re0");
    one.kernel_driver = "bnxt_en";
    one.counters.hw = std::move(hw);
    return of_counters(one);
  };
  const std::string rx = "fabric_rdma_bytes_total,device=bnxt_re0,port=1,direction=rx",
                    tx = "fabric_rdma_packets_total,device=bnxt_re0,port=1,direction=tx";
  EXPECT_EQ(traffic({{"rx_bytes", 1000}, {"tx_pkts", 3}}), (Series{{rx, 1000}, {tx, 3}}));
  EXPECT_EQ(traffic({{"rx_bytes", 1000}, {"tx_pkts", 3}, {"tx_roce_only_pkts", 0}, {"rx_roce_only_bytes", 0}}),
            (Series{{rx, 1000}, {tx, 3}}));
  EXPECT_EQ(traffic({{"rx_bytes", 1000}, {"tx_pkts", 3}, {"tx_roce_only_pkts", 2}, {"rx_roce_only_bytes", 900}}),
            (Series{{rx, 900}, {tx, 2}}));
}

constexpr Metric kA{"a_total", "A."}, kB{"b_total", "B."};

TEST(FamilySet, KeepsTheFirstOfTwoEqualSeriesAndCounts) {
  FamilySet set;
  set.add(kA, {{"device", "x"}}, 1);
  set.add(kB, {{"device", "x"}}, 2);
  set.add(kA, {{"device", "x"}}, 3);
  set.add(kA, {{"device", "y"}}, 4);
  EXPECT_EQ(series(set), (Series{{"a_total,device=x", 1}, {"a_total,device=y", 4}, {"b_total,device=x", 2}}));
  EXPECT_EQ(set.dropped_duplicates(), 1u);
  ASSERT_EQ(set.list().size(), 2u) << "a family stays in one piece";
  EXPECT_EQ(set.series(), 3u);
}

TEST(FamilySet, FindsEachOfManyAgain) {
  constexpr int kMany = 10'000;
  FamilySet set;
  for (int i = 0; i < kMany; ++i) {
    set.add(kA, {{"i", std::to_string(i)}}, i);
    set.accumulate(kB, {}, {{"i", std::to_string(i % 100)}}, 1);
  }
  for (int i = 0; i < kMany; ++i) set.add(kA, {{"i", std::to_string(i)}}, -1);
  EXPECT_EQ(set.dropped_duplicates(), static_cast<size_t>(kMany));
  const auto all = series(set);
  EXPECT_EQ(all.size(), kMany + 100u);
  EXPECT_EQ(all.at("a_total,i=9999"), 9999);
  EXPECT_EQ(all.at("b_total,i=42"), 100);
  set.add(kA, {{"j", "42"}}, 1);
  EXPECT_EQ(set.dropped_duplicates(), static_cast<size_t>(kMany)) << "a name of its own";
}

TEST(FamilySet, AddsWhatIsMissing) {
  FamilySet set;
  set.add(kA, {{"device", "a"}}, 1);
  set.add_missing(kA, {{"device", "a"}}, 2);
  set.add_missing(kA, {{"device", "b"}}, 3);
  set.add_missing(kB, {{"device", "a"}}, 4);
  EXPECT_EQ(series(set), (Series{{"a_total,device=a", 1}, {"a_total,device=b", 3}, {"b_total,device=a", 4}}));
  EXPECT_EQ(set.dropped_duplicates(), 0u);
}

TEST(FamilySet, LabelsAreTheSameWhereverTheyWereWritten) {
  FamilySet set;
  const Labels port{{"device", "a\"b\\c\n"}, {"port", "1"}};
  set.add(kA, port, {{"priority", "3"}, {}}, 1);
  set.accumulate(kA, {{"device", "a\"b\\c\n"}, {"port", "1"}, {"priority", "3"}}, {}, 2);
  set.add(kA, {}, {{"device", "a\"b\\c\n"}, {"port", "1"}}, 4);
  EXPECT_EQ(series(set),
            (Series{{"a_total,device=a\"b\\c\n,port=1,priority=3", 3}, {"a_total,device=a\"b\\c\n,port=1", 4}}));
  set.add(kA, {{"device", "\xff"}}, 1);
  set.add(kA, {{"device", "\xfe"}}, 1);
  EXPECT_EQ(set.dropped_duplicates(), 1u) << "what a page cannot tell apart is one series";
}

TEST(FamilySet, DropsWhatComesBeyondTheLimitAndCounts) {
  FamilySet set(2);
  for (int i = 0; i < 5; ++i) set.add(kA, {{"i", std::to_string(i)}}, i);
  set.add(kB, {}, 1);
  EXPECT_EQ(series(set).size(), 2u);
  EXPECT_EQ(set.dropped_by_limit(), 4u);
  EXPECT_EQ(set.list().size(), 1u) << "no family without a series";
  set.raise_limit(1);
  set.add(kB, {}, 1);
  EXPECT_EQ(set.list().size(), 2u);
}

TEST(FamilySet, AHistogramIsThereWholeOrNotAtAll) {
  constexpr Metric spread{"spread", "S.", MetricKind::histogram}, level{"level", "L.", MetricKind::gauge};
  constexpr std::array bounds{0.1, 1.0};
  FamilySet set(9);
  set.add(spread, {{{"i", "1"}}, bounds, {1, 2, 3}, 4});
  set.add(spread, {{{"i", "1"}}, bounds, {0, 0, 0}, 0});
  EXPECT_EQ(set.series(), 5u);
  EXPECT_EQ(set.dropped_duplicates(), 5u);
  EXPECT_EQ(set.dropped_by_limit(), 0u) << "what is there already needs no room";
  set.add(spread, {{{"i", "2"}}, bounds, {1, 2, 3}, 4});
  EXPECT_EQ(set.dropped_by_limit(), 5u) << "four of its five series would fit";
  set.add(level, {}, 1);
  EXPECT_EQ(set.series(), 6u);
  const auto families = set.families();
  ASSERT_EQ(families.size(), 2u);
  ASSERT_EQ(families[0].metric.size(), 1u);
  const auto& buckets = families[0].metric[0].histogram.bucket;
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].cumulative_count, 1u);
  EXPECT_EQ(buckets[1].cumulative_count, 3u);
  EXPECT_EQ(buckets[2].cumulative_count, 6u);
}

TEST(Families, WhatWasNotReadHasNoSeries) {
  const Series all = of_link(port("mlx5_0"));
  EXPECT_EQ(all.size(), 1u) << "only the identity";
  EXPECT_TRUE(all.begin()->first.starts_with("fabric_port_info,device=mlx5_0,port=1,"));
}

// 65535 is no time: the firmware chooses one.
TEST(Families, TheTimeOfThePfcWatchdogIsThereIfItIsKnown) {
  const std::string watchdog = "fabric_pfc_watchdog_seconds,device=mlx5_0,port=1";
  Port one = port("mlx5_0");
  for (const auto& [milliseconds, seconds] :
       {std::pair(0U, std::optional(0.0)), {8000U, 8.0}, {65535U, std::nullopt}}) {
    one.qos.pfc_watchdog = milliseconds;
    EXPECT_EQ(value(of_link(one), watchdog), seconds) << milliseconds;
  }
}

TEST(Families, PortIsUpOnlyWhenActiveAndWithCarrier) {
  auto up = [](std::optional<unsigned> state, std::optional<bool> carrier) {
    Port p = port("mlx5_0");
    p.state = state;
    p.carrier = carrier;
    return value(of_link(p), "fabric_port_up,device=mlx5_0,port=1");
  };
  EXPECT_EQ(up(4, true), 1);
  EXPECT_EQ(up(4, std::nullopt), 1) << "InfiniBand has no carrier";
  EXPECT_EQ(up(4, false), 0);
  EXPECT_EQ(up(1, true), 0);
  EXPECT_FALSE(up(std::nullopt, true));
}

TEST(Families, InfoCarriesWhatMayChangeAndNothingElseDoes) {
  Port p = port("mlx5_0");
  p.netdev = "ens1f0np0";
  p.kernel_driver = "mlx5_core";
  p.firmware = "28.39.1002";
  p.pci = "0000:17:00.0";
  p.numa = 1;
  p.link_layer = LinkLayer::ethernet;
  p.state = 4;
  p.counters.hw = {{"np_cnp_sent", 1}};
  FamilySet set;
  add_link(set, p);
  test::resolve(p);
  add_counters(set, p);
  add_raw_counters(set, p, RawCounters::all);
  for (const auto& [key, value] : series(set)) {
    bool info = key.starts_with("fabric_port_info");
    for (const char* part : {"ens1f0np0", "mlx5_core", "28.39.1002", "0000:17:00.0", "numa=1", "link_layer=Ethernet"})
      EXPECT_EQ(key.find(part) != std::string::npos, info) << key << " " << part;
  }
}

TEST(Families, CountersGetBaseUnitsAndCommonNames) {
  Port p = port("mlx5_0");
  p.counters.pma = {{"port_xmit_data", 1000}, {"unheard_of", 9}};
  p.counters.hw = {
      {"local_ack_timeout_err", 5}, {"RNR received", 6}, {"out_of_sequence", 3}, {"out_of_seq_request", 4}};
  p.counters.ethtool = {{"rx_prio3_pause", 11},
                        {"rx_prio3_pause_duration", 1234567},
                        {"rx_vport_rdma_unicast_bytes", 100},
                        {"rx_vport_rdma_multicast_bytes", 20},
                        {"rx_steer_missed_packets", 1}};
  FamilySet set;
  test::resolve(p);
  add_counters(set, p);
  add_raw_counters(set, p, RawCounters::all);
  std::string at = ",device=mlx5_0,port=1";
  Series expected{
      {"fabric_port_bytes_total" + at + ",direction=tx", 4000},
      {"fabric_port_pma_total" + at + ",counter=unheard_of", 9},
      {"fabric_rdma_ack_timeouts_total" + at, 5},
      {"fabric_rdma_rnr_naks_received_total" + at, 6},
      {"fabric_rdma_out_of_sequence_packets_total" + at, 7},  // two names of one thing
      {"fabric_rdma_hw_counters_total" + at + ",counter=local_ack_timeout_err", 5},
      {"fabric_rdma_hw_counters_total" + at + ",counter=RNR received", 6},
      {"fabric_rdma_hw_counters_total" + at + ",counter=out_of_sequence", 3},
      {"fabric_rdma_hw_counters_total" + at + ",counter=out_of_seq_request", 4},
      {"fabric_pfc_pause_frames_total" + at + ",direction=rx,priority=3", 11},
      {"fabric_pfc_paused_seconds_total" + at + ",direction=rx,priority=3", 1.234567},
      {"fabric_rdma_bytes_total" + at + ",direction=rx", 120},
  };
  EXPECT_EQ(series(set), expected);
  EXPECT_EQ(set.dropped_duplicates(), 0u);
}

TEST(Families, SettingsOfTheAgent) {
  AgentState agent;
  agent.running = true;
  agent.mode = Mode::enforce;
  agent.ports["mlx5_0/1"]["pfc"] = {Outcome::in_sync, "", 2, "2026-01-01T00:00:00Z"};
  agent.ports["mlx5_0/1"]["mtu"] = {Outcome::pending, "", 0, ""};
  SettingState& drifted = agent.ports["mlx5_0/1"]["pfc"];
  drifted.drifts = {{"process", 4}, {"link", 1}};
  drifted.last_drift = "2026-01-01T00:00:01Z";
  agent.ports["host"]["net.ipv4.tcp_ecn"] = {Outcome::applied, "", 1, ""};
  const auto shown = [&] { return series_of([&](FamilySet& set) { add_agent(set, agent); }); };
  const std::string at = ",device=mlx5_0,port=1,setting=", host = ",device=host,port=,setting=net.ipv4.tcp_ecn";
  Series all = shown();
  EXPECT_EQ(all.count("fabric_setting_in_sync" + at + "pfc"), 0U) << "the check's";
  EXPECT_EQ(all.count("fabric_setting_last_drift_timestamp_seconds" + at + "mtu"), 0U) << "never is no time";
  for (const auto& [name, expected] : Series{{"fabric_agent_up", 1},
                                             {"fabric_agent_enforcing", 1},
                                             {"fabric_agent_held", 0},
                                             {"fabric_setting_in_sync" + host, 1},
                                             {"fabric_setting_repairs_total" + at + "pfc", 2},
                                             {"fabric_setting_drifts_total" + at + "pfc,cause=process", 4},
                                             {"fabric_setting_drifts_total" + at + "pfc,cause=link", 1},
                                             {"fabric_setting_last_drift_timestamp_seconds" + at + "pfc", 1767225601}})
    EXPECT_EQ(value(all, name), expected) << name;
  agent.running = false;
  all = shown();
  EXPECT_EQ(value(all, "fabric_agent_enforcing"), 0);
  EXPECT_FALSE(value(all, "fabric_setting_in_sync" + host)) << "the word of an agent that is gone";
}

TEST(Families, ThePolicyOfTheAgentAndWhatItHasNotApplied) {
  AgentState agent;
  agent.running = true;
  agent.mode = Mode::enforce;
  agent.version = "1.0.0";
  agent.config = "0123456789abcdef";
  const auto set = [&](const char* port, const char* key, std::optional<Outcome> outcome, const char* reason) {
    agent.ports[port][key].outcome = outcome;
    agent.ports[port][key].reason = reason;
  };
  set("mlx5_0/1", "pfc", Outcome::pending, "idle_port");
  set("mlx5_1/1", "pfc", Outcome::pending, "idle_port");
  set("mlx5_1/1", "mtu", Outcome::pending, "maintenance");
  set("mlx5_1/1", "ets", Outcome::refused, "EINVAL");
  set("mlx5_1/1", "trust", Outcome::unsupported, "");
  set("mlx5_1/1", "fec", Outcome::in_sync, "");
  set("mlx5_1/1", "cnp_dscp", Outcome::unverified, "");
  set("host", "net.ipv4.tcp_ecn", Outcome::applied, "");
  set("host", "vm.x", std::nullopt, "");
  const auto shown = [&] {
    Series out = series_of([&](FamilySet& families) { add_agent(families, agent); });
    std::erase_if(out, [](const auto& each) {
      return !each.first.starts_with("fabric_policy_") && !each.first.starts_with("fabric_settings_not_applied");
    });
    return out;
  };
  const Series policy{{"fabric_policy_hash,hash=0123456789abcdef", 1},
                      {"fabric_policy_info,mode=enforce,version=1.0.0", 1}};
  Series expected = policy;
  expected.insert({{"fabric_settings_not_applied,outcome=pending,reason=idle_port", 2},
                   {"fabric_settings_not_applied,outcome=pending,reason=maintenance", 1},
                   {"fabric_settings_not_applied,outcome=refused,reason=EINVAL", 1},
                   {"fabric_settings_not_applied,outcome=unsupported,reason=", 1}});
  EXPECT_EQ(shown(), expected);
  agent.mode = Mode::audit;
  EXPECT_EQ(shown(), (Series{{"fabric_policy_hash,hash=0123456789abcdef", 1},
                             {"fabric_policy_info,mode=audit,version=1.0.0", 1}}))
      << "audit mode leaves all of them";
  agent.running = false;
  EXPECT_EQ(shown(), Series{}) << "the word of an agent that is gone";
}

TEST(Families, ASuppressedCauseIsNoDiagnosis) {
  Node node;
  node.ports.emplace_back().rdma = "mlx5_0";
  Report report;
  for (const char* id : {"ecn-off", "port-state"}) {
    report.findings.push_back({id, node.ports[0].id(), Status::critical, "", "", "", ""});
    report.findings.back().culprit = Culprit::cable;
  }
  const auto diagnosed = [&] {
    std::string out;
    for (const auto& [series, value] : series_of([&](FamilySet& set) {
           add_diagnoses(set, node, {{node.ports[0].id(), {}}}, report);
         }))
      out += series.substr(series.find(",rule=")) + "\n";
    return out;
  };
  EXPECT_EQ(diagnosed(), ",rule=ecn-off\n,rule=port-state\n");
  report.findings[1].suppressed = true;
  EXPECT_EQ(diagnosed(), ",rule=ecn-off\n");
  report.findings[0].suppressed = true;
  EXPECT_EQ(diagnosed(), ",rule=none\n");
}

TEST(Families, SuppressionsShowTheirEndAndTheirRuleHasNoEvents) {
  RulePolicy rules;
  rules.by_id = {{"nofile", {.enabled = false, .reason = "TICKET-1", .until = 1'801'440'000}},
                 {"link-flap", {.enabled = false}},
                 {"loss", {.enabled = true}},
                 {"pfc", {.severity = Status::critical}}};
  Report report;
  report.findings = {{"nofile", "host", Status::warning, "", "", "", ""}, {"rate", "host", Status::ok, "", "", "", ""}};
  report.findings[0].suppressed = true;
  EXPECT_EQ(series_of([&](FamilySet& set) { add_suppressed(set, report, rules); }),
            (Series{{"fabric_check_suppressed,check=nofile,subject=host", 1},
                    {"fabric_suppression_end_timestamp_seconds,rule=nofile,reason=TICKET-1", 1'801'440'000},
                    {"fabric_suppression_end_timestamp_seconds,rule=link-flap,reason=",
                     std::numeric_limits<double>::infinity()}}));
  Health health;
  health.now = 1000;
  health.wall = 1'800'000'000;
  health.rules["link_flap"]["mlx5_0/1"].onsets = 1;
  const auto events = [&] { return series_of([&](FamilySet& set) { add_events(set, health, rules); }); };
  EXPECT_EQ(events(), Series{}) << "alerts count events";
  rules.by_id.clear();
  EXPECT_EQ(events(), (Series{{"fabric_events_total,event=link_flap,device=mlx5_0,port=1", 1}}));
}

TEST(Families, ChecksShowTheirStatus) {
  Report report;
  report.findings = {{"pfc", "mlx5_0/1", Status::critical, "", "", "", ""},
                     {"mtu", "mlx5_0/1", Status::ok, "", "", "", ""},
                     {"ets", "mlx5_0/1", Status::unknown, "", "", "", ""},
                     {"agent", "host", Status::ok, "", "", "", ""}};
  const std::string in_sync = "fabric_setting_in_sync,device=mlx5_0,port=1,setting=";
  EXPECT_EQ(of_report(report), (Series{{"fabric_check_status,check=agent", 0},
                                       {"fabric_check_status,check=pfc,subject=mlx5_0/1", 2},
                                       {"fabric_check_status,check=mtu", 0},
                                       {"fabric_check_status,check=ets,subject=mlx5_0/1", 3},
                                       {in_sync + "pfc", 0},
                                       {in_sync + "mtu", 1}}));
}

TEST(Families, SubjectsThatAreOkHaveASeriesOfTheirOwnOnRequest) {
  Report report;
  for (const char* subject : {"mlx5_0/1", "mlx5_1/1"})
    report.findings.push_back({"rate", subject, Status::ok, "", "", "", ""});
  report.findings.push_back({"rate", "mlx5_2/1", Status::warning, "", "", "", ""});
  EXPECT_EQ(of_report(report),
            (Series{{"fabric_check_status,check=rate", 0}, {"fabric_check_status,check=rate,subject=mlx5_2/1", 1}}));
  EXPECT_EQ(of_report(report, {RawCounters::unmapped, {SeriesGroup::checks}}),
            (Series{{"fabric_check_status,check=rate,subject=mlx5_0/1", 0},
                    {"fabric_check_status,check=rate,subject=mlx5_1/1", 0},
                    {"fabric_check_status,check=rate,subject=mlx5_2/1", 1}}));
}

TEST(Families, WhatIsNotJudgedHasItsOwnSeries) {
  Report report;
  report.findings.push_back({"other-namespaces", "host", Status::ok, "3 of 8 RDMA devices", "", "", ""});
  report.findings.back().unjudged = true;
  EXPECT_EQ(of_report(report), (Series{{"fabric_check_status,check=other-namespaces", 0},
                                       {"fabric_check_unjudged,check=other-namespaces,subject=host", 1}}));

  Node node;
  node.topology.nics.resize(2);
  node.topology.nics[1].elsewhere = {"mlx5_6", "mlx5_core.sf.4"};
  Port& port = node.ports.emplace_back();
  port.rdma = "mlx5_0";
  port.kernel_driver = "mlx5_core";
  std::map<std::string, Signals> watched;
  Signals& signals = watched["mlx5_0/1"];
  signals.rx_bytes = signals.tx_bytes = 128.0 * (1 << 30);
  signals.requests = 512;  // of 64 MiB at most
  EXPECT_EQ(value(series_of([&](FamilySet& set) { add_node(set, node, {}); }), "fabric_rdma_devices_elsewhere"), 2);
  const auto ratio = [&] {
    return value(series_of([&](FamilySet& set) { add_observable(set, node, watched, {}); }),
                 "fabric_rdma_observable_ratio,device=mlx5_0,port=1");
  };
  EXPECT_EQ(ratio(), 0.25);
  signals.requests = 1'000'000;
  EXPECT_EQ(ratio(), 1);
  signals.rx_bytes = 1e6;
  EXPECT_FALSE(ratio()) << "too little";
}

// mlx5_0 with ens0 in 0000:00:00.0, and so on.
Node three_ports() {
  Node node;
  for (const std::string end : {"0", "1", "2"}) {
    Port& one = node.ports.emplace_back(port("mlx5_" + end));
    one.netdev = "ens" + end;
    one.pci = "0000:0" + end + ":00.0";
    one.link_layer = LinkLayer::ethernet;
  }
  return node;
}

TEST(Families, NeighborsByLldpElseByThePlan) {
  Node node = three_ports();
  Policy policy;
  for (const auto& [chassis, system, end] : {std::tuple("70:06:92:00:00:09", "zz", "p1"),
                                             std::tuple("70:06:92:00:00:01", "leaf1.example.com", "Ethernet7")}) {
    Neighbor& heard = node.neighbors.heard.emplace_back();
    heard.netdev = "ens0", heard.chassis_id = chassis, heard.system_name = system, heard.port_id = end;
  }
  policy.cabling.cables = {{"ens0", {"leaf1", "Eth7"}, ""}, {"ens1", {"leaf2", "Eth9"}, ""}};
  const auto shown = [&](const Policy* with) {
    Series all = series_of([&](FamilySet& set) { add_neighbors(set, node, with); });
    std::erase_if(all, [](const auto& each) { return each.first.starts_with("fabric_rail_info"); });
    return all;
  };
  const std::string at = "fabric_neighbor_info,device=mlx5_";
  EXPECT_EQ(shown(&policy), (Series{{at + "0,port=1,switch=leaf1,switch_port=Ethernet7", 1},
                                    {at + "1,port=1,switch=leaf2,switch_port=Eth9", 1}}));
  EXPECT_EQ(shown(nullptr), (Series{{at + "0,port=1,switch=leaf1.example.com,switch_port=Ethernet7", 1}}))
      << "without a plan; one series, though two are heard";
  policy.cabling.cables[0].peer.device = "zz";
  EXPECT_EQ(shown(&policy).begin()->first, at + "0,port=1,switch=zz,switch_port=p1") << "the one in the plan";
  node.neighbors.heard[0].system_name.clear();
  node.neighbors.heard[0].chassis_id = "02:00:00:00:00:01";
  EXPECT_EQ(shown(nullptr).begin()->first, at + "0,port=1,switch=leaf1.example.com,switch_port=Ethernet7")
      << "not an agent without a name";
}

// Each plane of a device has a cable of its own, which LLDP hears on the netdev of its port.
TEST(Families, EachPlaneHasItsOwnNeighbor) {
  Node node = three_ports();
  for (unsigned number = 1; number <= 3; ++number) {
    Port& plane = node.ports.at(number - 1);
    plane.rdma = "mlx5_0", plane.number = number, plane.pci = "0000:00:00.0", plane.role = PortRole::plane;
    Neighbor& heard = node.neighbors.heard.emplace_back();
    heard.netdev = plane.netdev, heard.chassis_id = "70:06:92:00:00:0" + std::to_string(number);
    heard.system_name = "leaf-p" + std::to_string(number), heard.port_id = "Ethernet7";
  }
  const std::map<std::string, Rail> rails{{"0000:00:00.0", {5, std::nullopt}}};
  const std::string port = ",device=mlx5_0,port=";
  EXPECT_EQ(series_of([&](FamilySet& set) { add_neighbors(set, node, nullptr, rails); }),
            (Series{{"fabric_neighbor_info" + port + "1,switch=leaf-p1,switch_port=Ethernet7", 1},
                    {"fabric_neighbor_info" + port + "2,switch=leaf-p2,switch_port=Ethernet7", 1},
                    {"fabric_neighbor_info" + port + "3,switch=leaf-p3,switch_port=Ethernet7", 1},
                    {"fabric_rail_info" + port + "1,rail=5,plane=,leaf=leaf-p1", 1},
                    {"fabric_rail_info" + port + "2,rail=5,plane=,leaf=leaf-p2", 1},
                    {"fabric_rail_info" + port + "3,rail=5,plane=,leaf=leaf-p3", 1}}));
}

TEST(Families, AFindingAboutAGpuHasItsPorts) {
  Report report;
  Finding& finding = report.findings.emplace_back();
  finding.id = "planes", finding.subject = "GPU2 and GPU3", finding.status = Status::warning;
  finding.ports = {"mlx5_1/3", "mlx5_1/4"};
  EXPECT_EQ(of_report(report),
            (Series{{"fabric_check_status,check=planes,subject=GPU2 and GPU3", 1},
                    {"fabric_check_port_info,device=mlx5_1,port=3,check=planes,subject=GPU2 and GPU3", 1},
                    {"fabric_check_port_info,device=mlx5_1,port=4,check=planes,subject=GPU2 and GPU3", 1}}));
}

TEST(Families, RailsByThePolicyElseByTheGpu) {
  const Node node = three_ports();
  Policy policy;
  policy.cabling.cables = {{"ens0", {"leaf-r7-p1", "Eth7"}, ""}, {"ens2", {"storage1", "Eth1"}, ""}};
  const std::map<std::string, Rail> rails{{"0000:00:00.0", {0, std::nullopt}}, {"0000:01:00.0", {1, 1}}};
  const auto shown = [&] {
    std::string out;
    for (const auto& [name, one] : series_of([&](FamilySet& set) { add_neighbors(set, node, &policy, rails); }))
      if (const std::string_view each = name; each.starts_with("fabric_rail_info,device=mlx5_"))
        out.append(each.substr(29)).append("\n");
    return out;
  };
  EXPECT_EQ(shown(),
            "0,port=1,rail=0,plane=,leaf=leaf-r7-p1\n"
            "1,port=1,rail=1,plane=1,leaf=\n"
            "2,port=1,rail=,plane=,leaf=storage1\n");
  policy.cabling.rails = {{"leaf-r7*", "7"}, {"leaf*", "9"}, {"ens1", "east"}};
  policy.cabling.planes = {{"*-p1", "A"}, {"mlx5_*", "B"}};
  EXPECT_EQ(shown(),
            "0,port=1,rail=7,plane=B,leaf=leaf-r7-p1\n"
            "1,port=1,rail=east,plane=B,leaf=\n"
            "2,port=1,rail=,plane=B,leaf=storage1\n");
}

TEST(Families, EqualSettingsHaveEqualHashes) {
  const auto hash = [](const Qos& qos) {
    Port one = port("mlx5_0");
    one.qos = qos;
    return value(of_link(one), "fabric_settings_hash,device=mlx5_0,port=1");
  };
  Qos one, other;
  EXPECT_FALSE(hash({})) << "nothing was read";
  one.mtu = other.mtu = 9000;
  EXPECT_EQ(hash(one), hash(other));
  EXPECT_EQ(hash(one), std::floor(hash(one).value()));
  EXPECT_LT(hash(one), 9007199254740992.0) << "a double holds it exactly";
  other.pfc = PrioSet{0x08};
  EXPECT_NE(hash(one), hash(other));
}

TEST(Families, ByDefaultOnlyCountersWithoutACommonNameAreRaw) {
  Port p = port("mlx5_0");
  p.counters.hw = {{"np_cnp_sent", 1}, {"unheard_of", 2}};
  test::resolve(p);
  const Series raw = series_of([&](FamilySet& set) { add_raw_counters(set, p, RawCounters::unmapped); });
  EXPECT_EQ(raw, (Series{{"fabric_rdma_hw_counters_total,device=mlx5_0,port=1,counter=unheard_of", 2}}));
}

TEST(Families, WhatBroadcomRepeatsInPortCountersHasNoSeries) {
  Port p = port("bnxt_re0");
  p.kernel_driver = "bnxt_en";
  p.counters.pma = {{"symbol_error", 256}, {"port_rcv_errors", 3}, {"unheard_of", 2}};
  EXPECT_EQ(of_counters(p), Series{});
  test::resolve(p);
  const Series raw = series_of([&](FamilySet& set) { add_raw_counters(set, p, RawCounters::unmapped); });
  EXPECT_EQ(raw, (Series{{"fabric_port_pma_total,device=bnxt_re0,port=1,counter=unheard_of", 2}}));
}

TEST(Families, APriorityWithoutTrafficHasNoZeroes) {
  Port p = port("mlx5_0");
  p.counters.ethtool = {{"rx_prio0_bytes", 5},   {"tx_prio0_bytes", 0}, {"rx_prio0_discards", 0},
                        {"rx_prio1_bytes", 0},   {"tx_prio1_bytes", 0}, {"rx_prio1_discards", 0},
                        {"rx_prio2_bytes", 0},   {"tx_prio2_bytes", 0}, {"rx_prio2_discards", 4},
                        {"rx_prio3_discards", 0}};
  const std::string at = ",device=mlx5_0,port=1";
  EXPECT_EQ(of_counters(p), (Series{{"fabric_priority_bytes_total" + at + ",direction=rx,priority=0", 5},
                                    {"fabric_priority_bytes_total" + at + ",direction=tx,priority=0", 0},
                                    {"fabric_priority_discarded_packets_total" + at + ",priority=0", 0},
                                    {"fabric_priority_discarded_packets_total" + at + ",priority=2", 4},
                                    {"fabric_priority_discarded_packets_total" + at + ",priority=3", 0}}))
      << "priority 1 is idle, 2 has lost what it never received, of 3 the traffic is not counted";
}

TEST(Families, InfinibandsErrorsOfAnEthernetPortShowWhenThereAreAny) {
  Port p = port("mlx5_0");
  p.counters.pma = {{"symbol_error", 0}, {"link_downed", 2}, {"port_rcv_data", 0}};
  p.link_layer = LinkLayer::ethernet;
  const std::string at = ",device=mlx5_0,port=1";
  EXPECT_EQ(of_counters(p),
            (Series{{"fabric_port_link_downed_total" + at, 2}, {"fabric_port_bytes_total" + at + ",direction=rx", 0}}));
  p.link_layer = LinkLayer::infiniband;
  EXPECT_EQ(of_counters(p).size(), 3u);
}

TEST(Families, ALimitCostsTheRawCountersFirst) {
  Node node;
  for (int i = 0; i < 20; ++i) {
    Port p = port("mlx5_" + std::to_string(i));
    p.state = 4;
    p.counters.hw = {{"np_cnp_sent", 1}, {"unknown_a", 1}, {"unknown_b", 1}};
    node.ports.push_back(std::move(p));
  }
  FamilySet set(20 * 5);  // info, state, up, one named counter, and a third of the raw ones
  test::resolve(node);
  add_node(set, node, {}, test::kEverything);
  EXPECT_EQ(set.dropped_by_limit(), 40u);
  std::map<std::string_view, size_t> sizes;
  for (const auto& family : set.list()) sizes[family.metric.name] = family.series.size();
  EXPECT_EQ(sizes["fabric_port_up"], 20u);
  EXPECT_EQ(sizes["fabric_rdma_cnp_sent_total"], 20u);
  EXPECT_EQ(sizes["fabric_rdma_hw_counters_total"], 20u);
}

// -- Neighbors: their lifetime and their metrics; names of devices and ports

Neighbor neighbor(const std::string& system, const std::string& port, unsigned ttl = 120) {
  Neighbor out;
  out.source = state::kLldpSource;
  out.chassis_id = "00:00:00:00:00:" + system;
  out.system_name = "leaf" + system;
  out.port_id = port;
  out.ttl = ttl;
  return out;
}

TEST(NeighborTable, NewsAreWhatIsNewGoneOrSaysSomethingElse) {
  NeighborTable table;
  EXPECT_TRUE(table.listen({{7, "ens1"}}, 100));
  EXPECT_FALSE(table.listen({{7, "ens1"}}, 101));
  EXPECT_TRUE(table.hear(7, neighbor("01", "Ethernet1"), 110));
  EXPECT_FALSE(table.hear(7, neighbor("01", "Ethernet1"), 140));
  Neighbor other = neighbor("01", "Ethernet1");
  other.pfc = DcbxPfc{false, false, 8, PrioSet{8}};
  EXPECT_TRUE(table.hear(7, other, 170));
  EXPECT_FALSE(table.hear(8, neighbor("01", "Ethernet1"), 170)) << "not listened to";
  const Neighbors now = table.neighbors();
  ASSERT_EQ(now.heard.size(), 1u);
  EXPECT_EQ(now.heard[0].netdev, "ens1");
  EXPECT_EQ(now.heard[0].heard, 170);
  EXPECT_TRUE(now.heard[0].pfc);
  EXPECT_EQ(now.listening, (std::map<std::string, double>{{"ens1", 100}}));
}

TEST(NeighborTable, TimeToLive) {
  NeighborTable table;
  table.listen({{7, "ens1"}}, 0);
  EXPECT_FALSE(table.next_expiry());
  table.hear(7, neighbor("01", "Ethernet1", 120), 10);
  table.hear(7, neighbor("02", "Ethernet2", 20), 10);
  EXPECT_EQ(table.next_expiry(), 30);
  EXPECT_FALSE(table.expire(29.9));
  EXPECT_TRUE(table.expire(30));
  ASSERT_EQ(table.neighbors().heard.size(), 1u);
  EXPECT_EQ(table.neighbors().heard[0].port_id, "Ethernet1");
  EXPECT_FALSE(table.hear(7, neighbor("09", "Ethernet1", 0), 31)) << "who was not there does not leave";
  EXPECT_TRUE(table.hear(7, neighbor("01", "Ethernet1", 0), 31));
  EXPECT_TRUE(table.neighbors().heard.empty());
  EXPECT_EQ(table.neighbors().listening.at("ens1"), 31) << "so long there is no LLDP";
  table.hear(7, neighbor("01", "Ethernet1", 120), 50);
  EXPECT_TRUE(table.expire(200));
  EXPECT_EQ(table.neighbors().listening.at("ens1"), 50);
}

std::vector<std::string> names(const NeighborTable& table) {
  std::vector<std::string> out;
  for (const Neighbor& each : table.neighbors().heard) out.push_back(each.system_name);
  return out;
}
bool has_switch(const NeighborTable& table) { return std::ranges::count(names(table), "leaf01") == 1; }

TEST(NeighborTable, AFloodKeepsNobodyOut) {
  for (const double flood : {0, 2}) {  // before the switch speaks, and behind it
    NeighborTable table;
    table.listen({{7, "ens1"}}, 0);
    if (flood > 1) table.hear(7, neighbor("01", "Ethernet1"), 1);
    for (int i = 10; i < 99; ++i) table.hear(7, neighbor(std::to_string(i), "x"), flood);
    EXPECT_EQ(table.neighbors().heard.size(), NeighborTable::kPerPort);
    table.hear(7, neighbor("01", "Ethernet1"), 31);
    table.hear(7, neighbor("01", "Ethernet1"), 61);
    EXPECT_TRUE(has_switch(table));
    for (int i = 10; i < 99; ++i) table.hear(7, neighbor(std::to_string(i), "y"), 62 + i);
    EXPECT_EQ(table.neighbors().heard.size(), NeighborTable::kPerPort);
    EXPECT_FALSE(has_switch(table)) << "silent for half of its time to live, it gives way";
    table.hear(7, neighbor("01", "Ethernet1"), 500);
    EXPECT_TRUE(has_switch(table));
  }
}

// A hub: the labels of the port do not change with each frame.
TEST(NeighborTable, OfSixtyFourTheSameFewStay) {
  NeighborTable table;
  table.listen({{7, "ens1"}}, 0);
  std::vector<std::string> first;
  for (int round = 0; round < 20; ++round) {
    for (int i = 10; i < 74; ++i) {
      const bool changed = table.hear(7, neighbor(std::to_string(i), "Ethernet1"), round * 30 + i * 0.4);
      EXPECT_EQ(changed, round == 0 && i < 14) << round << ", " << i;
    }
    table.expire(round * 30 + 29.9);
    if (round == 0) first = names(table);
    EXPECT_EQ(names(table), first);
  }
  EXPECT_EQ(first.size(), NeighborTable::kPerPort);
}

TEST(NeighborTable, ASwitchThatChangesItsNameIsOneNeighbor) {
  NeighborTable table;
  table.listen({{7, "ens1"}}, 0);
  Neighbor leaf = neighbor("01", "Ethernet1");
  table.hear(7, leaf, 1);
  leaf.system_name = "rack7-leaf1";
  EXPECT_TRUE(table.hear(7, leaf, 31));
  EXPECT_EQ(names(table), std::vector<std::string>{"rack7-leaf1"});
  leaf.chassis_id = "rack7-leaf1";  // of a switch whose chassis id is its name
  EXPECT_TRUE(table.hear(7, leaf, 61));
  EXPECT_TRUE(table.expire(152)) << "the old one has not been heard for its time to live";
  EXPECT_EQ(table.neighbors().heard.size(), 1u);
}

TEST(NeighborTable, NetdevsAreRenamedComeAndGo) {
  NeighborTable table;
  table.listen({{7, "eth0"}, {8, "eth1"}}, 0);
  table.hear(7, neighbor("01", "Ethernet1"), 1);
  EXPECT_TRUE(table.listen({{7, "ens1"}, {9, "eth1"}}, 50));
  const Neighbors now = table.neighbors();
  ASSERT_EQ(now.heard.size(), 1u);
  EXPECT_EQ(now.heard[0].netdev, "ens1");
  EXPECT_EQ(now.listening, (std::map<std::string, double>{{"ens1", 0}, {"eth1", 50}}))
      << "another device of the same name";
  EXPECT_TRUE(table.listen({}, 60));
  EXPECT_TRUE(table.neighbors().heard.empty());
}

Neighbor captured(const std::string& name) {
  const std::string text = test::of_source("tests/fuzz/corpus/lldp/" + name);
  auto read = lldp::parse_frame(std::as_bytes(std::span(text.data(), text.size())));
  EXPECT_TRUE(read) << name;
  read->netdev = "ens1";
  read->source = state::kLldpSource;
  read->heard = 1000;
  return std::move(*read);
}

Neighbors some() {
  Neighbors out;
  out.listening = {{"ens1", 900}, {"ens\"2", 950}};
  out.heard = {captured("ieee-dcbx"), captured("cee-dcbx")};
  out.heard[1].malformed = {"byte 7: no good"};
  return out;
}

TEST(NeighborState, WhatIsWrittenIsRead) {
  const Neighbors written = some();
  const auto read = state::parse_neighbors(state::neighbors_text(written, 1010), "neighbors.json", 1010);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->source, "fabric-lldp");
  ASSERT_EQ(read->heard.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    Neighbor expected = written.heard[i];
    expected.age = 10;
    EXPECT_EQ(read->heard[i], expected) << i;
  }
  EXPECT_EQ(read->listening, (std::map<std::string, double>{{"ens1", 110}, {"ens\"2", 60}}));
}

TEST(NeighborState, WhoseTimeIsOverIsNotThere) {
  const std::string text = state::neighbors_text(some(), 1100);
  EXPECT_EQ(state::parse_neighbors(text, "neighbors.json", 1130)->heard.size(), 2u);
  EXPECT_EQ(state::parse_neighbors(text, "neighbors.json", 1140)->heard.size(), 0u);
  const auto old = state::parse_neighbors(text, "neighbors.json", 1300);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ESTALE);
}

TEST(NeighborState, FilesOfACapturedTree) {
  test::Tree tree;
  const auto none = state::load_neighbors(tree.root());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  tree.file("proc/uptime", "1020.5 4000.1\n");
  ASSERT_TRUE(state::save_neighbors(tree.path(), some(), 1010));
  const auto read = state::load_neighbors(tree.root());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->heard.at(0).age, 20.5);
  for (const auto& [neighbor, fault] : {std::pair(R"({"netdev":7})", "netdev: type must be string"),
                                        {R"({"netdev":"ens1","ttl":-1})", "ttl: expected an integer from 0"},
                                        {R"({"netdev":"ens1","pfc":{"enabled":[300]}})", "pfc: enabled: expected"},
                                        {"[", "parse error"}}) {
    tree.file("run/fabric-lldp/neighbors.json",
              std::string(R"({"format":1,"updated":1000,"neighbors":[)") + neighbor + "]}");
    const auto broken = state::load_neighbors(tree.root());
    ASSERT_FALSE(broken);
    EXPECT_TRUE(test::has(broken.error().what, "/run/fabric-lldp/neighbors.json: ")) << broken.error().what;
    EXPECT_TRUE(test::has(broken.error().what, fault)) << broken.error().what;
  }
}

TEST(Names, OfDevicesAndPorts) {
  EXPECT_TRUE(same_device("leaf1", "LEAF1"));
  EXPECT_TRUE(same_device("leaf1.example.com", "leaf1"));
  EXPECT_TRUE(same_device("leaf1.pod2", "leaf1.pod2.example.com"));
  EXPECT_FALSE(same_device("leaf1.a.example", "leaf1.b.example"));
  EXPECT_FALSE(same_device("leaf1", "leaf10"));
  EXPECT_FALSE(same_device("", ""));
  EXPECT_TRUE(same_port("Eth1/1", "Ethernet1/1"));
  EXPECT_TRUE(same_port("Hu0/0/0/1", "HundredGigE0/0/0/1"));
  EXPECT_TRUE(same_port("Ethernet 1/1", "ethernet1/1"));
  EXPECT_FALSE(same_port("Ethernet1/1", "Ethernet1/11"));
  EXPECT_FALSE(same_port("swp1", "eth1"));
  EXPECT_FALSE(same_port("1", "Ethernet1"));
}

TEST(Names, OfAnEnd) {
  Neighbor switch_port = neighbor("01", "70:06:92:6e:32:64");
  switch_port.port_description = "swp5";
  switch_port.management = {"10.0.0.7"};
  EXPECT_EQ(switch_port.port(), "swp5");
  EXPECT_TRUE(is_end(switch_port, {"leaf01.example", "swp5"}));
  EXPECT_TRUE(is_end(switch_port, {"10.0.0.7", "swp5"}));
  EXPECT_TRUE(is_end(switch_port, {"00:00:00:00:00:01", "swp5"}));
  EXPECT_FALSE(is_end(switch_port, {"leaf01", "swp6"}));
  EXPECT_TRUE(is_device(switch_port, {"leaf01", "swp6"}));
}

// Port ids and descriptions of switches, and a plan's name of that port or of another one.
TEST(Names, OfPortsAsSwitchesSendThem) {
  enum class Is : uint8_t { the_port, another_port, unknown };
  struct Row {
    std::string id, description, planned;
    Is is;
    std::string shown;
  };
  for (const Row& row : std::vector<Row>{
           {"510", "et-0/0/0:1", "et-0/0/0:1", Is::the_port, "et-0/0/0:1"},          // Junos
           {"510", "et-0/0/0:1", "et-0/0/0:2", Is::another_port, "et-0/0/0:1"},      //
           {"510", "gpu01 rail 0", "et-0/0/0:1", Is::unknown, "gpu01 rail 0"},       // with a description
           {"510", "", "et-0/0/0:1", Is::unknown, "510"},                            //
           {"etp1", "Ethernet0", "Ethernet0", Is::the_port, "etp1"},                 // SONiC
           {"etp1", "Ethernet0", "Ethernet8", Is::another_port, "etp1"},             //
           {"etp1", "gpu01:ens0", "Ethernet0", Is::unknown, "etp1"},                 // with a description
           {"Eth1/1", "gpu01:ens0", "Ethernet0", Is::unknown, "Eth1/1"},             //
           {"Eth1/1", "gpu01:ens0", "Ethernet1/2", Is::another_port, "Eth1/1"},      //
           {"swp1s0", "to_gpu01", "swp2", Is::another_port, "swp1s0"},               // Cumulus
           {"Ethernet5/1", "eth0 of gpu01", "Et5/1", Is::the_port, "Ethernet5/1"},   // EOS
           {"1/1/7", "1/1/7", "1/1/8", Is::another_port, "1/1/7"},                   // AOS-CX
           {"ethernet1/1/5:1", "", "Eth 1/1/5:1", Is::the_port, "ethernet1/1/5:1"},  // OS10
           {"HundredGigE1/0/1", "HundredGigE1/0/1 Interface", "HGE1/0/1", Is::unknown, "HundredGigE1/0/1"},  // Comware
           {"FourHundredGigabitEthernet 0/1", "", "FourHundredGigabitEthernet0/2", Is::another_port,
            "FourHundredGigabitEthernet 0/1"},  // Ruijie
           {"35700736", "1/1/c1/1, 400-Gig Ethernet", "1/1/c1/1", Is::unknown, "1/1/c1/1, 400-Gig Ethernet"}}) {
    Neighbor heard = neighbor("01", row.id);
    heard.port_description = row.description;
    const CableEnd end{"leaf01", row.planned};
    EXPECT_EQ(heard.port(), row.shown);
    EXPECT_EQ(is_end(heard, end), row.is == Is::the_port) << row.id << " " << row.planned;
    EXPECT_EQ(names_ports_otherwise(heard, end), row.is == Is::unknown) << row.id << " " << row.planned;
    EXPECT_FALSE(names_ports_otherwise(heard, {"leaf02", row.planned})) << row.id;
  }
}

TEST(Names, TheFrameOfTheSwitchBesideAnAgentInTheNic) {
  Neighbor switch_port = neighbor("01", "swp5"), agent = neighbor("02", "1");
  switch_port.netdev = agent.netdev = "ens0";
  switch_port.max_frame = 9216;
  agent.max_frame = 1518;
  EXPECT_EQ(announced_frame({switch_port, agent}, "ens0"), 9216U);
  EXPECT_EQ(announced_frame({agent, switch_port}, "ens0"), 9216U);
  EXPECT_FALSE(announced_frame({agent, switch_port}, "ens1"));
}

}  // namespace
}  // namespace fabric
