// SPDX-License-Identifier: Apache-2.0
// The findings of the rules: source of table, exit code, JSON, journal and metric.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/status.h"
#include "judge/fix.h"
#include "setting/change.h"

namespace fabric {

struct Node;

enum class Culprit : uint8_t {
  none,     // no fault
  host,     // this host: its settings, slot, memory, CPU or application
  cable,    // cable, connector or module of this link
  network,  // switches and their settings, or traffic of others
  peer,     // the host at the far end of the connections, or the device at the far end of the cable
  unknown,  // there are symptoms, but the evidence does not identify a cause
};
template <>
inline constexpr std::string_view kEnumWords<Culprit>[] { "none", "host", "cable", "network", "peer", "unknown" };

// How far the evidence of a cause goes.
enum class Certainty : uint8_t {
  certain,  // it excludes other causes
  likely,   // another cause is possible; the steps of the finding contain the measurement that decides
};
template <>
inline constexpr std::string_view kEnumWords<Certainty>[] { "certain", "likely" };

// (id, subject) is unique in a report: they are labels of a metric.
struct Finding {
  std::string id;       // of the rule: "pfc"
  std::string subject;  // "mlx5_0/1", "GPU3", kHostSubject
  Status status = Status::ok;
  std::string observed;
  std::string expected;
  std::string meaning;               // why it matters; empty if ok
  std::string remedy{};              // of `fix`; empty if ok
  std::string since{};               // RFC 3339; empty: unknown
  std::optional<Outcome> outcome{};  // of a setting; nullopt: any other finding
  bool acknowledged = false;         // shown, but does not count for the verdict
  std::string acknowledgement{};     // by whom, until when, why
  bool suppressed = false;           // the same, by [rules.ID] of the configuration, on every node that has it
  std::string suppression{};         // until when, why
  // `observed` cannot be judged from here. The finding is ok for the verdict, which is shown with it.
  bool unjudged = false;
  // The names of the subject that its texts may contain: netdev, PCI address, port, RDMA device; each may be empty.
  // Findings that differ only in them are one in a text. Empty: no port.
  std::vector<std::string> names{};
  // Further names in its texts by which findings of the same fault differ: "GPU0 and mlx5_0" of a switch port.
  std::string about{};
  // The ports at fault, if the subject is not a port: the planes that a GPU has lost. Alerts relate them by their
  // switch.
  std::vector<std::string> ports{};

  // The cause of symptoms of a port; nullopt: any other finding.
  std::optional<Culprit> culprit{};
  std::optional<Certainty> certainty{};  // nullopt: no cause, or Culprit::unknown
  std::vector<std::string> evidence{};   // of a cause, one line each; `observed` joins them, unless it is also a check
  std::vector<std::string> next{};       // of a cause: the lines of `fix`; `remedy` joins them
  // The steps as the rules write them: one entry; a cause has one for each line, actions or values to collect. remedy.h
  // makes `remedy` and `next` of it.
  std::vector<Fix> fix{};
};
using Findings = std::vector<Finding>;

// A setting that matches the policy, or was never written, and whose reading proves nothing.
bool is_unverified(const Finding& finding);
// A setting that differs in audit mode: ok for every verdict, metric and alert, and listed with what enforcing it would
// write.
bool is_audited(const Finding& finding);

// Whether a report shows the finding: it is not ok, or it limits the verdict, or it is a setting that audit mode
// leaves.
bool is_listed(const Finding& finding);
// Whether it is shown and does not count for the verdict: acknowledged or suppressed.
bool is_silenced(const Finding& finding);
// Whether something was observed. If not, `observed` is "-".
inline bool is_observed(const Finding& finding) { return finding.observed != "-"; }
// Its status in one or two words: "critical", "not judged", "audit" of is_audited().
std::string_view status_words(const Finding& finding);
// Whether it limits the verdict: Finding::unjudged, not silenced.
bool limits_verdict(const Finding& finding);

struct Report {
  Findings findings;
};

// The worst status by rank(). An empty report is ok; silenced findings count as ok.
Status worst(const Report& report);

// {"verdict": "critical", "checks": [{"id","subject","status","observed","expected","meaning","remedy"}],
//  "not_judged": [{"id","subject","observed"}]}, with "since", "acknowledged" and "suppressed" if known, and "judged"
//  if false; a cause also has "culprit", "certainty" ("certain", "likely" or null), "evidence" and "next". A contract
//  with scripts:
// members are added, never renamed.
Json to_json(const Report& report);

// The causes alone, in the form of `diagnose --json` and /metrics:
// [{"port","rule","culprit","status","certainty","conclusion","evidence":[],"next":[]}]
Json causes_json(const Report& report);

// The text with a mark in place of each of the names, as whole words: texts that differ only in them become equal.
std::string masked(std::string text, const std::vector<std::string>& names);

// Findings with the same meaning and the same fix, but for the names of their subjects: each id applies to each
// subject.
struct FindingGroup {
  const Finding* finding = nullptr;  // the first; points into the report
  std::vector<std::string> ids, subjects;
  std::string expected{};  // of the first; empty: no subject could be read, and their expected values differ
  // The observation of each subject and its start, "mlx5_0/1: 12 drops, since TIME"; empty: all have that of the first.
  std::vector<std::string> observed{};
  // The netdevs, addresses and Finding::about of the other subjects: the texts have those of the first.
  std::vector<std::string> likewise{};
};
// The groups of the findings that are listed, in the report's order: those that are not ok come first. The silenced
// ones are the last.
std::vector<FindingGroup> group_findings(const Report& report);

// Counts the findings of this status that are not silenced.
size_t count_findings(const Report& report, Status status);
// "3 critical, 1 warning, 192 ok, 2 unverified, 1 not judged, 1 acknowledged, 1 suppressed"
std::string counts_text(const Report& report, bool with_ok);

// One line for each reading that failed: "mlx5_2/1: ethtool statistics: Operation not permitted (EPERM)".
std::vector<std::string> unseen_lines(const Node& node);
// unseen_lines() for a text: ports or devices whose reasons differ only in their names share a line.
struct UnseenLine {
  std::string reason;
  std::vector<std::string> subjects;  // ports, or the devices that reasons of the node name; empty: of neither
};
std::vector<UnseenLine> merged_unseen(const Node& node);

}  // namespace fabric
