// SPDX-License-Identifier: Apache-2.0
#include "agentd/publishing_thread.h"

#include <condition_variable>
#include <mutex>

#include "base/thread.h"
#include "kernel/capture/root.h"
#include "node/published.h"

namespace fabric::agentd {

struct PublishingThread::SharedState {
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  uint64_t requests = 0;  // calls of set() that changed something
  std::vector<std::string> devices;
  std::chrono::milliseconds interval{0};
};

namespace {

// The thread: publishes at once after each set(), and every interval.
void run(const std::shared_ptr<PublishingThread::SharedState>& shared, const std::string& what,
         const PublishingThread::Publish& publish, const JournalSink& log) {
  std::string last_failure;
  std::unique_lock lock(shared->mutex);
  while (!shared->stop) {
    const uint64_t served = shared->requests;
    const auto devices = shared->devices;
    const auto interval = shared->interval;
    const bool is_off = devices.empty() || interval.count() == 0;
    if (!is_off) {
      lock.unlock();
      std::string failure;
      if (const auto done = publish(devices, interval); !done) failure = done.error().text();
      if (!failure.empty() && failure != last_failure)
        log({message_id::trouble, LOG_WARNING, failure + "; " + what + " are not published"});
      last_failure = std::move(failure);
      lock.lock();
    }
    const auto is_woken = [&] { return shared->stop || shared->requests != served; };
    if (is_off) shared->changed.wait(lock, is_woken);
    else shared->changed.wait_for(lock, interval, is_woken);
  }
}

}  // namespace

PublishingThread::~PublishingThread() {
  if (!shared_) return;
  std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
}

void PublishingThread::set(std::vector<std::string> devices, std::chrono::milliseconds interval) {
  if (!shared_) {
    if (devices.empty() || interval.count() == 0) return;
    auto shared = std::make_shared<SharedState>();
    auto started =
        run_detached([shared, what = what_, publish = publish_, log = log_] { run(shared, what, publish, log); });
    if (!started)
      return log_({message_id::trouble, LOG_WARNING,
                   started.error().text() + "; " + what_ + " are not read until the next scan"});
    shared_ = std::move(shared);
  }
  std::lock_guard lock(shared_->mutex);
  if (shared_->devices == devices && shared_->interval == interval) return;
  shared_->devices = std::move(devices);
  shared_->interval = interval;
  ++shared_->requests;
  shared_->changed.notify_all();
}

Result<double> published_time() {
  if (const auto root = Root::open("/"))
    if (const auto uptime = state::uptime(*root)) return *uptime;
  return error(ENOENT, "/proc/uptime");
}

}  // namespace fabric::agentd
