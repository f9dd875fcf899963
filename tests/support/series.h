// SPDX-License-Identifier: Apache-2.0
// The series of a FamilySet in the form that tests compare.
#pragma once

#include <map>
#include <string>

#include "metrics/family.h"
#include "model/policy.h"

namespace fabric::test {

// Everything that can be published.
inline const Published kEverything{RawCounters::all, {kValues<SeriesGroup>.begin(), kValues<SeriesGroup>.end()}};

// Series as text -> value: name,label=value,... Fails on a duplicate; leaves histograms out.
std::map<std::string, double> series(const FamilySet& set);

}  // namespace fabric::test
