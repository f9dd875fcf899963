// SPDX-License-Identifier: Apache-2.0
// Changes between two reports.
#pragma once

#include "model/report.h"

namespace fabric::ctl {

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

}  // namespace fabric::ctl
