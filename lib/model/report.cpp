// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include <algorithm>

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
    entry.put("id", finding.id)
        .put("subject", finding.subject)
        .put("status", to_text(finding.status))
        .put("observed", finding.observed)
        .put("expected", finding.expected)
        .put("meaning", finding.meaning)
        .put("remedy", finding.remedy);
    if (!finding.since.empty()) entry.put("since", finding.since);
    if (finding.acknowledged) entry.put("acknowledged", finding.acknowledgement);
    checks.push(std::move(entry));
  }
  Json result = Json::object();
  result.put("verdict", to_text(worst(report))).put("checks", std::move(checks));
  return result;
}

}  // namespace fabric
