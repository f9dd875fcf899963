// SPDX-License-Identifier: Apache-2.0
#include "agentd/results.h"

#include "base/find.h"
#include "base/result.h"

namespace fabric::agentd {
namespace {

NotificationKind announced_by(const Change& change) {
  if (!change.sysctl.empty()) return NotificationKind::nothing;
  return setting_of(change.setting).announced;
}

// True if the notifications since the last pass show that another program has written the setting, maybe to the same
// value. A link message does not: an MTU is announced only if it has changed (net/core/dev.c, dev_set_mtu_ext).
// Notifications that follow a write of ours do not, either.
bool is_foreign_write(const Change& change, const Sightings& seen, const Results::OfPort& before) {
  const NotificationKind how = announced_by(change);
  if (seen.settled && how == setting_of(SettingId::pfc).announced) return false;
  return how != NotificationKind::link && seen.notified.contains(how) &&
         std::ranges::none_of(
             before, [how](const auto& each) { return was_written(each.second) && announced_by(each.second) == how; });
}

// Who or what has changed the setting since the last pass.
qos::Suspect suspect_in(const Results::Pass& pass, const Change& change) {
  const auto* notified = find_in(pass.seen.notified, announced_by(change));
  qos::Evidence seen;
  seen.new_device = pass.seen.recreated;
  seen.carrier_lost = pass.seen.carrier_lost;
  seen.notified = notified != nullptr;
  if (notified != nullptr) seen.process = qos::writer_of(change.setting, *notified);
  seen.firmware_dcbx = pass.have != nullptr && pass.have->dcbx == Dcbx::firmware;
  return qos::suspect_of(change.setting, seen);
}

}  // namespace

bool Results::record(const Pass& pass, Changes changes, qos::Instant now) {
  OfPort& last = last_[pass.subject];
  const OfPort before = std::exchange(last, {});
  bool write_now = false;
  for (Change& change : changes) {
    if (!pass.suspended.empty() && change.outcome == Outcome::differs) {
      change.outcome = Outcome::pending;
      change.detail = pass.suspended;
      change.wait = WaitsFor::confirmation;
    }
    SettingResult seen = process_change(pass, std::move(change), before, now);
    if (seen.transition == qos::Drift::Transition::conflict_over && seen.change.from != seen.change.to)
      write_now = true;
    last.insert_or_assign(seen.change.key(), std::move(seen.change));
  }
  return write_now;
}

Results::SettingResult Results::process_change(const Pass& pass, Change change, const OfPort& last, qos::Instant now) {
  using Transition = qos::Drift::Transition;
  const auto drifted = note_drift(pass, change);
  const std::string key = change.key();
  const Change* before = find_in(last, key);
  SubjectHistory& record = records_[change.port];
  OtherWriter* writer = find_in(record.writers, key);
  const bool has_moved =
      before != nullptr && change.from != before->from && change.from != change.to && was_read(change);
  if (writer != nullptr && has_moved && drift_.is_in_conflict(change.port, key))
    writer->latest = suspect_in(pass, change);
  // A process that undoes every write would stop the traffic of a port in use every minute.
  const bool written =
      is_foreign_write(change, pass.seen, last) ||
      (change.disruptive && change.from != change.to && writer != nullptr &&
       writer->reaction == OtherWriter::Reaction::reacts && now < writer->waits_until &&
       qos::is_alive(environment_.kernel.root, writer->suspect.process) && !(pass.is_idle && pass.is_idle()));
  // A device that does not answer is no evidence of drift, and must not delay writes when it answers again.
  auto transition = Transition::nothing;
  if (change.code != ENODEV && !change.is_lost) transition = drift_.observe(change, now, written);
  // The driver has just refused the setting, so reconcile() reports it as in conflict: it is still refused.
  if (change.outcome == Outcome::conflict && !drift_.is_in_conflict(change.port, key) && before != nullptr) {
    std::string from = std::move(change.from);
    change = *before;
    change.from = std::move(from);
  }
  // The write that follows a conflict replaces the value that was written last.
  std::optional<qos::Suspect> suspect = drifted;
  if (writer != nullptr && transition == Transition::repaired) {
    if (!suspect) suspect = writer->latest;
    if (writer->reaction == OtherWriter::Reaction::asked) record.writers.erase(key);
    else writer->reaction = OtherWriter::Reaction::asked;
  }
  if (auto entry = message_for(change, before, transition, suspect)) environment_.log(*entry);
  if (transition == Transition::repaired || transition == Transition::conflict)
    record.reported[key].last_repair = utc_now();
  if (transition == Transition::conflict) {
    change.outcome = Outcome::conflict;
    change.detail = "repeatedly changed back by " + note_conflict(record.writers[key], suspect, now);
  } else if (change.outcome == Outcome::conflict && before != nullptr && before->outcome == Outcome::conflict) {
    change.detail = before->detail;
  }
  return {std::move(change), transition};
}

// A conflict began, or began again. Returns the writer's name. Without a drift our own write was one repair too many
// (rounds = 1): the writer is the one of before.
std::string Results::note_conflict(OtherWriter& writer, const std::optional<qos::Suspect>& drifted, qos::Instant now) {
  using Reaction = OtherWriter::Reaction;
  constexpr std::chrono::minutes kShortestWait{15}, kLongestWait{60};
  const qos::SuspectProcess before = writer.suspect.process;
  if (drifted || before.pid == 0)
    writer.suspect = drifted.value_or(qos::Suspect{.by = std::string(qos::kUnknownWriter)});
  writer.latest = writer.suspect;
  const qos::SuspectProcess& process = writer.suspect.process;
  const bool is_same = process.pid != 0 && process.pid == before.pid && process.started == before.started;
  if (!is_same) {
    writer.reaction = Reaction::unknown;
    writer.reversals = 0;
  } else if (writer.reaction != Reaction::unknown) {
    writer.reaction = Reaction::reacts;
    writer.waits_until = now + std::min(kShortestWait * (1 << std::min(writer.reversals, 2U)), kLongestWait);
    ++writer.reversals;
  } else if (!drifted) {
    writer.reaction = Reaction::asked;
  }
  return writer.suspect.by;
}

// A setting that was in sync now differs: records when, from and to which value, how often, and the likely writer.
std::optional<qos::Suspect> Results::note_drift(const Pass& pass, const Change& change) {
  SubjectHistory& record = records_[change.port];
  const auto known = record.in_sync.find(change.key());
  const bool differs =
      change.from != change.to && was_read(change) && change.outcome != Outcome::unsupported && !pass.on_trial;
  std::optional<qos::Suspect> suspect;
  if (differs && known != record.in_sync.end() && known->second == change.to) {
    suspect = suspect_in(pass, change);
    SettingState& state = record.reported[change.key()];
    ++state.drifts[std::string(to_text(suspect->cause))];
    state.last_drift = utc_now();
    state.drift_from = change.to;
    state.drift_to = change.from;
    state.drift_by = suspect->by;
  }
  if (differs && known != record.in_sync.end()) record.in_sync.erase(known);
  if (is_done(change.outcome)) record.in_sync[change.key()] = change.to;
  return suspect;
}

void Results::resume(const std::string& subject, const std::string& key, const SettingState& state) {
  records_[subject].reported[key] = state;
}

void Results::drop(const std::string& subject) {
  drift_.restart(subject);
  last_.erase(subject);
}

void Results::forget(const std::string& subject) {
  last_.erase(subject);
  if (SubjectHistory* record = find_in(records_, subject)) record->in_sync.clear();
}

void Results::replace(const std::string& subject, OfPort last) { last_[subject] = std::move(last); }

bool Results::has_pending(const std::string& subject) const {
  return std::ranges::any_of(
      of(subject), [](const auto& each) { return each.second.outcome == Outcome::pending && !each.second.waits_for; });
}

const Results::OfPort& Results::of(const std::string& subject) const {
  static const OfPort kNone;
  const OfPort* last = find_in(last_, subject);
  if (last == nullptr) return kNone;
  return *last;
}

std::map<std::string, SettingState> Results::states_of(const std::string& subject) const {
  std::map<std::string, SettingState> out;
  const SubjectHistory* record = find_in(records_, subject);
  for (const auto& [key, change] : of(subject)) {
    SettingState& state = out[key];
    if (record != nullptr)
      if (const SettingState* known = find_in(record->reported, key)) state = *known;
    state.outcome = change.outcome;
    state.detail = change.detail;
    state.reason.clear();
    if (change.outcome == Outcome::pending && change.wait) state.reason = to_text(*change.wait);
    if (change.outcome == Outcome::refused && change.code != 0) state.reason = errno_name(change.code);
    state.repairs = drift_.repairs(subject, key);
  }
  return out;
}

}  // namespace fabric::agentd
