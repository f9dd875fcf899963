// SPDX-License-Identifier: Apache-2.0
// What the manager of the ports has of the machine. A test gives it another.
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
  bool read_only = false;                           // a captured tree: no lock, no state file
  std::function<std::tm()> now_local = local_time;  // for the maintenance window
};
// Scans and asks the kernel itself.
Environment real_environment(Kernel& kernel);

// Whether the maintenance window is open now.
qos::Maintenance maintenance_now(const Environment& environment, const Policy& policy);

// Errors that return with every pass. One is logged when it is another than the last.
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
