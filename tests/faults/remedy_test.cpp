// SPDX-License-Identifier: Apache-2.0
// The fixes of every fault of the catalogue, on every machine that can have it, also as a guest and as a captured tree.
#include "faults/answer.h"
#include "judge/engine.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using test::has;

void expect_fitting(const Machine& machine) {
  SCOPED_TRACE(machine.name);
  for (const bool is_captured : {false, true}) {
    View view = machine.view();
    view.is_captured = is_captured;
    for (const Finding& each : run_rules(view).findings) {
      if (each.status == Status::ok) continue;
      const std::string text = each.remedy + "\n" + joined(each.next, "\n");
      EXPECT_FALSE(has(text, ".;")) << each.id << ": " << text;
      if (is_captured) EXPECT_FALSE(has(text, "systemctl")) << each.id << ": " << text;
      if (machine.is_guest()) EXPECT_FALSE(has(text, "eseat")) << each.id << ": " << text;
    }
  }
}

class Fixes : public testing::TestWithParam<Fault> {};

// On the first machine that can have the fault, and on the first guest. The others: HarderOnEveryMachine.
TEST_P(Fixes, FitTheMachine) {
  std::set<bool> done;
  for (Machine machine : machines())
    if (!done.contains(machine.is_guest()) && !GetParam().plant(machine).empty()) {
      done.insert(machine.is_guest());
      expect_fitting(machine);
    }
}

TEST_P(Fixes, HarderOnEveryMachine) {
  for (Machine machine : machines())
    if (!GetParam().plant(machine).empty()) expect_fitting(machine);
}

INSTANTIATE_TEST_SUITE_P(Fault, Fixes, testing::ValuesIn(all_faults()), [](const auto& each) {
  std::string name = each.param.id;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// A port that is down has one finding, and it names whose fault it is.
TEST(DeadPort, HasOneFindingWithACulprit) {
  for (Machine machine : machines()) {
    if (machine.is_guest()) continue;
    Port& port = machine.port();
    port.state = 1;
    port.phys_state = 2;
    port.carrier = false;
    if (port.link_status) {
      port.link_status->up = false;
      port.link_status->reason.clear();
      port.link_status->detail.clear();
    }
    size_t findings = 0;
    bool is_plane = false;  // reported with the GPU that lost it
    for (const Finding& each : run_rules(machine.view()).findings) {
      is_plane = is_plane || (each.id == "planes" && each.status != Status::ok);
      if (each.subject != port.id() || each.status == Status::ok) continue;
      if (each.id == "not-enough-evidence") ADD_FAILURE() << machine.name << ": " << each.observed;
      if (each.id != "port-state") continue;
      ++findings;
      EXPECT_TRUE(each.culprit == Culprit::cable && each.certainty == Certainty::likely) << machine.name;
      EXPECT_FALSE(has(joined(each.next), "PFC")) << machine.name << ": " << joined(each.next, "\n");
      EXPECT_FALSE(each.meaning.empty() || each.expected.empty()) << machine.name;
    }
    EXPECT_EQ(findings, is_plane ? 0u : 1u) << machine.name;
  }
}

}  // namespace
}  // namespace fabric::faults
