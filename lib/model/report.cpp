// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include <algorithm>

#include "base/json.h"

namespace fabric {

std::string_view to_text(Status value) {
  switch (value) {
    case Status::ok: return "ok";
    case Status::warning: return "warning";
    case Status::critical: return "critical";
    case Status::unknown: break;
  }
  return "unknown";
}

int rank(Status value) {
  switch (value) {
    case Status::critical: return 0;
    case Status::warning: return 1;
    case Status::unknown: return 2;
    case Status::ok: break;
  }
  return 3;
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
