// SPDX-License-Identifier: Apache-2.0
// Tasks by due time, and the maintenance windows. Pure.
#pragma once

#include <algorithm>
#include <compare>
#include <ctime>
#include <utility>

#include "enforce/drift.h"

namespace fabric::agentd {

enum class TaskKind : uint8_t {
  rescan,          // find the present ports
  reread,          // each re-read period: rescan, and reconcile every port and the host
  window,          // the maintenance window has opened: reconcile every port and the host
  reconcile_port,  // Task::port
  reconcile_host,
  settle,           // Task::port, after its link has returned
  poll_idle,        // Task::port: a write waits until it is idle
  watch_confirm,    // check an apply that awaits confirmation
  watch_self_test,  // a self-test may have been killed
  record_inventory,
  publish,  // nothing else: the state file and readiness, which follow every task
};
struct Task {
  TaskKind kind{};
  std::string port{};  // its id
  auto operator<=>(const Task&) const = default;
};

// A port or the host in conflict is checked at least this often: it is written soon after the other writer has ended,
// and not every write is notified.
inline constexpr std::chrono::milliseconds kConflictReread{5'000};

class Schedule {
 public:
  // The earlier time wins: a burst of events is one task.
  void at(const Task& task, qos::Instant when) {
    auto [entry, is_new] = due_.try_emplace(task, when);
    if (!is_new) entry->second = std::min(entry->second, when);
  }
  void cancel(const Task& task) { due_.erase(task); }

  [[nodiscard]] std::optional<qos::Instant> next() const {
    const auto first = std::ranges::min_element(due_, {}, &std::pair<const Task, qos::Instant>::second);
    if (first == due_.end()) return std::nullopt;
    return first->second;
  }
  // Removes and returns the due tasks, earliest first.
  std::vector<Task> take(qos::Instant now) {
    std::vector<std::pair<qos::Instant, Task>> ready;
    for (const auto& [task, when] : due_)
      if (when <= now) ready.emplace_back(when, task);
    std::ranges::sort(ready);
    std::vector<Task> tasks;
    for (auto& [when, task] : ready) {
      due_.erase(task);
      tasks.push_back(std::move(task));
    }
    return tasks;
  }

 private:
  std::map<Task, qos::Instant> due_;
};

// Minutes from `now` until a maintenance window is open, at most `limit`; 0: one is open now.
inline int minutes_until_open(const std::vector<Window>& windows, const std::tm& now, int limit) {
  for (int ahead = 0; ahead < limit; ++ahead) {
    const int minute = now.tm_hour * 60 + now.tm_min + ahead;
    if (in_window(windows, (now.tm_wday + minute / 1440) % 7, static_cast<unsigned>(minute % 1440))) return ahead;
  }
  return limit;
}

}  // namespace fabric::agentd
