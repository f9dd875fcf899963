// SPDX-License-Identifier: Apache-2.0
// How the other ends of the cables are shown. Pure.
#pragma once

#include <string>

#include "base/json.h"
#include "ctl/verbs.h"
#include "model/node.h"
#include "model/policy.h"

namespace fabric::ctl {

// One row for each port and neighbour: PORT NETDEV SWITCH SWITCH-PORT PFC MTU AGE SOURCE EXPECTED; then who was asked,
// and what could not be known.
std::string neighbors_text(const Options& options, const Node& node, const Policy* policy, const Output& output);
// {"source","why_none","ports":[{"port","netdev","listening","expected":[{"device","port","where"}],"neighbors":[...]}]}
Json neighbors_json(const Options& options, const Node& node, const Policy* policy);

}  // namespace fabric::ctl
