// SPDX-License-Identifier: Apache-2.0
// Node and Report -> families. Pure: what was not read has no series.
#pragma once

#include "counter/family.h"
#include "model/node.h"
#include "model/report.h"

namespace fabric {

// In the order of worth, so that a limit on the series costs the raw counters first: identity and link of each port, the
// agent and its settings, the checks, the counters with a common name, those under their drivers' own names.
void add_node(FamilySet& families, const Node& node, const Report& report);

// The parts.
void add_link(FamilySet& families, const Port& port);
void add_agent(FamilySet& families, const AgentState& agent);
void add_report(FamilySet& families, const Report& report);
void add_counters(FamilySet& families, const Port& port);
void add_raw_counters(FamilySet& families, const Port& port);

}  // namespace fabric
