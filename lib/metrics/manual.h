// SPDX-License-Identifier: Apache-2.0
// The catalogue as a manual page.
#pragma once

#include <string>

namespace fabric {

// The whole of fabric-counters(7): every metric that a counter feeds, with its unit, its meaning, whether it is an
// error, and what it is made of for each vendor; then the counters without a common name.
std::string counters_manual();

}  // namespace fabric
