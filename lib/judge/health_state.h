// SPDX-License-Identifier: Apache-2.0
// Files of findings: the health states, which the exporter keeps over a restart; its last report, for programs that
// need its verdict at once; and the acknowledgements, which `fabric-agentctl ack` writes and everybody may read. Files
// are written whole and renamed into place. An Error of parse_...() has code EBADMSG, and its text names the place.
#pragma once

#include "base/result.h"
#include "judge/health.h"
#include "kernel/capture/root.h"

namespace fabric {

inline constexpr const char* kAckFile = "var/lib/fabric-agent/acks.json";

std::string acks_text(const std::vector<Ack>& acks);
Result<std::vector<Ack>> parse_acks(std::string_view text, const std::string& name);

// Empty if there is no file.
Result<std::vector<Ack>> load_acks(const Root& root);
// `directory`: the root below which the file lies.
Result<void> save_acks(const std::string& directory, const std::vector<Ack>& acks);

inline constexpr const char* kHealthFile = "run/fabric-exporter/health.json";
inline constexpr const char* kHealthName = "health.json";
inline constexpr const char* kSpentName = "acks.json";  // acknowledgements that are over, in the same form

// Omits rules that are ok with an empty window.
std::string health_text(const HealthMemory& memory);
// Omits unknown rules.
Result<HealthMemory> parse_health(std::string_view text, const std::string& name);

// The last state that the exporter wrote. nullopt: no file. ESTALE: the file is older than a minute, so the exporter is
// gone or hangs.
Result<std::optional<HealthMemory>> load_health(const Root& root);

inline constexpr const char* kReportFile = "run/fabric-exporter/report.json";
inline constexpr const char* kReportName = "report.json";
// The exporter writes it every ten seconds; a device that hangs delays it by as much again.
inline constexpr double kReportAge = 30;

struct PublishedReport {
  Report report;  // without meaning and remedy; findings that are ok have neither subject nor text, except settings
                  // that are unverified or differ in audit mode
  double updated = 0;  // seconds since boot
};

std::string published_text(const PublishedReport& published);
// A finding without a known status makes the file invalid.
Result<PublishedReport> parse_report(std::string_view text, const std::string& name);
// nullopt: no file. ESTALE: the exporter is gone or hangs. The current time is proc/uptime below the root.
Result<std::optional<PublishedReport>> load_report(const Root& root);

// `directory`: the service's own, in which the file lies.
Result<void> save_report(const std::string& directory, const PublishedReport& published);

}  // namespace fabric
