// SPDX-License-Identifier: Apache-2.0
// The healthy machines in which faults are planted: two readings, with a minute of traffic between them.
#pragma once

#include <string>
#include <vector>

#include "metrics/family.h"
#include "support/healthy_node.h"

namespace fabric::faults {

struct Machine : test::Healthy {
  explicit Machine(int rails = 4) : Healthy(rails) {}
  std::string name, what;
  // How much harder faults are planted than their rows say.
  double strength = 1;
  bool has_amounts = false;  // the planted fault depends on `strength`

  [[nodiscard]] bool is_guest() const { return !now.topology.hypervisor.empty(); }
  [[nodiscard]] bool is_roce() const { return now.ports.front().link_layer == LinkLayer::ethernet; }

  // Most faults are planted here: the second rail, its GPU and the bridges above both.
  Port& port() { return now.ports.at(1); }
  Nic& nic() { return now.topology.nics.at(1); }
  Gpu& gpu() { return now.topology.gpus.at(1); }
  Interface& interface() { return now.network.interfaces.at(port().netdev); }
  // Raises the port's counters of the metric (lib/nic/metrics.h) by this number of base units between the readings.
  // `label` selects the direction or the like if the metric has one. False: the driver has no such counter.
  bool raise(const Metric& metric, double by, std::string_view label = {});
  // The counters of the metric do not grow.
  void hold(const Metric& metric);
  // The amount at this strength.
  double amount(double by) {
    has_amounts = true;
    return by * strength;
  }
  uint64_t events(double by) { return static_cast<uint64_t>(amount(by) + 0.5); }
  // Shortens the time between the readings. Before anything is planted.
  void shorten(int seconds);
};

// Puts the machine into a fabric of this kind: on a lossy one PFC is off at both ends of all cables, and
// the policy alone names the priority of RoCE.
void set_fabric(Machine& machine, const Fabric& fabric);

// `before` and `now` differ by a minute of healthy load.
std::vector<Machine> healthy_machines();

// Adds to every counter of a port what full load brings in this time: bytes at line rate, and a little congestion
// control, pause and corrected bits.
void load(Port& port, double seconds);

}  // namespace fabric::faults
