// SPDX-License-Identifier: Apache-2.0
// Sources of readings: when each is read, and whether it answered.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace fabric {

// The result of one group of readings.
struct Attempt {
  std::string_view collector;  // "rdma", "pma", "link", "ethtool"
  bool success = true;
  double seconds = 0;
  std::string error{};  // of the first source that could not be read

  void fail(std::string why);
};

// After a failure a source is not read for 10 s, then for twice as long each time, up to 5 minutes, because each
// failure may cost a line of the kernel's log.
class Backoff {
 public:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool due(Clock::time_point now) const { return now >= until_; }
  void failed(Clock::time_point now);
  void succeeded() { wait_ = {}, until_ = {}; }

 private:
  Clock::time_point until_{};
  std::chrono::seconds wait_{};
};

inline double seconds_since(Backoff::Clock::time_point start) { return in_seconds(Backoff::Clock::now() - start); }

// Whether the errno says that the driver or the kernel lacks the source.
inline bool is_unsupported(int code) { return code == EOPNOTSUPP || code == EINVAL; }

struct Source {
  bool there = false;  // cleared once the driver turns out to lack it
  Backoff backoff{};
  std::string error = "failed before, retried later";  // the last one

  // Calls `reading` if the source is due, and passes a failure to the attempt. `lacks`: whether the errno means that
  // the driver lacks the source.
  void ask(Attempt& attempt, Backoff::Clock::time_point now, const std::function<Result<void>()>& reading,
           bool (*lacks)(int code) = is_unsupported);
};

// Moves the answer to `to`, or returns its error.
template <class Answer, class To>
Result<void> move_answer(Result<Answer> answer, To& to) {
  if (!answer) return answer.error();
  to = std::move(*answer);
  return {};
}

}  // namespace fabric
