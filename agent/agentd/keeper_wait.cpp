// SPDX-License-Identifier: Apache-2.0
// What the keeper waits for: idle ports, the maintenance window, a confirmation; and ports that it lets go of.
#include <algorithm>

#include "agentd/keeper.h"
#include "agentd/messages.h"
#include "agentd/window.h"
#include "config/config.h"
#include "model/bond.h"
#include "settings/restore.h"
#include "store/state.h"

namespace fabric::agentd {
namespace {

constexpr std::chrono::milliseconds kAgain{1'000};
constexpr int kLongestNap = 60;  // minutes

size_t written(const Changes& changes) {
  return static_cast<size_t>(std::count_if(changes.begin(), changes.end(),
                                           [](const Change& change) { return change.outcome == Outcome::applied; }));
}

// No link yet, and an entry that asks for a speed may be its own (policy_for()).
bool waits_for_speed(const Policy& policy, const Port& port) {
  if (port.speed || port.carrier != false) return false;
  return std::any_of(policy.ports.begin(), policy.ports.end(), [&port](const PortPolicy& entry) {
    if (entry.match.speed.empty()) return false;
    Policy alone;
    alone.ports = {entry};
    alone.ports.front().match.speed.clear();
    return policy_for(alone, port) != nullptr;
  });
}

bool is_left_to_do(const Change& change) { return change.outcome == Outcome::pending || change.code == ENODEV; }

}  // namespace

bool Keeper::window_is_open() const { return is_open(policy_.maintenance, world_.now_local()); }

bool Keeper::has_pending(const Kept& kept) const {
  return policy_.mode == Mode::enforce && held_.empty() &&
         std::any_of(kept.last.begin(), kept.last.end(),
                     [](const auto& each) { return each.second.outcome == Outcome::pending; });
}

bool Keeper::waits_for_idle(const std::string& id) const {
  auto entry = ports_.find(id);
  if (entry == ports_.end() || policy_.disruptive != Disruptive::idle) return false;
  return has_pending(entry->second) && window_is_open();
}

bool Keeper::is_idle(const std::string& id) const {
  auto entry = ports_.find(id);
  return entry == ports_.end() || !world_.busy(entry->second.port);
}

std::optional<std::chrono::minutes> Keeper::until_window() const {
  if (policy_.disruptive == Disruptive::never || window_is_open()) return std::nullopt;
  const bool waits =
      std::any_of(ports_.begin(), ports_.end(), [this](const auto& each) { return has_pending(each.second); });
  if (!waits) return std::nullopt;
  return std::chrono::minutes(std::max(1, minutes_until_open(policy_.maintenance, world_.now_local(), kLongestNap)));
}

void Keeper::set_policy(Policy policy) {
  const Policy old = std::exchange(policy_, std::move(policy));
  config_ = confirm::digest(wanted_config(policy_));
  config_error_.clear();
  drift_.clear(policy_.conflict, policy_.reread);
  drop_lapsed_record();
  let_go(old);
}

// The operator's word after a lapsed apply: what is configured now is wanted.
void Keeper::drop_lapsed_record() {
  if (world_.read_only) return;
  auto lock = state::take_lock(world_.directory, kAgain);
  const auto record = confirm::load(world_.directory);
  if (!lock || !record || !*record || is_pending(**record)) return;
  if (auto removed = confirm::remove(world_.directory); !removed) return trouble(removed.error().text());
  held_.clear();
}

void Keeper::let_go(const Policy& old) {
  for (auto& [id, kept] : ports_) {
    kept.releasing = kept.releasing && policy_.release == Release::restore && policy_.mode == Mode::enforce &&
                     policy_for(policy_, kept.port) == nullptr;
    if (policy_for(old, kept.port) != nullptr) kept.kept_before = old.mode;
    decide(id, kept);
  }
  for (auto& [id, memory] : memory_)
    memory.releasing = memory.releasing && policy_.release == Release::restore && policy_.mode == Mode::enforce;
}

void Keeper::set_aside(const std::string& id, const Kept& kept) {
  if (!kept.releasing && !kept.kept_before) return;
  memory_[id].releasing = kept.releasing;
  memory_[id].kept_before = kept.kept_before;
}

Keeper::Kept Keeper::taken_back(const std::string& id, const Port& port) {
  Kept kept;
  const auto memory = memory_.find(id);
  if (memory == memory_.end()) return kept;
  kept.releasing = std::exchange(memory->second.releasing, false) && policy_for(policy_, port) == nullptr;
  kept.kept_before = std::exchange(memory->second.kept_before, std::nullopt);
  return kept;
}

void Keeper::decide(const std::string& id, Kept& kept) {
  const bool has_entry = policy_for(policy_, kept.port) != nullptr;
  if (!kept.kept_before || (!has_entry && (kept.port.netdev.empty() || waits_for_speed(policy_, kept.port)))) return;
  const Mode before = *std::exchange(kept.kept_before, std::nullopt);
  if (has_entry) return;
  kept.last.clear();
  memory_[id].good.clear();
  kept.releasing = policy_.release == Release::restore && policy_.mode == Mode::enforce && before == Mode::enforce;
  world_.log({message_id::port,
              LOG_NOTICE,
              id + ": no [[port]] entry matches it any more; " +
                  (kept.releasing ? "what stood before the first write is put back" : "its settings stay as they are") +
                  " (release = \"" + std::string(to_text(policy_.release)) + "\")",
              {{"FABRIC_PORT", id}}});
}

Result<void> Keeper::release(Kept& kept, qos::Instant now) {
  kept.heard.clear();
  if (kept.fresh && !kept.unmatched) kept.unmatched = now;
  kept.fresh = kept.fresh && waits_for_speed(policy_, kept.port);  // an entry that comes later finds jobs on it
  if (!kept.releasing) {
    kept.last.clear();
    return {};
  }
  auto locked = lock(now);
  if (!locked) return locked.error();
  if (!held_.empty()) return {};
  auto originals = state::load_originals(world_.directory);
  if (!originals) {
    trouble(originals.error().text() + "; " + kept.port.id() +
            " is let go of, and what stood before waits until the file is mended or moved away");
    return {};
  }
  qos::Options options;
  options.disruptive = policy_.disruptive;
  options.busy = world_.busy;
  options.window_open = window_is_open();
  options.only = qos::own_keys(kept.port);
  Changes changes = qos::restore(world_.kernel, kept.port, *originals, options);
  if (auto saved = state::save_originals(world_.directory, *originals); !saved) trouble(saved.error().text());
  kept.releasing = std::any_of(changes.begin(), changes.end(), is_left_to_do);
  const size_t waited = std::exchange(kept.last, {}).size();
  for (Change& change : changes)
    if (is_left_to_do(change) || change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      kept.last.insert_or_assign(change.key(), change);
  if (kept.releasing && written(changes) == 0 && kept.last.size() == waited) return {};  // told already
  world_.log(
      {message_id::port,
       kept.last.empty() ? LOG_NOTICE : LOG_WARNING,
       kept.port.id() + ": released: " + std::to_string(written(changes)) + " settings put back" +
           (kept.last.empty() ? "" : ", " + std::to_string(kept.last.size()) + " not: see fabric-agentctl status"),
       {{"FABRIC_PORT", kept.port.id()}}});
  return {};
}

bool Keeper::refresh_hold() {
  if (world_.read_only) return false;
  auto record = confirm::load(world_.directory);
  if (!record) {
    trouble(record.error().text() + "; no apply is awaited");
    record = std::optional<confirm::Record>{};
  }
  const std::string before = held_;
  held_.clear();
  awaits_confirmation_ = *record && is_pending(**record);
  awaited_ = awaited_ || awaits_confirmation_;
  if (awaits_confirmation_) {
    held_ = "an apply awaits confirmation until " + (*record)->until + ": fabric-agentctl confirm";
  } else if (*record && (*record)->policy == config_) {
    held_ = "reverted at " + (*record)->reverted +
            ": not confirmed; to enforce it all the same: systemctl reload fabric-agent";
  }
  // Confirmed: the configuration is read again before anything is written.
  if (awaited_ && !*record) held_ = "an apply was confirmed";
  return held_ != before;
}

Keeper::Watch Keeper::watch_confirm() {
  Watch watch;
  watch.changed = refresh_hold();
  if (!awaits_confirmation_) {
    if (!std::exchange(awaited_, false)) return watch;
    const auto record = confirm::load(world_.directory);
    watch.confirmed = record && !*record;
    refresh_hold();
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
  watch.changed = refresh_hold() || watch.changed;
  return watch;
}

void Keeper::revert(confirm::Record& record) {
  std::vector<Port> ports;
  for (const auto& [id, kept] : ports_) ports.push_back(kept.port);
  qos::Options options;
  options.busy = world_.busy;
  const auto lapsed = confirm::lapse(world_.directory, world_.kernel, ports, record, options);
  if (!lapsed) return trouble(lapsed.error().text());
  const Changes& changes = *lapsed;
  for (const Change& change : changes)
    if (change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      world_.log({message_id::not_set,
                  LOG_ERR,
                  change.port + ": " + change.key() + " could not be put back to " + change.to + ": " + change.detail,
                  {{"FABRIC_PORT", change.port}, {"FABRIC_SETTING", change.key()}}});
  if (is_pending(record)) {
    if (written(changes) != 0 || last_trouble_.empty())
      trouble("an apply was not confirmed in time; " + std::to_string(record.before.size()) +
              " ports wait to be put back until they are idle or there again");
    return;
  }
  world_.log({message_id::reverted,
              LOG_WARNING,
              "an apply was not confirmed in time: what stood before it is back (" + std::to_string(written(changes)) +
                  " settings written)",
              {}});
}

}  // namespace fabric::agentd
