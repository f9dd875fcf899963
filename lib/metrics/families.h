// SPDX-License-Identifier: Apache-2.0
// Node and Report -> families. Pure. A value that was not read has no series.
#pragma once

#include <map>
#include <string>

#include "metrics/family.h"
#include "model/diagnosis.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/report.h"
#include "model/signals.h"

namespace fabric {

// Adds everything in order of importance, so that the series limit drops raw counters first: identity and link of each
// port, the agent and its settings, checks, counters with a common name, telemetry, counters under their drivers'
// names; then the counters of virtual functions, subfunctions and representors.
void add_node(FamilySet& families, const Node& node, const Report& report, const Published& published = {});

// The parts. A bond's member has only its identity, carrier, netdev counters and telemetry.
void add_link(FamilySet& families, const Port& port);
void add_agent(FamilySet& families, const AgentState& agent);
// Of a check, the subjects that are ok have one series together, without a subject, unless the group "checks" is on.
void add_report(FamilySet& families, const Report& report, const Published& published = {});
// The switch port at the other end of each port's cable: as LLDP tells, else as the site's cable plan does. Absent:
// neither.
void add_neighbors(FamilySet& families, const Node& node, const Policy* policy);
// The diagnoses of each port in `watched`; culprit none if it has none.
void add_diagnoses(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                   const Diagnoses& diagnoses);
// Omits zero counters of idle priorities (on most ports five of eight), and zero InfiniBand link counters of an
// Ethernet port.
void add_counters(FamilySet& families, const Port& port, const Published& published = {});
// RawCounters::unmapped: only those without a common name.
void add_raw_counters(FamilySet& families, const Port& port, RawCounters raw);

}  // namespace fabric
