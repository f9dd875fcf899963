// SPDX-License-Identifier: Apache-2.0
// Readings of the host: the names of the RDMA devices, the PCI topology, and the files of fabric-agentd and
// fabric-lldp.
#pragma once

#include "exporter/collect/device.h"
#include "node/neighbor_state.h"
#include "node/optics_state.h"
#include "node/state.h"
#include "node/vnic_state.h"

namespace fabric::exporter {

struct CollectorOptions;

// The newest readings that fabric-agentd published in a file.
template <class Readings>
struct FromAgent {
  std::shared_ptr<const Readings> readings{};  // null: none, or too old
  double age = 0;                              // seconds since fabric-agentd read them
};

// Parses the file only when it has changed: fabric-agentd writes it once a minute.
template <class Readings>
class AgentFile {
 public:
  using Parse = Result<Readings> (*)(std::string_view text, const std::string& name, std::optional<double> now);
  AgentFile(const char* file, Parse parse) : file_(file), parse_(parse) {}
  FromAgent<Readings> read(const Root* root);  // null: the root cannot be opened

 private:
  const char* file_;
  Parse parse_;
  std::string text_;  // the file that readings_ was parsed from
  std::shared_ptr<const Readings> readings_;
};

struct HostReading {
  Node node;  // topology and the agent's state
  Neighbors neighbors;
  std::vector<CollectorRun> runs;
  bool agent_acted = false;    // fabric-agentd has published a new state: settings may have changed
  uint64_t topology_read = 0;  // number of readings of the topology
  FromAgent<state::Optics> optics{};
  FromAgent<state::Vnic> vnic{};
};

class HostReader {
 public:
  HostReader(std::string root, std::chrono::seconds topology_age)
      : root_(std::move(root)), topology_age_(topology_age) {}

  // Names of the RDMA devices. Does not open them. An Error is also in Node::rdma_unread of the next reading.
  Result<std::vector<std::string>> devices();
  // Reads fabric-agentd's state. Reads the topology if it is due, if the list of devices has changed, or if
  // `topology_changed`. `devices`: the result of devices(), or null if they were not listed.
  HostReading read(const std::vector<std::string>* devices, bool topology_changed = false);

 private:
  void read_topology();

  std::string root_;
  std::optional<Root> opened_;
  std::chrono::seconds topology_age_;
  Clock::time_point topology_taken_{};
  std::vector<std::string> known_;
  Node node_;
  uint64_t topology_read_ = 0;
  state::AgentStateReader agent_state_;
  std::shared_ptr<const AgentState> state_;
  state::NeighborReader neighbors_;
  AgentFile<state::Optics> optics_{state::kOpticsFile, state::parse_optics};
  AgentFile<state::Vnic> vnic_{state::kVnicFile, state::parse_vnic};
  CollectorRun topology_{kTopologyCollector, "", true, 0, {}};
};

// Readings that change rarely and belong to no RDMA device: IP addresses, the platform around GPUs and NICs, the host.
// The host's thread runs each collector at its own interval, for the first time when the devices are known. No
// collector opens an RDMA device. Data that the service's sandbox hides is absent.

struct HostCollector {
  const char* name;  // as in fabric_collector_success: "network", "platform", "host"
  std::chrono::seconds CollectorOptions::*every;
  void (*read)(Kernel& kernel, Node& node);    // fills the collector's members; topology and ports are known
  void (*copy)(const Node& from, Node& into);  // copies the collector's members
  // The collector fails if a part of the host could not be read. A port's own part fails for its device only.
  bool is_partial_failure;
};
const std::vector<HostCollector>& host_collectors();

struct HostCollection {
  std::shared_ptr<const Node> node;  // the collector's members only; null before the first reading
  CollectorRun run;
  std::vector<CollectorRun> failed{};  // of the devices with a port that it could not read
};

// `known` has the topology and the identity of the ports.
HostCollection run_collector(const HostCollector& collector, const std::string& root, Node known);

// True if the collectors read the same for both lists of ports: PCI functions, netdevs and netdevs of GIDs are equal.
bool are_same_subjects(const std::vector<Port>& a, const std::vector<Port>& b);

}  // namespace fabric::exporter
