// SPDX-License-Identifier: Apache-2.0
// Enforces the policy on the ports, in one pass over one port at a time. Independent of the event loop. Its parts are
// the table of ports, the results of the passes, the originals, the released ports, and the suspension by
// `apply --confirm`.
#pragma once

#include "agentd/agent_status.h"
#include "agentd/originals.h"
#include "agentd/releases.h"
#include "agentd/suspension.h"
#include "enforce/rounds.h"
#include "policy/last_good.h"

namespace fabric::agentd {

class PortManager {
 public:
  PortManager(Environment environment, Policy policy);
  PortManager(const PortManager&) = delete;  // its parts refer to each other
  PortManager& operator=(const PortManager&) = delete;

  // Replaces the policy. Forgets conflicts, because the operator may have removed their cause. Releases ports that no
  // entry matches any more.
  void set_policy(Policy policy);
  // Call it after a start or a reload. Saves a valid configuration for a later start without one; otherwise reports why
  // the files are not used.
  void note_config(const ConfigInUse& config);
  [[nodiscard]] const Policy& policy() const { return policy_; }
  [[nodiscard]] const std::string& directory() const { return environment_.directory; }
  [[nodiscard]] const PortTable& table() const { return table_; }

  // Scans for ports. Returns the ids of the ports to check: new, re-created (driver reload), renamed, or matched by a
  // different entry now.
  std::vector<std::string> rescan();
  // The time until the next scan, if the last one was incomplete; as retry_after().
  [[nodiscard]] std::optional<std::chrono::milliseconds> rescan_after() const;
  // Reconciles one port, as far as its settings may be written now. EWOULDBLOCK: another process is writing; try again.
  // ENODEV: the port has disappeared or its device was re-created: call rescan().
  Result<void> reconcile_port(const std::string& id, qos::Instant now);
  // The time until the next pass, if the last one could not read the port to its end: no notification may come when it
  // can be read again. Doubled with each further such pass, up to the re-read period.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(const std::string& id) const;
  // The other ports of the port's bond, if the last pass has changed the port: settings that waited for it may be
  // written now.
  [[nodiscard]] std::vector<std::string> waiting_for(const std::string& id) const;
  // True if disruptive writes of the port wait for the link of another member of its bond: call reconcile_port() again
  // soon. Two members must not be without a link at the same time.
  [[nodiscard]] bool waits_for_member(const std::string& id) const;
  // Reconciles the host's settings ([sysctl]), with kHostSubject as their port. EWOULDBLOCK as above.
  Result<void> reconcile_host(qos::Instant now);
  // After carrier-up: lets the driver finish the values that it computes from the link speed (Driver::settle). Does
  // nothing for other ports than those that are enforced or were restored since their last carrier-up.
  Result<void> settle(const std::string& id);
  // The time until settle() is to be called again, because the driver has refused it: RoCE has the thresholds of a
  // slower link meanwhile.
  [[nodiscard]] std::optional<std::chrono::milliseconds> settle_after(const std::string& id) const;

  // Records a notification of this kind for the port: evidence of who has caused a drift that the next pass finds.
  void on_notification(const std::string& id, NotificationKind how);
  PortTable::LinkEvents link_changed(const rtnl::Link& link) { return table_.link_changed(link); }
  // The ports to be settled after a scan: PortTable::links_recovered(), and those that an earlier agent has left.
  std::vector<std::string> links_recovered();
  // Reads the record of an `apply --confirm`, and restores the previous settings if its deadline has passed.
  Suspension::NextSteps watch_confirm();
  [[nodiscard]] bool must_watch_confirm() const { return suspension_.must_watch(); }
  // The record of a self-test has appeared, or has changed.
  void note_self_test() { self_test_is_new_ = true; }
  // The ports to check, because a self-test of them was killed, or because they are idle now and have waited for that
  // to end one, or are in use and may still lack global pause and PFC: reconcile_port() ends it. Empty: ask again soon.
  // nullopt: no self-test is running, and none waits.
  std::optional<std::vector<std::string>> ports_of_killed_self_test(qos::Instant now);

  [[nodiscard]] bool is_in_conflict(const std::string& id) const { return results_.is_in_conflict(id); }
  // True if a write of the port waits until nothing uses the port.
  [[nodiscard]] bool waits_for_idle(const std::string& id) const;
  // True if nothing uses the port.
  [[nodiscard]] bool is_idle(const std::string& id);
  // The time until the maintenance window opens, if a write waits for it. At most an hour, because the clock may be
  // set.
  [[nodiscard]] std::optional<std::chrono::minutes> until_window() const;

  [[nodiscard]] AgentView view() const {
    return {policy_,     table_,        results_,          releases_,
            suspension_, config_error_, originals_.lost(), originals_.left_of_self_tests()};
  }
  // Writes the state file, if its content has changed: a conflicting writer does not cause continuous writes.
  void publish();

 private:
  // Terms::original of the next pass.
  std::function<std::optional<Qos>(const Port&)> protection_before(const PortEntry& entry);
  // The pass of a port that no entry matches.
  Result<void> release(PortEntry& entry, qos::Instant now);
  // Takes the write lock; in audit mode takes none.
  Result<Fd> lock(qos::Instant now);
  // Terms::wanted_of: of a port that is being released, its originals; of one without an entry, nothing.
  qos::WantedOf wanted_of_bond();
  // True if disruptive writes of the port wait for the link of another member of its bond, which we or fabric-agentctl
  // have written.
  bool must_wait_for_member(const Port& port, qos::Instant now);
  // Whether the port's entry has front_end = true (qos::Terms::front_end).
  [[nodiscard]] bool allows_front_end(const Port& port) const;
  // Whether the maintenance window is open now.
  [[nodiscard]] qos::Maintenance maintenance_now() const;
  [[nodiscard]] bool is_enforcing() const { return policy_.mode == Mode::enforce && suspension_.reason().empty(); }
  // Continues the published state of an earlier agent of this boot: the ports in it are not new.
  void remember_published();

  Environment environment_;
  Policy policy_;
  std::string config_;  // digest of the policy
  ErrorLog errors_;
  PortTable table_;
  Results results_;
  OriginalsStore originals_;
  Releases releases_;
  Suspension suspension_;
  AgentState published_;
  state::Devices published_devices_;
  std::string config_error_;
  unsigned incomplete_scans_ = 0;  // in a row
  qos::Unsettled unsettled_;
  qos::Turns turns_{environment_.kernel, unsettled_};
  std::set<std::string> left_;      // the ports that earlier programs have left unsettled, until their link is up
  std::set<std::string> restored_;  // those that a release or the end of an apply has written
  std::optional<qos::Instant> locked_out_since_{};
  bool self_test_is_new_ = true;  // no look at its record yet while no test was running
  // The ports in its record that were in use at the last look, and when they were last to be checked.
  std::map<std::string, qos::Instant> self_test_waits_{};
};

}  // namespace fabric::agentd
