// SPDX-License-Identifier: Apache-2.0
// Healthy machines of several kinds, between two readings a minute apart with traffic going on: what faults are planted
// in.
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

  // What most faults are planted in: the second rail, its GPU and the bridges above both.
  Port& port() { return now.ports.at(1); }
  Nic& nic() { return now.topology.nics.at(1); }
  Gpu& gpu() { return now.topology.gpus.at(1); }
  Interface& interface() { return now.network.interfaces.at(port().netdev); }
  // What the port's own counters say of the metric (lib/nic/metrics.h) grows by so many base units between the
  // readings; where the metric has a direction or the like, `label` says which. False: this driver does not count it.
  bool raise(const Metric& metric, double by, std::string_view label = {});
  // It did not grow.
  void hold(const Metric& metric);
  // So many at this strength.
  double amount(double by) {
    has_amounts = true;
    return by * strength;
  }
  uint64_t events(double by) { return static_cast<uint64_t>(amount(by) + 0.5); }
  // The readings are only so many seconds apart; nothing has been planted yet.
  void shorten(int seconds);
};

// As it is at boot; before and now differ by a minute of healthy load.
std::vector<Machine> healthy_machines();

// What a healthy port under full load does in so many seconds: bytes at line rate, and the little congestion control,
// pause and corrected bits that go with it. Adds to every counter that the port has.
void load(Port& port, double seconds);

}  // namespace fabric::faults
