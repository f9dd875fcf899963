// SPDX-License-Identifier: Apache-2.0
// Our text against the reference: prometheus-cpp's TextSerializer, and promtool where it is installed.
#include <gtest/gtest.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "counters/catalogue.h"
#include "metrics/exposition.h"
#include "metrics/families.h"
#include "metrics/raw_ethtool.h"
#include "model/metrics.h"
#include "support/series.h"

namespace fabric {
namespace {

// Through the reference's own counting: one observation inside each bucket for each that is counted there.
prometheus::ClientMetric reference_histogram(const HistogramSample& sample) {
  prometheus::Histogram counted(prometheus::Histogram::BucketBoundaries(sample.bounds.begin(), sample.bounds.end()));
  for (size_t i = 0; i < sample.counts.size(); ++i)
    for (uint64_t n = 0; n < sample.counts[i]; ++n)
      counted.Observe(i < sample.bounds.size() ? sample.bounds[i] : std::numeric_limits<double>::infinity());
  prometheus::ClientMetric metric = counted.Collect();
  metric.histogram.sample_sum = sample.sum;
  for (const auto& [name, value] : test::read_labels(sample.labels.text())) metric.label.push_back({name, value});
  return metric;
}

prometheus::MetricFamily reference_family(const Family& family) {
  prometheus::MetricFamily out;
  out.name = family.metric->name;
  out.help = family.metric->help;
  bool counter = family.metric->kind == MetricKind::counter;
  out.type = counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  const bool untyped = family.metric->kind == MetricKind::untyped;
  if (family.metric->kind == MetricKind::histogram) out.type = prometheus::MetricType::Histogram;
  if (untyped) out.type = prometheus::MetricType::Untyped;
  for (const HistogramSample& sample : family.histograms) out.metric.push_back(reference_histogram(sample));
  for (const MetricSample& sample : family.samples) {
    prometheus::ClientMetric metric;
    for (const auto& [name, value] : test::read_labels(sample.labels)) metric.label.push_back({name, value});
    (counter ? metric.counter.value : untyped ? metric.untyped.value : metric.gauge.value) = sample.value;
    out.metric.push_back(std::move(metric));
  }
  return out;
}

std::string reference_text(const std::vector<Family>& families) {
  std::vector<prometheus::MetricFamily> reference;
  for (const Family& family : families) reference.push_back(reference_family(family));
  return prometheus::TextSerializer().Serialize(reference);
}

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
  EXPECT_EQ(parsed(to_exposition(set.families())), parsed(reference_text(set.families())));
}

constexpr Metric kSpread{"test_spread_ratio", "A spread.", MetricKind::histogram};
constexpr std::array kBounds{0.0, 0.01, 0.1, 0.5, 100000.0};

TEST(Exposition, HistogramsEqualTheReference) {
  FamilySet set;
  set.add(kSpread, {{{"device", "mlx5_0"}, {"priority", "3"}}, kBounds, {7, 1, 0, 2, 3, 4}, 2.25});
  set.add(kSpread, {{}, std::span(kBounds).first(1), {0, 0}, 0});
  set.add(kLevel, {}, 1);
  const std::string text = to_exposition(set.families());
  EXPECT_EQ(parsed(text), parsed(reference_text(set.families())));
  EXPECT_NE(text.find("# TYPE test_spread_ratio histogram\n"), std::string::npos);
  EXPECT_NE(text.find("test_spread_ratio_bucket{device=\"mlx5_0\",priority=\"3\",le=\"0.5\"} 10\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("test_spread_ratio_bucket{device=\"mlx5_0\",priority=\"3\",le=\"+Inf\"} 17\n"),
            std::string::npos);
  EXPECT_EQ(set.series(), 8u + 4u + 1u);
}

TEST(Exposition, EveryDoubleReadsBackAsItself) {
  FamilySet set;
  const std::array values{0.1, 1.0 / 3, 9007199254740991.0, 1e300, 5e-324, 123456789.123456789};
  for (size_t i = 0; i < values.size(); ++i) set.add(kLevel, {{"i", std::to_string(i)}}, values[i]);
  std::istringstream in(to_exposition(set.families()));
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
  EXPECT_NE(to_exposition(set.families()).find("test_things_total 9007199254740992\n"), std::string::npos);
}

TEST(Exposition, BytesThatAreNotUtf8AreReplaced) {
  FamilySet set;
  set.add(kLevel, {{"firmware", std::string("28\xff\0.39", 7)}}, 1);
  EXPECT_NE(to_exposition(set.families()).find("firmware=\"28\xef\xbf\xbd\xef\xbf\xbd.39\""), std::string::npos);
}

const std::vector<std::string> kAnyName{"*"};

// A port that has every counter of every vendor.
Port everything() {
  Port port;
  port.rdma = "mlx5_0";
  port.state = 4;
  port.counters.carrier_down = 2;
  uint64_t value = 1;
  for (auto rows : {mlx5_rows(), bnxt_rows(), ice_irdma_rows(), ionic_rows(), rxe_rows(), pma_rows()})
    for (const CounterRow& row : rows) {
      std::string name(row.name);
      if (size_t mark = name.find('#'); mark != std::string::npos) name[mark] = '3';
      auto& list = row.source == CounterSource::hw    ? port.counters.hw
                   : row.source == CounterSource::pma ? port.counters.pma
                                                      : port.counters.ethtool;
      list.push_back({name, value++});
    }
  port.counters.pma.push_back({"port_unheard_of", 7});
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
  return port;
}

TEST(Exposition, EveryMetricOfTheCatalogueEqualsTheReference) {
  FamilySet set;
  Node node;
  node.ports.push_back(everything());
  add_node(set, node, {}, RawCounters::all);
  add_ethtool(set, node, kAnyName);
  EXPECT_EQ(parsed(to_exposition(set.families())), parsed(reference_text(set.families())));
}

TEST(Promtool, HasNothingToSayAboutAnyMetric) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "promtool is not installed";
  FamilySet set;
  Node node;
  node.ports.push_back(everything());
  node.agent.emplace();
  node.agent->ports["mlx5_0/1"]["pfc"] = {"in_sync", "", 3, ""};
  Report report;
  report.findings.push_back({"pfc", "mlx5_0/1", Status::warning, "", "", "", ""});
  node.platform.functions["0000:17:00.0"].correctable.total = 1;
  add_node(set, node, report, RawCounters::all);
  add_ethtool(set, node, kAnyName);
  std::string file = testing::TempDir() + "fabric_promtool_" + std::to_string(::getpid());
  std::ofstream(file) << to_exposition(set.families());
  EXPECT_EQ(std::system(("promtool check metrics < " + file).c_str()), 0);
  std::remove(file.c_str());
}

}  // namespace
}  // namespace fabric
