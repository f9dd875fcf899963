// SPDX-License-Identifier: Apache-2.0
#include "store/report_state.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/parse.h"
#include "store/files.h"
#include "store/optics_state.h"
#include "store/toml_value.h"

namespace fabric {
namespace {

constexpr int64_t kMostOk = 10'000;  // of all checks: a node of 64 ports has some 3,000

Status status_of(std::string_view text) {
  for (const Status status : {Status::ok, Status::warning, Status::critical})
    if (text == to_text(status)) return status;
  return Status::unknown;
}

Finding finding_of(const toml::node& node) {
  Finding out;
  out.status = Status::unknown;
  const auto* table = node.as_table();
  if (table == nullptr) return out;
  out.id = clean_text_at(*table, "id");
  out.subject = clean_text_at(*table, "subject");
  out.status = status_of(text_at(*table, "status"));
  out.observed = clean_text_at(*table, "observed");
  out.expected = clean_text_at(*table, "expected");
  out.acknowledged = flag_at(*table, "acknowledged");
  return out;
}

}  // namespace

std::string report_toml(const PublishedReport& published) {
  std::map<std::string, size_t> ok;
  std::string findings;
  for (const Finding& finding : published.report.findings) {
    if (finding.status == Status::ok) {
      ++ok[finding.id];
      continue;
    }
    findings += "\n[[finding]]\n";
    for (const auto& [key, text] : {std::pair("id", finding.id), std::pair("subject", finding.subject),
                                    std::pair("status", std::string(to_text(finding.status))),
                                    std::pair("observed", finding.observed), std::pair("expected", finding.expected)})
      findings += std::string(key) + " = " + toml_string(text) + "\n";
    if (finding.acknowledged) findings += "acknowledged = true\n";
  }
  char updated[40];
  std::snprintf(updated, sizeof updated, "%.2f", published.updated);
  std::string out = "# Written by fabric-exporter; see fabric-exporter(8). Seconds since boot; subjects that are ok.\n";
  out.append("updated = ").append(updated).append("\n\n[ok]\n");
  for (const auto& [id, count] : ok) out += toml_string(id) + " = " + std::to_string(count) + "\n";
  return out + findings;
}

Result<PublishedReport> parse_report(std::string_view text, const std::string& name) {
  const auto table = parse_state(text, name);
  if (!table) return table.error();
  const auto updated = (*table)["updated"].value<double>();
  if (!updated || !std::isfinite(*updated)) return error(EBADMSG, name + ":1:1: no time in it");
  PublishedReport out{{}, *updated};
  each_of(*table, "finding", [&](const toml::node& node) { out.report.findings.push_back(finding_of(node)); });
  std::ranges::stable_sort(out.report.findings,
                           [](const Finding& a, const Finding& b) { return rank(a.status) < rank(b.status); });
  int64_t left = kMostOk;
  if (const auto* ok = table_at(*table, "ok"))
    for (auto&& [key, node] : *ok) {
      int64_t count = 0;
      if (auto problem = read_integer(node, 0, left, count)) return corrupt(name, problem->at, problem->what);
      left -= count;
      Finding good;
      good.id = clean_text(key.str());
      out.report.findings.insert(out.report.findings.end(), static_cast<size_t>(count), good);
    }
  return out;
}

Result<std::optional<PublishedReport>> load_report(const Root& root) {
  auto text = root.read_foreign(kReportFile);
  if (!text && text.error().code == ENOENT) return std::optional<PublishedReport>{};
  if (!text) return text.error();
  auto published = parse_report(*text, std::string("/") + kReportFile);
  if (!published) return published.error();
  if (auto age = age_of(root, kReportFile, published->updated, kReportAge); !age) return age.error();
  return std::optional(std::move(*published));
}

Result<void> save_report(const std::string& directory, const PublishedReport& published) {
  auto saved = replace_file(directory, kReportName, report_toml(published));
  return saved ? saved : error(saved.error().code, directory + saved.error().what);
}

Result<double> age_of(const Root& root, const char* file, double updated, double most) {
  const double age = state::uptime(root).value_or(updated) - updated;
  if (age <= most) return age;
  return error(ESTALE, std::string("/") + file + ": written " + std::to_string(static_cast<int64_t>(age)) +
                           " s ago: fabric-exporter is gone or hangs");
}

}  // namespace fabric
