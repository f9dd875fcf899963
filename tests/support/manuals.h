// SPDX-License-Identifier: Apache-2.0
// Manual pages that are generated from tables.
#pragma once

#include <string>
#include <string_view>

namespace fabric::test {

// Escapes minus signs, backslashes, and a control character at the start of a line.
std::string roff(std::string_view text);

// fabric-checks(7): every check with its texts and its rules.
std::string checks_manual();
// fabric-counters(7): every metric that is computed from counters, with its unit, meaning and class, and its counters
// for each vendor; then the counters without a common name.
std::string counters_manual();

}  // namespace fabric::test
