// SPDX-License-Identifier: Apache-2.0
// Every key of [thresholds] changes what the checks or diagnose report of some fault, or of none.
#include "diagnosis/thresholds.h"

#include <gtest/gtest.h>

#include <map>

#include "checks/check.h"
#include "diagnosis/diagnosis.h"
#include "faults/answer.h"
#include "faults/fault.h"
#include "model/report.h"

namespace fabric::faults {
namespace {

// What is reported of the machine, as text.
std::string reported(const Machine& machine, const std::vector<std::string>& only) {
  std::string out;
  const View view = machine.view();
  if (!only.empty())
    for (const Finding& each : run_checks(view, only).findings)
      out += each.id + " " + each.subject + " " + std::string(to_text(each.status)) + "\n";
  for (const Diagnosis& each : diagnose(view)) {
    out += each.rule + " " + each.subject + " " + std::string(to_text(each.status)) + "\n";
    for (const std::string& line : each.evidence) out += line + "\n";
  }
  return out;
}

// The checks and rules whose rows name the threshold.
struct Users {
  std::vector<std::string> checks;
  bool rules = false;
};
Users users_of(const Threshold& row) {
  Users out;
  for (const Check& check : checks())
    if (std::ranges::find(check.thresholds, &row) != check.thresholds.end()) out.checks.emplace_back(check.id);
  out.rules = std::ranges::any_of(
      rules(), [&](const Rule& rule) { return std::ranges::find(rule.thresholds, &row) != rule.thresholds.end(); });
  return out;
}

bool changes_a_verdict(const Threshold& row, const std::vector<Machine>& planted) {
  const Users users = users_of(row);
  for (Machine machine : planted) {
    const std::string usual = reported(machine, users.checks);
    for (const double value : {row.most, row.least}) {
      machine.policy.thresholds = {{std::string(row.key), value}};
      if (reported(machine, users.checks) != usual) return true;
    }
  }
  return false;
}

TEST(Thresholds, EachKeyChangesAVerdict) {
  std::vector<Machine> planted;
  for (const Machine& healthy : machines())
    if (planted.empty() || healthy.name == "infiniband" || healthy.name == "mi300x" || healthy.name == "e810") {
      planted.push_back(healthy);
      for (const Area& area : catalogue())
        for (const Fault& fault : area.faults)
          for (const double strength : {1.0, 0.1}) {
            Machine machine = healthy;
            machine.strength = strength;
            if (!fault.plant(machine).empty() && (strength == 1.0 || machine.has_amounts)) planted.push_back(machine);
          }
    }
  for (const Threshold* row : thresholds())
    EXPECT_TRUE(changes_a_verdict(*row, planted)) << row->key << ": no fault of the catalogue depends on it";
}

}  // namespace
}  // namespace fabric::faults
