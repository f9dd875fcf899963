// SPDX-License-Identifier: Apache-2.0
// The results of the passes: the last result and the drift record of each setting. Logs changes.
#pragma once

#include "agentd/environment.h"
#include "agentd/port_table.h"

namespace fabric::agentd {

class Results {
 public:
  using OfPort = std::map<std::string, Change, std::less<>>;  // setting -> the last result

  Results(Environment& environment, const Policy& policy)
      : environment_(environment), drift_(policy.conflict, policy.reread) {}

  // A pass over a port or the host, and the evidence collected before it.
  struct Pass {
    std::string subject;        // the port's id, or kHostSubject
    const Qos* have = nullptr;  // the port's last reading; null: the host
    Sightings seen{};
    std::string suspended{};  // why nothing is written; empty: not suspended
    bool on_trial = false;    // an apply awaits confirmation: the values that it has set are not drift
    // Whether nothing uses the port; asked only about a writer that reacts. Null: it counts as used.
    std::function<bool()> is_idle{};
  };
  // Compares the results of a pass with those of the previous pass. True if a conflict has ended on a setting that
  // differs: the caller makes another pass at once, which writes it.
  bool record(const Pass& pass, Changes changes, qos::Instant now);

  // Continues the drift record of an earlier agent of this boot.
  void resume(const std::string& subject, const std::string& key, const SettingState& state);
  // Another entry matches the port now: the values of the previous entry are not drift.
  void restart(const std::string& subject) { drift_.restart(subject); }
  // The port has disappeared or is another device: its values are not drift, and its last results are forgotten.
  void drop(const std::string& subject);
  // The port is not managed any more: forgets its last results and its values in sync.
  void forget(const std::string& subject);
  // Replaces the port's last results.
  void replace(const std::string& subject, OfPort last);
  // A new policy: forgets conflicts.
  void reset(const Policy& policy) { drift_.clear(policy.conflict, policy.reread); }

  // True if the setting must not be written now: another writer keeps changing it, or the driver has just refused it.
  [[nodiscard]] bool is_held(const std::string& subject, std::string_view key, qos::Instant now) const {
    return drift_.is_held(subject, key, now);
  }
  [[nodiscard]] bool is_in_conflict(const std::string& subject) const { return drift_.is_in_conflict(subject); }
  [[nodiscard]] bool has_pending(const std::string& subject) const;
  [[nodiscard]] const OfPort& of(const std::string& subject) const;
  // The settings of a port in the form of the state file.
  [[nodiscard]] std::map<std::string, SettingState> states_of(const std::string& subject) const;

 private:
  // The other writer of a setting in conflict.
  struct OtherWriter {
    // Whether it changes our value back.
    enum class Reaction : uint8_t {
      unknown,  // the setting was not written since the conflict
      asked,    // it was written, while the writer may only have paused
      reacts,   // the writer changed that value back: the next write, if disruptive, waits on a port that is in use
    };
    qos::Suspect suspect;
    qos::Suspect latest;  // of the present value: during the conflict another program may write the setting, too
    Reaction reaction = Reaction::unknown;
    unsigned reversals = 0;  // values that the writer changed back
    // While it reacts, a disruptive write of a port in use (disruptive = "now", front_end) waits until the writer ends,
    // or until this moment: the writer's rule may be corrected while it runs. On an idle port a write stops no traffic.
    qos::Instant waits_until{};
  };
  // Kept while a port comes and goes: NICs keep settings over a driver reload.
  struct SubjectHistory {
    std::map<std::string, std::string, std::less<>> in_sync;    // setting -> its value while it was in sync
    std::map<std::string, SettingState, std::less<>> reported;  // setting -> last_repair and the drift members
    std::map<std::string, OtherWriter, std::less<>> writers;    // setting in or after a conflict -> its writer
  };
  // The result of one setting of a pass.
  struct SettingResult {
    Change change;
    qos::Drift::Transition transition;
  };
  SettingResult process_change(const Pass& pass, Change change, const OfPort& last, qos::Instant now);
  std::optional<qos::Suspect> note_drift(const Pass& pass, const Change& change);
  static std::string note_conflict(OtherWriter& writer, const std::optional<qos::Suspect>& drifted, qos::Instant now);

  Environment& environment_;
  qos::Drift drift_;
  std::map<std::string, OfPort> last_;
  std::map<std::string, SubjectHistory> records_;
};

}  // namespace fabric::agentd
