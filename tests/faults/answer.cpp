// SPDX-License-Identifier: Apache-2.0
#include "faults/answer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace fabric::faults {
namespace {

bool speaks_of(const Findings& diagnoses, const std::string& port) {
  return std::any_of(diagnoses.begin(), diagnoses.end(), [&](const Finding& each) { return each.subject == port; });
}

}  // namespace

Culprit culprit_of(const Fault& fault) {
  if (fault.rule.empty()) return Culprit::none;
  return fault.blames.value_or(find_rule(fault.rule)->culprit);
}

bool Answer::is_named(const Fault& fault) const {
  if (fault.check.empty()) return found.empty();
  return std::any_of(found.begin(), found.end(), [&](const Finding& each) {
    return each.id == fault.check && each.subject == subject && each.status == fault.status;
  });
}

bool Answer::is_named_at_least(const Fault& fault) const {
  if (fault.check.empty()) return true;  // planted harder, a check may report it
  return std::any_of(found.begin(), found.end(), [&](const Finding& each) {
    return each.id == fault.check && each.subject == subject && rank(each.status) <= rank(fault.status);
  });
}

std::vector<Finding> Answer::false_alarms(const Fault& fault) const {
  std::vector<Finding> out;
  std::ranges::copy_if(found, std::back_inserter(out), [&](const Finding& each) {
    return (each.id != fault.check || each.subject != subject) && std::ranges::count(words(fault.also), each.id) == 0;
  });
  return out;
}

bool Answer::has_culprit(const Fault& fault) const {
  if (fault.rule.empty()) return diagnoses.empty();
  return std::all_of(diagnoses.begin(), diagnoses.end(), [&](const Finding& each) { return each.id == fault.rule; }) &&
         speaks_of(diagnoses, port);
}

bool Answer::blames_the_same(const Fault& fault) const {
  if (fault.rule.empty()) return diagnoses.empty();
  return !blames_another(fault) && speaks_of(diagnoses, port) &&
         std::none_of(diagnoses.begin(), diagnoses.end(),
                      [&](const Finding& each) { return each.culprit != culprit_of(fault); });
}

bool Answer::blames_another(const Fault& fault) const {
  return std::any_of(diagnoses.begin(), diagnoses.end(), [&](const Finding& each) {
    return each.culprit != culprit_of(fault) && each.culprit != Culprit::unknown && each.culprit != Culprit::none;
  });
}

std::string describe_causes(const Findings& diagnoses) {
  std::string out;
  for (const Finding& each : diagnoses) {
    out += each.id + " " + each.subject + " " + std::string(to_text(*each.culprit)) + ": " + each.meaning + "\n";
    for (const std::string& line : each.evidence) out += "  " + line + "\n";
  }
  return out;
}

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = healthy_machines();
  return all;
}

std::optional<Answer> plant_in(Machine machine, const Fault& fault) {
  const std::string port = machine.port().id(), subject = fault.plant(machine);
  if (subject.empty() || (machine.strength != 1 && !machine.has_amounts)) return std::nullopt;
  const View view = machine.view();
  Report report = run_rules(view);
  std::vector<Finding> found = test::complaints(report);
  std::erase_if(report.findings, [](const Finding& each) { return !each.culprit; });
  return Answer{machine.name, port, subject, std::move(found), std::move(report.findings), machine.has_amounts};
}

namespace {

std::vector<Answer> planted(const Fault& fault, double strength) {
  std::vector<Answer> out;
  for (Machine machine : machines()) {
    machine.strength = strength;
    if (std::optional<Answer> answer = plant_in(std::move(machine), fault)) out.push_back(std::move(*answer));
  }
  return out;
}

}  // namespace

const std::vector<Answer>& plant(const Fault& fault, double strength) {
  static std::map<std::pair<std::string, double>, std::vector<Answer>> all;
  const auto [entry, is_new] = all.try_emplace({fault.id, strength});
  if (is_new) entry->second = planted(fault, strength);
  return entry->second;
}

std::vector<Fault> all_faults() {
  std::vector<Fault> out;
  for (const Area& area : catalogue()) out.insert(out.end(), area.faults.begin(), area.faults.end());
  return out;
}

}  // namespace fabric::faults
