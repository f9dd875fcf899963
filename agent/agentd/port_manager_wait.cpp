// SPDX-License-Identifier: Apache-2.0
// Waits: idle ports, the maintenance window, a confirmation. And ports that are released.

#include "agentd/port_manager.h"
#include "agentd/schedule.h"
#include "enforce/restore.h"

namespace fabric::agentd {
namespace {

constexpr std::chrono::milliseconds kAgain{1'000};
constexpr int kLongestNap = 60;  // minutes

size_t written(const Changes& changes) { return static_cast<size_t>(std::ranges::count_if(changes, was_written)); }

// Of a port without an entry: it has no link yet, and one that asks for a speed may be its own.
bool waits_for_speed(const Policy& policy, const Port& port) {
  return std::ranges::any_of(policy.ports, [&](const PortPolicy& entry) { return may_match(entry, port); });
}

}  // namespace

std::tm local_time() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::tzset();  // the time zone may have changed
  ::localtime_r(&now, &parts);
  return parts;
}

bool PortManager::window_is_open() const { return minutes_until_open(policy_.maintenance, world_.now_local(), 1) == 0; }

bool PortManager::has_pending(const PortEntry& managed) const {
  return is_enforcing() &&
         std::ranges::any_of(managed.last, [](const auto& each) { return each.second.outcome == Outcome::pending; });
}

bool PortManager::waits_for_idle(const std::string& id) const {
  const PortEntry* managed = find_in(ports_, id);
  return managed != nullptr && policy_.disruptive == Disruptive::idle && has_pending(*managed) && window_is_open();
}

bool PortManager::is_idle(const std::string& id) const {
  const PortEntry* managed = find_in(ports_, id);
  return managed == nullptr || !world_.busy(managed->port);
}

std::optional<std::chrono::minutes> PortManager::until_window() const {
  if (policy_.disruptive == Disruptive::never || window_is_open()) return std::nullopt;
  if (std::ranges::none_of(ports_, [this](const auto& each) { return has_pending(each.second); })) return std::nullopt;
  return std::chrono::minutes(std::max(1, minutes_until_open(policy_.maintenance, world_.now_local(), kLongestNap)));
}

void PortManager::set_policy(Policy policy) {
  const Policy old = std::exchange(policy_, std::move(policy));
  config_ = confirm::digest(wanted_config(policy_));
  config_error_.clear();
  drift_.clear(policy_.conflict, policy_.reread);
  drop_lapsed_record();
  release_unmatched(old);
}

// A reload after a lapsed apply confirms the configuration.
void PortManager::drop_lapsed_record() {
  if (world_.read_only) return;
  auto lock = state::take_lock(world_.directory, kAgain);
  const auto record = confirm::load(world_.directory);
  if (!lock || !record || !*record || is_pending(**record)) return;
  if (auto removed = confirm::remove(world_.directory); !removed) return log_error_once(removed.error().text());
  suspended_reason_.clear();
}

void PortManager::release_unmatched(const Policy& old) {
  const bool restores = policy_.release == Release::restore && policy_.mode == Mode::enforce;
  for (auto& [id, memory] : memory_) memory.releasing = memory.releasing && restores;
  for (auto& [id, managed] : ports_) {
    if (Memory* memory = find_in(memory_, id); memory != nullptr && policy_for(policy_, managed.port) != nullptr)
      memory->releasing = memory->lost_entry = false;
    if (policy_for(old, managed.port) != nullptr) memory_[id].previous_mode = old.mode;
    decide_release(id, managed);
  }
}

void PortManager::decide_release(const std::string& id, PortEntry& managed) {
  Memory* memory = find_in(memory_, id);
  const bool has_entry = policy_for(policy_, managed.port) != nullptr;
  if (memory == nullptr || !memory->previous_mode ||
      (!has_entry && (managed.port.netdev.empty() || waits_for_speed(policy_, managed.port))))
    return;
  const Mode before = *std::exchange(memory->previous_mode, std::nullopt);
  if (has_entry) return;
  managed.last.clear();
  memory->good.clear();
  memory->lost_entry = true;
  memory->releasing = policy_.release == Release::restore && policy_.mode == Mode::enforce && before == Mode::enforce;
  world_.log(port_entry(id, LOG_WARNING,
                        std::string("no [[port]] entry matches any more; ") +
                            (memory->releasing ? "its original settings are restored" : "its settings are unchanged") +
                            " (release = \"" + std::string(to_text(policy_.release)) + "\")"));
}

Result<void> PortManager::release(PortEntry& managed, qos::Instant now) {
  managed.notified.clear();
  if (managed.fresh && !managed.unmatched) managed.unmatched = now;
  managed.fresh =
      managed.fresh && waits_for_speed(policy_, managed.port);  // an entry that comes later finds jobs on it
  Memory* memory = find_in(memory_, managed.port.id());
  if (memory == nullptr || !memory->releasing) {
    managed.last.clear();
    return {};
  }
  auto locked = lock(now);
  if (!locked) return locked.error();
  if (!suspended_reason_.empty()) return {};
  auto originals = state::load_originals(world_.directory);
  if (!originals) {
    log_error_once(originals.error().text() + "; " + managed.port.id() +
                   ": restore waits until the file is repaired or removed");
    return {};
  }
  qos::Options options;
  options.disruptive = policy_.disruptive;
  options.busy = world_.busy;
  options.window_open = window_is_open();
  options.only = qos::own_keys(managed.port);
  Changes changes = qos::restore(world_.kernel, managed.port, *originals, options);
  if (auto saved = state::save_originals(world_.directory, *originals); !saved) log_error_once(saved.error().text());
  memory->releasing = std::ranges::any_of(changes, is_left_to_do);
  const size_t waited = std::exchange(managed.last, {}).size();
  for (Change& change : changes)
    if (is_left_to_do(change) || change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      managed.last.insert_or_assign(change.key(), change);
  if (memory->releasing && written(changes) == 0 && managed.last.size() == waited) return {};  // already reported
  std::string what = "released: " + std::to_string(written(changes)) + " settings restored";
  if (!managed.last.empty())
    what += ", " + std::to_string(managed.last.size()) + " not restored: see fabric-agentctl status";
  world_.log(port_entry(managed.port.id(), managed.last.empty() ? LOG_NOTICE : LOG_WARNING, what));
  return {};
}

bool PortManager::refresh_suspension() {
  if (world_.read_only) return false;
  auto record = confirm::load(world_.directory);
  if (!record) {
    log_error_once(record.error().text() + "; the pending apply is ignored");
    record = std::optional<confirm::Record>{};
  }
  const std::string before = suspended_reason_;
  suspended_reason_.clear();
  awaits_confirmation_ = *record && is_pending(**record);
  awaited_ = awaited_ || awaits_confirmation_;
  if (awaits_confirmation_) {
    suspended_reason_ = "an apply awaits confirmation until " + (*record)->until + ": fabric-agentctl confirm";
  } else if (*record && (*record)->policy == config_) {
    suspended_reason_ =
        "reverted at " + (*record)->reverted + ": not confirmed; to enforce it anyway: systemctl reload fabric-agent";
  }
  // Confirmed: the configuration is read again before anything is written.
  if (awaited_ && !*record) suspended_reason_ = "an apply was confirmed";
  return suspended_reason_ != before;
}

PortManager::Watch PortManager::watch_confirm() {
  Watch watch;
  watch.changed = refresh_suspension();
  if (!awaits_confirmation_) {
    if (!std::exchange(awaited_, false)) return watch;
    const auto record = confirm::load(world_.directory);
    watch.confirmed = record && !*record;
    refresh_suspension();
    return watch;
  }
  auto lock = state::take_lock(world_.directory);
  auto record = confirm::load(world_.directory);
  const confirm::Moment now = confirm::this_moment(world_.kernel.root);
  if (!lock || !record || !*record || !is_due(**record, now)) {
    watch.again = kAgain;
    if (record && *record && (*record)->boot_id == now.boot_id && (*record)->deadline > now.milliseconds)
      watch.again = std::chrono::milliseconds((*record)->deadline - now.milliseconds);
    return watch;
  }
  revert(**record);
  if (is_pending(**record)) watch.again = kAgain;
  watch.changed = refresh_suspension() || watch.changed;
  return watch;
}

void PortManager::revert(confirm::Record& record) {
  qos::Options options;
  options.busy = world_.busy;
  std::vector<Port> present = ports();
  const auto changes = confirm::lapse(world_.directory, world_.kernel, present, record, options);
  if (!changes) return log_error_once(changes.error().text());
  for (const Change& change : *changes)
    if (change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      world_.log({message_id::not_set,
                  LOG_ERR,
                  change.port + ": " + change.key() + " could not be restored to " + change.to + ": " + change.detail,
                  {{"FABRIC_PORT", change.port}, {"FABRIC_SETTING", change.key()}}});
  if (is_pending(record)) {
    if (written(*changes) != 0 || last_error_.empty())
      log_error_once("an apply was not confirmed in time; " + std::to_string(record.before.size()) +
                     " ports will be restored when they are idle or present");
    return;
  }
  world_.log({message_id::reverted, LOG_WARNING,
              "an apply was not confirmed in time: the previous settings are restored (" +
                  std::to_string(written(*changes)) + " settings written)"});
}

}  // namespace fabric::agentd
