// SPDX-License-Identifier: Apache-2.0
// Readings of a port besides its counters: objects in use and the device's health reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabric {

// Number of RDMA objects of one kind on the device, in total or, in further entries, by owner as last read
// (counters/owners.h).
struct ResourceCount {
  std::string kind;   // nldev's words: "qp", "cq", "mr", "pd", "cm_id", "ctx", "srq"
  std::string owner;  // "user", "kernel"; empty: all of them
  uint64_t count = 0;
  bool operator==(const ResourceCount&) const = default;
};

// A devlink health reporter of the function below the port (net/devlink/health.c of Linux 6.12).
struct HealthReporter {
  std::string name;  // "fw", "fw_fatal", "tx", "rx", "hw"
  bool healthy = true;
  uint64_t errors = 0, recoveries = 0;
  bool operator==(const HealthReporter&) const = default;
};

}  // namespace fabric
