// SPDX-License-Identifier: Apache-2.0
// What stands in a FamilySet, as a test looks for it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/family.h"

namespace fabric::test {

// Labels::text() -> names and values, as they were before they were escaped.
std::vector<std::pair<std::string, std::string>> read_labels(std::string_view text);

// Series as text -> value: name,label=value,... Fails where one stands twice.
std::map<std::string, double> series(FamilySet& set);

}  // namespace fabric::test
