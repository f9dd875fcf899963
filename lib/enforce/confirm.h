// SPDX-License-Identifier: Apache-2.0
// `apply --confirm`: the previous settings are restored unless the operator confirms in time. The apply is recorded in
// one file. At the deadline the guard process, agentd, or agentd's first start after a reboot restores them.
#pragma once

#include "enforce/rounds.h"
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
  std::set<std::string> front_end;           // of allow_front_end()

  [[nodiscard]] bool is_restored() const { return before.empty() && sysctl.empty(); }
};

// The running boot and its clock.
struct BootMoment {
  std::string boot_id;  // empty: it could not be read
  uint64_t milliseconds = 0;
};
BootMoment this_moment(const Root& root);
bool is_pending(const Record& record);
// False if the record is of an earlier boot. True if that is unknown: an apply must not be reverted before its time
// because a file could not be read once; after a reboot the clock begins again, and the deadline comes later.
bool is_of_this_boot(const Record& record, const BootMoment& now);
// True if the apply still awaits confirmation and its deadline has passed.
bool is_due(const Record& record, const BootMoment& now);
// True if is_due(), or if the apply was reverted except for settings that were refused: call lapse().
bool has_work(const Record& record, const BootMoment& now);
// "host kernel.numa_balancing, 0000:24:00.0/1 mtu": the settings that are not restored yet.
std::string left_text(const Record& record);

// A record for an apply that begins now, with a deadline `patience` from now.
Record begin(const BootMoment& now, std::chrono::seconds patience, const Policy& policy, std::string policy_digest);
// Sets the deadline to `patience` from now.
void set_deadline(Record& record, const BootMoment& now, std::chrono::seconds patience);
// A short digest (FNV-1a, 16 hexadecimal digits) to notice that a text has changed.
std::string digest(std::string_view text);

std::string record_text(const Record& record);
Result<Record> parse(std::string_view text, const std::string& name);
// nullopt: no record. EBADMSG: malformed. kNewerFormat: a newer release wrote it. Call under state::take_lock() only.
Result<std::optional<Record>> load(const std::string& directory);
// True for an error of load() after which no later reading can be valid: a damaged record, or a folder that is a file.
// After every other one, above all in a newer format, an apply may await confirmation: nothing may be written.
bool is_lost(const Error& why);
Result<void> save(const std::string& directory, const Record& record);
Result<void> remove(const std::string& directory);

// The settings that writing `want` changes: its own, and those that the driver overwrites as a side effect (ice: ETS
// with the first DSCP).
Keys keys_changed(const Port& port, const Qos& want, const Qos& before);
// Adds the values of `keys` in `before` to the record. `bond`: qos::bond_above() the port. Save the record before
// writing the port.
void remember(Record& record, const Port& port, const Qos& before, const Keys& keys, const std::string& bond = {});
// The apply may write the port disruptively while it carries the machine's default route, because an entry names it
// (qos::Terms::front_end): so may the revert. Save the record before writing the port.
void allow_front_end(Record& record, const Port& port);
// True for a port of allow_front_end().
bool allows_front_end(const Record& record, const Port& port);
// The previous settings that a process restores. Several processes restore the settings of one record, one after the
// other under the lock, in any order: agentd has CAP_NET_ADMIN, fabric-agent-pci.service CAP_SYS_ADMIN, the guard and
// fabric-agentctl have what their user has.
enum class Share : uint8_t {
  all,        // whatever the kernel permits this process
  sys_admin,  // only what requires CAP_SYS_ADMIN: MRRS, and sysctls with Sysctl::sys_admin
};

// The conditions of a restore of the previous settings.
struct RevertTerms {
  qos::UseCheck in_use;
  qos::Turns& turns;
  qos::Sleep sleep;  // waits for the link of a member of a bond (write_in_rounds()); null: call again instead
  Share share = Share::all;
  // True for a port that an entry of the present policy names (qos::Terms::front_end), beside those of
  // allow_front_end(). Null: none.
  std::function<bool(const Port&)> front_end{};
};

// Restores the previous settings. A setting that reads back as before is removed from the record, once no write that is
// left can change it again (Op::reach), and nothing else: a busy, absent or refused setting stays for the next call, or
// for a process with the privilege. `reverted` is set when nothing is left; or ten minutes after the deadline or the
// boot, if nothing waits for an idle port, also through another setting: refused and absent settings then do not delay
// the end any longer, and stay in the record. So do those that a port lacks because it has become a member of a bond,
// and the MTU of a port that has joined a bond for IP.
Changes revert(Kernel& kernel, const std::vector<Port>& ports, Record& record, const BootMoment& now,
               const RevertTerms& how);

// Whether revert() would end the apply now, if the drivers accept its writes: no setting has to wait, and none is lost,
// unless it has been for ten minutes. Writes nothing.
bool may_end(Kernel& kernel, const std::vector<Port>& ports, const Record& record, const BootMoment& now,
             const qos::UseCheck& in_use, const std::function<bool(const Port&)>& front_end);

// True if previous settings are of a card that is not among the ports: it is absent, or the present configuration
// excludes it, which that of the apply (--config) did not.
bool misses_card(const Record& record, const std::vector<Port>& ports);
// The ports for lapse(): `known`; if the record misses a card and the policy excludes ports, also those that `scan`
// finds with a policy that excludes none.
std::vector<Port> with_excluded(const Record& record, std::vector<Port> known, Policy policy,
                                const std::function<std::vector<Port>(const Policy&)>& scan);
// Calls revert() and saves the record if it has changed. If the apply wrote nothing, removes the record.
Result<Changes> lapse(const std::string& directory, Kernel& kernel, const std::vector<Port>& ports, Record& record,
                      const RevertTerms& how);

// The pause before the next lapse(): a second while a port is busy; doubled, up to a minute, while settings are
// refused, because each try of a disruptive write may stop traffic, or while nothing else is left than settings that no
// present port has. `longest`: the limit in place of a minute if only refused settings remain. If one of them leaves
// RoCE without protection (Change::is_unprotected), it is a minute for global pause, and ten for PFC.
class RetryPause {
 public:
  static constexpr std::chrono::seconds kMinute{60}, kHour{3'600};
  std::chrono::seconds after(const Changes& changes, std::chrono::seconds longest = kMinute);

 private:
  unsigned doublings_ = 0;
};

// Runs `body` in a process in a session of its own that outlives its starter, without the starter's open files. It
// calls `detach` first (to leave the starter's cgroup); start_detached() returns after that. `what` begins the texts of
// errors.
Result<void> start_detached(const std::string& what, const std::function<void()>& detach,
                            const std::function<void()>& body);

// Starts a process (start_detached()) that calls `act` from the deadline on, which returns the pause before its next
// call. The process ends as soon as the record is gone, was reverted, or belongs to another apply, and for no other
// reason: an apply that takes longer than its time sets a later deadline at its end.
using GuardAct = std::function<std::chrono::seconds()>;
Result<void> start_guard(const std::string& directory, const std::string& id, const std::function<void()>& detach,
                         const GuardAct& act);

}  // namespace fabric::confirm
