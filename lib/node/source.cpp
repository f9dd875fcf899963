// SPDX-License-Identifier: Apache-2.0
#include "node/source.h"

#include <algorithm>

namespace fabric {

void Attempt::fail(std::string why) {
  success = false;
  if (error.empty()) error = std::move(why);
}

void Backoff::failed(Clock::time_point now) {
  constexpr std::chrono::seconds kFirstWait{10}, kLongestWait{300};
  wait_ = wait_.count() == 0 ? kFirstWait : std::min(wait_ * 2, kLongestWait);
  until_ = now + wait_;
}

void Source::ask(Attempt& attempt, Backoff::Clock::time_point now, const std::function<Result<void>()>& reading,
                 bool (*lacks)(int code)) {
  if (!there) return;
  if (backoff.due(now)) {
    const Result<void> done = reading();
    if (done) return backoff.succeeded();
    if (lacks(done.error().code)) {
      there = false;
      return;
    }
    backoff.failed(now);
    error = done.error().text();
  }
  attempt.fail(error);
}

}  // namespace fabric
