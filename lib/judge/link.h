// SPDX-License-Identifier: Apache-2.0
// The errors that a link may have.
#pragma once

#include "judge/rule.h"

namespace fabric {

inline constexpr Limit kLinksAtOnce{
    "damaged-link", "links_with_errors", 3, "links with errors, or down, at once: not one cable", "ours", 2, 1e4};

// Errors after FEC per bit that IEEE 802.3 allows: 1e-12 up to 100 Gb/s (802.3ba), 1e-13 above (802.3bs).
double allowed_error_ratio(const Port& port);

}  // namespace fabric
