// SPDX-License-Identifier: Apache-2.0
// When does the maintenance window open? Pure.
#pragma once

#include <ctime>
#include <vector>

#include "model/policy.h"

namespace fabric::agentd {

inline bool is_open(const std::vector<Window>& windows, const std::tm& now) {
  return in_window(windows, now.tm_wday, static_cast<unsigned>(now.tm_hour * 60 + now.tm_min));
}

// Minutes from `now` until one is open, 0 when one is, at most `limit`.
inline int minutes_until_open(const std::vector<Window>& windows, const std::tm& now, int limit) {
  for (int ahead = 0; ahead < limit; ++ahead) {
    const int minute = now.tm_hour * 60 + now.tm_min + ahead;
    if (in_window(windows, (now.tm_wday + minute / 1440) % 7, static_cast<unsigned>(minute % 1440))) return ahead;
  }
  return limit;
}

}  // namespace fabric::agentd
