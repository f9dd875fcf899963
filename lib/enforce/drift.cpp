// SPDX-License-Identifier: Apache-2.0
#include "enforce/drift.h"

#include <algorithm>

namespace fabric::qos {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestHold{3'600'000}, kLongestQuiet{45'000}, kReportPause{10'000};

}  // namespace

Drift::Transition Drift::observe(const Change& change, Instant now, bool written) {
  Track& track = ports_[change.port][change.key()];
  if (was_written(change)) return repaired(track, change, now);
  if (change.outcome == Outcome::refused || change.outcome == Outcome::ignored) {
    milliseconds pause = reread_, longest = kLongestHold;
    if (change.is_unprotected)
      longest = keeps_link(change) ? reread_ : std::max<milliseconds>(reread_, kLongestWithoutPfc);
    for (unsigned i = 0; i < track.failures && pause < longest; ++i) pause *= 2;
    track.retry = now + std::min(pause, longest);
    ++track.failures;
    return Transition::nothing;
  }
  if (is_done(change.outcome)) {
    if (track.state == State::unseen) track.state = State::kept;
    track.failures = 0;
  }
  if (track.state != State::conflict) return Transition::nothing;
  return watch_conflict(track, change, now, written);
}

Drift::Transition Drift::repaired(Track& track, const Change& change, Instant now) {
  track.failures = 0;
  if (track.state == State::unseen) {
    track.state = State::kept;
    return Transition::nothing;
  }
  ++track.repairs;
  track.rounds.push_back(now);
  // Only the next re-read finds a write that the kernel does not announce. Without a longer window, every re-read would
  // repair it and the link would flap each time, forever.
  auto window = rule_.window;
  if (change.disruptive) window = std::max(window, reread_ * rule_.rounds);
  while (now - track.rounds.front() > window) track.rounds.pop_front();
  if (track.rounds.size() < rule_.rounds) return Transition::repaired;
  track.state = State::conflict;
  track.seen = track.reported = change.to;
  track.seen_since = track.report_next = now;
  return Transition::conflict;
}

Drift::Transition Drift::watch_conflict(Track& track, const Change& change, Instant now, bool written) {
  if (change.from != track.seen || written) {
    track.seen = change.from;
    track.seen_since = now;
  }
  const bool in_sync = change.outcome == Outcome::in_sync || change.from == change.to;
  auto quiet = rule_.window;
  if (!in_sync) quiet = std::min(quiet, kLongestQuiet);
  if (now - track.seen_since >= quiet) {
    track.state = State::kept;
    track.rounds.clear();
    track.seen_since = now;
    // On probation: a single reversal within the window is the next conflict.
    if (!in_sync) track.rounds.assign(rule_.rounds - std::min(rule_.rounds, 2U), now);
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

bool Drift::is_held(const std::string& port, std::string_view key, Instant now) const {
  const Track* track = find(port, key);
  return track != nullptr && (track->state == State::conflict || (track->failures != 0 && now < track->retry));
}

bool Drift::is_in_conflict(const std::string& port, std::string_view key) const {
  const Track* track = find(port, key);
  return track != nullptr && track->state == State::conflict;
}

bool Drift::is_in_conflict(const std::string& port) const {
  const auto* keys = find_in(ports_, port);
  return keys != nullptr &&
         std::ranges::any_of(*keys, [](const auto& entry) { return entry.second.state == State::conflict; });
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
