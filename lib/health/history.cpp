// SPDX-License-Identifier: Apache-2.0
#include "health/health.h"
#include "judge/finding.h"

namespace fabric {
namespace {

constexpr size_t kMostPast = 200;
constexpr double kOldest = 24 * 3600, kBefore = 120, kAfter = 60;

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
      const Status status = state.status() == Status::ok ? Status::warning : state.status();
      if (state.status() == Status::ok && !state.struck) continue;
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
  const auto is_old = [&](const PastFinding& each) { return each.until && *each.until < health.now - kOldest; };
  std::erase_if(history.past, is_old);
  for (auto each = history.past.begin(); history.past.size() > kMostPast && each != history.past.end();)
    each = each->until ? history.past.erase(each) : each + 1;
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
