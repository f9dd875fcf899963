// SPDX-License-Identifier: Apache-2.0
// The findings and diagnoses of a planted fault.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/fault.h"
#include "judge/cause.h"
#include "judge/engine.h"

namespace fabric::faults {

// One fault on one machine.
struct Answer {
  std::string machine, port, subject;
  std::vector<Finding> found;
  Findings diagnoses;
  bool has_amounts = false;  // the fault can be planted harder

  [[nodiscard]] bool is_named(const Fault& fault) const;
  // Its check reports the fault, with at least the status of the row.
  [[nodiscard]] bool is_named_at_least(const Fault& fault) const;
  // Findings of other checks, and of other subjects.
  [[nodiscard]] std::vector<Finding> false_alarms(const Fault& fault) const;
  // The rule names the second rail, and no other rule is reported.
  [[nodiscard]] bool has_culprit(const Fault& fault) const;
  // The culprit is the same, perhaps by a rule with more evidence.
  [[nodiscard]] bool blames_the_same(const Fault& fault) const;
  // A diagnosis names another culprit. A busy network is none.
  [[nodiscard]] bool blames_another(const Fault& fault) const;
};

std::string describe_causes(const Findings& diagnoses);
const std::vector<Machine>& machines();
// The answer of one machine. None: it cannot have the fault.
std::optional<Answer> plant_in(Machine machine, const Fault& fault);
// The answers of each machine that can have the fault. With another strength than 1, only for faults with amounts.
const std::vector<Answer>& plant(const Fault& fault, double strength = 1);
std::vector<Fault> all_faults();

}  // namespace fabric::faults
