// SPDX-License-Identifier: Apache-2.0
// Enforces the policy on the ports: one pass of a port at a time. Independent of the event loop. Its parts: the table
// of ports, the results of the passes, the originals, released ports, and suspension by `apply --confirm`.
#pragma once

#include "agentd/agent_status.h"
#include "agentd/originals.h"
#include "agentd/releases.h"
#include "agentd/suspension.h"
#include "policy/config.h"

namespace fabric::agentd {

class PortManager {
 public:
  PortManager(Environment environment, Policy policy);
  PortManager(const PortManager&) = delete;  // its parts refer to each other
  PortManager& operator=(const PortManager&) = delete;

  // A new policy: conflicts are forgotten, because the operator may have removed their cause. Ports that no
  // entry matches any more are released.
  void set_policy(Policy policy);
  // After a start or a reload: keeps the valid configuration for a start without one, or reports why the files are not
  // used.
  void note_config(const ConfigInUse& config);
  [[nodiscard]] const Policy& policy() const { return policy_; }
  [[nodiscard]] const std::string& directory() const { return environment_.directory; }
  [[nodiscard]] const PortTable& table() const { return table_; }

  // Scans for ports. Returns the ids of new, re-created (driver reload) and re-attached ports, and of ports that
  // another entry matches now.
  std::vector<std::string> rescan();
  // Reconciles one port, as far as that may be done now. EWOULDBLOCK: another process is writing; try again.
  // ENODEV: the port has gone or its device was re-created meanwhile: rescan.
  Result<void> reconcile_port(const std::string& id, qos::Instant now);
  // The host's own settings ([sysctl]), under the id kHostSubject. EWOULDBLOCK as above.
  Result<void> reconcile_host(qos::Instant now);
  // After carrier-up: lets the driver finish what it computes from the link speed (Driver::settle).
  Result<void> settle(const std::string& id);

  // A notification of this kind came for the port: evidence of who made the drift that the next pass finds.
  void on_notification(const std::string& id, NotificationKind how);
  PortTable::LinkEvents link_changed(const rtnl::Link& link) { return table_.link_changed(link); }
  std::vector<std::string> links_recovered() { return table_.links_recovered(); }
  // `apply --confirm`: reads its record, and restores the previous settings when it is overdue.
  Suspension::Watch watch_confirm() { return suspension_.watch(config_, table_.ports()); }

  // The policy has a host setting of this interface.
  [[nodiscard]] bool has_sysctl_of(const std::string& netdev) const;
  // An entry of the policy matches a speed: ports are matched again once their link has one.
  [[nodiscard]] bool asks_for_speed() const;
  [[nodiscard]] bool is_in_conflict(const std::string& id) const { return results_.is_in_conflict(id); }
  // A write of the port waits for the last queue pair to close; the last queue pair has closed.
  [[nodiscard]] bool waits_for_idle(const std::string& id) const;
  [[nodiscard]] bool is_idle(const std::string& id);
  // Until the maintenance window opens, where a write waits for it; an hour at most, since clocks are set.
  [[nodiscard]] std::optional<std::chrono::minutes> until_window() const;

  [[nodiscard]] AgentView view() const {
    return {policy_, table_, results_, releases_, suspension_.reason(), config_error_, originals_.error()};
  }
  void publish() { publisher_.publish(environment_, errors_, view(), config_); }

 private:
  Changes reconcile_settings(PortEntry& entry, const PortPolicy& wanted, qos::Instant now);
  // Of a port that no entry matches.
  Result<void> release(PortEntry& entry, qos::Instant now);
  // The write lock where something may be written; none in audit mode.
  Result<Fd> lock(qos::Instant now);
  [[nodiscard]] bool is_enforcing() const { return policy_.mode == Mode::enforce && suspension_.reason().empty(); }
  // Continues the record of an earlier agent of this boot; its ports are not new ones.
  void remember_published();

  Environment environment_;
  Policy policy_;
  std::string config_;  // digest of the policy
  ErrorLog errors_;
  PortTable table_;
  Results results_;
  Originals originals_;
  Releases releases_;
  Suspension suspension_;
  Publisher publisher_;
  std::string config_error_;
  std::optional<qos::Instant> locked_out_since_{};
};

}  // namespace fabric::agentd
