// SPDX-License-Identifier: Apache-2.0
// One check, one file, one line in the table: rows_*.cpp and check.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/change.h"
#include "model/health.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/report.h"
#include "model/signals.h"

namespace fabric {

// All that a check may look at. `before` is an earlier snapshot of the same machine, or null.
struct View {
  const Node& now;
  const Node* before = nullptr;
  const Policy* policy = nullptr;  // null: no configuration could be read
  // Port id -> what a dry-run qos::reconcile says of each setting that the policy wants. A port without an entry
  // could not be compared.
  const std::map<std::string, Changes>* plan = nullptr;
  // Port id -> what it did between `before` and `now`, or over the window of whoever asks; null: there is only one
  // reading.
  const std::map<std::string, Signals>* signals = nullptr;
  // What has been seen over time, by whoever watches; null: nobody does.
  const Health* health = nullptr;
  std::string no_policy;  // why `policy` is null: "/etc/...: No such file or directory"
};

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
