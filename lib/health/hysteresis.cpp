// SPDX-License-Identifier: Apache-2.0
#include "health/rule.h"

namespace fabric {
namespace {

constexpr double kSlack = 1;           // readings are not exactly periodic: a wait may end this much early
constexpr double kForget = 15 * 60;    // a state without readings is dropped after this time
constexpr double kRareWindow = kHour;  // rules with such a window count rare events
constexpr double kPartsInWindow = 60;

void forget_the_future(HealthTrigger& trigger, double now) {
  trigger.since = std::min(trigger.since, now);
  if (trigger.turning) trigger.turning = now;
}

// The sum over the window, stored in at most 60 parts; for counts, only parts with events.
HealthPart add_to_window(std::vector<HealthPart>& parts, const HealthRule& rule, double window,
                         const HealthReading& reading, double now) {
  std::erase_if(parts, [&](const HealthPart& part) { return part.from <= now - window || part.from > now; });
  if (rule.measure == HealthMeasure::ratio || reading.amount > 0) {
    if (parts.empty() || parts.back().from <= now - window / kPartsInWindow) parts.push_back({now, 0, 0});
    parts.back().amount += reading.amount;
    parts.back().base += reading.base;
  }
  HealthPart sum{now, 0, 0};
  for (const HealthPart& part : parts) {
    sum.amount += part.amount;
    sum.base += part.base;
  }
  return sum;
}

double value_of(const HealthRule& rule, const HealthPart& sum) {
  if (rule.measure == HealthMeasure::level) return sum.amount;
  if (sum.amount < rule.least) return 0;
  if (rule.measure == HealthMeasure::count) return sum.amount;
  return sum.base > 0 ? sum.amount / sum.base : 0;
}

struct Values {
  double window, newest;  // over the window; of the newest reading alone
};

void advance_trigger(HealthTrigger& trigger, std::optional<double> limit, const HealthRule& rule,
                     const HealthLimits& limits, const Values& values, double now) {
  if (!limit) {
    trigger = {};
    return;
  }
  const bool opposite = trigger.on ? values.window < *limit * rule.quiet : values.window >= *limit;
  if (!opposite) {
    trigger.turning.reset();
    return;
  }
  // A fault in bursts is quiet in most readings: those neither begin a wait nor end one.
  if (!trigger.on && values.newest < *limit) return;
  if (!trigger.turning) trigger.turning = now;
  if (now - *trigger.turning + kSlack < (trigger.on ? limits.clear : limits.confirm)) return;
  trigger = HealthTrigger{!trigger.on, trigger.on ? 0 : *trigger.turning, std::nullopt};
}

// A finding begins when a limit raises it, or when one reading is a finding by itself: a single link down counts,
// though the limit is several in 12 h. Rules that need a confirmation have no such readings.
void count_onset(HealthState& state, const HealthRule& rule, const HealthLimits& limits, const HealthReading& reading,
                 bool was_ok, double now) {
  const bool struck = rule.measure != HealthMeasure::level && limits.confirm <= 0 &&
                      status_of_reading(rule, limits, reading) != Status::ok;
  const bool raised = was_ok && state.status() != Status::ok;
  if ((struck && !state.struck) || (raised && !struck)) {
    ++state.onsets;
    if (!state.first_onset) state.first_onset = now;
  }
  state.struck = struck;
}

}  // namespace

void advance(HealthState& state, const HealthRule& rule, const HealthLimits& limits, const HealthReading* reading,
             double now) {
  if (now < state.seen) {
    forget_the_future(state.warning, now);
    forget_the_future(state.critical, now);
    state.seen = now;
  }
  if (reading == nullptr) return;
  state.seen = now;
  const HealthPart own{now, reading->amount, reading->base};
  state.value = value_of(rule, rule.measure == HealthMeasure::level
                                   ? own
                                   : add_to_window(state.parts, rule, limits.window, *reading, now));
  const auto warning = reading->warning ? reading->warning : limits.warning;
  const auto critical = reading->critical ? reading->critical : limits.critical;
  if ((warning && state.value >= *warning) || (critical && state.value >= *critical)) {
    // A quiet reading does not replace the evidence of the events that still fill the window.
    if (rule.measure == HealthMeasure::level || reading->amount > 0 || state.evidence.empty())
      state.evidence = reading->evidence;
  }
  const bool was_ok = state.status() == Status::ok;
  const double ratio = own.base > 0 ? own.amount / own.base : 0;
  const Values values{state.value, rule.measure == HealthMeasure::ratio ? ratio : state.value};
  advance_trigger(state.warning, warning, rule, limits, values, now);
  advance_trigger(state.critical, critical, rule, limits, values, now);
  count_onset(state, rule, limits, *reading, was_ok, now);
  if (state.phase() == HealthPhase::ok) state.evidence.clear();
}

bool is_forgotten(const HealthState& state, const HealthLimits& limits, double now) {
  return now - state.seen > std::max(kForget, limits.clear);
}

Status status_of_reading(const HealthRule& rule, const HealthLimits& limits, const HealthReading& reading) {
  const double value = value_of(rule, {0, reading.amount, reading.base});
  auto warning = reading.warning ? reading.warning : limits.warning;
  const auto critical = reading.critical ? reading.critical : limits.critical;
  // In a window of seconds, a single event of a kind that is allowed a few times in 12 h is worth a warning.
  if (warning && rule.measure == HealthMeasure::count && limits.window >= kRareWindow)
    warning = std::min(*warning, rule.least);
  if (critical && value >= *critical) return Status::critical;
  return warning && value >= *warning ? Status::warning : Status::ok;
}

}  // namespace fabric
