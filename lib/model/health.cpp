// SPDX-License-Identifier: Apache-2.0
#include "model/health.h"

#include <algorithm>

namespace fabric {
namespace {

constexpr double kSlack = 1;         // readings come when they come: a wait that is over but for this much is over
constexpr double kForget = 15 * 60;  // what cannot be read any more is held against nobody for longer
constexpr double kLookBack = 3600;   // a rule with such a window counts events that are rare
constexpr double kPartsInWindow = 60;

void forget_the_future(HealthTrigger& trigger, double now) {
  trigger.since = std::min(trigger.since, now);
  if (trigger.turning) trigger.turning = now;
}

// The sum over the window, kept in at most sixty parts; of counts, only those in which something happened.
HealthPart take_in(std::vector<HealthPart>& parts, const HealthRule& rule, double window, const HealthReading& reading,
                   double now) {
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

// `value`: over the window; `own`: of the newest reading. What the window remembers is not confirmed by itself.
void turn(HealthTrigger& trigger, std::optional<double> limit, const HealthRule& rule, const HealthLimits& limits,
          double value, double own, double now) {
  if (!limit) {
    trigger = {};
    return;
  }
  const bool opposite = trigger.on ? value < *limit * rule.quiet : value >= *limit;
  if (!opposite) {
    trigger.turning.reset();
    return;
  }
  // A fault that comes in bursts is quiet in most readings: these neither begin a wait nor end one.
  if (!trigger.on && own < *limit) return;
  if (!trigger.turning) trigger.turning = now;
  if (now - *trigger.turning + kSlack < (trigger.on ? limits.clear : limits.confirm)) return;
  trigger = HealthTrigger{!trigger.on, trigger.on ? 0 : *trigger.turning, std::nullopt};
}

}  // namespace

std::string_view to_text(HealthPhase value) {
  switch (value) {
    case HealthPhase::ok: return "ok";
    case HealthPhase::pending: return "pending";
    case HealthPhase::raised: return "raised";
    case HealthPhase::clearing: break;
  }
  return "clearing";
}

Status HealthState::status() const {
  return critical.on ? Status::critical : warning.on ? Status::warning : Status::ok;
}

HealthPhase HealthState::phase() const {
  const HealthTrigger& shown = critical.on ? critical : warning;
  if (shown.on) return shown.turning ? HealthPhase::clearing : HealthPhase::raised;
  return warning.turning || critical.turning ? HealthPhase::pending : HealthPhase::ok;
}

double HealthState::since() const { return critical.on ? critical.since : warning.since; }

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
  state.value = value_of(
      rule, rule.measure == HealthMeasure::level ? own : take_in(state.parts, rule, limits.window, *reading, now));
  const auto warning = reading->warning ? reading->warning : limits.warning;
  const auto critical = reading->critical ? reading->critical : limits.critical;
  if ((warning && state.value >= *warning) || (critical && state.value >= *critical)) {
    // Of a window that is still too full, what filled it is told.
    if (rule.measure == HealthMeasure::level || reading->amount > 0 || state.evidence.empty())
      state.evidence = reading->evidence;
  }
  const bool is_ratio = rule.measure == HealthMeasure::ratio;
  const double newest = !is_ratio ? state.value : own.base > 0 ? own.amount / own.base : 0;
  turn(state.warning, warning, rule, limits, state.value, newest, now);
  turn(state.critical, critical, rule, limits, state.value, newest, now);
  if (state.phase() == HealthPhase::ok) state.evidence.clear();
}

bool is_forgotten(const HealthState& state, const HealthLimits& limits, double now) {
  return now - state.seen > std::max(kForget, limits.clear);
}

Status judge_once(const HealthRule& rule, const HealthLimits& limits, const HealthReading& reading) {
  const double value = value_of(rule, {0, reading.amount, reading.base});
  auto warning = reading.warning ? reading.warning : limits.warning;
  const auto critical = reading.critical ? reading.critical : limits.critical;
  // Whoever watches for seconds and sees what should not happen three times in half a day wants to know.
  if (warning && rule.measure == HealthMeasure::count && limits.window >= kLookBack)
    warning = std::min(*warning, rule.least);
  if (critical && value >= *critical) return Status::critical;
  return warning && value >= *warning ? Status::warning : Status::ok;
}

const HealthState* Health::find(std::string_view rule, std::string_view subject) const {
  const auto subjects = rules.find(rule);
  if (subjects == rules.end()) return nullptr;
  const auto state = subjects->second.find(subject);
  return state == subjects->second.end() ? nullptr : &state->second;
}

}  // namespace fabric
