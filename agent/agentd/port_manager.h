// SPDX-License-Identifier: Apache-2.0
// Enforces the policy on the ports: decides, calls reconcile, remembers, publishes. Independent of the event loop.
#pragma once

#include "agentd/messages.h"
#include "enforce/confirm.h"
#include "kernel/netlink/rtnl.h"
#include "policy/config.h"

namespace fabric::agentd {

std::tm local_time();

struct World {
  Kernel& kernel;
  std::string directory = "/";  // below it: run/fabric-agent, var/lib/fabric-agent
  Log log = write_journal;
  std::function<std::vector<Port>(const Policy&)> scan;  // RDMA ports and bond members, without settings and counters
  std::function<bool(const Port&)> busy;                 // a job may be using it: qos::is_in_use()
  bool read_only = false;                                // a captured tree: no lock, no state file
  std::function<std::tm()> now_local = local_time;       // for the maintenance window
};
// Scans and asks the kernel itself.
World real_world(Kernel& kernel);

class PortManager {
 public:
  PortManager(World world, Policy policy);

  // A new policy: conflicts are forgotten, because the operator may have removed their cause. Ports that no
  // entry matches any more are released.
  void set_policy(Policy policy);
  // After a start or a reload: keeps the valid configuration for a start without one, or reports why the files are not
  // used.
  void note_config(const ConfigInUse& config);
  [[nodiscard]] const Policy& policy() const { return policy_; }
  [[nodiscard]] const std::string& directory() const { return world_.directory; }

  // Scans for ports. Returns the ids of new, re-created (driver reload) and re-attached ports, and of ports that
  // another entry matches now.
  std::vector<std::string> rescan();
  // Reconciles one port, as far as that may be done now. EWOULDBLOCK: another process is writing; try again.
  // ENODEV: the port has gone or its device was re-created meanwhile: rescan.
  Result<void> keep(const std::string& id, qos::Instant now);
  // The host's own settings ([sysctl]), under the id kHostSubject. EWOULDBLOCK as above.
  Result<void> keep_host(qos::Instant now);
  // The ids of the ports on the netdev, by index or, when that is 0, by name; empty: not ours.
  [[nodiscard]] std::vector<std::string> ports_on(int ifindex, const std::string& netdev) const;
  // A notification of this kind came for the port: evidence of who made the drift that the next keep() finds.
  void on_notification(const std::string& id, qos::NotificationKind how);
  // What a link message means for its ports: rescan needed (renamed), carrier came back (settle).
  struct LinkEvents {
    bool rescan = false;
    bool carrier_up = false;
    bool speed = false;  // rescan once the link has its speed: entries match one
  };
  LinkEvents link_changed(const rtnl::Link& link);
  // Ports whose carrier returned without a link message (it was lost, or came before the first one), by the last
  // rescan.
  std::vector<std::string> links_recovered();
  // The policy has a host setting of this interface.
  [[nodiscard]] bool has_sysctl_of(const std::string& netdev) const;
  // After carrier-up: lets the driver finish what it computes from the link speed (Driver::settle).
  Result<void> settle(const std::string& id);

  // `apply --confirm`: reads its record, and restores the previous settings when it is overdue.
  struct Watch {
    std::optional<std::chrono::milliseconds> again;  // look again then
    bool confirmed = false;  // it has just been confirmed: the configuration on disk is the one wanted
    bool changed = false;    // enforcement was suspended or resumed: check every port
  };
  Watch watch_confirm();

  [[nodiscard]] std::vector<std::string> ids() const;
  [[nodiscard]] std::vector<Port> ports() const;
  // A write of the port waits for the last queue pair to close; the last queue pair has closed.
  [[nodiscard]] bool waits_for_idle(const std::string& id) const;
  [[nodiscard]] bool is_idle(const std::string& id) const;
  // Until the maintenance window opens, where a write waits for it; an hour at most, since clocks are set.
  [[nodiscard]] std::optional<std::chrono::minutes> until_window() const;
  [[nodiscard]] bool in_conflict(const std::string& id) const { return drift_.in_conflict(id); }

  [[nodiscard]] AgentState state() const;
  void publish();                            // writes the state file if its content changes; an error is logged once
  [[nodiscard]] std::string status() const;  // "enforce: 4 ports, 3 in sync, 1 pending"
  // 0 all in sync or applied, 1 something differs, waits or is unsupported, 2 something was refused, ignored or is in
  // conflict.
  [[nodiscard]] int exit_code() const;

 private:
  using Settings = std::map<std::string, Change, std::less<>>;
  struct PortEntry {
    Port port;
    Settings last;                            // setting -> the last result
    bool fresh = true;                        // just appeared: its first pass does not wait for the maintenance window
    bool new_device = false;                  // re-created: its values are the driver's defaults
    std::optional<qos::Instant> unmatched{};  // when its first pass found no matching entry
    bool renamed = false;                     // since then, while no entry matched
    // Since the last pass; with the writer, as far as one was found.
    std::map<qos::NotificationKind, qos::Writer> notified;
    bool carrier_lost = false;  // since the last pass
    bool gone = false;          // the last pass got ENODEV although the netdev exists
    std::optional<bool> carrier;
    std::optional<uint32_t> carrier_downs;
  };
  // Kept while a port comes and goes: NICs keep settings over a driver reload.
  struct Memory {
    std::map<std::string, std::string, std::less<>> good;       // setting -> its value while it was in sync
    std::map<std::string, SettingState, std::less<>> reported;  // last_repair and the drift members
    std::map<std::string, qos::Writer, std::less<>> writers;    // of settings in conflict
    bool lost_entry = false;                                    // at a reload
    bool releasing = false;                                     // and its originals are being restored
    // Of the policy before the reload that matched it; set until a match is decided.
    std::optional<Mode> previous_mode{};
  };
  // Of a rescan: ports that are gone, one that is there (true: it must be reconciled), and one on another device.
  void drop_missing(const std::map<std::string, Port>& found);
  bool take_port(const std::string& id, Port port);
  void begin_port(const std::string& id, const Port& port, PortEntry& managed);
  qos::Options options_for(const PortEntry& managed, const PortPolicy& entry, qos::Instant now);
  Result<void> save_original(const Port& port, const Qos& before);
  // Whether the original settings can be read, and all of them are there.
  void check_originals();
  // Restores what a self-test that was killed has left on the port.
  void end_self_test(PortEntry& managed);
  // The write lock where something may be written; none in audit mode.
  Result<Fd> lock(qos::Instant now);
  void record_results(PortEntry& managed, Changes changes, qos::Instant now);
  void process_change(PortEntry& managed, Change change, qos::Instant now);
  std::optional<qos::Suspect> note_drift(const PortEntry& managed, const Change& change);
  void release_unmatched(const Policy& old);
  // Releases a port that was managed before a reload, once it is certain that no entry matches it.
  void decide_release(const std::string& id, PortEntry& managed);
  Result<void> release(PortEntry& managed, qos::Instant now);
  [[nodiscard]] bool is_enforcing() const { return policy_.mode == Mode::enforce && suspended_reason_.empty(); }
  [[nodiscard]] bool window_is_open() const;
  [[nodiscard]] bool has_pending(const PortEntry& managed) const;
  void remember_published();
  void drop_lapsed_record();
  // Re-reads the record of an `apply --confirm`; true if suspended_reason_ changed.
  bool refresh_suspension();
  void revert(confirm::Record& record);
  void log_error_once(const std::string& what);
  Error locked_out(Error failure, qos::Instant now);

  World world_;
  Policy policy_;
  std::string config_;  // digest of the policy, compared by fabric-agentctl with its own
  qos::Drift drift_;
  std::map<std::string, PortEntry> ports_;
  PortEntry host_;
  std::map<std::string, Memory> memory_;
  std::set<std::string> known_;  // ports that an earlier agent managed on this boot ...
  state::Devices devices_;       // ... and their devices, as far as it published them
  std::string config_error_, originals_error_;
  std::string suspended_reason_;  // why nothing is written now; empty: enforcing
  bool awaits_confirmation_ = false;
  bool awaited_ = false;  // did, and watch_confirm() has not yet seen the outcome
  std::string last_error_;
  std::optional<qos::Instant> locked_out_since_;
  AgentState published_;
  std::string published_config_;
  state::Devices published_devices_;
};

}  // namespace fabric::agentd
