// SPDX-License-Identifier: Apache-2.0
// The engine of the rules (rule.h): findings of the present state, and findings of windows with their states over time.
#pragma once

#include "judge/rule.h"

namespace fabric {

// The findings of the rules named by id or group, of all rules if `only` is empty: worst first, then in table order.
// check, diagnose, the metrics, the landing page and the schedulers' line come from this report.
Report run_rules(const View& view, std::span<const std::string> only = {});

// Marks the findings that an operator has acknowledged and that are not expired at `wall`.
void mark_acknowledged(Report& report, const std::vector<Ack>& acks, int64_t wall);

// -- Windows

// All windows of all rules, in the order of rules().
std::span<const RuleWindow> rule_windows();
// nullptr: unknown key.
const RuleWindow* find_window(std::string_view key);
// The configured limits, or the row's.
WindowLimits limits_of(const RulePolicy& policy, const RuleWindow& window);
// The value from which on a window is a finding; infinity if it is off or its rule is suppressed. Causes use it, too:
// one limit for one fact.
double limit_of_window(const View& view, std::string_view key);

// Adds the view's readings to the states. `now`: seconds since boot; `wall`: the same moment in seconds since 1970.
// States and devices without readings are dropped after a while.
void advance_health(Health& health, const View& view, double now, int64_t wall);

// The status of each subject with a reading. nullopt: the window is off.
std::optional<std::map<std::string, Status>> window_statuses(const View& view, std::string_view key);

// Updates the state of a window by a reading: the window, the wait before the state is raised, the wait before it
// clears. nullptr: no reading, which neither confirms nor clears. A clock that goes back restarts the waits.
void advance(HealthState& state, const RuleWindow& window, const WindowLimits& limits, const Measured* reading,
             double now);
// The last reading is so old that the state is dropped.
bool is_forgotten(const HealthState& state, const WindowLimits& limits, double now);
// The status of one reading alone: its own window, no confirmation.
Status status_of_reading(const RuleWindow& window, const WindowLimits& limits, const Measured& reading);
// status_of_reading() by the window's key, with the configured limits; ok if the window is off or its rule is
// suppressed.
Status status_by_window(const View& view, std::string_view key, const Measured& reading);

}  // namespace fabric
