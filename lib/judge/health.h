// SPDX-License-Identifier: Apache-2.0
// Health states over time, which window rules store per subject. Times are seconds since boot; they may be
// negative (before it).
#pragma once

#include <limits>
#include <map>
#include <optional>

#include "judge/report.h"
#include "policy/rules.h"

namespace fabric {

// One reading of one subject: the events since the reading before it, or a level.
struct Measured {
  std::string subject;                          // "mlx5_0/1"
  double amount = 0;                            // events, or the level
  double base = 0;                              // of a ratio: packets, bits, seconds
  std::string evidence{};                       // text
  std::optional<double> warning{}, critical{};  // limits of this subject that override the rule's: a module's own
};

// One limit with its memory: on after the value was above it for long enough, off when well below.
struct HealthTrigger {
  bool on = false;
  double since = 0;               // of `on`
  std::optional<double> turning;  // since when the readings have been opposite to `on`
  bool operator==(const HealthTrigger&) const = default;
};

enum class HealthPhase : uint8_t { ok, pending, raised, clearing };
template <>
inline constexpr std::string_view kEnumWords<HealthPhase>[] { "ok", "pending", "raised", "clearing" };

// The events from `from` until the next part.
struct HealthPart {
  double from = 0, amount = 0, base = 0;
  bool operator==(const HealthPart&) const = default;
};

// The state of one rule and one subject.
struct HealthState {
  HealthTrigger warning, critical;
  double seen = -std::numeric_limits<double>::infinity();  // time of the last reading
  double value = 0;                                        // at the time of the last reading
  std::string evidence{};                                  // of the last reading above a limit
  std::vector<HealthPart> parts{};                         // of the window, oldest first
  uint64_t onsets = 0;                                     // findings that have begun
  std::optional<double> first_onset{};
  bool struck = false;  // the last reading alone was a finding: the next one continues it
  bool operator==(const HealthState&) const = default;

  [[nodiscard]] Status status() const;  // ok, warning, critical
  [[nodiscard]] HealthPhase phase() const;
  [[nodiscard]] double since() const;  // start of the status; 0 while ok
};

// The device behind a subject: a different one may appear under the same name.
struct HealthDevice {
  std::string pci{};             // of its function; empty: a software device
  std::optional<int> ifindex{};  // of its netdev: a new one for each load of the driver; nullopt: the device is gone
  double since = -std::numeric_limits<double>::infinity();
  [[nodiscard]] bool is_gone() const { return !ifindex; }
  bool operator==(const HealthDevice&) const = default;
};

// All states of a machine.
struct Health {
  using Subjects = std::map<std::string, HealthState, std::less<>>;
  std::map<std::string, Subjects, std::less<>> rules;  // by key
  std::map<std::string, HealthDevice, std::less<>> devices;
  std::map<std::string, double> ages;  // seconds since the newest reading, by port
  double now = 0;                      // time of the last advance_health()
  int64_t wall = 0;                    // the same moment in seconds since 1970
  bool states_only = false;            // findings come from the states alone; else from the newest readings too
  [[nodiscard]] const HealthState* find(std::string_view rule, std::string_view subject) const;
};

// An acknowledgement with a finding that was seen. `spent`: the finding has cleared since, which ends the
// acknowledgement.
struct AckSeen {
  std::string id, subject{};
  int64_t at = 0, met = 0;  // times of the acknowledgement and of the last report with its finding
  bool spent = false;
  bool operator==(const AckSeen&) const = default;
};

// A finding of a health rule from its onset to its end, in seconds since boot.
struct PastFinding {
  std::string rule, subject;
  Status status = Status::warning;  // the worst in that time
  double from = 0;
  std::optional<double> until;  // nullopt: it lasts
  std::string evidence{};
  bool operator==(const PastFinding&) const = default;
};

// Findings of a day at most, oldest first.
struct HealthHistory {
  std::optional<double> since;  // watched without a gap from then on
  std::vector<PastFinding> past;
};

struct HealthMemory {
  Health health;
  HealthHistory history{};
  std::vector<AckSeen> acks{};
};

// The acknowledgements in force at `wall`: neither expired nor spent.
std::vector<Ack> active_acks(const std::vector<Ack>& acks, const std::vector<AckSeen>& seen, int64_t wall);

bool covers(const Ack& ack, const Finding& finding);

// Seconds. A finding that is absent for less may come and go.
inline constexpr int64_t kAckOutlasts = 300;

// Updates `seen` with the findings at `wall`; entries without an acknowledgement are dropped.
void follow_acks(std::vector<AckSeen>& seen, const std::vector<Ack>& acks, const Report& report, int64_t wall);

// -- Past findings of window rules, for `explain` of a log line: the counters of its port at its time

// Adds the findings of the states after an update. `gap`: nothing was watched since the update before it.
void follow_history(HealthHistory& history, const Health& health, bool gap);
// Findings of the subjects that were open at `time` (seconds since boot), ended in the two minutes before it, or began
// in the minute after it: a connection breaks some time after its first packet is lost.
std::vector<PastFinding> findings_at(const HealthHistory& history, const std::vector<std::string>& subjects,
                                     double time);
// A moment of the past in seconds since 1970.
int64_t wall_of(const Health& health, double time);

}  // namespace fabric
