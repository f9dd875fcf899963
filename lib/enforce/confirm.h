// SPDX-License-Identifier: Apache-2.0
// `apply --confirm`: the previous settings are restored unless the operator confirms in time. One file records it, so
// that any of these can do it at the deadline: the guard process, agentd, or the next start of agentd after a reboot.
#pragma once

#include "enforce/reconcile.h"
#include "enforce/sysctl.h"
#include "node/state.h"
#include "policy/policy.h"

namespace fabric::confirm {

inline constexpr const char* kFile = "var/lib/fabric-agent/confirm.json";

struct Record {
  std::string id;                            // of this apply
  std::string boot_id;                       // of the kernel on which it ran: after a reboot it is overdue
  uint64_t deadline = 0;                     // milliseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps
  std::string until;                         // the deadline for people, RFC 3339
  std::string policy;                        // digest() of the policy that was applied
  Disruptive disruptive = Disruptive::idle;  // the way back may stop traffic, as the way there
  std::string reverted;                      // when it lapsed, RFC 3339; empty: it still awaits confirmation
  state::Originals before;                   // the previous settings that are not restored yet
  qos::SysctlValues sysctl;                  // the same of the host's
};

// The kernel that runs and its clock.
struct Moment {
  std::string boot_id;
  uint64_t milliseconds = 0;
};
Moment this_moment(const Root& root);
bool is_pending(const Record& record);
// Pending, and the time is over.
bool is_due(const Record& record, const Moment& now);

// A record for an apply that begins now.
Record begin(const Moment& now, std::chrono::seconds patience, const Policy& policy, std::string policy_digest);
// Resets the deadline: `patience` from now.
void set_deadline(Record& record, const Moment& now, std::chrono::seconds patience);
// Short, and another one when the text is another.
std::string digest(std::string_view text);

std::string record_text(const Record& record);
Result<Record> parse(std::string_view text, const std::string& name);
// nullopt: no record. EBADMSG: malformed. Call under state::take_lock() only.
Result<std::optional<Record>> load(const std::string& directory);
Result<void> save(const std::string& directory, const Record& record);
Result<void> remove(const std::string& directory);

// The settings that writing `want` changes: those, and what the driver overwrites with them (ice: ETS with the first
// DSCP).
Keys keys_changed(const Port& port, const Qos& want, const Qos& before);
// Adds the current values of `keys`; to be saved before the port is written.
void remember(Record& record, const Port& port, const Qos& before, const Keys& keys);
// Restores the previous settings. Ports that are done leave record.before; those that are busy stay, to be tried again,
// and so do, until ten minutes after the deadline or the boot, those that are gone. Settings that the driver refuses
// are reported and dropped. `reverted` is set when nothing is left.
Changes revert(Kernel& kernel, std::vector<Port>& ports, Record& record, const Moment& now,
               const qos::UseCheck& in_use);

// revert(), and the record says so on disk. If the apply wrote nothing, the record is removed.
Result<Changes> lapse(const std::string& directory, Kernel& kernel, std::vector<Port>& ports, Record& record,
                      const qos::UseCheck& in_use);

// A process of its own session that outlives its starter: calls `act` once a second from the deadline on until it
// answers true, and ends as soon as the record is gone, lapsed or another's. `detach` is called first in it (to leave
// the starter's cgroup); when start_guard() returns, that is done.
Result<void> start_guard(const std::string& directory, const std::string& id, const std::function<void()>& detach,
                         const std::function<bool()>& act);

}  // namespace fabric::confirm
