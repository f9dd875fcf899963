// SPDX-License-Identifier: Apache-2.0
// What etc/ gives Prometheus and Grafana asks for nothing that no program publishes.
#include "support/test.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;

std::set<std::string> words(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) found.insert((*at)[1].str());
  return found;
}

// The names that stand as literals in the code: each metric is made of one.
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
  EXPECT_GE(asked.size(), 3u);
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
