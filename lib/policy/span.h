// SPDX-License-Identifier: Apache-2.0
// Time spans and maintenance windows as text.
#pragma once

#include "policy/policy.h"

namespace fabric {

// A time span in the syntax of systemd.time(7), in units from ms to weeks, at most 366 days: "500ms", "1min 30s", "7d".
// A number without a unit is in seconds.
std::optional<std::chrono::milliseconds> parse_span(std::string_view text);
std::string span_text(std::chrono::milliseconds span);

// A maintenance window: "Sat 02:00-04:00", "Mon-Fri,Sun 23:00-01:00" (ends on the next day), "daily 03:00-04:00".
std::optional<Window> parse_window(std::string_view text);
std::string window_text(const Window& window);

}  // namespace fabric
