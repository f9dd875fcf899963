// SPDX-License-Identifier: Apache-2.0
// How reports, plans and ports are shown. Pure: what is printed follows from the arguments alone.
#pragma once

#include <string>

#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/world.h"
#include "model/change.h"
#include "model/node.h"
#include "model/report.h"

namespace fabric::ctl {

// The verdict, then each finding that is not ok, worst first, with evidence, meaning and remedy; findings that differ
// in their subject only stand together. `verbose` lists the good ones as well; `brief` tells what was observed alone.
std::string report_text(const Report& report, const std::string& hostname, bool verbose, const Output& output,
                        bool brief = false);

// What this caller could not see, one line each, or nothing when all was readable.
std::string unseen_text(const Node& node);
Json unseen_json(const Node& node);

// Is it a write that apply would do, now or when the port is idle?
bool is_write(const Change& change);
// A table of changes; `all`: those that are in sync as well.
std::string changes_text(const Changes& changes, bool all, const Output& output);
// [{"port","setting","outcome","from","to","disruptive","errno","detail"}]
Json changes_json(const Changes& changes);

// One line for each port whose settings nobody keeps: why.
std::string left_alone_text(const Node& node, const Policy& policy);

// One row per port: state, rate, policy, in sync, repairs.
std::string status_text(const Node& node, const Policy* policy, const Plan& plan, const Output& output);
Json status_json(const Node& node, const Policy* policy, const Plan& plan);
// Settings as read beside wanted. `plan` gives the wanted value as the driver will show it.
std::string show_text(const Node& node, const Policy* policy, const Plan& plan, const Output& output);
Json show_json(const Node& node, const Policy* policy);

}  // namespace fabric::ctl
