// SPDX-License-Identifier: Apache-2.0
#include "judge/health.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"

namespace fabric {

Status HealthState::status() const {
  return critical.on ? Status::critical : warning.on ? Status::warning : Status::ok;
}

HealthPhase HealthState::phase() const {
  const HealthTrigger& shown = critical.on ? critical : warning;
  if (shown.on) return shown.turning ? HealthPhase::clearing : HealthPhase::raised;
  return warning.turning || critical.turning ? HealthPhase::pending : HealthPhase::ok;
}

double HealthState::since() const { return critical.on ? critical.since : warning.since; }

const HealthState* Health::find(std::string_view rule, std::string_view subject) const {
  const Subjects* subjects = find_in(rules, rule);
  return subjects != nullptr ? find_in(*subjects, subject) : nullptr;
}

static bool is_of(const AckSeen& seen, const Ack& ack) {
  return seen.id == ack.id && seen.subject == ack.subject && seen.at == ack.at;
}

bool covers(const Ack& ack, const Finding& finding) {
  return finding.status != Status::ok && ack.id == finding.id &&
         (ack.subject.empty() || glob_match(ack.subject, finding.subject));
}

std::vector<Ack> standing(const std::vector<Ack>& acks, const std::vector<AckSeen>& seen, int64_t wall) {
  std::vector<Ack> out;
  std::ranges::copy_if(acks, std::back_inserter(out), [&](const Ack& ack) {
    return wall < ack.until &&
           std::ranges::none_of(seen, [&](const AckSeen& one) { return one.spent && is_of(one, ack); });
  });
  return out;
}

void follow_acks(std::vector<AckSeen>& seen, const std::vector<Ack>& acks, const Report& report, int64_t wall) {
  std::erase_if(seen, [&](const AckSeen& one) {
    return std::ranges::none_of(acks, [&](const Ack& ack) { return is_of(one, ack); });
  });
  for (const Ack& ack : acks) {
    const bool met = std::ranges::any_of(report.findings, [&](const Finding& finding) { return covers(ack, finding); });
    const auto known = std::ranges::find_if(seen, [&](const AckSeen& one) { return is_of(one, ack); });
    if (known == seen.end()) {
      if (met) seen.push_back({ack.id, ack.subject, ack.at, wall, false});
    } else if (met && !known->spent) {
      known->met = wall;
    } else if (wall - known->met >= kAckOutlasts) {
      known->spent = true;
    }
  }
}

}  // namespace fabric
