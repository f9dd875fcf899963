// SPDX-License-Identifier: Apache-2.0
// Text and JSON of the LLDP neighbors (pure).
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "ctl/verbs.h"
#include "model/node.h"
#include "model/policy.h"

namespace fabric::ctl {

// One row for each port and neighbor, then remarks on the source and on malformed frames.
std::string neighbors_text(const Options& options, const Node& node, const Policy* policy, const Output& output);
// {"source","why_none","ports":[{"port","netdev","listening","expected":[{"device","port","where"}],"neighbors":[...]}]}
Json neighbors_json(const Options& options, const Node& node, const Policy* policy);

}  // namespace fabric::ctl
