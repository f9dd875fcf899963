// SPDX-License-Identifier: Apache-2.0
// Time spans and maintenance windows as texts.
#pragma once

#include "policy/policy.h"

namespace fabric {

// A time span as systemd.time(7) writes it, in units from ms to weeks, 366 days at most: "500ms", "1min 30s", "7d". A
// number alone is seconds.
std::optional<std::chrono::milliseconds> parse_span(std::string_view text);
std::string span_text(std::chrono::milliseconds span);

// Days and times of maintenance: "Sat 02:00-04:00", "Mon-Fri,Sun 23:00-01:00" (ends on the next day), "daily
// 03:00-04:00".
std::optional<Window> parse_window(std::string_view text);
std::string window_text(const Window& window);

}  // namespace fabric
