// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include <algorithm>
#include <array>

#include "base/json.h"

namespace fabric {

std::string_view to_text(Status value) {
  constexpr std::array<std::string_view, 4> kTexts{"ok", "warning", "critical", "unknown"};
  return kTexts.at(static_cast<size_t>(value));
}

int rank(Status value) {
  constexpr std::array<int, 4> kRanks{3, 1, 0, 2};  // ok, warning, critical, unknown
  return kRanks.at(static_cast<size_t>(value));
}

Status worst(const Report& report) {
  Status found = Status::ok;
  for (const Finding& finding : report.findings)
    if (!finding.acknowledged && rank(finding.status) < rank(found)) found = finding.status;
  return found;
}

Json to_json(const Report& report) {
  Json checks = Json::array();
  for (const Finding& finding : report.findings) {
    Json entry = Json::object();
    entry.update({{"id", finding.id},
                  {"subject", finding.subject},
                  {"status", to_text(finding.status)},
                  {"observed", finding.observed},
                  {"expected", finding.expected},
                  {"meaning", finding.meaning},
                  {"remedy", finding.remedy}});
    if (!finding.since.empty()) entry["since"] = finding.since;
    if (finding.acknowledged) entry["acknowledged"] = finding.acknowledgement;
    checks.push_back(std::move(entry));
  }
  Json result = Json::object();
  result.update({{"verdict", to_text(worst(report))}, {"checks", std::move(checks)}});
  return result;
}

}  // namespace fabric
