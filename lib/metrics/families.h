// SPDX-License-Identifier: Apache-2.0
// Node and Report -> metric families. Pure. A value that was not read has no series.
#pragma once

#include "judge/health.h"
#include "judge/report.h"
#include "metrics/family.h"
#include "node/burst.h"
#include "policy/policy.h"
#include "topology/built.h"

namespace fabric {

// Adds everything in order of importance, so that the series limit drops raw counters first: identity and link of each
// port, the agent and its settings, checks, counters with a common name, telemetry, counters under their drivers'
// names; then the counters of virtual functions, subfunctions and representors.
void add_node(FamilySet& families, const Node& node, const Report& report, const Published& published = {});

// The parts of add_node(). A bond's member has only its identity, carrier, netdev counters and telemetry.
void add_link(FamilySet& families, const Port& port);
void add_agent(FamilySet& families, const AgentState& agent);
// The subjects of a check that are ok share one series without a subject, unless the group "checks" is on. A finding
// whose subject is not a port has a series for each port at fault.
void add_report(FamilySet& families, const Report& report, const Published& published = {});
// The switch port at the other end of the cable (peer_of()), and rail, plane and leaf switch (rail_place()).
void add_neighbors(FamilySet& families, const Node& node, const Policy* policy,
                   const std::map<std::string, Rail>& rails = {});
// The share of each port's RDMA traffic that its counters cover, in the window of `watched` (by port id).
void add_observable(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                    const RulePolicy& rules);
// The diagnoses of each port in `watched`, or the culprit none if there is no diagnosis.
void add_diagnoses(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                   const Report& report);
// Omits zero counters of idle priorities (mostly five of eight), and those of an InfiniBand link on an Ethernet port.
void add_counters(FamilySet& families, const Port& port, const Published& published = {});
// Counters under their drivers' names. RawCounters::unmapped: only those without a common name.
void add_raw_counters(FamilySet& families, const Port& port, RawCounters raw);
// Driver statistics (`ethtool -S`) that match the globs of [exporter] ethtool, under the drivers' own names. Adds up
// statistics of the same name on a port: drivers truncate names to 31 characters (ETH_GSTRING_LEN, linux/ethtool.h).
void add_ethtool(FamilySet& families, const Node& node, std::span<const std::string> globs);

// The labels device and port: "mlx5_0", "1". For a bond's member "mlx5_bond_0", "1@ens1f0np0", as in Port::id().
Labels port_labels(const Port& port);
// Telemetry other than counters of every port and device of the node, in order of importance. Call it after
// add_counters(): a sum that add_counters() has added (link downs, FEC words) is not added again.
void add_telemetry(FamilySet& families, const Node& node, const Published& published = {});
// The number of findings that each rule has begun, so that increase() sees a fault that ends before the next scrape.
void add_events(FamilySet& families, const Health& health, const RulePolicy& rules = {});
// Value, phase and start of each rule that is not ok.
void add_health(FamilySet& families, const Health& health);
// 1 for each acknowledged finding.
void add_acknowledged(FamilySet& families, const Report& report);
// 1 for each suppressed finding, and the end of each suppression of the configuration.
void add_suppressed(FamilySet& families, const Report& report, const RulePolicy& rules);

// The samples of one port: the histogram of pause, and peaks; in the group "bursts" also load and events.
void add_bursts(FamilySet& families, const PortBursts& port, BurstRecord::Clock::time_point now,
                const Published& published = {});

}  // namespace fabric
