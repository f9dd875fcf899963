// SPDX-License-Identifier: Apache-2.0
// The series of a FamilySet in the form that tests compare.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "metrics/family.h"
#include "model/policy.h"

namespace fabric::test {

// Everything that can be published.
inline const Published kEverything{RawCounters::all, {kValues<SeriesGroup>.begin(), kValues<SeriesGroup>.end()}};

// Series as text -> value: name,label=value,...
using Series = std::map<std::string, double>;
// Fails on a duplicate and on two families of one name; leaves histograms out.
Series series(const FamilySet& set);
// What `add` puts into a set, none of it twice.
Series series_of(const std::function<void(FamilySet& set)>& add);

}  // namespace fabric::test
