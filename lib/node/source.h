// SPDX-License-Identifier: Apache-2.0
// Sources of readings: when each is asked, and whether it answered.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fabric {

// How one group of readings went.
struct Attempt {
  std::string_view collector;  // "rdma", "pma", "link", "ethtool"
  bool success = true;
  double seconds = 0;
  std::string error{};  // of the first thing that could not be read

  void fail(std::string why);
};

// After a failure a source is not read for 10 s, then twice as long each time, up to 5 minutes: each may cost a line of
// the kernel's log.
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

inline double seconds_since(Backoff::Clock::time_point start) {
  return std::chrono::duration<double>(Backoff::Clock::now() - start).count();
}

// The driver or the kernel lacks it.
inline bool is_unsupported(int code) { return code == EOPNOTSUPP || code == EINVAL; }

struct Source {
  bool there = false;  // until the driver turns out to lack it
  Backoff backoff{};
  std::string error = "failed before, retried later";  // its last one

  // Asks it if it is due; a failure is the attempt's. `lacks`: is this the errno of a driver that lacks the source?
  void ask(Attempt& attempt, Backoff::Clock::time_point now, const std::function<Result<void>()>& reading,
           bool (*lacks)(int code) = is_unsupported);
};

// What a reading returns: the answer is in `to`, or an error.
template <class Answer, class To>
Result<void> take(Result<Answer> answer, To& to) {
  if (!answer) return answer.error();
  to = std::move(*answer);
  return {};
}

}  // namespace fabric
