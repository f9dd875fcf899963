// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <ctime>

namespace fabric {

template <class Rep, class Period>
double in_seconds(std::chrono::duration<Rep, Period> span) {
  return std::chrono::duration<double>(span).count();
}

// The time of the clock (clock_gettime(2)), in seconds. CLOCK_BOOTTIME is the clock of /proc/uptime.
inline double seconds_on(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace fabric
