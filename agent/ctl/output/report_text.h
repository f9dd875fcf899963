// SPDX-License-Identifier: Apache-2.0
// Text and JSON of reports, plans and ports (pure).
#pragma once

#include "base/json.h"
#include "ctl/output/table.h"
#include "judge/report.h"
#include "node/node.h"
#include "setting/change.h"

namespace fabric::ctl {

// The verdict and the counts.
std::string headline_text(const Report& report, const std::string& hostname, const Output& output);
// headline_text(), then each finding that is not ok, worst first, with evidence and fix; findings that
// differ only in their subject are merged. `verbose` also lists findings that are ok; `brief` leaves out meaning and
// fix.
std::string report_text(const Report& report, const std::string& hostname, bool verbose, const Output& output,
                        bool brief = false);
// The text without the findings that are ok.
std::string findings_text(const Report& report, const Output& output, bool brief = false);
// The line of a monitoring plugin: the first finding, the number of other findings, and the remark in parentheses.
std::string brief_text(const Report& report, Status verdict, const std::string& remark = {});
// "Next: " and the command to run next; empty if nothing is to be done. `can_plan`: plan has a valid configuration and
// can read the settings. `options`: " --root DIR --config FILE", or empty.
std::string next_text(const Report& report, const Node& node, bool can_plan, const std::string& options);

// One line for each reading that failed; empty if all succeeded.
std::string unseen_text(const Node& node, const Output& output);

struct ReportChange {
  enum class Kind : uint8_t { raised, cleared, worse, better, acknowledged, unacknowledged } kind;
  Finding finding;  // the current finding; if cleared, the previous one
};

}  // namespace fabric::ctl

template <>
inline constexpr std::string_view fabric::kEnumWords<fabric::ctl::ReportChange::Kind>[] {
  "raised", "cleared", "worse", "better", "acknowledged", "unacknowledged"
};

namespace fabric::ctl {

// New and changed findings, then cleared ones, each in the order of its report. A finding that differs only in its text
// has not changed. With an empty `before` (the first round) every finding that is not ok is raised.
std::vector<ReportChange> changes_of(const Report& before, const Report& now);

// "2026-11-21T14:30:00Z raised critical loss mlx5_0/1: 50 packets out of sequence ..."
std::string change_text(const ReportChange& change, int64_t wall);
// {"time","change","id","subject","status","observed"}, one line.
std::string change_json(const ReportChange& change, int64_t wall);

struct PortText {
  std::string port;
  std::string remark;  // " (unmanaged)"
  std::string text;    // lines
};
// Each text below the name of its port and the remark; ports with equal remark and text share one block.
std::string blocks_text(const std::vector<PortText>& ports, const Output& output);

// True if apply would write the setting, now or once the port is idle.
bool is_write(const Change& change);
// A diff by port, with equal ports in one block; `all`: including settings in sync. `ports`: those that details name.
std::string changes_text(const Changes& changes, const std::vector<Port>& ports, bool all, const Output& output);
// [{"port","setting","outcome","from","to","disruptive","errno","detail"}]
Json changes_json(const Changes& changes);

}  // namespace fabric::ctl
