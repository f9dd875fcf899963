// SPDX-License-Identifier: Apache-2.0
#include "judge/report.h"

#include <algorithm>

#include "base/json.h"
#include "base/parse.h"
#include "node/node.h"
#include "setting/change.h"

namespace fabric {

bool is_unverified(const Finding& finding) { return finding.outcome == to_text(Outcome::unverified); }

bool is_audited(const Finding& finding) {
  return finding.status == Status::ok && !finding.outcome.empty() && finding.outcome != to_text(Outcome::in_sync) &&
         !is_unverified(finding);
}

bool is_silenced(const Finding& finding) { return finding.acknowledged || finding.suppressed; }

bool limits_verdict(const Finding& finding) { return finding.unjudged && !is_silenced(finding); }

bool is_listed(const Finding& finding) {
  return finding.status != Status::ok || finding.unjudged || is_audited(finding);
}

Status worst(const Report& report) {
  Status found = Status::ok;
  for (const Finding& finding : report.findings)
    if (!is_silenced(finding) && rank(finding.status) < rank(found)) found = finding.status;
  return found;
}

static Json certainty_json(const Finding& finding) {
  if (!finding.certainty) return nullptr;
  return to_text(*finding.certainty);
}

Json to_json(const Report& report) {
  Json checks = Json::array(), not_judged = Json::array();
  for (const Finding& finding : report.findings) {
    Json entry = Json::object({{"id", finding.id},
                               {"subject", finding.subject},
                               {"status", to_text(finding.status)},
                               {"observed", finding.observed},
                               {"expected", finding.expected},
                               {"meaning", finding.meaning},
                               {"remedy", finding.remedy}});
    if (limits_verdict(finding))
      not_judged.push_back(
          Json::object({{"id", finding.id}, {"subject", finding.subject}, {"observed", finding.observed}}));
    if (finding.unjudged) entry["judged"] = false;
    if (!finding.outcome.empty()) entry["outcome"] = finding.outcome;
    if (!finding.since.empty()) entry["since"] = finding.since;
    if (finding.acknowledged) entry["acknowledged"] = finding.acknowledgement;
    if (finding.suppressed) entry["suppressed"] = finding.suppression;
    if (finding.culprit) {
      entry["culprit"] = to_text(*finding.culprit);
      entry["certainty"] = certainty_json(finding);
      entry["evidence"] = finding.evidence;
      entry["next"] = finding.next;
    }
    checks.push_back(std::move(entry));
  }
  return Json::object(
      {{"verdict", to_text(worst(report))}, {"checks", std::move(checks)}, {"not_judged", std::move(not_judged)}});
}

namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!contains(list, text)) list.push_back(text);
}

bool is_same_fault(const Finding& a, const Finding& b) {
  return a.status == b.status && a.observed == b.observed && a.expected == b.expected && a.meaning == b.meaning &&
         a.remedy == b.remedy && a.acknowledgement == b.acknowledgement && a.suppression == b.suppression &&
         a.since == b.since && a.outcome == b.outcome && a.unjudged == b.unjudged;
}

}  // namespace

// Merges the subjects of one check, then the checks with the same subjects.
std::vector<FindingGroup> group_findings(const Report& report) {
  std::vector<FindingGroup> checks, groups;
  for (const Finding& finding : report.findings) {
    if (!is_listed(finding)) continue;
    auto same = std::ranges::find_if(checks, [&](const FindingGroup& group) {
      return group.ids.front() == finding.id && is_same_fault(*group.finding, finding);
    });
    if (same == checks.end()) same = checks.insert(checks.end(), FindingGroup{&finding, {finding.id}, {}});
    add_once(same->subjects, finding.subject);
  }
  for (FindingGroup& check : checks) {
    auto same = std::ranges::find_if(groups, [&](const FindingGroup& group) {
      return group.subjects == check.subjects && is_same_fault(*group.finding, *check.finding);
    });
    if (same == groups.end()) groups.push_back(std::move(check));
    else add_once(same->ids, check.ids.front());
  }
  return groups;
}

size_t count_findings(const Report& report, Status status) {
  return static_cast<size_t>(std::ranges::count_if(
      report.findings, [&](const Finding& finding) { return finding.status == status && !is_silenced(finding); }));
}

std::string counts_text(const Report& report, bool with_ok) {
  std::string text;
  const auto add = [&](size_t count, std::string_view word) {
    if (count > 0) append_item(text, std::to_string(count) + " " + std::string(word));
  };
  for (const Status status : {Status::critical, Status::warning, Status::unknown})
    add(count_findings(report, status), to_text(status));
  size_t ok = 0, unverified = 0, audited = 0, unjudged = 0;
  for (const Finding& finding : report.findings) {
    if (finding.status != Status::ok || is_silenced(finding)) continue;
    if (is_unverified(finding)) ++unverified;
    else if (is_audited(finding)) ++audited;
    else if (finding.unjudged) ++unjudged;
    else ++ok;
  }
  if (with_ok) add(ok, to_text(Status::ok));
  add(unverified, to_text(Outcome::unverified));
  add(audited, "not enforced (audit mode)");
  add(unjudged, "not judged");
  add(static_cast<size_t>(std::ranges::count(report.findings, true, &Finding::acknowledged)), "acknowledged");
  add(static_cast<size_t>(std::ranges::count(report.findings, true, &Finding::suppressed)), "suppressed");
  return text;
}

std::vector<std::string> unseen_lines(const Node& node) {
  std::vector<std::string> lines = node.unseen;
  for (const Port& port : node.ports)
    for (const std::string& reason : port.unread) add_once(lines, port.id() + ": " + reason);
  return lines;
}

Json causes_json(const Report& report) {
  Json out = Json::array();
  for (const Finding& each : report.findings)
    if (each.culprit)
      out.push_back(Json::object({{"port", each.subject},
                                  {"rule", each.id},
                                  {"culprit", to_text(*each.culprit)},
                                  {"status", to_text(each.status)},
                                  {"certainty", certainty_json(each)},
                                  {"conclusion", each.meaning},
                                  {"evidence", each.evidence},
                                  {"next", each.next}}));
  return out;
}

}  // namespace fabric
