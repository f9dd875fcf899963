// SPDX-License-Identifier: Apache-2.0
// What is watched of a port beside its counters: objects in use and the device's own health reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabric {

// How many RDMA objects of one kind the device holds: all of them now, and in entries beside that one how many of them
// processes and the kernel had made when somebody last looked (counter/owners.h).
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
