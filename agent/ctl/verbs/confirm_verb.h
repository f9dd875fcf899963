// SPDX-License-Identifier: Apache-2.0
// apply --confirm: the settings are reverted unless `fabric-agentctl confirm` is called in time.
#pragma once

#include "ctl/verbs/write_verbs.h"
#include "enforce/confirm.h"

namespace fabric::ctl {

// The ports for confirm::lapse(): also excluded ones if the record names their cards.
Node scan_for(const confirm::Record& record, Machine& machine);

// Moves this process to a scope of its own (org.freedesktop.systemd1(5)), fabric-agent-WHAT-PID.scope, so that it
// survives the end of the login session: systemd may kill the session's cgroup. For a guard
// (confirm::start_detached()).
void leave_session(const std::string& what, const char* description);

// One apply with --confirm. Its guard is started before the first write. Without --confirm every step does nothing. The
// caller holds the lock.
class Trial {
 public:
  // Fails while another apply awaits confirmation. Saves the record and starts the guard. Without --confirm, drops the
  // record of a reverted apply, and informs the user of what it did not restore.
  static Result<Trial> begin(const Options& options, const Policy& policy, Output& output);
  // Fails while an apply awaits confirmation.
  static Result<void> refuse(const Options& options);
  // Restores the previous settings of an apply that was not confirmed in time, and those that an earlier revert could
  // not restore. Its guard or the agent would do the same, but after a reboot neither may be running. Informs the
  // user of both. Returns the changes without those that were in sync.
  static Result<Changes> end_overdue(Writer& writer, const Options& options, Pacing& pacing, Output& output);

  // Saves the previous settings, before the first write of a port or of a host setting. `bond`: qos::bond_above() the
  // port. `front_end`: that of the terms of the write.
  Result<void> remember(const Port& port, const Qos& before, const Keys& keys, const std::string& bond = {},
                        bool front_end = false);
  Result<void> remember(const std::string& sysctl, const std::string& before);
  // After all writes: starts the clock and informs the user. Without any write there is nothing to confirm.
  Result<void> await(Output& output);

 private:
  Trial(std::string root, std::optional<std::chrono::seconds> patience) : root_(std::move(root)), patience_(patience) {}
  std::string root_;
  std::optional<std::chrono::seconds> patience_;
  confirm::Record record_;
};

}  // namespace fabric::ctl
