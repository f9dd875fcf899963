// SPDX-License-Identifier: Apache-2.0
// The machine as PortManager sees it. Tests replace it.
#pragma once

#include <chrono>
#include <ctime>
#include <map>

#include "agentd/messages.h"
#include "enforce/reconcile.h"

namespace fabric::agentd {

std::tm local_time();

// RDMA ports and bond members, without settings and counters.
struct FoundPorts {
  FoundPorts(std::vector<Port> all, std::string why = {}) : ports(std::move(all)), unread(std::move(why)) {}  // NOLINT
  std::vector<Port> ports;
  std::string unread;  // why ports may be missing (Node::rdma_unread); empty: none is
};

struct Environment {
  Kernel& kernel;
  std::string directory = "/";  // below it: run/fabric-agent, var/lib/fabric-agent
  JournalSink log = write_journal;
  std::function<FoundPorts(const Policy&)> scan;
  qos::UseCheck in_use;
  bool read_only = false;                           // a captured tree: no lock and no state file are written
  std::function<std::tm()> now_local = local_time;  // for the maintenance window
};
// Scans this kernel's ports and detects their users.
Environment real_environment(Kernel& kernel);

// Logs errors that recur with every pass, each once an hour.
class ErrorLog {
 public:
  explicit ErrorLog(JournalSink log) : log_(std::move(log)) {}
  void once(const std::string& what);
  // True if nothing was logged within the last hour.
  [[nodiscard]] bool is_empty() const { return logged_.empty(); }

 private:
  JournalSink log_;
  std::map<std::string, std::chrono::steady_clock::time_point> logged_;
};

}  // namespace fabric::agentd
