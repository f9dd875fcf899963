// SPDX-License-Identifier: Apache-2.0
// Every fault of the catalogue on every healthy machine that can have it: its check alone reports it, at its subject;
// its rule alone names the culprit; healthy machines are silent. Prints the matrix. check and diagnose agree about each
// of them: their verdicts are equal, and diagnose prints the findings of check for a port. Their fixes fit the machine.
// On fabrics of each kind healthy machines are silent, faults keep their culprit, and no fix switches PFC on in a
// fabric that has none.
#include <optional>
#include <regex>
#include <set>

#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "ctl/verbs/diagnose_verb.h"
#include "ctl/verbs/findings.h"
#include "faults/answer.h"
#include "faults/fleet/reported.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/lines.h"
#include "judge/lines/condition.h"
#include "judge/remedy.h"
#include "nic/metrics.h"
#include "support/drained.h"
#include "support/planted_defect.h"
#include "support/rules.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using test::complaints_of;
using test::describe;
using test::has;
using test::said;

// -- Checks and culprits

class Catalogue : public testing::TestWithParam<Fault> {};

TEST_P(Catalogue, IsReportedAlone) {
  const Fault& fault = GetParam();
  const std::vector<Answer>& answers = plant(fault);
  EXPECT_FALSE(answers.empty()) << "no machine can have it";
  for (const Answer& answer : answers) {
    SCOPED_TRACE(answer.machine);
    EXPECT_TRUE(answer.is_named(fault)) << "wanted: " << fault.check << " " << answer.subject << " "
                                        << to_text(fault.status) << "\nfound:\n"
                                        << describe(answer.found);
    EXPECT_EQ(describe(answer.false_alarms(fault)), "");
    EXPECT_TRUE(answer.has_culprit(fault)) << "wanted: " << fault.rule << " " << answer.port << "\nfound:\n"
                                           << describe_causes(answer.diagnoses);
    for (const Finding& each : answer.found) {
      for (const std::string& sentence : {each.expected, each.meaning, each.remedy})
        EXPECT_NE(sentence, "") << describe({each});
      if (fault.says.empty() || &answer != &answers.front() || each.id != fault.check) continue;
      test::expect_parts(each.observed + "\n" + each.meaning + "\n" + each.remedy, std::istringstream(fault.says));
      EXPECT_TRUE(each.meaning.ends_with('.')) << each.meaning;
    }
    for (const Finding& each : answer.diagnoses) {
      EXPECT_FALSE(each.evidence.empty() || each.next.empty()) << each.id;
      EXPECT_EQ(each.culprit, each.id == fault.rule ? culprit_of(fault) : find_rule(each.id)->culprit) << each.id;
      EXPECT_EQ(each.certainty.has_value(), each.culprit != Culprit::unknown) << each.id;
      for (const std::string& step : each.next) EXPECT_EQ(step.find_first_of("{}"), std::string::npos) << step;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Fault, Catalogue, testing::ValuesIn(all_faults()), [](const auto& each) {
  std::string name = each.param.id;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Healthy, IsSilent) {
  for (const Machine& machine : machines()) {
    const View view = machine.view();
    EXPECT_EQ(said(view), "") << machine.name;
    EXPECT_EQ(describe_causes(diagnose(view)), "") << machine.name;
  }
}

// Suppressed findings of any rule are listed and do not count; after the end they count again.
TEST(CatalogueTable, EveryCheckCanBeSuppressedUntilADate) {
  constexpr int64_t kEnd = 1'800'000'000;
  std::set<std::string> done;
  for (const Fault& fault : all_faults()) {
    if (fault.check.empty() || fault.check == "suppressions" || !done.insert(fault.check).second) continue;
    SCOPED_TRACE(fault.id);
    for (const Machine& healthy : machines()) {
      Machine machine = healthy;
      const std::string subject = fault.plant(machine);
      if (subject.empty()) continue;
      machine.policy.rules.by_id[fault.check] = {.enabled = false, .reason = "known", .until = kEnd};
      View view = machine.view();
      for (const int64_t wall : {kEnd - 1, kEnd}) {
        view.wall = wall;
        size_t found = 0;
        for (const Finding& each : run_rules(view).findings) {
          if (each.id != fault.check || (each.status == Status::ok && !each.unjudged)) continue;
          ++found;
          EXPECT_EQ(each.suppressed, wall < kEnd) << describe({each});
        }
        EXPECT_GT(found, 0u) << "silently gone";
      }
      break;  // the first machine that can have it
    }
  }
}

TEST(CatalogueTable, IsWhole) {
  std::set<std::string> ids, checked, diagnosed;
  for (const Area& area : catalogue()) EXPECT_FALSE(area.faults.empty()) << area.name;
  for (const Fault& fault : all_faults()) {
    EXPECT_TRUE(ids.insert(fault.id).second) << fault.id << " twice";
    EXPECT_TRUE(fault.check.empty() || find_rule(fault.check) != nullptr) << fault.check;
    EXPECT_TRUE(fault.rule.empty() || find_rule(fault.rule) != nullptr) << fault.rule;
    EXPECT_FALSE(fault.check.empty() && fault.rule.empty()) << fault.id;
    EXPECT_NE(fault.status, Status::ok);
    for (const std::string_view other : words(fault.also)) EXPECT_NE(find_rule(other), nullptr) << other;
    checked.insert(fault.check);
    diagnosed.insert(fault.rule);
  }
  EXPECT_EQ(catalogue().size(), 7u);
  EXPECT_GE(ids.size(), 60u);
  for (const Rule& check : test::checks())
    // A planted dry run would only be expected again. A policy that manages no port (`managed`: check_test.cpp) changes
    // what the other faults are expected to show.
    if (!parse_setting(check.id) && check.id != "sysctl" && check.id != "managed")
      EXPECT_EQ(checked.count(std::string(check.id)), check.fix.empty() ? 0u : 1u)
          << check.id << ": a check without a fault";
  for (const Rule& rule : test::causes())
    EXPECT_EQ(diagnosed.count(std::string(rule.id)), 1u) << rule.id << ": a rule without a fault";
}

TEST(CatalogueTable, NamesScenariosThatInjectIt) {
  size_t injected = 0;
  for (const Fault& fault : all_faults()) {
    if (fault.server.empty()) continue;
    ++injected;
    const size_t colon = fault.server.find(": ");
    const std::string script = test::of_source("tests/vm/scenarios/" + fault.server.substr(0, colon) + ".sh");
    EXPECT_NE(script, "") << fault.id << ": no scenario " << fault.server;
    const std::string words = colon == std::string::npos ? "" : fault.server.substr(colon + 2);
    EXPECT_TRUE(has(script, words)) << fault.id << ": " << fault.server;
  }
  std::printf("figure: fault catalogue: %zu of %zu faults are injected into a real kernel as well\n", injected,
              all_faults().size());
}

struct Tally {
  size_t faults = 0, named = 0, culprits = 0, right = 0, plantings = 0, others = 0;
};

Tally tally(const Area& area) {
  Tally out;
  for (const Fault& fault : area.faults) {
    const std::vector<Answer>& answers = plant(fault);
    const auto all = [&](auto good) { return !answers.empty() && std::all_of(answers.begin(), answers.end(), good); };
    const bool right = all([&](const Answer& answer) { return answer.has_culprit(fault); });
    ++out.faults;
    out.named += all([&](const Answer& answer) { return answer.is_named(fault); }) ? 1 : 0;
    out.culprits += fault.rule.empty() ? 0 : 1;
    out.right += !fault.rule.empty() && right ? 1 : 0;
    out.plantings += answers.size();
    for (const Answer& answer : answers)
      out.others += answer.false_alarms(fault).size() + (fault.rule.empty() ? answer.diagnoses.size() : 0);
  }
  return out;
}

// In the form of the rates of reported faults.
std::string designed_rates() {
  Rates checks{}, diagnosis{};
  for (const Fault& fault : all_faults()) {
    const std::vector<Answer>& answers = plant(fault);
    const auto any = [&](auto is) { return std::any_of(answers.begin(), answers.end(), is); };
    const bool misses = any([&](const Answer& each) { return !each.is_named(fault); });
    const bool errs = any([&](const Answer& each) { return !each.false_alarms(fault).empty(); });
    const bool blames_none = any([&](const Answer& each) { return !each.has_culprit(fault); });
    const bool blames_another = any([&](const Answer& each) { return each.blames_another(fault); });
    const auto member = [](bool wrong, bool silent) {
      if (wrong) return 1;
      return silent ? 2 : 0;
    };
    ++checks.at(member(errs, misses));
    ++diagnosis.at(member(blames_another, blames_none));
  }
  return rate_rows("designed", all_faults().size(), checks, diagnosis);
}

constexpr const char* kReadme = "tests/faults/README.md";
constexpr std::string_view kRates =
    "\n## rates\n\nDesigned faults are those of the areas below; reported faults are in the last table. If several "
    "machines can have a fault, the worst result counts. Wrong: another check reports the fault, or diagnose names "
    "another culprit. Written by "
    "`FABRIC_UPDATE_GOLDEN=1 ./faults_test --gtest_filter='*Matrix'`.\n\n| half | part | faults | right | wrong | "
    "silent |\n|---|---|---|---|---|---|\n";

// The rows below kRates, as written. Measuring them takes as long as the whole catalogue.
std::string written_rates() {
  const std::string page = test::of_source(kReadme);
  const size_t head = page.find(kRates);
  if (head == std::string::npos) return {};
  const size_t begin = head + kRates.size();
  return page.substr(begin, page.find("\n## ", begin) - begin);
}

void expect_measured_rates();

// How many faults of each area are reported correctly.
TEST(CatalogueTable, Matrix) {
  Tally sum;
  std::printf("%-12s %8s %8s %10s %8s %10s %8s\n", "area", "faults", "named", "culprits", "right", "plantings",
              "others");
  const auto show = [](std::string_view name, const Tally& one) {
    std::printf("%-12s %8zu %8zu %10zu %8zu %10zu %8zu\n", std::string(name).c_str(), one.faults, one.named,
                one.culprits, one.right, one.plantings, one.others);
  };
  for (const Area& area : catalogue()) {
    const Tally one = tally(area);
    show(area.name, one);
    sum = {sum.faults + one.faults, sum.named + one.named,         sum.culprits + one.culprits,
           sum.right + one.right,   sum.plantings + one.plantings, sum.others + one.others};
  }
  show("all", sum);
  size_t alarms = 0;
  for (const Machine& machine : machines()) {
    const View view = machine.view();
    alarms += complaints_of(view).size() + diagnose(view).size();
  }
  std::printf(
      "figure: fault catalogue: %zu of %zu faults named, %zu of %zu culprits, %zu false alarms in %zu plantings, %zu "
      "on %zu healthy machines\n",
      sum.named, sum.faults, sum.right, sum.culprits, sum.others, sum.plantings, alarms, machines().size());
  EXPECT_EQ(sum.named, sum.faults);
  EXPECT_EQ(sum.right, sum.culprits);
  EXPECT_EQ(sum.others + alarms, 0u);
  if (HasFailure()) return;  // rates of a faulty catalogue are not written
  expect_measured_rates();
  expect_measured_certainty();
}

std::string diagnosis_of(const Fault& fault) {
  return fault.rule.empty() ? "" : std::string(to_text(culprit_of(fault))) + " (" + fault.rule + ")";
}

std::string answer_of(const Fault& fault) {
  std::string out = fault.check.empty() ? "" : fault.check + " " + std::string(to_text(fault.status));
  for (const std::string_view other : words(fault.also)) out.append(", ").append(other);
  return out;
}

std::string table_of(const Area& area) {
  std::string out = "\n## " + std::string(area.name) +
                    "\n\n| fault | what happens | planted in the model | answer | culprit | in the virtual server "
                    "|\n|---|---|---|---|---|---|\n";
  for (const Fault& fault : area.faults)
    out += "| " + fault.id + " | " + fault.happens + " | " + fault.planted + " | " + answer_of(fault) + " | " +
           diagnosis_of(fault) + " | " + fault.server + " |\n";
  return out;
}

std::string reported_table() {
  std::string out =
      "\n## reported\n\nWritten from public reports, after the rules. The answer is what the operators found; "
      "`./faults_test --gtest_filter='Reported*'` prints how many are answered rightly, wrongly and not at all. "
      "\"Or a candidate\": the counters of this host do not decide it everywhere; where diagnose names nobody, the "
      "culprit must be "
      "among the candidates that it lists.\n\n| "
      "fault "
      "| what happens | reported by | checks that may report it | culprit |\n|---|---|---|---|---|\n";
  for (const ReportedFault& each : reported_faults())
    out += "| " + std::string(each.id) + " | " + each.happens + " | " + each.source + " | " +
           joined(words(each.checks)) + " | " +
           (each.culprit == Culprit::none ? "" : std::string(to_text(each.culprit))) +
           (each.is_ambiguous ? ", or a candidate" : "") + " |\n";
  return out;
}

std::string readme(const std::string& rates) {
  std::string out =
      "# The fault catalogue\n\n"
      "This page lists the faults of GPU clusters. The tests plant each fault in every healthy machine that can have "
      "it, between two readings a minute apart under load.\n"
      "The check in the column \"answer\" must report the fault at the right subject, and no other check may report "
      "it, "
      "except those after a comma, which see the same fault.\n"
      "diagnose must name the culprit by the rule in parentheses; without a rule, it must report nothing.\n\n"
      "To add a fault, add a row to the .cpp file of its area, then rewrite this page: `FABRIC_UPDATE_GOLDEN=1 "
      "./faults_test`.\n"
      "`./faults_test --gtest_filter='*Matrix'` prints the scores. The last column names the scenario of tests/vm that "
      "injects the fault into a real kernel.\n\n"
      "| file | what it tests |\n|---|---|\n"
      "| catalogue_test.cpp | every fault, on every machine and on scheduled, lossy and sprayed fabrics; check and "
      "diagnose agree about each of them; fixes |\n"
      "| sweep_test.cpp | faults 3 and 10 times as severe (same culprit), and down to 1 % (same culprit or none); "
      "every "
      "limit from both sides |\n"
      "| load_test.cpp | ten minutes of healthy load; findings that clear |\n"
      "| others_test.cpp, mistaken_test.cpp | combinations of faults, and faults that look like another |\n"
      "| corpus_test.cpp | captured machines, as they are and with parts gone or broken |\n"
      "| fleet/reported_test.cpp | faults from public reports; how often certain and likely causes are right |\n"
      "| fleet/week_test.cpp | false alarms in a healthy week; for 1,000 nodes: `tests/run week` |\n\n"
      "| healthy machine | what it is |\n|---|---|\n";
  for (const Machine& machine : machines()) out += "| " + machine.name + " | " + machine.what + " |\n";
  out += std::string(kRates) + rates;
  for (const Area& area : catalogue()) out += table_of(area);
  return out + reported_table();
}

void expect_readme(const std::string& rates) { test::expect_generated(kReadme, readme(rates)); }

void expect_measured_rates() { expect_readme(designed_rates() + reported_rates()); }

TEST(CatalogueTable, ReadmeIsUpToDate) {
  const std::string rates = written_rates();
  expect_readme(rates);
  EXPECT_NE(rates.find("| designed | checks | " + std::to_string(all_faults().size()) + " |"), std::string::npos)
      << "the rates are of another number of faults: FABRIC_UPDATE_GOLDEN=1 ./faults_test --gtest_filter='*Matrix'";
}

// -- check and diagnose agree

// The subject of a port's finding may be the port, its RDMA device, its netdev or its PCI function.
bool is_of(const Port& port, const Finding& finding) {
  const std::set<std::string> names{port.id(), port.rdma, port.netdev, port.pci};
  return names.contains(finding.subject);
}

// diagnose, of the named ports or of all.
struct Diagnosis {
  Diagnosis(const Report& report, const ctl::Samples& samples, const std::vector<std::string>& ports = {}) {
    ctl::Options options;
    options.ports = ports;
    ctl::Output printed;
    status = ctl::print_diagnosis(report, samples, {}, options, printed);
    text = printed.text;
    options.json = true;
    ctl::Output json;
    EXPECT_EQ(ctl::print_diagnosis(report, samples, {}, options, json), status);
    const Json all = Json::parse(json.text);
    for (const Json& cause : all.at("diagnoses")) add(cause, "rule", "port");
    for (const Json& finding : all.at("findings")) add(finding, "id", "subject");
  }

  [[nodiscard]] bool has(const Finding& finding) const {
    return findings.contains(finding.id + " " + finding.subject + " " + std::string(to_text(finding.status)));
  }

  int status = 0;
  std::string text;
  std::set<std::string> findings;  // "loss mlx5_1/1 warning"

 private:
  void add(const Json& entry, const char* id, const char* subject) {
    findings.insert(entry.at(id).get<std::string>() + " " + entry.at(subject).get<std::string>() + " " +
                    entry.at("status").get<std::string>());
  }
};

void expect_agreement(const Machine& machine) {
  SCOPED_TRACE(machine.name);
  const View view = machine.view();
  const Report check = run_rules(view);
  const ctl::Samples samples{machine.before, machine.now, *view.signals};
  const Diagnosis whole(check, samples);
  EXPECT_EQ(whole.status, static_cast<int>(ctl::verdict_of(check, {}))) << whole.text;
  for (const Finding& finding : check.findings)
    EXPECT_TRUE(!is_fault(finding.status) || whole.has(finding)) << test::describe(finding) << "\n" << whole.text;

  for (const Port& port : machine.now.ports) {
    Report own;
    std::ranges::copy_if(check.findings, std::back_inserter(own.findings),
                         [&](const Finding& finding) { return is_of(port, finding); });
    if (std::ranges::none_of(own.findings, is_fault, &Finding::status)) continue;
    const Diagnosis diagnosis(check, samples, {port.id()});
    EXPECT_EQ(diagnosis.status, static_cast<int>(ctl::verdict_of(own, {}))) << port.id() << "\n" << diagnosis.text;
    for (const Finding& finding : own.findings) {
      if (!is_fault(finding.status)) continue;
      EXPECT_TRUE(diagnosis.has(finding)) << test::describe(finding) << "\n" << diagnosis.text;
      EXPECT_FALSE(test::has(diagnosis.text, "without symptoms")) << test::describe(finding);
      EXPECT_FALSE(test::has(whole.text, "without symptoms")) << test::describe(finding);
    }
  }
}

class Agreement : public testing::TestWithParam<Fault> {};

TEST_P(Agreement, OfCheckAndDiagnose) {
  for (Machine machine : machines()) {
    if (GetParam().plant(machine).empty()) continue;
    return expect_agreement(machine);  // the other machines: HarderOnEveryMachine
  }
}

TEST_P(Agreement, HarderOnEveryMachine) {
  for (Machine machine : machines())
    if (!GetParam().plant(machine).empty()) expect_agreement(machine);
}

INSTANTIATE_TEST_SUITE_P(Fault, Agreement, testing::ValuesIn(all_faults()), [](const auto& each) {
  std::string name = each.param.id;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Healthy, CheckAndDiagnoseAgree) {
  for (const Machine& machine : machines()) expect_agreement(machine);
}

// -- Fixes, also as a guest and as a captured tree

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
              "replace that",   "or replace",   "firmware setup", "power-cycle",
              "move the nic",   "move nic",     "move the cable", "the power of the device",
              "another cage",   "blank panels", "airflow",        "another nic",
              "check its power"}},
    {Work::ends_jobs,
     {"riser",         "replace the nic", "replace the part", "power-cycle",        "power off",    "and reboot",
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

// The texts of `explain ID`, which no machine adapts.
TEST(FixRows, OfChecksDrainBeforeTheyStopTraffic) {
  for (const Rule& rule : rules())
    if (!rule.is_cause()) EXPECT_EQ(test::undrained_command(rule.fix.text()), "") << rule.id << ": " << rule.fix.text();
}

// A step that needs hands is not for a guest. A step that ends jobs comes after the drained node, or says when.
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
      for (const FixRow* fix : {&rule.fix, &rule.fix_lossy, &rule.fix_scheduled, &rule.fix_infiniband})
        for (const StepRow& step : *fix) expect_kind(kWords, rule.id, step.work, step.text);
    for (const Measurement& each : rule.windows)
      for (const FixRow* fix : {&each.remedy, &each.elsewhere})
        for (const StepRow& step : *fix) expect_kind(kWords, each.window.key, step.work, step.text);
  }
}

// Messages of a log have facts as well ("the slot reports a fault"): only the steps have these words.
TEST(FixRows, OfMessagesHaveTheKindOfTheirWork) {
  const Words words[]{{kHands,
                       {"reseat", "replace", "plug in", "swap", "power the node", "airflow", "fans", "use a slot",
                        "in the bios", "firmware setup"}},
                      {Work::ends_jobs,
                       {"reset the gpu",
                        "reset all gpus",
                        "reset the gpus",
                        "reset the firmware",
                        "reset the device",
                        "or reboot",
                        ", reboot",
                        "then reboot",
                        "reboot the",
                        "reboot if",
                        "reload the driver",
                        "reload its",
                        "reload it",
                        "then reload",
                        "reload ice",
                        "load the driver again",
                        "load its driver again",
                        "unload the",
                        "or unload",
                        "bind iavf",
                        "rmmod the",
                        "modprobe -r",
                        "unbind the",
                        "to a reset",
                        "node a reboot"}}};
  for (const lines::LineMessage& message : lines::messages())
    for (const StepRow& step : message.meaning) expect_kind(words, message.id, step.work, step.text);
}

// A log names no machine that is known to be idle: what ends jobs comes after the drained node. The sentence comes
// after the meaning, before the sentence with the step.
void expect_drained(std::string_view id, const FixRow& meaning) {
  const Fix fix = drained_first(meaning);
  bool is_drained = false, ends_jobs = false;
  for (const Step& step : fix.steps) {
    is_drained = is_drained || has_any(step.work, Work::when_idle);
    ends_jobs = ends_jobs || has_any(step.work, Work::ends_jobs);
    EXPECT_TRUE(is_drained || !ends_jobs) << id << ": " << fix.text();
  }
  EXPECT_FALSE(fix.text().starts_with("Drain")) << id << ": the step is in the sentence of the meaning: " << fix.text();
  EXPECT_EQ(test::undrained_command(fix.text()), "") << id << ": " << fix.text();
  EXPECT_EQ(ends_jobs, is_drained) << id << ": " << fix.text();
}

TEST(FixRows, OfMessagesDrainBeforeTheyEndJobs) {
  size_t count = 0;
  for (const lines::LineMessage& message : lines::messages()) {
    expect_drained(message.id, message.meaning);
    EXPECT_EQ(test::undrained_command(std::string(message.next)), "") << message.id << ": " << message.next;
    for (const StepRow& step : message.meaning) count += has_any(step.work, Work::ends_jobs) ? 1 : 0;
  }
  for (const lines::Condition& condition : lines::conditions()) expect_drained(condition.id, condition.meaning);
  for (const lines::Combination& each : lines::combinations())
    expect_drained(each.condition.id, each.condition.meaning);
  EXPECT_GT(count, 20u);
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
      EXPECT_EQ(test::undrained_command(each.remedy), "") << each.id << ": " << text;
      EXPECT_EQ(test::undrained_command(joined(each.next, "\n")), "") << each.id << ": " << text;
      for (const std::string_view joint : {".;", ". ;", ";.", "; This is", " ,", "\nthen ", "\n,", "\n:", "\n."})
        EXPECT_FALSE(has("\n" + text, joint)) << each.id << ": " << text;
      EXPECT_FALSE(text.starts_with("then ") || text.starts_with("persistent:")) << each.id << ": " << text;
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

// -- Fabrics of each kind

struct Kind {
  const char* name;
  Fabric fabric;
};
const Kind kKinds[] = {{"lossless, sprayed", {.spraying = true}},
                       {"scheduled", {.kind = FabricKind::scheduled}},
                       {"lossy", {.kind = FabricKind::lossy}},
                       {"lossy, adaptive routing", {.kind = FabricKind::lossy, .adaptive_routing = true}}};

std::vector<Machine> machines_of(const Fabric& fabric) {
  std::vector<Machine> out = machines();
  for (Machine& machine : out) set_fabric(machine, fabric);
  return out;
}

// The steps of a finding or a cause.
std::string steps_of(const Finding& finding) { return finding.remedy + "\n" + joined(finding.next, "\n"); }

bool recommends_pfc(std::string text) {
  static const std::regex kOff("dcb pfc set [^.;,\\n]*:off");
  text = std::regex_replace(text, kOff, "");
  static const std::regex kSteps(
      "\\b(enable|turn on|configure|raise|compare|lossless priority|set) [^.;\\n]{0,60}(PFC|lossless)",
      std::regex::icase);
  return std::regex_search(text, kSteps);
}

TEST(FabricKinds, HealthyMachinesAreSilent) {
  for (const Kind& kind : kKinds)
    for (const Machine& machine : machines_of(kind.fabric)) {
      const View view = machine.view();
      EXPECT_EQ(test::said(view), "") << kind.name << " " << machine.name;
      EXPECT_EQ(describe_causes(diagnose(view)), "") << kind.name << " " << machine.name;
    }
}

// Faults of PFC (its watchdog and traffic without it, too), which a lossy fabric cannot have, and of congestion
// control, which a scheduled one does without.
bool concerns(const Fault& fault, const Fabric& fabric) {
  constexpr std::string_view kPfc[] = {"peer-pfc",     "peer-ets",     "peer-app",           "pfc-and-pause",
                                       "pfc",          "discards",     "pause-storm",        "pause-held",
                                       "pfc-on-lossy", "pfc-watchdog", "unprotected-traffic"};
  constexpr std::string_view kPfcCauses[] = {"pfc-off-switch", "roce-unprotected",  "headroom",
                                             "busy-network",   "paused-by-network", "slow-host"};
  if (fabric.is_lossy() && (contains(kPfc, fault.check) || contains(kPfcCauses, fault.rule))) return false;
  if (fabric.kind == FabricKind::scheduled && (fault.check == "cnp-ignored" || fault.rule == "ecn-off")) return false;
  return true;
}

// A lossy fabric loses a few packets by design: a loss in it is a larger share of the packets.
constexpr double kLossOnLossy = 1000;

// Each fault has the answer of the catalogue: its check names it, no other one reports it, its rule names the culprit.
// `step`: of so many faults on machines one is planted.
void expect_answers(size_t step) {
  size_t number = 0;
  for (const Kind& kind : kKinds) {
    size_t planted = 0, named = 0, others = 0, right = 0, another = 0;
    const std::vector<Machine> healthy = machines_of(kind.fabric);
    for (const Fault& fault : all_faults()) {
      if (!concerns(fault, kind.fabric)) continue;
      for (const Machine& machine : healthy) {
        if (number++ % step != 0) continue;
        Machine stronger = machine;
        if (kind.fabric.is_lossy() && fault.rule == "loss-in-network") stronger.strength = kLossOnLossy;
        const std::optional<Answer> answer = plant_in(stronger, fault);
        if (!answer) continue;
        SCOPED_TRACE(std::string(kind.name) + ", " + machine.name + ": " + fault.id);
        const bool is_named = stronger.strength == 1 ? answer->is_named(fault) : answer->is_named_at_least(fault);
        const bool has_culprit = answer->has_culprit(fault);
        const std::vector<Finding> alarms = answer->false_alarms(fault);
        EXPECT_TRUE(is_named) << "wanted: " << fault.check << " " << answer->subject << " " << to_text(fault.status)
                              << "\nfound:\n"
                              << describe(answer->found);
        EXPECT_EQ(describe(alarms), "");
        EXPECT_TRUE(has_culprit) << "wanted: " << fault.rule << " " << answer->port << "\nfound:\n"
                                 << describe_causes(answer->diagnoses);
        ++planted;
        named += is_named ? 1 : 0;
        others += alarms.empty() ? 0 : 1;
        right += has_culprit ? 1 : 0;
        another += answer->blames_another(fault) ? 1 : 0;
      }
    }
    std::printf(
        "figure: %s: of %zu plantings %zu named, %zu with false alarms, %zu right culprits, %zu blame another\n",
        kind.name, planted, named, others, right, another);
  }
}

TEST(FabricKinds, NoFaultChangesItsAnswer) { expect_answers(11); }
TEST(FabricKinds, NoFaultChangesItsAnswerHarder) { expect_answers(1); }

// `step`: of so many faults one is planted.
void expect_no_pfc(size_t step) {
  size_t number = 0;
  for (const Kind& kind : kKinds) {
    if (!kind.fabric.is_lossy()) continue;
    const std::vector<Machine> healthy = machines_of(kind.fabric);
    std::set<std::string, std::less<>> reported;
    for (const Fault& fault : all_faults())
      for (Machine machine : healthy) {
        if (number++ % step != 0) continue;
        if (fault.plant(machine).empty()) continue;
        const auto wants_pfc = [](const PortPolicy& entry) { return entry.want.pfc && entry.want.pfc->bits != 0; };
        if (std::ranges::any_of(machine.policy.ports, wants_pfc)) continue;  // the operator's own
        for (const Finding& each : run_rules(machine.view()).findings) {
          if (each.status == Status::ok) continue;
          reported.insert(each.id);
          EXPECT_FALSE(recommends_pfc(steps_of(each))) << machine.name << " " << fault.id << ": " << each.id << "\n"
                                                       << steps_of(each);
        }
      }
    // The texts of the table, too: a rule that recommends PFC is not asked here.
    for (const Rule& rule : rules()) {
      std::string text = rule.fix.text();
      if (!rule.fix_lossy.empty()) text = rule.fix_lossy.text();
      if (rule.is_cause() && recommends_pfc(text)) EXPECT_FALSE(reported.contains(rule.id)) << rule.id << ": " << text;
    }
  }
}

TEST(FabricKinds, ALossyFabricIsNeverAdvisedToUsePfc) { expect_no_pfc(13); }
TEST(FabricKinds, ALossyFabricIsNeverAdvisedToUsePfcHarder) { expect_no_pfc(1); }

TEST(FabricKinds, WhatPfcProtectsIsJudgedByTheKind) {
  const auto found = [](Machine machine, const std::string& id) {
    const Report report = run_rules(machine.view());
    return std::ranges::any_of(report.findings,
                               [&](const Finding& each) { return each.id == id && each.status != Status::ok; });
  };
  Machine hgx = machines().front();
  // PFC that came back is the drift.
  Machine lossy = hgx;
  set_fabric(lossy, {.kind = FabricKind::lossy});
  Machine with_pfc = lossy;
  with_pfc.port().qos.pfc = PrioSet{8};
  for (PortPolicy& entry : with_pfc.policy.ports) entry.want.pfc.reset();
  EXPECT_TRUE(found(with_pfc, "pfc-on-lossy"));
  Machine switch_has_it = lossy;
  switch_has_it.now.neighbors.heard.at(1).pfc->enabled.bits = 8;
  EXPECT_TRUE(found(switch_has_it, "peer-pfc"));
  // Discards and packets out of sequence are normal, a large share of retransmissions is not.
  Machine discards = lossy;
  ASSERT_TRUE(discards.raise(metrics::kPhyDiscards, 1e6, "rx"));
  ASSERT_TRUE(discards.raise(metrics::kOutOfSequence, 1e5));
  EXPECT_FALSE(found(discards, "discards") || found(discards, "loss"));
  Machine resends = lossy;
  ASSERT_TRUE(resends.raise(metrics::kSequenceNaks, 5e7));
  EXPECT_TRUE(found(resends, "loss"));
  EXPECT_FALSE(describe_causes(diagnose(resends.view())).empty());
  // On a fabric that sprays packets, packets out of sequence are no evidence; on others they are.
  Machine sprayed = hgx;
  ASSERT_TRUE(sprayed.raise(metrics::kOutOfSequence, 1e6));
  EXPECT_TRUE(found(sprayed, "loss"));
  for (const Fabric& fabric : {Fabric{.spraying = true}, Fabric{.adaptive_routing = true}}) {
    set_fabric(sprayed, fabric);
    EXPECT_FALSE(found(sprayed, "loss"));
    EXPECT_EQ(describe_causes(diagnose(sprayed.view())), "");
    Machine losing = sprayed;
    ASSERT_TRUE(losing.raise(metrics::kSequenceNaks, 1e5));
    const std::string causes = describe_causes(diagnose(losing.view()));
    EXPECT_NE(causes.find("sequence NAKs received"), std::string::npos) << causes;
    EXPECT_EQ(causes.find("packets received out of sequence"), std::string::npos) << causes;
  }
}

}  // namespace
}  // namespace fabric::faults
