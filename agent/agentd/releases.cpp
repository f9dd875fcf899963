// SPDX-License-Identifier: Apache-2.0
#include "agentd/releases.h"

#include "base/find.h"
#include "enforce/formats.h"
#include "enforce/restore.h"

namespace fabric::agentd {
namespace {

bool restores(const Policy& policy) { return policy.release == Release::restore && policy.mode == Mode::enforce; }

}  // namespace

void Releases::reload(const Policy& old, const Policy& policy, const PortTable& table) {
  retries_.clear();  // the operator may have removed the cause of a refusal
  for (auto& [id, state] : states_)
    if (state == State::restoring && !restores(policy)) state = State::none;
  for (const auto& [id, entry] : table.entries()) {
    if (policy_for(policy, entry.port) != nullptr) {
      lost_.erase(id);
      if (is_restoring(id)) states_[id] = State::none;
    }
    if (policy_for(old, entry.port) != nullptr) {
      states_[id] = State::was_audited;
      if (old.mode == Mode::enforce) states_[id] = State::was_enforced;
    }
    decide(entry.port, policy);
  }
}

void Releases::note_renames(const Renames& renames) {
  rename_ids(states_, renames);
  rename_ids(retries_, renames);
  rename_ids(lost_, renames);
}

void Releases::new_device(const Port& port, const Policy& policy) {
  if (is_restoring(port.id()) && policy_for(policy, port) != nullptr) states_[port.id()] = State::none;
}

void Releases::decide(const Port& port, const Policy& policy) {
  const std::string id = port.id();
  State* state = find_in(states_, id);
  if (state == nullptr || *state == State::none || *state == State::restoring) return;
  const bool has_entry = policy_for(policy, port) != nullptr;
  if (!has_entry && (port.netdev.empty() || waits_for_speed(policy, port))) return;
  const State before = std::exchange(*state, State::none);
  if (has_entry) return;
  results_.forget(id);
  lost_.insert(id);
  std::string what = "its settings are unchanged";
  if (restores(policy) && before == State::was_enforced) {
    *state = State::restoring;
    what = "its original settings are restored";
  }
  environment_.log(port_entry(
      id, LOG_WARNING,
      "no [[port]] entry matches any more; " + what + " (release = \"" + std::string(to_text(policy.release)) + "\")"));
}

bool Releases::is_restoring(const std::string& id) const {
  const State* state = find_in(states_, id);
  return state != nullptr && *state == State::restoring;
}

std::optional<qos::Reconciled> Releases::restore(const Port& port, const qos::WriteTerms& terms, qos::Instant now) {
  const std::string id = port.id();
  Retry& retry = retries_[id];
  if (now < retry.next) return std::nullopt;
  if (const auto formats = qos::check_formats(environment_.directory); !formats) {
    errors_.once(formats.error().text());
    return std::nullopt;
  }
  auto originals = state::load_originals(environment_.directory);
  if (!originals) {
    errors_.once(originals.error().text() + "; the restore of " + id + " waits until the file is repaired or removed");
    return std::nullopt;
  }
  qos::Reconciled done = qos::restore(environment_.kernel, port, *originals, terms);
  const Changes& changes = done.changes;
  // A setting with its original value is no longer ours: while others are tried again, which may last (MRRS requires a
  // privilege that the agent lacks), another program may set it.
  const auto is_back = [](const Change& change) { return is_done(change.outcome); };
  state::forget(*originals, port, qos::safely_back(environment_.kernel, port, changes, is_back));
  if (auto saved = state::save_originals(environment_.directory, *originals); !saved)
    errors_.once(saved.error().text());
  Results::OfPort left;
  for (const Change& change : changes)
    if (is_left_to_do(change) || change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      left.insert_or_assign(change.key(), change);
  const bool waits = !left.empty();
  if (!waits) states_[id] = State::none;
  const bool refused = std::ranges::any_of(left, [](const auto& each) { return !is_left_to_do(each.second); });
  const auto pause = retry.pause.after(changes, confirm::RetryPause::kHour);
  retry.next = refused ? now + pause : now;
  const size_t left_before = results_.of(id).size(), left_now = left.size();
  results_.replace(id, std::move(left));
  const auto written = std::ranges::count_if(changes, was_written);
  if (waits && written == 0 && left_now == left_before) return done;  // already reported
  std::string what = "released: " + counted(static_cast<size_t>(written), "setting") + " restored";
  if (left_now != 0) what += ", " + std::to_string(left_now) + " not restored: see fabric-agentctl status";
  environment_.log(port_entry(id, left_now == 0 ? LOG_NOTICE : LOG_WARNING, what));
  return done;
}

}  // namespace fabric::agentd
