// SPDX-License-Identifier: Apache-2.0
// Counts repairs and decides when to stop repairing. Pure: the clock is an argument.
#pragma once

#include <deque>

#include "policy/policy.h"
#include "setting/change.h"

namespace fabric::qos {

using Instant = std::chrono::steady_clock::time_point;

// A write over a value that was in sync before is a repair. `rounds` repairs of one setting within `window` (if the
// write is disruptive, within at least `rounds` re-read periods) are a conflict. The setting is then held, that is, not
// written, until it has been in sync for a whole window, or until no program has written it for a window (45 s at
// most, so that the setting is written within a minute after the last foreign write even if that write was noticed
// late). Then it is written once more, and a single further reversal is a conflict again, because some writers only
// react to our writes. A setting that the driver refuses or ignores is held, too: for one re-read period, and twice as
// long after each further failure, up to an hour. Without a refused global pause or PFC, RoCE may lack protection
// (Change::is_unprotected), for which a job must not wait: such a pause is held for one re-read period after every
// failure, and PFC, whose refusal may have restarted the link, up to ten minutes.
class Drift {
 public:
  Drift(ConflictRule rule, std::chrono::milliseconds reread) : rule_(rule), reread_(reread) {}

  enum class Transition : uint8_t {
    nothing,         // no news, or the first write, or the driver has refused or ignored the value
    repaired,        // the value was in sync, differed, and was written again
    conflict,        // repaired too often within the window; the setting is held from now on
    conflict_moved,  // in conflict, and the value differs from the one last reported; at most every ten seconds
    conflict_over,   // the setting is not held any more; if it differs, the caller writes it now
  };
  // `written`: since the last call another process has written the setting, maybe to the same value; or a write would
  // be disruptive, on a port in use, and waits for the process that changed the last one back.
  Transition observe(const Change& change, Instant now, bool written = false);

  // True if the setting must not be written now.
  [[nodiscard]] bool is_held(const std::string& port, std::string_view key, Instant now) const;
  [[nodiscard]] bool is_in_conflict(const std::string& port, std::string_view key) const;
  // True if any setting of the port is in conflict.
  [[nodiscard]] bool is_in_conflict(const std::string& port) const;
  [[nodiscard]] uint64_t repairs(const std::string& port, std::string_view key) const;

  // The device was re-created (driver reload): its values are not drift. The number of repairs is kept.
  void restart(const std::string& port);
  // A new policy: forgets everything except the number of repairs.
  void clear(ConflictRule rule, std::chrono::milliseconds reread);

 private:
  // The state of a setting.
  enum class State : uint8_t {
    unseen,    // it has not been in sync yet: a write is no repair
    kept,      // it was in sync: a write is a repair
    conflict,  // another program keeps changing it back
  };
  struct Track {
    State state = State::unseen;
    uint64_t repairs = 0;
    std::deque<Instant> rounds;  // repairs within the window
    std::string seen, reported;  // while in conflict: the last value, and the last value that was reported
    Instant seen_since{}, report_next{};
    unsigned failures = 0;  // writes in a row that the driver has refused or ignored, in any state
    Instant retry{};        // the setting is held until then, if there are failures
  };
  Transition repaired(Track& track, const Change& change, Instant now);
  Transition watch_conflict(Track& track, const Change& change, Instant now, bool written);
  [[nodiscard]] const Track* find(const std::string& port, std::string_view key) const;

  ConflictRule rule_;
  std::chrono::milliseconds reread_;
  std::map<std::string, std::map<std::string, Track, std::less<>>> ports_;
};

}  // namespace fabric::qos
