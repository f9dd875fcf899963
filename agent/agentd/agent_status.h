// SPDX-License-Identifier: Apache-2.0
// What the agent says of itself: its state file, systemd's status line, the exit status of --once.
#pragma once

#include "agentd/releases.h"

namespace fabric::agentd {

struct AgentView {
  const Policy& policy;
  const PortTable& table;
  const Results& results;
  const Releases& releases;
  const std::string& suspended;  // why nothing is written now; empty: enforcing
  const std::string& config_error;
  const std::string& originals_error;
};

AgentState state_of(const AgentView& view);
// "enforce: 4 ports, 3 in sync, 1 pending"
std::string status_text(const AgentView& view);
// 0 all in sync or applied, 1 something differs, waits or is unsupported, 2 something was refused, ignored or is in
// conflict.
int exit_code(const AgentView& view);

// The state file.
class Publisher {
 public:
  // Writes it if its content changes: a conflicting writer must not make us write files continuously. `config`: the
  // digest of the policy, compared by fabric-agentctl with its own.
  void publish(Environment& environment, ErrorLog& errors, const AgentView& view, const std::string& config);

 private:
  AgentState state_;
  std::string config_;
  state::Devices devices_;
};

}  // namespace fabric::agentd
