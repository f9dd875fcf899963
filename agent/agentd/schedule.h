// SPDX-License-Identifier: Apache-2.0
// Tasks by time, and the maintenance windows. Pure.
#pragma once

#include <ctime>
#include <utility>

#include "enforce/drift.h"

namespace fabric::agentd {

class Schedule {
 public:
  // The earlier time wins: a burst of events is one task.
  void at(const std::string& task, qos::Instant when) {
    auto [entry, is_new] = due_.try_emplace(task, when);
    if (!is_new) entry->second = std::min(entry->second, when);
  }
  void cancel(const std::string& task) { due_.erase(task); }

  [[nodiscard]] std::optional<qos::Instant> next() const {
    auto first = std::ranges::min_element(due_, [](const auto& a, const auto& b) { return a.second < b.second; });
    return first == due_.end() ? std::nullopt : std::optional(first->second);
  }
  // Removes and returns the due tasks, earliest first.
  std::vector<std::string> take(qos::Instant now) {
    std::vector<std::pair<qos::Instant, std::string>> ready;
    for (const auto& [task, when] : due_)
      if (when <= now) ready.emplace_back(when, task);
    std::ranges::sort(ready);
    std::vector<std::string> tasks;
    for (auto& [when, task] : ready) {
      due_.erase(task);
      tasks.push_back(std::move(task));
    }
    return tasks;
  }

 private:
  std::map<std::string, qos::Instant> due_;
};

// Minutes from `now` until a maintenance window is open, 0 when one is, at most `limit`.
inline int minutes_until_open(const std::vector<Window>& windows, const std::tm& now, int limit) {
  for (int ahead = 0; ahead < limit; ++ahead) {
    const int minute = now.tm_hour * 60 + now.tm_min + ahead;
    if (in_window(windows, (now.tm_wday + minute / 1440) % 7, static_cast<unsigned>(minute % 1440))) return ahead;
  }
  return limit;
}

}  // namespace fabric::agentd
