// SPDX-License-Identifier: Apache-2.0
// The exporter's pages: their parts that are computed each time, and those that are cached; our text against the
// reference: prometheus-cpp's TextSerializer, and promtool where it is installed; and the page of / for people.
// tests/integration/landing looks at its golden file in a browser.
#include "exporter/http/page.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include "exporter/http/landing.h"
#include "exporter/http/self.h"
#include "metrics/counters.h"
#include "metrics/families.h"
#include "metrics/text.h"
#include "nic/counter_catalogue.h"
#include "nic/metrics.h"
#include "support/counters.h"
#include "support/diagnosed.h"
#include "support/golden.h"
#include "support/ports.h"
#include "support/running_collector.h"
#include "support/series.h"
#include "support/test.h"

namespace fabric::exporter {
namespace {

using namespace std::chrono_literals;
using test::count_of;
using test::has;
using test::RunningCollector;

// -- Cached pages

// The pages for scrapes and for people.
class Paging {
 public:
  // The page after a new reading of all sources.
  std::string page(const PageContext& context = {}) {
    running.refresh();
    return *cache.page(*running, context);
  }
  void take_down() { nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n"); }

  test::SlowNics nics;
  RunningCollector running{test::collector_options(nics)};
  PageCache cache;
};

// The value of the series without labels.
double value_of(const std::string& page, const std::string& name) {
  return test::value(page, name).value_or(std::nan(""));
}

// A field of /proc/self/status, in kB.
double status_of(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ':')) return std::strtod(line.c_str() + field.size() + 1, nullptr);
  return std::nan("");
}

TEST(Page, TellsWhatTheProcessCosts) {
  Paging paging;
  const std::string first = paging.page();
  EXPECT_NEAR(value_of(first, "process_resident_memory_bytes"), status_of("VmRSS") * 1024, 16 << 20);
  EXPECT_NEAR(value_of(first, "process_virtual_memory_bytes"), status_of("VmSize") * 1024, 64 << 20);
  struct stat born {};
  ASSERT_EQ(::stat("/proc/self", &born), 0);
  EXPECT_NEAR(value_of(first, "process_start_time_seconds"), static_cast<double>(born.st_ctime), 60);
  EXPECT_LE(value_of(first, "process_start_time_seconds"), static_cast<double>(::time(nullptr)) + 1);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(value_of(first, "process_max_fds"), static_cast<double>(limit.rlim_cur));
  std::vector<Fd> held;
  for (int i = 0; i < 100; ++i) held.emplace_back(::dup(0));
  const auto used = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double until = used() + 0.05;
  while (used() < until) {
  }
  const std::string second = paging.page();
  EXPECT_NEAR(value_of(second, "process_open_fds") - value_of(first, "process_open_fds"), 100, 8)
      << "readers hold some";
  EXPECT_GE(value_of(second, "process_cpu_seconds_total"), value_of(first, "process_cpu_seconds_total") + 0.05);
  EXPECT_LE(value_of(second, "process_cpu_seconds_total"), used() + 0.001);
}

const std::string kDown = "fabric_check_status{check=\"port-state\",subject=\"mlx5_0/1\"} 1\n";  // its twin is up

// The port that is down is acknowledged.
PageContext acknowledging() {
  PageContext out;
  out.acks = {{"port-state", "mlx5_0/*", 0, 1000, "", ""}};
  out.wall = 10;
  return out;
}

TEST(Page, WhatWasFoundIsKeptUntilThereIsAReason) {
  Paging paging;
  paging.take_down();
  (void)paging.page();
  ASSERT_TRUE(has(paging.page(), kDown));
  const PageContext acknowledged = acknowledging();
  const std::string mark = "fabric_check_acknowledged{check=\"port-state\"";
  EXPECT_FALSE(has(paging.page(acknowledged), mark)) << "not judged again with each page";
  paging.cache.drop_findings();
  EXPECT_TRUE(has(paging.page(acknowledged), mark));
}

// fabric-exporter publishes it every ten seconds.
TEST(Page, AReportIsThereWithoutAScrape) {
  Paging paging;
  paging.take_down();
  const PageContext context = acknowledging();
  (void)paging.page();
  const Report* report = paging.cache.refresh(*paging.running, paging.running->snapshot(), context);
  ASSERT_NE(report, nullptr);
  const auto down = std::ranges::find(report->findings, "port-state", &Finding::id);
  ASSERT_NE(down, report->findings.end());
  EXPECT_TRUE(down->acknowledged) << "computed again";
  EXPECT_NE(down->observed, "");
}

// Alerts read it: without it, an acknowledged fault would page on the largest machines.
TEST(Page, AnAcknowledgementIsNotLeftOutForWantOfRoom) {
  Paging paging;
  paging.take_down();
  Policy policy;
  PageContext context = acknowledging();
  context.policy = &policy;
  const double all = value_of(paging.page(context), "fabric_series");
  policy.series_limit = static_cast<unsigned>(all + double{kSeriesOfSeries}) - 1;
  const std::string page = paging.page(context);
  EXPECT_GE(value_of(page, "fabric_series_dropped{reason=\"limit\"}"), 1);
  EXPECT_TRUE(has(page, "fabric_check_acknowledged{check=\"port-state\""));
}

TEST(Page, CountersAreNewWhateverIsKept) {
  Paging paging;
  (void)paging.page();
  (void)paging.page();
  paging.nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "18\n");
  EXPECT_TRUE(has(paging.page(), "fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"} 18\n"));
}

TEST(Page, ALinkThatGoesDownIsJudgedWithTheNextPage) {
  Paging paging;
  (void)paging.page();
  ASSERT_FALSE(has(paging.page(), kDown));
  paging.take_down();
  EXPECT_TRUE(has(paging.page(), kDown));
}

TEST(Page, WhatTheAgentDidIsJudgedWithTheNextPage) {
  Paging paging;
  const std::string fault = "fabric_check_status{check=\"agent\",subject=\"host\"} 1\n";
  (void)paging.page();
  ASSERT_FALSE(has(paging.page(), fault));
  paging.nics.tree.file("run/fabric-agent/state.json",
                        R"({"format":1,"mode":"enforce","updated":"2026-11-21T10:00:00Z"})");
  EXPECT_TRUE(has(paging.page(), fault)) << "it does not run";
}

TEST(Page, ThePageForPeopleIsOfTheNewestReading) {
  Paging paging;
  const PageContext people{.landing = true};
  EXPECT_TRUE(has(paging.page(people), "<!DOCTYPE html>"));
  EXPECT_FALSE(has(paging.page(people), "DOWN"));
  paging.take_down();
  EXPECT_TRUE(has(paging.page(people), "DOWN"));
  EXPECT_TRUE(has(paging.page(people), "port-state")) << "with the check's text";
  EXPECT_TRUE(has(paging.page(), kDown)) << "beside the metrics";
  EXPECT_TRUE(has(paging.page(people), "<!DOCTYPE html>"));
}

// Otherwise an open browser would shorten the window of the scrapes, which would then miss the events in between.
TEST(Page, APersonWhoLooksIsNoScrape) {
  Paging paging;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(paging.page({.landing = true}), "Not known yet: it compares"));
  EXPECT_FALSE(has(paging.page(), "fabric_diagnosis{"));
  EXPECT_FALSE(has(paging.page({.landing = true}), "Not known yet: it compares"));
}

TEST(Page, TheSecondPageKnowsWhatRoseSinceTheFirst) {
  Paging paging;
  EXPECT_FALSE(has(paging.page(), "fabric_diagnosis{"));
  EXPECT_TRUE(has(paging.page(), "fabric_diagnosis{device=\"mlx5_0\""));
}

// Prometheus was away for three hours: events that ended over two hours ago are not reported, and the long time does
// not dilute recent ones.
TEST(Page, WhatIsLongOverIsNotDiagnosedWhenScrapesComeAgain) {
  Paging paging;
  paging.nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/req_transport_retries_exceeded", "5\n");
  paging.running.rescan();
  const auto reading = [&](std::chrono::minutes ago, uint64_t given_up) {
    Node out = paging.running->snapshot().node;
    out.taken -= ago;
    for (Port& port : out.ports)
      for (Counter& counter : port.counters.hw)
        if (counter.name == "req_transport_retries_exceeded") counter.value = given_up;
    return out;
  };
  const auto culprit = [&](PageCache& cache) {
    paging.running.refresh();
    const std::string page = *cache.page(*paging.running, {}),
                      series = "fabric_diagnosis{device=\"mlx5_0\",port=\"1\",culprit=\"";
    const size_t at = page.find(series);
    return at == std::string::npos
               ? ""
               : page.substr(at + series.size(), page.find('"', at + series.size()) - at - series.size());
  };
  PageCache late;
  late.keep_up(*paging.running, reading(180min, 0));
  for (const auto ago : {120min, 60min, 8min, 4min}) late.keep_up(*paging.running, reading(ago, 5));
  EXPECT_EQ(culprit(late), "none");
  PageCache soon;
  for (const auto ago : {180min, 120min, 8min, 4min}) soon.keep_up(*paging.running, reading(ago, 0));
  EXPECT_NE(culprit(soon), "none") << "who comes every five minutes still sees all";
  EXPECT_NE(culprit(soon), "");
}

CollectorOptions soon_stuck(const test::SlowNics& nics) {
  CollectorOptions options = test::collector_options(nics);
  options.stuck = 1ms;
  return options;
}

// The GPUs would seem to have no NIC but those that were read first.
TEST(Page, HalfAMachineIsNotJudged) {
  test::SlowNics nics;
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  nics.statistics->hang("eth2");
  RunningCollector collector(soon_stuck(nics));  // nothing waits for the other NIC any more
  const auto half = [&](const RunningCollector& of) {
    return nics.statistics->is_waiting("eth2") && of.node().ports.size() == 1;
  };
  collector.settle([&] { return half(collector); });
  PageCache cache;
  EXPECT_FALSE(has(*cache.page(*collector, {}), "fabric_check_status{"));
  nics.statistics->answer("eth2");
  collector.settle([&] { return collector->has_all(); });
  EXPECT_TRUE(has(*cache.page(*collector, {}), kDown));

  nics.statistics->hang("eth2");
  RunningCollector next(soon_stuck(nics));
  next.settle([&] { return half(next); });
  cache.restart();
  EXPECT_TRUE(has(*cache.page(*next, {}), kDown)) << "findings from before a reload are kept";
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  nics.statistics->answer("eth2");
  next.settle([&] { return next->has_all(); });
  next->rescan();
  next.settle([&] { return !has(*cache.page(*next, {}), kDown); });
}

// Its firmware is dead: it is unknown whether it has symptoms.
TEST(Page, ADeviceThatHangsIsNotSaidToHaveNoSymptom) {
  test::SlowNics nics;
  RunningCollector collector(soon_stuck(nics));
  collector.settle([&] { return collector->has_all(); });
  nics.statistics->hang("eth2");
  collector->refresh();
  collector.settle([&] { return nics.statistics->is_waiting("eth2") && !collector->busy(); });
  PageCache cache;
  (void)cache.page(*collector, {});
  const auto seen = collector->version();
  std::string page;
  collector.settle([&] {  // on a busy machine the device that works may be late as well
    collector->refresh();
    page = *cache.page(*collector, {});
    return collector->version() > seen && has(page, "fabric_diagnosis{device=\"mlx5_1\",port=\"1\",culprit=\"none\"");
  });
  EXPECT_FALSE(has(page, "fabric_diagnosis{device=\"mlx5_0\""));
  nics.statistics->answer("eth2");
  collector.settle([&] {
    collector->refresh();
    cache.drop_findings();
    return has(*cache.page(*collector, {}), "fabric_diagnosis{device=\"mlx5_0\"");
  });
}

TEST(Page, ADeviceThatIsReadAnewOrGoneIsNews) {
  Paging paging;
  const uint64_t before = paging.running->snapshot().generation;
  paging.running.refresh();
  EXPECT_EQ(paging.running->snapshot().generation, before) << "counters are none";
  paging.running.rescan();
  EXPECT_GE(paging.running->snapshot().generation, before + 2) << "two devices";
}

// -- The text

// The reference prints 16 digits: both values, cut to as many.
std::string sixteen_digits(const std::string& text) {
  if (text == "NaN" || text == "Nan") return "NaN";
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.15e", std::strtod(text.c_str(), nullptr));
  return buffer.data();
}

// Line by line: comments as they are; of samples, the series as it is and the value.
std::vector<std::string> parsed(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    size_t space = line.rfind(' ');
    lines.push_back(line.front() == '#' ? line : line.substr(0, space + 1) + sixteen_digits(line.substr(space + 1)));
  }
  return lines;
}

constexpr Metric kTotal{"test_things_total", "Things that were counted."};
constexpr Metric kLevel{"test_level", "A level.", MetricKind::gauge};

void add_awkward(FamilySet& set) {
  for (double value : {0.0, 1.0, 1234567.0, 1e15, 9007199254740992.0, 18446744073709551615.0, 0.000001, 1.234567, 3e-7})
    set.add(kTotal, {{"value", std::to_string(value)}}, value);
  set.add(kLevel, {}, -17.25);
  set.add(kLevel, {{"device", "mlx5_0"}, {"port", "1"}}, 4);
  set.add(kLevel, {{"text", "back\\slash \"quoted\"\nsecond line"}}, 1);
  set.add(kLevel, {{"text", "caf\xc3\xa9"}}, std::numeric_limits<double>::infinity());
  set.add(kLevel, {{"text", "minus"}}, -std::numeric_limits<double>::infinity());
  set.add(kLevel, {{"text", "none"}}, std::numeric_limits<double>::quiet_NaN());
}

TEST(Exposition, EqualsTheReferenceSerializerSampleForSample) {
  FamilySet set;
  add_awkward(set);
  EXPECT_EQ(parsed(serialize(set)), parsed(prometheus::TextSerializer().Serialize(set.families())));
}

constexpr Metric kSpread{"test_spread_ratio", "A spread.", MetricKind::histogram};
constexpr std::array kBounds{0.0, 0.01, 0.1, 0.5, 100000.0};

TEST(Exposition, HistogramsEqualTheReference) {
  FamilySet set;
  set.add(kSpread, {{{"device", "mlx5_0"}, {"priority", "3"}}, kBounds, {7, 1, 0, 2, 3, 4}, 2.25});
  set.add(kSpread, {{}, std::span(kBounds).first(1), {0, 0}, 0});
  set.add(kLevel, {}, 1);
  const std::string text = serialize(set);
  EXPECT_EQ(parsed(text), parsed(prometheus::TextSerializer().Serialize(set.families())));
  EXPECT_TRUE(test::has(text, "# TYPE test_spread_ratio histogram\n"));
  EXPECT_TRUE(test::has(text, "test_spread_ratio_bucket{device=\"mlx5_0\",priority=\"3\",le=\"0.5\"} 10\n")) << text;
  EXPECT_TRUE(test::has(text, "test_spread_ratio_bucket{device=\"mlx5_0\",priority=\"3\",le=\"+Inf\"} 17\n"));
  EXPECT_EQ(set.series(), 8u + 4u + 1u);
}

TEST(Exposition, EveryDoubleReadsBackAsItself) {
  FamilySet set;
  const std::array values{0.1, 1.0 / 3, 9007199254740991.0, 1e300, 5e-324, 123456789.123456789};
  for (size_t i = 0; i < values.size(); ++i) set.add(kLevel, {{"i", std::to_string(i)}}, values[i]);
  std::istringstream in(serialize(set));
  std::string line;
  std::getline(in, line);
  std::getline(in, line);
  for (double value : values) {
    std::getline(in, line);
    EXPECT_EQ(std::strtod(line.substr(line.rfind(' ')).c_str(), nullptr), value) << line;
  }
}

TEST(Exposition, CountersStandInFullNotInExponents) {
  FamilySet set;
  set.add(kTotal, {}, 9007199254740992.0);
  EXPECT_TRUE(test::has(serialize(set), "test_things_total 9007199254740992\n"));
}

TEST(Exposition, BytesThatAreNotUtf8AreReplaced) {
  FamilySet set;
  set.add(kLevel, {{"firmware", std::string("28\xff\0.39", 7)}}, 1);
  EXPECT_TRUE(test::has(serialize(set), "firmware=\"28\xef\xbf\xbd\xef\xbf\xbd.39\""));
}

// A machine whose port has every counter of every vendor.
Node everything() {
  Node node;
  Port& port = node.ports.emplace_back();
  port.rdma = "mlx5_0";
  port.state = 4;
  port.counters.carrier_down = 2;
  uint64_t value = 1;
  for (auto rows : {kMlx5Counters.rows, kBnxtCounters.rows, kIntelCounters.rows, kIonicCounters.rows, kRxeCounters.rows,
                    kPmaCounters.rows})
    for (const CounterRow& row : rows) test::list(port, row.source).push_back({test::on_priority_3(row.name), value++});
  port.counters.pma.push_back({"port_unheard_of", 7});
  test::resolve(port);
  port.pci = "0000:17:00.0";
  port.link_status = LinkStatus{false, "No cable", "", 4};
  port.fec = FecStatus{FecCode::rs, true, {1, {1, 0}}, {2, {2, 0}}, {3, {3, 0}}};
  port.resources = {{"qp", "", 3}};
  port.reporters = {{"fw", true, 1, 1}};
  const ModuleReading reading{0.001, ModuleFlags{}};
  const ModuleLimits limits{2, 0.0001, 1, 0.0002};
  Transceiver& module = port.module.emplace();
  module.temperature = module.voltage = reading;
  module.temperature_limits = module.voltage_limits = module.rx_power_limits = module.tx_power_limits =
      module.tx_bias_limits = limits;
  module.lanes = {{1, reading, reading, reading, false, false, false, false, false}};
  module.state = ModuleState::ready;
  module.cable_length = 3;
  return node;
}

void add_everything(FamilySet& set, const Node& node, const Report& report = {}) {
  add_node(set, node, report, test::kEverything);
  add_ethtool(set, node, std::vector<std::string>{"*"});
}

TEST(Exposition, EveryMetricOfTheCatalogueEqualsTheReference) {
  FamilySet set;
  add_everything(set, everything());
  EXPECT_EQ(parsed(serialize(set)), parsed(prometheus::TextSerializer().Serialize(set.families())));
}

Labels labels_of(const std::string& line) {
  static const std::regex kLabel(R"re((\w+)="((\\.|[^"\\])*)")re");
  Labels out;
  for (std::sregex_iterator label(line.begin(), line.end(), kLabel), end; label != end; ++label) {
    std::string text = (*label)[2];
    for (size_t at = 0; (at = text.find('\\', at)) != std::string::npos; ++at)
      text.replace(at, 2, text[at + 1] == 'n' ? "\n" : text.substr(at + 1, 1));
    if ((*label)[1] != "le") out.push_back({(*label)[1].str(), text});
  }
  return out;
}

// A page as a set: the test's own reader of the text format, for the types that our pages have.
FamilySet set_of(const std::string& page) {
  static const std::map<std::string, MetricKind> kKinds{
      {"counter", MetricKind::counter}, {"gauge", MetricKind::gauge}, {"histogram", MetricKind::histogram}};
  static std::set<std::string> texts;  // a metric's name and help must outlive the set
  FamilySet out;
  Metric metric{};
  HistogramSample sample;
  std::vector<double> bounds;
  uint64_t below = 0;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string mark, what, name, rest;
    words >> mark >> what >> name >> std::ws;
    std::getline(words, rest);
    const std::string series = line.substr(0, line.find_first_of("{ "));
    const double value = std::strtod(line.c_str() + line.rfind(' '), nullptr);
    if (what == "HELP" && mark == "#") {
      metric = {*texts.insert(name).first, *texts.insert(rest).first};
    } else if (what == "TYPE" && mark == "#") {
      EXPECT_TRUE(kKinds.contains(rest)) << line << ": read it here";
      metric.kind = kKinds.at(rest);
    } else if (metric.kind != MetricKind::histogram) {
      EXPECT_EQ(series, metric.name) << line;
      out.add(metric, labels_of(line), value);
    } else if (series.ends_with("_count")) {
      sample = HistogramSample{.labels = labels_of(line), .bounds = {}, .counts = {}, .sum = 0};
      bounds.clear();
      below = 0;
    } else if (series.ends_with("_sum")) {
      sample.sum = value;
    } else {
      const double bound = std::strtod(line.c_str() + line.find("le=\"") + 4, nullptr);
      sample.counts.push_back(static_cast<uint64_t>(value) - std::exchange(below, static_cast<uint64_t>(value)));
      if (std::isfinite(bound)) {
        bounds.push_back(bound);
        continue;
      }
      sample.bounds = bounds;
      out.add(metric, sample);
    }
  }
  return out;
}

// Known differences, which parsed() evens out: the reference prints 16 digits, ours as many as read back as the same
// double; "Nan" instead of "NaN". The golden file has "-" for a value that differs from run to run.
TEST(Exposition, EveryGoldenPageEqualsTheReference) {
  size_t pages = 0;
  for (const auto& file : std::filesystem::directory_iterator(FABRIC_SOURCE_DIR "/tests/golden")) {
    if (file.path().filename().string().find("metrics") == std::string::npos) continue;
    ++pages;
    // A golden page lacks the series that differ between machines; a set has no family without a series.
    const std::string page =
        std::regex_replace(std::regex_replace(test::slurp(file.path()), std::regex(" -\n"), " 0\n"),
                           std::regex("# HELP [^\n]*\n# TYPE [^\n]*\n(?=#|$)"), "");
    const FamilySet set = set_of(page);
    EXPECT_GT(set.list().size(), 10u) << file.path();
    EXPECT_EQ(serialize(set), page) << file.path();
    EXPECT_EQ(parsed(page), parsed(prometheus::TextSerializer().Serialize(set.families()))) << file.path();
  }
  EXPECT_GE(pages, 1u);
}

// The rules of OpenMetrics 1.0.0 that a page of ours can violate.
void expect_openmetrics(const std::string& text) {
  static const std::regex kSample(
      R"re(([a-zA-Z_:][\w:]*)(\{[a-zA-Z_]\w*="(\\[\\"n]|[^"\\])*"(,[a-zA-Z_]\w*="(\\[\\"n]|[^"\\])*")*\})? (\S+))re");
  static const std::map<std::string, std::set<std::string>> kSuffixes{
      {"counter", {"_total"}}, {"gauge", {""}}, {"unknown", {""}}, {"histogram", {"_count", "_sum", "_bucket"}}};
  ASSERT_TRUE(text.ends_with("\n# EOF\n"));
  std::istringstream in(text);
  std::string line, family, type;
  std::set<std::string> families, series;
  while (std::getline(in, line) && line != "# EOF") {
    std::istringstream words(line);
    std::string word, name, rest;
    if (line.starts_with("# HELP ")) {
      words >> word >> word >> family;
      EXPECT_TRUE(families.insert(family).second) << line;
      EXPECT_EQ(line.find('"'), line.find("\\\"") == std::string::npos ? line.npos : line.find("\\\"") + 1) << line;
    } else if (line.starts_with("# TYPE ")) {
      words >> word >> word >> name >> type;
      EXPECT_EQ(name, family) << line;
      EXPECT_TRUE(kSuffixes.contains(type)) << line;
      EXPECT_FALSE(type == "counter" && name.ends_with("_total")) << line;
    } else {
      std::smatch match;
      ASSERT_TRUE(std::regex_match(line, match, kSample)) << line;
      ASSERT_TRUE(match[1].str().starts_with(family)) << line;
      EXPECT_TRUE(kSuffixes.at(type).contains(match[1].str().substr(family.size()))) << line;
      EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
      char* end = nullptr;
      const double value = std::strtod(match[6].str().c_str(), &end);
      EXPECT_FALSE(value < 0 && (type == "counter" || type == "histogram")) << line;
      const size_t le = line.find("le=\"");
      EXPECT_FALSE(type == "histogram" && le != line.npos && line.find_first_of(".I", le) == line.npos) << line;
    }
  }
  EXPECT_TRUE(in.get() == EOF) << "text after # EOF";
  for (const std::string& name : families)
    for (const char* suffix : {"_total", "_count", "_sum", "_bucket", "_created", "_info"})
      EXPECT_FALSE(families.contains(name + suffix)) << name << " and " << name + suffix << " clash";
}

TEST(OpenMetrics, FollowsTheRulesOfTheFormat) {
  FamilySet set;
  const Node node = everything();
  add_everything(set, node);
  set.add(kLevel, {{"text", "back\\slash \"quoted\"\nsecond line"}}, 1);
  set.add(kSpread, {{{"device", "mlx5_0"}}, kBounds, {7, 1, 0, 2, 3, 4}, 2.25});
  expect_openmetrics(serialize(set, TextFormat::openmetrics));
}

TEST(OpenMetrics, CountersAreFamiliesWithoutTotal) {
  static constexpr Metric kNoSuffix{"test_things", "Things of \"another\" exporter.", MetricKind::counter};
  FamilySet set;
  set.add(kTotal, {}, 3);
  set.add(kNoSuffix, {}, 4);
  EXPECT_EQ(
      serialize(set, TextFormat::openmetrics),
      "# HELP test_things Things that were counted.\n# TYPE test_things counter\ntest_things_total 3\n"
      "# HELP test_things Things of \\\"another\\\" exporter.\n# TYPE test_things unknown\ntest_things 4\n# EOF\n");
  EXPECT_EQ(serialize(FamilySet(), TextFormat::openmetrics), "# EOF\n");
}

TEST(Negotiation, OpenMetricsOnlyWhenAskedFor) {
  constexpr auto plain = TextFormat::prometheus, open = TextFormat::openmetrics;
  EXPECT_EQ(negotiate(""), plain);
  EXPECT_EQ(negotiate("*/*"), plain);
  EXPECT_EQ(negotiate("application/*, */*;q=0.1"), plain);
  EXPECT_EQ(negotiate("text/html,application/xhtml+xml,*/*;q=0.8"), plain);
  EXPECT_EQ(negotiate("application/openmetrics-text"), open);
  EXPECT_EQ(negotiate("Application/OpenMetrics-Text ; Version=1.0.0; charset=utf-8"), open);
  EXPECT_EQ(negotiate("application/openmetrics-text;version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"), plain);
  EXPECT_EQ(negotiate("application/openmetrics-text;version=2.0.0"), plain);
  // Prometheus 2.53 and 3.0
  EXPECT_EQ(negotiate("application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;"
                      "q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"),
            open);
  EXPECT_EQ(negotiate("text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.2"),
            plain);
  EXPECT_EQ(negotiate("application/openmetrics-text;q=0, */*"), plain);
  EXPECT_EQ(negotiate("application/openmetrics-text;q=0.5, */*;q=0.9"), plain);
  EXPECT_EQ(negotiate("application/openmetrics-text;q=0.5, text/plain;q=0.1, */*;q=0.9"), open);
  EXPECT_EQ(negotiate("application/openmetrics-text;q=2"), plain);
  EXPECT_EQ(negotiate("application/openmetrics-text;q=nan, ;;,=,"), plain);
}

TEST(Promtool, HasNothingToSayAboutAnyMetric) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "promtool is not installed";
  FamilySet set;
  Node node = everything();
  node.agent.emplace();
  node.agent->ports["mlx5_0/1"]["pfc"] = {Outcome::in_sync, "", 3, ""};
  Report report;
  report.findings.push_back({"pfc", "mlx5_0/1", Status::warning, "", "", "", ""});
  node.platform.functions["0000:17:00.0"].correctable.total = 1;
  add_everything(set, node, report);
  std::string file = testing::TempDir() + "fabric_promtool_" + std::to_string(::getpid());
  std::ofstream(file) << serialize(set);
  EXPECT_EQ(std::system(("promtool check metrics < " + file).c_str()), 0);
  std::remove(file.c_str());
}

// -- /, for people

constexpr int64_t kWall = 1'790'000'000;

// The input of the page, for a machine as a literal.
struct Shown {
  explicit Shown(int rails = 8) : machine(rails) {}
  test::Healthy machine;
  std::vector<Ack> acks;
  std::vector<CollectorRun> runs{{"topology", "", true, 0.1, ""}};
  std::chrono::seconds age{2};
  std::string silent;  // a device that has not answered for long
  Health health;

  [[nodiscard]] std::string page() const {
    const Clock::time_point now = machine.now.taken + age;
    Snapshot snapshot{machine.now, machine.plan, runs, {}};
    for (const Port& port : machine.now.ports)
      snapshot.ages.push_back({port.rdma, machine.now.taken - std::chrono::seconds(port.rdma == silent ? 90 : 0)});
    PageContext context;
    context.before = &machine.before;
    context.policy = &machine.policy;
    context.acks = acks;
    context.health = &health;
    context.wall = kWall;
    return render_landing(snapshot, find(snapshot, context), context, now);
  }
};

std::vector<std::string> all(const std::string& page, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> out;
  for (auto match = std::sregex_iterator(page.begin(), page.end(), expression); match != std::sregex_iterator();
       ++match)
    out.push_back((*match)[1]);
  return out;
}

// A port without a link, PFC off on two, a device that does not answer, one finding that is known.
Shown faulty() {
  Shown out;
  test::down(out.machine, 2, 2);
  test::lose_link(out.machine, 2);
  for (const char* port : {"mlx5_0/1", "mlx5_1/1"}) {
    Change& pfc = out.machine.change(port, "pfc");
    pfc.outcome = Outcome::pending;
    pfc.from = "none";
  }
  out.machine.now.agent->running = false;
  out.acks = {{"agent", "host", 0, kWall + 3600, "root", "under repair until Monday"}};
  out.machine.now.ports[5].unread = {{.why = "ethtool statistics: Operation not permitted (EPERM)"}};
  out.machine.now.ports[6].rate.reset();
  out.silent = "mlx5_7";
  out.health.ages["mlx5_7/1"] = 90;
  return out;
}

TEST(Landing, EqualsTheGoldenFile) {
  const std::regex version("<dd>" FABRIC_VERSION "</dd>");
  test::expect_golden("exporter_landing.html", std::regex_replace(faulty().page(), version, "<dd>-</dd>"));
}

TEST(Landing, AHealthyNodeHasNothingToDo) {
  const std::string page = Shown().page();
  EXPECT_TRUE(has(page, "<p class=\"verdict\">OK</p>"));
  EXPECT_TRUE(has(page, "Nothing: no check found a problem."));
  EXPECT_FALSE(has(page, "class=\"card")) << page;
  EXPECT_TRUE(has(page, "leaf0<small>"));
  EXPECT_EQ(count_of(page, "<span class=\"tone ok\">ok</span>"), 8u);
  EXPECT_TRUE(has(page, "GPU0 PIX mlx5_0."));
  EXPECT_TRUE(has(page, "running, mode enforce"));
}

TEST(Landing, ADeviceThatDoesNotAnswerIsNotOk) {
  Shown shown;
  shown.silent = "mlx5_3";
  shown.health.ages["mlx5_3/1"] = 90;
  EXPECT_TRUE(has(shown.page(), "<p class=\"verdict\">WARNING</p>"));
  EXPECT_TRUE(has(shown.page(), "last successful reading 90 s ago"));
  EXPECT_TRUE(has(shown.page(), "mlx5_3 has not answered for 92 s."));
  Shown never;
  never.runs.push_back({"reader", "mlx5_9", false, 3, "", true});
  EXPECT_TRUE(has(never.page(), "mlx5_9 does not answer."));
}

// Nothing checked is not OK, and absent is not zero.
TEST(Landing, BeforeTheFirstReadingNothingIsKnown) {
  const std::string page = render_landing({}, {}, {}, Clock::now());
  EXPECT_TRUE(has(page, "<p class=\"verdict\">UNKNOWN</p>"));
  EXPECT_TRUE(has(page, "Nothing has been checked yet"));
  EXPECT_FALSE(has(page, "0 checks"));
  EXPECT_EQ(count_of(page, "Not known yet"), 3u) << "diagnosis, ports, topology\n" << page;
  Snapshot unread;
  unread.runs = {{"topology", "", false, 0.1, "hwloc: Permission denied"}};
  EXPECT_TRUE(has(render_landing(unread, {}, {}, Clock::now()), "Not known: hwloc: Permission denied"));
  EXPECT_FALSE(has(page, "has neither GPUs nor NICs"));
}

// Names that come from outside this process: firmware, drivers, switches, files.
Shown named(const std::string& name) {
  Shown out = faulty();
  out.machine.now.hostname = name;
  out.machine.now.agent->held = out.machine.now.agent->config_error = name;
  out.machine.now.unseen = {name};
  out.runs.push_back({"ethtool", name, false, 1, name});
  out.acks[0].comment = name;
  for (Gpu& gpu : out.machine.now.topology.gpus) gpu.model = gpu.root = name;
  for (Nic& nic : out.machine.now.topology.nics) nic.netdevs = {name};
  for (Neighbor& neighbor : out.machine.now.neighbors.heard) neighbor.system_name = neighbor.port_id = name;
  for (Port& port : out.machine.now.ports) port.unread = {{.why = name}};
  out.machine.change("mlx5_0/1", "pfc").from = name;
  return out;
}

TEST(Landing, TextFromOutsideStaysText) {
  const std::string attack = "\"'><script>alert(1)</script><img src=x onerror=y>&amp;\x1b[31m\xe2\x80\xae\xff";
  const std::string page = named(attack).page(), tame = named("!quiet").page();
  for (const char* sign : {"<script", "<img", "\x1b", "\xe2\x80\xae", "\xff", "\"'>"})
    EXPECT_FALSE(has(page, sign)) << sign;
  EXPECT_TRUE(has(page, "&lt;script&gt;"));
  const auto tags = [](const std::string& text) { return all(text, "<([^>]*)>"); };
  EXPECT_EQ(tags(page), tags(tame)) << "the same elements and attributes, whatever the names are";
}

TEST(Landing, NothingRunsAndNothingComesFromElsewhere) {
  std::string page = faulty().page();
  for (const char* forbidden : {"<script", " style=\"", " src=", " onload", "javascript:", "@import", "url("})
    EXPECT_FALSE(has(page, forbidden)) << forbidden;
  for (const std::string& link : all(page, "href=\"([^\"]*)\""))
    EXPECT_TRUE(link.starts_with("#") || link == "metrics" || link.starts_with("-/")) << link;
  EXPECT_TRUE(has(page, "<style>" + std::string(kLandingStyle) + "</style>"));
  unsigned char hash[32];
  ASSERT_EQ(::gnutls_hash_fast(GNUTLS_DIG_SHA256, kLandingStyle.data(), kLandingStyle.size(), hash), 0);
  gnutls_datum_t raw{hash, sizeof hash}, encoded{};
  ASSERT_EQ(::gnutls_base64_encode2(&raw, &encoded), 0);
  const std::string text(reinterpret_cast<char*>(encoded.data), encoded.size);
  ::gnutls_free(encoded.data);
  EXPECT_TRUE(content_policy().starts_with("default-src 'none'; style-src 'sha256-" + text + "';")) << content_policy();
  EXPECT_FALSE(has(content_policy(), "unsafe"));
}

// Hundreds of ports and findings do not make a page of megabytes.
TEST(Landing, AHugeNodeHasAPageOfBoundedSize) {
  Shown huge;
  for (int i = 0; i < 1000; ++i) {
    Port port = huge.machine.now.ports[0];
    port.rdma = "mlx5_" + std::to_string(100 + i);
    port.state = 1;
    port.unread = {{.why = "reason " + std::to_string(i)}};
    if (i % 2 == 0) test::make_virtual(port);
    huge.machine.now.ports.push_back(port);
  }
  const std::string page = huge.page();
  EXPECT_LT(page.size(), 400'000u);
  EXPECT_TRUE(has(page, "more, virtual functions last: fabric-agentctl status"));
  EXPECT_TRUE(has(page, " more</li>"));
}

}  // namespace
}  // namespace fabric::exporter
