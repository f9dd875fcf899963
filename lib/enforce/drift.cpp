// SPDX-License-Identifier: Apache-2.0
#include "enforce/drift.h"

#include <algorithm>
#include <utility>

namespace fabric::qos {
namespace {

constexpr std::chrono::milliseconds kLongestHold{3'600'000}, kLongestQuiet{60'000}, kReportPause{10'000};

std::chrono::milliseconds doubled(std::chrono::milliseconds time, unsigned times) {
  while (times-- > 0 && time < kLongestHold) time *= 2;
  return std::min(time, kLongestHold);
}

}  // namespace

Drift::Transition Drift::observe(const Change& change, Instant now, bool written) {
  Track& track = ports_[change.port][change.key()];
  if (was_written(change)) return repaired(track, change, now);
  if (change.outcome == Outcome::refused || change.outcome == Outcome::ignored) {
    track.retry = now + doubled(reread_, track.failures++);
    return Transition::nothing;
  }
  if (is_done(change.outcome)) {
    track.was_in_sync = true;
    track.failures = 0;
  }
  if (!track.conflict) return Transition::nothing;
  return watch_conflict(track, change, now, written);
}

Drift::Transition Drift::repaired(Track& track, const Change& change, Instant now) {
  track.failures = 0;
  if (!std::exchange(track.was_in_sync, true)) return Transition::nothing;
  ++track.repairs;
  track.rounds.push_back(now);
  // A writer without notification is found by the next re-read only: the link must not flap at each of them forever.
  auto window = rule_.window;
  if (change.disruptive) window = std::max(window, reread_ * rule_.rounds);
  while (now - track.rounds.front() > window) track.rounds.pop_front();
  if (track.rounds.size() < rule_.rounds) return Transition::repaired;
  track.conflict = true;
  track.seen = track.reported = change.to;
  track.seen_since = track.report_next = now;
  return Transition::conflict;
}

Drift::Transition Drift::watch_conflict(Track& track, const Change& change, Instant now, bool written) {
  if (change.from != track.seen || written) {
    track.seen = change.from;
    track.seen_since = now;
  }
  const bool as_wanted = change.outcome == Outcome::in_sync || change.from == change.to;
  if (now - track.seen_since >= (as_wanted ? rule_.window : std::min(rule_.window, kLongestQuiet))) {
    track.conflict = false;
    track.rounds.clear();
    track.seen_since = now;
    // On probation: a single reversal within the window is the next conflict.
    if (!as_wanted) track.rounds.assign(rule_.rounds - std::min(rule_.rounds, 2U), now);
    return Transition::conflict_over;
  }
  if (change.from == track.reported || now < track.report_next) return Transition::nothing;
  track.reported = change.from;
  track.report_next = now + kReportPause;
  return Transition::conflict_moved;
}

const Drift::Track* Drift::find(const std::string& port, std::string_view key) const {
  const auto* keys = find_in(ports_, port);
  return keys == nullptr ? nullptr : find_in(*keys, key);
}

bool Drift::held(const std::string& port, std::string_view key, Instant now) const {
  const Track* track = find(port, key);
  return track != nullptr && (track->conflict || (track->failures != 0 && now < track->retry));
}

bool Drift::in_conflict(const std::string& port, std::string_view key) const {
  const Track* track = find(port, key);
  return track != nullptr && track->conflict;
}

bool Drift::in_conflict(const std::string& port) const {
  const auto* keys = find_in(ports_, port);
  return keys != nullptr && std::ranges::any_of(*keys, [](const auto& entry) { return entry.second.conflict; });
}

uint64_t Drift::repairs(const std::string& port, std::string_view key) const {
  const Track* track = find(port, key);
  return track == nullptr ? 0 : track->repairs;
}

void Drift::restart(const std::string& port) {
  for (auto& [key, track] : ports_[port]) track = {.repairs = track.repairs};
}

void Drift::clear(ConflictRule rule, std::chrono::milliseconds reread) {
  rule_ = rule;
  reread_ = reread;
  for (auto& [port, keys] : ports_) restart(port);
}

}  // namespace fabric::qos
