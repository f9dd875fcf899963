// SPDX-License-Identifier: Apache-2.0
#include "enforce/confirm.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/fd.h"
#include "base/files.h"
#include "base/json.h"
#include "base/parse.h"
#include "enforce/restore.h"
#include "nic/driver.h"
#include "node/node.h"

namespace fabric {

namespace confirm {
namespace {

// After this time a NIC that is absent counts as gone, and a refusal as final: they must not keep the other ports
// without enforcement.
constexpr std::chrono::minutes kPatience{10};

// The process of start_detached(); writes one byte to `ready` when it is detached from its starter.
[[noreturn]] void run_detached(int ready, const std::function<void()>& detach, const std::function<void()>& body) {
  ::setsid();
  for (int signal : {SIGHUP, SIGPIPE, SIGINT}) ::signal(signal, SIG_IGN);
  // Closes every file of the starter, above all its lock, except the pipe.
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  ::dup2(ready, 3);
  ::closefrom(4);
  (void)!::chdir("/");
  if (::fork() != 0) ::_exit(0);  // the starter waits for the parent alone: the guard is not its child
  if (detach) detach();
  (void)!::write(3, "r", 1);
  ::close(3);
  body();
  ::_exit(0);
}

void guard(const std::string& directory, const std::string& id, const GuardAct& act) {
  auto next = std::chrono::steady_clock::now();
  for (;; std::this_thread::sleep_for(std::chrono::seconds(1))) {
    const auto root = Root::open(directory);
    const auto record = load(directory);
    if (!root && root.error().code == ENOENT) break;  // a captured tree that was deleted
    if (!root || !record) continue;                   // the operator may still repair the record
    if (!*record || (*record)->id != id || !is_pending(**record)) break;
    if (!is_due(**record, this_moment(*root)) || std::chrono::steady_clock::now() < next) continue;
    const auto pause = act();
    next = std::chrono::steady_clock::now() + pause;
  }
}

}  // namespace

BootMoment this_moment(const Root& root) {
  BootMoment now;
  now.boot_id = root.line_of("proc/sys/kernel/random/boot_id");
  timespec since_boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  now.milliseconds =
      static_cast<uint64_t>(since_boot.tv_sec) * 1000 + static_cast<uint64_t>(since_boot.tv_nsec) / 1'000'000;
  return now;
}

bool is_pending(const Record& record) { return record.reverted.empty(); }

bool is_of_this_boot(const Record& record, const BootMoment& now) {
  return now.boot_id.empty() || record.boot_id.empty() || record.boot_id == now.boot_id;
}

bool is_due(const Record& record, const BootMoment& now) {
  return is_pending(record) && (!is_of_this_boot(record, now) || now.milliseconds >= record.deadline);
}

bool has_work(const Record& record, const BootMoment& now) {
  return is_due(record, now) || (!is_pending(record) && !record.is_restored());
}

std::string left_text(const Record& record) {
  std::string text;
  for (const auto& [name, value] : record.sysctl) append_item(text, std::string(kHostSubject) + " " + name, ", ");
  for (const auto& [port, before] : record.before)
    for (const Setting& setting : kSettings)
      if (has_value(setting, before)) append_item(text, port + " " + std::string(setting.key), ", ");
  return text;
}

std::chrono::seconds RetryPause::after(const Changes& changes, std::chrono::seconds longest) {
  constexpr unsigned kMostDoublings = 12;
  const bool waits = std::ranges::any_of(changes, waits_by_itself);
  const bool is_refused = std::ranges::any_of(
      changes, [](const Change& change) { return !is_done(change.outcome) && !is_left_to_do(change); });
  const bool is_left = std::ranges::any_of(changes, [](const Change& change) { return !is_done(change.outcome); });
  if (waits || !is_refused) longest = std::min(longest, kMinute);
  for (const Change& change : changes)
    if (change.is_unprotected)
      longest = std::min<std::chrono::seconds>(longest, keeps_link(change) ? kMinute : kLongestWithoutPfc);
  doublings_ = is_refused || (is_left && !waits) ? std::min(doublings_ + 1, kMostDoublings) : 0;
  return std::min(longest, std::chrono::seconds(1U << doublings_));
}

Record begin(const BootMoment& now, std::chrono::seconds patience, const Policy& policy, std::string policy_digest) {
  Record record{.id = std::to_string(now.milliseconds) + "-" + std::to_string(::getpid()),
                .boot_id = now.boot_id,
                .policy = std::move(policy_digest),
                .disruptive = policy.disruptive};
  set_deadline(record, now, patience);
  return record;
}

void set_deadline(Record& record, const BootMoment& now, std::chrono::seconds patience) {
  record.deadline = now.milliseconds + static_cast<uint64_t>(patience.count()) * 1000;
  record.until = time_text(std::time(nullptr) + patience.count());
}

std::string digest(std::string_view text) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(fnv1a(text)));
  return digits;
}

FABRIC_JSON_MEMBERS(Record, id, boot_id, deadline, until, policy, disruptive, reverted, before, sysctl, front_end)

static void from_json(const Json& json, Record& record) {
  read_members(json, record);
  for (const char* name : {"id", "deadline"}) require(json, name);
}

std::string record_text(const Record& record) {
  Json json;
  write_members(json, record);
  return state_text(json);
}

Result<Record> parse(std::string_view text, const std::string& name) { return read_state<Record>(text, name); }

Result<std::optional<Record>> load(const std::string& directory) {
  auto root = Root::open(directory);
  if (!root) return root.error();
  auto record = parse_file(root->read(kFile), kFile, parse);
  if (!record && record.error().code == EBADMSG)
    return error(EBADMSG,
                 record.error().what + "; repair the file, or move it away (the previous settings are lost then)");
  if (!record && record.error().code == kNewerFormat)
    return error(kNewerFormat, record.error().what +
                                   "; nothing is written. Install that release again, or move the file away (the "
                                   "previous settings are lost then)");
  return record;
}

bool is_lost(const Error& why) { return why.code == EBADMSG || why.code == ENOTDIR; }

Result<void> save(const std::string& directory, const Record& record) {
  return state::replace_kept_file(directory, kFile, record_text(record));
}

Result<void> remove(const std::string& directory) { return remove_file(directory, kFile); }

Keys keys_changed(const Port& port, const Qos& want, const Qos& before) {
  const Driver& driver = driver_for(port.kernel_driver);
  Keys keys = keys_of(want);
  Qos now = before;
  // Applies `want` and then `before`: a write can overwrite other settings in either direction.
  for (const Qos* to : {&want, &before})
    for (const SettingId id : driver.order) {
      const Setting& setting = setting_of(id);
      if (!keys[index(id)] || !has_value(setting, *to) || same_value(setting, *to, now)) continue;
      driver.effect(setting, *to, now);
      for (size_t i = 0; i < kSettingCount; ++i)
        if (has_value(kSettings[i], before) && !same_value(kSettings[i], before, now)) keys.set(i);
    }
  return keys;
}

void remember(Record& record, const Port& port, const Qos& before, const Keys& keys, const std::string& bond) {
  state::end_bond(record.before, port, bond);
  state::Original& original = state::original_of(record.before, port);
  // A bond shares its entry with a member: a setting that is not the port's own would stay in the entry.
  const Keys own = keys & qos::own_keys(port);
  if (has_key(own, SettingId::mtu) && !original.mtu) original.bond = bond;
  for (size_t i = 0; i < kSettingCount; ++i)
    if (own[i] && !has_value(kSettings[i], original)) copy_value(kSettings[i], before, original);
  if (original.fec == kUnknownFec) original.fec.reset();  // it cannot be restored
}

bool allows_front_end(const Record& record, const Port& port) {
  return record.front_end.contains(state::port_key(port)) || record.front_end.contains(port.card_address);
}

void allow_front_end(Record& record, const Port& port) {
  for (const std::string& key : {state::port_key(port), port.card_address})
    if (!key.empty()) record.front_end.insert(key);
}

// An apply that did not wait for the maintenance window is reverted without waiting for it. With "never" it may have
// added protection, which is taken away on an idle port.
static qos::Terms terms_of(const Record& record, const std::vector<Port>& ports, const qos::UseCheck& in_use) {
  return {.in_use = in_use,
          .wanted_of = qos::saved_settings(ports, record.before),
          .disruptive = record.disruptive == Disruptive::never ? Disruptive::idle : record.disruptive,
          .window = qos::Maintenance::open};
}

// Overdue since the deadline or, after a reboot, since the boot.
static bool is_patience_over(const Record& record, const BootMoment& now) {
  const uint64_t due = is_of_this_boot(record, now) ? record.deadline : 0;
  return std::chrono::milliseconds(now.milliseconds - std::min(due, now.milliseconds)) >= kPatience;
}

Changes revert(Kernel& kernel, const std::vector<Port>& ports, Record& record, const BootMoment& now,
               const RevertTerms& how) {
  qos::Terms terms = terms_of(record, ports, how.in_use);
  const auto restore = [&](const Port& port, const qos::Complete& complete) -> Changes {
    const auto original = qos::restorable_of(kernel.root, port, record.before);
    if (!original) return {};
    // The default route may have come to the port after the apply.
    terms.front_end = allows_front_end(record, port) || (how.front_end && how.front_end(port));
    Qos wanted = original->values;
    if (how.share == Share::sys_admin) wanted = Qos{.mrrs = wanted.mrrs};
    Changes changes = qos::write_back(kernel, port, wanted, complete(terms)).changes;
    const auto is_back = [](const Change& change) { return is_done(change.outcome); };
    state::forget(record.before, port, qos::safely_back(kernel, port, changes, is_back));
    changes.insert(changes.end(), original->kept.begin(), original->kept.end());
    return changes;
  };
  Changes all = qos::write_in_rounds(how.turns, ports, restore, how.sleep);
  qos::SysctlValues host = record.sysctl;
  if (how.share == Share::sys_admin)
    std::erase_if(host, [](const auto& each) {
      const qos::Sysctl* row = qos::find_sysctl(each.first);
      return row == nullptr || !row->sys_admin;
    });
  const Changes of_host = qos::write_back_sysctl(kernel.root, host);
  all.insert(all.end(), of_host.begin(), of_host.end());
  for (const Change& change : of_host)
    if (is_done(change.outcome)) record.sysctl.erase(change.sysctl);

  const bool gives_up = is_patience_over(record, now) && std::ranges::none_of(all, waits_by_itself);
  if (gives_up && how.share == Share::all)
    for (Change& change : qos::restore_of_absent(record.before, ports)) {
      change.outcome = Outcome::refused;
      change.code = ENODEV;
      change.detail = "for 10 minutes: " + change.detail;
      all.push_back(std::move(change));
    }
  if (is_pending(record) && (record.is_restored() || (gives_up && how.share == Share::all)))
    record.reverted = time_text(std::time(nullptr));
  return all;
}

bool may_end(Kernel& kernel, const std::vector<Port>& ports, const Record& record, const BootMoment& now,
             const qos::UseCheck& in_use, const std::function<bool(const Port&)>& front_end) {
  qos::Terms terms = terms_of(record, ports, in_use);
  const bool is_over = is_patience_over(record, now);
  const auto may_be_back = [&](const Change& change) {
    if (waits_by_itself(change)) return false;
    return is_over || is_done(change.outcome) || change.outcome == Outcome::differs;
  };
  state::Originals before = record.before;
  for (const Port& port : ports) {
    const auto original = qos::restorable_of(kernel.root, port, before);
    if (!original) continue;
    if (!is_over && !original->kept.empty()) return false;  // it stays until the port has left its bond
    terms.front_end = allows_front_end(record, port) || front_end(port);
    if (!std::ranges::all_of(qos::plan(kernel, port, original->values, terms).changes, may_be_back)) return false;
  }
  return (is_over || !misses_card(record, ports)) &&
         std::ranges::all_of(qos::plan_sysctl(kernel.root, record.sysctl), may_be_back);
}

bool misses_card(const Record& record, const std::vector<Port>& ports) {
  return !state::absent_originals(record.before, ports).empty();
}

std::vector<Port> with_excluded(const Record& record, std::vector<Port> known, Policy policy,
                                const std::function<std::vector<Port>(const Policy&)>& scan) {
  if (policy.exclude.empty() || !misses_card(record, known)) return known;
  policy.exclude.clear();
  for (Port& port : scan(policy))
    if (!contains(known, port.id(), &Port::id)) known.push_back(std::move(port));
  return known;
}

Result<Changes> lapse(const std::string& directory, Kernel& kernel, const std::vector<Port>& ports, Record& record,
                      const RevertTerms& how) {
  const bool is_empty = record.is_restored();  // before revert() removes restored settings
  const std::string text = record_text(record);
  Changes changes = revert(kernel, ports, record, this_moment(kernel.root), how);
  if (is_empty) {
    if (auto removed = remove(directory); !removed) return removed.error();
  } else if (record_text(record) != text) {
    // A file without news would be noticed by agentd, which would come back at once.
    if (auto saved = save(directory, record); !saved) return saved.error();
  }
  return changes;
}

Result<void> start_guard(const std::string& directory, const std::string& id, const std::function<void()>& detach,
                         const GuardAct& act) {
  return start_detached("the guard of apply --confirm", detach, [&] { guard(directory, id, act); });
}

Result<void> start_detached(const std::string& what, const std::function<void()>& detach,
                            const std::function<void()>& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return error(errno, what + ": pipe");
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const pid_t first = ::fork();
  if (first < 0) return error(errno, what + ": fork");
  if (first == 0) run_detached(write_end.get(), detach, body);
  write_end.reset();
  ::waitpid(first, nullptr, 0);
  char ready = 0;
  if (::read(read_end.get(), &ready, 1) != 1) return error(ESRCH, what + " ended at once");
  return {};
}

}  // namespace confirm
}  // namespace fabric
