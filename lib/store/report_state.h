// SPDX-License-Identifier: Apache-2.0
// The exporter's last report, for programs that need its verdict at once.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "model/report.h"

namespace fabric {

inline constexpr const char* kReportFile = "run/fabric-exporter/report.toml";
inline constexpr const char* kReportName = "report.toml";
// The exporter writes it every ten seconds; a device that hangs delays it by as much again.
inline constexpr double kReportAge = 30;

struct PublishedReport {
  Report report;       // without meaning and remedy; findings that are ok have neither subject nor text
  double updated = 0;  // seconds since boot
};

std::string report_toml(const PublishedReport& published);
// An Error has code EBADMSG, and the text says where it is wrong. Malformed findings count as unknown.
Result<PublishedReport> parse_report(std::string_view text, const std::string& name);
// nullopt: no file. ESTALE: its exporter is gone or hangs. The current time is proc/uptime below the root.
Result<std::optional<PublishedReport>> load_report(const Root& root);

// `directory`: the service's own, in which the file lies.
Result<void> save_report(const std::string& directory, const PublishedReport& published);

// Seconds since a file was `updated` (seconds since boot), 0 if the time is unknown. ESTALE: more than `most`.
Result<double> age_of(const Root& root, const char* file, double updated, double most);

}  // namespace fabric
