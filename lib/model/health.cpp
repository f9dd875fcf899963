// SPDX-License-Identifier: Apache-2.0
#include "model/health.h"

#include <array>

namespace fabric {

std::string_view to_text(HealthPhase value) {
  constexpr std::array<std::string_view, 4> kTexts{"ok", "pending", "raised", "clearing"};
  return kTexts.at(static_cast<size_t>(value));
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

const HealthState* Health::find(std::string_view rule, std::string_view subject) const {
  const auto subjects = rules.find(rule);
  if (subjects == rules.end()) return nullptr;
  const auto state = subjects->second.find(subject);
  return state == subjects->second.end() ? nullptr : &state->second;
}

}  // namespace fabric
