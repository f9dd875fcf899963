// SPDX-License-Identifier: Apache-2.0
// Node and Report -> families. Pure: what was not read has no series.
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

// In the order of worth, so that a limit on the series costs the raw counters first: identity and link of each port,
// the agent and its settings, the checks, the counters with a common name, what is watched beside them, the counters
// under their drivers' own names; then the counters of virtual functions, subfunctions and representors.
void add_node(FamilySet& families, const Node& node, const Report& report, RawCounters raw = RawCounters::all);

// The parts. Of a bond's member: what it is, carrier, what its netdev counts, and what is watched beside that.
void add_link(FamilySet& families, const Port& port);
void add_agent(FamilySet& families, const AgentState& agent);
void add_report(FamilySet& families, const Report& report);
// Of each port that was watched: its diagnoses, or that there is none.
void add_diagnoses(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                   const Diagnoses& diagnoses);
// Of a priority on which the port has neither received nor sent a byte since it came up, what is zero is left out (on
// most ports five of the eight), and so are InfiniBand's error counters of an Ethernet port while they are zero.
void add_counters(FamilySet& families, const Port& port);
// `unnamed`: those that add_counters() has no common name for.
void add_raw_counters(FamilySet& families, const Port& port, RawCounters raw);

}  // namespace fabric
