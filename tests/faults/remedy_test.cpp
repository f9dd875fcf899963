// SPDX-License-Identifier: Apache-2.0
// The fixes of every fault of the catalogue, on every machine that can have it, also as a guest and as a captured tree.
#include "base/parse.h"
#include "faults/answer.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/lines.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using test::has;

constexpr Work kHands = Work::at_link | Work::at_machine;

// Words of work that a step must not have without its kind. Only the test has them: the product goes by the kind.
struct Words {
  Work work;
  std::vector<std::string_view> phrases;
};
const Words kWords[]{
    {kHands, {"reseat",         "clean",        "plug in",        "swap",
              "riser",          "slot",         "another port",   "another switch port",
              "replace it",     "replace a",    "replace the",    "replace cable",
              "replace that",   "or replace",   "firmware setup", "power the node off",
              "move the nic",   "move nic",     "move the cable", "the power of the device",
              "another cage",   "blank panels", "airflow",        "another nic",
              "check its power"}},
    {Work::ends_jobs,
     {"riser",         "replace the nic", "replace the part", "power the node off", "power off",    "and reboot",
      ", reboot",      "or reboot",       "then reboot",      "reboot the node",    "reboot, or",   "boot a kernel",
      "reload the",    "reload its",      "load the driver",  "devlink dev reload", "mlxfwreset",   "unbind",
      "rmmod",         "modprobe -r",     "firmware setup",   "another slot",       "move the nic", "move nic",
      "reset the nic", "reset the device"}},
    {Work::service, {"systemctl", "journalctl -u", "systemd-run"}},
    {Work::when_idle, {"drain", "no job runs", "no job uses"}}};

bool is_word_part(char letter) { return is_digit(letter) || (letter >= 'a' && letter <= 'z') || letter == '_'; }

// Whether the text has the phrase as whole words.
bool has_words(const std::string& text, std::string_view phrase) {
  for (size_t at = text.find(phrase); at != std::string::npos; at = text.find(phrase, at + 1)) {
    const size_t end = at + phrase.size();
    if ((at == 0 || !is_word_part(text[at]) || !is_word_part(text[at - 1])) &&
        (end == text.size() || !is_word_part(text[end])))
      return true;
  }
  return false;
}

void expect_kind(std::span<const Words> words, std::string_view row, Work work, std::string_view text) {
  for (const Words& each : words)
    for (const std::string_view phrase : each.phrases)
      if (!has_any(work, each.work) && has_words(lower(text), phrase))
        ADD_FAILURE() << row << ": \"" << phrase << "\" in a step without the kind of its work: " << text;
}

// What is done with hands is not for a guest, and what ends jobs comes after the drained node, or says when.
void expect_fitting_steps(const Finding& finding, bool is_guest) {
  bool is_idle = false;
  for (const Fix& line : finding.fix)
    for (const Step& step : line.steps) {
      expect_kind(kWords, finding.id, step.work, step.text);
      is_idle = is_idle || has_any(step.work, Work::when_idle);
      EXPECT_FALSE(is_guest && has_any(step.work, kHands)) << finding.id << ": " << step.text;
      EXPECT_TRUE(is_idle || !has_any(step.work, Work::ends_jobs)) << finding.id << ": " << step.text;
      EXPECT_TRUE(has(finding.remedy, step.text)) << finding.id << ": " << finding.remedy;
    }
}

TEST(FixRows, HaveTheKindOfTheirWork) {
  for (const Rule& rule : rules()) {
    if (rule.is_cause())
      for (const FixRow* fix : {&rule.fix, &rule.fix_lossy, &rule.fix_scheduled})
        for (const StepRow& step : *fix) expect_kind(kWords, rule.id, step.work, step.text);
    for (const Measurement& each : rule.windows)
      for (const FixRow* fix : {&each.remedy, &each.elsewhere})
        for (const StepRow& step : *fix) expect_kind(kWords, each.window.key, step.work, step.text);
  }
}

// Messages of a log have facts as well ("the slot reports a fault"): only what to do has these words.
TEST(FixRows, OfMessagesHaveTheKindOfTheirWork) {
  const Words words[]{{kHands,
                       {"reseat", "replace", "plug in", "swap", "power-cycle", "power the node", "airflow", "fans",
                        "use a slot", "in the bios", "firmware setup"}}};
  for (const lines::LineMessage& message : lines::messages())
    for (const StepRow& step : message.meaning) expect_kind(words, message.id, step.work, step.text);
}

void expect_fitting(const Machine& machine) {
  SCOPED_TRACE(machine.name);
  for (const bool is_captured : {false, true}) {
    View view = machine.view();
    view.is_captured = is_captured;
    for (const Finding& each : run_rules(view).findings) {
      if (each.status == Status::ok) continue;
      expect_fitting_steps(each, machine.is_guest());
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
