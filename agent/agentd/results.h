// SPDX-License-Identifier: Apache-2.0
// What the passes have found of each setting: the last result, and the record of its drift. Logs what is new.
#pragma once

#include "agentd/environment.h"
#include "agentd/port_table.h"

namespace fabric::agentd {

class Results {
 public:
  using OfPort = std::map<std::string, Change, std::less<>>;  // setting -> the last result
  using Reported = std::map<std::string, SettingState, std::less<>>;

  Results(Environment& environment, const Policy& policy)
      : environment_(environment), drift_(policy.conflict, policy.reread) {}

  // A pass of a port, and what was seen of it before.
  struct Pass {
    std::string subject;         // the port's id, or kHostSubject
    const Port* port = nullptr;  // null: the host
    Sightings seen{};
    std::string suspended{};  // why nothing is written; empty: enforcing
    bool on_trial = false;    // an apply awaits confirmation: what it has set is no drift
  };
  // Compares the results of a pass with the previous pass.
  void record(const Pass& pass, Changes changes, qos::Instant now);

  // The drift record of an earlier agent of this boot.
  void restore(const std::string& subject, const std::string& key, const SettingState& state);
  // Another entry matches the port: the values of the previous one are not drift.
  void restart(const std::string& subject) { drift_.restart(subject); }
  // The port has gone, or is another device: nor are its values drift, and it has no last results.
  void drop(const std::string& subject);
  // The port is not managed any more: its last results, and what was in sync.
  void forget(const std::string& subject);
  // Its last results are these.
  void replace(const std::string& subject, OfPort last);
  // A new policy: conflicts are forgotten.
  void reset(const Policy& policy) { drift_.clear(policy.conflict, policy.reread); }

  // True if the setting must not be written now: another writer keeps changing it, or the driver has just refused it.
  [[nodiscard]] bool is_held(const std::string& subject, std::string_view key, qos::Instant now) const {
    return drift_.is_held(subject, key, now);
  }
  [[nodiscard]] bool is_in_conflict(const std::string& subject) const { return drift_.is_in_conflict(subject); }
  [[nodiscard]] bool has_pending(const std::string& subject) const;
  [[nodiscard]] const OfPort& of(const std::string& subject) const;
  // For the state file.
  [[nodiscard]] std::map<std::string, SettingState> states_of(const std::string& subject) const;

 private:
  // Kept while a port comes and goes: NICs keep settings over a driver reload.
  struct Record {
    std::map<std::string, std::string, std::less<>> good;             // setting -> its value while it was in sync
    Reported reported;                                                // last_repair and the drift members
    std::map<std::string, qos::SuspectProcess, std::less<>> writers;  // of settings in conflict
  };
  Change process_change(const Pass& pass, Change change, const Change* before, qos::Instant now);
  std::optional<qos::Suspect> note_drift(const Pass& pass, const Change& change);

  Environment& environment_;
  qos::Drift drift_;
  std::map<std::string, OfPort> last_;
  std::map<std::string, Record> records_;
};

}  // namespace fabric::agentd
