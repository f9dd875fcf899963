// SPDX-License-Identifier: Apache-2.0
#include "faults/planted.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "faults/answer.h"

namespace fabric::faults {

void PrintTo(const Planted& one, std::ostream* out) { *out << one.what; }

void expect_blamed(const Planted& one) {
  const auto healthy =
      std::find_if(machines().begin(), machines().end(), [&](const Machine& each) { return each.name == one.machine; });
  ASSERT_NE(healthy, machines().end()) << one.machine;
  expect_blamed(one, *healthy);
}

void expect_blamed(const Planted& one, Machine machine) {
  one.plant(machine);
  const Diagnoses found = diagnose(machine.view());
  const std::string said = describe(found);
  std::map<std::string, std::string> blamed;
  for (const Diagnosis& each : found) blamed[each.subject] += (blamed[each.subject].empty() ? "" : " ") + each.rule;
  EXPECT_EQ(blamed, one.blamed) << said;
  EXPECT_NE(said.find(one.evidence), std::string::npos) << said;
  EXPECT_TRUE(one.unsaid.empty() || said.find(one.unsaid) == std::string::npos) << said;
}

}  // namespace fabric::faults
