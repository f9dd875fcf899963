// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
constexpr Metric kAcknowledged{
    "fabric_check_acknowledged",
    "1 for a finding that an operator has acknowledged (fabric-agentctl ack). Absent otherwise.", MetricKind::gauge};

}  // namespace

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
