// SPDX-License-Identifier: Apache-2.0
// Metrics of counters. A counter that was not read has no series.
#pragma once

#include "metrics/family.h"
#include "node/node.h"
#include "policy/policy.h"

namespace fabric {

// Omits zero counters of idle priorities (mostly five of eight), and those of an InfiniBand link on an Ethernet port.
void add_counters(FamilySet& families, const Port& port, const Published& published = {});
// Counters under their drivers' names. RawCounters::unmapped: only those without a common name.
void add_raw_counters(FamilySet& families, const Port& port, RawCounters raw);
// Driver statistics (`ethtool -S`) that match the globs of [exporter] ethtool, under the drivers' own names. Adds up
// statistics of the same name on a port: drivers truncate names to 31 characters (ETH_GSTRING_LEN, linux/ethtool.h).
void add_ethtool(FamilySet& families, const Node& node, std::span<const std::string> globs);

}  // namespace fabric
