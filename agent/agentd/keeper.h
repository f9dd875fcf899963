// SPDX-License-Identifier: Apache-2.0
// Keeps the ports as the policy says: decides, calls reconcile, remembers, publishes. Knows no event loop.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agentd/journal.h"
#include "model/node.h"
#include "model/policy.h"
#include "qos/drift.h"
#include "qos/reconcile.h"
#include "sys/kernel.h"
#include "sys/rtnl.h"

namespace fabric::agentd {

struct World {
  Kernel& kernel;
  std::string directory = "/";  // below it: run/fabric-agent, var/lib/fabric-agent
  Log log = write_journal;
  std::function<std::vector<Port>(const Policy&)> scan;  // RDMA ports, without settings and counters
  std::function<bool(const Port&)> busy;                 // does a user process hold a queue pair?
  bool read_only = false;                                // a captured tree: no lock, no state file
};
// Scans and asks the kernel itself.
World real_world(Kernel& kernel);

class Keeper {
 public:
  Keeper(World world, Policy policy);

  // A new policy: conflicts and holds are forgotten, since the operator may have dealt with their cause.
  void set_policy(Policy policy);
  // The last reload failed (empty: it did not); shown in the state file.
  void set_config_error(std::string text);
  [[nodiscard]] const Policy& policy() const { return policy_; }

  // Looks which ports there are. Ids of the new, re-created (driver reload) and re-attached ones.
  std::vector<std::string> rescan();
  // One port in order, as far as that may be done now. EWOULDBLOCK: another process is writing, come again.
  // ENODEV: the port has gone or its device was re-created meanwhile: rescan.
  Result<void> keep(const std::string& id, qos::Instant now);
  // The ids of the ports on the netdev, by index or, when that is 0, by name; empty: not ours.
  [[nodiscard]] std::vector<std::string> ports_on(int ifindex, const std::string& netdev) const;
  // What a link message means for its ports: rescan needed (renamed), carrier came back (settle).
  struct LinkNews {
    bool rescan = false;
    bool carrier_up = false;
  };
  LinkNews link_changed(const rtnl::Link& link);
  // After carrier-up: lets the driver finish what it computes from the link speed (Driver::settle).
  Result<void> settle(const std::string& id);

  [[nodiscard]] std::vector<std::string> ids() const;
  // Is a write of the port waiting for the last queue pair to close? While it is: has it closed?
  [[nodiscard]] bool waits_for_idle(const std::string& id) const;
  [[nodiscard]] bool is_idle(const std::string& id) const;
  [[nodiscard]] bool in_conflict(const std::string& id) const { return drift_.in_conflict(id); }

  [[nodiscard]] AgentState state() const;
  void publish();                           // writes the state file when it would say something new; trouble is logged once
  [[nodiscard]] std::string status() const; // "enforce: 4 ports, 3 in sync, 1 pending"
  // 0 all in sync or applied, 1 something differs, waits or is unsupported, 2 something was refused, ignored or is in conflict.
  [[nodiscard]] int exit_code() const;

 private:
  struct Kept {
    Port port;
    std::map<std::string, Change, std::less<>> last;   // setting -> what was found last
    std::map<std::string, std::string, std::less<>> repaired_at;  // RFC 3339
    std::optional<bool> carrier;
    std::optional<uint32_t> carrier_downs;
  };
  qos::Options options_for(const Kept& kept, qos::Instant now);
  Result<void> save_original(const Port& port, const Qos& before);
  void digest(Kept& kept, Change change, qos::Instant now);
  void trouble(const std::string& what);
  Error locked_out(Error failure, qos::Instant now);

  World world_;
  Policy policy_;
  qos::Drift drift_;
  std::map<std::string, Kept> ports_;
  std::string config_error_;
  std::string last_trouble_;
  std::optional<qos::Instant> locked_out_since_;
  AgentState published_;
};

}  // namespace fabric::agentd
