// SPDX-License-Identifier: Apache-2.0
// Node and Report -> metric families. Pure. A value that was not read has no series.
#pragma once

#include "judge/report.h"
#include "metrics/family.h"
#include "node/node.h"
#include "node/signals.h"
#include "policy/policy.h"

namespace fabric {

// Adds everything in order of importance, so that the series limit drops raw counters first: identity and link of each
// port, the agent and its settings, checks, counters with a common name, telemetry, counters under their drivers'
// names; then the counters of virtual functions, subfunctions and representors.
void add_node(FamilySet& families, const Node& node, const Report& report, const Published& published = {});

// The parts of add_node() here; the others are in counters.h and telemetry.h. A bond's member has only its identity,
// carrier, netdev counters and telemetry.
void add_link(FamilySet& families, const Port& port);
void add_agent(FamilySet& families, const AgentState& agent);
// The subjects of a check that are ok share one series without a subject, unless the group "checks" is on. A finding
// whose subject is not a port has a series for each port at fault.
void add_report(FamilySet& families, const Report& report, const Published& published);
// The share of each port's RDMA traffic that its counters cover, in the window of `watched` (by port id).
void add_observable(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                    const RulePolicy& rules);
// The diagnoses of each port in `watched`, or the culprit none if there is no diagnosis.
void add_diagnoses(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                   const Report& report);

}  // namespace fabric
