// SPDX-License-Identifier: Apache-2.0
// Faults at a port of the healthy machine, and the findings of diagnose.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "judge/cause.h"
#include "judge/engine.h"
#include "node/signals.h"
#include "support/counters.h"
#include "support/healthy_node.h"

namespace fabric::test {

inline constexpr double kWindow = 10;  // seconds

using Where = CounterSource;

inline Counter& counter(Port& port, Where where, const std::string& name) {
  for (Counter& each : list(port, where))
    if (each.name == name) return each;
  return list(port, where).emplace_back(Counter{name, 100});
}

// Adds the counter to both readings, and raises it by `by` in the second one.
inline void grow(Healthy& node, Where where, const std::string& name, uint64_t by, size_t port = 0) {
  const uint64_t start = counter(node.before.ports[port], where, name).value;
  counter(node.now.ports[port], where, name).value = start + by;
}
inline void hold(Healthy& node, double ratio, const char* direction = "tx") {
  grow(node, Where::ethtool, std::string(direction) + "_prio3_pause_duration",
       static_cast<uint64_t>(ratio * kWindow * 1e6));
}
inline void lose_link(Healthy& node, size_t port = 0) {
  node.now.ports[port].counters.carrier_down = node.before.ports[port].counters.carrier_down.value() + 1;
}
inline void take_down(Healthy& node, unsigned phys_state, const char* reason = "", const char* detail = "") {
  down(node, 0, phys_state);
  node.now.ports[0].carrier = false;
  lose_link(node);
  if (*reason != '\0') node.now.ports[0].link_status = LinkStatus{.up = false, .reason = reason, .detail = detail};
}

// Gives the port's module alarm limits and clear flags on its four lanes.
inline Transceiver& plug(Healthy& node) {
  Transceiver& out = *node.now.ports[0].module;
  out.rx_power_limits = out.tx_power_limits = {5e-3, 0.1e-3, 4e-3, 0.2e-3};
  for (ModuleLane& lane : out.lanes) lane.rx_los = lane.rx_lol = lane.tx_los = lane.tx_lol = lane.tx_fault = false;
  node.before.ports[0].module = out;
  return out;
}

inline Neighbor& neighbor(Healthy& node, size_t port = 0) { return node.now.neighbors.heard.at(port); }

inline Findings ask(Healthy& node) {
  node.now.taken = node.before.taken + std::chrono::seconds(static_cast<int>(kWindow));
  return diagnose(node.view());
}

inline std::string text(const Findings& all) {
  std::string out;
  for (const Finding& each : all) {
    out += each.subject + " " + each.id + " " + std::string(to_text(*each.culprit)) + "\n";
    for (const std::string& line : each.evidence) out += "    " + line + "\n";
  }
  return out;
}

inline std::set<std::string> rules_of(const Findings& all) {
  std::set<std::string> out;
  for (const Finding& each : all) out.insert(each.id);
  return out;
}

}  // namespace fabric::test
