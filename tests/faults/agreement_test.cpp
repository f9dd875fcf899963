// SPDX-License-Identifier: Apache-2.0
// check and diagnose agree about every fault of the catalogue on every machine that can have it, and about the healthy
// machines: their verdicts are equal, and diagnose prints for a port what check finds there.
#include "base/json.h"
#include "ctl/verbs/diagnose_verb.h"
#include "ctl/verbs/findings.h"
#include "faults/answer.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

bool is_fault(const Finding& finding) {
  return finding.status == Status::critical || finding.status == Status::warning;
}

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
    status = ctl::print_diagnosis(report, samples, options, printed);
    text = printed.text;
    options.json = true;
    ctl::Output json;
    EXPECT_EQ(ctl::print_diagnosis(report, samples, options, json), status);
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
    EXPECT_TRUE(!is_fault(finding) || whole.has(finding)) << test::describe(finding) << "\n" << whole.text;

  for (const Port& port : machine.now.ports) {
    Report own;
    std::ranges::copy_if(check.findings, std::back_inserter(own.findings),
                         [&](const Finding& finding) { return is_of(port, finding); });
    if (std::ranges::none_of(own.findings, is_fault)) continue;
    const Diagnosis diagnosis(check, samples, {port.id()});
    EXPECT_EQ(diagnosis.status, static_cast<int>(ctl::verdict_of(own, {}))) << port.id() << "\n" << diagnosis.text;
    for (const Finding& finding : own.findings) {
      if (!is_fault(finding)) continue;
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

}  // namespace
}  // namespace fabric::faults
