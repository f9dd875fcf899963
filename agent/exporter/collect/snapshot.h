// SPDX-License-Identifier: Apache-2.0
// The newest readings of the whole machine, as the page, the checks and health see them.
#pragma once

#include "counters/burst.h"
#include "exporter/collect/device_sampler.h"
#include "model/change.h"
#include "model/node.h"

namespace fabric::exporter {

using Clock = std::chrono::steady_clock;

// Port id -> the changes that its policy would make.
using Plan = std::map<std::string, Changes>;

// The newest attempt to read one group of values.
struct CollectorRun {
  // "rdma", "pma", "ethtool", "link", "settings", "topology", "agent", "network", "platform", "host", "reader", ...
  std::string collector;
  std::string device;  // empty: the host
  bool success = true;
  double seconds = 0;
  std::string error;
  bool operator==(const CollectorRun&) const = default;
};

struct DeviceAge {
  std::string device;
  Clock::time_point taken;  // when the reading that is shown was completed
};

struct Snapshot {
  Node node;
  Plan plan;
  std::vector<CollectorRun> runs;
  std::vector<DeviceAge> ages;
  std::vector<PortBursts> bursts{};
  std::vector<SampledDevice> sampled{};
  // Grows whenever something that rarely changes has been read: a device, the topology, addresses, the agent's state.
  uint64_t generation = 0;
  std::optional<Clock::time_point> modules_taken{};  // when fabric-agentd read the modules; nullopt: none are shown
};

}  // namespace fabric::exporter
