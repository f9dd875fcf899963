// SPDX-License-Identifier: Apache-2.0
// Limits over time and acknowledgements, as the configuration gives them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace fabric {

// Bad from this value on. nullopt: never; both nullopt: the rule is off.
struct HealthLimits {
  std::optional<double> warning, critical;
  double window = 60, confirm = 0, clear = 60;  // seconds
  bool operator==(const HealthLimits&) const = default;
};

// [health] of the configuration.
struct HealthPolicy {
  std::map<std::string, HealthLimits, std::less<>> limits;  // by key of the rule; absent: the rule's own
  double boot_grace = 30 * 60;                              // OCI ignores link events in the first 1800 s
  double reload_grace = 2 * 60;  // links come up within a minute after a driver was loaded (ours)
  bool operator==(const HealthPolicy&) const = default;
};

// A finding that an operator has acknowledged.
struct Ack {
  std::string id;             // of the check
  std::string subject{};      // a glob; empty: every subject
  int64_t at = 0, until = 0;  // seconds since 1970
  std::string by{}, comment{};
  bool operator==(const Ack&) const = default;
};

}  // namespace fabric
