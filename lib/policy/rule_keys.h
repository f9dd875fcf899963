// SPDX-License-Identifier: Apache-2.0
// Internal to policy: [rules] and [rules.ID].
#pragma once

#include "policy/keys.h"
#include "policy/rules.h"

namespace fabric::config {

// [rules] boot_grace, reload_grace
std::vector<Key> grace_keys();

// Reads [rules.ID]. The keys come from the row of this id.
void read_rule(ConfigReader& reader, std::string_view id, const toml::source_position& at, const toml::node& node,
               RuleRows rules, Policy& policy);

// The values of a rule that show_config() prints: its limits, configured or not; `severity` and the suppression if
// configured.
struct RuleValue {
  std::string section;  // "rules.link-errors.bit_errors"
  std::string_view key;
  std::string toml;
};
std::vector<RuleValue> rule_values(const RuleRow& row, const RulePolicy& policy);

}  // namespace fabric::config
