// SPDX-License-Identifier: Apache-2.0
// Manual pages that are written from tables.
#pragma once

#include <string>
#include <string_view>

namespace fabric::test {

// Protects minus signs and backslashes, and a control character at the start of a line.
std::string roff(std::string_view text);

// fabric-checks(7): every check with its texts and its rules.
std::string checks_manual();
// fabric-counters(7): every metric that a counter feeds, with its unit, its meaning, its class, and what it is made of
// for each vendor; then the counters without a common name.
std::string counters_manual();

}  // namespace fabric::test
