// SPDX-License-Identifier: Apache-2.0
#include "judge/health.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "node/port.h"

namespace fabric {

Status HealthState::status() const {
  if (critical.on) return Status::critical;
  return warning.on ? Status::warning : Status::ok;
}

HealthPhase HealthState::phase() const {
  if (critical.on) return critical.turning ? HealthPhase::clearing : HealthPhase::raised;
  if (warning.on) return warning.turning ? HealthPhase::clearing : HealthPhase::raised;
  if (warning.turning || critical.turning) return HealthPhase::pending;
  return HealthPhase::ok;
}

double HealthState::since() const { return critical.on ? critical.since : warning.since; }

const HealthState* Health::find(std::string_view rule, std::string_view subject) const {
  const Subjects* subjects = find_in(rules, rule);
  if (subjects == nullptr) return nullptr;
  return find_in(*subjects, subject);
}

static bool is_same_ack(const AckSeen& seen, const Ack& ack) {
  return seen.id == ack.id && seen.subject == ack.subject && seen.at == ack.at;
}

bool covers(const Ack& ack, const Finding& finding) {
  return (finding.status != Status::ok || finding.unjudged) && ack.id == finding.id &&
         (ack.subject.empty() || glob_match(ack.subject, finding.subject));
}

std::vector<Ack> active_acks(const std::vector<Ack>& acks, const std::vector<AckSeen>& seen, int64_t wall) {
  std::vector<Ack> out;
  for (const Ack& ack : acks) {
    bool is_in_force = wall < ack.until;
    for (const AckSeen& each : seen)
      if (each.spent && is_same_ack(each, ack)) is_in_force = false;
    if (is_in_force) out.push_back(ack);
  }
  return out;
}

void follow_acks(std::vector<AckSeen>& seen, const std::vector<Ack>& acks, const Report& report, int64_t wall) {
  std::erase_if(seen, [&](const AckSeen& each) {
    return std::ranges::none_of(acks, [&](const Ack& ack) { return is_same_ack(each, ack); });
  });
  for (const Ack& ack : acks) {
    const bool met = std::ranges::any_of(report.findings, [&](const Finding& finding) { return covers(ack, finding); });
    const auto known = std::ranges::find_if(seen, [&](const AckSeen& each) { return is_same_ack(each, ack); });
    if (known == seen.end()) {
      if (met) seen.push_back({ack.id, ack.subject, ack.at, wall, false});
    } else if (met && !known->spent) {
      known->met = wall;
    } else if (wall - known->met >= kAckOutlasts) {
      known->spent = true;
    }
  }
}

namespace {

constexpr size_t kMostPast = 200;             // findings in the history
constexpr double kOldest = 24 * 3600;         // seconds
constexpr double kBefore = 120, kAfter = 60;  // seconds around the time of findings_at()

}  // namespace

void follow_history(HealthHistory& history, const Health& health, bool gap) {
  if (gap || !history.since || *history.since > health.now) history.since = health.now;
  for (PastFinding& known : history.past) {
    const HealthState* state = health.find(known.rule, known.subject);
    if (!known.until && (state == nullptr || (state->status() == Status::ok && !state->struck)))
      known.until = health.now;
  }
  for (const auto& [rule, subjects] : health.rules)
    for (const auto& [subject, state] : subjects) {
      Status status = state.status();
      if (status == Status::ok && !state.struck) continue;
      if (status == Status::ok) status = Status::warning;
      auto open = std::ranges::find_if(history.past, [&, &r = rule, &s = subject](const auto& each) {
        return !each.until && each.rule == r && each.subject == s;
      });
      if (open == history.past.end())
        open = history.past.insert(open, {rule, subject, status, health.now, std::nullopt, ""});
      if (state.since() > 0) open->from = std::min(open->from, state.since());
      if (rank(status) < rank(open->status)) open->status = status;
      if (!state.evidence.empty()) open->evidence = state.evidence;
      else if (!state.parts.empty())  // too few to raise the rule
        open->evidence = number_text(state.parts.back().amount) + " in one reading";
    }
  std::erase_if(history.past,
                [&](const PastFinding& each) { return each.until && *each.until < health.now - kOldest; });
  // If there are too many, the oldest findings that have ended are dropped first.
  for (auto each = history.past.begin(); history.past.size() > kMostPast && each != history.past.end();) {
    if (each->until) each = history.past.erase(each);
    else ++each;
  }
}

std::vector<PastFinding> findings_at(const HealthHistory& history, const std::vector<std::string>& subjects,
                                     double time) {
  std::vector<PastFinding> out;
  std::ranges::copy_if(history.past, std::back_inserter(out), [&](const PastFinding& each) {
    return contains(subjects, each.subject) && each.from <= time + kAfter &&
           each.until.value_or(time) >= time - kBefore;
  });
  return out;
}

int64_t wall_of(const Health& health, double time) {
  return health.wall - static_cast<int64_t>(std::max(0.0, health.now - time));
}

}  // namespace fabric
