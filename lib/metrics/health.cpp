// SPDX-License-Identifier: Apache-2.0
#include "metrics/health.h"

#include <algorithm>
#include <limits>

#include "judge/engine.h"
#include "judge/rule.h"

namespace fabric {
namespace {

constexpr Metric kValue{"fabric_health_value",
                        "Measured value of a health rule that is not ok, in the rule's unit (fabric-agent.toml(5), "
                        "[rules.ID]). Absent while ok."};
constexpr Metric kPhase{
    "fabric_health_phase",
    "Phase of a health rule: 1 pending (not yet raised), 2 raised, 3 clearing (ok, not yet cleared). Absent while ok."};
constexpr Metric kSince{"fabric_health_since_timestamp_seconds",
                        "Time at which the rule's finding was raised. Absent without a finding."};
constexpr Metric kEvents{"fabric_events_total",
                         "Findings of health rules that have begun, by event (the key of the rule) and port; of a PCI "
                         "function, device is its address."};
constexpr Metric kAcknowledged{
    "fabric_check_acknowledged",
    "1 for a finding that an operator has acknowledged (fabric-agentctl ack). Absent otherwise."};

constexpr Metric kSuppressed{
    "fabric_check_suppressed",
    "1 for a finding that the configuration suppresses ([rules.ID] enabled = false). Absent otherwise."};
constexpr Metric kSuppressionEnd{
    "fabric_suppression_end_timestamp_seconds",
    "End of the suppression of a rule, by rule and reason; +Inf without an end. Absent for rules that are not "
    "suppressed by the configuration; a suppression that has ended has no effect."};

constexpr double kFirstZero = 60;  // the longest scrape interval that sees the 0 of a series that starts with an event

}  // namespace

void add_events(FamilySet& families, const Health& health, const RulePolicy& rules) {
  for (const auto& [key, subjects] : health.rules) {
    const RuleWindow* rule = find_window(key);
    if (rule == nullptr || rule->is_slow) continue;  // its window is two hours, so that no scrape misses it
    if (rules.is_suppressed(rule->rule, health.wall)) continue;
    for (const auto& [subject, state] : subjects) {
      const size_t slash = subject.rfind('/');
      const bool is_port = slash != std::string::npos;
      // increase() needs a value from before the event. Rules that count events of a port therefore have a series, with
      // 0, from the first reading on. For levels and ratios, and for PCI functions, that would be too many series:
      // theirs start with the first event, and are 0 for a minute.
      auto count = static_cast<double>(state.onsets);
      if (!is_port || rule->measure != Measure::count) {
        if (!state.first_onset) continue;
        if (health.now - *state.first_onset < kFirstZero) count = 0;
      }
      Label device, port;
      if (subject != kHostSubject) device = {"device", std::string_view(subject).substr(0, slash)};
      if (is_port) port = {"port", std::string_view(subject).substr(slash + 1)};
      families.add(kEvents, {}, {{"event", key}, device, port}, count);
    }
  }
}

void add_health(FamilySet& families, const Health& health) {
  for (const auto& [rule, subjects] : health.rules)
    for (const auto& [subject, state] : subjects) {
      if (state.phase() == HealthPhase::ok) continue;
      const Labels labels{{"rule", rule}, {"subject", subject}};
      families.add(kValue, labels, state.value);
      families.add(kPhase, labels, static_cast<double>(state.phase()));
      if (state.status() != Status::ok)
        families.add(kSince, labels, static_cast<double>(health.wall) - std::max(0.0, health.now - state.since()));
    }
}

void add_acknowledged(FamilySet& families, const Report& report) {
  for (const Finding& finding : report.findings)
    if (finding.acknowledged) families.add(kAcknowledged, {{"check", finding.id}, {"subject", finding.subject}}, 1);
}

void add_suppressed(FamilySet& families, const Report& report, const RulePolicy& rules) {
  for (const Finding& finding : report.findings)
    if (finding.suppressed) families.add(kSuppressed, {{"check", finding.id}, {"subject", finding.subject}}, 1);
  for (const auto& [id, rule] : rules.by_id) {
    if (rules.is_enabled(id)) continue;
    families.add(kSuppressionEnd, {{"rule", id}, {"reason", rule.reason.value_or("")}},
                 rule.until ? static_cast<double>(*rule.until) : std::numeric_limits<double>::infinity());
  }
}

}  // namespace fabric
