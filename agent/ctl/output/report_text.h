// SPDX-License-Identifier: Apache-2.0
// Text and JSON of reports, plans and ports (pure).
#pragma once

#include "base/json.h"
#include "ctl/machine.h"
#include "ctl/output/table.h"
#include "judge/report.h"

namespace fabric::ctl {

// The verdict and the counts, then each finding that is not ok, worst first, with evidence and fix; findings equal but
// for their subject are merged. `verbose` lists the good ones as well; `brief` leaves out meaning and fix.
std::string report_text(const Report& report, const std::string& hostname, bool verbose, const Output& output,
                        bool brief = false);
// The findings alone, as there.
std::string findings_text(const Report& report, const Output& output, bool brief = false);
// The line of a monitoring plugin: the first finding, how many more there are, and the remark in parentheses.
std::string brief_text(const Report& report, Status verdict, const std::string& remark = {});
// "Next: " and the command to type now; empty if nothing is wrong. `options`: " --root DIR", or empty.
std::string next_text(const Report& report, const std::string& options);

// One line for each reading that failed; empty if all succeeded.
std::string unseen_text(const Node& node, const Output& output);

struct ReportChange {
  std::string_view what;  // "raised", "cleared", "worse", "better", "acknowledged", "unacknowledged"
  Finding finding;        // now; if cleared, as it was
};

// New and changed findings first, then cleared ones, each in the order of its report. A changed text alone is not a
// change. With an empty `before` (the first round) every finding that is not ok is raised.
std::vector<ReportChange> changes_of(const Report& before, const Report& now);

// "2026-11-21T14:30:00Z raised critical loss mlx5_0/1: 50 packets out of sequence ..."
std::string change_text(const ReportChange& change, int64_t wall);
// {"time","change","id","subject","status","observed"}, one line.
std::string change_json(const ReportChange& change, int64_t wall);

struct PortText {
  std::string port, remark, text;  // " (unmanaged)"; lines
};
// Each text below the name of its port and the remark, ports with equal ones in one block.
std::string blocks_text(const std::vector<PortText>& ports, const Output& output);

// True if apply would write it, now or once the port is idle.
bool is_write(const Change& change);
// A diff by port, equal ports in one block; `all`: settings in sync as well.
std::string changes_text(const Changes& changes, bool all, const Output& output);
// [{"port","setting","outcome","from","to","disruptive","errno","detail"}]
Json changes_json(const Changes& changes);

}  // namespace fabric::ctl
