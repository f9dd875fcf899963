// SPDX-License-Identifier: Apache-2.0
// Host, cable or network: finds the rule that explains the symptoms of a port, by its counters in a window, its
// settings, its PCIe slot and its switch. Pure.
#pragma once

#include "judge/rule.h"

namespace fabric {

// The causes of every port with symptoms in the window of `view.signals`, in the order of the node; empty without
// signals. The cause of a port that is down is part of the finding of port-state. Symptoms that no rule explains with
// enough evidence are reported as "not-enough-evidence", with the values to collect.
Findings diagnose(const View& view);

// The rules with a cause, in the order in which they are asked: the most specific first.
std::span<const Rule* const> cause_rules();

// The place of a cause in the order of cause_rules(), for sorting.
size_t rank_of_cause(std::string_view id);

// The words by which the system of a switch is recognized in its LLDP description.
std::vector<std::string_view> switch_systems();

}  // namespace fabric
