// SPDX-License-Identifier: Apache-2.0
#include "exporter/loop_turn.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

namespace fabric::exporter {

constexpr auto kGrace = std::chrono::milliseconds(500);  // for the first thread to come back

LoopTurn::LoopTurn(sd_event* loop, Steps steps, int wake) : loop_(loop), steps_(std::move(steps)), wake_(::dup(wake)) {}

int LoopTurn::run() {
  {
    std::lock_guard lock(mutex_);
    first_waits_ = false;
  }
  if (turn(0)) return status_;
  std::unique_lock lock(mutex_);
  first_waits_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return ended_; });
  return status_;
}

bool LoopTurn::turn(uint64_t mine) {
  int status = 0;
  while (status >= 0 && ::sd_event_get_state(loop_) != SD_EVENT_FINISHED) {
    status = ::sd_event_run(loop_, UINT64_MAX);
    while (status >= 0 && steps_.asked())  // again, where what came of it has asked
      if (!read(mine)) return false;
  }
  if (status >= 0) ::sd_event_get_exit_code(loop_, &status);
  end(status);
  return true;
}

// False: the loop is another's now.
bool LoopTurn::read(uint64_t mine) {
  {
    std::lock_guard lock(mutex_);
    reading_ = true;
  }
  const bool whole = steps_.read();
  {
    std::lock_guard lock(mutex_);
    if (mine != turn_) {
      uint64_t one = 1;
      if (whole) [[maybe_unused]]
        auto written = ::write(wake_.get(), &one, sizeof one);
      return false;
    }
    reading_ = false;
  }
  if (whole) steps_.done();
  return true;
}

void LoopTurn::end(int status) {
  std::unique_lock lock(mutex_);
  status_ = status;
  ended_ = true;
  changed_.notify_all();
  if (turn_ == 0 || changed_.wait_for(lock, kGrace, [this] { return first_waits_; })) return;
  ::_exit(status < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

void LoopTurn::overdue() {
  std::lock_guard lock(mutex_);
  if (!reading_ || ended_) return;
  try {
    std::thread([self = shared_from_this(), next = turn_ + 1] { self->turn(next); }).detach();
  } catch (const std::system_error&) {
    return;
  }
  ++turn_;
  reading_ = false;
}

}  // namespace fabric::exporter
