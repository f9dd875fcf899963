// SPDX-License-Identifier: Apache-2.0
// The published state of the agent: its state file, systemd's status line, the exit status of --once.
#pragma once

#include "agentd/releases.h"
#include "agentd/suspension.h"

namespace fabric::agentd {

struct AgentView {
  const Policy& policy;
  const PortTable& table;
  const Results& results;
  const Releases& releases;
  const Suspension& suspension;
  const std::string& config_error;
  const std::optional<LostOriginals>& lost_originals;
  std::string left_of_self_tests{};  // OriginalsStore::left_of_self_tests()
};

AgentState state_of(const AgentView& view);
// "enforce: 4 ports, 3 in sync, 1 pending"
std::string service_status(const AgentView& view);
// 0: everything is in sync or applied. 1: a setting differs, waits or is unsupported, or is not as before a self-test.
// 2: a setting was refused or ignored, or is in conflict.
int exit_code(const AgentView& view);

}  // namespace fabric::agentd
