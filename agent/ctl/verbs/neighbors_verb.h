// SPDX-License-Identifier: Apache-2.0
// neighbors: the LLDP neighbor of each port, and the expectation of the cabling plan.
#pragma once

#include <string>

#include "ctl/options.h"
#include "ctl/output/terminal.h"
#include "node/node.h"
#include "policy/policy.h"

namespace fabric::ctl {

// One row for each port and neighbor, then remarks on the source and on malformed frames.
std::string neighbors_table(const Options& options, const Node& node, const Policy* policy, const Output& output);

}  // namespace fabric::ctl
