// SPDX-License-Identifier: Apache-2.0
#include "policy/rules.h"

#include "base/find.h"
#include "base/parse.h"

namespace fabric {

std::string last_day(int64_t until) { return time_text(until - 1).substr(0, sizeof "YYYY-MM-DD" - 1); }

std::string suppression_text(const RulePolicy& policy, std::string_view id) {
  std::string out = "without an end";
  if (const int64_t* until = find_in(policy.until, id)) out = "until " + last_day(*until);
  const std::string* reason = find_in(policy.reason, id);
  return out + ": " + (reason != nullptr ? *reason : "no reason given");
}

}  // namespace fabric
