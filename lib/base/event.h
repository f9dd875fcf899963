// SPDX-License-Identifier: Apache-2.0
// sd-event(3) with functions of any kind as callbacks, and sources that end with their owner.
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

// SIGTERM, SIGINT and SIGHUP are left to the loop; SIGPIPE is ignored. To be called first: threads inherit the mask,
// and a SIGHUP during the start must not end the process.
void block_signals();

using EventLoop = std::unique_ptr<sd_event, EventUnref>;
// After block_signals(). SIGTERM and SIGINT end it; systemd's watchdog is served.
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
  // A timer, off at first.
  Result<void> on_time(sd_event* loop, clockid_t clock, Function run);

  // A timer runs once, a millisecond late at most: so long after the loop's present time, or when its clock shows this.
  void after(std::chrono::microseconds wait);
  void at(std::chrono::microseconds time);
  void off();
  [[nodiscard]] bool is_on() const;

 private:
  Function run_;
  std::unique_ptr<sd_event_source, EventUnref> source_;
};

}  // namespace fabric
