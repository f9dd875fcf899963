// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"

#include <algorithm>
#include <cstdio>

#include "checks/registry.h"
#include "health/health.h"
#include "model/report.h"
#include "model/view.h"
#include "topology/pairing.h"

namespace fabric {
namespace {

std::vector<Check> make_table() {
  std::vector<Check> table;
  const auto append = [&](std::span<const Check> rows) { table.insert(table.end(), rows.begin(), rows.end()); };
  append(checks_of_settings());
  append(checks_in_files());
  const auto position = [](const Check& check) { return std::ranges::find(kCheckGroups, check.group); };
  std::ranges::stable_sort(table, [&](const Check& a, const Check& b) { return position(a) < position(b); });
  return table;
}

void ask_ports(const Check& check, const View& view, Findings& findings) {
  for (const Port& port : view.now.ports)
    if (auto finding = check.ask_port(view, port)) findings.push_back(std::move(*finding));
}

}  // namespace

std::span<const Check> checks() {
  static const std::vector<Check> table = make_table();
  return table;
}

const Check* find_check(std::string_view id) {
  for (const Check& check : checks())
    if (check.id == id) return &check;
  return nullptr;
}

bool names_check(std::string_view name) {
  const auto all = checks();
  return std::ranges::any_of(all, [&](const Check& check) { return name == check.id || name == check.group; });
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

Report run_checks(const View& given, std::span<const std::string> only) {
  Report report;
  const Pairing pairing = built_pairing(given);
  View view = given;
  view.pairing = &pairing;
  const auto is_named = [&](std::string_view name) { return contains(only, name); };
  for (const Check& check : checks()) {
    if (!only.empty() && !is_named(check.id) && !is_named(check.group)) continue;
    const size_t first = report.findings.size();
    if (check.ask != nullptr) check.ask(view, report.findings);
    else if (check.ask_port != nullptr) ask_ports(check, view, report.findings);
    else ask_health(check.id, view, report.findings);
    for (size_t i = first; i < report.findings.size(); ++i) report.findings[i].id = check.id;
  }
  std::ranges::stable_sort(report.findings,
                           [](const Finding& a, const Finding& b) { return rank(a.status) < rank(b.status); });
  return report;
}

}  // namespace fabric
