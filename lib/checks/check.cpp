// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"

#include <cstdio>

#include "health/health.h"
#include "judge/platform_view.h"
#include "topology/pairing.h"

namespace fabric {

std::span<const Check> checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> table = checks_of_settings(), rows = checks_in_files();
    table.insert(table.end(), rows.begin(), rows.end());
    std::ranges::stable_sort(table, {}, [](const Check& each) { return std::ranges::find(kCheckGroups, each.group); });
    return table;
  }();
  return all;
}

const Check* find_check(std::string_view id) {
  return find_where(checks(), [&](const Check& check) { return check.id == id; });
}

std::string limit_text(const Threshold& threshold) {
  char value[32];
  std::snprintf(value, sizeof value, "%.9g ", threshold.value);
  return "Limit: " + (value + std::string(threshold.unit)) + ". Source: " + std::string(threshold.source) +
         ". Key: [thresholds] " + std::string(threshold.key);
}

std::string runbook(const Check& check) {
  std::string text(check.meaning);
  if (!check.inspect.empty()) text.append("\nInspect: ").append(check.inspect);
  if (!check.fix.empty()) text.append("\nFix: ").append(check.fix);
  for (const Threshold* each : check.thresholds)
    if (each != nullptr) text += "\n" + limit_text(*each);
  return text;
}

std::string first_error(const View& view) {
  const auto more = std::ranges::count(view.no_policy, '\n');
  const std::string first = view.no_policy.substr(0, view.no_policy.find('\n'));
  return more == 0 ? first : first + " (and " + std::to_string(more) + " more error" + (more > 1 ? "s)" : ")");
}

Report run_checks(const View& given, std::span<const std::string> only) {
  Report report;
  const Pairing pairing = built_pairing(given);
  View view = given;
  view.pairing = &pairing;
  const auto is_named = [&](std::string_view name) { return contains(only, name); };
  for (const Check& check : checks()) {
    if (!only.empty() && !is_named(check.id) && !is_named(check.group)) continue;
    const size_t first = report.findings.size();
    const auto add = [&](std::optional<Finding> finding) {
      if (finding) report.findings.push_back(std::move(*finding));
    };
    if (check.ask != nullptr) check.ask(view, report.findings);
    else if (check.ask_host != nullptr) add(check.ask_host(view));
    else if (check.ask_port == nullptr) ask_health(check.id, view, report.findings);
    else
      for (const Port& port : view.now.ports) add(check.ask_port(view, port));
    for (size_t i = first; i < report.findings.size(); ++i) report.findings[i].id = check.id;
  }
  std::ranges::stable_sort(report.findings, {}, [](const Finding& each) { return rank(each.status); });
  return report;
}

}  // namespace fabric
