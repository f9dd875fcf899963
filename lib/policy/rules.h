// SPDX-License-Identifier: Apache-2.0
// The settings of the rules of lib/judge that a site may change ([rules.ID] of the configuration), and
// acknowledgements. The rules themselves are not known here: the caller that reads or shows a configuration passes
// their rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace fabric {

// How the value that is compared with the limits follows from the readings.
enum class Measure : uint8_t {
  level,  // the newest reading: degrees, a share
  count,  // events within the window
  ratio,  // events within the window, divided by packets, bits or seconds
};

// Values from the limit on are bad. nullopt: no value is; both nullopt: the measurement is off.
struct WindowLimits {
  std::optional<double> warning, critical;
  double window = 60, confirm = 0, clear = 60;  // seconds
  bool operator==(const WindowLimits&) const = default;
  [[nodiscard]] bool is_off() const { return !warning && !critical; }
};

// A measurement over a window, and its limits.
struct WindowRow {
  std::string_view key;  // "link_flap": the name in states, metrics and [rules.ID]
  Measure measure = Measure::level;
  WindowLimits limits;
  std::string_view unit;    // of the limits
  std::string_view source;  // who published the limits; "ours": unpublished
  std::string_view expected;
  double least = 1;  // fewer events in the window are not evidence
};

// A number that a rule compares with the present state, and that a site may change. Numbers of standards are plain
// constants.
struct Limit {
  std::string_view rule, key;  // in the configuration: [rules.RULE] KEY; other rules may use it, too
  double value;
  std::string_view unit, source;  // who published the value; "ours": unpublished
  double least, most;             // the range that the configuration accepts
  [[nodiscard]] std::string name() const { return std::string(rule) + "." + std::string(key); }
};

// The values of one rule that the configuration may change, besides `severity` and its suppression.
struct RuleRow {
  std::string_view id;
  std::vector<WindowRow> windows{};
  std::vector<const Limit*> limits{};
};
using RuleRows = std::span<const RuleRow>;

// [rules.ID] of the configuration. An absent value is that of the rule's row.
struct RuleSettings {
  std::optional<bool> enabled{};                               // false: suppressed
  std::optional<std::string> reason{};                         // why it is suppressed
  std::optional<int64_t> until{};                              // the end of the suppression, in seconds since 1970
  std::optional<Status> severity{};                            // replaces warning and critical
  std::map<std::string, double, std::less<>> limits{};         // by Limit::key
  std::map<std::string, WindowLimits, std::less<>> windows{};  // by WindowRow::key
  bool operator==(const RuleSettings&) const = default;
};

// [rules] of the configuration.
struct RulePolicy {
  std::map<std::string, RuleSettings, std::less<>> by_id{};
  double boot_grace = 30 * 60;   // OCI ignores link events in the first 1800 s
  double reload_grace = 2 * 60;  // ours: links come up within a minute after a driver was loaded
  bool operator==(const RulePolicy&) const = default;
  // The settings of the rule in the configuration; empty if it does not name the rule.
  [[nodiscard]] const RuleSettings& of(std::string_view id) const {
    static const RuleSettings kNone;
    const auto found = by_id.find(id);
    return found == by_id.end() ? kNone : found->second;
  }
  [[nodiscard]] bool is_enabled(std::string_view id) const { return of(id).enabled.value_or(true); }
  // Whether the suppression of the rule has ended at `wall` (seconds since 1970; 0: unknown, it has not).
  [[nodiscard]] bool has_ended(std::string_view id, int64_t wall) const {
    const auto& until = of(id).until;
    return !is_enabled(id) && until && wall >= *until;
  }
  // Whether the findings of the rule are listed and do not count.
  [[nodiscard]] bool is_suppressed(std::string_view id, int64_t wall) const {
    return !is_enabled(id) && !has_ended(id, wall);
  }
};
// The last day of a suppression that ends at `until`, in UTC: "2027-01-31".
std::string last_day(int64_t until);
// The configured value, or the row's.
double limit_of(const RulePolicy& policy, const Limit& limit);
// The configured limits of a window of the rule, or the row's.
WindowLimits limits_of(const RulePolicy& policy, std::string_view rule, const WindowRow& window);
// "until 2027-01-31: REASON"
std::string suppression_text(const RulePolicy& policy, std::string_view id);

// A finding that an operator has acknowledged.
struct Ack {
  std::string id;             // of the rule
  std::string subject{};      // a glob; empty: every subject
  int64_t at = 0, until = 0;  // seconds since 1970
  std::string by{}, comment{};
  bool operator==(const Ack&) const = default;
};

}  // namespace fabric
