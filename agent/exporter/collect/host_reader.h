// SPDX-License-Identifier: Apache-2.0
// What belongs to no device: which devices there are, the PCI topology, fabric-agentd's state.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exporter/collect/collector.h"
#include "kernel/capture/root.h"
#include "model/node.h"
#include "store/neighbor_state.h"
#include "store/optics_state.h"
#include "store/state.h"

namespace fabric::exporter {

struct HostReading {
  std::shared_ptr<const Node> node;  // without ports and neighbours; the same one as long as nothing in it has changed
  Neighbors neighbors;
  std::vector<CollectorRun> runs;
  bool agent_acted = false;                       // fabric-agentd has published something new: settings may be others
  uint64_t topology_read = 0;                     // how often the topology has been read
  std::shared_ptr<const state::Optics> optics{};  // the modules as fabric-agentd published them; null: not of late
  double optics_age = 0;                          // seconds since they were read
};

class HostReader {
 public:
  HostReader(std::string root, std::chrono::seconds topology_age)
      : root_(std::move(root)), topology_age_(topology_age) {}

  // Names of the RDMA devices, without touching them.
  [[nodiscard]] std::vector<std::string> devices() const;
  // fabric-agentd's state each time; the topology when it is due, the devices are others than last time, or some device
  // `came_or_went`. `devices` is what devices() said just now, or null when they were not looked at.
  HostReading read(const std::vector<std::string>* devices, bool came_or_went = false);

 private:
  void read_topology();
  // Null: the root cannot be opened.
  bool read_agent(const Root* root);
  Neighbors read_neighbors(const Root* root);
  void read_optics(const Root* root);

  std::string root_;
  std::optional<Root> held_;
  std::chrono::seconds topology_age_;
  Clock::time_point topology_taken_{};
  std::vector<std::string> known_;
  Node node_;  // all but the agent's state
  std::shared_ptr<const Node> told_;
  uint64_t topology_read_ = 0, told_topology_ = 0;
  state::AgentStateReader agent_state_;
  std::shared_ptr<const AgentState> state_;
  state::NeighborReader neighbors_;
  std::string optics_text_;  // what optics_ was made of
  std::shared_ptr<const state::Optics> optics_;
  double optics_age_ = 0;
  CollectorRun topology_{"topology", "", true, 0, {}}, agent_{"agent", "", true, 0, {}};
};

}  // namespace fabric::exporter
