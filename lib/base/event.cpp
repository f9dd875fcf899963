// SPDX-License-Identifier: Apache-2.0
#include "base/event.h"

#include <sys/epoll.h>

#include <csignal>

namespace fabric {
namespace {

// Microseconds. sd-event's default of 250 ms would delay HTTP responses: libmicrohttpd sets time-outs of zero.
constexpr uint64_t kAccuracy = 1000;

int call(void* function) {
  (*static_cast<EventSource::Function*>(function))();
  return 0;
}

Result<void> as_result(int result) {
  if (result < 0) return error(-result, "event loop");
  return {};
}

}  // namespace

void block_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

Result<EventLoop> open_event_loop() {
  sd_event* created = nullptr;
  auto done = as_result(::sd_event_new(&created));
  EventLoop loop(created);
  // Signals without a handler end the loop.
  for (const int signal : {SIGTERM, SIGINT})
    if (done) done = as_result(::sd_event_add_signal(created, nullptr, signal, nullptr, nullptr));
  if (done) done = as_result(::sd_event_set_watchdog(created, 1));
  if (!done) return done.error();
  return loop;
}

Result<void> EventSource::on_readable(sd_event* loop, int fd, Function run) {
  const auto handler = [](sd_event_source*, int, uint32_t, void* function) { return call(function); };
  run_ = std::move(run);
  sd_event_source* source = nullptr;
  const int result = ::sd_event_add_io(loop, &source, fd, EPOLLIN, handler, &run_);
  source_.reset(source);
  return as_result(result);
}

Result<void> EventSource::on_signal(sd_event* loop, int number, Function run) {
  const auto handler = [](sd_event_source*, const signalfd_siginfo*, void* function) { return call(function); };
  run_ = std::move(run);
  sd_event_source* source = nullptr;
  const int result = ::sd_event_add_signal(loop, &source, number, handler, &run_);
  source_.reset(source);
  return as_result(result);
}

Result<void> EventSource::on_time(sd_event* loop, clockid_t clock, Function run) {
  const auto handler = [](sd_event_source*, uint64_t, void* function) { return call(function); };
  run_ = std::move(run);
  sd_event_source* source = nullptr;
  const int result = ::sd_event_add_time(loop, &source, clock, UINT64_MAX, kAccuracy, handler, &run_);
  source_.reset(source);
  off();
  return as_result(result);
}

void EventSource::after(std::chrono::microseconds wait) {
  ::sd_event_source_set_time_relative(source_.get(), static_cast<uint64_t>(wait.count()));
  ::sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT);
}

void EventSource::at(std::chrono::microseconds time) {
  ::sd_event_source_set_time(source_.get(), static_cast<uint64_t>(time.count()));
  ::sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT);
}

void EventSource::off() { ::sd_event_source_set_enabled(source_.get(), SD_EVENT_OFF); }

bool EventSource::is_on() const { return ::sd_event_source_get_enabled(source_.get(), nullptr) > 0; }

}  // namespace fabric
