// SPDX-License-Identifier: Apache-2.0
// How many series a page has: counted on machines where every counter of the catalogue is there.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "counters/catalogue.h"
#include "metrics/families.h"
#include "support/healthy_node.h"

namespace fabric {
namespace {

constexpr size_t kUsual = 800;  // of a node with four ports

// As mlx5 shows it with PFC on priority 3, and traffic on 0, 3 and 6.
PortCounters all_of_mlx5() {
  PortCounters out;
  for (const CounterRow& row : mlx5_rows()) {
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
  for (const CounterRow& row : pma_rows())
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
    port.fec = FecStatus{"rs", true, {1, {}}, {1, {}}, {1, {}}};
    port.resources.clear();
    port.reporters.clear();
    for (const char* kind : {"qp", "cq", "mr", "pd", "cm_id", "ctx", "srq"}) port.resources.push_back({kind, "", 1});
    for (const char* kind : {"qp", "cq", "mr"})
      for (const char* owner : {"user", "kernel"}) port.resources.push_back({kind, owner, 1});
    for (const char* name : {"fw", "fw_fatal", "tx", "rx"}) port.reporters.push_back({name, true, 0, 0});
    if (optics) port.module = optical(4);
    else port.module = Transceiver{};
    for (const Setting& setting : kSettings)
      if (has_value(setting, port.qos)) out.now.agent->ports[port.id()][std::string(setting.key)].outcome = "in_sync";
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
    bond.netdev = bond.bond = "bond" + std::to_string(ports.size());
    bond.counters.ethtool.clear();
    bond.fec.reset();
    bond.module.reset();
    Port member = whole;
    member.bond = ports.back().netdev;
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

// By the first words of the family's name.
size_t count(const char* what, int rails, const test::Healthy& node, RawCounters raw) {
  FamilySet set;
  add_node(set, node.now, run_checks(node.view()), raw);
  std::map<std::string, size_t> parts;
  for (const auto& family : set.families()) {
    const std::string& name = family.name;
    parts[name.substr(0, name.find('_', name.find('_') + 1))] += family.metric.size();
  }
  std::printf("series score: %d ports, %s: %zu series (", rails, what, set.series());
  for (const auto& [part, samples] : parts) std::printf(" %s %zu", part.c_str(), samples);
  std::printf(" )\n");
  EXPECT_EQ(set.dropped_duplicates(), 0u);
  return set.series();
}

size_t count(const char* what, int rails, bool optics, RawCounters raw) {
  return count(what, rails, machine(rails, optics), raw);
}

TEST(SeriesBudget, BondsOfTwoStayBelowTheLimit) {
  EXPECT_LT(count("bonds of two, optical modules", 8, bonded(8), RawCounters::unnamed), Policy().series_limit);
}

TEST(SeriesBudget, AUsualNodeStaysWithinIt) {
  EXPECT_LE(count("copper", 4, false, RawCounters::unnamed), kUsual);
  const size_t optical = count("optical modules", 4, true, RawCounters::unnamed);
  EXPECT_GT(count("optical modules, raw = \"all\"", 4, true, RawCounters::all), optical);
}

TEST(SeriesBudget, ALargeNodeStaysBelowTheLimit) {
  EXPECT_LT(count("optical modules", 10, true, RawCounters::unnamed),
            Policy().series_limit / 4 * 3);  // bursts come to it
  EXPECT_LT(count("copper", 10, false, RawCounters::unnamed), Policy().series_limit);
}

// Statistics by name: none by default, else a series for each that matches on each port.
TEST(SeriesBudget, WhatIsAskedForByNameCostsWhatItMatches) {
  const test::Healthy node = machine(4, false);
  const auto cost = [&](const std::vector<std::string>& globs) {
    FamilySet set;
    add_node(set, node.now, run_checks(node.view()), RawCounters::unnamed);
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

}  // namespace
}  // namespace fabric
