// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/collector_threads.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

namespace fabric::exporter {
namespace {

using Shared = Collector::Shared;

bool has_work(const Slot& slot, Clock::time_point now) {
  return !slot.reading && (slot.asked > slot.done || now >= slot.due);
}

std::shared_ptr<Slot> next_of_counters(const Shared& shared, Clock::time_point now) {
  if (has_work(*shared.host, now)) return shared.host;
  for (const auto& [name, slot] : shared.devices)
    if (has_work(*slot, now)) return slot;
  return nullptr;
}

// What is to be read next: the host, for it tells which devices there are; the devices; the parts when all devices have
// been read that do not hang, so that at the start, and when many come or go, they are read once. Null: nothing is.
std::shared_ptr<Slot> next(const Shared& shared) {
  const auto now = Clock::now();
  if (auto slot = next_of_counters(shared, now)) return slot;
  if (shared.reads_devices()) return nullptr;
  for (const auto& slot : shared.parts)
    if (has_work(*slot, now)) return slot;
  return nullptr;
}

Work begin(Slot& slot) {
  const auto now = Clock::now();
  const Work work{slot.rescan || now >= slot.due, slot.rescan};
  slot.rescan = false;
  slot.begun = slot.asked;
  slot.reading = true;
  slot.since = now;
  return work;
}

// When somebody has to look again: soon where something waits, else when the first thing is due.
Clock::time_point next_look(const Shared& shared) {
  const auto now = Clock::now();
  auto out = shared.here != 0 ? shared.here_since + kOverdue : Clock::time_point::max();
  if (next(shared)) return std::min<Clock::time_point>(out, now + kPatience);
  const auto look = [&](const Slot& slot) {
    if (!slot.reading) out = std::min(out, slot.due);
  };
  shared.each(look);
  for (const auto& slot : shared.parts) {
    if (has_work(*slot, now))
      out = std::min<Clock::time_point>(out, now + shared.options.stuck);  // it waits for a device that may hang
    else look(*slot);
  }
  return out;
}

// steady_clock is CLOCK_MONOTONIC.
void set_timer(Shared& shared, Clock::time_point at) {
  if (at == shared.expires) return;
  shared.expires = at;
  const auto since_boot = std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
  itimerspec when{};
  if (at != Clock::time_point::max())
    when.it_value = {static_cast<time_t>(since_boot / 1'000'000'000), std::max<long>(since_boot % 1'000'000'000, 1)};
  ::timerfd_settime(shared.timer.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

// One reading, without the mutex meanwhile.
void read(const std::shared_ptr<Shared>& shared, Slot& slot, Work found, std::unique_lock<std::mutex>& lock) {
  if (lock) lock.unlock();
  slot.read(shared, found);
  lock = std::unique_lock(shared->mutex);
  if (!found.rescan || slot.took == Clock::duration{}) slot.took = Clock::now() - slot.since;
}

// The last one who reads what is worth waiting for wakes who waits: he wants the mutex then.
void wake_if_done(Shared& shared, std::unique_lock<std::mutex>& lock) {
  if (shared.busy()) return;
  lock.unlock();
  uint64_t one = 1;
  // Full only when 2^64-1 wake-ups are unread.
  [[maybe_unused]] auto written = ::write(shared.wake.get(), &one, sizeof one);
  lock.lock();
}

// Ends when there is nothing to do and another one waits already.
void work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->stop) {
    if (auto slot = next(*shared)) {
      const Work found = begin(*slot);
      if (!found.rescan) set_timer(*shared, std::min(shared->expires, next_look(*shared)));
      if (found.rescan) call_worker(shared, std::move(lock));
      read(shared, *slot, found, lock);
      wake_if_done(*shared, lock);
      continue;
    }
    set_timer(*shared, next_look(*shared));
    if (shared->idle) return;
    shared->idle = true;
    shared->work.wait(lock, [&] { return shared->called || shared->stop; });
    shared->idle = shared->called = false;
  }
}

// Looks whether work waits while all workers are at some, and whether read_here() takes too long; reads nothing itself.
void watch(const std::shared_ptr<Shared>& shared) {
  for (uint64_t times = 0; ::read(shared->timer.get(), &times, sizeof times) > 0 || errno == EINTR;) {
    std::unique_lock lock(shared->mutex);
    if (shared->stop) return;
    shared->expires = Clock::time_point::max();
    const bool overdue = shared->here != 0 && Clock::now() - shared->here_since >= kOverdue;
    if (overdue) shared->here = 0;
    if (next(*shared)) call_worker(shared, std::move(lock));
    else set_timer(*shared, next_look(*shared));
    if (lock) lock.unlock();
    if (overdue) shared->options.overdue();
  }
}

// False: the system has no more threads. Those that there are go on.
bool start(const std::shared_ptr<Shared>& shared, void (*what)(const std::shared_ptr<Shared>&)) {
  try {
    std::thread(what, shared).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// Nothing that seldom changes is due, and what is to be read took little the last time.
bool is_quick(const Shared& shared) {
  const auto now = Clock::now();
  Clock::duration all{};
  bool quick = true;
  shared.each([&](const Slot& slot) {
    if (!has_work(slot, now)) return;
    quick = quick && !slot.rescan && now < slot.due;
    all += slot.took;
  });
  return quick && all < kOverdue / 2;
}

}  // namespace

bool read_here(const std::shared_ptr<Shared>& shared, std::unique_lock<std::mutex> lock) {
  if (!shared->options.overdue || !is_quick(*shared)) {
    call_worker(shared, std::move(lock));
    return false;
  }
  const uint64_t mine = shared->here = ++shared->times_here;
  shared->here_since = Clock::now();
  set_timer(*shared, std::min(shared->expires, next_look(*shared)));
  while (shared->here == mine && !shared->stop) {
    const auto now = Clock::now();
    const auto slot = next_of_counters(*shared, now);
    if (!slot || slot->rescan || now >= slot->due) break;
    read(shared, *slot, begin(*slot), lock);
  }
  if (shared->here != mine) {  // whoever asked waits no longer here
    wake_if_done(*shared, lock);
    return false;
  }
  shared->here = 0;
  if (shared->stop) return false;
  const bool done = !shared->busy();
  if (next(*shared)) call_worker(shared, std::move(lock));
  else set_timer(*shared, next_look(*shared));
  return done;
}

void call_worker(const std::shared_ptr<Shared>& shared, std::unique_lock<std::mutex> lock) {
  if (!next(*shared)) return;
  set_timer(*shared, next_look(*shared));
  const bool waits = shared->idle;
  shared->called = waits;
  lock.unlock();
  if (waits) shared->work.notify_one();
  else start(shared, work);
}

Result<void> start_crew(const std::shared_ptr<Shared>& shared) {
  shared->timer = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  if (!shared->timer) return error(errno, "timer of the readers");
  for (const Part& part : shared->options.parts != nullptr ? *shared->options.parts : parts())
    shared->parts.push_back(std::make_shared<PartSlot>(part));
  if (!start(shared, watch) || !start(shared, work)) return error(EAGAIN, "threads of the readers");
  return {};
}

void end_crew(Shared& shared) {
  shared.stop = true;
  shared.work.notify_all();
  set_timer(shared, Clock::time_point{});
}

}  // namespace fabric::exporter
