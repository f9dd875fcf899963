// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/check_watch.h"

#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"

namespace fabric::ctl {
namespace {

const Finding* find(const Report& report, const Finding& wanted) {
  return find_where(report.findings, [&](const Finding& finding) {
    return finding.id == wanted.id && finding.subject == wanted.subject;
  });
}

bool is_bad(const Finding* finding) { return finding != nullptr && finding->status != Status::ok; }

}  // namespace

std::vector<ReportChange> changes_of(const Report& before, const Report& now) {
  std::vector<ReportChange> out;
  for (const Finding& finding : now.findings) {
    if (finding.status == Status::ok) continue;
    const Finding* had = find(before, finding);
    if (!is_bad(had)) out.push_back({"raised", finding});
    else if (had->status != finding.status)
      out.push_back({rank(finding.status) < rank(had->status) ? "worse" : "better", finding});
    else if (finding.acknowledged != had->acknowledged)
      out.push_back({finding.acknowledged ? "acknowledged" : "unacknowledged", finding});
  }
  for (const Finding& had : before.findings)
    if (had.status != Status::ok && !is_bad(find(now, had))) out.push_back({"cleared", had});
  return out;
}

std::string change_text(const ReportChange& change, int64_t wall) {
  const Finding& finding = change.finding;
  std::string text = time_text(wall) + " " + std::string(change.what) + " " + std::string(to_text(finding.status)) +
                     " " + finding.id + " " + finding.subject;
  if (change.what != "cleared") text += ": " + finding.observed;
  return text + (finding.acknowledged ? " (acknowledged " + finding.acknowledgement + ")\n" : "\n");
}

std::string change_json(const ReportChange& change, int64_t wall) {
  Json out = Json::object({{"time", time_text(wall)},
                           {"change", change.what},
                           {"id", change.finding.id},
                           {"subject", change.finding.subject}});
  out.update({{"status", to_text(change.what == "cleared" ? Status::ok : change.finding.status)},
              {"observed", change.finding.observed}});
  out["acknowledged"] = change.finding.acknowledged;
  return json_line(out);
}

}  // namespace fabric::ctl
