// SPDX-License-Identifier: Apache-2.0
// The machine as PortManager sees it. Tests replace it.
#pragma once

#include <ctime>

#include "agentd/messages.h"
#include "enforce/reconcile.h"

namespace fabric::agentd {

std::tm local_time();

struct Environment {
  Kernel& kernel;
  std::string directory = "/";  // below it: run/fabric-agent, var/lib/fabric-agent
  Log log = write_journal;
  std::function<std::vector<Port>(const Policy&)> scan;  // RDMA ports and bond members, without settings and counters
  qos::UseCheck in_use;
  bool read_only = false;                           // a captured tree: no lock and no state file are written
  std::function<std::tm()> now_local = local_time;  // for the maintenance window
};
// Scans this kernel's ports and detects their users.
Environment real_environment(Kernel& kernel);

// Whether the maintenance window is open now.
qos::Maintenance maintenance_now(const Environment& environment, const Policy& policy);

// Logs errors that recur with every pass: an error is logged only if it differs from the last one.
class ErrorLog {
 public:
  explicit ErrorLog(Log log) : log_(std::move(log)) {}
  void once(const std::string& what);
  [[nodiscard]] bool is_empty() const { return last_.empty(); }

 private:
  Log log_;
  std::string last_;
};

}  // namespace fabric::agentd
