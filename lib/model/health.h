// SPDX-License-Identifier: Apache-2.0
// Health that lasts: a reading is judged over a window, must hold to be believed, and is taken back by itself when it
// has been quiet for long enough. Pure: the clock is an argument. Times are seconds since boot; they may be negative
// (before it).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"

namespace fabric {

// How readings become the value that is compared with the limits.
enum class HealthMeasure : uint8_t {
  level,  // the newest reading: degrees, a share
  count,  // events within the window
  ratio,  // events within the window by what they are a part of: packets, bits, seconds
};

// From which value on it is that bad. Absent: it never is; both absent: the rule is off.
struct HealthLimits {
  std::optional<double> warning, critical;
  double window = 60, confirm = 0, clear = 60;  // seconds
  bool operator==(const HealthLimits&) const = default;
};

struct HealthRule {
  std::string_view key;    // of [health] in the configuration: "link_flap"
  std::string_view check;  // whose finding it is: "link-flap"
  HealthMeasure measure = HealthMeasure::level;
  HealthLimits limits;  // the defaults
  double least = 0;     // fewer events than that in the window prove nothing
  double quiet = 0.5;   // below this part of a limit it counts as quiet again
  bool graced = false;  // does not count while the machine boots or the driver comes anew
};

// One reading of one subject: what happened in the time since the one before it, or a level.
struct HealthReading {
  std::string subject;     // "mlx5_0/1"
  double amount = 0;       // events, or the level
  double base = 0;         // of a ratio: packets, bits, seconds
  std::string evidence{};  // in words
  std::optional<double> warning{},
      critical{};  // the subject's own limits, in place of the rule's: those of an optical module
};

// One limit with its memory: switched on when the value has been above it for long enough, off when well below.
struct HealthTrigger {
  bool on = false;
  double since = 0;               // when it was switched on
  std::optional<double> turning;  // since when the readings say the opposite
  bool operator==(const HealthTrigger&) const = default;
};

enum class HealthPhase : uint8_t { ok, pending, raised, clearing };
std::string_view to_text(HealthPhase value);

// What happened from `from` on, up to the next part.
struct HealthPart {
  double from = 0, amount = 0, base = 0;
  bool operator==(const HealthPart&) const = default;
};

// Of one rule and one subject.
struct HealthState {
  HealthTrigger warning, critical;
  double seen = -std::numeric_limits<double>::infinity();  // when there was a reading last
  double value = 0;                                        // at that time
  std::string evidence{};                                  // of the last reading above a limit
  std::vector<HealthPart> parts{};                         // of the window, oldest first
  bool operator==(const HealthState&) const = default;

  [[nodiscard]] Status status() const;  // ok, warning, critical
  [[nodiscard]] HealthPhase phase() const;
  [[nodiscard]] double since() const;  // when the status began; 0 while ok
};

// Takes the reading in; without one (null) nothing is confirmed and nothing cleared. A clock that went back starts the
// waiting times anew.
void advance(HealthState& state, const HealthRule& rule, const HealthLimits& limits, const HealthReading* reading,
             double now);

// Nothing has been known of it for so long that it is no longer held against anybody.
bool is_forgotten(const HealthState& state, const HealthLimits& limits, double now);

// What one reading says alone, where nobody keeps states: its own window, no confirmation.
Status judge_once(const HealthRule& rule, const HealthLimits& limits, const HealthReading& reading);

// Which device stands behind a subject, and since when: another one with the same name is another device.
struct HealthDevice {
  std::string identity;
  double since = -std::numeric_limits<double>::infinity();
  bool operator==(const HealthDevice&) const = default;
};

// What an operator knows already.
struct Ack {
  std::string id;             // of the check
  std::string subject{};      // a glob; empty: every subject
  int64_t at = 0, until = 0;  // seconds since 1970
  std::string by{}, comment{};
  bool operator==(const Ack&) const = default;
};

// All states of a machine.
struct Health {
  using Subjects = std::map<std::string, HealthState, std::less<>>;
  std::map<std::string, Subjects, std::less<>> rules;  // by key
  std::map<std::string, HealthDevice, std::less<>> devices;
  std::map<std::string, double> ages;  // how old the newest reading of a port is, in seconds
  double now = 0;                      // of the last advance
  int64_t wall = 0;                    // and the same moment in seconds since 1970
  bool alone = false;                  // the states alone are judged; else this moment's readings as well
  [[nodiscard]] const HealthState* find(std::string_view rule, std::string_view subject) const;
};

}  // namespace fabric
