// SPDX-License-Identifier: Apache-2.0
// What the operator wants, as read from TOML by config/.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/node.h"
#include "model/qos.h"

namespace fabric {

enum class Mode : uint8_t { audit, enforce };
enum class Disruptive : uint8_t { idle, now, never };
std::string_view to_text(Mode value);
std::string_view to_text(Disruptive value);

// Which ports. Every list that is given must have a pattern (glob) that matches; no list at all matches every port.
struct Match {
  std::vector<std::string> driver;  // kernel driver or ours: "mlx5_core", "mlx5"
  std::vector<std::string> rdma;    // "mlx5_*"
  std::vector<std::string> netdev;  // "ens*"
  std::vector<std::string> pci;     // "0000:17:*"
  bool operator==(const Match&) const = default;
};

struct PortPolicy {
  std::string name;       // of the [[port]] entry, else "port#1"
  Match match;
  Qos want;
  std::string where;                              // "FILE:LINE" of the entry
  std::array<std::string, kSettingCount> origin;  // "FILE:LINE" that gave each value
};

// A foreign writer that comes back `rounds` times within `window` is a conflict.
struct ConflictRule {
  unsigned rounds = 5;
  std::chrono::milliseconds window{60'000};
};

struct Policy {
  Mode mode = Mode::audit;
  Disruptive disruptive = Disruptive::idle;
  std::chrono::milliseconds reread{30'000};
  ConflictRule conflict;
  std::vector<PortPolicy> ports;                // first match wins
  std::vector<std::string> listen{"0.0.0.0:10479", "[::]:10479"};  // exporter, when not socket-activated
  std::chrono::milliseconds max_age{5'000};     // exporter: older readings are read again when a scrape asks
  std::vector<std::string> exclude;             // globs of RDMA devices never opened
  unsigned series_limit = 2'000;
  std::map<std::string, std::string, std::less<>> origin;  // "exporter.listen" -> "FILE:LINE"; absent: the default
};

// The entry for the port, or null: the port is left alone. InfiniBand ports, VFs (their settings belong to the PF) and
// ports without a netdev have none.
const PortPolicy* policy_for(const Policy& policy, const Port& port);

}  // namespace fabric
