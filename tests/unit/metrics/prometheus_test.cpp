// SPDX-License-Identifier: Apache-2.0
// Our text against the reference: prometheus-cpp's TextSerializer, and promtool where it is installed.
#include <prometheus/text_serializer.h>

#include <limits>

#include "metrics/families.h"
#include "metrics/text.h"
#include "nic/counter_catalogue.h"
#include "nic/metrics.h"
#include "support/counters.h"
#include "support/series.h"
#include "support/test.h"

namespace fabric {
namespace {

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
  EXPECT_EQ(parsed(serialize(set.families())), parsed(prometheus::TextSerializer().Serialize(set.families())));
}

constexpr Metric kSpread{"test_spread_ratio", "A spread.", MetricKind::histogram};
constexpr std::array kBounds{0.0, 0.01, 0.1, 0.5, 100000.0};

TEST(Exposition, HistogramsEqualTheReference) {
  FamilySet set;
  set.add(kSpread, {{{"device", "mlx5_0"}, {"priority", "3"}}, kBounds, {7, 1, 0, 2, 3, 4}, 2.25});
  set.add(kSpread, {{}, std::span(kBounds).first(1), {0, 0}, 0});
  set.add(kLevel, {}, 1);
  const std::string text = serialize(set.families());
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
  std::istringstream in(serialize(set.families()));
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
  EXPECT_TRUE(test::has(serialize(set.families()), "test_things_total 9007199254740992\n"));
}

TEST(Exposition, BytesThatAreNotUtf8AreReplaced) {
  FamilySet set;
  set.add(kLevel, {{"firmware", std::string("28\xff\0.39", 7)}}, 1);
  EXPECT_TRUE(test::has(serialize(set.families()), "firmware=\"28\xef\xbf\xbd\xef\xbf\xbd.39\""));
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
  port.fec = FecStatus{"rs", true, {1, {1, 0}}, {2, {2, 0}}, {3, {3, 0}}};
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
  EXPECT_EQ(parsed(serialize(set.families())), parsed(prometheus::TextSerializer().Serialize(set.families())));
}

std::vector<prometheus::ClientMetric::Label> labels_of(const std::string& line) {
  static const std::regex kLabel(R"re((\w+)="((\\.|[^"\\])*)")re");
  std::vector<prometheus::ClientMetric::Label> out;
  for (std::sregex_iterator label(line.begin(), line.end(), kLabel), end; label != end; ++label) {
    std::string text = (*label)[2];
    for (size_t at = 0; (at = text.find('\\', at)) != std::string::npos; ++at)
      text.replace(at, 2, text[at + 1] == 'n' ? "\n" : text.substr(at + 1, 1));
    out.push_back({(*label)[1], text});
  }
  return out;
}

// A page as families: the test's own reader of the text format, for the types that our pages have.
std::vector<prometheus::MetricFamily> families_of(const std::string& page) {
  static const std::map<std::string, prometheus::MetricType> kTypes{{"counter", prometheus::MetricType::Counter},
                                                                    {"gauge", prometheus::MetricType::Gauge},
                                                                    {"histogram", prometheus::MetricType::Histogram}};
  std::vector<prometheus::MetricFamily> out;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string mark, what, name, rest;
    words >> mark >> what >> name >> std::ws;
    std::getline(words, rest);
    if (what == "HELP" && mark == "#") {
      out.push_back({name, rest, prometheus::MetricType::Untyped, {}});
    } else if (what == "TYPE" && mark == "#") {
      EXPECT_TRUE(kTypes.contains(rest)) << line << ": read it here";
      out.back().type = kTypes.at(rest);
    } else {
      const size_t space = line.rfind(' ');
      const std::string series = line.substr(0, line.find_first_of("{ "));
      const double value = std::strtod(line.c_str() + space, nullptr);
      std::vector<prometheus::ClientMetric>& metrics = out.back().metric;
      const bool histogram = out.back().type == prometheus::MetricType::Histogram;
      if (histogram && series == out.back().name + "_sum") metrics.back().histogram.sample_sum = value;
      if (histogram && series == out.back().name + "_bucket") {
        const double bound = std::strtod(line.c_str() + line.find("le=\"") + 4, nullptr);
        metrics.back().histogram.bucket.push_back({static_cast<uint64_t>(value), bound});
      }
      if (histogram && series != out.back().name + "_count") continue;
      EXPECT_EQ(series, out.back().name + (histogram ? "_count" : "")) << line;
      prometheus::ClientMetric sample;
      sample.histogram.sample_count = static_cast<uint64_t>(value);
      sample.label = labels_of(line);
      sample.counter.value = sample.gauge.value = value;
      metrics.push_back(std::move(sample));
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
    const std::string page = std::regex_replace(test::slurp(file.path()), std::regex(" -\n"), " 0\n");
    const auto families = families_of(page);
    EXPECT_GT(families.size(), 10u) << file.path();
    EXPECT_EQ(serialize(families), page) << file.path();
    EXPECT_EQ(parsed(page), parsed(prometheus::TextSerializer().Serialize(families))) << file.path();
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
  expect_openmetrics(serialize(set.families(), TextFormat::openmetrics));
}

TEST(OpenMetrics, CountersAreFamiliesWithoutTotal) {
  static constexpr Metric kNoSuffix{"test_things", "Things of \"another\" exporter.", MetricKind::counter};
  FamilySet set;
  set.add(kTotal, {}, 3);
  set.add(kNoSuffix, {}, 4);
  EXPECT_EQ(
      serialize(set.families(), TextFormat::openmetrics),
      "# HELP test_things Things that were counted.\n# TYPE test_things counter\ntest_things_total 3\n"
      "# HELP test_things Things of \\\"another\\\" exporter.\n# TYPE test_things unknown\ntest_things 4\n# EOF\n");
  EXPECT_EQ(serialize({}, TextFormat::openmetrics), "# EOF\n");
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
  node.agent->ports["mlx5_0/1"]["pfc"] = {"in_sync", "", 3, ""};
  Report report;
  report.findings.push_back({"pfc", "mlx5_0/1", Status::warning, "", "", "", ""});
  node.platform.functions["0000:17:00.0"].correctable.total = 1;
  add_everything(set, node, report);
  std::string file = testing::TempDir() + "fabric_promtool_" + std::to_string(::getpid());
  std::ofstream(file) << serialize(set.families());
  EXPECT_EQ(std::system(("promtool check metrics < " + file).c_str()), 0);
  std::remove(file.c_str());
}

}  // namespace
}  // namespace fabric
