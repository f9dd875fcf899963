// SPDX-License-Identifier: Apache-2.0
// Keeps the ports as the policy says: decides, calls reconcile, remembers, publishes. Knows no event loop.
#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agentd/journal.h"
#include "kernel/kernel.h"
#include "kernel/netlink/rtnl.h"
#include "model/node.h"
#include "model/policy.h"
#include "settings/confirm.h"
#include "settings/drift.h"
#include "settings/reconcile.h"
#include "settings/writer.h"

namespace fabric::agentd {

std::tm local_time();

struct World {
  Kernel& kernel;
  std::string directory = "/";  // below it: run/fabric-agent, var/lib/fabric-agent
  Log log = write_journal;
  std::function<std::vector<Port>(const Policy&)> scan;  // RDMA ports and bond members, without settings and counters
  std::function<bool(const Port&)> busy;                 // does a user process hold a queue pair?
  bool read_only = false;                                // a captured tree: no lock, no state file
  std::function<std::tm()> now_local = local_time;       // for the maintenance window
};
// Scans and asks the kernel itself.
World real_world(Kernel& kernel);

class Keeper {
 public:
  Keeper(World world, Policy policy);

  // A new policy: conflicts and holds are forgotten, since the operator may have dealt with their cause. Ports that no
  // entry matches any more are released.
  void set_policy(Policy policy);
  // The last reload failed (empty: it did not); shown in the state file.
  void set_config_error(std::string text);
  [[nodiscard]] const Policy& policy() const { return policy_; }
  [[nodiscard]] const std::string& directory() const { return world_.directory; }

  // Looks which ports there are. Ids of the new, re-created (driver reload) and re-attached ones, and of those that
  // another entry matches now.
  std::vector<std::string> rescan();
  // One port in order, as far as that may be done now. EWOULDBLOCK: another process is writing, come again.
  // ENODEV: the port has gone or its device was re-created meanwhile: rescan.
  Result<void> keep(const std::string& id, qos::Instant now);
  // The host's own settings ([sysctl]), under the id kHost. EWOULDBLOCK as above.
  Result<void> keep_host(qos::Instant now);
  static constexpr const char* kHost = "host";
  // The ids of the ports on the netdev, by index or, when that is 0, by name; empty: not ours.
  [[nodiscard]] std::vector<std::string> ports_on(int ifindex, const std::string& netdev) const;
  // A notification of this kind came for the port: evidence for who moved what the next keep() finds.
  void heard(const std::string& id, qos::Told how);
  // What a link message means for its ports: rescan needed (renamed), carrier came back (settle).
  struct LinkNews {
    bool rescan = false;
    bool carrier_up = false;
    bool speed = false;  // rescan once the link has its speed: entries match one
  };
  LinkNews link_changed(const rtnl::Link& link);
  // Ports whose carrier has come back without a message that said so: it was lost, or came before there was one to
  // compare with. By what the last rescan read.
  std::vector<std::string> carriers_back();
  // After carrier-up: lets the driver finish what it computes from the link speed (Driver::settle).
  Result<void> settle(const std::string& id);

  // `apply --confirm`: looks at its record, and puts back what stood when it is overdue.
  struct Watch {
    std::optional<std::chrono::milliseconds> again;  // look again then
    bool confirmed = false;  // it has just been confirmed: the configuration on disk is the one wanted
    bool changed = false;    // held or not any more: look at every port
  };
  Watch watch_confirm();

  [[nodiscard]] std::vector<std::string> ids() const;
  [[nodiscard]] std::vector<Port> ports() const;
  // Is a write of the port waiting for the last queue pair to close? While it is: has it closed?
  [[nodiscard]] bool waits_for_idle(const std::string& id) const;
  [[nodiscard]] bool is_idle(const std::string& id) const;
  // Until the maintenance window opens, where a write waits for it; an hour at most, since clocks are set.
  [[nodiscard]] std::optional<std::chrono::minutes> until_window() const;
  [[nodiscard]] bool in_conflict(const std::string& id) const { return drift_.in_conflict(id); }

  [[nodiscard]] AgentState state() const;
  void publish();  // writes the state file when it would say something new; trouble is logged once
  [[nodiscard]] std::string status() const;  // "enforce: 4 ports, 3 in sync, 1 pending"
  // 0 all in sync or applied, 1 something differs, waits or is unsupported, 2 something was refused, ignored or is in
  // conflict.
  [[nodiscard]] int exit_code() const;

 private:
  using Settings = std::map<std::string, Change, std::less<>>;
  struct Heard {
    bool any = false;
    std::string writer;
  };
  struct Kept {
    Port port;
    Settings last;            // setting -> what was found last
    bool fresh = true;        // appeared just now: its first pass does not wait for the maintenance window
    bool new_device = false;  // re-created: what it shows is the driver's doing
    std::optional<qos::Instant> unmatched{};  // its first pass, when no entry was its own
    bool renamed = false;                     // since then, and no entry was its own before
    bool releasing = false;                   // let go of, and what stood is to be put back
    std::optional<Mode>
        kept_before{};  // by the policy before a reload, in this mode; whether it still is, is not known yet
    std::map<qos::Told, Heard> heard;  // since the last pass
    bool carrier_lost = false;         // since the last pass
    bool gone = false;                 // the last pass was answered so, though the netdev has not gone
    std::optional<bool> carrier;
    std::optional<uint32_t> carrier_downs;
  };
  // What is remembered of a port while it comes and goes.
  struct Memory {
    std::map<std::string, std::string, std::less<>> good;   // setting -> its value while it was as wanted
    std::map<std::string, SettingState, std::less<>> told;  // last_repair and the drift members
    bool releasing = false;                                 // as of Kept, while there is none or another
    std::optional<Mode> kept_before{};
  };
  qos::Options options_for(const Kept& kept, const PortPolicy& entry, qos::Instant now);
  Result<void> save_original(const Port& port, const Qos& before);
  // The write lock where something may be written; none in audit mode.
  Result<Fd> lock(qos::Instant now);
  void take_in(Kept& kept, Changes changes, qos::Instant now);
  void digest(Kept& kept, Change change, qos::Instant now);
  std::optional<qos::Suspect> note_drift(const Kept& kept, const Change& change);
  void let_go(const Policy& old);
  // Lets go of a port that was kept before a reload, once it is known that no entry is its own.
  void decide(const std::string& id, Kept& kept);
  // What is to be put back outlives the netdev: cards keep settings over a reload of their driver.
  void set_aside(const std::string& id, const Kept& kept);
  Kept taken_back(const std::string& id, const Port& port);
  Result<void> release(Kept& kept, qos::Instant now);
  [[nodiscard]] bool window_is_open() const;
  [[nodiscard]] bool has_pending(const Kept& kept) const;
  void remember_published();
  void drop_lapsed_record();
  // Reads the record of an `apply --confirm` anew; true when the hold is another than before.
  bool refresh_hold();
  void revert(confirm::Record& record);
  void trouble(const std::string& what);
  Error locked_out(Error failure, qos::Instant now);

  World world_;
  Policy policy_;
  std::string config_;  // its digest, for others to compare with theirs
  qos::Drift drift_;
  std::map<std::string, Kept> ports_;
  Kept host_;
  std::map<std::string, Memory> memory_;
  std::set<std::string> known_;  // ports that an agent before this one kept on this boot
  std::string config_error_;
  std::string held_;  // why nothing is written just now; empty: it may be
  bool awaits_confirmation_ = false;
  bool awaited_ = false;  // did, and watch_confirm() has not yet seen what became of it
  std::string last_trouble_;
  std::optional<qos::Instant> locked_out_since_;
  AgentState published_;
  std::string published_config_;
};

}  // namespace fabric::agentd
