// SPDX-License-Identifier: Apache-2.0
// How often reported faults are answered rightly, and how sure each rule may be.
#include "faults/fleet/reported.h"

#include "faults/answer.h"
#include "support/rules.h"
#include "support/test.h"

namespace fabric::faults {

using test::complaints_of;
using test::describe;

namespace {

Verdict by_checks(const ReportedFault& report, const std::vector<Finding>& found) {
  const auto checks = words(report.checks);
  const auto wanted = [&](const Finding& each) { return std::ranges::count(checks, each.id) > 0; };
  if (!std::ranges::all_of(found, wanted)) return Verdict::wrong;
  return found.empty() != checks.empty() ? Verdict::silent : Verdict::right;
}

bool blames(const Finding& each) { return each.culprit != Culprit::none && each.culprit != Culprit::unknown; }

// A line of the evidence says that it is possible: "loss-in-network (network)".
bool is_candidate(const Finding& each, Culprit culprit) {
  const std::string name = "(" + std::string(to_text(culprit)) + ")";
  return std::ranges::any_of(each.evidence, [&](const std::string& line) {
    return line.find("possible") != std::string::npos && line.find(name) != std::string::npos;
  });
}

Verdict by_diagnosis(const ReportedFault& report, const Findings& diagnoses) {
  if (std::ranges::any_of(diagnoses,
                          [&](const Finding& each) { return blames(each) && each.culprit != report.culprit; }))
    return Verdict::wrong;
  const bool is_named = std::ranges::any_of(diagnoses, [&](const Finding& each) {
    return blames(each) || (report.is_ambiguous && is_candidate(each, report.culprit));
  });
  return report.culprit != Culprit::none && !is_named ? Verdict::silent : Verdict::right;
}

Judged judged(const ReportedFault& report) {
  Judged out;
  const auto rank = [](Verdict verdict) {
    switch (verdict) {
      case Verdict::wrong: return 2;
      case Verdict::silent: return 1;
      case Verdict::right: break;
    }
    return 0;
  };
  for (const Machine& healthy : machines()) {
    Machine machine = healthy;
    if (report.plant(machine).empty()) continue;
    const View view = machine.view();
    const auto found = complaints_of(view);
    out.diagnoses.push_back(diagnose(view));
    ++out.machines;
    const Verdict check = by_checks(report, found), diagnosis = by_diagnosis(report, out.diagnoses.back());
    if (check != Verdict::right || diagnosis != Verdict::right)
      out.said = machine.name + "\n" + describe(found) + describe_causes(out.diagnoses.back());
    if (rank(check) > rank(out.check)) out.check = check;
    if (rank(diagnosis) > rank(out.diagnosis)) out.diagnosis = diagnosis;
  }
  return out;
}

}  // namespace

const Judged& judge(const ReportedFault& report) {
  static std::map<std::string, Judged> all;
  const auto [entry, is_new] = all.try_emplace(report.id);
  if (is_new) entry->second = judged(report);
  return entry->second;
}

std::string rate_rows(const char* half, size_t faults, const Rates& checks, const Rates& diagnosis) {
  std::string out;
  for (const auto& [part, of] : {std::pair{"checks", checks}, {"diagnosis", diagnosis}}) {
    std::printf("figure: %zu %s faults, %s: %zu right, %zu wrong, %zu silent\n", faults, half, part, of[0], of[1],
                of[2]);
    out += std::string("| ") + half + " | " + part;
    for (const size_t count : {faults, of[0], of[1], of[2]}) out += " | " + std::to_string(count);
    out += " |\n";
  }
  return out;
}

std::string reported_rates() {
  Rates check{}, diagnosis{};
  for (const ReportedFault& report : reported_faults()) {
    const Judged& one = judge(report);
    ++check.at(static_cast<size_t>(one.check)), ++diagnosis.at(static_cast<size_t>(one.diagnosis));
  }
  return rate_rows("reported", reported_faults().size(), check, diagnosis);
}

namespace {

const char* text(Verdict verdict) {
  switch (verdict) {
    case Verdict::right: return "right";
    case Verdict::wrong: return "WRONG";
    case Verdict::silent: break;
  }
  return "silent";
}

TEST(Reported, RatesAreKept) {
  std::map<Verdict, size_t> check, diagnosis;
  for (const ReportedFault& report : reported_faults()) {
    const Judged& one = judge(report);
    EXPECT_GT(one.machines, 0u) << report.id << ": no machine can have it";
    ++check[one.check], ++diagnosis[one.diagnosis];
    if (one.check == Verdict::right && one.diagnosis == Verdict::right) continue;
    std::printf("%s: checks %s, diagnosis %s; %s\n", report.id, text(one.check), text(one.diagnosis), one.said.c_str());
  }
  reported_rates();
  std::printf("figure: of them %td are ambiguous to one host: the culprit may be named as a candidate\n",
              std::ranges::count_if(reported_faults(), &ReportedFault::is_ambiguous));
  EXPECT_GE(reported_faults().size(), 30u);
  EXPECT_GE(check[Verdict::right], 30u);
  EXPECT_EQ(diagnosis[Verdict::right], reported_faults().size());
}

struct Answers {
  size_t right = 0, all = 0;
};

}  // namespace

void expect_measured_certainty() {
  std::map<Certainty, Answers> by_certainty;
  const auto count = [&](const Findings& diagnoses, Culprit culprit) {
    for (const Finding& each : diagnoses) {
      if (!each.certainty || each.culprit == Culprit::none) continue;
      Answers& answers = by_certainty[*each.certainty];
      ++answers.all;
      answers.right += each.culprit == culprit ? 1 : 0;
      EXPECT_TRUE(each.certainty == Certainty::certain || !each.next.empty()) << each.id << ": what decides?";
    }
  };
  for (const Fault& fault : all_faults())
    for (const Answer& answer : plant(fault)) count(answer.diagnoses, culprit_of(fault));
  for (const ReportedFault& report : reported_faults())
    for (const Findings& each : judge(report).diagnoses) count(each, report.culprit);
  for (const auto& [certainty, answers] : by_certainty)
    std::printf("figure: %s causes: %zu of %zu name the right culprit\n", std::string(to_text(certainty)).c_str(),
                answers.right, answers.all);
  const Answers& certain = by_certainty[Certainty::certain];
  EXPECT_GE(static_cast<double>(certain.right), 0.98 * static_cast<double>(certain.all));
}

}  // namespace fabric::faults
