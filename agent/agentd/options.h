// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policy/config.h"

namespace fabric::agentd {

struct AgentdOptions {
  std::string config;  // empty: ROOT/etc/fabric-agent/fabric-agent.toml
  std::string root = "/";
  enum class Kind : uint8_t {
    daemon,
    once,
    pci,  // fabric-agent-pci.service
  } run = Kind::daemon;
  bool help = false;
  bool version = false;

  [[nodiscard]] std::string config_file() const { return config.empty() ? config_file_below(root) : config; }
};

// An Error names the invalid argument and refers to --help.
Result<AgentdOptions> parse_options(int argc, char* const argv[]);
std::string help_text();

}  // namespace fabric::agentd
