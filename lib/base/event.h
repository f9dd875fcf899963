// SPDX-License-Identifier: Apache-2.0
// sd-event(3) with any function object as callback, and with sources that end with their owner.
#pragma once

#include <systemd/sd-event.h>

#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"

namespace fabric {

struct EventUnref {
  void operator()(sd_event* loop) const { ::sd_event_unref(loop); }
  void operator()(sd_event_source* source) const { ::sd_event_source_disable_unref(source); }
};

// Leaves SIGTERM, SIGINT and SIGHUP to the loop, and ignores SIGPIPE. Call it first: threads inherit the mask, and a
// SIGHUP during the start must not end the process.
void block_signals();

using EventLoop = std::unique_ptr<sd_event, EventUnref>;
// Opens a loop that SIGTERM and SIGINT end, and that serves systemd's watchdog. Call it after block_signals().
Result<EventLoop> open_event_loop();

class EventSource {
 public:
  using Function = std::function<void()>;

  EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  // `run` must not destroy the source.
  Result<void> on_readable(sd_event* loop, int fd, Function run);
  Result<void> on_signal(sd_event* loop, int number, Function run);
  // A timer that is off at first.
  Result<void> on_time(sd_event* loop, clockid_t clock, Function run);

  // The timer runs once, at most a millisecond late: after this time from the loop's present time, or at this time of
  // its clock.
  void after(std::chrono::microseconds wait);
  void at(std::chrono::microseconds time);
  void off();
  [[nodiscard]] bool is_on() const;

 private:
  Function run_;
  std::unique_ptr<sd_event_source, EventUnref> source_;
};

}  // namespace fabric
