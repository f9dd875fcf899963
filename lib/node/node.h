// SPDX-License-Identifier: Apache-2.0
// One snapshot of the machine: scan() fills it, everything else evaluates it. No I/O here.
#pragma once

#include <chrono>

#include "node/host.h"
#include "node/inventory_part.h"
#include "node/network.h"
#include "node/platform.h"
#include "node/port.h"
#include "node/topology.h"
#include "setting/change.h"
#include "wire/neighbor.h"

namespace fabric {

// One setting of one port in agentd's state file.
struct SettingState {
  std::optional<Outcome> outcome{};  // nullopt: unknown, or of a newer release
  std::string detail{};
  uint64_t repairs = 0;
  std::string last_repair{};  // RFC 3339, empty: never
  // Drift: the setting was in sync, and then differed.
  std::map<std::string, uint64_t> drifts{};  // number by class of cause (to_text(DriftCause))
  std::string last_drift{};                  // RFC 3339, empty: never
  std::string drift_from{}, drift_to{};      // the wanted and the found value of the last drift
  std::string drift_by{};                    // the likely cause of the last drift, in words: "lldpad (pid 812)"
  std::string reason{};                      // of pending: to_text(WaitsFor); of refused: the errno; else empty
  bool operator==(const SettingState&) const = default;
};

// A file of original settings that cannot be read.
struct LostOriginals {
  std::string why;        // with the name of the file
  std::string file;       // "/var/lib/fabric-agent/originals.json"; empty: only `why` names it
  bool is_newer = false;  // a newer release wrote it
  bool operator==(const LostOriginals&) const = default;
};

// The end of AgentState::held if a reload of the agent ends the suspension.
inline constexpr const char* kEnforceAnyway = "; to enforce it anyway: systemctl reload fabric-agent";

// agentd's published state, as /run/fabric-agent/state.json holds it.
struct AgentState {
  bool running = false;             // agentd holds its lock now
  std::optional<Mode> mode;         // nullopt: unknown, or of a newer release
  std::string updated;              // RFC 3339
  std::string config_error;         // of the last reload; empty: none
  std::string held;                 // why enforcement is suspended; empty: it is not
  std::string held_until_reload{};  // `held` without kEnforceAnyway, if a reload ends the suspension; else empty
  std::optional<LostOriginals> lost_originals{};
  std::vector<std::string> lost_entry{};  // ports that no [[port]] entry matches any more since a reload
  // The settings that are not back since a self-test was killed ("mlx5_0/1 pause, mlx5_0/1 pfc"), or why its record
  // cannot be used; empty: none.
  std::string left_of_self_tests{};
  std::map<std::string, std::map<std::string, SettingState>> ports;  // port id -> setting key -> state
  std::string version{};                                             // of fabric-agentd; empty: unknown
  std::string config{};  // confirm::digest() of wanted_config() as the agent read it last; empty: unknown
  [[nodiscard]] bool is_enforcing() const { return running && mode == Mode::enforce; }
  bool operator==(const AgentState&) const = default;
};

// The device file of an RDMA device, by which programs use it.
struct VerbsFile {
  std::string name;   // "uverbs1", in /dev/infiniband
  unsigned mode = 0;  // permission bits: 0666
  bool operator==(const VerbsFile&) const = default;
};

// The connection manager for programs (librdmacm): the module rdma_ucm and its file.
struct RdmaCm {
  bool is_loaded = true;  // also: unknown
  bool has_file = true;   // /dev/infiniband/rdma_cm beside the files for verbs; also: unknown
  std::string wanted_by;  // if it is not loaded: the file of this host that has it loaded at each start
  bool operator==(const RdmaCm&) const = default;
};

struct Node {
  std::string hostname;
  std::chrono::steady_clock::time_point taken{};
  Topology topology;
  std::vector<Port> ports;
  std::optional<Host> host;              // absent: not requested
  bool has_container_processes = false;  // /proc shows the processes of a container: ask is_container() (endpoints.h)
  std::string topology_unread{};         // why the GPUs and NICs could not be listed; empty: all were, or not requested
  std::string rdma_unread{};             // why RDMA devices or their ports could not be listed; empty: all were
  bool lacks_verbs = false;  // no program can open an RDMA device: ib_uverbs is not loaded; with the topology
  // By RDMA device; absent: not in the /dev of this process. With the topology.
  std::map<std::string, VerbsFile> verbs_files{};
  RdmaCm rdma_cm{};                      // with the topology
  Network network{};                     // addresses, routes, ARP settings of the ports' netdevs
  std::optional<AgentState> agent;       // absent: no state file readable
  std::string agent_unread;              // why the state file is unreadable
  std::optional<Inventory> inventory{};  // absent: none was recorded
  std::string inventory_unread{};        // why the inventory is unreadable
  // A newer release wrote the file that cannot be read: only its programs read it.
  bool agent_is_newer = false, inventory_is_newer = false;
  Neighbors neighbors{};  // the other ends of the cables, as far as a listener runs
  // In words, what else this process could not read, mostly for lack of privilege. With the members above that say why
  // something is unread: unseen_lines() (judge/report.h).
  std::vector<std::string> unseen;
  Platform platform{};
  std::optional<PciState> pci_settings{};  // absent: neither published by fabric-agent-pci.service nor readable here
};

}  // namespace fabric
