// SPDX-License-Identifier: Apache-2.0
// The table of rules, by kind.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/rule.h"

namespace fabric::test {

// All rules except the causes.
inline std::vector<Rule> checks() {
  std::vector<Rule> out;
  std::ranges::copy_if(rules(), std::back_inserter(out), [](const Rule& rule) { return !rule.is_cause(); });
  return out;
}

// Without the checks that are causes as well (port-state).
inline std::vector<Rule> causes() {
  std::vector<Rule> out;
  for (const Rule* rule : cause_rules())
    if (rule->is_cause()) out.push_back(*rule);
  return out;
}

// The limits of all rules, without duplicates.
inline std::vector<const Limit*> limits() {
  std::vector<const Limit*> out;
  for (const RuleRow& row : rule_rows()) out.insert(out.end(), row.limits.begin(), row.limits.end());
  return out;
}

}  // namespace fabric::test
