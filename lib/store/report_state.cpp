// SPDX-License-Identifier: Apache-2.0
#include "store/report_state.h"

#include <algorithm>

#include "store/files.h"
#include "store/optics_state.h"
#include "store/record.h"

namespace fabric {
namespace {

constexpr int64_t kMostOk = 10'000;  // of all checks: a node of 64 ports has some 3,000

// One that cannot be read is not ok.
struct StoredFinding : Finding {
  StoredFinding() { status = Status::unknown; }
  StoredFinding(Finding finding) : Finding(std::move(finding)) {}  // NOLINT: implicit by design
};

struct ReportFile {
  double updated = 0;
  std::map<std::string, int64_t> ok;
  std::vector<StoredFinding> findings;
};

}  // namespace

template <>
inline constexpr std::tuple kFields<StoredFinding>{Field{"id", &Finding::id},
                                                   Field{"subject", &Finding::subject},
                                                   Field{"status", &Finding::status},
                                                   Field{"observed", &Finding::observed},
                                                   Field{"expected", &Finding::expected},
                                                   Field{"acknowledged", &Finding::acknowledged}};
template <>
inline constexpr std::tuple kFields<ReportFile>{
    Field{"updated", &ReportFile::updated, {.required = true}},
    Field{"ok", &ReportFile::ok, {.strict = true, .min = 0, .max = kMostOk}},
    Field{"finding", &ReportFile::findings, {.strict = true}}};

std::string report_toml(const PublishedReport& published) {
  ReportFile file{published.updated, {}, {}};
  for (const Finding& finding : published.report.findings)
    if (finding.status == Status::ok) ++file.ok[finding.id];
    else file.findings.push_back(finding);
  return document_toml(
      "# Written by fabric-exporter; see fabric-exporter(8). Seconds since boot; subjects that are ok.\n", file);
}

Result<PublishedReport> parse_report(std::string_view text, const std::string& name) {
  auto file = parse_record<ReportFile>(text, name);
  if (!file) return file.error();
  PublishedReport out{{}, file->updated};
  auto& findings = out.report.findings;
  findings.assign(file->findings.begin(), file->findings.end());
  std::ranges::stable_sort(findings, {}, [](const Finding& finding) { return rank(finding.status); });
  int64_t left = kMostOk;
  for (const auto& [id, count] : file->ok) {
    left -= count;
    if (left < 0) return error(EBADMSG, name + ": too many subjects");
    Finding good;
    good.id = id;
    findings.insert(findings.end(), static_cast<size_t>(count), good);
  }
  return out;
}

Result<std::optional<PublishedReport>> load_report(const Root& root) {
  auto published = parse_file(root.read_foreign(kReportFile), kReportFile, parse_report);
  if (!published || !*published) return published;
  if (auto age = age_of(root, kReportFile, (*published)->updated, kReportAge); !age) return age.error();
  return published;
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
