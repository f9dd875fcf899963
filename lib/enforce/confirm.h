// SPDX-License-Identifier: Apache-2.0
// `apply --confirm`: the previous settings are restored unless the operator confirms in time. The apply is recorded in
// one file. At the deadline the guard process, agentd, or agentd's first start after a reboot restores them.
#pragma once

#include "enforce/reconcile.h"
#include "enforce/sysctl.h"
#include "node/state.h"
#include "policy/policy.h"

namespace fabric::confirm {

inline constexpr const char* kFile = "var/lib/fabric-agent/confirm.json";

struct Record {
  std::string id;                            // identifies this apply
  std::string boot_id;                       // of the boot in which it ran: after a reboot it is overdue
  uint64_t deadline = 0;                     // milliseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps
  std::string until;                         // the deadline for people, RFC 3339
  std::string policy;                        // digest() of the policy that was applied
  Disruptive disruptive = Disruptive::idle;  // when a restore may stop traffic, as for the apply
  std::string reverted;                      // when it was reverted, RFC 3339; empty: it still awaits confirmation
  state::Originals before;                   // the previous settings of ports that are not restored yet
  qos::SysctlValues sysctl;                  // the previous settings of the host that are not restored yet
};

// The running boot and its clock.
struct BootMoment {
  std::string boot_id;
  uint64_t milliseconds = 0;
};
BootMoment this_moment(const Root& root);
bool is_pending(const Record& record);
// True if the apply still awaits confirmation and its deadline has passed.
bool is_due(const Record& record, const BootMoment& now);

// A record for an apply that begins now, with a deadline `patience` from now.
Record begin(const BootMoment& now, std::chrono::seconds patience, const Policy& policy, std::string policy_digest);
// Sets the deadline to `patience` from now.
void set_deadline(Record& record, const BootMoment& now, std::chrono::seconds patience);
// A short digest (FNV-1a, 16 hexadecimal digits) to notice that a text has changed.
std::string digest(std::string_view text);

std::string record_text(const Record& record);
Result<Record> parse(std::string_view text, const std::string& name);
// nullopt: no record. EBADMSG: malformed. Call under state::take_lock() only.
Result<std::optional<Record>> load(const std::string& directory);
Result<void> save(const std::string& directory, const Record& record);
Result<void> remove(const std::string& directory);

// The settings that writing `want` changes: its own, and those that the driver overwrites as a side effect (ice: ETS
// with the first DSCP).
Keys keys_changed(const Port& port, const Qos& want, const Qos& before);
// Adds the values of `keys` in `before` to the record. Save the record before writing the port.
void remember(Record& record, const Port& port, const Qos& before, const Keys& keys);
// Restores the previous settings. A restored port is removed from record.before. A busy port stays there and is tried
// again; an absent port stays there until ten minutes after the deadline or the boot. Settings that the driver refuses
// are reported and dropped. `reverted` is set when no port is left.
Changes revert(Kernel& kernel, std::vector<Port>& ports, Record& record, const BootMoment& now,
               const qos::UseCheck& in_use);

// Calls revert() and saves the record. If the apply wrote nothing, removes the record.
Result<Changes> lapse(const std::string& directory, Kernel& kernel, std::vector<Port>& ports, Record& record,
                      const qos::UseCheck& in_use);

// Starts a process in a session of its own that outlives its starter. From the deadline on it calls `act` once a second
// until `act` returns true. It ends as soon as the record is gone, was reverted, or belongs to another apply. It calls
// `detach` first (to leave the starter's cgroup); start_guard() returns after that.
Result<void> start_guard(const std::string& directory, const std::string& id, const std::function<void()>& detach,
                         const std::function<bool()>& act);

}  // namespace fabric::confirm
