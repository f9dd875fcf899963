// SPDX-License-Identifier: Apache-2.0
// status and show: the ports, their settings and policy, and the agent's reports about them.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "ctl/output/terminal.h"
#include "node/node.h"
#include "policy/policy.h"
#include "setting/change.h"

namespace fabric::ctl {

// One row per port: state, rate, policy, in sync, repairs; then unmanaged ports, details and drift.
// `wall`: now, in seconds since 1970.
std::string status_text(const Node& node, const Policy* policy, const Plan& plan, int64_t wall, const Output& output);
Json status_json(const Node& node, const Policy* policy, const Plan& plan);

// Current and wanted settings, with ports of equal settings in one table. `plan` has the wanted values in the driver's
// form.
std::string show_text(const Node& node, const Policy* policy, const Plan& plan, const Output& output);

// One line for each unmanaged port, with the reason.
std::string unmanaged_text(const Node& node, const Policy& policy, const Output& output);

}  // namespace fabric::ctl
