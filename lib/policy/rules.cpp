// SPDX-License-Identifier: Apache-2.0
#include "policy/rules.h"

#include "base/find.h"
#include "base/parse.h"

namespace fabric {

std::string last_day(int64_t until) { return time_text(until - 1).substr(0, sizeof "YYYY-MM-DD" - 1); }

double limit_of(const RulePolicy& policy, const Limit& limit) {
  const double* configured = find_in(policy.of(limit.rule).limits, limit.key);
  return configured != nullptr ? *configured : limit.value;
}

WindowLimits limits_of(const RulePolicy& policy, std::string_view rule, const WindowRow& window) {
  const WindowLimits* configured = find_in(policy.of(rule).windows, window.key);
  return configured != nullptr ? *configured : window.limits;
}

std::string suppression_text(const RulePolicy& policy, std::string_view id) {
  const RuleSettings& rule = policy.of(id);
  std::string out = "without an end";
  if (rule.until) out = "until " + last_day(*rule.until);
  return out + ": " + rule.reason.value_or("no reason given");
}

}  // namespace fabric
