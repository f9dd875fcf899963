// SPDX-License-Identifier: Apache-2.0
// The number of series of a page: counted on machines where every counter of the catalogue is there. The files for
// Prometheus and Grafana in etc/ use published metrics only.
#include "support/series.h"

#include "exporter/http/page.h"
#include "judge/engine.h"
#include "metrics/counters.h"
#include "metrics/families.h"
#include "nic/counter_catalogue.h"
#include "support/golden.h"
#include "support/healthy_node.h"
#include "support/ports.h"
#include "support/test.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;

// -- How many

constexpr size_t kUsual = 700;  // of a node with four ports

// The numbers that fabric-exporter(8) promises for a node with eight NICs. No other file states them
// (TheBudgetIsStatedOnce).
struct Budget {
  size_t all_sources = 0, sysfs_alone = 0;
};

Budget promised() {
  const std::string page = test::of_source("agent/exporter/fabric-exporter.8");
  std::smatch found;
  const std::regex promise("has at most (\\d+) series with all sources, and (\\d+) if only sysfs");
  EXPECT_TRUE(std::regex_search(page, found, promise)) << "fabric-exporter(8), \"Series on request\", says no budget";
  return found.empty() ? Budget{} : Budget{std::stoul(found[1]), std::stoul(found[2])};
}

constexpr const char* kHowToFit =
    "The page of a node with eight NICs has more series than fabric-exporter(8) promises in \"Series on request\". "
    "Above, "
    "\"series score\" counts them by the first words of their names. Ways to fit: leave the metric out by default (a "
    "SeriesGroup, published on request), publish it only if there is something to say (a count that is not zero, a "
    "state "
    "that is not the usual one), give one series for the node and not for each port. If every site needs it, raise the "
    "number in the page.";

// The counters of mlx5 with PFC on priority 3, and traffic on 0, 3 and 6.
PortCounters all_of_mlx5() {
  PortCounters out;
  for (const CounterRow& row : kMlx5Counters.rows) {
    const std::string name(row.name);
    if (name.starts_with("cc_") || name.starts_with("rdma_")) continue;  // optional, off by default
    if (name.find("_global_pause") != std::string::npos) continue;       // off beside PFC
    const size_t mark = name.find('#');
    for (char priority = '0'; priority <= '7'; ++priority) {
      std::string each = name;
      if (mark != std::string::npos) each[mark] = priority;
      else if (priority != '0') break;
      if (each.find("_pause") != std::string::npos && mark != std::string::npos && priority != '3') continue;
      const bool busy = priority == '0' || priority == '3' || priority == '6';
      (row.source == CounterSource::hw ? out.hw : out.ethtool)
          .push_back({each, each.find("_bytes") != std::string::npos && busy ? 1000u : 0u});
    }
  }
  for (const CounterRow& row : kPmaCounters.rows)
    out.pma.push_back({std::string(row.name), row.metric->name.find("bytes") != std::string_view::npos ? 1u : 0u});
  out.carrier_down = 1;
  return out;
}

Transceiver optical(unsigned lanes) {
  const ModuleReading reading{0.001, ModuleFlags{}};
  Transceiver out;
  out.temperature = out.voltage = reading;
  out.temperature_limits = out.voltage_limits = out.rx_power_limits = out.tx_power_limits =
      out.tx_bias_limits = {2, 0.0001, 1, 0.0002};
  for (unsigned lane = 1; lane <= lanes; ++lane)
    out.lanes.push_back({lane, reading, reading, reading, false, false, false, false, false});
  out.state = ModuleState::ready;
  return out;
}

test::Healthy machine(int rails, bool optics) {
  test::Healthy out(rails);
  for (Port& port : out.now.ports) {
    port.counters = all_of_mlx5();
    port.link_status = LinkStatus{true, "", "", 1};
    port.fec = FecStatus{FecCode::rs, true, {1, {}}, {1, {}}, {1, {}}, {}};
    for (uint32_t symbols = 0; symbols <= 15; ++symbols) port.fec->histogram.push_back({symbols, symbols, 1});
    port.resources.clear();
    port.reporters.clear();
    for (const char* kind : {"cm_id", "ctx"}) port.resources.push_back({kind, "", 1});
    for (const char* kind : {"qp", "cq", "mr", "pd", "srq"}) port.resources.push_back({kind, "", 1, 10});
    for (const char* kind : {"qp", "cq", "mr"})
      for (const char* owner : {"user", "kernel"}) port.resources.push_back({kind, owner, 1});
    for (const char* name : {"fw", "fw_fatal", "tx", "rx", "vnic"}) port.reporters.push_back({name, true, 0, 0});
    for (const char* name :
         {"total_error_queues", "send_queue_priority_update_flow", "comp_eq_overrun", "async_eq_overrun", "cq_overrun",
          "invalid_command", "quota_exceeded_command", "nic_receive_steering_discard", "generated_pkt_steering_fail",
          "handled_pkt_steering_fail", "icm_consumption"})
      port.reporters.back().diagnosis[name] = 0;
    if (optics) port.module = optical(4);
    else port.module = Transceiver{};
    for (const Setting& setting : kSettings)
      if (has_value(setting, port.qos))
        out.now.agent->ports[port.id()][std::string(setting.key)].outcome = Outcome::in_sync;
  }
  out.before = out.now;
  return out;
}

// Each port a bond of two: what RDMA counts is its own, the rest its members'.
test::Healthy bonded(int rails) {
  test::Healthy out = machine(rails, true);
  std::vector<Port> ports;
  for (const Port& whole : out.now.ports) {
    Port& bond = ports.emplace_back(whole);
    test::make_bond(bond, "bond" + std::to_string(ports.size()));
    bond.counters.ethtool.clear();
    bond.fec.reset();
    bond.module.reset();
    Port member = whole;
    test::make_member(member, ports.back().netdev);
    member.counters.hw.clear();
    member.counters.pma.clear();
    for (const char* end : {"f0", "f1"}) {
      member.netdev = whole.netdev + end;
      ports.push_back(member);
    }
  }
  out.now.ports = out.before.ports = std::move(ports);
  return out;
}

// Series by the first two words of their name.
using Parts = std::map<std::string, size_t>;

std::string first_words(const std::string& name) { return name.substr(0, name.find('_', name.find('_') + 1)); }

void print_score(int ports, const std::string& what, size_t series, const Parts& parts) {
  std::printf("series score: %d ports, %s: %zu series (", ports, what.c_str(), series);
  for (const auto& [part, samples] : parts) std::printf(" %s %zu", part.c_str(), samples);
  std::printf(" )\n");
}

size_t count(const char* what, int rails, const test::Healthy& node, const Published& published = {}) {
  FamilySet set;
  add_node(set, node.now, run_rules(node.view()), published);
  Parts parts;
  for (const auto& family : set.list()) parts[first_words(std::string(family.metric.name))] += family.series.size();
  print_score(rails, what, set.series(), parts);
  EXPECT_EQ(set.dropped_duplicates(), 0u);
  return set.series();
}

size_t count(const char* what, int rails, bool optics, const Published& published = {}) {
  return count(what, rails, machine(rails, optics), published);
}

// The settings in force on a NIC with a profile, beyond those of every healthy port.
void add_settings(test::Healthy& node) {
  for (Port& port : node.now.ports) {
    port.qos.ecn_rp = port.qos.ecn_np = PrioSet{0x08};
    port.qos.cnp_dscp = 48;
    port.qos.cnp_prio = OrNone{6};
    port.qos.roce_mode = RoceMode::v2;
    port.qos.ring_rx = port.qos.ring_tx = 8192;
    port.qos.pfc_watchdog = 8000;
    Changes& changes = node.plan[port.id()];
    changes.clear();
    for (const Setting& setting : kSettings) {
      if (!has_value(setting, port.qos)) continue;
      const std::string text = value_text(setting, port.qos);
      changes.push_back({port.id(), setting.id, Outcome::in_sync, 0, false, text, text, {}, {}});
      node.now.agent->ports[port.id()][std::string(setting.key)].outcome = Outcome::in_sync;
    }
    node.policy.ports[0].want = port.qos;
  }
}

// Nothing but files of sysfs: no netlink, no ethtool, no fabric-agentd.
void leave_sysfs(test::Healthy& node) {
  node.plan.clear();
  node.now.agent.reset();
  node.now.neighbors = {};
  for (Port& port : node.now.ports) {
    port.counters.ethtool.clear();
    port.qos = {};
    port.link_status.reset();
    port.fec.reset();
    port.module.reset();
    port.resources.clear();
    port.reporters.clear();
  }
  node.policy = Policy();
}

// Samples of a port whose lossless priority was paused and that saw three kinds of events.
BurstRecord busy() {
  BurstRecord out;
  out.lossless = 0x08;
  out.newest = exporter::Clock::now().time_since_epoch() / std::chrono::seconds(10);
  const auto fill = [](BurstTrack& track) {
    track.seen = track.moved = true;
    track.highest.fill(0.5);
  };
  for (BurstTrack* track : {&out.pause[3], &out.pause[11], &out.bytes[0], &out.bytes[1], &out.load[0], &out.load[1],
                            &out.events[0], &out.events[1], &out.events[2]})
    fill(*track);
  return out;
}

// The exporter's whole page, as a scrape gets it.
std::string page_text(test::Healthy node, const Published& published, bool all_sources) {
  exporter::Snapshot snapshot;
  std::vector<const char*> of_device{"link", "rdma", "pma"},
      of_host{"topology", "agent", "network", "platform", "host"};
  if (all_sources) of_device.insert(of_device.end(), {"ethtool", "telemetry", "settings"});
  for (const char* each : of_host) snapshot.runs.push_back({each, "", true, 0, ""});
  for (Port& port : node.now.ports) {
    for (const char* each : of_device) snapshot.runs.push_back({each, port.rdma, true, 0, ""});
    snapshot.ages.push_back({port.rdma, exporter::Clock::now()});
    snapshot.sampled.push_back({port.rdma, std::chrono::seconds(1), Pace::Brake::none, 1, std::chrono::seconds(1)});
    snapshot.bursts.push_back({port.id(), busy()});
    if (!all_sources) snapshot.bursts.back().record.pause.fill({});
  }
  node.policy.published = published;
  node.before.taken = node.now.taken - std::chrono::seconds(10);
  Health health;
  advance_health(health, node.view(), 50'000, 1'800'000'000);
  snapshot.node = node.now;
  snapshot.plan = node.plan;
  exporter::PageContext context{.before = &node.before, .policy = &node.policy, .health = &health};
  return exporter::render_page(snapshot, context);
}

size_t page(const char* what, const test::Healthy& node, const Published& published, bool all_sources) {
  const std::string text = page_text(node, published, all_sources);
  size_t series = 0;
  Parts parts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    ++series;
    ++parts[first_words(line)];
  }
  print_score(8, "page, " + std::string(what), series, parts);
  EXPECT_TRUE(test::has(text, "fabric_series_dropped{reason=\"limit\"} 0\n"));
  if (std::getenv("FABRIC_SHOW_PAGE") != nullptr) std::fputs(text.c_str(), stdout);
  return series;
}

TEST(SeriesBudget, ANodeWithEightNicsAndAllSources) {
  test::Healthy node = machine(8, true);
  add_settings(node);
  const size_t usual = page("all sources", node, {}, true);
  EXPECT_LE(usual, promised().all_sources) << kHowToFit;
  EXPECT_LE(page("all sources, everything switched on", node, test::kEverything, true), Policy().series_limit);
  for (const SeriesGroup group : kValues<SeriesGroup>)
    EXPECT_GT(page(std::string(to_text(group)).c_str(), node, {RawCounters::unmapped, {group}}, true), usual);
}

// "(21 series per port)", "(16 to 60 per port)", "(about 50 per port)" of a group in fabric-agent.toml(5).
TEST(SeriesBudget, TheGroupsCostWhatTheirPageSays) {
  const std::string manual = test::of_source("agent/agentd/fabric-agent.toml.5");
  constexpr int kNics = 8;
  test::Healthy node = machine(kNics, true);
  add_settings(node);
  const size_t usual = page("all sources", node, {}, true);
  for (const SeriesGroup group : kValues<SeriesGroup>) {
    const std::string name(to_text(group));
    std::smatch found;
    const std::regex figure("\n\\.It Li " + name +
                            "\n[^()]*?\\.Pq (about )?(\\d+)(?: to (\\d+))?(?: series)? per (?:port|device)");
    ASSERT_TRUE(std::regex_search(manual, found, figure)) << name;
    const double more =
        static_cast<double>(page(name.c_str(), node, {RawCounters::unmapped, {group}}, true) - usual) / kNics;
    const double lowest = std::stod(found[2]), highest = found[3].matched ? std::stod(found[3]) : lowest;
    const double tolerance = found[1].matched ? 0.5 : 0.1;
    EXPECT_GE(more, lowest * (1 - tolerance)) << name;
    EXPECT_LE(more, highest * (1 + tolerance)) << name;
  }
}

TEST(SeriesBudget, TheBudgetIsStatedOnce) {
  const Budget budget = promised();
  const auto has_number = [](const std::string& text, size_t number) {
    const std::string digits = std::to_string(number);
    std::string pattern = digits;
    if (digits.size() > 3) pattern = digits.substr(0, digits.size() - 3) + "[,']?" + digits.substr(digits.size() - 3);
    return std::regex_search(text, std::regex("\\b" + pattern + "\\s+(time )?series\\b"));
  };
  std::vector<fs::path> files{"README.md", "CONTRIBUTING.md", "tests/README.md", "lib/README.md"};
  for (const char* folder : {"agent", "etc"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FABRIC_SOURCE_DIR) / folder))
      if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), FABRIC_SOURCE_DIR));
  size_t places = 0;
  for (const fs::path& file : files)
    if (has_number(test::of_source(file.string()), budget.all_sources)) {
      ++places;
      EXPECT_EQ(file.filename(), "fabric-exporter.8");
    }
  EXPECT_EQ(places, 1u);
}

TEST(SeriesBudget, ANodeWithEightNicsAndBareSysfs) {
  test::Healthy node = machine(8, false);
  leave_sysfs(node);
  EXPECT_LE(page("bare sysfs", node, {}, false), promised().sysfs_alone) << kHowToFit;
}

TEST(SeriesBudget, BondsOfTwoStayBelowTheLimit) {
  EXPECT_LT(count("bonds of two, optical modules", 8, bonded(8)), Policy().series_limit);
}

TEST(SeriesBudget, AUsualNodeStaysWithinIt) {
  EXPECT_LE(count("copper", 4, false), kUsual);
  const size_t optical = count("optical modules", 4, true);
  EXPECT_GT(count("optical modules, raw = \"all\"", 4, true, {RawCounters::all, {}}), optical);
}

TEST(SeriesBudget, ALargeNodeStaysBelowTheLimit) {
  EXPECT_LT(count("optical modules", 10, true),
            Policy().series_limit / 4 * 3);  // bursts come to it
  EXPECT_LT(count("copper", 10, false), Policy().series_limit);
}

// The page that tests/fleet multiplies: one NIC with all sources, without the values that differ between two runs.
TEST(SeriesBudget, TheNodesOfTheSimulatedFleetHaveThisPage) {
  test::Healthy node = machine(1, true);
  add_settings(node);
  node.now.agent->version = "1.0.0";
  node.now.agent->config = "0123456789abcdef";
  SettingState& waiting = node.now.agent->ports["mlx5_0/1"]["ring_rx"];
  waiting.outcome = Outcome::pending, waiting.reason = "maintenance";
  node.policy.rules.by_id["hugepages"] = {
      .enabled = false, .reason = "TICKET-1: from the next image", .until = 1'801'440'000};  // 2027-02-01T00:00:00Z
  const std::regex varies("(\n(?:process_|fabric_snapshot_age_seconds)\\S*) \\S+");
  test::expect_golden("exporter_metrics_nic.txt", std::regex_replace(page_text(node, {}, true), varies, "$1 -"));
}

// Statistics by name: none by default, else a series for each that matches on each port.
TEST(SeriesBudget, WhatIsAskedForByNameCostsWhatItMatches) {
  const test::Healthy node = machine(4, false);
  const auto cost = [&](const std::vector<std::string>& globs) {
    FamilySet set;
    add_node(set, node.now, run_rules(node.view()));
    const size_t before = set.series();
    add_ethtool(set, node.now, globs);
    std::printf("series score: [exporter] ethtool, %zu patterns: %zu series more\n", globs.size(),
                set.series() - before);
    return set.series() - before;
  };
  EXPECT_EQ(cost(Policy().ethtool), 0u);
  EXPECT_EQ(cost({"rx_prio?_discards", "rx_discards_phy"}), 4u * 9);
  EXPECT_EQ(cost({"*"}), 4 * node.now.ports[0].counters.ethtool.size());
}

// -- Metrics that etc/ uses

std::set<std::string> words(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) found.insert((*at)[1].str());
  return found;
}

// The names that are literals in the code: each metric is made of one.
std::set<std::string> published() {
  std::set<std::string> names;
  for (const char* folder : {"lib", "agent/exporter"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FABRIC_SOURCE_DIR) / folder))
      names.merge(words(test::slurp(entry.path()), std::regex("\"(fabric_[a-z0-9_]+)\"")));
  return names;
}

// A histogram's series end in _bucket, _sum and _count.
bool is_published(const std::set<std::string>& names, const std::string& name) {
  if (names.contains(name)) return true;
  return names.contains(std::regex_replace(name, std::regex("_(bucket|sum|count)$"), ""));
}

class Etc : public testing::TestWithParam<const char*> {};

TEST_P(Etc, asks_for_metrics_that_are_published) {
  auto asked = words(test::slurp(fs::path(FABRIC_SOURCE_DIR) / GetParam()), std::regex("\\b(fabric_[a-z0-9_]+)"));
  static const auto names = published();
  EXPECT_FALSE(asked.empty());
  for (const auto& name : asked) EXPECT_TRUE(is_published(names, name)) << name;
}

// Broadcom's, Intel's and AMD's drivers have no ports/N/counters, whose bytes fabric_port_bytes_total are; the members
// of a bond would count its traffic once more.
TEST_P(Etc, asks_for_the_traffic_of_every_driver) {
  const std::string text = test::slurp(fs::path(FABRIC_SOURCE_DIR) / GetParam());
  const std::regex port(R"(rate\(fabric_port_bytes_total)"),
      either(R"(rate\(fabric_port_bytes_total[^)]*\) or rate\(fabric_rdma_bytes_total\{[^}]*port!~)");
  const auto times = [&](const std::regex& what) {
    return std::distance(std::sregex_iterator(text.begin(), text.end(), what), std::sregex_iterator());
  };
  EXPECT_TRUE(times(port) > 0 || text.find("_bytes:rate5m") != std::string::npos);
  EXPECT_EQ(times(port), times(either));
}

// tests/fleet/dashboards asks the queries of a real Prometheus.
INSTANTIATE_TEST_SUITE_P(Files, Etc,
                         testing::Values("etc/prometheus/fabric-agent.rules.yml",
                                         "etc/prometheus/fabric-fleet.rules.yml", "etc/grafana/fabric-fleet.json",
                                         "etc/grafana/fabric-leaf.json", "etc/grafana/fabric-agent.json",
                                         "etc/grafana/fabric-port.json"),
                         [](const auto& one) {
                           return std::regex_replace(fs::path(one.param).stem().stem().string(), std::regex("-"), "_") +
                                  fs::path(one.param).extension().string().substr(1);
                         });

}  // namespace
}  // namespace fabric
