// SPDX-License-Identifier: Apache-2.0
// Counts repairs and decides when to stop repairing. Pure: the clock is an argument.
#pragma once

#include <deque>

#include "policy/policy.h"
#include "setting/change.h"

namespace fabric::qos {

using Instant = std::chrono::steady_clock::time_point;

// A write over a value that was in sync before is a repair. `rounds` repairs of one setting within `window` (where the
// write is disruptive: within `rounds` re-read periods at least) are a conflict: the setting is held (not written)
// until it has been in sync for a whole window, or no program has written it for a window (60 s at most). Then it is
// written once more, and one more reversal is a conflict again: some writers only answer ours. A setting that the
// driver refuses or ignores is held, too: for one re-read period, twice as long after each further failure, an hour at
// most.
class Drift {
 public:
  Drift(ConflictRule rule, std::chrono::milliseconds reread) : rule_(rule), reread_(reread) {}

  // conflict_moved: in conflict, and the value is another one than last reported; at most every ten seconds.
  enum class Transition : uint8_t { nothing, repaired, conflict, conflict_moved, conflict_over };
  // `written`: another process has written the setting since the last one, maybe to the same value, or still runs.
  Transition observe(const Change& change, Instant now, bool written = false);

  // True if the setting must not be written now.
  [[nodiscard]] bool held(const std::string& port, std::string_view key, Instant now) const;
  [[nodiscard]] bool in_conflict(const std::string& port, std::string_view key) const;
  // True if any setting of the port is in conflict.
  [[nodiscard]] bool in_conflict(const std::string& port) const;
  [[nodiscard]] uint64_t repairs(const std::string& port, std::string_view key) const;

  // The device was re-created (driver reload): its values are not drift. Repairs stay counted.
  void restart(const std::string& port);
  // A new policy.
  void clear(ConflictRule rule, std::chrono::milliseconds reread);

 private:
  struct Track {
    bool was_in_sync = false;
    uint64_t repairs = 0;
    std::deque<Instant> rounds;  // repairs within the window
    bool conflict = false;
    std::string seen, reported;  // value while in conflict: the last one, and the last one reported
    Instant seen_since{}, report_next{};
    unsigned failures = 0;
    Instant retry{};
  };
  Transition repaired(Track& track, const Change& change, Instant now);
  Transition watch_conflict(Track& track, const Change& change, Instant now, bool written);
  [[nodiscard]] const Track* find(const std::string& port, std::string_view key) const;

  ConflictRule rule_;
  std::chrono::milliseconds reread_;
  std::map<std::string, std::map<std::string, Track, std::less<>>> ports_;
};

}  // namespace fabric::qos
