// SPDX-License-Identifier: Apache-2.0
// Tasks by time. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "settings/drift.h"

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
    auto first =
        std::min_element(due_.begin(), due_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return first == due_.end() ? std::nullopt : std::optional(first->second);
  }
  // Removes and returns the due tasks, earliest first.
  std::vector<std::string> take(qos::Instant now) {
    std::vector<std::pair<qos::Instant, std::string>> ready;
    for (auto entry = due_.begin(); entry != due_.end();)
      if (entry->second <= now) {
        ready.emplace_back(entry->second, entry->first);
        entry = due_.erase(entry);
      } else {
        ++entry;
      }
    std::sort(ready.begin(), ready.end());
    std::vector<std::string> tasks;
    for (auto& [when, task] : ready) tasks.push_back(std::move(task));
    return tasks;
  }

 private:
  std::map<std::string, qos::Instant> due_;
};

}  // namespace fabric::agentd
