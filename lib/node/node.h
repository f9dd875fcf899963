// SPDX-License-Identifier: Apache-2.0
// One snapshot of the machine, which scan/ fills from the kernel and everything else judges. No I/O here.
#pragma once

#include <chrono>

#include "node/host.h"
#include "node/inventory_part.h"
#include "node/network.h"
#include "node/platform.h"
#include "node/port.h"
#include "node/topology.h"
#include "wire/neighbor.h"

namespace fabric {

// What agentd says of one setting of one port (its state file).
struct SettingState {
  std::string outcome{};  // to_text(Outcome)
  std::string detail{};
  uint64_t repairs = 0;
  std::string last_repair{};  // RFC 3339, empty: never
  // Drift: it was in sync, and then differed.
  std::map<std::string, uint64_t> drifts{};  // how often, by class of cause (to_text(Cause))
  std::string last_drift{};                  // RFC 3339, empty: never
  std::string drift_from{}, drift_to{};      // of the last one: the wanted and the found value
  std::string drift_by{};                    // and its likely cause in words: "lldpad (pid 812)"
  bool operator==(const SettingState&) const = default;
};

// agentd's published state, as /run/fabric-agent/state.json holds it.
struct AgentState {
  bool running = false;                   // holds its lock now
  std::string mode;                       // "audit" / "enforce"
  std::string updated;                    // RFC 3339
  std::string config_error;               // of the last reload, empty when good
  std::string held;                       // why the policy is not enforced just now; empty: it is
  std::string originals_error{};          // why the original settings cannot be read; empty: they can
  std::vector<std::string> lost_entry{};  // ports that no [[port]] entry matches any more since a reload
  std::map<std::string, std::map<std::string, SettingState>> ports;  // port id -> setting key -> state
  bool operator==(const AgentState&) const = default;
};

struct Node {
  std::string hostname;
  std::chrono::steady_clock::time_point taken{};
  Topology topology;
  std::vector<Port> ports;
  std::optional<Host> host;              // absent: not asked for
  Network network{};                     // addresses, routes, ARP settings of the ports' netdevs
  std::optional<AgentState> agent;       // absent: no state file readable
  std::string agent_unread;              // why, where there is one
  std::optional<Inventory> inventory{};  // the last good state; absent: none was recorded
  std::string inventory_unread{};        // why it cannot be read, where there is one
  Neighbors neighbors{};                 // who is at the other end of the cables, so far as anybody listens
  std::vector<std::string> unseen;       // what this caller lacked the privilege to read, in words
  Platform platform{};
  std::optional<PciState> pci_settings{};  // absent: neither published by fabric-agent-pci.service nor readable here
};

}  // namespace fabric
