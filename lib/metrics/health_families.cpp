// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "health/rule.h"
#include "metrics/families.h"

namespace fabric {
namespace {

constexpr Metric kValue{"fabric_health_value",
                        "Measured value of a health rule that is not ok, in the rule's unit (fabric-agent.toml(5), "
                        "[health]). Absent while ok.",
                        MetricKind::gauge};
constexpr Metric kPhase{
    "fabric_health_phase",
    "Phase of a health rule: 1 pending (not yet raised), 2 raised, 3 clearing (ok, not yet cleared). Absent while ok.",
    MetricKind::gauge};
constexpr Metric kSince{"fabric_health_since_timestamp_seconds",
                        "Time at which the rule's finding was raised. Absent without a finding.", MetricKind::gauge};
constexpr Metric kEvents{"fabric_events_total",
                         "Findings of health rules that have begun, by event (the key of the rule) and port; of a PCI "
                         "function, device is its "
                         "address."};
constexpr Metric kAcknowledged{
    "fabric_check_acknowledged",
    "1 for a finding that an operator has acknowledged (fabric-agentctl ack). Absent otherwise.", MetricKind::gauge};

constexpr double kFirstZero = 60;  // the longest scrape interval that sees the 0 of a series that starts with an event

// increase() needs a value from before the event. For rules that count events of a port that is a series with 0 from
// its first reading on. For levels and ratios, and for PCI functions, that would be too many: their series appear with
// the first event, and are 0 for a minute.
std::optional<double> events_of(const HealthRule& rule, const HealthState& state, bool is_port, double now) {
  if (is_port && rule.measure == HealthMeasure::count) return static_cast<double>(state.onsets);
  if (!state.first_onset) return std::nullopt;
  return now - *state.first_onset < kFirstZero ? 0 : static_cast<double>(state.onsets);
}

}  // namespace

void add_events(FamilySet& families, const Health& health) {
  for (const auto& [key, subjects] : health.rules) {
    const HealthRule* rule = find_health_rule(key);
    if (rule == nullptr || rule->is_slow) continue;  // of two hours: no scrape misses it
    for (const auto& [subject, state] : subjects) {
      const size_t slash = subject.rfind('/');
      const bool is_port = slash != std::string::npos;
      const auto count = events_of(*rule, state, is_port, health.now);
      if (!count) continue;
      Labels labels{{"event", key}};
      if (subject != "host") labels.push_back({"device", std::string_view(subject).substr(0, slash)});
      if (is_port) labels.push_back({"port", std::string_view(subject).substr(slash + 1)});
      families.add(kEvents, labels, *count);
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

}  // namespace fabric
