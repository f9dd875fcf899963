// SPDX-License-Identifier: Apache-2.0
#include "faults/planted.h"

#include "faults/answer.h"
#include "nic/metrics.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using test::has;

Counter& counter(std::vector<Counter>& list, const std::string& name) {
  for (Counter& each : list)
    if (each.name == name) return each;
  return list.emplace_back(Counter{name, 100});
}

}  // namespace

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.what; }

void expect_blamed(const Planted& planted) {
  const auto healthy = std::find_if(machines().begin(), machines().end(),
                                    [&](const Machine& each) { return each.name == planted.machine; });
  ASSERT_NE(healthy, machines().end()) << planted.machine;
  expect_blamed(planted, *healthy);
}

void expect_blamed(const Planted& planted, Machine machine) {
  planted.plant(machine);
  const std::string second_rail = machine.port().id();
  const Findings found = diagnose(machine.view());
  const std::string text = describe_causes(found);
  std::map<std::string, std::string> rules;
  for (const Finding& each : found) rules[each.subject] += (rules[each.subject].empty() ? "" : " ") + each.id;
  std::string blamed;
  for (const auto& [port, list] : rules) blamed += (blamed.empty() ? "" : "; ") + port + ": " + list;
  if (rules.size() == 1 && rules.begin()->first == second_rail) blamed = rules.begin()->second;
  EXPECT_EQ(blamed, planted.blamed) << text;
  EXPECT_TRUE(has(text, planted.evidence)) << text;
  EXPECT_TRUE(planted.must_not.empty() || !has(text, planted.must_not)) << text;
}

void grow_ethtool(Machine& machine, const std::string& name, uint64_t by, size_t port) {
  const uint64_t start = counter(machine.before.ports[port].counters.ethtool, name).value;
  Counter& now = counter(machine.now.ports[port].counters.ethtool, name);
  now.value = std::max(now.value, start) + by;
}

void damage_frames(Machine& machine, uint64_t frames, size_t port) {
  grow_ethtool(machine, "rx_crc_errors_phy", frames, port);
  if (auto& fec = machine.now.ports[port].fec; fec && fec->uncorrectable_blocks.total)
    *fec->uncorrectable_blocks.total += frames;
}

void give_up(Machine& m) {
  m.raise(metrics::kRetriesExceeded, 12);
  m.raise(metrics::kAckTimeouts, 96);
}

void set_pfc(Machine& m, std::optional<PrioSet> priorities) {
  m.before.ports[1].qos.pfc = m.port().qos.pfc = priorities;
}

void lose_carrier(Port& port) {
  port.state = 1;
  port.carrier = false;
  port.link_status->up = false;
}

std::vector<Planted> join(std::initializer_list<std::vector<Planted>> tables) {
  std::vector<Planted> out;
  for (const auto& table : tables) out.insert(out.end(), table.begin(), table.end());
  return out;
}

}  // namespace fabric::faults
