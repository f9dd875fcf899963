// SPDX-License-Identifier: Apache-2.0
// One check, one file, one line in the table: rows_*.cpp and check.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"
#include "model/view.h"

namespace fabric {

struct Check {
  std::string_view id;        // "pfc-and-pause": stable, used by --only, explain, metrics
  std::string_view group;     // "link", "settings", "topology", "network", ...; --only takes it as well
  std::string_view question;  // one line: what it asks
  std::string_view runbook;   // what a finding means and what to do, for `explain`
  // Pure; appends at most one finding per subject, without id. A subject that the question does not fit (an InfiniBand
  // port asked for its GIDs) gets none.
  void (*ask)(const View& view, std::vector<Finding>& findings);
};

std::span<const Check> checks();

// Null when there is none of that id.
const Check* find_check(std::string_view id);

// Does `name` (an id or a group) name any check?
bool names_check(std::string_view name);

// The checks named by id or group, all when `only` is empty; worst first, then in table order.
Report run_checks(const View& view, std::span<const std::string> only = {});

}  // namespace fabric
